"""`heraldry intake` as a process that may be killed, and senders that mind."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from heraldry.messages.message import Message
from heraldry.messages.protocol_table import module
from heraldry.messages.rawlog import RawLog
from heraldry.messages.transports.transport import Transport

_TOKEN = re.compile(rb'"(m-[0-9]+)"')
_AT_ONCE = 500


@contextmanager
def intake(log: Path, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A process that takes messages in, ready; whatever is left of it is killed."""
    command = [sys.executable, "-m", "heraldry", "intake", "--log", str(log), "--format", "json"]
    process = subprocess.Popen(
        [*command, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said, process.communicate()[1]
        process.args = json.loads(said)
        yield process
    finally:
        process.kill()
        process.communicate()


def url_of(process: subprocess.Popen[str]) -> str:
    """Where a process listens, or takes from."""
    said: Any = process.args
    return str(said["url"])


async def publish(
    transport: Transport, messages: Sequence[Message], protocol: str, metadata: Mapping[str, Any]
) -> None:
    """Send messages by a protocol, many at once; returns when the server has all of them.

    Those that are of the protocol already are sent as they are, all others as binary events.
    """
    found = module(protocol)
    assert found is not None
    raws = [
        found.encode(
            message
            if message.protocol
            else Message(protocol=protocol, metadata=metadata, **_event(message))
        )
        for message in messages
    ]
    async with transport:
        for begin in range(0, len(raws), _AT_ONCE):
            await asyncio.gather(*map(transport.publish, raws[begin : begin + _AT_ONCE]))


def tokens(log: Path) -> list[str]:
    """The tokens of the messages in a log, in its order."""
    kept = RawLog(log)
    lines = kept.read(kept.begin(), kept.end())
    return [match[1].decode() for line in lines if (match := _TOKEN.search(line))]


def _event(message: Message) -> dict[str, Any]:
    return {
        "envelope": message.envelope,
        "mode": "binary",
        "attributes": message.attributes,
        "payload": message.payload,
        "content_type": message.content_type,
    }
