"""Catalog documents in YAML: the JSON values of the core schema, keys and versions as text (0.2).

Only what JSON can say is read. Timestamps stay text, ``no`` and ``on`` are words, ``007`` keeps
its zeros, and the key ``1.0:`` is ``"1.0"``.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from heraldry.dialects.limits import Limits
from heraldry.errors import DocumentError

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_OTHER_INTEGER = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, Any] = {"": None, "~": None}
_WORDS |= dict.fromkeys(("null", "Null", "NULL"))
_WORDS |= dict.fromkeys(("true", "True", "TRUE"), True)
_WORDS |= dict.fromkeys(("false", "False", "FALSE"), False)
_TAG = "tag:yaml.org,2002:"
_TEXT_MEMBERS = frozenset(
    [
        "specversion",
        "ancestor",
        "versionid",
        "ancestorid",
        "defaultversionid",
        "format",
        "envelope",
        "protocol",
        "dataschemaformat",
    ]
)
_DOCUMENTS = frozenset(("schema", "dataschema"))


@dataclass(slots=True)
class _Open:
    """A collection that is being read; ``size`` counts its values with aliases expanded."""

    value: Any
    anchor: str | None
    key: str | None = None
    merging: bool = False
    size: int = 1
    merges: list[Any] = field(default_factory=list)
    foreign: bool = False


def read_yaml(data: bytes, file: str, limits: Limits) -> Any:
    """The value of the one YAML document in a text; alias bombs are refused."""
    reader = _Reader(file, limits)
    loader = yaml.CSafeLoader(data)
    try:
        while loader.check_event():
            reader.take(loader.get_event())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise DocumentError(file, where, f"not YAML: {problem}") from None
    finally:
        loader.dispose()
    return reader.root


class _Reader:
    """Builds a value from YAML events, so that depth and size are known before they hurt."""

    def __init__(self, file: str, limits: Limits) -> None:
        self.file, self.limits = file, limits
        self.root: Any = None
        self.documents = 0
        self.stack: list[_Open] = []
        self.anchors: dict[str, tuple[Any, int]] = {}

    def take(self, event: Any) -> None:
        """Take the next event in."""
        match event:
            case yaml.DocumentStartEvent():
                self.documents += 1
                if self.documents > 1:
                    raise self.error(event, "a second YAML document; a catalog file holds one")
            case yaml.AliasEvent():
                if event.anchor not in self.anchors:
                    raise self.error(event, f"the alias *{event.anchor} names no earlier anchor")
                self.put(event, *self.anchors[event.anchor])
            case yaml.ScalarEvent():
                value = self.scalar(event)
                if event.anchor:
                    self.anchors[event.anchor] = (value, 1)
                self.put(event, value, 1)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self.open(event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self.close(event)

    def open(self, event: Any) -> None:
        """Begin a collection."""
        if self.awaits_key():
            raise self.error(event, "a key that is not a plain text; JSON has text keys only")
        if len(self.stack) >= self.limits.depth:
            reason = f"nested deeper than {self.limits.depth} levels, which is the limit"
            raise self.error(event, reason)
        empty: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
        above = self.stack[-1] if self.stack else None
        foreign = above is not None and (above.foreign or above.key in _DOCUMENTS)
        self.stack.append(_Open(value=empty, anchor=event.anchor, foreign=foreign))

    def close(self, event: Any) -> None:
        """End a collection: merge keys fill what the mapping does not say itself."""
        done = self.stack.pop()
        for merged in done.merges:
            for name, value in merged.items():
                done.value.setdefault(name, value)
        if done.anchor:
            self.anchors[done.anchor] = (done.value, done.size)
        self.put(event, done.value, done.size)

    def put(self, event: Any, value: Any, size: int) -> None:
        """Place a finished value where it belongs."""
        if not self.stack:
            self.root = value
            return
        into = self.stack[-1]
        into.size += size
        if into.size > self.limits.expanded:
            reason = f"more than {self.limits.expanded:,} values with aliases expanded, the limit"
            raise self.error(event, reason)
        if isinstance(into.value, list):
            into.value.append(value)
        elif into.key is None:
            into.key = self.key(event, value, into)
        else:
            if into.merging:
                into.merges += self.merged(event, value)
            else:
                into.value[into.key] = value
            into.key, into.merging = None, False

    def key(self, event: Any, value: Any, into: _Open) -> str:
        """The text of a key; a key given twice is an error."""
        if not isinstance(value, str):
            raise self.error(event, "a key that is not a plain text; JSON has text keys only")
        if value in into.value:
            raise self.error(event, f"the member {value!r} is given twice; keep one of them")
        # In quotes it is a name like any other.
        plain = isinstance(event, yaml.ScalarEvent) and event.style in (None, "")
        into.merging = plain and value == "<<"
        return value

    def merged(self, event: Any, value: Any) -> list[Any]:
        """The mappings a merge key names."""
        mappings = value if isinstance(value, list) else [value]
        if not all(isinstance(one, dict) for one in mappings):
            raise self.error(event, "the merge key << must name a mapping or a list of mappings")
        return mappings

    def awaits_key(self) -> bool:
        """Whether the next value is a key of the innermost mapping."""
        return bool(
            self.stack and isinstance(self.stack[-1].value, dict) and self.stack[-1].key is None
        )

    def scalar(self, event: Any) -> Any:
        """The JSON value of a scalar; keys, ids and versions stay text (0.2)."""
        tag = (event.tag or "").removeprefix(_TAG)
        text: str = event.value
        if self.awaits_key() or tag in {"str", "timestamp", "!"}:
            return text
        if not tag and (event.style not in (None, "") or self.is_text_member(text)):
            return text
        if tag in {"", "int", "float", "bool", "null"}:
            return self.number(event, text)
        raise self.error(event, f"the tag {event.tag} has no counterpart in JSON")

    def number(self, event: Any, text: str) -> Any:
        """The value of a plain scalar; a number that JSON readers cannot hold is an error."""
        try:
            value = _plain(text)
        except ValueError:
            value = math.inf
        if isinstance(value, float) and math.isinf(value):
            raise self.error(event, "a number out of range; quote it if it is a text")
        return value

    def is_text_member(self, text: str) -> bool:
        """Whether the member being read holds an id or a version, whatever it looks like."""
        into = self.stack[-1] if self.stack else None
        if into is None or into.foreign or into.key is None or text in _WORDS:
            return False
        if into.key == "value" and len(self.stack) > 1:
            return self.stack[-2].key == "specversion"
        return into.key in _TEXT_MEMBERS or into.key.endswith("id")

    def error(self, event: Any, reason: str) -> DocumentError:
        """An error at the line of an event."""
        return DocumentError(self.file, f"line {event.start_mark.line + 1}", reason)


def _plain(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _OTHER_INTEGER.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text
