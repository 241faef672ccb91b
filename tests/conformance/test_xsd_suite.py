"""The W3C's test suite of XML Schema: how many of its verdicts are ours, and why not all.

Of the large sets a sample is taken (every n-th group), so that the run takes about a minute.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from lxml import etree

from heraldry.errors import MessageError, SchemaError
from heraldry.schemas.source import Reference, Source
from heraldry.schemas.xsd.document import documents
from heraldry.schemas.xsd.engine import Engine
from heraldry.schemas.xsd.references import references
from heraldry.schemas.xsd.schema import load
from tests.conftest import suite

NS = "{http://www.w3.org/XML/2004/xml-schema-test-suite/}"
HREF = "{http://www.w3.org/1999/xlink}href"

# set, version, every n-th group, the least share of schema and of instance verdicts that agree
SETS = [
    ("sunMeta/*.testSet", "1.0", 1, 0.995, 0.99),
    ("msMeta/*.xml", "1.0", 5, 0.98, 0.98),
    ("ibmMeta/*.testSet", "1.1", 1, 0.93, 0.97),
    ("saxonMeta/*.testSet", "1.1", 1, 0.93, 0.93),
]
# Why a verdict may differ; a difference of another class is a failure.
REASONS = {
    "valid -> refused by a limit": "conditions with loops, predicates or calls are never run, "
    "documents with a DOCTYPE never read, and sizes are limited: a message must not stall a reader",
    "valid -> no such element": "the root is known by xsi:type or by a wildcard only, or is "
    "declared in a document the instance names: a payload is an element of the schema itself",
    "valid -> invalid": "the validator (xmlschema) knows no precisionDecimal and no XML 1.1, and "
    "is stricter than the suite about some restrictions",
    "invalid -> valid": "the validator (xmlschema) does not see some errors of type alternatives, "
    "of names of XML 1.1 and of URIs",
}
LIMITS = re.compile("condition|pattern is|too |DOCTYPE|encoding")


@dataclass(frozen=True)
class Group:
    """One schema of the suite, and its instances, with the verdicts expected."""

    name: str
    schema: Path
    valid: bool
    instances: tuple[tuple[Path, bool], ...]


def _groups(root: Path, pattern: str, version: str, step: int) -> Iterator[Group]:
    found: list[Group] = []
    for file in sorted(root.glob(pattern)):
        for group in etree.parse(file).getroot().iter(f"{NS}testGroup"):
            if version not in (group.get("version") or group.getparent().get("version") or version):
                continue
            tests = group.findall(f"{NS}schemaTest")
            if len(tests) == 1 and len(tests[0].findall(f"{NS}schemaDocument")) == 1:
                one = _group(file, group, tests[0], version)
                found += [one] if one is not None else []
    yield from found[::step]


def _group(file: Path, group: etree._Element, test: etree._Element, version: str) -> Group | None:
    valid = _expected(test, version)
    schema = _path(file, test.find(f"{NS}schemaDocument"))
    if valid is None or schema is None:
        return None
    instances = [
        (_path(file, one.find(f"{NS}instanceDocument")), _expected(one, version))
        for one in group.findall(f"{NS}instanceTest")
    ]
    kept = tuple((path, ok) for path, ok in instances if path is not None and ok is not None)
    return Group(str(group.get("name")), schema, valid, kept)


def _expected(test: etree._Element, version: str) -> bool | None:
    for one in test.findall(f"{NS}expected"):
        if version in (one.get("version") or version):
            return {"valid": True, "invalid": False}.get(str(one.get("validity")))
    return None


def _path(file: Path, node: etree._Element | None) -> Path | None:
    path = file.parent / str(node.get(HREF)) if node is not None else None
    return path if path is not None and path.is_file() else None


def _source(path: Path, version: str, link: str = "") -> Source:
    found: dict[str, bytes] = {}
    waiting = [path]
    content = path.read_bytes()
    while waiting:
        current = waiting.pop()
        for name in references(current.read_bytes()):
            other = current.parent / name
            if name not in found and "://" not in name and other.is_file():
                found[name] = other.read_bytes()
                waiting.append(other)
    known = tuple(Reference(name, text) for name, text in found.items())
    return Source(format="XSD", version=version, content=content, link=link, references=known)


def _schema_verdict(path: Path, version: str) -> str:
    try:
        Engine(documents(_source(path, version)), version)
    except SchemaError as error:
        return f"refused by a limit: {error.reason}" if LIMITS.search(error.reason) else "invalid"
    return "valid"


def _instance_verdict(schema: Path, instance: Path, version: str) -> str:
    payload = instance.read_bytes()
    try:
        root = etree.fromstring(payload, etree.XMLParser(resolve_entities=False, no_network=True))
        load(_source(schema, version, str(root.tag))).decode(payload)
    except SchemaError as error:
        return "no such element" if "no global element" in error.reason else "invalid"
    except MessageError as error:
        rules = {problem.rule for problem in error.problems}
        return "refused by a limit" if rules & {"size", "xml", "depth"} else "invalid"
    except etree.XMLSyntaxError:
        return "invalid"
    return "valid"


@pytest.mark.parametrize(("pattern", "version", "step", "schemas", "instances"), SETS)
def test_the_verdicts_agree_with_the_suite(
    pattern: str, version: str, step: int, schemas: float, instances: float
) -> None:
    counts = {"schema": Counter[str](), "instance": Counter[str]()}
    failed: list[str] = []
    for group in _groups(suite("xsdtests"), pattern, version, step):
        found = _schema_verdict(group.schema, version)
        expected = "valid" if group.valid else "invalid"
        agreed = found == expected or (not group.valid and found != "valid")
        counts["schema"]["agreed" if agreed else f"{expected} -> {found}"] += 1
        failed += [] if agreed else [f"{group.name}: {expected} -> {found}"]
        for path, ok in group.instances if found == "valid" and group.valid else ():
            told = _instance_verdict(group.schema, path, version)
            agreed = (told == "valid") == ok
            key = "agreed" if agreed else f"{'valid' if ok else 'invalid'} -> {told}"
            counts["instance"][key] += 1
            failed += [] if agreed else [f"{group.name}/{path.name}: {key}"]
    shares = {kind: one["agreed"] / max(one.total(), 1) for kind, one in counts.items()}
    sys.stdout.write("\n".join(map(str, (pattern, shares, counts, *failed, ""))))
    classes = {key.partition(":")[0] for one in counts.values() for key in one} - {"agreed"}
    assert classes <= REASONS.keys()
    assert shares["schema"] >= schemas, counts
    assert shares["instance"] >= instances, counts
