"""``heraldry intake``: messages that are sent once into a durable log, for landing them later."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING

import click

from heraldry.cli.output import plural, progress, write_json
from heraldry.cli.settings import example, option
from heraldry.errors import UsageError

if TYPE_CHECKING:
    from heraldry.messages.rawlog_writer import RawLogWriter

_TOLD_SECONDS = 10.0


@click.command(
    "intake",
    short_help="Messages that are sent once, into a durable log.",
    epilog=example("heraldry intake --port 8080 --log inbox.log"),
)
@click.option(
    "--log",
    "folder",
    required=True,
    metavar="DIR",
    envvar="HERALDRY_RAW_LOG",
    help="The folder of the log; it is made when it is not there.",
)
@option("from", help="A broker to take from: mqtt://, amqp:// or nats://. [default: listen, HTTP]")
@option("source-option")
@option("host")
@option("port")
@click.option(
    "--max-body",
    default=16 * 1024 * 1024,
    show_default=True,
    type=click.IntRange(min=1),
    metavar="BYTES",
    help="The largest body that is taken.",
)
@click.option(
    "--token-env",
    metavar="NAME",
    help="The variable with the token that senders must show: Authorization: Bearer TOKEN.",
)
@click.option(
    "--keep-invalid",
    is_flag=True,
    help="Keep what says it is a batch and is none; it becomes a dead letter, not a 400.",
)
@option("format")
def command(
    folder: str,
    source: str | None,
    source_option: tuple[str, ...],
    host: str,
    port: int,
    max_body: int,
    token_env: str | None,
    keep_invalid: bool,
    output: str,
) -> None:
    """Take messages in until interrupted, and keep them for `heraldry land --from raw-log:DIR`.

    Over HTTP every POST is a message, or a batch of events; 202 is answered once it is durable.
    With --from, messages are taken from a broker and acknowledged once they are durable. A log
    has one writer; any number of jobs may read it, and what all of them have landed is removed.
    """
    if source is not None:
        _take(folder, source, source_option, output)
        return
    from heraldry.messages.rawlog_writer import RawLogWriter
    from heraldry.server.intake import IntakeApp, IntakeSettings
    from heraldry.server.running import address, end_on_sigterm, listen, run

    if source_option:
        raise UsageError("options are those of a broker", "name it: --from mqtt://HOST/FILTER")
    end_on_sigterm()
    token = _token(token_env)
    settings = IntakeSettings(max_body=max_body, token=token, keep_invalid=keep_invalid)
    with RawLogWriter(folder) as log, listen(host, port) as listening:
        _tell(output, address(listening), log)
        run(IntakeApp(log, settings), listening)


def _take(folder: str, url: str, options: tuple[str, ...], output: str) -> None:
    """Take from a broker; every now and then say how many have come."""
    from heraldry.cli.making import pair
    from heraldry.messages.intake import Intake
    from heraldry.messages.intake_connection import intake_connection, intake_endpoint, intake_name
    from heraldry.messages.rawlog_writer import RawLogWriter
    from heraldry.messages.source_url import endpoint_of_url

    endpoint = intake_endpoint(endpoint_of_url(url), dict(map(pair, options)))
    name = intake_name(endpoint)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    with RawLogWriter(folder, source=name) as log:
        with Intake(intake_connection(endpoint, log.name), log, on_event=progress) as intake:
            _tell(output, name, log)
            while not ended.wait(_TOLD_SECONDS):
                progress(f"{plural(intake.taken, 'message')}, {intake.rate():,.0f} per second")
        progress(f"{plural(intake.taken, 'message')} taken in, {log.end:,} in the log")


def _tell(output: str, url: str, log: RawLogWriter) -> None:
    if output == "json":
        write_json({"url": url, "log": str(log.folder), "messages": log.end})
    else:
        click.echo(f"messages from {url} are kept in {log.folder}")


def _token(name: str | None) -> str | None:
    if name is None:
        return None
    token = os.environ.get(name)
    if not token:
        raise UsageError(f"the variable {name} holds no token", "set it, or leave out --token-env")
    return token
