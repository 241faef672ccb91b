"""JSON Schema, drafts 4, 6, 7, 2019-09 and 2020-12, on jsonschema_rs: offline, in linear time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import islice
from random import Random
from typing import Any, Final
from urllib.parse import quote, unquote, urljoin

import jsonschema_rs

from heraldry.errors import MessageError, SchemaError
from heraldry.model.problem import Problem
from heraldry.schemas.columns import Column
from heraldry.schemas.json_columns import columns_of
from heraldry.schemas.json_document import Document, is_document
from heraldry.schemas.json_fanout import FANOUT_LIMIT, fans_out
from heraldry.schemas.json_problems import pointer, to_problem
from heraldry.schemas.json_rows import Row, row_reader
from heraldry.schemas.json_sample import NOTHING, Sampler, hinted
from heraldry.schemas.parse import DEPTH_LIMIT, is_deep, parse

PROBLEM_LIMIT: Final = 20
"""How many problems one check reports."""

SAMPLE_TRIES: Final = 20
"""How many values are made up before a schema counts as one without samples."""

_VALIDATORS: dict[int, tuple[type[jsonschema_rs.Validator], int]] = {
    4: (jsonschema_rs.Draft4Validator, jsonschema_rs.Draft4),
    6: (jsonschema_rs.Draft6Validator, jsonschema_rs.Draft6),
    7: (jsonschema_rs.Draft7Validator, jsonschema_rs.Draft7),
    2019: (jsonschema_rs.Draft201909Validator, jsonschema_rs.Draft201909),
    2020: (jsonschema_rs.Draft202012Validator, jsonschema_rs.Draft202012),
}
_DIALECT = re.compile(
    r"https?://json-schema\.org/(?:draft-0([467])|draft/(2019)-09|draft/(2020)-12)/schema#?"
)
_VERSION = re.compile(r"(?:draft)?[-/]?(?:0?([467])|(2019)-09|(2020)-12)", re.IGNORECASE)
# Where a document without an identity of its own is kept, so that a link can point into it.
_PLACE = "https://schema.invalid/document"
_REFERENCE = re.compile(rb'"\$(?:ref|dynamicRef|recursiveRef)"')


class JsonSchema:
    """A compiled JSON Schema; see PayloadSchema for what each method promises.

    ``schema`` is the part of the document ``root`` that applies, written in ``draft``.
    """

    def __init__(self, format: str, version: str, content: bytes, link: str) -> None:  # noqa: A002
        self.format = format
        self._source = (format, version, content, link)
        root = _document(format, content)
        where = _pointer(Document(root, 7), format, link)
        schema = Document(root, 7).at(where)
        draft = _draft(format, version, schema, root)
        self.root, self.draft, self.schema = root, draft, schema
        if where and is_document(schema):
            self.root = schema
        if fans_out(Document(root, draft), schema):
            reason = f"more than {FANOUT_LIMIT} of its sub-schemas apply to one value"
            raise SchemaError(format, where, reason)
        self._validator = _validator(format, draft, root, where)
        self.columns: tuple[Column, ...] = columns_of(Document(self.root, draft), schema)
        # Only references let the validator descend without end into a value: see is_valid.
        self._recursive = _REFERENCE.search(content) is not None

    def __reduce__(self) -> tuple[Callable[..., JsonSchema], tuple[str, str, bytes, str]]:
        return load, self._source

    def decode(self, payload: bytes) -> Any:
        """The JSON value in the payload."""
        return parse(payload)

    def is_valid(self, value: Any) -> bool:
        """Whether the schema accepts a value; what is no JSON value is not accepted."""
        if self._recursive and is_deep(value):
            # The validator's own recursion has no limit: it would end the process.
            return False
        try:
            return self._validator.is_valid(value)
        except ValueError:
            return False

    def check(self, value: Any) -> tuple[Problem, ...]:
        """The first PROBLEM_LIMIT problems of a value, in the validator's own fixed order."""
        if self.is_valid(value):
            return ()
        if is_deep(value):
            message = f"is nested deeper than {DEPTH_LIMIT} levels"
            return (Problem(path="/", rule="depth", message=message),)
        try:
            errors = islice(self._validator.iter_errors(value), PROBLEM_LIMIT)
            problems = tuple(to_problem(error) for error in errors)
            return problems or (Problem(path="/", rule="schema", message="is refused"),)
        except ValueError:
            return (Problem(path="/", rule="json", message="is not a JSON value"),)

    @cached_property
    def to_row(self) -> Callable[[Any], Row]:
        """The row of a valid value by column name, or the problems of its columns."""
        return row_reader(self.columns)

    def sample(self, random: Random, hints: Mapping[str, Any]) -> Any:
        """A valid value, with the hints in its top-level properties where they are valid."""
        sampler = Sampler(Document(self.root, self.draft), random)
        for attempt in range(SAMPLE_TRIES):
            value = sampler.value(self.schema, attempt)
            if value is not NOTHING and self.is_valid(value):
                return hinted(value, hints, self.is_valid)
        reason = f"no sample found that is valid, in {SAMPLE_TRIES} tries"
        raise SchemaError(self.format, self._source[3], reason)


