"""Rules of endpoints: usage, message groups, authorization and shape (R56, R66, M12, M13)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heraldry.errors import CircularBaseError
from heraldry.model.endpoint import is_foreign, read_endpoint
from heraldry.model.inherit import local_reference, materialize
from heraldry.model.problem import Finding
from heraldry.model.rules_credentials import credentials
from heraldry.model.rules_endpoint_address import addresses
from heraldry.model.rules_endpoint_options import OPTION_RULES
from heraldry.model.rules_envelope import mode
from heraldry.model.rules_subject import Path, Subject
from heraldry.model.rules_values import has_placeholders, is_absolute

_USAGES = ("subscriber", "consumer", "producer")


def usage(subject: Subject) -> Iterator[Finding]:
    """R56: an endpoint says what it is for: subscriber, consumer or producer."""
    given = subject.attributes.get("usage")
    advice = "one or more of " + ", ".join(_USAGES)
    if not isinstance(given, list) or not given:
        yield subject.warning("endpoint-usage", ("usage",), "the endpoint has no usage", advice)
        return
    for index, value in enumerate(given):
        if value not in _USAGES:
            message = f"{value!r} is no usage of an endpoint"
            yield subject.error("endpoint-usage", ("usage", index), message, advice)


def messagegroups(subject: Subject) -> Iterator[Finding]:
    """endpoint-messagegroup: the groups of an endpoint are in the catalog, or elsewhere."""
    given = subject.attributes.get("messagegroups")
    if given is not None and not isinstance(given, list):
        message = "messagegroups is not an array"
        advice = 'write ["/messagegroups/GROUP"]'
        yield subject.error("endpoint-messagegroup-reference", ("messagegroups",), message, advice)
    for path, text in _references(subject):
        xid = local_reference(text)
        if is_absolute(text):
            continue
        if xid is None or xid.resources:
            message = f"{text!r} is not the xid of a message group"
            advice = "write /messagegroups/GROUP"
            yield subject.error("endpoint-messagegroup-reference", path, message, advice)
        elif subject.catalog.group(xid) is None:
            message = f"the catalog has no message group {text}"
            advice = "add the group or the file it is in, or correct the reference"
            yield subject.warning("endpoint-messagegroup-unknown", path, message, advice)


def foreign_messages(subject: Subject) -> Iterator[Finding]:
    """M12, M13: the messages of a group referred to use the endpoint's protocol and envelope."""
    endpoint = read_endpoint(subject.group)
    for path, text in _references(subject):
        xid = local_reference(text)
        group = subject.catalog.group(xid) if xid and not xid.resources else None
        foreign = []
        for message in group.resources.get("messages", {}).values() if group else ():
            try:
                definition = materialize(subject.catalog, message.xid)
            except CircularBaseError:
                continue
            if is_foreign(endpoint, definition):
                foreign.append(message.xid.resource)
        if foreign:
            named = ", ".join(foreign[:3]) + (", ..." if len(foreign) > 3 else "")
            told = f"messages of another protocol or envelope do not travel here: {named}"
            advice = "refer to a group whose messages use the protocol of the endpoint"
            yield subject.warning("M12", path, told, advice)


def shapes(subject: Subject) -> Iterator[Finding]:
    """endpoint-shape: options are objects, channel is a text."""
    for name in ("protocoloptions", "envelopeoptions"):
        if not isinstance(subject.attributes.get(name, {}), Mapping):
            told = f"{name} is not an object"
            yield subject.error("endpoint-shape", (name,), told, "write members by name in braces")
    if not isinstance(subject.attributes.get("channel", ""), str):
        yield subject.error("endpoint-shape", ("channel",), "channel is not a text", "write a name")


def deployed(subject: Subject) -> Iterator[Finding]:
    """R66: deployed is true or false."""
    if not isinstance(_options(subject).get("deployed", False), bool):
        path = ("protocoloptions", "deployed")
        message = "deployed is neither true nor false"
        yield subject.error("R66", path, message, "write true or false, unquoted")


def authorization(subject: Subject) -> Iterator[Finding]:
    """endpoint-authorization: ways to authorize have a type, and URIs where they name one (C37)."""
    given = _options(subject).get("authorization")
    path: Path = ("protocoloptions", "authorization")
    entries: list[tuple[Path, Any]] = [(path, given)] if isinstance(given, Mapping) else []
    if isinstance(given, list):
        entries = [((*path, index), entry) for index, entry in enumerate(given)]
    elif given is not None and not entries:
        message = "authorization is not an array of objects"
        yield subject.error("endpoint-authorization", path, message, 'write [{"type": "OAuth2"}]')
    for place, entry in entries:
        yield from _authorization(subject, place, entry)


def _authorization(subject: Subject, place: Path, entry: Any) -> Iterator[Finding]:
    members = entry if isinstance(entry, Mapping) else {}
    kind = members.get("type")
    if not isinstance(kind, str) or not kind:
        message = "the entry has no type"
        advice = "such as OAuth2, Plain, SASL, X509Cert or APIKey"
        yield subject.error("endpoint-authorization", place, message, advice)
    for name in ("resourceuri", "authorityuri"):
        uri = members.get(name, "urn:x")
        if not is_absolute(uri) and not has_placeholders(uri):
            message = f"{name} is not a URI"
            advice = "such as https://login.example.com"
            yield subject.error("endpoint-authorization", (*place, name), message, advice)


def _references(subject: Subject) -> Iterator[tuple[Path, Any]]:
    given = subject.attributes.get("messagegroups")
    for index, text in enumerate(given if isinstance(given, list) else ()):
        yield ("messagegroups", index), text


def _options(subject: Subject) -> Mapping[str, Any]:
    found = subject.attributes.get("protocoloptions")
    return found if isinstance(found, Mapping) else {}


ENDPOINT_RULES = (
    usage,
    messagegroups,
    foreign_messages,
    shapes,
    mode,
    deployed,
    authorization,
    addresses,
    *OPTION_RULES,
    credentials,
)
"""Every rule of an endpoint but those it has as a message group."""
