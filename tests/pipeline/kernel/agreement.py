"""The compiled path set beside the judge: what it accepts, the judge must accept alike."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from heraldry.dialects.load import load_bytes
from heraldry.messages.judge import Judge
from heraldry.messages.verdict import Accepted
from heraldry.pipeline.kernel.groups import KernelGroup, Refused
from heraldry.pipeline.kernel.path import KernelPath
from heraldry.pipeline.lake.layout import arrow_type


def judge_of(messages: Mapping[str, Any]) -> Judge:
    """A judge of a catalog with these messages."""
    group = {"messagegroupid": "g", "messages": messages}
    return Judge(load_bytes(json.dumps({"messagegroups": {"g": group}}).encode(), "catalog"))


def message(name: str, schema: Any, draft: str = "draft-07", **attributes: Any) -> dict[str, Any]:
    """A definition of events whose type is its name."""
    return {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {"type": {"value": name}, **attributes},
        "dataschemaformat": f"JSONSchema/{draft}",
        "dataschema": schema,
    }


def line(kind: str, data: str, more: str = "") -> bytes:
    """An event with this text as its data."""
    head = f'{{"specversion":"1.0","id":"1","source":"/s","type":"{kind}"{more}'
    return f'{head},"data":{data}}}'.encode("utf-8", "surrogatepass")


def assert_agreement(judge: Judge, path: KernelPath, lines: Sequence[bytes]) -> list[int]:
    """Every line is taken once or left, and what is taken is as the judge has it; those rows."""
    found = path.take(pa.array(lines, pa.binary()))
    taken = [row for group in found.groups for row in group.rows.tolist()]
    refused = [row for group in found.refused for row in group.rows.tolist()]
    assert sorted([*taken, *refused, *found.rest.tolist()]) == list(range(len(lines)))
    assert found.rest.tolist() == sorted(found.rest.tolist())
    for group in found.groups:
        _assert_group(judge, group, lines)
    for other in found.refused:
        _assert_refused(judge, other, lines)
    return sorted(taken)


def _assert_refused(judge: Judge, group: Refused, lines: Sequence[bytes]) -> None:
    """What is refused for its payload, the judge refuses with the same reasons."""
    texts = group.data.to_arrow(pa.binary()).to_pylist()
    for row, text, stated in zip(group.rows.tolist(), texts, group.stated, strict=True):
        kind = "application/json" if stated else None
        verdict = judge.refuse(lines[row], group.compiled, text, kind)
        assert verdict is None or verdict == judge.judge(lines[row]), lines[row]


def _assert_group(judge: Judge, group: KernelGroup, lines: Sequence[bytes]) -> None:
    compiled = group.compiled
    assert compiled.schema is not None
    found = pa.Table.from_arrays(
        [*group.payload, *group.envelope, *group.placeholders], schema=_schema(group)
    )
    assert len(group.payload) == len(compiled.schema.columns)
    found.validate(full=True)
    texts = group.data.to_arrow(pa.binary()).to_pylist()
    wanted = []
    for row, text in zip(group.rows.tolist(), texts, strict=True):
        verdict = judge.judge(lines[row])
        assert isinstance(verdict, Accepted), (lines[row], verdict)
        assert str(verdict.match.definition.xid) == compiled.xid, lines[row]
        assert verdict.native == group.native, lines[row]
        assert verdict.payload == text
        values = {f"value {name}": verdict.match.values.get(name) for name in compiled.placeholders}
        wanted.append({**_prefixed(verdict), **values})
    expected = pa.Table.from_pylist(wanted, schema=found.schema)
    pairs = zip(found.to_pylist(), expected.to_pylist(), group.rows.tolist(), strict=True)
    for one, other, row in pairs:
        # The text tells 1 from 1.0 and 0.0 from -0.0.
        assert repr(one) == repr(other), lines[row]


def _prefixed(verdict: Accepted) -> dict[str, Any]:
    found = {f"row {name}": value for name, value in verdict.row.items()}
    return found | {f"envelope {name}": value for name, value in verdict.envelope.items()}


def _schema(group: KernelGroup) -> pa.Schema:
    compiled = group.compiled
    columns = compiled.schema.columns if compiled.schema is not None else ()
    fields = [(f"row {column.name}", arrow_type(column.type)) for column in columns]
    fields += [(f"envelope {c.name}", arrow_type(c.type)) for c in compiled.envelope_columns]
    fields += [(f"value {name}", pa.string()) for name in compiled.placeholders]
    return pa.schema(fields)
