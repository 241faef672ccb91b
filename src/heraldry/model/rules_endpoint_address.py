"""Rules of an endpoint's network addresses: scheme, port and path by protocol (R64, R67..R90).

No finding shows an address: it may hold a password.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

from heraldry.model.formats import present, protocol_family
from heraldry.model.problem import Finding
from heraldry.model.rules_subject import Path, Subject
from heraldry.model.rules_values import template_fault

_SCHEMES: dict[str, tuple[str, tuple[str, ...]]] = {
    "HTTP": ("R67", ("http", "https")),
    "AMQP": ("R71", ("amqp", "amqps")),
    "MQTT": ("R77", ("mqtt", "mqtts", "tcp", "ssl", "wss")),
    "KAFKA": ("R84", ("plaintext", "ssl", "sasl_plaintext", "sasl_ssl")),
    "NATS": ("R90", ("nats", "tls", "ws")),
}
"""The rule of each protocol, and the schemes its addresses may have."""

_READ = {"MQTT": ("ws",), "NATS": ("wss",), "KAFKA": ("kafka",)}
"""Schemes that catalogs have beside these; they are read."""

_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_SERVER = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^\s:/?#\[\]]+):([0-9]{1,5})")


def addresses(subject: Subject) -> Iterator[Finding]:
    """R64, R67, R71, R77, R84, R90: every entry has an address that its protocol can use."""
    options = subject.attributes.get("protocoloptions")
    given = options.get("endpoints") if isinstance(options, Mapping) else None
    path: Path = ("protocoloptions", "endpoints")
    if given is None:
        return
    if not isinstance(given, list):
        message, advice = "endpoints is not an array", 'write [{"url": "..."}]'
        yield subject.error("R64", path, message, advice)
        return
    protocol = protocol_family(present(subject.attributes.get("protocol")))[0]
    for index, entry in enumerate(given):
        yield from _entry(subject, protocol, (*path, index), entry)


def _entry(subject: Subject, protocol: str, path: Path, entry: Any) -> Iterator[Finding]:
    members = entry if isinstance(entry, Mapping) else {"url": entry}
    servers, url = members.get("bootstrap.servers"), members.get("url")
    if protocol == "KAFKA" and servers is not None:
        many = servers if isinstance(servers, list) else str(servers).split(",")
        for index, server in enumerate(many):
            place = (*path, "bootstrap.servers", index)
            yield from _server(subject, place, str(server).strip())
        return
    place = (*path, "url") if isinstance(entry, Mapping) else path
    if not isinstance(url, str) or not url:
        if protocol in _SCHEMES:
            name = "bootstrap.servers" if protocol == "KAFKA" else "url"
            yield subject.error("R64", path, "the entry has no address", f"add {name}")
    elif protocol == "KAFKA":
        message = "the address of a Kafka endpoint stands in bootstrap.servers"
        advice = 'write {"bootstrap.servers": ["host:port"]}'
        yield subject.warning("R84", place, message, advice)
        yield from _server(subject, place, url)
    else:
        yield from _url(subject, protocol, place, url)


def _server(subject: Subject, path: Path, text: str) -> Iterator[Finding]:
    """R84: a bootstrap server is host:port, with or without the scheme of a listener."""
    advice = "write host:port, or SSL://host:port"
    scheme, mark, rest = _PLACEHOLDER.sub("0", text).rpartition("://")
    known = (*_SCHEMES["KAFKA"][1], *_READ["KAFKA"], "0")
    found = _SERVER.fullmatch(rest.rpartition("@")[2].rstrip("/"))
    if mark and scheme.lower() not in known:
        yield subject.error("R84", path, f"the scheme {scheme} is not one of Kafka", advice)
    elif found is None or int(found[1]) > 65535:
        yield subject.error("R84", path, "the address is not host:port", advice)


def _url(subject: Subject, protocol: str, path: Path, text: str) -> Iterator[Finding]:
    rule, schemes = _SCHEMES.get(protocol, ("R64", ()))
    example = f"{schemes[0] if schemes else 'scheme'}://host:port"
    try:
        parts = urlsplit(_PLACEHOLDER.sub("0", text))
        port, host = parts.port, parts.hostname
    except ValueError:
        parts, port, host = urlsplit(""), None, None
    scheme = parts.scheme
    if text.startswith("{"):
        return
    if template_fault(text) or not scheme or (schemes and not host):
        yield subject.error("R64", path, "the address is not an absolute URI", f"such as {example}")
    elif schemes and scheme not in schemes:
        advice = "one of " + ", ".join(schemes)
        told = f"the scheme {scheme} is not one of {protocol}"
        report = subject.warning if scheme in _READ.get(protocol, ()) else subject.error
        yield report(rule, path, told, advice)
    elif protocol == "NATS" and port is None:
        yield subject.error("R90", path, "the address has no port", "write nats://host:4222")
    elif protocol == "MQTT":
        yield from _topic(subject, path, parts)


def _topic(subject: Subject, path: Path, parts: SplitResult) -> Iterator[Finding]:
    """R77: the path of an MQTT address is a topic; tcp, ssl and wss have none."""
    if parts.scheme not in {"mqtt", "mqtts"} and parts.path.strip("/"):
        message = f"an address with the scheme {parts.scheme} has no path"
        yield subject.warning("R77", path, message, "state the topic in the option topic")
    elif "+" in parts.path or parts.fragment or parts.path.endswith("#"):
        message = "the path of the address holds a wildcard"
        yield subject.error("R77", path, message, "state a filter in the option topicfilter")
