"""``heraldry publish``: messages made from their definitions, sent to an endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from heraldry.cli.connecting import connection_options, open_endpoint, run
from heraldry.cli.making import made, message_options, payload
from heraldry.cli.output import plural, progress
from heraldry.cli.settings import example, option
from heraldry.errors import UsageError
from heraldry.model.formats import protocol_family

if TYPE_CHECKING:
    from heraldry.messages.build import BuiltMessage
    from heraldry.messages.catalog import MessageEndpoint
    from heraldry.messages.protocols.mqtt import MqttPublish
    from heraldry.messages.transports.producer import Producer

Built = tuple[str, "BuiltMessage"]


@click.command(
    "publish",
    short_help="Send messages to an endpoint.",
    epilog=example("heraldry publish --catalog examples/shop --endpoint shop-kafka --sample"),
)
@connection_options
@message_options
@option("format")
@click.argument("xids", metavar="[XID]...", nargs=-1)
def command(
    catalog: tuple[str, ...],
    allow: tuple[str, ...],
    endpoint: str,
    address: str | None,
    given: tuple[str, ...],
    data: str | None,
    sample: bool,
    seed: int | None,
    count: int,
    raw: bool,
    event_format: str | None,
    output: str,
    xids: tuple[str, ...],
) -> None:
    """Build messages of the definitions XID and send them to an endpoint.

    With --sample and no XID, one of every definition of the endpoint. All are built before the
    first is sent: what a definition refuses is told with every reason, nothing is sent, and the
    exit code is 1. A message counts as sent when the server has taken it. Users and passwords come
    from HERALDRY_USERNAME and HERALDRY_PASSWORD, never from the catalog.
    """
    opened, arguments = open_endpoint(catalog, allow, endpoint, address, given)
    if not xids and not sample:
        raise UsageError("no definition is named", "name an XID, or --sample for one of each")
    how = {"sample": sample, "seed": seed, "raw": raw}
    producer = opened.producer(**arguments, will=_will(opened, arguments["values"], **how))
    content = {} if data is None else {"data": payload(data)}
    if event_format is not None:
        content |= {"mode": "structured", "event_format": event_format}
    wanted = [opened[xid].xid for xid in xids] or list(opened.contract.xids)
    if not wanted:
        raise UsageError(f"{opened.endpoint.xid} has no definitions", "see `heraldry check`")
    built = [
        (xid, message) for xid in wanted for message in _made(producer, xid, content, count, **how)
    ]
    run(_send(producer, built, output))


def _will(endpoint: MessageEndpoint, values: dict[str, str], **how: Any) -> MqttPublish | None:
    """What an MQTT broker is to say where we are gone without a word, if the endpoint names it."""
    named = endpoint.endpoint.option("willmessage")
    if not named:
        return None
    from heraldry.messages.catalog import MessageDefinition

    definition = MessageDefinition(endpoint.messages.matcher.definition(str(named)))
    known = {name: one for name, one in values.items() if name in definition.placeholders}
    (message,) = made(definition, {"values": known}, 1, **how)
    return message.as_mqtt(protocol_family(endpoint.endpoint.protocol)[1])


def _made(
    producer: Producer, xid: str, content: dict[str, Any], count: int, **how: Any
) -> Iterator[BuiltMessage]:
    definition = producer.endpoint[xid]
    arguments = producer.form(definition, producer.connection.values) | content
    return made(definition, arguments, count, **how)


async def _send(producer: Producer, built: list[Built], output: str) -> None:
    where = producer.endpoint.endpoint.xid
    async with producer:
        for xid, message in built:
            await producer.send(message)
            if output == "json":
                click.echo(message.line())
            else:
                click.echo(f"{xid}  {message.attributes.get('id', '')}".rstrip())
    progress(f"{plural(len(built), 'message')} published to {where}")
