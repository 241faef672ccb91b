"""Where `heraldry intake` takes messages from: a URL, or an endpoint of a catalog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from heraldry.cli.landing import source_options
from heraldry.cli.opening import catalogs
from heraldry.errors import UsageError

if TYPE_CHECKING:
    from heraldry.model.endpoint import Endpoint

_ENDPOINT = "endpoint:"
_OF_HTTP = (
    *("host", "port", "max_body", "token_env", "keep_invalid"),
    *("allow_host", "allow_origin", "access_log", "server_limit"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Where to listen for messages over HTTP; they are posted below ``path``."""

    host: str
    port: int
    path: str = ""
    names: tuple[str, ...] = ()
    """The hosts that senders know it by."""


def open_endpoint(source: str, catalog: Sequence[str], options: Sequence[str]) -> Endpoint:
    """The endpoint of a source, with its placeholders filled and its options set."""
    from heraldry.messages.intake_connection import intake_endpoint
    from heraldry.messages.source_url import completed_endpoint, endpoint_of_url
    from heraldry.model.endpoint import endpoint_of

    given = source_options(options)
    if not source.startswith(_ENDPOINT):
        refuse_catalog()
        return intake_endpoint(endpoint_of_url(source), given)
    if not catalog:
        told = f"{source} is an endpoint of a catalog"
        raise UsageError(told, "name the catalog: --catalog PATH")
    named = endpoint_of(catalogs().load(*catalog), source.removeprefix(_ENDPOINT))
    return intake_endpoint(*completed_endpoint(named, given))


def refuse_catalog() -> None:
    """UsageError for a catalog that was typed and is not looked into; a variable may hold one."""
    if _given("catalog") is ParameterSource.COMMANDLINE:
        told = "--catalog is for an endpoint of it"
        raise UsageError(told, "name the endpoint: --from endpoint:XID, or leave it out")


def refuse_http_options() -> None:
    """UsageError for what was typed for messages over HTTP, where a broker is taken from."""
    for name in _OF_HTTP:
        if _given(name) is ParameterSource.COMMANDLINE:
            told = f"--{name.replace('_', '-')} is for messages over HTTP"
            raise UsageError(told, "leave it out: these are taken from a broker")


def is_http(endpoint: Endpoint) -> bool:
    """Whether messages of an endpoint are sent to us, and not taken from a broker."""
    from heraldry.model.formats import protocol_family

    return protocol_family(endpoint.protocol)[0] == "HTTP"


def door_of(endpoint: Endpoint | None, host: str, port: int) -> Door:
    """Where to listen: at the endpoint's address, save for the host and port that were given."""
    from heraldry.messages.transports.address import addresses
    from heraldry.messages.transports.http_target import PORTS, split_address
    from heraldry.messages.transports.transport import Connection

    if endpoint is None or not endpoint.addresses:
        return Door(host=host, port=port, names=(host,))
    own = addresses(Connection(endpoint=endpoint, usage="consumer"), PORTS)[0]
    has_port = _given("port") is not ParameterSource.DEFAULT
    if own.tls and not has_port:
        told = f"{own} is reached by TLS, which is not spoken here"
        raise UsageError(told, "let a proxy speak it, and name where it sends: --host, --port")
    has_host = _given("host") is not ParameterSource.DEFAULT
    # The name of what is reached by a proxy is that of the proxy's machine.
    at = host if has_host or own.tls else own.host
    return Door(
        host=at,
        port=port if has_port else own.port,
        path=split_address(own)[0],
        names=(at, own.host),
    )


def _given(name: str) -> ParameterSource | None:
    return click.get_current_context().get_parameter_source(name)
