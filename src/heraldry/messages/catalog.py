"""The catalog at work: what ``heraldry.open`` returns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec

from heraldry.dialects.load import load
from heraldry.errors import MessageError, UnknownDefinitionError
from heraldry.messages import line as lines
from heraldry.messages import lint
from heraldry.messages.build import BuiltMessage, Clock, NewId, build, new_id, now
from heraldry.messages.compile import CompiledDefinition
from heraldry.messages.explain import PropertyVerdict, explain, table
from heraldry.messages.judge import Judge
from heraldry.messages.match import Matcher
from heraldry.messages.message import Message, Mode
from heraldry.messages.protocols import http, kafka, mqtt
from heraldry.messages.sample import NOTHING, sample
from heraldry.messages.verdict import Match, NoMatch, Verdict
from heraldry.model.catalog import Catalog
from heraldry.model.definition import Definition
from heraldry.model.problem import Finding, Problem

Raw = (
    Message
    | bytes
    | str
    | Mapping[str, Any]
    | http.HttpMessage
    | kafka.KafkaRecord
    | mqtt.MqttPublish
)
"""What can be matched: a message, a JSON line, its object, or a protocol's own message."""


def open(*paths: str | Path) -> MessageCatalog:  # noqa: A001 - heraldry.open reads best
    """The catalog of files and folders, ready to build, match and judge messages."""
    return MessageCatalog(load(*paths))


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched(Match):
    """A match that can explain itself."""

    message: Message = field(repr=False, compare=False)
    compiled: CompiledDefinition = field(repr=False, compare=False)

    def explain(self) -> str:
        """Every property beside what the definition says, and the values extracted."""
        lines_ = [f"{self.definition.xid} fits"]
        lines_ += [f"  {name} = {value}" for name, value in self.values.items()]
        return "\n".join([*lines_, "", table(explain(self.message, self.compiled))])


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmatched(NoMatch):
    """No match, with an explanation for each near miss."""

    message: Message | None = field(default=None, repr=False, compare=False)
    compiled: tuple[CompiledDefinition, ...] = field(default=(), repr=False, compare=False)

    def explain(self) -> str:
        """The reasons, then every property beside what the nearest definitions say."""
        text = ["no definition fits", *(f"  {problem}" for problem in self.problems)]
        scores = {one.definition: one.score for one in self.near}
        for one in self.compiled:
            share = f", {scores[one.xid]:.0%} of its rules hold" if one.xid in scores else ""
            text += ["", f"{one.xid}{share}"]
            if self.message is not None:
                text.append(table(explain(self.message, one)))
        return "\n".join(text)


