"""Rules of an endpoint's protocol options: type, range, usage and placeholders (R68..R93).

No finding shows the value of an option: it may be a secret.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from heraldry.errors import CircularBaseError
from heraldry.model.endpoint_options import COMMON, OPTIONS, Option
from heraldry.model.formats import is_cloudevents, present, protocol_family
from heraldry.model.inherit import local_reference, materialize
from heraldry.model.problem import Finding
from heraldry.model.rules_options import is_token
from heraldry.model.rules_subject import Path, Subject
from heraldry.model.rules_values import has_placeholders, is_absolute, template_fault

_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "text": (str, "a text"),
    "flag": (bool, "true or false, unquoted"),
    "integer": (int, "a whole number"),
    "texts": (list, "an array of texts"),
    "map": (Mapping, "an object"),
    "map of texts": (Mapping, 'an object such as {"name": "value"}'),
    "headers": (list, 'an array such as [{"name": "...", "value": "..."}]'),
    "message": (str, "the xid of a message"),
}
_WILDCARDS = {
    ("MQTT", "topic"): ("R78", "+#", "topicfilter"),
    ("NATS", "subject"): ("R91", "*>", "subjectfilter"),
}
_NEEDS = {"sharedsubscriptiongroup": "topicfilter", "queuegroup": "subjectfilter"}


def options(subject: Subject) -> Iterator[tuple[Path, str, Option, Any]]:
    """The options that the protocol of the endpoint knows: place, name, rule and value."""
    table = OPTIONS.get(_protocol(subject), {})
    for name, value in _given(subject).items():
        if name in table:
            yield ("protocoloptions", name), name, table[name], value


def values(subject: Subject) -> Iterator[Finding]:
    """R65, R68..R91: an option has the type of its table, is in its range and is not empty."""
    for path, name, option, value in options(subject):
        expected = _expected(option, value)
        if expected is not None:
            yield subject.error(option.rule, path, f"{name} is not {expected[0]}", expected[1])
        elif option.kind == "headers":
            yield from _headers(subject, option, path, value)
        elif option.kind in {"texts", "map of texts"}:
            items = value.items() if isinstance(value, Mapping) else enumerate(value)
            for key, item in items:
                if not isinstance(item, str) or not item or key == "":
                    told = f"an entry of {name} is not a text"
                    yield subject.error(option.rule, (*path, key), told, "write non-empty texts")


def method(subject: Subject) -> Iterator[Finding]:
    """R68: the method of an HTTP endpoint is a valid method name."""
    given = _given(subject).get("method")
    if _protocol(subject) != "HTTP" or not isinstance(given, str) or has_placeholders(given):
        return
    if given and not is_token(given):
        path = ("protocoloptions", "method")
        yield subject.error("R68", path, "method is not an HTTP method", "such as POST")


def will_message(subject: Subject) -> Iterator[Finding]:
    """R83: the will of an MQTT client is a message definition of CloudEvents or MQTT."""
    given = _given(subject).get("willmessage")
    if _protocol(subject) != "MQTT" or not isinstance(given, str) or is_absolute(given):
        return
    path = ("protocoloptions", "willmessage")
    xid = local_reference(given)
    if xid is None or xid.resources != "messages":
        message = "willmessage is not the xid of a message"
        yield subject.error("R83", path, message, "write /messagegroups/GROUP/messages/MESSAGE")
    elif subject.catalog.resource(xid) is None:
        message = "willmessage names a message that the catalog does not have"
        yield subject.warning("R83", path, message, "add it, or correct the reference")
    else:
        try:
            own = materialize(subject.catalog, xid.entity)
        except CircularBaseError:
            return
        if not is_cloudevents(own.envelope) and protocol_family(own.protocol)[0] != "MQTT":
            message = "willmessage is neither a CloudEvents message nor one of MQTT"
            yield subject.error("R83", path, message, "name another message")


def wildcards(subject: Subject) -> Iterator[Finding]:
    """R78, R82, R91: what is published to is a topic or subject, not a filter."""
    protocol, given = _protocol(subject), _given(subject)
    will = given.get("willtopic")
    if protocol == "MQTT" and isinstance(will, str) and ("+" in will or "#" in will):
        path = ("protocoloptions", "willtopic")
        yield subject.error("R82", path, "willtopic holds a wildcard", "name one topic")
    for (family, name), (rule, marks, filter_) in _WILDCARDS.items():
        text = given.get(name)
        # Readers had no option of their own for filters before rc4.
        if family != protocol or not isinstance(text, str) or _usages(subject) != {"producer"}:
            continue
        if any(mark in text for mark in marks):
            message = f"{name} holds a wildcard, and nothing can be sent there"
            advice = f"name one {name}, or use {filter_} to receive"
            yield subject.warning(rule, ("protocoloptions", name), message, advice)


def companions(subject: Subject) -> Iterator[Finding]:
    """endpoint-option: a group that shares a subscription comes with the filter it is for."""
    given = _given(subject)
    for name, needed in _NEEDS.items():
        if name in OPTIONS.get(_protocol(subject), {}) and name in given and needed not in given:
            path = ("protocoloptions", name)
            message = f"{name} is given without {needed}"
            yield subject.warning("endpoint-option", path, message, f"add {needed}")
    shared = given.get("sharedsubscriptiongroup")
    if isinstance(shared, str) and "/" in shared:
        path = ("protocoloptions", "sharedsubscriptiongroup")
        message = "sharedsubscriptiongroup is not the bare name of a group"
        advice = "leave $share/ and the filter out"
        yield subject.error("endpoint-option", path, message, advice)


def outside_usage(subject: Subject) -> Iterator[Finding]:
    """R92: an option of another usage than the endpoint's has no effect, and is no error."""
    usages = _usages(subject)
    for path, name, option, _ in options(subject):
        if usages and option.usages and not usages & option.usages:
            told = f"{name} has no effect: it is for usage {' and '.join(sorted(option.usages))}"
            yield subject.info("R92", path, told, "leave it out")


