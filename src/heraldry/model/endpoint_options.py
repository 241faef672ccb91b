"""Options of endpoints: per protocol their names, types, ranges, defaults and usages (R68..R91)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from heraldry.model.formats import fold, protocol_family

Kind = Literal[
    "text", "flag", "integer", "choice", "texts", "map", "map of texts", "headers", "message"
]
"""What an option holds; ``message`` is the xid of a message, ``texts`` an array."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option: ``rule`` names its requirement, ``usages`` who heeds it (empty: everybody)."""

    kind: Kind
    rule: str = "endpoint-option"
    default: Any = None
    usages: frozenset[str] = frozenset()
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()

    def allows(self, number: int) -> bool:
        """Whether a number is in the range."""
        above = self.low is None or number >= self.low
        return above and (self.high is None or number <= self.high)


_PRODUCER = frozenset(("producer",))
_CONSUMER = frozenset(("consumer",))
_RECEIVER = frozenset(("consumer", "subscriber"))
_UINT = 2**32 - 1

COMMON = ("endpoints", "authorization", "deployed")
"""What the options of every protocol may have beside their own."""

_HTTP = {
    "method": Option(kind="text", rule="R68", default="POST"),
    "headers": Option(kind="headers", rule="R69"),
    "query": Option(kind="map of texts", rule="R70"),
    "apikeyname": Option(kind="text"),
    "apikeyin": Option(kind="choice", default="header", choices=("header", "query")),
    "plainscheme": Option(kind="choice", default="basic", choices=("basic", "form", "query")),
    "plainusernamefield": Option(kind="text"),
    "plainpasswordfield": Option(kind="text"),
}
_AMQP = {
    "node": Option(kind="text", rule="R72"),
    "durable": Option(kind="flag", rule="R73", default=False, usages=_PRODUCER),
    "link-properties": Option(kind="map of texts", rule="R74"),
    "connection-properties": Option(kind="map of texts", rule="R75"),
    "distribution-mode": Option(
        kind="choice", rule="R76", default="move", usages=_RECEIVER, choices=("move", "copy")
    ),
    "connection-capabilities": Option(kind="texts"),
    "node-capabilities": Option(kind="texts"),
    "source-filters": Option(kind="map", usages=_RECEIVER),
    "dynamic": Option(kind="flag"),
    "terminus-durability": Option(
        kind="choice", choices=("none", "configuration", "unsettled-state")
    ),
    "expiry-policy": Option(
        kind="choice", choices=("link-detach", "session-end", "connection-close", "never")
    ),
    "timeout": Option(kind="integer", low=0, high=_UINT),
    "sender-settle-mode": Option(kind="choice", choices=("unsettled", "settled", "mixed")),
    "receiver-settle-mode": Option(kind="choice", choices=("first", "second")),
}
_MQTT = {
    "topic": Option(kind="text", rule="R78"),
    "qos": Option(kind="integer", rule="R79", default=0, low=0, high=2),
    "retain": Option(kind="flag", rule="R80", default=False, usages=_PRODUCER),
    "cleansession": Option(kind="flag", rule="R81", default=True),
    "topicfilter": Option(kind="text", usages=_RECEIVER),
    "cleanstart": Option(kind="flag"),
    "sessionexpiryinterval": Option(kind="integer", low=0, high=_UINT),
    "sharedsubscriptiongroup": Option(kind="text", usages=_RECEIVER),
    "nolocal": Option(kind="flag", usages=_RECEIVER),
    "retainaspublished": Option(kind="flag", usages=_RECEIVER),
    "retainhandling": Option(kind="integer", usages=_RECEIVER, low=0, high=2),
    "willtopic": Option(kind="text", rule="R82"),
    "willmessage": Option(kind="message", rule="R83"),
}
_KAFKA = {
    "topic": Option(kind="text", rule="R85"),
    "acks": Option(kind="integer", rule="R86", default=1, usages=_PRODUCER, low=-1, high=1),
    "key": Option(kind="text", rule="R87", usages=_PRODUCER),
    "partition": Option(kind="integer", rule="R88", usages=_PRODUCER | _CONSUMER, low=0),
    "consumergroup": Option(kind="text", rule="R89", usages=_CONSUMER),
    "headers": Option(kind="map of texts", usages=_PRODUCER),
    "keyserializer": Option(kind="text", usages=_PRODUCER),
    "valueserializer": Option(kind="text", usages=_PRODUCER),
    "autooffsetreset": Option(
        kind="choice", usages=_CONSUMER, choices=("earliest", "latest", "none")
    ),
    "enableautocommit": Option(kind="flag", usages=_CONSUMER),
}
_NATS = {
    "subject": Option(kind="text", rule="R91"),
    "subjectfilter": Option(kind="text", usages=_RECEIVER),
    "queuegroup": Option(kind="text", usages=_RECEIVER),
}
OPTIONS: dict[str, dict[str, Option]] = {
    "HTTP": _HTTP,
    "AMQP": _AMQP,
    "MQTT": _MQTT,
    "KAFKA": _KAFKA,
    "NATS": _NATS,
}
"""The options by protocol and canonical name."""

_FOLDED = {
    protocol: {fold(name): option for name, option in table.items()}
    for protocol, table in OPTIONS.items()
}


def default_of(protocol: str | None, name: str) -> Any:
    """What an option is where an endpoint does not say; None where the protocol has no default."""
    option = _FOLDED.get(protocol_family(protocol)[0], {}).get(fold(name))
    return option.default if option else None
