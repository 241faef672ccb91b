"""URLs of sources as endpoints: ``kafka://h:p/topic``, ``mqtt://h:p/filter``, ``nats://h:p/subject``.

A URL says what an endpoint of a catalog would say, so that whoever reads an endpoint reads both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from heraldry.errors import TemplateError, UsageError
from heraldry.messages.template import Template
from heraldry.messages.transports.address import placeholders
from heraldry.model.endpoint import Endpoint
from heraldry.model.formats import fold
from heraldry.model.xid import Xid

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}").fullmatch
_SUBJECT = re.compile(r"[^\s.]+(\.[^\s.]+)*").fullmatch
_STREAM = re.compile(r"[^\s.*>/\\]+").fullmatch
_PORTS = {"mqtt": 1883, "tcp": 1883, "mqtts": 8883, "ssl": 8883, "ws": 80, "wss": 443}
_PORTS |= {"amqp": 5672, "amqps": 5671, "nats": 4222, "tls": 4222, "http": 80, "https": 443}
"""The ports of what is taken in; here without the clients that connect to them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """One kind of URL: ``path`` is the option that its path stands for, ``query`` what may follow.

    ``scheme`` is that of the addresses; several servers may be named where ``many`` is true.
    """

    protocol: str
    path: str
    example: str
    scheme: str = ""
    query: frozenset[str] = frozenset()
    many: bool = False


_KINDS = {
    "kafka": _Kind(protocol="KAFKA", path="topic", example="kafka://broker:9092/orders", many=True),
    "mqtt": _Kind(protocol="MQTT/5.0", path="topicfilter", example="mqtt://broker:1883/shops/#"),
    "mqtts": _Kind(protocol="MQTT/5.0", path="topicfilter", example="mqtts://broker:8883/shops/#"),
    "amqp": _Kind(protocol="AMQP/1.0", path="node", example="amqp://broker:5672/orders"),
    "amqps": _Kind(protocol="AMQP/1.0", path="node", example="amqps://broker:5671/orders"),
    "nats": _Kind(
        protocol="NATS",
        path="subjectfilter",
        example="nats://server:4222/shop.>",
        query=frozenset(("stream",)),
        many=True,
    ),
    "nats+jetstream": _Kind(
        protocol="NATS",
        path="stream",
        example="nats+jetstream://server:4222/ORDERS",
        scheme="nats",
        query=frozenset(("subject",)),
        many=True,
    ),
}
SCHEMES = tuple(_KINDS)
"""The schemes of URLs that name a server."""


def endpoint_of_url(url: str) -> Endpoint:
    """The endpoint that a URL describes.

    Its id is the scheme, so that HERALDRY_KAFKA_PASSWORD is asked for before HERALDRY_PASSWORD.
    UsageError teaches what would be right, and never shows a user or password.
    """
    scheme, _, rest = url.partition("://")
    kind = _KINDS.get(scheme.lower())
    if kind is None:
        raise UsageError(
            f"{scheme!r} is not the scheme of a server", f"known: {', '.join(SCHEMES)}"
        )
    servers, slash, path = rest.partition("/")
    if "@" in servers:
        told = "the URL of a source holds a user or password"
        raise UsageError(told, "set HERALDRY_USERNAME and HERALDRY_PASSWORD instead")
    # A hash is a wildcard of MQTT, and no URL of a source has a fragment.
    path, asked, query = path.partition("?") if kind.query else (path, "", "")
    options = {kind.path: unquote(path), **_query(kind, url, query if asked else "")}
    if not slash or not path:
        raise _wrong(kind, url, f"names no {_WORDS[kind.path]}")
    _check(kind, url, options)
    named = kind.scheme or scheme.lower()
    addresses = tuple(f"{named}://{_server(kind, url, one)}" for one in servers.split(","))
    if len(addresses) > 1 and not kind.many:
        raise _wrong(kind, url, "names several servers")
    return Endpoint(
        xid=Xid("endpoints", kind.protocol.partition("/")[0].lower()),
        usage=("consumer",),
        protocol=kind.protocol,
        addresses=addresses,
        details=tuple({} for _ in addresses),
        options={fold(name): value for name, value in options.items()},
    )


def normal_source(name: str) -> str:
    """The address of a source in the one way to spell it: ``MQTT://B/a`` is ``mqtt://b:1883/a``.

    The path stays as it is: topics, addresses and subjects have a case.
    """
    scheme, found, rest = name.partition("://")
    server, slash, path = rest.partition("/")
    scheme, server = scheme.lower(), server.lower()
    if not found or not server:
        return name
    if scheme in _PORTS and not server.rpartition("]")[2].partition(":")[2]:
        server = f"{server.rstrip(':')}:{_PORTS[scheme]}"
    return f"{scheme}://{server}{slash}{path}"


def filled_endpoint(endpoint: Endpoint, values: Mapping[str, str]) -> Endpoint:
    """An endpoint with the placeholders of its addresses and options that have a value filled."""
    if not values:
        return endpoint
    return replace(
        endpoint,
        addresses=tuple(_filled(one, values) for one in endpoint.addresses),
        options={name: _filled(one, values) for name, one in endpoint.options.items()},
    )


def completed_endpoint(
    endpoint: Endpoint, given: Mapping[str, str]
) -> tuple[Endpoint, dict[str, str]]:
    """The endpoint with its placeholders filled, and what was given that is none of them."""
    names = placeholders(endpoint)
    rest = {name: value for name, value in given.items() if name not in names}
    return filled_endpoint(endpoint, given), rest


_WORDS = {"topic": "topic", "topicfilter": "topic filter", "node": "address"} | {
    "subjectfilter": "subject",
    "stream": "stream",
}


def _query(kind: _Kind, url: str, query: str) -> dict[str, str]:
    found = dict(parse_qsl(query, keep_blank_values=True))
    strange = sorted(found.keys() - kind.query)
    if strange:
        raise _wrong(kind, url, f"asks for {', '.join(strange)}, which is not known")
    return {{"subject": "subjectfilter"}.get(name, name): value for name, value in found.items()}


def _check(kind: _Kind, url: str, options: Mapping[str, str]) -> None:
    for topic in options.get("topic", "a").split(","):
        if not _TOPIC(topic):
            raise _wrong(kind, url, "names a topic that Kafka does not allow")
    if not _SUBJECT(options.get("subjectfilter", "a")):
        raise _wrong(kind, url, "names a subject that NATS does not allow")
    if not _STREAM(options.get("stream", "A")):
        raise _wrong(kind, url, "names a stream that NATS does not allow")


def _server(kind: _Kind, url: str, text: str) -> str:
    try:
        parts = urlsplit(f"//{text}")
        if parts.hostname and parts.netloc == text and (parts.port is None or parts.port > 0):
            return text
    except ValueError:
        pass
    raise _wrong(kind, url, "names no server, or one that is none")


def _wrong(kind: _Kind, url: str, told: str) -> UsageError:
    # What stands before a stray @, or in a query, may be what nobody is to see.
    shown = f"{url.partition('://')[0]}://..." if "@" in url else url.partition("?")[0]
    return UsageError(f"the source {shown} {told}", f"write it as {kind.example}")


def _filled(value: Any, values: Mapping[str, str]) -> Any:
    match value:
        case str() if "{" in value:
            try:
                template = Template.parse(value, None)
            except TemplateError:
                return value
            known = all(values.get(name) for name in template.placeholders)
            return template.expand(values, raw=True) if known else value
        case Mapping():
            return {name: _filled(one, values) for name, one in value.items()}
        case list():
            return [_filled(one, values) for one in value]
    return value
