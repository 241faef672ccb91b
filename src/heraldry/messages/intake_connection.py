"""How an endpoint is connected to for intake: so that the server keeps what is not durable yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from heraldry.errors import UsageError
from heraldry.messages.source_url import normal_source
from heraldry.messages.transports.transport import Connection
from heraldry.model.endpoint import Endpoint
from heraldry.model.formats import protocol_family

OPTIONS: Mapping[str, tuple[str, ...]] = {
    "MQTT": (
        *("version", "clientid", "cleansession", "sessionexpiryinterval"),
        *("sharedsubscriptiongroup", "retainhandling"),
    ),
    "AMQP": (),
    "NATS": ("queuegroup",),
    "HTTP": (),
}
"""The protocols that are taken in, and which options of each can be set from outside."""

_CLEAN = {"MQTT": ("cleansession", "cleanstart")}
"""What an endpoint says for its publishers, or a registry wrote as the default of its model."""

_PLACES = {
    "MQTT": ("topicfilter", "topic"),
    "AMQP": ("node",),
    "NATS": ("subjectfilter", "subject"),
}


def intake_endpoint(
    endpoint: Endpoint, options: Mapping[str, str], also: tuple[str, ...] = ()
) -> Endpoint:
    """An endpoint with options set from outside; UsageError for what it does not have.

    ``also`` are those that its user has, told to who asks for another. Only from outside a
    session of MQTT is made a clean one: it would lose what is not durable yet.
    What can be read again by itself is refused: a raw log would only make it slower.
    """
    family = protocol_family(endpoint.protocol)[0]
    if family not in OPTIONS or (family == "NATS" and endpoint.option("stream")):
        told = f"{intake_name(endpoint)} needs no intake: it can be read again"
        raise UsageError(told, "name it directly: heraldry land --from URL")
    for name in options:
        if name not in OPTIONS[family]:
            known = ", ".join((*OPTIONS[family], *also))
            has = f"it has {known}" if known else "it takes none"
            raise UsageError(f"the source has no option {name!r}", has)
    protocol = endpoint.protocol
    if "version" in options:
        protocol = f"{family}/{options['version']}"
    own = {name: value for name, value in options.items() if name != "version"}
    said = {n: one for n, one in endpoint.options.items() if n not in _CLEAN.get(family, ())}
    return replace(endpoint, protocol=protocol, options={**said, **own})


def intake_connection(endpoint: Endpoint, name: str) -> Connection:
    """A consumer of what :func:`intake_endpoint` made; ``name`` is that of the log.

    MQTT: the broker keeps the session, under a client id that is the log's own, unless another
    was asked for; it sends with QoS 1, because QoS 2 is over before a message is
    durable here. Retained messages come with a subscription that is new, and not with every
    connection, which 3.1.1 cannot ask for.

    AMQP: the server sends unsettled, whatever the endpoint says, because what is settled when it
    is sent is gone before it is durable here; and it moves messages, because copies stay and
    would be taken in again by every connection.
    """
    options, (family, version) = endpoint.options, protocol_family(endpoint.protocol)
    if family == "MQTT":
        own: dict[str, Any] = {"clientid": f"heraldry-{name}", "cleansession": False}
        if version == "5.0":
            own["retainhandling"] = 1
        options = own | {**options, "qos": 1}
    elif family == "AMQP":
        options = {**options, "sendersettlemode": "unsettled", "distributionmode": "move"}
    return Connection(endpoint=replace(endpoint, options=options), usage="consumer")


def intake_name(endpoint: Endpoint) -> str:
    """What rows say they came from: the address with what is asked for there, and no credential.

    It is spelled in one way, because a log takes messages from one source only.
    """
    family = protocol_family(endpoint.protocol)[0]
    address = endpoint.addresses[0] if endpoint.addresses else str(endpoint.xid)
    scheme, found, rest = address.partition("://")
    parts = urlsplit(f"//{rest if found else address}")
    path = parts.path.strip("/")
    for option in _PLACES.get(family, ()):
        given = endpoint.option(option)
        if isinstance(given, str) and given:
            path = given
            break
    host = parts.netloc.rpartition("@")[2]
    named = f"{scheme if found else family.lower()}://{host}" + (f"/{path}" if path else "")
    return normal_source(named)
