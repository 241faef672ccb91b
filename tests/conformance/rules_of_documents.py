"""Rules that show in documents: what is kept, inherited, and found in them."""

from __future__ import annotations

import json

import pytest

from heraldry.dialects.load import load_bytes
from heraldry.dialects.xreg_1_0 import write
from heraldry.errors import CircularBaseError, DocumentError, UnknownDefinitionError
from heraldry.model.inherit import definitions, materialize
from heraldry.model.rules import check
from heraldry.model.xid import Xid
from tests.conformance.broken_definitions import CE, M, event, sent
from tests.conformance.named_rules import EVENT, JSON, matches, mqtt, opened, rule, told
from tests.model.catalogs import FILE, catalog


@rule("M1 extension attributes are kept without a word")
def _() -> None:
    message = {**event(), "owner": {"team": "x"}, "x_y": [1, None]}
    document = {"messagegroups": {"g": {"colour": "red", "messages": {"m": message}}}}
    read = load_bytes(json.dumps(document).encode(), FILE)
    assert check(read) == ()
    assert write(read) == document
    group = read.groups["messagegroups"]["g"]
    assert group.attributes["colour"] == "red"
    assert group.resources["messages"]["m"].attributes["owner"] == {"team": "x"}


@rule("M2 what is known but not supported is told")
def _() -> None:
    messages = {
        "envelope": {"envelope": "SOAP/1.2", "envelopemetadata": {}},
        "protocol": sent("STOMP/1.2"),
        "schema": {**event(), "dataschemaformat": "RAML/1.0", "dataschema": {}},
    }
    found = {(f.location.rpartition("messages/")[2], f.rule) for f in opened(messages).check()}
    assert found >= {
        ("envelope/envelope", "envelope-unknown"),
        ("protocol/protocol", "protocol-unsupported"),
        ("schema/dataschema", "schema-unsupported"),
    }


@rule("M3 every message lives in a group")
def _() -> None:
    document = {"messagegroups": {"g": {"messages": {"m": event()}}}, "messages": {"n": event()}}
    read = load_bytes(json.dumps(document).encode(), FILE)
    assert [str(xid) for xid in definitions(read)] == [M]
    with pytest.raises(UnknownDefinitionError):
        materialize(read, Xid(resources="messages", resource="n"))


@rule("M4 base messages are found recursively")
def _() -> None:
    found = catalog(
        {
            "a": event(type={"value": "t"}),
            "b": {"basemessage": "/messagegroups/g/messages/a", "description": "b"},
            "m": {"basemessage": "/messagegroups/g/messages/b"},
        }
    )
    got = materialize(found, Xid.parse(M))
    assert (got.envelopemetadata, got.description) == ({"type": {"value": "t"}}, "b")


@rule("M5 envelopes compare without case")
def _() -> None:
    assert told({"m": {"envelope": "cloudEVENTS/1.0", "envelopemetadata": {}}}, **CE) == []
    assert matches({"envelope": "cloudEVENTS/1.0", "envelopemetadata": {}}, EVENT)


@rule("M8 messages have the envelope of their group")
def _() -> None:
    assert told({"m": event()}, envelope="SOAP/1.2") == [("/envelope", "M8", "error")]


@rule("M9 protocols compare without case")
def _() -> None:
    assert told({"m": sent("mqtt/5.0")}, protocol="MQTT/5.0") == []
    assert matches(sent("mqtt/5.0", topic_name="a"), mqtt("a"))


@rule("M12 messages have the protocol of their group")
def _() -> None:
    assert told({"m": sent("NATS")}, protocol="KAFKA") == [("/protocol", "M12", "error")]
    assert told({"m": sent("MQTT/3.1.1")}, protocol="MQTT/5.0") == [("/protocol", "M12", "error")]
    assert told({"m": sent("HTTP/1.1")}, protocol="HTTP") == []


@rule("M12 a message without protocol has that of its group")
def _() -> None:
    found = catalog({"m": {}}, protocol="KAFKA")
    assert materialize(found, Xid.parse(M)).protocol == "KAFKA"


@rule("M13 a message without envelope has that of its group (C16)")
def _() -> None:
    found = catalog({"m": {"envelopemetadata": {}}}, **CE)
    assert materialize(found, Xid.parse(M)).envelope == "CloudEvents/1.0"


