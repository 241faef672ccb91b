"""``heraldry consume``: a live tail of an endpoint, each message with what it is."""

from __future__ import annotations

from collections import Counter
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

import click

from heraldry.cli.connecting import connection_options, open_endpoint, run
from heraldry.cli.match import outcome, write
from heraldry.cli.output import count, one_line, plural, progress, shorten, width, write_json
from heraldry.cli.setting import SECONDS, FiniteRange
from heraldry.cli.settings import example, option
from heraldry.errors import MessageError

if TYPE_CHECKING:
    from heraldry.messages.message import Message
    from heraldry.messages.transports.consumer import Consumer, Received


@click.command(
    "consume",
    short_help="A live tail: each message with its definition.",
    epilog=example("heraldry consume --catalog examples/shop --endpoint shop-kafka --explain"),
)
@connection_options
@click.option(
    "--explain", is_flag=True, help="Show every property beside the definition, or the nearest."
)
@click.option(
    "--count",
    "wanted",
    type=click.IntRange(min=1),
    metavar="N",
    help="End after N messages. [default: go on until interrupted]",
)
@click.option(
    "--seconds",
    type=FiniteRange(0, SECONDS, min_open=True),
    metavar="S",
    help="End after S seconds of listening.",
)
@option("format")
def command(
    catalog: tuple[str, ...],
    allow: tuple[str, ...],
    endpoint: str,
    address: str | None,
    given: tuple[str, ...],
    explain: bool,
    wanted: int | None,
    seconds: float | None,
    output: str,
) -> None:
    """Show the messages that come from an endpoint, as they come.

    Each is shown with its definition, the values of its placeholders and its data, or with the
    reasons why it is none of the endpoint's. Messages are taken from a queue or group for good.
    Ends with --count or --seconds, or when interrupted, and the exit code is 0. Users and passwords
    come from HERALDRY_USERNAME and HERALDRY_PASSWORD, never from the catalog.
    """
    opened, arguments = open_endpoint(catalog, allow, endpoint, address, given)
    tail = Tail(explain=explain, wanted=wanted, output=output)
    with suppress(KeyboardInterrupt):
        run(tail.follow(opened.consumer(**arguments), seconds))
    tail.close()


class Tail:
    """Shows messages and counts them."""

    def __init__(self, *, explain: bool, wanted: int | None, output: str) -> None:
        self._explain, self._wanted, self._output = explain, wanted, output
        self._counts: Counter[bool] = Counter()

    async def follow(self, consumer: Consumer, seconds: float | None) -> None:
        """Show what comes until enough has, or the time is up; connecting does not count."""
        import asyncio

        async with consumer:
            progress(f"listening to {consumer.endpoint.endpoint.xid}")
            try:
                async with asyncio.timeout(seconds) as time:
                    await self._show_all(consumer)
            except TimeoutError:
                if not time.expired():
                    raise

    async def _show_all(self, consumer: Consumer) -> None:
        async with aclosing(aiter(consumer)) as messages:
            async for received in messages:
                self.show(received)
                await (received.ack() if received.ok else received.reject())
                if self._counts.total() == self._wanted:
                    return

    def show(self, received: Received) -> None:
        """One message with what it is."""
        self._counts[received.ok] += 1
        found = outcome(received.result, explain=self._explain)
        if self._output == "json":
            more = {"position": received.position, "data": _plain(received.data)}
            write_json(found | more | {"message": _line(received.message)})
            return
        label = received.position or str(self._counts.total())
        write(found, label)
        if received.ok and received.data is not None:
            click.echo(f"   {shorten(one_line(_plain(received.data)), width() - 3)}")

    def close(self) -> None:
        """Say how many there were."""
        total, good = self._counts.total(), self._counts[True]
        told = f"{count(good)} recognised, {count(total - good)} not"
        progress(f"{plural(total, 'message')}: {told}")


def _line(message: Message | None) -> Any:
    """The message as `heraldry match` reads it, or None where a line cannot say it."""
    from msgspec import Raw

    from heraldry.messages.line import write as write_line

    try:
        return None if message is None else Raw(write_line(message))
    except MessageError:
        return None


def _plain(data: Any) -> Any:
    """Data as JSON can show it."""
    return data.decode(errors="replace") if isinstance(data, bytes) else data
