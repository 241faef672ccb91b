"""``heraldry build``: a message made from its definition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from heraldry.cli.making import made, message_options, pair, payload
from heraldry.cli.opening import catalog_options, open_catalog
from heraldry.cli.settings import example, option
from heraldry.errors import UsageError

if TYPE_CHECKING:
    from heraldry.messages.build import BuiltMessage

CLOUDEVENTS = "cloudevents-json"
PROTOCOLS = {
    CLOUDEVENTS: None,
    "http": "HTTP",
    "amqp": "AMQP/1.0",
    "mqtt": "MQTT/5.0",
    "mqtt3": "MQTT/3.1.1",
    "kafka": "KAFKA",
    "nats": "NATS",
}


@click.command(
    "build",
    short_help="A message made from its definition.",
    epilog=example("heraldry build --catalog examples/airport checkedin --sample --as http"),
)
@catalog_options
@click.argument("xid", metavar="XID")
@click.option(
    "--set",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="A placeholder, or a property of the envelope or protocol. Repeatable.",
)
@message_options
@click.option(
    "--as",
    "shape",
    type=click.Choice(list(PROTOCOLS)),
    help="The form of the message. [default: that of the definition, else CloudEvents JSON]",
)
@option("format")
def command(
    catalog: tuple[str, ...],
    allow: tuple[str, ...],
    xid: str,
    given: tuple[str, ...],
    data: str | None,
    sample: bool,
    seed: int | None,
    count: int,
    raw: bool,
    event_format: str | None,
    shape: str | None,
    output: str,
) -> None:
    """Build a message from the definition XID, or list every reason why it cannot be.

    With --format json it is exactly the line that match and land read. The exit code is 1 when
    the definition refuses the message.
    """
    definition = open_catalog(catalog, allow)[xid]
    values = dict(map(pair, given))
    arguments: dict[str, Any] = {
        "values": values,
        "protocol": PROTOCOLS[shape] if shape else None,
        "event_format": event_format,
    }
    if data is not None:
        arguments["data"] = payload(data)
    if event_format and not (arguments["protocol"] or definition.definition.protocol):
        raise UsageError("--event-format needs a protocol to carry it", "name one with --as")
    messages = made(definition, arguments, count, sample=sample, seed=seed, raw=raw)
    for number, message in enumerate(messages):
        line = _line(message, shape)
        if output == "json":
            click.echo(line)
        else:
            click.echo(("\n" if number else "") + _shown(line))


def _line(message: BuiltMessage, shape: str | None) -> bytes:
    from heraldry.messages.envelopes import json_format

    if shape != CLOUDEVENTS:
        return message.line()
    if message.envelope is None:
        raise UsageError("this message is no CloudEvent", "its definition has no envelope")
    return json_format.write(message, one_line=True)


def _shown(line: bytes) -> str:
    from heraldry.cli.wire import show

    return show(line)
