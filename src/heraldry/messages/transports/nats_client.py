"""nats-py's client with what it lacks: headers that repeat, patience with slow consumers.

A server does not look at what a publisher writes. Where nats-py cannot read a message it ends
its reading without a word, and hears nothing for minutes; here every message is read.
"""

from __future__ import annotations

import asyncio
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error

from heraldry.messages.message import Pairs

_BUFFERED, _BUFFERED_BYTES = 1024, 64 * 2**20
_FRAME = len(b"NATS/1.0\r\n\r\n")
_PING = b"PING\r\n"
_LINE = len(b": \r\n")


class SentHeaders(dict[str, str]):
    """Headers to send, each as often as it is given: nats-py only asks for the items."""

    def __init__(self, pairs: Pairs) -> None:
        super().__init__(pairs)
        self._pairs = pairs

    def items(self) -> Any:
        """The pairs, and what nats-py has added to the dictionary since."""
        known = {name for name, _ in self._pairs}
        return (*self._pairs, *(one for one in super().items() if one[0] not in known))


class ReceivedHeaders(dict[str, str]):
    """Headers as nats-py reads them, and as ``pairs`` just as they came."""

    def __init__(self, known: dict[str, str], pairs: Pairs) -> None:
        super().__init__(known)
        self.pairs = pairs


class PatientClient(Client):
    """A client that stops reading while a consumer has too much to do.

    nats-py drops what does not fit its queue. Its flush overtakes what was published before it,
    and its password goes in the clear to a server that should speak TLS and does not.
    """

    def __init__(self) -> None:
        super().__init__()
        self._consumer: Subscription | None = None
        self._room = asyncio.Event()

    @property
    def wants_credentials(self) -> bool:
        """Whether the server has said so; it may close before it tells what was wrong."""
        return bool(self._server_info.get("auth_required"))

    async def consume(self, subject: str, queue: str) -> None:
        """Subscribe; the messages then come from :meth:`take`."""
        self._consumer = await self.subscribe(
            subject, queue, pending_msgs_limit=_BUFFERED, pending_bytes_limit=0
        )

    async def take(self) -> Msg:
        """The next message of the subscription that :meth:`consume` has made."""
        assert self._consumer is not None
        message = await self._consumer.next_msg(timeout=None)
        self._room.set()
        return message

    def forget(self) -> None:
        """Drop what was not sent before the connection was lost: its sender is told so."""
        self._pending.clear()
        self._pending_data_size = 0

    async def _send_ping(self, future: asyncio.Future[bool] | None = None) -> None:
        self._pongs.append(asyncio.Future() if future is None else future)
        await self._send_command(_PING)
        await self._flush_pending()

    async def _process_msg(
        self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes
    ) -> None:
        mine = self._consumer
        while mine is not None and (
            mine.pending_msgs >= _BUFFERED or mine.pending_bytes >= _BUFFERED_BYTES
        ):
            self._room.clear()
            await self._room.wait()
        await super()._process_msg(sid, subject, reply, data, headers)

    async def _process_headers(self, headers: bytes) -> dict[str, str] | None:
        if not headers:
            return None
        try:
            known = await super()._process_headers(headers)
        except (ValueError, LookupError):  # a first line that is none of a server's
            known = None
        return ReceivedHeaders(known or {}, _pairs(headers))

    def _build_message(
        self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: dict[str, str] | None
    ) -> Msg:
        return Msg(
            _client=self,
            subject=subject.decode(errors="replace"),
            reply=reply.decode(errors="replace"),
            data=data,
            headers=headers,
            _sid=sid,
        )

    def _connect_command(self) -> bytes:
        server = self._current_server
        told = server is not None and server.uri.scheme == "tls"
        if told and not self._server_info.get("tls_required"):
            raise Error("the server does not speak TLS")
        return super()._connect_command()


def size(pairs: Pairs) -> int:
    """The bytes of headers on the wire, which count for the server's limit."""
    if not pairs:
        return 0
    return _FRAME + sum(len(name) + len(value.encode()) + _LINE for name, value in pairs)


def _pairs(headers: bytes) -> Pairs:
    lines = (line.partition(b":") for line in headers.split(b"\r\n")[1:])
    return tuple(
        (name.strip().decode(errors="replace"), value.strip().decode(errors="replace"))
        for name, colon, value in lines
        if colon
    )
