"""JSON Schema, drafts 4, 6, 7, 2019-09 and 2020-12, on jsonschema_rs: offline, in linear time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import islice
from math import isfinite
from random import Random
from sys import maxsize
from typing import Any, Final
from urllib.parse import unquote

import jsonschema_rs

from heraldry.errors import MessageError, SchemaError
from heraldry.model.problem import Problem
from heraldry.schemas.columns import Column
from heraldry.schemas.framing import unframed
from heraldry.schemas.json_schema.bundle import bundled, parsed
from heraldry.schemas.json_schema.columns import columns_of
from heraldry.schemas.json_schema.document import Document, is_document
from heraldry.schemas.json_schema.drafts import draft_of
from heraldry.schemas.json_schema.graph import COMPARED, FANOUT_LIMIT, Graph
from heraldry.schemas.json_schema.pattern_size import SIZE_LIMIT, size_of
from heraldry.schemas.json_schema.problems import to_problem
from heraldry.schemas.json_schema.sample import NOTHING, Sampler
from heraldry.schemas.json_schema.scan import at, scan
from heraldry.schemas.json_schema.validator import bundle_validator, validator
from heraldry.schemas.located import PROBLEM_LIMIT, pointer
from heraldry.schemas.parse import DEPTH_LIMIT, encode, is_deep, parse
from heraldry.schemas.rows import Row, row_reader
from heraldry.schemas.sample_hints import hinted
from heraldry.schemas.source import Source

SAMPLE_TRIES: Final = 20
"""How many values are made up before a schema counts as one without samples."""

CHECK_LIMIT: Final = 10_000_000
"""How much there may be to check in one value, in checks of a plain keyword."""

EXPLAIN_LIMIT: Final = 20_000
"""How much there may be to check where all the errors are wanted, which cost far more."""

# With so few checks on each path into a value its size does not matter.
_LIGHT = 128
_SHALLOW = 8
# Most schemas are small and say nothing of alternatives: they need no closer look.
_PLAIN_SIZE = 16 * 1024
_NOT_PLAIN = re.compile(
    rb'Ref"|\$ref"|Of"|"not"|"if"|"then"|"else"|"contains"|"dependen|"pattern'
    rb'|"propertyNames"|"unevaluated|\\u'
)
_NO_JSON = Problem(path="/", rule="json", message="is not a JSON value")


class JsonSchema:
    """A compiled JSON Schema; see PayloadSchema for what each method promises.

    ``schema`` is the part of the document ``root`` that applies, written in ``draft``; where
    several schemas have addresses, all references are absolute, and where other documents are
    needed, ``registry`` has them. Values are those of JSON. ``warnings`` says what was guessed.
    """

    media_type = "application/json"

    def __init__(self, source: Source) -> None:
        self.source = source
        root = parsed(source.format, source.content)
        where = _pointer(root, source.format, source.link)
        self.draft, self.warnings = draft_of(source.version, at(root, where), root)
        if where and is_document(at(root, where)):
            # To the references in it the part is a document.
            self._read_in(at(root, where), "")
        else:
            self._read_in(root, where)
        bound = _plain_bound(source) or self._checked_bound(where)
        self._validator, self.registry = self._compiled(root, where)
        self._accepts = self._validator.is_valid
        self.columns: tuple[Column, ...] = columns_of(self.document(), self.schema)
        # A payload of fewer bytes is checked without a look at it: a value has two bytes or more.
        self._bind(bound)

    def _bind(self, bound: int) -> None:
        self._heavy = bound > _LIGHT
        self._easy = 2 * CHECK_LIMIT // bound if self._heavy else maxsize

    @cached_property
    def _graph(self) -> Graph:
        graph = Graph(self.document(), self.schema)
        if not graph.fans_out:
            self._bind(graph.bound)
        return graph

    def _checked_bound(self, where: str) -> int:
        """How much may meet one path into a value; SchemaError where that is far too much."""
        if self._graph.fans_out:
            reason = f"more than {FANOUT_LIMIT} of its sub-schemas apply to one value"
            raise SchemaError(self.source.format, where, reason)
        if self._graph.pattern_memory > SIZE_LIMIT:
            reason = "the patterns up to this one take too much memory: they repeat too much"
            raise SchemaError(self.source.format, self._last_pattern(), reason)
        return self._graph.bound

    def _read_in(self, root: Any, where: str) -> None:
        """Set the document apart in which references are followed."""
        self._bundle = bundled(self.source, root, self.draft)
        self._inner = where
        self.root = self._bundle.root if self._bundle else root
        self.schema = at(self.root, where)

    def document(self) -> Document:
        """The document to read structurally, together with those it refers to."""
        return Document(self.root, self.draft, self._bundle.places if self._bundle else None)

    def _compiled(
        self, root: Any, where: str
    ) -> tuple[jsonschema_rs.Validator, jsonschema_rs.Registry | None]:
        format, bundle = self.source.format, self._bundle  # noqa: A001
        if bundle is None or not bundle.foreign:
            return validator(format, self.draft, root, where), None
        return bundle_validator(format, self.draft, bundle, self._inner)

    def _last_pattern(self) -> str:
        """Where the patterns become too large, in the order of the document."""
        left = SIZE_LIMIT
        for place in scan(self.root, "", self.draft):
            for key in ("pattern", "patternProperties"):
                value = place.node.get(key)
                for pattern in [value] if isinstance(value, str) else value or ():
                    left -= size_of(pattern).memory
                    if left < 0:
                        return pointer((*place.path, key))
        return ""

    def __reduce__(self) -> tuple[Callable[[Source], JsonSchema], tuple[Source]]:
        return load, (self.source,)

    def decode(self, payload: bytes, content_type: str | None = None) -> Any:
        """The valid JSON value in the payload, whatever the content type says."""
        try:
            value = parse(payload)
        except MessageError:
            # No prefix of a registry begins like a JSON text.
            return unframed(payload, self._read)
        if len(payload) <= self._easy:
            # As accepts does, without its calls: this is where most messages end.
            try:
                if self._accepts(value):
                    return value
            except ValueError:
                pass
        elif self.accepts(value, payload):
            return value
        raise MessageError(self._reasons(value, payload))

    def _read(self, payload: bytes) -> Any:
        value = parse(payload)
        if self.accepts(value, payload):
            return value
        raise MessageError(self._reasons(value, payload))

    def accepts(self, value: Any, payload: bytes) -> bool:
        """Whether a value is valid that was parsed from a payload: quicker than is_valid."""
        return (len(payload) <= self._easy or self._bearable(value, payload)) and self._fits(value)

    def encode(self, value: Any, content_type: str | None = None) -> bytes:
        """The JSON text of a valid value; infinity and NaN have none."""
        if problems := self.check(value):
            raise MessageError(problems)
        text = encode(value)
        if b"null" in text and not _is_finite(value):
            message = "has a number that JSON cannot write"
            raise MessageError((Problem(path="/", rule="json", message=message),))
        return text

    def is_valid(self, value: Any) -> bool:
        """Whether the schema accepts a value; what is no JSON value is not accepted."""
        # The validator does not look at members that the schema says nothing about.
        text = _text(value)
        if text is None or (self._heavy and not self._bearable(value, text)):
            return False
        return self._fits(value)

    def _fits(self, value: Any) -> bool:
        try:
            return self._accepts(value)
        except ValueError:
            return False

    def _bearable(self, value: Any, text: bytes) -> bool:
        """Whether the validator comes to an end with a value, and soon."""
        if _is_too_deep(value, text):
            # The validator's own recursion has no limit: it would end the process.
            return False
        nesting = text.count(b"[") + text.count(b"{")
        if self._is_light(len(text), nesting):
            return True
        if nesting > _SHALLOW and self._is_light(len(text), depth_of(value)):
            return True
        return self._graph.work(value, CHECK_LIMIT) <= CHECK_LIMIT

    def _is_light(self, size: int, depth: int) -> bool:
        bounds = self._graph.bounds
        bound = bounds[min(depth, len(bounds) - 1)]
        return bound <= _LIGHT or size * bound <= 2 * CHECK_LIMIT

    def check(self, value: Any) -> tuple[Problem, ...]:
        """The first PROBLEM_LIMIT problems of a value, in the validator's own fixed order.

        A value too large for that has the first problem alone, or one that says so.
        """
        return () if self.is_valid(value) else self._reasons(value, _text(value))

    def _reasons(self, value: Any, text: bytes | None) -> tuple[Problem, ...]:
        """Why a value is refused; ``text`` is its JSON text, where it has one."""
        if _is_too_deep(value, text):
            message = f"is nested deeper than {DEPTH_LIMIT} levels"
            return (Problem(path="/", rule="depth", message=message),)
        if text is None:
            return (_NO_JSON,)
        if self._heavy and not self._bearable(value, text):
            message = "is too large or too deep to be checked against this schema"
            return (Problem(path="/", rule="work", message=message),)
        try:
            return self._explained(value, len(text))
        except ValueError:
            return (_NO_JSON,)

    def _explained(self, value: Any, size: int) -> tuple[Problem, ...]:
        graph, errors = self._graph, list[jsonschema_rs.ValidationError]()
        few = not graph.told and size * graph.bound <= 2 * EXPLAIN_LIMIT
        if few or graph.work(value, EXPLAIN_LIMIT, explain=True) <= EXPLAIN_LIMIT:
            errors.extend(islice(self._validator.iter_errors(value), PROBLEM_LIMIT))
        elif graph.explains_cheaply():
            try:
                self._validator.validate(value)
            except jsonschema_rs.ValidationError as error:
                errors.append(error)
        if errors:
            return tuple(to_problem(error) for error in errors)
        return (
            Problem(path="/", rule="schema", message="is refused, and is too large to say why"),
        )

    @cached_property
    def to_row(self) -> Callable[[Any], Row]:
        """The row of a valid value by column name, or the problems of its columns."""
        return row_reader(self.columns)

    def sample(self, random: Random, hints: Mapping[str, Any]) -> Any:
        """A valid value, with the hints in its top-level properties where they are valid."""
        sampler = Sampler(self.document(), random)
        for attempt in range(SAMPLE_TRIES):
            value = sampler.value(self.schema, attempt)
            if value is not NOTHING and self.is_valid(value):
                return hinted(value, hints, self.is_valid)
        reason = f"no sample found that is valid, in {SAMPLE_TRIES} tries"
        raise SchemaError(self.source.format, self.source.link, reason)


def load(source: Source) -> JsonSchema:
    """The schema in a JSON text, or the part a link names (C43); SchemaError says what is wrong."""
    return JsonSchema(source)


def _plain_bound(source: Source) -> int:
    """A bound of the work of a small document in which nothing is applied twice, or 0."""
    content = source.content
    if len(content) > _PLAIN_SIZE or source.references or _NOT_PLAIN.search(content):
        return 0
    # Each object and each name in a list is met at most once on a path into a value; the values
    # of an enumeration may have to be compared one by one.
    met = 1 + content.count(b":") + content.count(b",")
    return met * COMPARED if b'"enum"' in content or b'"const"' in content else met


def _pointer(root: Any, format: str, link: str) -> str:  # noqa: A002
    text = link.removeprefix("#")
    if not text:
        return ""
    text = text if text.startswith("/") else f"/{text}"
    # A link is a pointer, or a pointer as a URI fragment: the text as it stands goes first.
    for candidate in (text, unquote(text)):
        try:
            if isinstance(at(root, candidate), (dict, bool)):
                return candidate
        except KeyError:
            continue
    raise SchemaError(format, link, "the document has no schema at this place")


def _is_finite(value: Any) -> bool:
    if isinstance(value, (dict, list, tuple)):
        return all(map(_is_finite, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, float) or isfinite(value)


def _text(value: Any) -> bytes | None:
    try:
        return encode(value)
    except (RecursionError, TypeError, ValueError):
        return None


def _is_too_deep(value: Any, text: bytes | None) -> bool:
    # Few brackets cannot nest deeply.
    few = text is not None and text.count(b"[") + text.count(b"{") <= DEPTH_LIMIT
    return not few and is_deep(value)


def depth_of(value: Any) -> int:
    """How deep arrays and objects are nested in a value."""
    depth, level = 0, [value]
    while level := [node for node in level if isinstance(node, (dict, list))]:
        depth += 1
        level = [
            child for node in level for child in (node.values() if isinstance(node, dict) else node)
        ]
    return depth
