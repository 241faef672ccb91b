"""What the checks of documents leave behind in a registry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from heraldry.registry.registry import Registry
from heraldry.schemas.verdicts import validate_compatibility
from tests.registry.asking import ask, refused, registry

SCHEMA = "/schemagroups/g/schemas/s"
FORMAT = "JsonSchema/draft-07"
SMALL = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
LARGER = {**SMALL, "required": ["a", "b"]}


@pytest.fixture
def schemas() -> Registry:
    """A registry with a schema of one version."""
    made = registry("messaging")
    ask(made, "put", f"{SCHEMA}/versions/1$details", {"format": FORMAT, "schema": SMALL})
    return made


def told(of: Registry, version: str) -> dict[str, Any]:
    """What a version says about its checks, and its epoch."""
    found = ask(of, "get", f"{SCHEMA}/versions/{version}$details")
    return {n: v for n, v in found.items() if "validated" in n or n == "epoch"}


@pytest.mark.covers("VE-11", "GN-08")
def test_clients_do_not_set_what_the_checks_found(schemas: Registry) -> None:
    body = {"format": FORMAT, "formatvalidated": False, "formatvalidatedreason": "mine"}
    ask(schemas, "put", f"{SCHEMA}/versions/1$details", body)
    assert told(schemas, "1") == {"epoch": 2, "formatvalidated": True}


@pytest.mark.covers("VE-11", "VA-05")
def test_a_format_that_goes_takes_its_verdict_along(schemas: Registry) -> None:
    ask(schemas, "patch", f"{SCHEMA}/versions/1$details", {"format": None})
    assert told(schemas, "1") == {"epoch": 2}


@pytest.mark.covers("ME-06", "VE-12", "GN-09")
def test_a_rule_is_applied_to_all_versions_without_updating_them(schemas: Registry) -> None:
    body = {"format": FORMAT, "schema": LARGER}
    ask(schemas, "put", f"{SCHEMA}/versions/2$details", body)
    error = refused(schemas, "patch", f"{SCHEMA}/meta", {"compatibility": "backward"})
    assert (error.name, error.subject) == ("compatibility_violation", SCHEMA)
    ask(schemas, "patch", f"{SCHEMA}/meta", {"compatibility": "Forward"})
    for version in ("1", "2"):
        expected = {"epoch": 1, "formatvalidated": True, "compatibilityvalidated": True}
        assert told(schemas, version) == expected
    ask(schemas, "patch", f"{SCHEMA}/meta", {"compatibility": None})
    assert told(schemas, "2") == {"epoch": 1, "formatvalidated": True}


@pytest.mark.covers("KD-2", "ME-06")
def test_none_is_no_rule(schemas: Registry) -> None:
    ask(schemas, "patch", f"{SCHEMA}/meta", {"compatibility": "None"})
    assert "compatibility" not in ask(schemas, "get", f"{SCHEMA}/meta")
    ask(schemas, "put", f"{SCHEMA}/versions/2$details", {"format": FORMAT, "schema": LARGER})
    assert told(schemas, "2") == {"epoch": 1, "formatvalidated": True}


@pytest.mark.covers("VA-04")
def test_a_version_that_breaks_the_rule_is_not_stored(schemas: Registry) -> None:
    ask(schemas, "patch", f"{SCHEMA}/meta", {"compatibility": "backward"})
    body = {"format": FORMAT, "schema": LARGER}
    error = refused(schemas, "put", f"{SCHEMA}/versions/2$details", body)
    assert error.name == "compatibility_violation"
    assert list(ask(schemas, "get", f"{SCHEMA}/versions")) == ["1"]


@pytest.mark.covers("VA-02", "DO-01")
def test_a_document_elsewhere_is_not_fetched(schemas: Registry) -> None:
    body = {"format": FORMAT, "schemaurl": "http://127.0.0.1:9/schema.json"}
    ask(schemas, "put", f"{SCHEMA}/versions/2$details", body)
    found = told(schemas, "2")
    assert found["formatvalidated"] is False
    assert found["formatvalidatedreason"] == "Data stored externally"


@pytest.mark.parametrize(
    ("format_", "document", "broken"),
    [
        pytest.param("Avro/1.11", '{"type": "string"}', '{"type": "strng"}', id="avro"),
        pytest.param(
            "Protobuf/3",
            'syntax = "proto3"; message M { string a = 1; }',
            'syntax = "proto3"; message M { strng a = 1 }',
            id="protobuf",
        ),
        pytest.param(
            "XSD/1.1",
            '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">'
            '<xs:element name="a" type="xs:string"/></xs:schema>',
            '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:elment/></xs:schema>',
            id="xsd",
        ),
        pytest.param(
            "JsonStructure/draft-02",
            '{"$schema": "https://json-structure.org/meta/core/v0/#", '
            '"$id": "https://example.com/a", "name": "A", "type": "string"}',
            '{"type": "strng"}',
            id="json-structure",
        ),
    ],
)
@pytest.mark.covers("VA-01")
def test_every_format_is_checked(format_: str, document: str, broken: str) -> None:
    made = registry("messaging")
    path = "/schemagroups/g/schemas/x$details"
    found = ask(made, "put", path, {"format": format_, "schema": document})
    assert found["formatvalidated"] is True
    error = refused(made, "put", path, {"format": format_, "schema": broken})
    assert error.name == "format_violation"
    assert error.detail


@pytest.mark.covers("VA-01")
def test_schemas_of_one_request_may_refer_to_each_other_in_their_order() -> None:
    made = registry("messaging")
    point = 'syntax = "proto3"; message Point { int32 x = 1; }'
    line = 'syntax = "proto3"; import "point"; message Line { Point from = 1; }'
    both = {
        "point": {"format": "Protobuf/3", "schema": point},
        "line": {"format": "Protobuf/3", "schema": line},
    }
    ask(made, "post", "/schemagroups/g/schemas", both)
    found = ask(made, "get", "/schemagroups/g/schemas/line$details")
    assert found["formatvalidated"] is True
    alone = {"format": "Protobuf/3", "schema": line.replace('"point"', '"else"')}
    found = ask(made, "put", "/schemagroups/g/schemas/alone$details", alone)
    assert found["formatvalidated"] is False
    assert "else" in found["formatvalidatedreason"]


LINE = 100


@pytest.fixture
def line() -> Iterator[Registry]:
    """A schema of many versions, each of which goes with all before it."""
    made = registry("messaging")
    versions = {
        f"v{number:03}": {"format": FORMAT, "schema": {**SMALL, "description": str(number)}}
        for number in range(LINE)
    }
    body = {"meta": {"compatibility": "full_transitive"}, "versions": versions}
    ask(made, "put", f"{SCHEMA}$details", body)
    yield made
    made.close()


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """With how many ancestors each version was compared."""
    counts: list[int] = []

    def counting(mode: Any, history: Any, new: Any, **more: Any) -> Any:
        counts.append(len(history))
        return validate_compatibility(mode, history, new, **more)

    monkeypatch.setattr("heraldry.registry.documents.validate_compatibility", counting)
    return counts


def numbered(number: int, text: str) -> tuple[str, dict[str, Any]]:
    """The path of a version of the line and its body."""
    body = {"format": FORMAT, "schema": {**SMALL, "description": text}}
    return f"{SCHEMA}/versions/v{number:03}$details", body


@pytest.mark.covers("ME-06", "VA-04")
def test_a_new_version_is_compared_once_with_each_ancestor(
    line: Registry, compared: list[int]
) -> None:
    ask(line, "put", *numbered(LINE, "new"))
    assert compared == [LINE]
    ask(line, "delete", f"{SCHEMA}/versions/v{LINE:03}")
    assert compared == [LINE]


@pytest.mark.covers("ME-06", "VA-04")
def test_a_changed_version_is_compared_once_with_each_other(
    line: Registry, compared: list[int]
) -> None:
    ask(line, "put", *numbered(0, "first"))
    assert compared == [1] * (LINE - 1)


@pytest.mark.covers("ME-06")
def test_what_was_written_again_as_it_was_is_not_compared(
    line: Registry, compared: list[int]
) -> None:
    stored = ask(line, "get", f"{SCHEMA}$details", inline=("versions.schema",))
    ask(line, "put", f"{SCHEMA}$details", {"versions": stored["versions"]})
    ask(line, "patch", f"{SCHEMA}/versions/v005$details", {"name": "renamed"})
    assert compared == []


@pytest.mark.covers("ME-06")
def test_a_version_whose_ancestors_fewer_are_is_not_compared(
    line: Registry, compared: list[int]
) -> None:
    ask(line, "delete", f"{SCHEMA}/versions/v007")
    assert compared == []
    assert told(line, "v008")["compatibilityvalidated"] is True


@pytest.mark.covers("ME-06", "VA-04")
def test_a_violation_far_down_the_line_is_seen(line: Registry) -> None:
    path, body = numbered(1, "")
    error = refused(line, "put", path, body | {"schema": LARGER})
    assert error.name == "compatibility_violation"


@pytest.mark.covers("VA-02", "ME-06")
def test_what_could_not_be_compared_is_compared_when_it_is_given_again(schemas: Registry) -> None:
    other = "/schemagroups/g/schemas/other/versions/1$details"
    referring = {"type": "object", "properties": {"a": {"$ref": "/schemagroups/g/schemas/other"}}}
    body = {"format": FORMAT, "schema": referring}
    ask(schemas, "patch", f"{SCHEMA}/meta", {"compatibility": "full"})
    ask(schemas, "put", f"{SCHEMA}/versions/1$details", body)
    assert told(schemas, "1")["compatibilityvalidated"] is False
    ask(schemas, "put", other, {"format": FORMAT, "schema": {"type": "string"}})
    ask(schemas, "put", f"{SCHEMA}/versions/1$details", body)
    assert told(schemas, "1")["compatibilityvalidated"] is True
