"""The reasons of a masked letter: what quotes a masked value goes out of them, too."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import msgspec

from heraldry.errors import MessageError
from heraldry.messages.envelopes import header_text
from heraldry.messages.values import decode_base64
from heraldry.pipeline.letters.contents import Contents
from heraldry.pipeline.letters.json_spans import Node
from heraldry.pipeline.letters.places import MASK, Places, attribute
from heraldry.schemas.parse import parse

_CUT = "…"
_WORD = 4
"""Shorter secrets are only sought in what a message held, not in our own sentences."""
_AROUND = ("{", "[")
"""How the quote of an object or a list begins."""
_REASON = ("path", "message", "expected", "found")


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """What was masked, as the reasons could quote it.

    ``texts`` are the masked values, ``words`` what else a quoted object tells of them: names, and
    ``true``. ``blind``: a payload was withheld, and nobody knows which parts of it the reasons
    quote; ``clear`` are the beginnings of the paths of reasons that are not about that payload.
    Without ``places`` the whole line was withheld.
    """

    texts: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    places: Places | None = None
    blind: bool = False
    clear: tuple[str, ...] = ()

    @classmethod
    def of(cls, line: bytes, contents: Contents, hidden: Iterable[Node]) -> Secrets:
        """The texts of masked values and of all that is in them."""
        texts: set[str] = set()
        words: set[str] = set()
        names: set[str] = set()
        blind = False
        masked = tuple(hidden)
        unseen = sorted(one.start for one in contents.opaque)
        for node in masked:
            blind = blind or (node.is_text and node.parent is None)
            blind = blind or bisect_left(unseen, node.start) < bisect_left(unseen, node.end)
            names.update(one.name for one in node.within() if one.name is not None)
            for leaf in node.leaves():
                kind = texts if leaf.is_text or leaf.is_number else words
                kind.update(_forms(line[leaf.start : leaf.end]))
        words.update(form for name in names for form in _quoted(name))
        # What an unseen event says of itself is withheld with it.
        known = () if contents.sealed else ("content_type",)
        return cls(
            texts=frozenset(filter(None, texts)),
            words=frozenset(words),
            places=Places(contents=contents, hidden=frozenset(masked), names=frozenset(names)),
            blind=blind,
            clear=("metadata.", *known, *(("attributes.",) if contents.shows_attributes else ())),
        )

    def problem(self, problem: Mapping[str, Any]) -> dict[str, Any]:
        """A reason without secrets."""
        path, hidden = self._place(problem["path"])
        return {
            **problem,
            "path": self._sentence(path),
            "message": self._sentence(problem["message"]),
            "expected": self._value(problem.get("expected"), hidden),
            "found": self._found(problem.get("found"), hidden),
        }

    def _place(self, path: str) -> tuple[str, bool]:
        """The path of a reason without secrets, and whether what stands there was masked."""
        if self.places is None:
            return (path if path == "/" else MASK), True
        if not self.blind or path.startswith(self.clear):
            return self.places.shown(path)
        if path.startswith("/"):
            return "/", True
        return (attribute(path) if path.startswith("attributes.") else path), True

    def _value(self, text: str | None, hidden: bool) -> str | None:
        """A text of a reason, or a mask where it could be a secret or a part of one."""
        if text is None:
            return None
        return MASK if hidden or any(_overlap(text, one) for one in self.texts) else text

    def _found(self, text: str | None, hidden: bool) -> str | None:
        """What a message held. Names and ``true`` tell of a masked value only from around it."""
        if text is not None and text.startswith(_AROUND):
            hidden = hidden or any(_quotes(text, one) for one in self.words)
        return self._value(text, hidden)

    def _sentence(self, text: str) -> str:
        """Our own words, which should hold no value; one that is there goes out."""
        for secret in sorted(self.texts, key=len, reverse=True):
            if len(secret) >= _WORD:
                text = text.replace(secret, MASK)
        return text


WITHHELD = Secrets()
"""Of a line that no rule can look into, anything may be a secret."""


def scrubbed(letter: Mapping[str, Any], secrets: Secrets) -> dict[str, Any]:
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


def _forms(raw: bytes) -> Iterator[str]:
    """How a value may be quoted: as it came, decoded, encoded again, as the text of a header."""
    text = raw.decode()
    if not text.startswith('"'):
        yield text
        yield msgspec.json.encode(parse(raw)).decode()
        return
    value: str = parse(raw)
    yield text[1:-1]
    for form in {value, unquote(value), _header(value)}:
        yield form
        yield from (one[1:-1] for one in _quoted(form))
    if (data := decode_base64(value)) is not None:
        yield data.decode(errors="ignore")


def _quoted(text: str) -> tuple[str, str]:
    """A text as JSON, with and without characters beyond ASCII."""
    return msgspec.json.encode(text).decode(), json.dumps(text)


def _header(text: str) -> str:
    """The attribute that a header of HTTP or NATS stands for."""
    try:
        return header_text.read("", text)
    except MessageError:
        return text


def _overlap(text: str, secret: str) -> bool:
    """Whether a text quotes a secret, or is a part of one."""
    part = text.strip('"')
    return bool(part and part in secret) or _quotes(text, secret)


def _quotes(text: str, secret: str) -> bool:
    """Whether a text holds a secret, or was cut within one."""
    if secret in text or not text.endswith(_CUT):
        return secret in text
    shown = text.removesuffix(_CUT)
    longest = min(len(shown), len(secret))
    return any(shown.endswith(secret[:size]) for size in range(longest, 0, -1))
