"""The rules around messages: groups, ids, versions, borrowed messages."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.dialects.xreg_1_0 import read
from heraldry.model.rules import check

Told = tuple[str, str, str]


def told(document: dict[str, Any]) -> list[Told]:
    return [(f.location, f.rule, f.severity) for f in check(read(document, "f"))]


CASES: dict[str, tuple[dict[str, Any], list[Told]]] = {
    "group-protocol": (
        {"messagegroups": {"g": {"protocol": "MQTT"}}},
        [("/messagegroups/g/protocol", "M10", "warning")],
    ),
    "group-id": ({"messagegroups": {"-g": {}}}, [("/messagegroups/-g", "CA-02", "error")]),
    "long-id": (
        {"messagegroups": {"g" * 129: {}}},
        [("/messagegroups/" + "g" * 129, "CA-02", "error")],
    ),
    "schema-id": (
        {"schemagroups": {"s": {"schemas": {"a b": {}}}}},
        [("/schemagroups/s/schemas/a b", "CA-02", "error")],
    ),
    "version-id": (
        {"messagegroups": {"g": {"messages": {"m": {"versions": {"+1": {}}}}}}},
        [("/messagegroups/g/messages/m/versions/+1", "CA-02", "error")],
    ),
    "xid": (
        {"messagegroups": {"g": {"xid": "/messagegroups/h"}}},
        [("/messagegroups/g/xid", "xid-mismatch", "error")],
    ),
    "default-version": (
        {
            "schemagroups": {
                "s": {"schemas": {"x": {"defaultversionid": "3", "versions": {"1": {}}}}}
            }
        },
        [("/schemagroups/s/schemas/x/defaultversionid", "default-version-unknown", "error")],
    ),
    "formats": (
        {
            "schemagroups": {
                "s": {
                    "schemas": {
                        "x": {
                            "format": "XSD/1.1",
                            "versions": {
                                "1": {"format": "XMLSchema/1.1"},
                                "2": {"format": "Avro/1.9"},
                            },
                        }
                    }
                }
            }
        },
        [("/schemagroups/s/schemas/x/versions/2/format", "C42", "error")],
    ),
}


@pytest.mark.parametrize(
    ("document", "expected"), [pytest.param(*case, id=name) for name, case in CASES.items()]
)
def test_groups_and_ids(document: dict[str, Any], expected: list[Told]) -> None:
    assert told(document) == expected


def borrowing(reference: dict[str, Any], **group: Any) -> list[Told]:
    target = {"envelope": "CloudEvents/1.0", "envelopemetadata": {}}
    groups = {
        "one": {"messages": {"m": target}},
        "two": {**group, "messages": {"m": reference}},
    }
    return told({"messagegroups": groups})


def test_a_borrowed_message_has_nothing_of_its_own() -> None:
    there = "/messagegroups/two/messages/m"
    uri = {"uri": "#/messagegroups/one/messages/m"}
    assert borrowing(uri) == []
    assert borrowing({"meta": {"xref": "/messagegroups/one/messages/m"}}) == []
    assert borrowing({**uri, "protocol": 5}) == [(f"{there}/protocol", "C15", "warning")]
    assert borrowing({"uri": "/messagegroups/one/messages/x"}) == [
        (there, "borrowed-unknown", "warning")
    ]
    assert borrowing(uri, envelope="SOAP/1.2") == [(there, "M8", "error")]
