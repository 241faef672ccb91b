"""The index: few candidates among thousands of definitions, whatever their number.

Every definition is filed under one key a fitting message must have: a constant, the literal
start or a word of a template, or the literal segments of a topic or path. The rarest key wins.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple

from heraldry.messages.compile import TEXT_TYPES, is_media_type_name, members
from heraldry.messages.fields import Field
from heraldry.messages.likeness import PLACEHOLDER, likeness
from heraldry.messages.message import Message, pairs
from heraldry.messages.protocol_table import fields
from heraldry.messages.routes import Routes, Segments
from heraldry.messages.values import canonical_text
from heraldry.model.definition import Definition
from heraldry.model.formats import fold, is_cloudevents

FEW = 4
"""A key that at most so many definitions share is as good as a rarer one."""

LITERAL_TYPES = TEXT_TYPES | {"uri", "urireference", "symbol", None}
"""Types whose values compare letter by letter, so that a hash finds them."""

NEAR_TEXT = 200
"""Near misses are looked for by at most so many characters."""

ASKED = 1024
"""For so many texts the near misses are remembered."""

_WORD = re.compile(r"[^\W_]+")

Sections = Literal["envelope", "protocol", "both"]


class Key(NamedTuple):
    """One way to find a definition: where to look, and what must be there.

    Exactly one of ``constant``, ``prefix``, ``word`` and ``segments`` is set.
    """

    section: str
    name: str
    member: str | None
    text: str
    constant: str | None = None
    prefix: str | None = None
    word: str | None = None
    segments: Segments | None = None
    separator: str = ""

    @property
    def path(self) -> str:
        """The path of the property, as problems show it."""
        return ".".join(part for part in (self.section, self.name, self.member) if part)


def keys(definition: Definition, sections: Sections) -> Iterator[Key]:
    """The keys of a definition, the best first: those of the envelope, the protocol, or both."""
    if sections != "protocol" and is_cloudevents(definition.envelope):
        names = definition.envelopemetadata
        if "type" in names:
            yield from _attribute_keys("type", names["type"])
        for name, declared in names.items():
            if name not in ("type", "specversion", "id", "time", "datacontenttype"):
                yield from _attribute_keys(name, declared)
    if sections != "envelope" and definition.protocol:
        options = {fold(name): value for name, value in definition.protocoloptions.items()}
        for name, known in _fields(definition.protocol):
            declared = options.get(name)
            if declared is not None:
                yield from _metadata_keys(known, declared)


@lru_cache(maxsize=64)
def _fields(protocol: str) -> tuple[tuple[str, Field], ...]:
    return tuple((fold(known.name), known) for known in fields(protocol).values())


def _value(declared: Any) -> tuple[str | None, Any]:
    """The type and the value of a property definition, where the value is a text."""
    if isinstance(declared, Mapping):
        type_, value = declared.get("type"), declared.get("value")
        known = type_ if isinstance(type_, str) else None
        return known, value if isinstance(value, str) and value else None
    return None, declared if isinstance(declared, str) else None


def _attribute_keys(name: str, declared: Any) -> Iterator[Key]:
    type_, value = _value(declared)
    if value is None or type_ not in LITERAL_TYPES:
        return
    if "{" not in value or (type_ is not None and type_ not in TEXT_TYPES):
        yield Key("attributes", name, None, value, constant=value)
    else:
        yield from _template_keys("attributes", name, None, value)


def _metadata_keys(known: Field, declared: Any) -> Iterator[Key]:
    if known.collection:
        for name, member in members(declared):
            given = str(member.get("name", name)) if isinstance(member, Mapping) else name
            folded = known.member(given)
            type_, value = _value(member)
            type_ = type_ or known.member_type(folded)
            if value is None or type_ not in LITERAL_TYPES or is_media_type_name(folded):
                continue
            if "{" not in value:
                yield Key("metadata", known.name, folded, value, constant=value)
            else:
                yield from _template_keys("metadata", known.name, folded, value)
        return
    type_, value = _value(declared)
    type_ = type_ or known.type
    if value is None or type_ not in LITERAL_TYPES or is_media_type_name(known.name):
        return
    if "{" not in value or type_ not in TEXT_TYPES:
        if "{" not in value:
            yield Key("metadata", known.name, None, value, constant=value)
    elif known.separator:
        parts = value.split(known.separator)
        segments = tuple(None if "{" in part else part for part in parts)
        yield Key("metadata", known.name, None, value, segments=segments, separator=known.separator)
    else:
        yield from _template_keys("metadata", known.name, None, value)


def _template_keys(section: str, name: str, member: str | None, value: str) -> Iterator[Key]:
    """The start of a template, and the words that a fitting text has as words of its own."""
    literals = PLACEHOLDER.split(value)
    if literals[0]:
        yield Key(section, name, member, value, prefix=literals[0])
    for place, literal in enumerate(literals):
        for word in _WORD.finditer(literal):
            # Beside a placeholder, its value may make the word a longer one.
            starts = word.start() > 0 or place == 0
            ends = word.end() < len(literal) or place == len(literals) - 1
            if starts and ends:
                yield Key(section, name, member, value, word=word[0])


@dataclass
class Slot:
    """All definitions filed under one property."""

    path: str
    separator: str = ""
    constants: dict[str, list[int]] = field(default_factory=dict)
    prefixes: dict[str, list[int]] = field(default_factory=dict)
    words: dict[str, list[int]] = field(default_factory=dict)
    segments: list[tuple[Segments, int]] = field(default_factory=list)
    texts: dict[str, list[int]] = field(default_factory=dict)
    asked: dict[tuple[str, int], list[int]] = field(default_factory=dict)

    def add(self, key: Key, position: int) -> None:
        """File one definition."""
        self.texts.setdefault(key.text, []).append(position)
        if key.constant is not None:
            self.constants.setdefault(key.constant, []).append(position)
        elif key.prefix is not None:
            self.prefixes.setdefault(key.prefix, []).append(position)
        elif key.word is not None:
            self.words.setdefault(key.word, []).append(position)
        elif key.segments is not None:
            self.separator = key.separator
            self.segments.append((key.segments, position))

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The lengths of the prefixes, each once."""
        return tuple(sorted({len(prefix) for prefix in self.prefixes}))

    @cached_property
    def routes(self) -> Routes:
        """The templates that are found by their segments."""
        return Routes(self.separator, self.segments)

    def find(self, value: Any, found: list[int]) -> None:
        """Add the definitions one value may belong to."""
        text = value if isinstance(value, str) else canonical_text(value)
        if (same := self.constants.get(text)) is not None:
            found += same
        if self.prefixes:
            for length in self.lengths:
                if length > len(text):
                    break
                found += self.prefixes.get(text[:length], ())
        if self.words:
            for word in dict.fromkeys(_WORD.findall(text)):
                found += self.words.get(word, ())
        if self.separator:
            found += self.routes.find(text)

    @cached_property
    def ordered(self) -> list[str]:
        """The declared values in order, for neighbours."""
        return sorted(self.texts)

    @cached_property
    def folded(self) -> dict[str, list[int]]:
        """The definitions by declared value without case and punctuation."""
        table: dict[str, list[int]] = {}
        for text, positions in self.texts.items():
            table.setdefault(_letters(text), []).extend(positions)
        return table

    @cached_property
    def by_word(self) -> dict[str, list[str]]:
        """The declared values by the words in them, placeholders left out."""
        table: dict[str, list[str]] = {}
        for text in self.texts:
            for word in dict.fromkeys(_WORD.findall(PLACEHOLDER.sub(" ", text))):
                table.setdefault(word, []).append(text)
        return table

    def near(self, text: str, limit: int) -> list[int]:
        """The definitions whose value is the same but for case and punctuation, then those alike.

        Streams repeat what is wrong, so what was found is kept for some texts.
        """
        known = (text[:NEAR_TEXT], limit)
        if known not in self.asked:
            if len(self.asked) >= ASKED:
                self.asked.clear()
            self.asked[known] = self._near(*known)
        return self.asked[known]

    def _near(self, text: str, limit: int) -> list[int]:
        """Looked at are the neighbours in order, and some that share the rarest word."""
        found = self.folded.get(_letters(text), [])[:limit]
        place = bisect_left(self.ordered, text)
        beside = self.ordered[max(place - 2, 0) : place + 2]
        words = dict.fromkeys(_WORD.findall(text))
        sharing = sorted((self.by_word[word] for word in words if word in self.by_word), key=len)
        for texts in sharing[:1]:
            beside += texts[:FEW]
        alike = sorted(dict.fromkeys(beside), key=lambda other: -likeness(other, text))
        for other in alike:
            found += [one for one in self.texts[other][:1] if one not in found]
        return found[:limit]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