@rule("M13 a borrowed message has the envelope of the group that borrows it")
def _() -> None:
    borrowed = {"m": {"uri": "#/messagegroups/one/messages/m"}}
    groups = {
        "one": {"messages": {"m": event()}},
        "g": {"envelope": "SOAP/1.2", "messages": borrowed},
    }
    read = load_bytes(json.dumps({"messagegroups": groups}).encode(), FILE)
    assert [(one.location, one.rule) for one in check(read)] == [(M, "M8")]


@rule("M15 an absolute base is left to the client to fetch")
def _() -> None:
    found = catalog({"m": {"basemessage": "https://example.com/m", **event()}})
    got = materialize(found, Xid.parse(M))
    assert (got.basemessage, got.bases) == ("https://example.com/m", ())


@rule("M16 what an absolute base leads to is not checked")
def _() -> None:
    assert told({"m": {"basemessage": "https://nowhere.invalid/schemas/x"}}) == []


@rule("M17 a base that is not there is no error")
def _() -> None:
    message = {**event(type={"value": "t"}), "basemessage": "/messagegroups/g/messages/gone"}
    assert "error" not in {one.severity for one in opened({"m": message}).check()}
    assert matches(message, EVENT)


@rule("M18 bases that lead back are circular")
def _() -> None:
    messages = {
        "m": {"basemessage": "/messagegroups/g/messages/n"},
        "n": {"basemessage": M},
    }
    assert [(where, name) for where, name, _ in told(messages)] == [
        ("/basemessage", "M18"),
        ("/messagegroups/g/messages/n/basemessage", "M18"),
    ]
    with pytest.raises(CircularBaseError):
        materialize(catalog(messages), Xid.parse(M))


@rule("M21 schema formats compare without case")
def _() -> None:
    accepted = opened({"m": {**event(), **JSON, "dataschemaformat": "jsonSCHEMA/Draft-07"}})
    assert accepted[M].compiled.schema_state == "usable"


@rule("M27 a schema that is not there is no error, with or without dataschemauri")
def _() -> None:
    assert told({"m": {"dataschemaxid": "/schemagroups/s/schemas/gone"}}) == []


@rule("M47 what is inherited counts")
def _() -> None:
    messages = {
        "b": event(dataschema={"value": "https://example.com/a"}),
        "m": {
            "basemessage": "/messagegroups/g/messages/b",
            "dataschemaformat": "Avro/1.9",
            "dataschemauri": "https://example.com/b",
        },
    }
    assert told(messages) == [("/dataschemauri", "M47", "error")]


@rule("M53 what is inherited counts")
def _() -> None:
    messages = {
        "b": sent("HTTP", method="GET"),
        "m": {
            "basemessage": "/messagegroups/g/messages/b",
            "protocoloptions": {"status": "200"},
        },
    }
    assert told(messages) == [("/protocoloptions/status", "M53", "error")]


@rule("M58 a name is given once")
def _() -> None:
    twice = b'{"messagegroups": {"g": {"messages": {"m": {"a": 1, "a": 2}}}}}'
    with pytest.raises(DocumentError, match="twice"):
        load_bytes(twice, FILE)


@rule("M65 objects merge, scalars and arrays replace")
def _() -> None:
    one = [{"name": "one"}]
    base = {**event(type={"value": "b"}, id={}), **sent("HTTP", headers=one, path={"value": "/"})}
    over = {
        "basemessage": "/messagegroups/g/messages/b",
        "envelopemetadata": {"type": {"value": "m"}},
        "protocoloptions": {"headers": [{"name": "two"}], "path": "/y"},
    }
    got = materialize(catalog({"b": base, "m": over}), Xid.parse(M))
    assert got.envelopemetadata == {"type": {"value": "m"}, "id": {}}
    assert got.protocoloptions == {"headers": [{"name": "two"}], "path": "/y"}


@rule("M66 messages live in messagegroups and endpoints, under messages")
def _() -> None:
    groups = {"messages": {"m": event()}, "letters": {"n": event()}}
    document = {"messagegroups": {"g": groups}, "endpoints": {"e": groups}}
    read = load_bytes(json.dumps(document).encode(), FILE)
    assert [str(xid) for xid in definitions(read)] == [M, "/endpoints/e/messages/m"]
