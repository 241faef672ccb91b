"""``heraldry intake``: messages that are sent once into a durable log, for landing them later."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from heraldry.cli.opening import cache_option
from heraldry.cli.output import plural, progress, write_json
from heraldry.cli.settings import example, option
from heraldry.errors import UsageError

if TYPE_CHECKING:
    from heraldry.cli.intake_source import Door
    from heraldry.messages.rawlog_writer import RawLogWriter
    from heraldry.model.endpoint import Endpoint

_TOLD_SECONDS = 10.0
_ADVICE = "ask for a token (--token-env), or listen at 127.0.0.1"


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
@option(
    "from",
    help="A broker to take from, mqtt://, amqp:// or nats://, or endpoint:XID."
    " [default: listen, HTTP]",
)
@option("catalog", help="The catalog of endpoint:XID: a document, a folder or a registry's URL.")
@cache_option
@option("source-option")
@option("host")
@option("port")
@option("allow-host")
@option("allow-origin", help="Let web pages of this origin send; * is any; repeatable.")
@click.option(
    "--max-body",
    default=16 * 1024 * 1024,
    show_default=True,
    type=click.IntRange(min=1),
    metavar="BYTES",
    help="The largest body that is taken.",
)
@option("access-log", is_flag=False, flag_value="-")
@option("server-limit")
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
    catalog: tuple[str, ...],
    source_option: tuple[str, ...],
    host: str,
    port: int,
    output: str,
    **given: Any,
) -> None:
    """Take messages in until interrupted, and keep them for `heraldry land --from raw-log:DIR`.

    Over HTTP every POST, PUT, PATCH and DELETE is a message, or a batch of events; 202 is
    answered once it is durable.
    With --from, messages are taken from a broker and acknowledged once they are durable, or
    listened for at the address of an HTTP endpoint. A log has one writer; any number of jobs may
    read it, and what all of them have landed is removed.
    """
    from heraldry.cli import intake_source as sources

    endpoint = None
    if source is not None:
        endpoint = sources.open_endpoint(source, catalog, source_option)
        if not sources.is_http(endpoint):
            sources.refuse_http_options()
            _take(folder, endpoint, output)
            return
    elif source_option:
        raise UsageError("options are those of a source", "name it: --from mqtt://HOST/FILTER")
    else:
        sources.refuse_catalog()
    door = sources.door_of(endpoint, host, port)
    _listen(folder, endpoint, door, output, **given)


def _listen(
    folder: str,
    endpoint: Endpoint | None,
    door: Door,
    output: str,
    *,
    max_body: int,
    token_env: str | None,
    keep_invalid: bool,
    allow_host: tuple[str, ...],
    allow_origin: tuple[str, ...],
    access_log: str | None,
    server_limit: tuple[str, ...],
) -> None:
    """Take what is posted."""
    from heraldry.cli import reachable
    from heraldry.cli.serving import OF_CONNECTIONS, read_limits
    from heraldry.messages.intake_connection import intake_name
    from heraldry.messages.rawlog_writer import RawLogWriter
    from heraldry.server.access_log import open_access_log
    from heraldry.server.intake import IntakeApp, IntakeSettings
    from heraldry.server.running import address, end_on_sigterm, listen, run

    end_on_sigterm()
    reachable.check_origins(allow_origin)
    hosts = reachable.checked_hosts(allow_host)
    limits = read_limits(server_limit, OF_CONNECTIONS)
    settings = IntakeSettings(
        path=door.path,
        max_body=max_body,
        token=_token(token_env),
        keep_invalid=keep_invalid,
        origins=allow_origin,
    )
    name = None if endpoint is None else intake_name(endpoint)
    with RawLogWriter(folder, source=name) as log, listen(door.host, door.port) as listening:
        settings = replace(settings, hosts=reachable.reached_by(listening, hosts, *door.names))
        if settings.token is None:
            reachable.warn_open(listening, "send messages", _ADVICE)
        _tell(output, address(listening) + door.path, log)
        app = IntakeApp(log, settings, limits)
        with open_access_log(app, access_log) as served:
            run(served, listening, limits=limits, counts=app.connections)


def _take(folder: str, endpoint: Endpoint, output: str) -> None:
    """Take from a broker; every now and then say how many have come."""
    from heraldry.messages.intake import Intake
    from heraldry.messages.intake_connection import intake_connection, intake_name
    from heraldry.messages.rawlog_writer import RawLogWriter

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
