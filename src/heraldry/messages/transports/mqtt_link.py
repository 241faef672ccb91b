"""One connection to an MQTT broker: paho's client, driven by the event loop.

aiomqtt drives it as well, but drops messages when its queue is full, acknowledges them before
they are dealt with, and takes a refused PUBACK for success.
"""

from __future__ import annotations

import asyncio
import ssl
import struct
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from paho.mqtt.client import (
    Client,
    ConnectFlags,
    DisconnectFlags,
    MQTTMessage,
    MQTTv5,
    MQTTv311,
    WebsocketConnectionError,
)
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import MQTTException, Properties  # type: ignore[attr-defined]
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from heraldry.errors import TransportError
from heraldry.messages.protocols.mqtt import MqttPublish
from heraldry.messages.transports import mqtt_packets
from heraldry.messages.transports.address import Address
from heraldry.messages.transports.mqtt_options import Session, Subscription
from heraldry.messages.transports.secrets import Credentials
from heraldry.messages.transports.transport import CONNECT_SECONDS

_BUFFERED = 256
_IN_FLIGHT = 64
_KEEP_ALIVE = 60
_TICK_SECONDS = 5.0
_CLOSE_SECONDS = 2.0
_FAILURE = 0x80
_GONE = "is the broker running, and does it take messages of this size?"
_UNREADABLE = (ValueError, LookupError, struct.error, MQTTException)


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """Where a broker is, and as whom we come."""

    endpoint: str
    address: Address
    credentials: Credentials
    tls: ssl.SSLContext | None
    will: MqttPublish | None
    seconds: float


