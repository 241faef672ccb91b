"""Options of AMQP endpoints, read once: what a connection and its link are opened with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from proton import Array, Data, Described, Link, Terminus, symbol
from proton import Connection as ProtonConnection

from heraldry.errors import TransportError
from heraldry.messages.transports.address import filled
from heraldry.messages.transports.options import flag, text, whole
from heraldry.messages.transports.transport import Connection

_SENDING = {
    "unsettled": Link.SND_UNSETTLED,
    "settled": Link.SND_SETTLED,
    "mixed": Link.SND_MIXED,
}
_RECEIVING = {"first": Link.RCV_FIRST, "second": Link.RCV_SECOND}
_MODES = {"move": Terminus.DIST_MODE_MOVE, "copy": Terminus.DIST_MODE_COPY}
_DURABILITIES = {
    "none": Terminus.NONDURABLE,
    "configuration": Terminus.CONFIGURATION,
    "unsettled-state": Terminus.DELIVERIES,
}
_EXPIRIES = {
    "link-detach": Terminus.EXPIRE_WITH_LINK,
    "session-end": Terminus.EXPIRE_WITH_SESSION,
    "connection-close": Terminus.EXPIRE_WITH_CONNECTION,
    "never": Terminus.EXPIRE_NEVER,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AmqpOptions:
    """What an endpoint says, with its placeholders filled; choices are proton's numbers."""

    node: str
    durable: bool
    dynamic: bool
    connection_properties: Mapping[str, str]
    connection_capabilities: tuple[str, ...]
    link_properties: Mapping[str, str]
    node_capabilities: tuple[str, ...]
    filters: Mapping[str, Any]
    mode: int
    durability: int | None
    expiry: int | None
    timeout: int | None
    sending: int
    receiving: int

    @property
    def keeps(self) -> bool:
        """Whether the server is to keep the link's end for when we come back."""
        return bool(self.durability or self.timeout or self.expiry == Terminus.EXPIRE_NEVER)

    def shape_connection(self, connection: ProtonConnection) -> None:
        """Say what belongs into the frame that opens a connection."""
        connection.properties = _symbols(self.connection_properties) or None
        wanted = [symbol(one) for one in self.connection_capabilities]
        connection.desired_capabilities = wanted or None

    def shape_link(self, link: Link, far: Terminus, node: str) -> None:
        """Say what belongs into the frame that opens a link, whose end at the server is ``far``."""
        link.properties = _symbols(self.link_properties) or None
        link.snd_settle_mode, link.rcv_settle_mode = self.sending, self.receiving
        if self.dynamic:
            far.dynamic = True
        else:
            link.source.address = link.target.address = node
        if self.node_capabilities:
            wanted = (symbol(one) for one in self.node_capabilities)
            far.capabilities.put_object(Array(None, Data.SYMBOL, *wanted))
        if self.durability is not None:
            far.durability = self.durability
        if self.expiry is not None:
            far.expiry_policy = self.expiry
        if self.timeout is not None:
            far.timeout = self.timeout
        if link.is_receiver:
            far.distribution_mode = self.mode
            if self.filters:
                filters = {symbol(name): _filter(name, one) for name, one in self.filters.items()}
                far.filter.put_object(filters)


def read_options(connection: Connection) -> AmqpOptions:
    """The options of an endpoint; TransportError where one is not what it must be."""
    node = text(connection, "node")
    return AmqpOptions(
        node=filled(connection, node) if node else "",
        durable=bool(flag(connection, "durable")),
        dynamic=bool(flag(connection, "dynamic")),
        connection_properties=_texts(connection, "connection-properties"),
        connection_capabilities=_names(connection, "connection-capabilities"),
        link_properties=_texts(connection, "link-properties"),
        node_capabilities=_names(connection, "node-capabilities"),
        filters={
            name: filled(connection, one) if isinstance(one, str) else one
            for name, one in _map(connection, "source-filters").items()
        },
        mode=_choice(connection, "distribution-mode", _MODES) or Terminus.DIST_MODE_UNSPECIFIED,
        durability=_choice(connection, "terminus-durability", _DURABILITIES),
        expiry=_choice(connection, "expiry-policy", _EXPIRIES),
        timeout=whole(connection, "timeout", 0, 2**32 - 1),
        sending=_choice(connection, "sender-settle-mode", _SENDING) or Link.SND_UNSETTLED,
        receiving=_choice(connection, "receiver-settle-mode", _RECEIVING) or Link.RCV_FIRST,
    )


def _choice(connection: Connection, name: str, choices: Mapping[str, int]) -> int | None:
    given = text(connection, name)
    if given is not None and given not in choices:
        raise _wrong(connection, name, "one of " + ", ".join(choices))
    return None if given is None else choices[given]


def _map(connection: Connection, name: str) -> Mapping[str, Any]:
    given = connection.endpoint.option(name)
    if given is not None and not isinstance(given, Mapping):
        raise _wrong(connection, name, "a map")
    found: Mapping[str, Any] = given or {}
    _check_names(connection, name, found)
    return found


def _texts(connection: Connection, name: str) -> dict[str, str]:
    given = _map(connection, name)
    if not all(isinstance(one, str) for one in given.values()):
        raise _wrong(connection, name, "a map of texts")
    return {key: filled(connection, one) for key, one in given.items()}


def _names(connection: Connection, name: str) -> tuple[str, ...]:
    given = connection.endpoint.option(name)
    if given is None:
        return ()
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise _wrong(connection, name, "a list of texts")
    _check_names(connection, name, given)
    return tuple(given)


def _check_names(connection: Connection, name: str, given: Iterable[str]) -> None:
    """Names travel as symbols, which are ASCII."""
    if not all(one.isascii() for one in given):
        raise _wrong(connection, name, "named in ASCII")


def _symbols(texts: Mapping[str, str]) -> dict[symbol, str]:
    return {symbol(name): one for name, one in texts.items()}


def _filter(name: str, value: Any) -> Described:
    """A filter: described by its own descriptor where it names one, else by its name."""
    if isinstance(value, Mapping) and "descriptor" in value:
        return Described(symbol(str(value["descriptor"])), value.get("value"))
    return Described(symbol(name), value)


def _wrong(connection: Connection, name: str, right: str) -> TransportError:
    told = f"the option {name} is {connection.endpoint.option(name)!r}"
    return TransportError(str(connection.endpoint.xid), told, f"it must be {right}")
