"""MQTT 3.1.1 and 5.0: publish to and consume from a broker (R77..R83).

Addresses: ``mqtt``, ``mqtts``, ``tcp``, ``ssl``, ``ws`` and ``wss``; the path of mqtt and mqtts
is a topic, that of ws and wss the path of the WebSocket (``/mqtt`` where there is none).

| option | effect |
|---|---|
| topic, qos, retain | for what a message leaves open; the message's own wins (R78..R80) |
| topicfilter | what a consumer subscribes to; else topic, else the path, else ``#``. A level with a placeholder that has no value becomes ``+`` |
| qos of a consumer | 1 and 2 bound the subscription; 0 is also what a registry writes where nobody said anything, so it does not: each message comes as it was published |
| retainaspublished | true unless given, because definitions speak of packets as they are published |
| nolocal, retainhandling, sharedsubscriptiongroup | as MQTT 5.0 has them; refused with 3.1.1 |
| cleansession, cleanstart, sessionexpiryinterval | how long the broker keeps the session |
| clientid | our own option, with placeholders: a session that is kept needs one, and is otherwise called ``heraldry-<endpoint>-<usage>`` |
| willtopic, willmessage | of producers; the message itself is :attr:`Connection.will` |

QoS 1 is acknowledged to the broker by ``ack`` and ``reject`` alike, so what was not dealt with
comes again. QoS 2 is taken over as it arrives, QoS 0 is never confirmed: MQTT has no more.
A token goes where the password goes. A lost connection is made again, for five minutes.
"""  # noqa: E501

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Self

from paho.mqtt.client import MQTTMessage

from heraldry.errors import TransportError
from heraldry.messages.protocols.mqtt import MqttPublish
from heraldry.messages.transports import mqtt_packets
from heraldry.messages.transports.address import Address, addresses, filled
from heraldry.messages.transports.mqtt_link import Broker, Link
from heraldry.messages.transports.mqtt_options import session_of, subscription_of, will_of
from heraldry.messages.transports.options import flag, text, whole
from heraldry.messages.transports.tls import tls_context
from heraldry.messages.transports.transport import CONNECT_SECONDS, Connection, Delivery

PORTS = {"mqtt": 1883, "mqtts": 8883, "tcp": 1883, "ssl": 8883, "ws": 80, "wss": 443}
_AGAIN_SECONDS = 300.0
_PAUSE, _LONGEST_PAUSE = 0.1, 15.0
_SHORT_SECONDS, _SHORT_LIVED = 5.0, 5


def connect(connection: Connection) -> MqttTransport:
    """The transport of an MQTT endpoint, not yet connected."""
    return MqttTransport(connection)


class MqttTransport:
    """A session with a broker, over one link after the other."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._xid = str(connection.endpoint.xid)
        self._session = session_of(connection)
        self._addresses = addresses(connection, PORTS)
        self._path = _path(self._xid, self._addresses)
        self._topic = text(connection, "topic") or self._path
        self._qos = whole(connection, "qos", 0, 2) or 0
        self._retain = flag(connection, "retain") or False
        self._wanted = (
            subscription_of(connection, self._path) if connection.usage == "consumer" else None
        )
        self._will = self._as_published(will_of(connection))
        self._link: Link | None = None
        self._linking = asyncio.Lock()
        self._short_lived = 0

    async def __aenter__(self) -> Self:
        await self._connected()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._link is not None:
            await self._link.close()

    async def publish(self, raw: MqttPublish, values: Mapping[str, str] | None = None) -> None:
        """Send one packet; with QoS 1 and 2 it returns when the broker has confirmed it."""
        topic = raw.topic_name or self._filled(self._topic, values)
        if not topic:
            told = "neither the message nor the endpoint names a topic"
            raise TransportError(self._xid, told, "set topic_name, or the option topic")
        qos = self._qos if raw.qos is None else raw.qos
        retain = self._retain if raw.retain is None else raw.retain
        link = await self._connected()
        await link.publish(topic, qos, retain, raw)

    async def consume(self) -> AsyncGenerator[Delivery]:
        """The packets that match the subscription, as they come."""
        # Also a lost link may still hold messages.
        link = self._link or await self._connected()
        while True:
            message = await link.next()
            if message is None:
                link = await self._again(link)
                continue
            settle = partial(_settle, link, message)
            raw = mqtt_packets.received(message, self._session.version)
            yield Delivery(raw=raw, ack=settle, reject=settle)

    async def _connected(self) -> Link:
        async with self._linking:
            if self._link is None or self._link.lost is not None:
                self._link = await self._connect(first=self._link is None)
            return self._link

    async def _again(self, lost: Link) -> Link:
        """A new link after a lost one, unless they are lost as soon as they are made."""
        now = asyncio.get_running_loop().time
        self._short_lived = self._short_lived + 1 if now() - lost.since < _SHORT_SECONDS else 0
        if self._short_lived > _SHORT_LIVED:
            told = f"every connection ends at once: {lost.lost}"
            advice = "another client may have the same clientid, or a packet breaks the client"
            raise TransportError(self._xid, told, advice)
        end, pause = now() + _AGAIN_SECONDS, _PAUSE * 2**self._short_lived
        while True:
            await asyncio.sleep(pause)
            try:
                return await self._connected()
            except TransportError:
                if now() > end:
                    raise
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _connect(self, *, first: bool) -> Link:
        failures = []
        for address in self._addresses:
            try:
                async with asyncio.timeout(CONNECT_SECONDS / len(self._addresses)):
                    return await self._open(address, first=first)
            except TimeoutError:
                failures.append(TransportError(self._xid, f"{address}: no answer"))
            except TransportError as error:
                failures.append(error)
        reasons = "; ".join(one.reason for one in failures)
        raise TransportError(self._xid, reasons, failures[0].advice or "is the broker running?")

    async def _open(self, address: Address, *, first: bool) -> Link:
        credentials = self._connection.secrets(self._connection.endpoint)
        broker = Broker(
            endpoint=self._xid,
            address=address,
            credentials=credentials,
            tls=tls_context(self._connection, credentials) if address.tls else None,
            will=self._will,
            seconds=CONNECT_SECONDS / len(self._addresses),
        )
        # What the first link began, later ones continue.
        kept = not first and self._session.expiry > 0
        link = Link(broker, replace(self._session, clean=False) if kept else self._session)
        present = await link.open()
        try:
            if self._wanted is not None and (first or not present):
                await link.subscribe(self._wanted)
        except BaseException:
            await link.close()
            raise
        return link

    def _as_published(self, will: MqttPublish | None) -> MqttPublish | None:
        topic = text(self._connection, "willtopic")
        if will is None:
            return None
        return replace(
            will,
            topic_name=will.topic_name or self._filled(topic, None),
            qos=self._qos if will.qos is None else will.qos,
            retain=self._retain if will.retain is None else will.retain,
        )

    def _filled(self, given: str | None, values: Mapping[str, str] | None) -> str | None:
        if not given or "{" not in given:
            return given
        merged = {**self._connection.values, **(values or {})}
        return filled(replace(self._connection, values=merged), given)


def _path(endpoint: str, places: tuple[Address, ...]) -> str:
    """The topic of the first address that has one; only mqtt and mqtts may (R77)."""
    for one in places:
        if one.path and one.scheme in ("tcp", "ssl"):
            told = f"the scheme {one.scheme} has no path"
            raise TransportError(endpoint, told, "write mqtt or mqtts where the path is a topic")
    return next((one.path for one in places if one.path and one.scheme in ("mqtt", "mqtts")), "")


async def _settle(link: Link, message: MQTTMessage) -> None:
    link.acknowledge(message)
