"""Catalogs and lines for tests of streams: every kind of definition, good messages and flawed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

EVENTS = "CloudEvents/1.0"
DRAFT_07 = "JSONSchema/draft-07"
DRAFT_2020 = "JSONSchema/2020-12"

Shape = str | list[Any] | dict[str, Any]
"""The form of a payload: the name of a kind of value, a list of one form, or members."""

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
WHOLE = {"type": "integer"}
TRUTH = {"type": "boolean"}
INSTANT = {"type": "string", "format": "date-time"}
DAY = {"type": "string", "format": "date"}


def record(*required: str, **members: Any) -> dict[str, Any]:
    """The schema of an object."""
    found: dict[str, Any] = {"type": "object", "properties": members}
    return found | ({"required": list(required)} if required else {})


def listed(items: Any) -> dict[str, Any]:
    """The schema of an array."""
    return {"type": "array", "items": items}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of event: its definition, attributes that fit it, and the shape of its data."""

    definition: Mapping[str, Any]
    attributes: Mapping[str, str]
    data: Shape | None = None


def kind(
    name: str,
    schema: Any = None,
    data: Shape | None = None,
    *,
    draft: str = DRAFT_07,
    source: str = "/shops/{shop}",
    attributes: Mapping[str, Any] | None = None,
    given: Mapping[str, str] | None = None,
    **more: Any,
) -> Kind:
    """A definition of CloudEvents with a constant type, and how its events look."""
    declared = {"type": {"value": f"shop.{name}"}, "source": {"value": source}}
    definition: dict[str, Any] = {
        "envelope": EVENTS,
        "envelopemetadata": declared | dict(attributes or {}),
        **more,
    }
    if schema is not None:
        definition |= {"dataschemaformat": draft, "dataschema": schema}
    good = {"type": f"shop.{name}", "source": source.replace("{shop}", "berlin"), **(given or {})}
    return Kind(definition=definition, attributes=good, data=data)


ORDER = record(
    "id",
    "total",
    id=TEXT,
    total=NUMBER,
    count=WHOLE,
    paid=TRUTH,
    placed=INSTANT,
    day=DAY,
    note={"type": ["string", "null"]},
    customer=record("name", name=TEXT, score=NUMBER, address=record(city=TEXT, floor=WHOLE)),
    lines=listed(record("sku", sku=TEXT, qty=WHOLE, price=NUMBER)),
    tags=listed(TEXT),
    flags=listed(TRUTH),
    ratios=listed(NUMBER),
)
ORDER_SHAPE: Shape = {
    "id": "text",
    "total": "number",
    "count": "whole",
    "paid": "truth",
    "placed": "instant",
    "day": "day",
    "note": "note",
    "customer": {"name": "text", "score": "number", "address": {"city": "text", "floor": "whole"}},
    "lines": [{"sku": "text", "qty": "whole", "price": "number"}],
    "tags": ["text"],
    "flags": ["truth"],
    "ratios": ["number"],
}
ODD_NAMES = ("a b", "a.b", "A_B", "value", "VALUE", "ce_id", "_batch", "ctx_shop", "", "ü", "a`b")
# Members without "type": "object": other values, null too, are valid but have no column.
LOOSE = {
    "properties": {"inner": {"properties": {"name": TEXT}, "required": ["name"]}, "size": WHOLE},
    "required": ["inner"],
}
CHOICE = record(
    fixed={"const": "x"},
    level={"enum": [1, 2.5]},
    size={"anyOf": [WHOLE, {"type": "null"}]},
    both={"anyOf": [WHOLE, TEXT]},
    free={},
    map={"type": "object", "additionalProperties": NUMBER},
    pair={"type": "array", "items": [TEXT, WHOLE]},
    tree={"$ref": "#/definitions/tree"},
)
CHOICE["definitions"] = {"tree": record(name=TEXT, child={"$ref": "#/definitions/tree"})}

