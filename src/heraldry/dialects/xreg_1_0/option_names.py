"""Names of protocol options: every separator spelling on the way in, one on the way out (C5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heraldry.model.endpoint_options import OPTIONS
from heraldry.model.formats import protocol_family


def _spellings(names: str, **aliases: str) -> dict[str, str]:
    """Canonical names by their spelling without separators."""
    table = {_fold(name): name for name in names.split()}
    return {**table, **{_fold(alias): name for alias, name in aliases.items()}}


def _fold(name: str) -> str:
    return name.replace("-", "").replace("_", "")


_TABLES = {
    "HTTP": _spellings("headers query path method status"),
    "AMQP": _spellings(
        "properties application-properties message-annotations delivery-annotations header footer"
    ),
    "MQTT": _spellings(
        "qos retain topic_name payload_format message_expiry_interval response_topic "
        "correlation_data content_type user_properties",
        payload_format_indicator="payload_format",
    ),
    "KAFKA": _spellings("topic partition key key_base64 headers"),
    "NATS": _spellings("subject reply-to headers", reply="reply-to"),
}

_SECTIONS = {
    "properties": _spellings(
        "message-id user-id to subject reply-to correlation-id content-type content-encoding "
        "absolute-expiry-time creation-time group-id group-sequence reply-to-group-id"
    ),
    "header": _spellings("durable priority ttl first-acquirer delivery-count"),
}

_ANY = {folded: name for table in _TABLES.values() for folded, name in table.items()}
"""A message may inherit its protocol; no folded name means two things, so all tables serve."""

_ENDPOINT = {protocol: _spellings(" ".join(table)) for protocol, table in OPTIONS.items()}


def message_options(protocol: object, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options of a message under their canonical names; values stay as they are (C3..C12).

    Options of protocols that are not predefined are left alone. Returns the same object where
    nothing changes.
    """
    name = protocol_family(protocol)[0] if isinstance(protocol, str) else ""
    table = _TABLES.get(name) if name else _ANY
    if table is None:
        return options
    renamed = _renamed(options, table)
    if name not in {"", "AMQP"}:
        return renamed
    for section, names in _SECTIONS.items():
        inner = renamed.get(section)
        if isinstance(inner, Mapping):
            changed = _renamed(inner, names)
            if changed is not inner:
                renamed = {**renamed, section: changed}
    return renamed


def endpoint_options(protocol: object, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options of an endpoint under their canonical names, ``url`` for ``uri`` (C41, C52)."""
    nested = options.get("options")
    if isinstance(nested, Mapping):
        direct = {name: value for name, value in options.items() if name != "options"}
        options = {**nested, **direct}
    if isinstance(protocol, str):
        options = _renamed(options, _ENDPOINT.get(protocol_family(protocol)[0], {}))
    places = options.get("endpoints")
    if isinstance(places, list) and any(_has_uri(place) for place in places):
        options = {**options, "endpoints": [_with_url(place) for place in places]}
    return options


def _renamed(options: Mapping[str, Any], table: Mapping[str, str]) -> Mapping[str, Any]:
    """The same members under canonical names; a canonical name that is taken stays as it is."""
    wanted: dict[str, str] = {}
    for name in options:
        canonical = table.get(_fold(name), name)
        if canonical != name and canonical not in options and canonical not in wanted.values():
            wanted[name] = canonical
    if not wanted:
        return options
    return {wanted.get(name, name): value for name, value in options.items()}


def _has_uri(place: Any) -> bool:
    return isinstance(place, Mapping) and "uri" in place and "url" not in place


def _with_url(place: Any) -> Any:
    if not _has_uri(place):
        return place
    return {("url" if name == "uri" else name): value for name, value in place.items()}
