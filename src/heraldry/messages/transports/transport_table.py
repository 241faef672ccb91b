"""The table of transports: which module connects to which protocol, imported when asked for."""

from __future__ import annotations

from importlib import import_module

from heraldry.errors import MissingExtraError, TransportError
from heraldry.messages.transports.transport import Connection, Transport
from heraldry.model.formats import protocol_family

# Family, module, and the extra with what it installs; HTTP needs none.
_MODULES: dict[str, tuple[str, str, frozenset[str]]] = {
    "HTTP": ("http", "", frozenset()),
    "KAFKA": ("kafka", "kafka", frozenset(("confluent_kafka",))),
    "MQTT": ("mqtt", "mqtt", frozenset(("paho",))),
    "AMQP": ("amqp", "amqp", frozenset(("proton", "cproton"))),
    "NATS": ("nats", "nats", frozenset(("nats",))),
}


def open_transport(connection: Connection) -> Transport:
    """The transport of an endpoint, not yet connected; MissingExtraError names what is missing."""
    family = protocol_family(connection.endpoint.protocol)[0]
    if family not in _MODULES:
        told = f"messages cannot be sent over {connection.endpoint.protocol!r}"
        known = ", ".join(_MODULES)
        raise TransportError(str(connection.endpoint.xid), told, f"known are {known}")
    name, extra, needed = _MODULES[family]
    try:
        module = import_module(f"heraldry.messages.transports.{name}")
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in needed:
            raise
        raise MissingExtraError(extra, missing) from None
    transport: Transport = module.connect(connection)
    return transport
