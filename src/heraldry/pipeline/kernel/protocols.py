"""What the compiled path knows of protocols: tables of the members that metadata may have.

A member that is not in the tables, or has another form than they say, leaves its line to the judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from heraldry.pipeline.kernel.envelope import MEMBERS as EVENT_MEMBERS
from heraldry.pipeline.kernel.jit import PADDING

PROTOCOLS = ("MQTT/5.0", "MQTT/3.1.1", "KAFKA", "NATS", "HTTP", "AMQP/1.0")
"""The protocols under the names that lines give them; the place of each is its number."""

PAYLOAD = EVENT_MEMBERS.index("data")
ADDRESS, SECOND, CONTENT, NUMBER, FLAG, FORM, EXPIRY, MARKS, COLLECTED = range(
    len(EVENT_MEMBERS), len(EVENT_MEMBERS) + 9
)
"""Where the members of a message stand: first those of an event, named values from COLLECTED on."""

NAMED_THERE, MORE_ATTRIBUTES, EXTENDED = 1, 2, 4
"""Of a message, in place of the length of MARKS: it has named values; attributes that have no
place; extension attributes that have one."""

TEXT, TOPIC, SUBJECT, PATH, METHOD, WHOLE, TRUTH, NAMED = range(8)
"""The forms of a member; TOPIC, SUBJECT and PATH are texts that the protocol restricts."""

AT, SIZE, SLOT, FORMS, LIMIT, FIRST, LAST, PREFIX, PREFIX_SIZE, FLAGS = range(10)
"""The columns of a member: its name, its place and form, and the names in a collection."""

TOKENS, OBJECT, CLOSED, FOLDED, SIMPLE, ESCAPED = 1, 2, 4, 8, 16, 32
"""Of a collection: names of letters, never a list, no other names, a prefix in any case; every
name of small letters and digits is an attribute; a percent sign in an attribute is an escape."""

LEAVE = -1
"""The place of named values that leave a line to the judge."""

MOST_NAMES = 24
"""So many named values of one protocol have places."""


class Member(NamedTuple):
    """One member of the metadata; of a collection, the names that mean something to all."""

    name: str
    slot: int
    form: int
    limit: int = 0
    prefix: str = ""
    flags: int = 0
    special: Mapping[str, int] = {}
    attributes: tuple[str, ...] = ()
    """What stands before the names of attributes, in one spelling or several."""


_TYPE = {"content-type": CONTENT}
_TEXTS = ("to", "subject", "reply-to", "group-id", "reply-to-group-id")
_MQTT = (
    Member("topic_name", ADDRESS, TOPIC),
    Member("qos", NUMBER, WHOLE, 2),
    Member("retain", FLAG, TRUTH),
)
MEMBERS: dict[str, tuple[Member, ...]] = {
    "MQTT/5.0": (
        *_MQTT,
        Member("payload_format", FORM, WHOLE, 1),
        Member("message_expiry_interval", EXPIRY, WHOLE, 2**32 - 1),
        Member("response_topic", SECOND, TOPIC),
        Member("content_type", CONTENT, TEXT),
        Member("user_properties", LEAVE, NAMED, flags=SIMPLE, attributes=("",)),
    ),
    "MQTT/3.1.1": _MQTT,
    "KAFKA": (
        Member("topic", ADDRESS, TEXT),
        Member("partition", NUMBER, WHOLE, 2**31 - 1),
        Member("key", SECOND, TEXT),
        Member("headers", LEAVE, NAMED, prefix="ce_", special=_TYPE, attributes=("ce_",)),
    ),
    "NATS": (
        Member("subject", ADDRESS, SUBJECT),
        Member("reply-to", SECOND, SUBJECT),
        Member(
            "headers",
            LEAVE,
            NAMED,
            prefix="ce-",
            flags=TOKENS | FOLDED | ESCAPED,
            # Only here has the type of an event's data a name of its own.
            special={**_TYPE, "ce-datacontenttype": EVENT_MEMBERS.index("datacontenttype")},
            attributes=("ce-",),
        ),
    ),
    "HTTP": (
        Member("method", SECOND, METHOD),
        Member("path", ADDRESS, PATH),
        Member("query", LEAVE, NAMED),
        Member(
            "headers",
            LEAVE,
            NAMED,
            prefix="ce-",
            flags=TOKENS | FOLDED | ESCAPED,
            special={**_TYPE, "content-encoding": LEAVE},
            attributes=("ce-",),
        ),
    ),
    "AMQP/1.0": (
        Member("properties", LEAVE, NAMED, flags=OBJECT | CLOSED, special=_TYPE),
        Member(
            "application-properties",
            LEAVE,
            NAMED,
            prefix="cloudEvents",
            flags=OBJECT,
            attributes=("cloudEvents_", "cloudEvents:"),
        ),
    ),
}
SEPARATORS = {"MQTT/5.0": "/", "MQTT/3.1.1": "/", "NATS": ".", "HTTP": "/"}
"""Protocols whose addresses have segments."""

ADDRESSES: dict[str, tuple[str, str | None]] = {
    **{name: (members[0].name, None) for name, members in MEMBERS.items()},
    "HTTP": ("path", None),
    "AMQP/1.0": ("properties", "to"),
}
"""What tells the definitions of a protocol apart: a member, or a named value in one."""

EVENT_TYPES = (
    "application/cloudevents+json",
    "application/cloudevents+json; charset=utf-8",
    "application/cloudevents+json; charset=UTF-8",
    "application/cloudevents+json;charset=utf-8",
)
"""The content types by which a payload is taken for an event; the judge knows more spellings."""


class Tables(NamedTuple):
    """What the compiled function reads of the protocols."""

    members: Any
    bounds: Any
    named: Any
    words: Any
    texts: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The tables, and where the named values of definitions stand: (protocol, member, name).

    ``extensions`` are the attributes beyond those of the specification that have places.
    """

    tables: Tables
    slots: Mapping[tuple[str, str, str], int]
    extensions: Mapping[str, int]
    count: int


