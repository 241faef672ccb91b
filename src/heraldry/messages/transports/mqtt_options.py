"""Options of MQTT endpoints: what a session, a subscription and a will are made of (R77..R83)."""

from __future__ import annotations

from dataclasses import dataclass

from heraldry.errors import TemplateError, TransportError
from heraldry.messages.protocols.mqtt import VERSIONS, MqttPublish
from heraldry.messages.template import Template
from heraldry.messages.transports.address import filled
from heraldry.messages.transports.options import flag, text, whole
from heraldry.messages.transports.transport import Connection
from heraldry.model.formats import protocol_family

FOREVER = 0xFFFFFFFF
"""A session expiry interval that means never."""

_ONLY_5 = (
    "cleanstart",
    "sessionexpiryinterval",
    "sharedsubscriptiongroup",
    "nolocal",
    "retainaspublished",
    "retainhandling",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What the broker keeps of a client: ``expiry`` in seconds, 0 where the client's end is its."""

    version: str
    client_id: str
    clean: bool
    expiry: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """What a consumer asks the broker for."""

    topic_filter: str
    qos: int
    no_local: bool
    retain_as_published: bool
    retain_handling: int


def session_of(connection: Connection) -> Session:
    """The session of an endpoint: clean and without a name, unless its options want it kept.

    ``cleansession`` false in 5.0 is ``cleanstart`` false and no expiry, as that specification
    has it. A session that is kept needs a client id that stays the same.
    """
    name, version = protocol_family(connection.endpoint.protocol)
    if version not in VERSIONS:
        told = f"{name}/{version} is no version that can be spoken"
        raise _refusal(connection, told, f"write MQTT/{' or MQTT/'.join(VERSIONS)}")
    if version == "3.1.1":
        for option in _ONLY_5:
            if connection.endpoint.option(option) is not None:
                told = f"the option {option} is not part of MQTT 3.1.1"
                raise _refusal(connection, told, "take it out, or make the protocol MQTT/5.0")
    clean = flag(connection, "cleansession") is not False
    expiry = 0 if clean else FOREVER
    if version == "5.0":
        start = flag(connection, "cleanstart")
        given = whole(connection, "sessionexpiryinterval", 0, FOREVER)
        clean, expiry = clean if start is None else start, expiry if given is None else given
    own = text(connection, "clientid")
    kept = f"heraldry-{connection.endpoint.xid.group}-{connection.usage}"
    client_id = filled(connection, own) if own else "" if clean and not expiry else kept
    return Session(version=version, client_id=client_id, clean=clean, expiry=expiry)


def subscription_of(connection: Connection, path: str) -> Subscription:
    """The subscription of a consumer; ``path`` is the topic that its address names (R77)."""
    group = text(connection, "sharedsubscriptiongroup")
    no_local = flag(connection, "nolocal") or False
    given = text(connection, "topicfilter") or text(connection, "topic") or path or "#"
    told = _filter(connection, given)
    if group is not None:
        group = filled(connection, group)
        if {"/", "+", "#"} & set(group):
            wrong = f"the sharedsubscriptiongroup {group!r} cannot be used"
            raise _refusal(connection, wrong, "write a name without / + # and without $share")
        if no_local:
            raise _refusal(connection, "a shared subscription has no nolocal", "take one out")
        told = f"$share/{group}/{told}"
    retained = flag(connection, "retainaspublished")
    return Subscription(
        topic_filter=told,
        qos=whole(connection, "qos", 0, 2) or 2,
        no_local=no_local,
        retain_as_published=retained is not False,
        retain_handling=whole(connection, "retainhandling", 0, 2) or 0,
    )


def will_of(connection: Connection) -> MqttPublish | None:
    """What the broker publishes where a producer is gone without a word (R82, R83)."""
    if connection.usage != "producer":
        return None
    topic, reference = text(connection, "willtopic"), text(connection, "willmessage")
    if connection.will is None:
        if topic is None and reference is None:
            return None
        told = "the endpoint names a will, but there is no message for it"
        raise _refusal(connection, told, f"build {reference or 'one'} and give it as will=")
    if topic is None and connection.will.topic_name is None:
        raise _refusal(connection, "the will has no topic", "set willtopic, or its topic_name")
    return connection.will


def _filter(connection: Connection, given: str) -> str:
    """A topic filter; a level whose placeholder has no value is one that may be anything."""
    try:
        levels = [Template.parse(level, None) for level in given.split("/")]
    except TemplateError as error:
        raise _refusal(connection, str(error), "correct the topicfilter or topic") from None
    values = connection.values
    return "/".join(
        level.expand(values, raw=True) if all(map(values.get, level.placeholders)) else "+"
        for level in levels
    )


def _refusal(connection: Connection, told: str, advice: str) -> TransportError:
    return TransportError(str(connection.endpoint.xid), told, advice)
