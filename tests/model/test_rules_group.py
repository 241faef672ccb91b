"""The rules around messages: groups, endpoints, ids, versions, borrowed messages."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.dialects.xreg_1_0 import read
from heraldry.model.rules import check

Told = tuple[str, str, str]


def told(document: dict[str, Any]) -> list[Told]:
    return [(f.location, f.rule, f.severity) for f in check(read(document, "f"))]


def endpoint(**members: Any) -> dict[str, Any]:
    groups = {"g": {"messages": {}}}
    return {"endpoints": {"e": {"usage": ["producer"], **members}}, "messagegroups": groups}


CASES: dict[str, tuple[dict[str, Any], list[Told]]] = {
    "good": (endpoint(messagegroups=["/messagegroups/g", "https://example.com/g"]), []),
    "shorthand": (endpoint(protocol="MQTT", envelope="CloudEvents"), []),
    "usage-text": (endpoint(usage="consumer"), []),
    "usage": (
        endpoint(usage=["producer", "sender"]),
        [("/endpoints/e/usage/1", "endpoint-usage", "error")],
    ),
    "usage-absent": (endpoint(usage=None), [("/endpoints/e/usage", "endpoint-usage", "warning")]),
    "group-unknown": (
        endpoint(messagegroups=["#/messagegroups/g", "/messagegroups/no"]),
        [("/endpoints/e/messagegroups/1", "endpoint-messagegroup-unknown", "warning")],
    ),
    "group-reference": (
        endpoint(messagegroups=["g"]),
        [("/endpoints/e/messagegroups/0", "endpoint-messagegroup-reference", "error")],
    ),
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
def test_groups_and_endpoints(document: dict[str, Any], expected: list[Told]) -> None:
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
