"""Reading 1.0 documents: ids, versions, defaults, errors that say where, and limits."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.dialects.limits import Limits
from heraldry.dialects.xreg_1_0 import detect, read
from heraldry.errors import DocumentError
from heraldry.model.entities import Resource
from heraldry.model.xid import Xid


def schema(source: dict[str, Any]) -> Resource:
    found = read({"schemagroups": {"s": {"schemas": {"x": source}}}}, "f")
    resource = found.resource(Xid("schemagroups", "s", "schemas", "x"))
    assert resource is not None
    return resource


@pytest.mark.parametrize(
    ("source", "default"),
    [
        pytest.param({}, "1", id="no-versions"),
        pytest.param({"versionid": "v7"}, "v7", id="own-version"),
        pytest.param({"versions": {"9": {}, "10": {}}}, "10", id="by-number"),
        pytest.param({"versions": {"b": {}, "a": {}}}, "a", id="last-listed"),
        pytest.param(
            {
                "versions": {
                    "a": {"createdat": "2024-01-02T00:00:00Z"},
                    "b": {"createdat": "2024-01-01T00:00:00Z"},
                }
            },
            "a",
            id="by-creation",
        ),
        pytest.param({"versions": {"1": {"isdefault": True}, "2": {}}}, "1", id="isdefault"),
        pytest.param({"defaultversionid": "1", "versions": {"1": {}, "2": {}}}, "1", id="beside"),
        pytest.param(
            {"meta": {"defaultversionid": "1"}, "versions": {"1": {}, "2": {}}}, "1", id="meta"
        ),
        pytest.param({"versionid": "1", "versions": {"1": {}, "2": {}}}, "1", id="versionid"),
        pytest.param({"defaultversionid": "7", "versions": {"1": {}, "2": {}}}, "2", id="unknown"),
    ],
)
def test_the_default_version(source: dict[str, Any], default: str) -> None:
    assert schema(source).default == default


def test_what_stands_beside_versions_fills_them() -> None:
    versions = {"1": {"schema": 1}, "2": {"schema": 2, "format": "Avro/1.9"}}
    found = schema({"format": "XSD/1.1", "owner": "x", "description": "d", "versions": versions})
    assert found.versions["1"].attributes == {"format": "XSD/1.1", "schema": 1}
    assert found.attributes == {"format": "Avro/1.9", "owner": "x", "schema": 2}


def test_both_names_of_the_ancestor_are_read() -> None:
    versions = {"1": {"ancestor": "1"}, "2": {"ancestorid": "1"}}
    found = schema({"versions": versions})
    assert [dict(v.attributes) for v in found.versions.values()] == list(versions.values())


def test_files_are_remembered() -> None:
    found = read({"messagegroups": {"g": {"messages": {"m": {}}}}}, "f.json")
    assert found.file(Xid.parse("/messagegroups/g/messages/m/versions/1")) == "f.json"
    assert found.files == {"/messagegroups/g": "f.json", "/messagegroups/g/messages/m": "f.json"}


def test_registry_attributes_hold_no_groups() -> None:
    document = {
        "$schema": "x",
        "specversion": "1.0-rc2",
        "labels": {"a": "b"},
        "model": {"groups": {}},
        "things": {"t": {"stuff": {}}},
        "messagegroups": {},
    }
    found = read(document, "")
    assert list(found.attributes) == ["$schema", "specversion", "labels", "model"]
    assert found.source == document


def group(**members: Any) -> dict[str, Any]:
    return {"messagegroups": {"g": members}}


@pytest.mark.parametrize(
    ("document", "location", "reason"),
    [
        pytest.param(
            group(messagegroupid="h"),
            "/messagegroups/g/messagegroupid",
            "messagegroupid is 'h' but the entity is listed as 'g'; they must be equal",
            id="group-id",
        ),
        pytest.param(
            group(messages={"m": {"messageid": "n"}}),
            "/messagegroups/g/messages/m/messageid",
            "must be equal",
            id="message-id",
        ),
        pytest.param(
            group(messages={"m": {"versions": {"1": {"versionid": "2"}}}}),
            "/messagegroups/g/messages/m/versions/1/versionid",
            "must be equal",
            id="version-id",
        ),
        pytest.param(
            group(messages={"m": {"versions": {"1": {"messageid": "n"}}}}),
            "/messagegroups/g/messages/m/versions/1/messageid",
            "must be equal",
            id="message-id-of-version",
        ),
        pytest.param(
            group(messages={"a/b": {}, "A/B": {}}),
            "/messagegroups/g/messages/A~1B",
            "'A/B' and 'a/b' differ in case only",
            id="case",
        ),
        pytest.param(
            {"messagegroups": []}, "/messagegroups", "expected an object", id="groups-no-object"
        ),
        pytest.param(
            {"messagegroups": {"g": "x"}},
            "/messagegroups/g",
            "found a string",
            id="group-no-object",
        ),
        pytest.param(
            group(messages={"m": 5}),
            "/messagegroups/g/messages/m",
            "found a number",
            id="message-no-object",
        ),
        pytest.param(
            group(messages={"m": {"versions": {"1": None}}}),
            "/messagegroups/g/messages/m/versions/1",
            "found null",
            id="version-no-object",
        ),
    ],
)
def test_errors_say_where(document: dict[str, Any], location: str, reason: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read(document, "f.json")
    assert caught.value.file == "f.json"
    assert caught.value.location == location
    assert reason in caught.value.reason


def test_the_number_of_entities_is_limited() -> None:
    document = group(messages={"m": {"versions": {"1": {}, "2": {}}}})
    assert read(document, "", Limits(entities=4))
    with pytest.raises(DocumentError, match="more than 3 entities"):
        read(document, "", Limits(entities=3))


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param({"messagegroups": {}}, True, id="groups"),
        pytest.param({"registryid": "r"}, True, id="registry"),
        pytest.param({"schemagroupsurl": "x"}, True, id="url"),
        pytest.param({"specversion": "1.0", "type": "t"}, False, id="cloudevent"),
        pytest.param({"endpoints": ["http://x"]}, False, id="settings"),
        pytest.param([], False, id="array"),
    ],
)
def test_documents_are_recognised(document: object, expected: bool) -> None:
    assert detect(document) is expected
