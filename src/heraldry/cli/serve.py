"""``heraldry serve``: a registry over HTTP, in a file or in PostgreSQL."""

from __future__ import annotations

import re
from contextlib import ExitStack

import click

from heraldry.cli.output import progress, write_json
from heraldry.cli.settings import example, option
from heraldry.errors import UsageError

_BASE = re.compile(r"https?://[A-Za-z0-9._~\-\[\]:]+(/[A-Za-z0-9._~%/\-]*)?")
_ADVICE = "listen at 127.0.0.1, or have a proxy before it that decides who comes in"


@click.command(
    "serve",
    short_help="A registry over HTTP.",
    epilog=example("heraldry serve --db sqlite:catalog.db --import examples/shop"),
)
@option("db")
@option("host")
@option("port")
@option("registry-id")
@option("model")
@option("specversion")
@option("base-url")
@option("allow-include")
@option("allow-origin")
@option("allow-host")
@option("access-log", is_flag=False, flag_value="-")
@option("server-limit")
@option("import")
@option("format")
def command(
    db: str,
    host: str,
    port: int,
    registry_id: str | None,
    model: str | None,
    specversion: str,
    base_url: str | None,
    allow_include: tuple[str, ...],
    allow_origin: tuple[str, ...],
    allow_host: tuple[str, ...],
    access_log: str | None,
    server_limit: tuple[str, ...],
    imports: tuple[str, ...],
    output: str,
) -> None:
    """Serve a registry by the xRegistry 1.0 HTTP API, until interrupted.

    A new database gets the id and the model that are given; one that exists keeps its own. What is
    imported is added by the rules of a POST: it replaces what has the same ids and deletes
    nothing. When clients can connect, the address is written to standard output.
    """
    from heraldry.cli import reachable
    from heraldry.cli.serve_registry import Opening, import_all, open_registry
    from heraldry.cli.serving import read_limits
    from heraldry.dialects.xreg_1_0.wire import WIRES
    from heraldry.server.access_log import open_access_log
    from heraldry.server.app import create_app
    from heraldry.server.running import address, end_on_sigterm, listen, run
    from heraldry.server.settings import ServerSettings

    end_on_sigterm()
    base = _checked_base(base_url or "")
    reachable.check_origins(allow_origin)
    hosts = reachable.checked_hosts(allow_host)
    limits = read_limits(server_limit)
    wire = next(one for one in WIRES if one.specversion == specversion)
    opening = Opening(
        database=db,
        id=registry_id,
        model=model,
        wire=wire,
        allow_include=allow_include,
        limits=limits,
    )
    opened = open_registry(opening)
    try:
        for note in (*opened.notes, *import_all(opened.registry, imports)):
            progress(note)
        with ExitStack() as stack:
            listening = stack.enter_context(listen(host, port))
            settings = ServerSettings(
                base_url=base,
                wire=wire,
                origins=allow_origin,
                hosts=reachable.reached_by(listening, hosts, host),
                limits=limits,
            )
            app = create_app(opened.registry, settings)
            served = stack.enter_context(open_access_log(app, access_log))
            reachable.warn_open(listening, "read and change everything", _ADVICE)
            url = base or address(listening)
            if output == "json":
                write_json({"url": url, "registryid": opened.id, "db": opened.database})
            else:
                click.echo(f"registry {opened.id} at {url}/")
            run(served, listening, limits=limits, counts=app.connections)
    finally:
        opened.store.close()


def _checked_base(url: str) -> str:
    """The address that clients see, without a slash at its end; it becomes part of every reply."""
    if url and not _BASE.fullmatch(url):
        raise UsageError(f"--base-url {url!r} is no address", "write it as https://HOST/PATH")
    return url.rstrip("/")