def load(format: str, version: str, content: bytes, link: str) -> JsonSchema:  # noqa: A002
    """The schema in a JSON text, or the part a link names (C43); SchemaError says what is wrong."""
    return JsonSchema(format, version, content, link)


def _document(format: str, content: bytes) -> Any:  # noqa: A002
    try:
        root = parse(content)
    except MessageError as error:
        raise SchemaError(format, "", f"the document {error.problems[0].message}") from None
    if isinstance(root, (dict, bool)):
        return root
    raise SchemaError(format, "", "the document is neither an object nor a boolean")


def _pointer(document: Document, format: str, link: str) -> str:  # noqa: A002
    text = link.removeprefix("#")
    if not text:
        return ""
    text = text if text.startswith("/") else f"/{text}"
    # A link is a pointer, or a pointer as a URI fragment: the text as it stands goes first.
    for candidate in (text, unquote(text)):
        try:
            if isinstance(document.at(candidate), (dict, bool)):
                return candidate
        except KeyError:
            continue
    raise SchemaError(format, link, "the document has no schema at this place")


def _draft(format: str, version: str, schema: Any, root: Any) -> int:  # noqa: A002
    for place in (schema, root):
        dialect = place.get("$schema") if isinstance(place, dict) else None
        named = _DIALECT.fullmatch(dialect) if isinstance(dialect, str) else None
        if named:
            return int(next(group for group in named.groups() if group))
    if not version:
        return 7
    named = _VERSION.fullmatch(version)
    if named is None:
        raise SchemaError(format, "", f"the draft {version!r} is not known")
    return int(next(group for group in named.groups() if group))


def _validator(format: str, draft: int, root: Any, where: str) -> jsonschema_rs.Validator:  # noqa: A002
    kind, number = _VALIDATORS[draft]
    # The linear-time engine: a pattern of a document must not stall the reader of messages.
    options = jsonschema_rs.RegexOptions()
    try:
        if not where:
            return kind(root, offline=True, pattern_options=options)
        place, kept = _kept(root)
        registry = jsonschema_rs.Registry([(place, kept)], draft=number, retriever=_refuse)
        part = Document(root, draft).at(where)
        schema = part if is_document(part) else {"$ref": f"{place}#{quote(where)}"}
        return kind(schema, offline=True, pattern_options=options, registry=registry)
    except jsonschema_rs.ValidationError as error:
        location = where + pointer(error.instance_path) if error.instance_path else where
        raise SchemaError(format, location, _reason(error)) from None
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise SchemaError(format, where, str(error)) from None


def _kept(root: Any) -> tuple[str, Any]:
    own = root.get("$id", root.get("id"))
    place = urljoin(_PLACE, own).partition("#")[0] if isinstance(own, str) else _PLACE
    dialect = root.get("$schema")
    if isinstance(dialect, str) and not _DIALECT.fullmatch(dialect):
        # The registry refuses a document of a dialect it does not know.
        return place, {key: value for key, value in root.items() if key != "$schema"}
    return place, root


def _refuse(uri: str) -> Any:
    raise LookupError(f"references are never fetched: {uri}")


def _reason(error: jsonschema_rs.ValidationError) -> str:
    if error.message.endswith('is not a "regex"'):
        return (
            "the pattern is not supported: only patterns that run in linear time are,"
            " so no look-around and no back-references"
        )
    return error.message