def templates(subject: Subject) -> Iterator[Finding]:
    """R93: placeholders in options are {symbol}; one name stands for one value in all of them."""
    for path, _, _, value in options(subject):
        for place, text in _texts(path, value):
            fault = template_fault(text)
            if fault is not None:
                advice = "write placeholders as {name}, with letters, digits and underscores"
                yield subject.error("R93", place, fault, advice)


def unknown(subject: Subject) -> Iterator[Finding]:
    """C41: unknown options are kept; one that looks like a known option may be misspelled."""
    table = OPTIONS.get(_protocol(subject))
    for name in _given(subject) if table else ():
        if table and name not in table and name not in COMMON:
            near = get_close_matches(name, table, n=1, cutoff=0.8)
            message = f"{name!r} is no option of {_protocol(subject)}; it has no effect"
            path, rule = ("protocoloptions", name), "endpoint-option-unknown"
            if near:
                yield subject.warning(rule, path, message, f"is {near[0]} meant?")
            else:
                yield subject.info(rule, path, message, "known are " + ", ".join(table))


def _expected(option: Option, value: Any) -> tuple[str, str] | None:
    """What an option has to be where the value is not that, and advice."""
    if option.kind == "choice":
        choices = ", ".join(option.choices)
        known = value in option.choices if isinstance(value, str) else False
        return None if known or has_placeholders(value) else ("a known value", f"one of {choices}")
    wanted, told = _KINDS[option.kind]
    if not isinstance(value, wanted) or (option.kind == "integer" and isinstance(value, bool)):
        return told, f"expected {told}"
    if isinstance(value, str) and not value:
        return "a non-empty text", "write a text, or leave it out"
    if isinstance(value, int) and not option.allows(value):
        high = "" if option.high is None else f" to {option.high}"
        return "in its range", f"expected {option.low}{high or ' or more'}"
    return None


def _headers(subject: Subject, option: Option, path: Path, given: list[Any]) -> Iterator[Finding]:
    """R69: every header has a name, which is a token, and a value."""
    for index, entry in enumerate(given):
        members = entry if isinstance(entry, Mapping) else {}
        name, value = members.get("name"), members.get("value")
        advice = 'write {"name": "...", "value": "..."}'
        if not isinstance(name, str) or not isinstance(value, str) or not name or not value:
            told = "the header has no name or no value"
            yield subject.error(option.rule, (*path, index), told, advice)
        elif not is_token(name) and not has_placeholders(name):
            told = f"{name!r} is not a name of an HTTP header"
            yield subject.error(option.rule, (*path, index, "name"), told, advice)


def _texts(path: Path, value: Any) -> Iterator[tuple[Path, str]]:
    """Every text in an option, however deep."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _texts((*path, name), inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts((*path, index), inner)


def _protocol(subject: Subject) -> str:
    return protocol_family(present(subject.attributes.get("protocol")))[0]


def _given(subject: Subject) -> Mapping[str, Any]:
    found = subject.attributes.get("protocoloptions")
    members = found.items() if isinstance(found, Mapping) else ()
    return {name: value for name, value in members if value is not None}


def _usages(subject: Subject) -> set[str]:
    given = subject.attributes.get("usage")
    return {one for one in given if isinstance(one, str)} if isinstance(given, list) else set()


OPTION_RULES = (
    values,
    method,
    will_message,
    wildcards,
    companions,
    outside_usage,
    templates,
    unknown,
)
"""Every rule of an endpoint's options."""