class _Texts:
    def __init__(self) -> None:
        self._whole = bytearray()

    def add(self, text: str) -> tuple[int, int]:
        place = len(self._whole)
        self._whole += text.encode()
        return place, len(text.encode())

    @property
    def array(self) -> Any:
        return np.frombuffer(bytes(self._whole) + bytes(PADDING), np.uint8).copy()


def places(
    wanted: Mapping[str, Iterable[tuple[str, str]]], extensions: Iterable[str] = ()
) -> Places:
    """The tables, with a place for the named values (member, name) that each protocol wants."""
    more = {name: slot for slot, name in enumerate(extensions, COLLECTED)}
    texts = _Texts()
    words = [texts.add(f'{word}"') for word in ("protocol", "metadata", "payload", "name", "value")]
    words += [texts.add(f'{name}"') for name in PROTOCOLS]
    words += [texts.add("application/json"), texts.add("specversion")]
    words += [texts.add(kind) for kind in EVENT_TYPES]
    rows: list[list[int]] = []
    named: list[list[int]] = []
    bounds = [0]
    slots: dict[tuple[str, str, str], int] = {}
    for protocol in PROTOCOLS:
        asked = dict.fromkeys(wanted.get(protocol, ()))
        if protocol == "AMQP/1.0":
            asked |= dict.fromkeys(("properties", name) for name in _TEXTS)
        free = COLLECTED + len(more)
        for member in MEMBERS[protocol]:
            first = len(named)
            names = dict(member.special)
            for _, name in (pair for pair in asked if pair[0] == member.name):
                if name not in names and len(asked) <= MOST_NAMES and _is_plain(member, name):
                    names[name] = slots[protocol, member.name, name] = free
                    free += 1
            fold = bool(member.flags & FOLDED)
            for name, slot in _attributes(member, more):
                named.append([*texts.add(name), slot, fold, True])
            for name, slot in names.items():
                # Only HTTP takes headers of any case for the same; NATS does so for its own.
                any_case = fold and (protocol == "HTTP" or name in member.special)
                named.append([*texts.add(name), slot, any_case, 0 <= slot < len(EVENT_MEMBERS)])
            rows.append(
                [
                    *texts.add(f'{member.name}"'),
                    *(member.slot, member.form, member.limit, first, len(named)),
                    *(*texts.add(member.prefix), member.flags),
                ]
            )
        bounds.append(len(rows))
    tables = Tables(
        members=np.array(rows, np.int64),
        bounds=np.array(bounds, np.int64),
        named=np.array(named, np.int64),
        words=np.array(words, np.int64),
        texts=texts.array,
    )
    last = max([COLLECTED - 1, *more.values(), *slots.values()])
    return Places(tables=tables, slots=slots, extensions=more, count=last + 1)


def _attributes(member: Member, extensions: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """The names that attributes have in a collection, and their places."""
    # Elsewhere than by these two names an event says what its data is.
    own = {n: slot for slot, n in enumerate(EVENT_MEMBERS) if n not in ("datacontenttype", "data")}
    for prefix in member.attributes:
        yield from ((prefix + name, slot) for name, slot in {**own, **extensions}.items())


def _is_plain(member: Member, name: str) -> bool:
    """Whether a name can stand in a line as it is, for a value that is a text."""
    if member.flags & CLOSED and name not in _TEXTS:
        return False
    prefixed = member.prefix and name.lower().startswith(member.prefix.lower())
    return name.isascii() and name.isprintable() and not prefixed and not {'"', "\\"} & set(name)
