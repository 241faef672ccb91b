"""Masking: what dead letters must not show is taken out before they are written.

masker = Masker.of(["/data/customer/email", "*password*"])
masker.letter(letter)                  # the same letter, with *** where a rule fits
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from typing import Any

from heraldry.errors import MessageError, UsageError
from heraldry.messages.line import MAX_LINE
from heraldry.pipeline.letters.contents import PAYLOADS, Contents, is_unreadable, spellings
from heraldry.pipeline.letters.json_spans import Node, spans
from heraldry.pipeline.letters.places import MASK
from heraldry.pipeline.letters.reasons import WITHHELD, Secrets, scrubbed
from heraldry.schemas.parse import parse

_NEVER_IN_EVENTS = ("metadata", "protocol")
_METADATA = ("metadata", "*")

Steps = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Masker:
    """Rules of masking: pointers into the line, and names of members wherever they stand.

    A rule that begins with ``/`` is a JSON pointer, with ``*`` for any one step; ``/data`` and
    ``/payload`` are the same place, in the line and in an event that is its payload. Any other
    rule is a pattern (``*``, ``?``) for the names of members. Case does not count. What a rule
    cannot look into (a payload in base64, a text where an object was to be, a line that is no
    JSON or tells of a record as a text) is masked whole: nothing is shown by mistake.
    """

    pointers: tuple[Steps, ...] = ()
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, rules: Iterable[str]) -> Masker:
        """The masker of some rules; UsageError for a rule that could fit nothing."""
        pointers, names = [], []
        for rule in rules:
            if rule.startswith("/"):
                pointers.append(_steps(rule))
            elif "/" in rule:
                raise UsageError(f"{rule!r} is neither a pointer nor a name", f"write /{rule}")
            elif rule.strip():
                names.append(rule.strip().lower())
            else:
                raise UsageError("a masking rule is empty", "such as /data/email or *password*")
        return cls(tuple(pointers), tuple(names))

    def __bool__(self) -> bool:
        return bool(self.pointers or self.names)

    def letter(self, letter: Mapping[str, Any]) -> dict[str, Any]:
        """A letter without what the rules name; ``masked`` says whether anything was taken out."""
        found = dict(letter)
        found["masked"] = False
        if not self:
            return found
        line: bytes = letter["line"]
        root = _root(line)
        if root is None or is_unreadable(root):
            return found | _withheld(line) | scrubbed(letter, WITHHELD)
        contents = Contents.of(root)
        hidden = _outermost(self._hidden(root, contents))
        if not hidden:
            return found
        found["line"] = _replaced(line, hidden)
        found["masked"] = True
        return found | scrubbed(letter, Secrets.of(line, contents, hidden))

    def _hidden(self, root: Node, contents: Contents) -> Iterator[Node]:
        """The values to be masked; some may stand within others."""
        for start, steps in self._starts(contents):
            yield from _follow(start, steps, contents.payloads)
        if any(steps[0] in _METADATA for steps in self.pointers):
            yield from contents.told
        if self.names:
            yield from self._named(root, contents.opaque)

    def _starts(self, contents: Contents) -> Iterator[tuple[Node, Steps]]:
        """Where pointers begin: at the messages, and at a payload that may be an event, unseen."""
        for steps in self.pointers:
            for message in contents.messages:
                yield message, steps
            if steps[0] not in _NEVER_IN_EVENTS:
                for payload in contents.sealed:
                    yield payload, steps

    def _named(self, root: Node, opaque: frozenset[Node]) -> Iterator[Node]:
        """Members with a name that fits, and texts that no name can be seen in."""
        fits = _pattern(self.names)
        todo = [root]
        while todo:
            node = todo.pop()
            if node in opaque or (node.is_text and node.parent is None):
                yield node
            for child in node.children:
                if any(fits(name) for name in spellings(child)):
                    yield child
                    continue
                yield from (value for name, value in child.named_values() if fits(name.lower()))
                todo.append(child)


def _withheld(line: bytes) -> dict[str, Any]:
    """What stands for a line that no rule can look into: its length and its digest."""
    told = {"withheld": {"bytes": len(line), "sha256": hashlib.sha256(line).hexdigest()}}
    return {"line": json.dumps(told).encode(), "masked": True}


def _root(line: bytes) -> Node | None:
    """The values of a line with their places, or None where it is not JSON."""
    if len(line) > MAX_LINE:
        return None
    try:
        parse(line)
    except MessageError:
        return None
    return spans(line)


def _steps(rule: str) -> Steps:
    parts = rule[1:].lower().split("/")
    if any(part == "" for part in parts) or re.search(r"~(?![01])", rule):
        raise UsageError(f"{rule!r} is no JSON pointer to a member", "such as /data/email")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)


def _follow(start: Node, steps: Steps, payloads: frozenset[Node]) -> Iterator[Node]:
    """The values a pointer leads to; and a text that stands where it would have to go on."""
    todo = [(start, steps)]
    while todo:
        node, left = todo.pop()
        if not left or node.is_text or node.is_number or node.is_bytes:
            yield node
            continue
        todo += _step(node, left, payloads)


def _step(node: Node, left: Steps, payloads: frozenset[Node]) -> Iterator[tuple[Node, Steps]]:
    """One step on; a list that a name meets is looked through, and as one of named values, too."""
    name = left[0]
    for number, child in enumerate(node.children):
        if node.is_list and name != "*" and not name.isdigit():
            yield child, left
        elif name == "*" or (name == str(number) if node.is_list else _same(name, child, payloads)):
            yield child, left[1:]
        for given, value in child.named_values():
            if given.lower() == name:
                yield value, left[1:]


def _same(name: str, child: Node, payloads: frozenset[Node]) -> bool:
    wanted = PAYLOADS if name in PAYLOADS and child in payloads else (name,)
    return any(spelling in wanted for spelling in spellings(child))


def _outermost(nodes: Iterable[Node]) -> list[Node]:
    """Values in their order, without those within others."""
    found: list[Node] = []
    for node in sorted(nodes, key=lambda node: (node.start, -node.end)):
        if not found or node.start >= found[-1].end:
            found.append(node)
    return found


def _replaced(line: bytes, hidden: Iterable[Node]) -> bytes:
    """The line with a mask for every value; the rest is as it came."""
    parts, at = [], 0
    for node in hidden:
        parts += [line[at : node.start], b'"' + MASK.encode() + b'"']
        at = node.end
    return b"".join((*parts, line[at:]))


@lru_cache(maxsize=64)
def _pattern(names: tuple[str, ...]) -> Any:
    return re.compile("|".join(translate(name) for name in names)).match