class Link:
    """A connection that ends once; ``lost`` then says why.

    Some ``_BUFFERED`` messages wait here; then nothing is read from the broker until there is
    room, and in 5.0 the broker knows of this limit. QoS 2 in flight may come on top.
    """

    def __init__(self, broker: Broker, session: Session) -> None:
        self.lost: str | None = None
        self.since = asyncio.get_running_loop().time()
        self._broker, self._session = broker, session
        self._loop = asyncio.get_running_loop()
        self._arrived: deque[MQTTMessage] = deque()
        self._news = asyncio.Event()
        self._closed = asyncio.Event()
        self._opened: asyncio.Future[bool] = self._loop.create_future()
        self._waiting: dict[int, asyncio.Future[str | None]] = {}
        self._room = asyncio.Semaphore(_IN_FLIGHT)
        self._socket = -1
        self._paused = False
        self._timer: asyncio.TimerHandle | None = None
        self._client = _client(broker, session)
        self._client.on_connect = self._on_connect
        self._client.on_disconnect = self._on_disconnect
        self._client.on_message = self._on_message
        self._client.on_publish = self._on_publish
        self._client.on_subscribe = self._on_subscribe
        self._client.on_refusal = self._answer

    async def open(self) -> bool:
        """Connect; whether the broker still had the session. TransportError where it refuses."""
        # Name lookup, TCP and TLS block in paho, so they happen on a thread.
        connecting = self._loop.run_in_executor(None, self._connect)
        try:
            await asyncio.shield(connecting)
        except asyncio.CancelledError:
            connecting.add_done_callback(self._abandon)
            raise
        except (OSError, ValueError, WebsocketConnectionError) as error:
            raise self._error(str(error) or type(error).__name__) from None
        self._attach()
        try:
            present = await self._opened
        except asyncio.CancelledError:
            await self.close()
            raise
        if self.lost is not None:
            raise self._error(self.lost, "check the user, password and rights of the client")
        return present

    async def subscribe(self, wanted: Subscription) -> None:
        """Subscribe; TransportError where the broker refuses."""
        options = None
        if self._session.version == "5.0":
            options = SubscribeOptions(
                qos=wanted.qos,
                noLocal=wanted.no_local,
                retainAsPublished=wanted.retain_as_published,
                retainHandling=wanted.retain_handling,
            )
        told = f"no subscription to {wanted.topic_filter!r}"
        try:
            code, mid = self._client.subscribe(
                wanted.topic_filter, wanted.qos if options is None else 0, options
            )
        except ValueError as error:
            raise self._error(f"{told}: {error}", "correct the topicfilter") from None
        await self._confirmed(code, mid, told, "check the rights of the client")

    async def publish(self, topic: str, qos: int, retain: bool, raw: MqttPublish) -> None:
        """Send a packet; returns when it is confirmed, or with QoS 0 when it is written."""
        own = mqtt_packets.properties(self._broker.endpoint, raw, self._session.version)
        where = mqtt_packets.topic(self._broker.endpoint, topic)
        told = f"nothing published to {where!r}"
        async with self._room:
            try:
                info = self._client.publish(where, raw.payload or b"", qos, retain, own)
            except ValueError as error:
                raise self._error(f"{told}: {error}") from None
            await self._confirmed(info.rc, info.mid, told, "check the rights of the client")

    async def next(self) -> MQTTMessage | None:
        """The next message; None when the link is lost and nothing is left of it."""
        while not self._arrived:
            if self.lost is not None:
                return None
            self._news.clear()
            await self._news.wait()
        message = self._arrived.popleft()
        if self._paused and self._socket >= 0 and len(self._arrived) <= _BUFFERED // 2:
            self._paused = False
            self._loop.add_reader(self._socket, self._read)
            # TLS may hold bytes that the socket no longer has.
            self._loop.call_soon(self._read)
        return message

    def acknowledge(self, message: MQTTMessage) -> None:
        """Confirm a QoS 1 message; on a lost link it would have no effect, as it comes again."""
        if message.qos == 1 and self.lost is None:
            self._client.manual_ack_set(True)
            self._client.ack(message.mid, message.qos)
            self._client.manual_ack_set(False)

    async def close(self) -> None:
        """Disconnect in order, so that the broker publishes no will."""
        if self._socket < 0:
            return
        self._client.disconnect()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._closed.wait()
        socket = self._client.socket()
        if socket is not None:
            self._detach()
            socket.close()

    def _connect(self) -> None:
        client, address, session = self._client, self._broker.address, self._session
        client.connect_timeout = self._broker.seconds
        if session.version == "3.1.1":
            client.connect(address.host, address.port, _KEEP_ALIVE)
            return
        wanted = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        wanted.SessionExpiryInterval = session.expiry
        wanted.ReceiveMaximum = _BUFFERED
        client.connect(
            address.host,
            address.port,
            _KEEP_ALIVE,
            clean_start=session.clean,
            properties=wanted,
        )

    def _abandon(self, connecting: asyncio.Future[None]) -> None:
        if connecting.exception() is None:
            self._client.disconnect()

    def _attach(self) -> None:
        socket = self._client.socket()
        if socket is None:
            self._lose("the broker closed the connection")
            return
        self._socket = socket.fileno()
        self._loop.add_reader(self._socket, self._read)
        self._client.on_socket_register_write = self._want_write
        self._client.on_socket_unregister_write = self._no_write
        self._client.on_socket_close = lambda *_: self._detach()
        if self._client.want_write():
            self._want_write()
        self._timer = self._loop.call_later(_TICK_SECONDS, self._tick)

    def _detach(self) -> None:
        if self._socket >= 0:
            self._loop.remove_reader(self._socket)
            self._loop.remove_writer(self._socket)
            self._socket = -1
        if self._timer is not None:
            self._timer.cancel()
        self._closed.set()

    def _want_write(self, *_: Any) -> None:
        self._loop.add_writer(self._socket, self._client.loop_write)

    def _no_write(self, *_: Any) -> None:
        self._loop.remove_writer(self._socket)

    def _read(self) -> None:
        try:
            while True:
                self._client.loop_read()
                socket = self._client.socket()
                pending = getattr(socket, "pending", None)
                if self._paused or pending is None or not pending():
                    break
        except _UNREADABLE as error:
            self._lose(f"what the broker sent cannot be read: {error}")
            self._client.disconnect()
        finally:
            self._client.manual_ack_set(False)

    def _tick(self) -> None:
        self._timer = self._loop.call_later(_TICK_SECONDS, self._tick)
        self._client.loop_misc()

    async def _confirmed(
        self, code: MQTTErrorCode, mid: int | None, told: str, advice: str
    ) -> None:
        if code != MQTTErrorCode.MQTT_ERR_SUCCESS or mid is None:
            raise self._error(f"{told}: {self.lost or code.name}", _GONE)
        answer = self._waiting[mid] = self._loop.create_future()
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                refused = await answer
        except TimeoutError:
            refused = f"no answer within {CONNECT_SECONDS:g} seconds"
        finally:
            del self._waiting[mid]
        if refused is not None:
            raise self._error(f"{told}: {refused}", advice if self.lost is None else _GONE)

    def _lose(self, reason: str) -> None:
        if self.lost is not None:
            return
        self.lost = reason
        if not self._opened.done():
            self._opened.set_result(False)
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_result(reason)
        self._news.set()

    def _error(self, reason: str, advice: str = "") -> TransportError:
        return TransportError(self._broker.endpoint, f"{self._broker.address}: {reason}", advice)

    def _on_connect(
        self, _: Client, _data: Any, flags: ConnectFlags, code: ReasonCode, own: Properties | None
    ) -> None:
        if code.is_failure:
            self._lose(f"the broker refuses: {_text(code, own)}")
        elif not self._opened.done():
            limit = getattr(own, "ReceiveMaximum", _IN_FLIGHT)
            self._room = asyncio.Semaphore(min(limit, _IN_FLIGHT))
            self._opened.set_result(bool(flags.session_present))

    def _on_disconnect(
        self,
        _: Client,
        _data: Any,
        flags: DisconnectFlags,
        code: ReasonCode,
        own: Properties | None,
    ) -> None:
        told = "the broker closed the connection"
        if not flags.is_disconnect_packet_from_server:
            told = "the connection is lost"
        self._lose(f"{told}: {_text(code, own)}")

    def _on_message(self, client: Client, _: Any, message: MQTTMessage) -> None:
        # paho looks at this right after: only QoS 1 waits for our acknowledgement.
        client.manual_ack_set(message.qos == 1)
        self._arrived.append(message)
        self._news.set()
        # The answer to a subscription may stand behind what a kept session had in store.
        if len(self._arrived) >= _BUFFERED and not self._paused and not self._waiting:
            self._paused = True
            self._loop.remove_reader(self._socket)

    def _on_publish(
        self, _: Client, _data: Any, mid: int, code: ReasonCode, own: Properties | None
    ) -> None:
        self._answer(mid, _text(code, own) if code.is_failure else None)

    def _on_subscribe(
        self, _: Client, _data: Any, mid: int, codes: list[ReasonCode], own: Properties | None
    ) -> None:
        refused = [_text(code, own) for code in codes if code.is_failure]
        self._answer(mid, refused[0] if refused else None)

    def _answer(self, mid: int, refused: str | None) -> None:
        waiting = self._waiting.get(mid)
        if waiting is not None and not waiting.done():
            waiting.set_result(refused)


