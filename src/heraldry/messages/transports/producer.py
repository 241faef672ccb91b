"""Producing: messages built by their definitions, published to one endpoint.

async with catalog.endpoint("shop-kafka").producer() as producer:
    await producer.publish("shop.order.placed", order, shop="lisbon", order="4711")
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from heraldry.errors import TransportError, UsageError
from heraldry.messages.protocol_table import canonical_name, module
from heraldry.messages.transports.address import placeholders
from heraldry.messages.transports.transport import Connection
from heraldry.messages.transports.transport_table import open_transport

if TYPE_CHECKING:
    from heraldry.messages.build import BuiltMessage
    from heraldry.messages.catalog import MessageDefinition, MessageEndpoint
    from heraldry.messages.message import Mode


class Producer:
    """Publishes messages of an endpoint's contract; whatever the contract forbids is refused."""

    def __init__(self, endpoint: MessageEndpoint, connection: Connection) -> None:
        self.endpoint = endpoint
        self.connection = connection
        self._placeholders = placeholders(connection.endpoint)
        self._transport = open_transport(connection)
        self._open = False

    async def __aenter__(self) -> Self:
        await self._transport.__aenter__()
        self._open = True
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open = False
        await self._transport.__aexit__(kind, error, trace)

    async def publish(
        self,
        xid: object,
        data: Any = None,
        *,
        mode: Mode | None = None,
        event_format: str | None = None,
        values: Mapping[str, Any] | None = None,
        **context: Any,
    ) -> BuiltMessage:
        """Build a message and send it; BuildError, or TransportError, where that fails."""
        given = {**self.connection.values, **(values or {}), **context}
        definition = self.endpoint[xid]
        form = self.form(definition, given)
        if mode is not None or event_format is not None:
            form |= {"mode": mode, "event_format": event_format}
        message = definition.build(data, **form)
        await self.send(message, given)
        return message

    def form(self, definition: MessageDefinition, values: Mapping[str, Any]) -> dict[str, Any]:
        """What messages of a definition are built with for this endpoint.

        A value that only the endpoint's options ask for, such as a part of the topic, is theirs.
        Mode and event format are the definition's own before the endpoint's.
        """
        own, where = definition.definition, self.endpoint.endpoint
        known = definition.placeholders
        found: dict[str, Any] = {
            "values": {
                name: one
                for name, one in values.items()
                if name in known or name not in self._placeholders
            },
            "protocol": None if own.protocol else where.protocol,
        }
        if own.envelope and "mode" not in own.envelopeoptions:
            mode = str(where.envelopeoptions.get("mode", "")).lower()
            if mode in ("binary", "structured"):
                found["mode"] = mode
            if mode == "structured":
                found["event_format"] = where.envelopeoptions.get("format")
        return found

    async def send(self, message: BuiltMessage, values: Mapping[str, Any] | None = None) -> None:
        """Send a finished message; an event that is bound to no protocol travels over this one.

        Its own values fill the placeholders of the endpoint's options, and ``values`` those it
        has not.
        """
        if not self._open:
            raise UsageError("the producer is not open", "use it in its `async with`")
        protocol = canonical_name(self.endpoint.endpoint.protocol or "")
        found = module(protocol)
        if found is None or message.protocol not in (None, protocol):
            told = f"a message of {message.protocol} cannot be sent over {protocol}"
            raise TransportError(str(self.endpoint.endpoint.xid), told)
        given = {**self.connection.values, **(values or {}), **message.values}
        texts = {name: str(one) for name, one in given.items()}
        await self._transport.publish(found.encode(message.over(protocol)), texts)
