"""XML Schema 1.0 and 1.1: payloads as XML, values as records of typed leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from random import Random
from typing import Any, Final

from heraldry.errors import MessageError, SchemaError
from heraldry.model.problem import Problem
from heraldry.schemas.columns import Column
from heraldry.schemas.framing import unframed
from heraldry.schemas.located import PROBLEM_LIMIT
from heraldry.schemas.rows import Row, row_reader
from heraldry.schemas.source import Source
from heraldry.schemas.xsd import xml
from heraldry.schemas.xsd.columns import columns_of
from heraldry.schemas.xsd.document import documents
from heraldry.schemas.xsd.engine import Engine
from heraldry.schemas.xsd.model import Element, Model
from heraldry.schemas.xsd.problems import to_problem, unknown_type
from heraldry.schemas.xsd.reader import read
from heraldry.schemas.xsd.root import root_element
from heraldry.schemas.xsd.sample import Sampler
from heraldry.schemas.xsd.writer import Writer

PAYLOAD_LIMIT: Final = 16 * 1024 * 1024
"""How many bytes a payload may have."""

NODE_LIMIT: Final = 10_000
"""How many elements and attributes a payload may have; each error costs the validator time."""

CONDITION_LIMIT: Final = 1_000
"""How many of them a payload may have where the schema has conditions (xs:assert)."""

WORD_LIMIT: Final = 100_000
"""How many words its texts may have where the schema has lists, over the weight of a word."""

CHOICE_LIMIT: Final = 600_000
"""How many pairs of an element and a branch of a choice the slower validator may look at."""

SAMPLE_TRIES: Final = 20
"""How many documents are made up before a schema counts as one without samples."""


class XsdSchema:
    """A compiled XML Schema; see PayloadSchema for what each method promises.

    An element with attributes or children is an object: its members are the attributes and the
    children by their local names (an attribute whose name is taken gets ``@``), its text is the
    member ``value``. What may occur more than once is a list, absent where there is none; a nil
    element is None. Values are int, Decimal, float, bool, datetime, date (its zone left out),
    bytes, lists, and text for all else; a QName is text in Clark's notation, a dateTime or date
    that Python cannot hold is its text. Defaults are filled in, so a value has them all.

    An element is its XML text, canonical, where an object would lose something: mixed or open
    content, repeated choices, ``xs:anyType``, a type that messages may extend by ``xsi:type``.
    What a wildcard lets in is XML text in the member ``any``, attributes in ``any_attributes``.
    Comments, and attributes of a nil element, are not kept; an element that must have attributes
    can be read as nil, but not written so.
    """

    media_type = "application/xml"
    warnings: tuple[str, ...] = ()

    def __init__(self, source: Source) -> None:
        self.source = source
        self.engine = Engine(documents(source), source.version)
        self.model = Model(self.engine.schema)
        try:
            self.root: Element = self.model.element(root_element(source, self.engine.schema))
            self.columns: tuple[Column, ...] = columns_of(self.root)
        except RecursionError:
            raise SchemaError(source.format, "", "its parts are nested too deep") from None
        except (AttributeError, KeyError, TypeError, ValueError, ArithmeticError) as error:
            # A component that the library has built in a way that it should not have.
            reason = f"its components are not understood ({type(error).__name__})"
            raise SchemaError(source.format, "", reason) from None

    def __reduce__(self) -> tuple[Callable[[Source], XsdSchema], tuple[Source]]:
        return load, (self.source,)

    def decode(self, payload: bytes, content_type: str | None = None) -> Any:
        """The value of a valid document, whatever the content type says."""
        return unframed(payload, self._read)

    def _read(self, payload: bytes) -> Any:
        node = _document(payload)
        if problems := self._problems(node):
            raise MessageError(problems)
        return read(node, self.root)

    def encode(self, value: Any, content_type: str | None = None) -> bytes:
        """The document of a valid value, in UTF-8, without an XML declaration."""
        written, problems = self._written(value)
        if problems:
            raise MessageError(problems)
        return written

    def is_valid(self, value: Any) -> bool:
        """Whether a value, or the JSON spelling of one, can be written as a valid document."""
        return not self._written(value)[1]

    def check(self, value: Any) -> tuple[Problem, ...]:
        """Why no valid document can be written: at most PROBLEM_LIMIT problems."""
        return self._written(value)[1]

    def _written(self, value: Any) -> tuple[bytes, tuple[Problem, ...]]:
        writer = Writer()
        try:
            written = writer.document(value, self.root)
        except RecursionError:
            return b"", (Problem(path="/", rule="depth", message="is nested too deep"),)
        if writer.problems:
            return b"", tuple(writer.problems[:PROBLEM_LIMIT])
        try:
            return written, self._problems(_document(written))
        except MessageError as error:
            return b"", error.problems

    def _problems(self, node: xml.Node) -> tuple[Problem, ...]:
        if node.tag != self.root.name:
            wanted, found = xml.local(self.root.name), xml.local(str(node.tag))[:80]
            message = f"is not the element {wanted!r} of the schema"
            if found == wanted:
                message = f"is the element {wanted!r}, but of another namespace"
            expected = self.root.name
            return (
                Problem(
                    path="/", rule="root-element", message=message, expected=expected, found=found
                ),
            )
        if too_much := self._too_much(node):
            return (Problem(path="/", rule="size", message=too_much),)
        if self.engine.is_known_valid(node):
            return ()
        count = sum(1 for _ in node.iter())
        if count * self.engine.choices > CHOICE_LIMIT:
            message = f"has {count} elements, too many to check where so many may be chosen from"
            return (Problem(path="/", rule="size", message=message),)
        try:
            errors = self.engine.errors(node, PROBLEM_LIMIT)
            found_problems = tuple(to_problem(error, node, self.root) for error in errors)
        except RecursionError:
            return (Problem(path="/", rule="depth", message="is nested too deep"),)
        except Exception:  # noqa: BLE001
            # The library lets errors of its own through: such a document is not known to be valid.
            return (unknown_type(node, self.root),)
        return tuple(dict.fromkeys(found_problems))

    def _too_much(self, node: xml.Node) -> str:
        limit = CONDITION_LIMIT if self.engine.has_conditions else NODE_LIMIT
        # Each rule about unique values may look at every element.
        limit = min(limit, 2 * NODE_LIMIT // max(self.engine.keys, 1))
        if sum(1 + len(one.attrib) for one in node.iter()) > limit:
            return f"has more than {limit} elements and attributes, too many to check"
        if self.engine.list_weight:
            limit = WORD_LIMIT // self.engine.list_weight
            if xml.words(node, limit) > limit:
                return f"has more than {limit} words, too many to check where some are lists"
        return ""

    @cached_property
    def to_row(self) -> Callable[[Any], Row]:
        """The row of a decoded value by column name, or the problems of its columns."""
        return row_reader(self.columns)

    def sample(self, random: Random, hints: Mapping[str, Any]) -> Any:
        """A valid value, with the hints in its top-level members where they are valid."""
        for attempt in range(SAMPLE_TRIES):
            try:
                sampler = Sampler(self.model, random, attempt, self.engine.version)
                value = self._read(sampler.document(self.root))
            except (MessageError, ValueError):
                continue
            return self._hinted(value, hints)
        reason = f"no sample found that is valid, in {SAMPLE_TRIES} tries"
        raise SchemaError(self.source.format, self.source.link, reason)

    def _hinted(self, value: Any, hints: Mapping[str, Any]) -> Any:
        if not isinstance(value, dict):
            return value
        for key, hint in hints.items():
            if key not in value:
                continue
            written, problems = self._written({**value, key: hint})
            if not problems:
                # As it is read, so that the value is the one that comes back.
                value = self._read(written)
        return value


def load(source: Source) -> XsdSchema:
    """The schema of the element a link names (C43); SchemaError says what is wrong."""
    return XsdSchema(source)


def _document(payload: bytes) -> xml.Node:
    if len(payload) > PAYLOAD_LIMIT:
        message = f"is larger than {PAYLOAD_LIMIT} bytes"
        raise MessageError((Problem(path="/", rule="size", message=message),))
    try:
        return xml.read(payload)
    except ValueError as error:
        raise MessageError((Problem(path="/", rule="xml", message=str(error)),)) from None