def _text(code: ReasonCode, own: Properties | None) -> str:
    more = getattr(own, "ReasonString", None)
    return f"{code}" + (f" ({more})" if more else "")


class _Client(Client):
    """Tells of a QoS 2 message that the broker refuses, which paho overlooks."""

    on_refusal: Callable[[int, str | None], None]

    def _handle_pubrec(self) -> MQTTErrorCode:
        packet = self._in_packet["packet"]
        if len(packet) > 2 and packet[2] >= _FAILURE:
            code = ReasonCode(PacketTypes.PUBREC, identifier=packet[2])
            self.on_refusal(int.from_bytes(packet[:2]), f"{code}")
        return super()._handle_pubrec()


class _ClosingSocket(ssl.SSLSocket):
    """Closed when the handshake fails; paho forgets it then."""

    def do_handshake(self, block: bool = False) -> None:
        try:
            super().do_handshake(block)
        except OSError:
            self.close()
            raise


def _client(broker: Broker, session: Session) -> _Client:
    address, secret, old = broker.address, broker.credentials, session.version == "3.1.1"
    client = _Client(
        CallbackAPIVersion.VERSION2,
        client_id=session.client_id,
        clean_session=session.clean if old else None,
        protocol=MQTTv311 if old else MQTTv5,
        transport="websockets" if address.scheme in ("ws", "wss") else "tcp",
        reconnect_on_failure=False,
    )
    # Our own semaphore knows what the broker allows, which is told only after connecting.
    client.max_inflight_messages = 0
    if address.scheme in ("ws", "wss"):
        client.ws_set_options(path=f"/{address.path or 'mqtt'}")
    if secret.username is not None or secret.token is not None:
        client.username_pw_set(secret.username or "", secret.password or secret.token)
    if broker.tls is not None:
        broker.tls.sslsocket_class = _ClosingSocket
        client.tls_set_context(broker.tls)
    if broker.will is not None:
        will = broker.will
        own = mqtt_packets.properties(broker.endpoint, will, session.version, will=True)
        where = mqtt_packets.topic(broker.endpoint, will.topic_name or "")
        client.will_set(where, will.payload or b"", will.qos or 0, will.retain or False, own)
    return client