EVENT_KINDS: dict[str, Kind] = {
    "order": kind(
        "order",
        ORDER,
        ORDER_SHAPE,
        attributes={"subject": {"value": "{order}@{shop}"}, "time": {"required": True}},
        given={"subject": "4711@berlin", "time": "2026-11-16T08:30:00Z"},
        datacontenttype="application/json",
    ),
    "order2020": kind("order2020", ORDER, ORDER_SHAPE, draft=DRAFT_2020),
    "nested": kind(
        "nested",
        record(at=INSTANT, box=record(at=INSTANT, day=DAY), days=listed(DAY)),
        {"at": "instant", "box": {"at": "instant", "day": "day"}, "days": ["day"]},
        draft=DRAFT_2020,
    ),
    "choice": kind(
        "choice",
        CHOICE,
        {
            "fixed": "fixed",
            "level": "whole",
            "size": "whole",
            "both": "any",
            "free": "any",
            "map": {"a": "number"},
            "pair": ["any"],
            "tree": {"name": "text", "child": {"name": "text"}},
        },
    ),
    "odd": kind(
        "odd",
        record(**{name: TEXT if i % 2 else NUMBER for i, name in enumerate(ODD_NAMES)}),
        {name: "text" if i % 2 else "number" for i, name in enumerate(ODD_NAMES)},
    ),
    "inner": kind(
        "inner",
        record(box=record(**{"a b": TEXT, "A_B": WHOLE})),
        {"box": {"a b": "text", "A_B": "whole"}},
    ),
    "loose": kind("loose", LOOSE, {"inner": {"name": "text"}, "size": "whole"}),
    "perhaps": kind("perhaps", ORDER | {"type": ["object", "null"]}, ORDER_SHAPE),
    "list": kind("list", listed(NUMBER), ["number"]),
    "scalar": kind("scalar", WHOLE, "whole", draft=DRAFT_2020),
    "anything": kind("anything", True, "any"),
    "raw": kind("raw", data="any"),
    "typed": kind(
        "typed", data="any", attributes={"datacontenttype": {"value": "application/json"}}
    ),
    "plain": kind("plain", data="text", source="/plain", datacontenttype="text/plain"),
    "extended": kind(
        "extended",
        record(name=TEXT),
        {"name": "text"},
        attributes={
            "tenant": {"type": "string", "required": True},
            "trace": {"type": "string"},
            "link": {"type": "uri"},
            "key": {"type": "uuid", "required": True},
            "region": {"value": "{shop}-{zone}"},
        },
        given={
            "tenant": "acme",
            "key": "6f1c9a0e-4a52-4c3a-9d55-0e9d1f0e7a11",
            "region": "berlin-7",
        },
    ),
    "counted": kind(
        "counted",
        record(name=TEXT),
        {"name": "text"},
        attributes={"level": {"type": "integer"}, "hot": {"type": "boolean"}},
    ),
    "constant": kind(
        "constant",
        record(name=TEXT),
        {"name": "text"},
        source="urn:constant",
        attributes={"subject": {"value": "always"}, "dataschema": {"required": True}},
        given={"subject": "always", "dataschema": "urn:schema:1"},
    ),
    "keyed": kind(
        "keyed",
        record(name=TEXT),
        {"name": "text"},
        protocol="KAFKA",
        protocoloptions={"topic": "orders", "key": "{key}"},
    ),
    "scan": kind("scan", record(tag=TEXT, weight=NUMBER), {"tag": "text", "weight": "number"}),
    "shared": kind("shared", record(name=TEXT), {"name": "text"}),
    "dangling": kind("dangling", data="any", dataschemaxid="/schemagroups/none/schemas/none"),
}

OTHERS: dict[str, dict[str, Any]] = {
    "scan-mqtt": {
        "basemessage": "/messagegroups/shop/messages/scan",
        "envelope": EVENTS,
        "protocol": "MQTT/5.0",
        "protocoloptions": {"topic_name": "shops/{shop}/scans", "qos": 1},
    },
    "shared-too": {
        "envelope": EVENTS,
        "envelopemetadata": {
            "type": {"value": "shop.shared"},
            "source": {"value": "/markets/{market}"},
        },
        "dataschemaformat": DRAFT_2020,
        "dataschema": record(name=TEXT),
    },
    "belt": {
        "protocol": "MQTT/5.0",
        "protocoloptions": {
            "topic_name": "belts/{belt}/sensors/{sensor}",
            "user_properties": [{"name": "unit", "value": "{unit}"}],
        },
        "dataschemaformat": DRAFT_07,
        "dataschema": record("value", value=NUMBER, at=INSTANT),
    },
}
OPEN_KINDS: dict[str, Kind] = {
    "open": kind(
        "open",
        record(name=TEXT, count=WHOLE),
        {"name": "text", "count": "whole"},
        source="{feed}",
        attributes={"type": {"value": "shop.{action}"}},
        given={"source": "https://feeds.example/a?b=c#d"},
    ),
    "narrow": kind("narrow", record(name=TEXT), {"name": "text"}),
}


def document(messages: Mapping[str, Any], group: str = "shop") -> bytes:
    """A catalog document with one group of messages."""
    whole = {"messagegroups": {group: {"messagegroupid": group, "messages": messages}}}
    return json.dumps(whole).encode()


def xid(message: str, group: str = "shop") -> str:
    """The xid of a message."""
    return f"/messagegroups/{group}/messages/{message}"


WIDE = document({name: dict(one.definition) for name, one in EVENT_KINDS.items()} | OTHERS)
"""Every kind of definition, each with a type of its own but for ``shared``."""

OPEN = document({name: dict(one.definition) for name, one in OPEN_KINDS.items()})
"""A definition for events of many types, beside one of a single type."""


def event(name: str, data: Any = None, *, without: str = "", **attributes: Any) -> dict[str, Any]:
    """A good event of a kind of :data:`WIDE`; None gives a member null."""
    whole = {"specversion": "1.0", "id": "1", **EVENT_KINDS[name].attributes, **attributes}
    whole |= {} if data is None else {"data": data}
    whole.pop(without, None)
    return whole


def line(whole: Any) -> bytes:
    """A value as a JSON line, without the line end."""
    return json.dumps(whole).encode()