@dataclass(frozen=True, slots=True)
class MessageDefinition:
    """One definition at work: template for producers, filter for consumers."""

    compiled: CompiledDefinition

    @property
    def xid(self) -> str:
        """The xid as text."""
        return self.compiled.xid

    @property
    def definition(self) -> Definition:
        """The definition with all it inherits."""
        return self.compiled.definition

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names a message is built with, in order."""
        return self.compiled.placeholders

    def build(
        self,
        data: Any = None,
        *,
        protocol: str | None = None,
        mode: Mode | None = None,
        raw: bool = False,
        values: Mapping[str, Any] | None = None,
        clock: Clock = now,
        make_id: NewId = new_id,
        **context: Any,
    ) -> BuiltMessage:
        """Build a message; ``context`` are placeholders first, then properties by name.

        ``values`` is the same for names that are no Python names. Raises
        :class:`heraldry.errors.BuildError` with every problem at once.
        """
        return build(
            self.compiled,
            data,
            values={**(values or {}), **context},
            protocol=protocol,
            mode=mode,
            raw=raw,
            clock=clock,
            make_id=make_id,
        )

    def sample(
        self,
        data: Any = NOTHING,
        *,
        seed: int = 0,
        protocol: str | None = None,
        mode: Mode | None = None,
        values: Mapping[str, Any] | None = None,
        clock: Clock = now,
        make_id: NewId | None = None,
        **context: Any,
    ) -> BuiltMessage:
        """Build a message and make up what is not given, the same for the same seed."""
        return sample(
            self.compiled,
            data,
            seed=seed,
            values={**(values or {}), **context},
            protocol=protocol,
            mode=mode,
            clock=clock,
            make_id=make_id,
        )

    def explain(self, raw: Raw) -> tuple[PropertyVerdict, ...]:
        """A message beside this definition, property by property."""
        return explain(read(raw), self.compiled)


class MessageCatalog:
    """Builds, recognises and judges messages by the definitions of one catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.matcher = Matcher(catalog)
        self._judge = Judge(self.matcher)

    def __getitem__(self, xid: object) -> MessageDefinition:
        text = str(xid)
        if text in self.matcher.positions:
            return MessageDefinition(self.matcher.definition(text))
        named = [one for one in self.matcher.positions if one.rpartition("/")[2] == text]
        if len(named) == 1:
            return MessageDefinition(self.matcher.definition(named[0]))
        raise UnknownDefinitionError(text, tuple(named) or self._near(text))

    def _near(self, text: str) -> tuple[str, ...]:
        known = list(self.matcher.positions)
        if "/" in text:
            return tuple(get_close_matches(text, known, n=3))
        ids = {one.rpartition("/")[2]: one for one in known}
        return tuple(ids[near] for near in get_close_matches(text, ids, n=3))

    def __contains__(self, xid: object) -> bool:
        return str(xid) in self.matcher.positions

    def __iter__(self) -> Iterator[MessageDefinition]:
        for xid in self.matcher.positions:
            yield MessageDefinition(self.matcher.definition(xid))

    def __len__(self) -> int:
        return len(self.matcher.positions)

    def match(self, raw: Raw) -> Matched | Unmatched:
        """The definition of a message and the values of its placeholders, or reasons why not."""
        try:
            message = read(raw)
        except MessageError as error:
            return Unmatched(problems=error.problems)
        result = self.matcher.match(message)
        if isinstance(result, Match):
            return Matched(
                definition=result.definition,
                values=result.values,
                candidates=result.candidates,
                message=message,
                compiled=self.matcher.definition(str(result.definition.xid)),
            )
        xids = result.candidates or tuple(one.definition for one in result.near)
        return Unmatched(
            problems=result.problems,
            near=result.near,
            candidates=result.candidates,
            message=message,
            compiled=tuple(self.matcher.definition(xid) for xid in xids),
        )

    def judge(self, line: bytes) -> Verdict:
        """The verdict on one JSON line: a typed row, or the reasons why there is none."""
        return self._judge.judge(line)

    def check(self) -> tuple[Finding, ...]:
        """Every finding about the catalog."""
        return lint.check(self.catalog)


def read(raw: Raw) -> Message:
    """Whatever can be matched as a message; :class:`MessageError` where it is none."""
    match raw:
        case Message():
            return raw
        case bytes():
            return lines.read(raw)
        case str():
            return lines.read(raw.encode("utf-8", "surrogatepass"))
        case http.HttpMessage():
            return http.decode(raw)
        case kafka.KafkaRecord():
            return kafka.decode(raw)
        case mqtt.MqttPublish():
            return mqtt.decode(raw)
    return lines.read(msgspec.json.encode(raw))


def to_json(result: Match | NoMatch) -> dict[str, Any]:
    """A match, or why there is none, as the JSON object that the command line prints."""
    if isinstance(result, Match):
        return {
            "definition": str(result.definition.xid),
            "values": dict(result.values),
            "candidates": list(result.candidates),
            "problems": [],
            "near": [],
        }
    nearest = result.near[0].definition if result.near else None
    return {
        "definition": None,
        "values": {},
        "candidates": list(result.candidates),
        "problems": _problems(nearest, result.problems),
        "near": [
            {
                "definition": one.definition,
                "score": one.score,
                "problems": _problems(one.definition, one.problems),
            }
            for one in result.near
        ],
    }


def _problems(definition: str | None, problems: Iterable[Problem]) -> list[dict[str, Any]]:
    return [
        {
            "definition": definition,
            "path": one.path,
            "rule": one.rule,
            "message": one.message,
            "expected": one.expected,
            "found": one.found,
        }
        for one in problems
    ]
