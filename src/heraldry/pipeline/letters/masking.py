"""Masking: what dead letters must not show is taken out before they are written.

masker = Masker.of(["/data/customer/email", "*password*"])
masker.letter(letter)                  # the same letter, with *** where a rule fits
"""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

import msgspec

from heraldry.errors import MessageError, UsageError
from heraldry.messages.line import MAX_LINE
from heraldry.messages.values import decode_base64
from heraldry.pipeline.letters.contents import PAYLOADS, Contents, is_unreadable, spellings
from heraldry.pipeline.letters.json_spans import Node, spans
from heraldry.schemas.parse import parse

MASK = "***"
_NEVER_IN_EVENTS = ("metadata", "protocol")
_METADATA = ("metadata", "*")
_CUT = "…"
_WORD = 4
"""Shorter secrets are only sought in what a message held, not in our own sentences."""

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
            return found | _withheld(line) | _scrubbed(letter, Secrets(blind=True))
        contents = Contents.of(root)
        hidden = _outermost(self._hidden(root, contents))
        if not hidden:
            return found
        found["line"] = _replaced(line, hidden)
        found["masked"] = True
        return found | _scrubbed(letter, Secrets.of(line, contents, hidden))

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """What was masked, as the reasons could quote it.

    ``blind``: a payload was withheld, and nobody knows which parts of it the reasons quote;
    ``clear`` are the beginnings of the paths of reasons that are not about that payload.
    """

    texts: frozenset[str] = frozenset()
    blind: bool = False
    clear: tuple[str, ...] = ()

    @classmethod
    def of(cls, line: bytes, contents: Contents, hidden: Iterable[Node]) -> Secrets:
        """The texts of masked values and of all that is in them."""
        texts: set[str] = set()
        blind = False
        unseen = sorted(one.start for one in contents.opaque)
        for node in hidden:
            blind = blind or (node.is_text and node.parent is None)
            blind = blind or bisect_left(unseen, node.start) < bisect_left(unseen, node.end)
            for leaf in node.leaves():
                texts.update(_forms(line[leaf.start : leaf.end]))
        # What an unseen event says of itself is withheld with it.
        known = () if contents.sealed else ("content_type",)
        clear = ("metadata.", *known, *(("attributes.",) if contents.shows_attributes else ()))
        return cls(texts=frozenset(filter(None, texts)), blind=blind, clear=clear)

    def value(self, text: str | None, path: str) -> str | None:
        """What a message held, or a mask where it could be a secret or a part of one."""
        if text is None:
            return None
        if self.blind and not path.startswith(self.clear):
            return MASK
        return MASK if any(_overlap(text, secret) for secret in self.texts) else text

    def place(self, path: str) -> str:
        """Where a reason stands; of a line that was withheld it may be a record as a text."""
        if self.blind and not self.clear:
            return path if path == "/" else MASK
        return self.sentence(path)

    def sentence(self, text: str) -> str:
        """Our own words, which should hold no value; one that is there goes out."""
        for secret in sorted(self.texts, key=len, reverse=True):
            if len(secret) >= _WORD:
                text = text.replace(secret, MASK)
        return text

    def problem(self, problem: Mapping[str, Any]) -> dict[str, Any]:
        """A reason without secrets."""
        path = problem["path"]
        return {
            **problem,
            "path": self.place(path),
            "message": self.sentence(problem["message"]),
            "expected": self.value(problem.get("expected"), path),
            "found": self.value(problem.get("found"), path),
        }


def _scrubbed(letter: Mapping[str, Any], secrets: Secrets) -> dict[str, Any]:
    """The members of a letter that tell the reasons."""
    problems = [secrets.problem(one) for one in msgspec.json.decode(letter["problems"])]
    near = [
        {**one, "problems": [secrets.problem(problem) for problem in one["problems"]]}
        for one in msgspec.json.decode(letter["near"])
    ]
    return secrets.problem({name: letter[name] for name in _REASON}) | {
        "problems": msgspec.json.encode(problems).decode(),
        "near": msgspec.json.encode(near).decode(),
    }


_REASON = ("path", "message", "expected", "found")


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


def _forms(raw: bytes) -> Iterator[str]:
    """How a value may be quoted: as it came, decoded, encoded again, without percent signs."""
    text = raw.decode()
    if not text.startswith('"'):
        if text not in ("null", "true", "false"):
            yield text
            yield msgspec.json.encode(parse(raw)).decode()
        return
    value: str = parse(raw)
    yield text[1:-1]
    yield value
    yield msgspec.json.encode(value).decode()[1:-1]
    yield json.dumps(value)[1:-1]
    yield unquote(value)
    if (data := decode_base64(value)) is not None:
        yield data.decode(errors="ignore")


def _overlap(text: str, secret: str) -> bool:
    """Whether a text holds a secret, is a part of one, or was cut within one."""
    if secret in text or (text and text.strip('"') and text.strip('"') in secret):
        return True
    if not text.endswith(_CUT):
        return False
    shown = text.removesuffix(_CUT)
    longest = min(len(shown), len(secret))
    return any(shown.endswith(secret[:size]) for size in range(longest, 0, -1))


@lru_cache(maxsize=64)
def _pattern(names: tuple[str, ...]) -> Any:
    return re.compile("|".join(translate(name) for name in names)).match
