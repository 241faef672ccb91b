"""Protocol Buffers (proto2, proto3, editions) on protoc and the runtime: binary and JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from google.protobuf import json_format
from google.protobuf.message import DecodeError, EncodeError
from google.protobuf.message_factory import GetMessageClass

from heraldry.errors import MessageError, SchemaError
from heraldry.model.problem import Problem
from heraldry.schemas.columns import Column, is_whole
from heraldry.schemas.framing import unframed
from heraldry.schemas.parse import encode, parse
from heraldry.schemas.protobuf.columns import columns_of
from heraldry.schemas.protobuf.compiled import Compiled
from heraldry.schemas.protobuf.fields import NESTING_LIMIT, has_required, impossible
from heraldry.schemas.protobuf.framing import bodies
from heraldry.schemas.protobuf.reader import Readers
from heraldry.schemas.protobuf.rows import row_reader
from heraldry.schemas.protobuf.sample import Sampler, hinted
from heraldry.schemas.protobuf.walk import lacking, refused
from heraldry.schemas.protobuf.writer import Problems, Writers
from heraldry.schemas.rows import Row
from heraldry.schemas.rows import row_reader as general_reader
from heraldry.schemas.source import Source

_JSON = re.compile(r"\s*[\w.+-]+/(?:[\w.-]+\+)?json\s*(?:;.*)?", re.IGNORECASE | re.DOTALL)
_NOT_DECODED = (TypeError, KeyError, ValueError, AttributeError, RecursionError)


class ProtobufSchema:
    """A compiled message type; see PayloadSchema for what each method promises.

    A value is a dict by field name. Fields without presence, lists and maps are always there,
    others where they are set. Integers of any width are ``int``; an enum is its (first) name, or
    the number that has none; the keys of maps are texts. A Timestamp is a datetime in UTC, or
    RFC 3339 text where it is finer than microseconds; a Duration is text (``1.5s``), a FieldMask
    text with commas, a wrapper its plain value, a Struct, Value or ListValue the JSON value, and
    an Any its ``@type`` and its ``value`` in base64. Extensions and unknown fields are left out.
    """

    media_type = "application/protobuf"
    warnings: tuple[str, ...] = ()

    def __init__(self, source: Source) -> None:
        self.source = source
        self.compiled = Compiled(source)
        self.message = message = self.compiled.message
        self._class: Any = GetMessageClass(message)
        self._read = Readers(message).message(message)
        self._write = Writers(message, self.compiled.pool).message(message)
        self._may_lack = has_required(message)
        self.columns: tuple[Column, ...] = columns_of(message)
        self._general_row = general_reader(self.columns)
        self._row: Callable[[Any], Row] = (
            self._general_row if is_whole(self.columns) else row_reader(self.columns)
        )

    def __reduce__(self) -> tuple[Callable[[Source], ProtobufSchema], tuple[Source]]:
        return load, (self.source,)

    def decode(self, payload: bytes, content_type: str | None = None) -> Any:
        """The value in the payload: JSON by content type, or by its look where there is none."""
        if content_type is not None and _JSON.fullmatch(content_type):
            return unframed(payload, self._from_json)
        try:
            return self._from_binary(payload)
        except MessageError as error:
            if content_type is None and payload.lstrip()[:1] == b"{":
                return self._from_json(payload)
            plain = error

        def read(part: bytes) -> Any:
            if part is payload:
                raise plain
            return self._from_parts(bodies(part))

        return unframed(payload, read)

    def _from_parts(self, parts: list[bytes]) -> Any:
        for part in parts[:-1]:
            try:
                return self._from_binary(part)
            except MessageError:
                continue
        return self._from_binary(parts[-1])

    def _from_binary(self, payload: bytes) -> Any:
        try:
            message = self._class.FromString(payload)
        except DecodeError as error:
            raise MessageError((_unreadable(str(error)),)) from None
        return self._value(message)

    def _value(self, message: Any) -> Any:
        try:
            if self._may_lack and not self._class.IsInitialized(message):
                raise MessageError(lacking(message, self.message))
            return self._read(message)
        except ValueError:
            raise MessageError(refused(message, self.message)) from None

    def _from_json(self, payload: bytes) -> Any:
        return self._value(self._message(parse(payload), is_json=True))

    def _message(self, value: Any, *, is_json: bool = False) -> Any:
        """The message of a value, which survives the wire; MessageError where there is none."""
        message, problems = self._class(), Problems(is_json=is_json)
        self._write(message, value, problems)
        if problems.found:
            raise MessageError(tuple(problems.found))
        try:
            return self._class.FromString(self._class.SerializePartialToString(message))
        except (DecodeError, EncodeError) as error:
            raise MessageError((_unreadable(str(error)),)) from None

    def encode(self, value: Any, content_type: str | None = None) -> bytes:
        """The bytes of a valid value: binary, or JSON where the content type says so."""
        message = self._message(value)
        if content_type is None or not _JSON.fullmatch(content_type):
            data: bytes = self._class.SerializePartialToString(message, deterministic=True)
            return data
        try:
            return encode(json_format.MessageToDict(message, descriptor_pool=self.compiled.pool))
        except (json_format.Error, TypeError, ValueError, KeyError, AttributeError):
            told = "has no spelling in JSON (an Any of unknown type, or an unusual mask or name)"
            raise MessageError((Problem(path="/", rule="json", message=told),)) from None

    def is_valid(self, value: Any) -> bool:
        """Whether a value has a message, in its native or its JSON spelling."""
        return not self.check(value)

    def check(self, value: Any) -> tuple[Problem, ...]:
        """The first PROBLEM_LIMIT problems of a value, in the order of its members."""
        try:
            self._message(value)
        except MessageError as error:
            return error.problems
        return ()

    def to_row(self, value: Any) -> Row:
        """The row of a valid value by column name, or the problems of its columns."""
        try:
            return self._row(value)
        except _NOT_DECODED:
            return self._other_row(value)

    def _other_row(self, value: Any) -> Row:
        # A value in the spelling of JSON has a row too, once it is read like a decoded one.
        try:
            return self._row(self._value(self._message(value)))
        except (MessageError, *_NOT_DECODED):
            return self._general_row(value)

    def sample(self, random: Random, hints: Mapping[str, Any]) -> Any:
        """A valid value, with the hints in its top-level fields where they are valid."""
        none = impossible(self.message)
        value = None
        if self.message.full_name not in none:
            value = self._normal(Sampler(random, none).message(self.message))
        if value is None:
            reason = "no sample found that is valid: what it requires is too large, or endless"
            raise SchemaError(self.source.format, self.source.link, reason)
        return hinted(value, dict(hints), self._normal)

    def _normal(self, value: Any) -> Any | None:
        try:
            return self._value(self._message(value))
        except MessageError:
            return None


def load(source: Source) -> ProtobufSchema:
    """The message type that a source names (C43); SchemaError says what is wrong."""
    try:
        return ProtobufSchema(source)
    except RecursionError:
        # The runtime makes its classes by recursion, from each message to those it holds.
        reason = "its messages hold one another in too long a chain"
        raise SchemaError(source.format, source.link, reason) from None


def _unreadable(reason: str) -> Problem:
    if "MaxDepth" in reason:
        told = f"is nested deeper than {NESTING_LIMIT} messages"
        return Problem(path="/", rule="depth", message=told)
    if "UTF-8" in reason:
        return Problem(path="/", rule="text", message="has a text that is not UTF-8")
    return Problem(path="/", rule="protobuf", message="is not a message of this type")
