"""Cases of rules under their names, and what they are made with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from heraldry.messages.catalog import Matched, MessageCatalog
from heraldry.messages.message import Message
from heraldry.model.rules import check
from tests.conformance.broken_definitions import M, Told
from tests.model.catalogs import catalog

Test = Callable[[], None]
CASES: dict[str, Test] = {}
SCHEMAS = {"x": {"schema": {}}, "y": {"schema": {}}}
EVENT = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}
JSON = {"dataschemaformat": "JSONSchema/draft-07", "dataschema": {"type": "object"}}


def rule(name: str) -> Callable[[Test], Test]:
    """A case under its rule and what the rule says."""

    def add(case: Test) -> Test:
        assert name not in CASES
        CASES[name] = case
        return case

    return add


def told(messages: dict[str, Any], **group: Any) -> list[Told]:
    """What is found in a catalog with one group of messages."""
    found = check(catalog(messages, SCHEMAS, **group))
    return [(one.location.removeprefix(M), one.rule, one.severity) for one in found]


def opened(messages: dict[str, Any], schemas: dict[str, Any] | None = None) -> MessageCatalog:
    """A catalog with one group of messages, ready for use."""
    return MessageCatalog(catalog(messages, schemas))


def matches(definition: dict[str, Any], message: Any) -> bool:
    """Whether a message is one of a definition."""
    return isinstance(opened({"m": definition}).match(message), Matched)


def mqtt(topic: str, **metadata: Any) -> Message:
    """An MQTT message."""
    return Message(protocol="MQTT/5.0", metadata={"topic_name": topic, **metadata}, payload=b"")