class Index:
    """Finds the definitions a message may belong to; positions are those of the definitions."""

    def __init__(self, filed: Iterable[tuple[int, Definition, Sections]]) -> None:
        entries = [(place, list(keys(one, sections))) for place, one, sections in filed]
        counts: Counter[tuple[str, str, str | None, Any]] = Counter()
        for _, choices in entries:
            counts.update({_identity(key) for key in choices})
        self.rest: list[int] = []
        self._attributes: dict[str, Slot] = {}
        self._metadata: dict[str, Slot] = {}
        self._members: dict[str, dict[str, Slot]] = {}
        for position, choices in entries:
            if not choices:
                self.rest.append(position)
                continue
            # min keeps the first of equals: the constant type of an event comes first
            best = min(choices, key=lambda key: max(counts[_identity(key)], FEW))
            self._slot(best).add(best, position)

    def _slot(self, key: Key) -> Slot:
        table = self._attributes if key.section == "attributes" else self._metadata
        name = key.name
        if key.member is not None:
            table, name = self._members.setdefault(key.name, {}), key.member
        if name not in table:
            table[name] = Slot(key.path)
        return table[name]

    def find(self, message: Message) -> list[int]:
        """The definitions that may fit; the cost does not grow with their number."""
        found = self.rest.copy()
        for slot, value in self._looks(message):
            slot.find(value, found)
        return found if len(found) < 2 else list(dict.fromkeys(found))

    def _looks(self, message: Message) -> Iterator[tuple[Slot, Any]]:
        for table, section in (
            (self._attributes, message.attributes),
            (self._metadata, message.metadata),
        ):
            # whichever is shorter: catalogs may name many properties, and so may messages
            for name in table if len(table) <= len(section) else section:
                if name in table and (value := section.get(name)) is not None:
                    yield table[name], value
        for name, slots in self._members.items():
            for member, value in pairs(message.metadata.get(name)):
                slot = slots.get(member) or slots.get(member.lower())
                if slot is not None and value is not None:
                    yield slot, value

    def near(self, message: Message, limit: int) -> tuple[str, Any, list[int]]:
        """The path that tells most, the value found there, and the definitions beside it."""
        looks = list(self._looks(message))
        if looks:
            slot, value = max(looks, key=lambda look: len(look[0].texts))
            text = value if isinstance(value, str) else canonical_text(value)
            return slot.path, text, slot.near(text, limit)
        slots = [*self._attributes.values(), *self._metadata.values()]
        slots += [slot for table in self._members.values() for slot in table.values()]
        if not slots:
            return "", None, self.rest[:limit]
        slot = max(slots, key=lambda one: len(one.texts))
        return slot.path, None, [p for found in list(slot.texts.values())[:2] for p in found[:1]]


def _identity(key: Key) -> tuple[str, str, str | None, Any]:
    # a word is another key than the same text as a constant or a start
    what = key.constant or key.prefix or key.segments or ("word", key.word)
    return key.section, key.name, key.member, what
