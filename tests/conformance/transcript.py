"""HTTP transcripts: whole requests with whole replies, written down once, played on every store.

    == GN-03 CA-01: a missing parent is created
    > PUT /dirs/d1/files/f1$details
    {}
    < 201
    < Location: @base@/dirs/d1/files/f1$details
    {"fileid": "f1", "createdat": "@t1@", "modifiedat": "@t1@", "@ancestor@": "1"}

A case begins with the requirements it covers, if any, and its title. Lines with `>` are a request
and its headers, lines with `<` the status and the headers that must be there (`< !Location` must
not); what follows is the body, JSON compared with the order of its members, else text; `(no body)`
is none. `@t1@`, `@t2@` ... stand for timestamps: equal names are equal, different ones differ.
`@...@` is anything, `@=word@` too, which is `@word@` from then on; an object with the member
`"@...@"` may have others beside those it names. A collection is written as its address, its count
and its map; 1.0-rc4 has the map before the count. `only: rc4` before the first request limits a
case to one generation, `model: NAME` picks a model of `models/`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "transcripts"
_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
_NAMED = re.compile(r"^@(t\d+)@$")
_LEARNT = re.compile(r"^@=([a-z]+)@$")
_NO_BODY = "(no body)"
_OPEN = ("@...@", "@...@")


@dataclass(slots=True)
class Step:
    """One request and the reply to it."""

    method: str
    path: str
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: str = ""
    status: int = 0
    expected: list[tuple[str, str]] = field(default_factory=list)
    reply: str = ""


@dataclass(slots=True)
class Case:
    """A named case of a transcript."""

    file: str
    title: str
    ids: tuple[str, ...]
    only: str = ""
    model: str = "dirs"
    steps: list[Step] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.file}: {self.title}"


def cases() -> list[Case]:
    """All cases of all transcripts."""
    return [case for path in sorted(HERE.glob("*.http")) for case in read(path)]


def read(path: Path) -> list[Case]:
    """The cases of one file."""
    found: list[Case] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            head, _, title = line[3:].partition(": ")
            found.append(Case(path.stem, title, tuple(head.split())))
        elif found:
            _take(found[-1], line)
    return found


def _take(case: Case, line: str) -> None:
    steps = case.steps
    if line.startswith("> ") and (not steps or steps[-1].status):
        method, _, path = line[2:].partition(" ")
        steps.append(Step(method, path))
    elif line.startswith("> "):
        name, _, value = line[2:].partition(": ")
        steps[-1].headers.append((name, value))
    elif line.startswith("< ") and not steps[-1].status:
        steps[-1].status = int(line[2:])
    elif line.startswith("< "):
        name, _, value = line[2:].partition(": ")
        steps[-1].expected.append((name, value))
    elif not steps:
        name, _, value = line.partition(": ")
        if name in ("only", "model"):
            setattr(case, name, value)
    elif steps[-1].status:
        steps[-1].reply += line + "\n"
    else:
        steps[-1].body += line + "\n"


class DifferenceError(AssertionError):
    """A reply that is not the one written down."""


class Expectation:
    """Compares replies of one case; remembers which timestamps it has seen."""

    def __init__(self, words: Mapping[str, str], *, map_before_count: bool = False) -> None:
        self._words = dict(words)
        self._wanted = _map_before_count if map_before_count else _Pairs
        self._times: dict[str, str] = {}

    def fill(self, text: str) -> str:
        """A text of the transcript with `@base@` and the like filled in."""
        for word, value in self._words.items():
            text = text.replace(f"@{word}@", value)
        return text

    def body(self, expected: str, found: bytes) -> None:
        """Compare a whole body."""
        text = self.fill(expected).strip()
        if text == _NO_BODY or _LEARNT.match(text):
            self.value("body", "" if text == _NO_BODY else text, found.decode())
            return
        try:
            wanted = json.loads(text, object_pairs_hook=self._wanted)
        except ValueError:
            self.value("body", text, found.decode().strip())
            return
        try:
            got = json.loads(found, object_pairs_hook=_Pairs)
        except ValueError:
            raise DifferenceError(f"expected JSON, found {found[:200]!r}") from None
        if "detail" not in dict(wanted):  # free words, which no test is to depend on
            got = _Pairs(pair for pair in got if pair[0] != "detail" or "type" not in dict(got))
        self.value("", wanted, got)

    def value(self, where: str, wanted: Any, got: Any) -> None:
        """Compare one value."""
        if wanted == "@...@":
            return
        if isinstance(wanted, _Pairs) and isinstance(got, _Pairs):
            wanted, got = _comparable(where, wanted, got)
            if [name for name, _ in wanted] != [name for name, _ in got]:
                raise DifferenceError(
                    f"{where or '/'}: members {_names(wanted)}, found {_names(got)}"
                )
            for (name, one), (_, other) in zip(wanted, got, strict=True):
                self.value(f"{where}/{name}", one, other)
        elif isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
            for index, (one, other) in enumerate(zip(wanted, got, strict=True)):
                self.value(f"{where}/{index}", one, other)
        elif isinstance(wanted, str) and isinstance(got, str):
            self._text(where, wanted, got)
        elif type(wanted) is not type(got) or wanted != got:
            raise DifferenceError(f"{where or '/'}: expected {wanted!r}, found {got!r}")

    def _text(self, where: str, wanted: str, got: str) -> None:
        if learnt := _LEARNT.match(wanted):
            self._words[learnt[1]] = got
        elif named := _NAMED.match(wanted):
            if not _TIME.match(got):
                raise DifferenceError(f"{where}: expected a time, found {got!r}")
            known = self._times.setdefault(named[1], got)
            others = {time for name, time in self._times.items() if name != named[1]}
            if known != got or got in others:
                raise DifferenceError(f"{where}: {wanted} was {self._times}, found {got}")
        elif "@...@" in wanted:
            pattern = ".*".join(re.escape(part) for part in wanted.split("@...@"))
            if not re.fullmatch(pattern, got, re.DOTALL):
                raise DifferenceError(f"{where}: expected {wanted!r}, found {got!r}")
        elif wanted != got:
            raise DifferenceError(f"{where or '/'}: expected {wanted!r}, found {got!r}")


class _Pairs(list[tuple[str, Any]]):
    """The members of an object in their order."""


def _map_before_count(pairs: list[tuple[str, Any]]) -> _Pairs:
    ordered = _Pairs(pairs)
    for place in range(len(ordered) - 1):
        if ordered[place][0] == f"{ordered[place + 1][0]}count":
            ordered[place : place + 2] = ordered[place + 1], ordered[place]
    return ordered


def _comparable(where: str, wanted: _Pairs, got: _Pairs) -> tuple[_Pairs, _Pairs]:
    """The members to compare: only the named ones of an open object, arguments in any order."""
    if _OPEN in wanted:
        wanted = _Pairs(pair for pair in wanted if pair != _OPEN)
        got = _Pairs(pair for pair in got if pair[0] in _names(wanted))
    if where == "/args":
        wanted, got = _Pairs(sorted(wanted)), _Pairs(sorted(got))
    return wanted, got


def _names(pairs: _Pairs) -> list[str]:
    return [name for name, _ in pairs]
