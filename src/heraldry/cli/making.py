"""What `build` and `publish` share: how a message is asked for on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random, SystemRandom
from typing import TYPE_CHECKING, Any
from uuid import UUID

import click

from heraldry.errors import MessageError, UsageError

if TYPE_CHECKING:
    from heraldry.messages.build import BuiltMessage
    from heraldry.messages.catalog import MessageDefinition

_FIXED = datetime(2026, 1, 1, tzinfo=UTC)


def message_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say what goes into a message."""
    for decorate in (
        click.option(
            "--event-format",
            type=click.Choice(["json", "avro", "protobuf"]),
            help="Make the event one document in this format (structured mode).",
        ),
        click.option("--raw", is_flag=True, help="Insert values as they are, not percent-encoded."),
        click.option(
            "--count",
            type=click.IntRange(min=1),
            default=1,
            show_default=True,
            metavar="N",
            help="How many messages to make.",
        ),
        click.option(
            "--seed", type=int, metavar="N", help="Make up the same, time and id included."
        ),
        click.option("--sample", is_flag=True, help="Make up what is not given."),
        click.option(
            "--data", metavar="@FILE|JSON", help="The payload: JSON, or the content of a file."
        ),
    ):
        command = decorate(command)
    return command


def pair(text: str) -> tuple[str, str]:
    """The name and value of one ``--set``."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"--set {text} cannot be read", "write --set NAME=VALUE")
    return name, value


def payload(text: str) -> Any:
    """The payload of ``--data``: JSON as its value; a file that is no JSON as its bytes."""
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


def made(
    definition: MessageDefinition,
    arguments: dict[str, Any],
    count: int,
    *,
    sample: bool,
    seed: int | None,
    raw: bool,
) -> Iterator[BuiltMessage]:
    """The messages, one after the other; with a seed each is the same every time."""
    if raw and sample:
        raise UsageError("--raw does not go with --sample", "give every value with --set")
    start = SystemRandom().randrange(2**32) if seed is None else seed
    for number in range(start, start + count):
        if seed is not None:
            arguments |= {"clock": lambda: _FIXED, "make_id": _ids(f"{number}/{definition.xid}")}
        if sample:
            yield definition.sample(seed=number, **arguments)
        else:
            yield definition.build(raw=raw, **arguments)


def _ids(seed: str) -> Callable[[], str]:
    random = Random(seed)
    return lambda: str(UUID(int=random.getrandbits(128), version=4))
