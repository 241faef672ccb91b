"""What a line holds: its messages, an event that a protocol carries among them, and payloads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from heraldry.messages.envelopes import event_formats
from heraldry.messages.values import decode_base64
from heraldry.pipeline.letters.json_spans import Node

PAYLOADS = ("data", "payload")
_SPECVERSION = "specversion"
_UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The places of a line that rules of masking know of.

    ``messages`` are objects with members of a message: the line, each of a list, and events that
    are the payload of another. No name can be seen in an ``opaque`` payload, nor in metadata
    that are ``told`` as a text because JSON cannot say them; a payload that is ``sealed`` is or
    may be an event.
    """

    messages: tuple[Node, ...]
    payloads: frozenset[Node]
    opaque: frozenset[Node]
    sealed: tuple[Node, ...]
    told: tuple[Node, ...]

    @classmethod
    def of(cls, root: Node) -> Contents:
        """The contents of a line by its values."""
        lines = (root, *(one for one in _elements(root) if one.kind == "{"))
        outer = [found for line in lines for found in _members(line, PAYLOADS)]
        carried = [
            (found, named)
            for line in lines
            for named in (_names_events(line),)
            for found in _members(line, PAYLOADS[1:])
        ]
        events = [event for found, named in carried for event in _events(found, named=named)]
        inner = [found for event in events for found in _members(event, PAYLOADS)]
        payloads = frozenset((*outer, *inner))
        told = tuple(found for line in lines for found in _told(line))
        return cls(
            messages=(*lines, *events),
            payloads=payloads,
            opaque=frozenset((*(found for found in payloads if _is_opaque(found)), *told)),
            sealed=tuple(found for found, named in carried if _is_sealed(found, named=named)),
            told=told,
        )

    @property
    def shows_attributes(self) -> bool:
        """Whether the attributes of events stand in the line for all to see."""
        return not self.sealed and any(_is_event(message) for message in self.messages)


def is_unreadable(line: Node) -> bool:
    """Whether a line only tells of what it should hold, as :func:`heraldry.messages.line.read`."""
    names = {child.name for child in line.children}
    return _UNREADABLE in names and not names & {_SPECVERSION, "protocol"}


def spellings(child: Node) -> tuple[str, ...]:
    """The names of a member: ``data_base64`` is ``data`` too, and so with all that are encoded."""
    if child.name is None:
        return ()
    name = child.name.lower()
    for ending in ("_base64", "_text"):
        if name.endswith(ending):
            return name, name.removesuffix(ending)
    return (name,)


def _members(node: Node, names: tuple[str, ...]) -> Iterator[Node]:
    """The members with one of some names, however spelled; of equal names all."""
    for child in node.children:
        if any(name in names for name in spellings(child)):
            yield child


def _told(line: Node) -> Iterator[Node]:
    """The text that stands for metadata, as :mod:`heraldry.messages.raw_line` writes it."""
    for metadata in _members(line, ("metadata",)):
        yield from (found for found in _members(metadata, (_UNREADABLE,)) if found.is_text)


def _elements(node: Node) -> list[Node]:
    return node.children if node.is_list else []


def _events(payload: Node, *, named: bool) -> Iterator[Node]:
    """The events that are a payload, or the elements of one; ``named``: its type says so."""
    for node in (payload, *_elements(payload)):
        if node.kind == "{" and (named or _is_event(node)):
            yield node


def _is_event(node: Node) -> bool:
    return any(_members(node, (_SPECVERSION,)))


def _names_events(line: Node) -> bool:
    """Whether the metadata name the content type of an event, whatever a protocol calls it."""
    leaves = (leaf for node in _members(line, ("metadata",)) for leaf in node.leaves())
    return any(event_formats.is_named(text) for leaf in leaves for text in _texts(leaf))


def _is_opaque(payload: Node) -> bool:
    """Whether it is encoded or a text; by its name it may be, whatever is there instead."""
    return payload.is_text or payload.is_bytes or len(spellings(payload)) > 1


def _is_sealed(payload: Node, *, named: bool) -> bool:
    """Whether an event may be in an encoded payload, or in one that is a text."""
    if not (payload.is_text or payload.is_bytes):
        return False
    texts = (text for leaf in payload.leaves() for text in _texts(leaf))
    return named or any(_SPECVERSION in text for text in texts)


def _texts(leaf: Node) -> Iterator[str]:
    """A text, and what it says where it is base64."""
    if leaf.text is not None:
        yield leaf.text
        if (data := decode_base64(leaf.text)) is not None:
            yield data.decode(errors="ignore")
