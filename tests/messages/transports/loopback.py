"""The shop's HTTP endpoint on the loopback interface, where the consumer is the server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import heraldry
from heraldry.messages.catalog import MessageCatalog
from tests.live.servers.server import free_port

T = TypeVar("T")
ORDER = {"order": "4711", "customer": "Inês", "total": 12.5}
VALUES = {"shop": "lisbon", "order": "4711"}
PLACED = "/messagegroups/shop.orders/messages/shop.order.placed"
REVIEW = "/messagegroups/shop.reviews/messages/shop.review.posted"
SECONDS = 20.0


def shop(examples: Path) -> MessageCatalog:
    return heraldry.open(examples / "shop")


def free_address() -> str:
    return f"http://127.0.0.1:{free_port()}"


def run(work: Coroutine[Any, Any, T]) -> T:
    """The result of some work, which is not to hang."""

    async def timed() -> T:
        async with asyncio.timeout(SECONDS):
            return await work

    return asyncio.run(timed())


async def post(address: str, body: Any, content_type: str, path: str = "/") -> int:
    """The status of a request that is made by hand, so that anything can be sent."""
    host, _, port = address.removeprefix("http://").partition(":")
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    reader, writer = await asyncio.open_connection(host, int(port))
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n"
    head += f"Content-Type: {content_type}\r\nContent-Length: {len(content)}\r\n\r\n"
    writer.write(head.encode() + content)
    answer = await reader.read()
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return int(answer.split()[1])


def events(ids: Iterable[str], **changes: Any) -> list[dict[str, Any]]:
    """Orders as CloudEvents in the JSON format."""
    common = {
        "specversion": "1.0",
        "type": "shop.order.placed",
        "source": "/shops/lisbon",
        "subject": "4711",
        "time": "2026-01-01T00:00:00Z",
        "datacontenttype": "application/json",
        "data": ORDER,
    }
    return [{**common, "id": id_, **changes} for id_ in ids]
