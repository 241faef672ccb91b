"""What every transport offers: publish and consume the protocol's own raw messages.

async with open_transport(endpoint, usage="producer") as transport:
    await transport.publish(message.as_kafka())

async with open_transport(endpoint, usage="consumer") as transport:
    async for delivery in transport.consume():
        ...
        await delivery.ack()
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Protocol, Self, TypedDict

from heraldry.messages.protocols.mqtt import MqttPublish
from heraldry.messages.transports.secrets import Secrets, from_environment
from heraldry.model.endpoint import Endpoint

Usage = Literal["producer", "consumer"]

CONNECT_SECONDS = 10.0
"""How long a server may take to answer before a TransportError says so."""


async def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One message as it came: ``raw`` is the protocol's frozen type, ``position`` its place.

    ``position`` is what the source calls it: ``topic/0/15``, a JetStream sequence, or "".
    ``ack`` tells the source that it is dealt with; ``reject`` that it cannot be, and is not to
    come again. Where a source knows neither, both do nothing.
    """

    raw: Any
    position: str = ""
    ack: Callable[[], Awaitable[None]] = field(default=_nothing, repr=False, compare=False)
    reject: Callable[[], Awaitable[None]] = field(default=_nothing, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """What a transport is opened with.

    ``values`` fill the placeholders in the endpoint's options and address; ``secrets`` is asked
    for credentials, which never come from the catalog. ``address`` replaces those of the catalog
    (an endpoint may be abstract). ``will`` is what an MQTT broker publishes where the producer
    is gone without a word, built by the definition that ``willmessage`` names (R83).
    """

    endpoint: Endpoint
    usage: Usage
    values: Mapping[str, str] = field(default_factory=dict)
    secrets: Secrets = from_environment
    address: str | None = field(default=None, repr=False)  # may hold a password by mistake
    will: MqttPublish | None = None


class Connecting(TypedDict, total=False):
    """What a caller may say of a connection, see :class:`Connection`."""

    values: Mapping[str, str]
    secrets: Secrets
    address: str | None
    will: MqttPublish | None


class Transport(Protocol):
    """An open connection to one endpoint."""

    async def __aenter__(self) -> Self:
        """Connect; TransportError within :data:`CONNECT_SECONDS` where the server is not there."""

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Disconnect, once what was published is confirmed."""

    async def publish(self, raw: Any, values: Mapping[str, str] | None = None) -> None:
        """Send one raw message; returns when the server has taken it, else TransportError.

        What the message leaves open is the endpoint's: topic, key, headers. ``values`` fill the
        placeholders there, before those of the connection.
        """

    def consume(self) -> AsyncGenerator[Delivery]:
        """The messages as they come, without end; close it, or cancel, to stop."""
