"""Runs the hostile cases of one format and prints a line of JSON for each: time, memory, outcome.

A process of its own: it may be killed, run out of memory or crash without harm to the tests.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from random import Random

import psutil

from heraldry.errors import MessageError, SchemaError
from heraldry.schemas import formats
from heraldry.schemas.payload_schema import PayloadSchema

_SLOW = 0.5
_PROMISED = 0.22  # seconds of CPU that _pace takes where a second is a second


def cases(folder: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """Every attack on a format by name: documents to use and to compare, then payloads to read."""
    hostile = import_module(f"tests.schemas.{folder}.hostile")
    name = import_module(f"tests.schemas.{folder}.generated").FORMAT
    before: PayloadSchema | None = None
    for case, document in hostile.DOCUMENTS:
        yield f"document-{case}", partial(_used, name, document)
        try:
            schema = formats.compile(name, document)
        except SchemaError:
            continue
        yield f"comparison-{case}", partial(_compared, before or schema, schema)
        before = schema
    for case, document, payload, content_type in hostile.PAYLOADS:
        schema = formats.compile(name, document)
        yield f"payload-{case}", partial(_read, schema, payload, content_type)


def _used(name: str, document: bytes | str) -> object:
    formats.references_of(name, document)
    return formats.compile(name, document).sample(Random(1), {})


def _compared(one: PayloadSchema, other: PayloadSchema) -> object:
    assert formats.changes(other, other) == ()
    return formats.changes(one, other)


def _read(schema: PayloadSchema, payload: bytes, content_type: str | None) -> object:
    return schema.to_row(schema.decode(payload, content_type))


def _peak() -> int:
    mine = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return max(mine, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def _cpu() -> float:
    """Seconds of CPU, ended children included: what others do on the machine does not count."""
    return sum(os.times()[:4])


def _pace() -> float:
    """How many times slower this machine is than the one on which a second was promised."""
    start = _cpu()
    sum(number * number for number in range(3_000_000))
    return max(1.0, (_cpu() - start) / _PROMISED)


def main(folder: str) -> None:
    """Run the cases in order; each is announced before it runs."""
    pace = _pace()
    for name, attack in cases(folder):
        _tell({"case": name})
        before, start = psutil.Process().memory_info().rss / 1024, _cpu()
        peak = _peak()
        try:
            attack()
            outcome = "done"
        except (SchemaError, MessageError) as error:
            outcome = f"{type(error).__name__}: {str(error)[:300]}"
        spent = _cpu() - start
        if spent > _SLOW:  # neighbours come and go: how fast is the machine now?
            pace = max(pace, _pace())
        seconds = spent / pace
        grown = _peak() - before if _peak() > peak else 0
        _tell({"case": name, "seconds": seconds, "mb": grown / 1024, "outcome": outcome})


def _tell(result: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(result) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
