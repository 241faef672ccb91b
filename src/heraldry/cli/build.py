"""``heraldry build``: a message made from its definition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random, SystemRandom
from typing import TYPE_CHECKING, Any
from uuid import UUID

import click

from heraldry.cli.settings import example, option
from heraldry.errors import MessageError, UsageError

if TYPE_CHECKING:
    from heraldry.messages.build import BuiltMessage
    from heraldry.messages.catalog import MessageDefinition

CLOUDEVENTS = "cloudevents-json"
PROTOCOLS = {CLOUDEVENTS: None, "http": "HTTP", "kafka": "KAFKA", "mqtt": "MQTT/5.0"}
_FIXED = datetime(2026, 1, 1, tzinfo=UTC)


@click.command(
    "build",
    short_help="A message made from its definition.",
    epilog=example("heraldry build --catalog examples/airport checkedin --sample --as http"),
)
@option("catalog", required=True)
@click.argument("xid", metavar="XID")
@click.option(
    "--set",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="A placeholder, or a property of the envelope or protocol. Repeatable.",
)
@click.option("--data", metavar="@FILE|JSON", help="The payload: JSON, or the content of a file.")
@click.option("--sample", is_flag=True, help="Make up what is not given.")
@click.option("--seed", type=int, metavar="N", help="Make up the same, time and id included.")
@click.option(
    "--count",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="How many messages to make.",
)
@click.option("--raw", is_flag=True, help="Insert values as they are, without percent-encoding.")
@click.option(
    "--as",
    "shape",
    type=click.Choice(list(PROTOCOLS)),
    help="The form of the message. [default: that of the definition, else CloudEvents JSON]",
)
@option("format")
def command(
    catalog: tuple[str, ...],
    xid: str,
    given: tuple[str, ...],
    data: str | None,
    sample: bool,
    seed: int | None,
    count: int,
    raw: bool,
    shape: str | None,
    output: str,
) -> None:
    """Build a message from the definition XID, or list every reason why it cannot be.

    With --format json it is exactly the line that match and land read. The exit code is 1 when
    the definition refuses the message.
    """
    from heraldry.messages.catalog import open as open_catalog

    if raw and sample:
        raise UsageError("--raw does not go with --sample", "give every value with --set")
    definition = open_catalog(*catalog)[xid]
    values = dict(map(_pair, given))
    arguments: dict[str, Any] = {
        "values": values,
        "protocol": PROTOCOLS[shape] if shape else None,
    }
    if data is not None:
        arguments["data"] = _data(data)
    messages = _made(definition, arguments, count, sample=sample, seed=seed, raw=raw)
    for number, message in enumerate(messages):
        line = _line(message, shape)
        if output == "json":
            click.echo(line)
        else:
            click.echo(("\n" if number else "") + _shown(line))


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"--set {text} cannot be read", "write --set NAME=VALUE")
    return name, value


def _data(text: str) -> Any:
    """The payload: JSON as its value; a file that is no JSON as its bytes."""
    from heraldry.schemas.parse import parse

    if text.startswith("@"):
        try:
            content = Path(text[1:]).read_bytes()
        except OSError as error:
            reason = error.strerror or str(error)
            raise UsageError(f"--data {text} cannot be read", reason) from None
        try:
            return parse(content)
        except MessageError:
            return content
    try:
        return parse(text.encode())
    except MessageError as error:
        problem = error.problems[0]
        raise UsageError(f"--data {problem.message}", "write JSON, or @FILE for a file") from None


def _made(
    definition: MessageDefinition,
    arguments: dict[str, Any],
    count: int,
    *,
    sample: bool,
    seed: int | None,
    raw: bool,
) -> Iterator[BuiltMessage]:
    start = SystemRandom().randrange(2**32) if seed is None else seed
    for number in range(start, start + count):
        if seed is not None:
            arguments |= {"clock": lambda: _FIXED, "make_id": _ids(number)}
        if sample:
            yield definition.sample(seed=number, **arguments)
        else:
            yield definition.build(raw=raw, **arguments)


def _ids(seed: int) -> Callable[[], str]:
    random = Random(seed)
    return lambda: str(UUID(int=random.getrandbits(128), version=4))


def _line(message: BuiltMessage, shape: str | None) -> bytes:
    from heraldry.messages.envelopes import cloudevents

    if shape != CLOUDEVENTS:
        return message.line()
    if message.envelope is None:
        raise UsageError("this message is no CloudEvent", "its definition has no envelope")
    return cloudevents.write_structured(message, one_line=True)


def _shown(line: bytes) -> str:
    from heraldry.cli.wire import show

    return show(line)
