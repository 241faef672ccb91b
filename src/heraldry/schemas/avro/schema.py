"""Apache Avro 1.8 to 1.12: binary, JSON and single-object encoding, decoded by fastavro."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from random import Random
from typing import Any, Final

from heraldry.errors import MessageError, SchemaError
from heraldry.model.problem import Problem
from heraldry.schemas.avro.canonical import fingerprint
from heraldry.schemas.avro.columns import place_of
from heraldry.schemas.avro.document import read
from heraldry.schemas.avro.fast import fast_reader
from heraldry.schemas.avro.libraries import check_by_libraries
from heraldry.schemas.avro.media_types import BINARY, encoding_of
from heraldry.schemas.avro.nodes import Field, Record, Schema
from heraldry.schemas.avro.reader import Reader
from heraldry.schemas.avro.rows import columns_of, rows_of
from heraldry.schemas.avro.sample import Sampler
from heraldry.schemas.avro.shape import DEPTH_LIMIT, ENDLESS, PART_LIMIT, Shape
from heraldry.schemas.avro.writer import Spelling, write, write_type
from heraldry.schemas.columns import Column
from heraldry.schemas.framing import unframed
from heraldry.schemas.parse import encode, parse
from heraldry.schemas.rows import Row
from heraldry.schemas.source import Source

_SINGLE: Final = b"\xc3\x01"
_CONTAINER: Final = b"Obj\x01"


class AvroSchema:
    """A compiled Avro schema; see PayloadSchema for what each method promises.

    Values are those that fastavro gives: dicts, lists, numbers, texts and bytes, a union's value
    without a tag. Of the logical types, dates, times of day, timestamps of milliseconds and
    microseconds (with a zone, or local without) and UUIDs are the types of Python, decimals are
    exact, timestamps of nanoseconds are integers, and a duration is the ISO 8601 text
    ``P1M2DT3.004S``. A ``float`` holds what 32 bits do.
    """

    media_type = BINARY
    warnings: tuple[str, ...] = ()

    def __init__(self, source: Source) -> None:
        self.source = source
        self.schema: Schema = read(source)
        self._shape = Shape(self.schema)
        _check_shape(source.format, self._shape, self.schema)
        _check_defaults(source.format, self.schema)
        check_by_libraries(source.format, self.schema)
        self._careful = Reader(self.schema)
        self._fast = fast_reader(self.schema, self._shape) or self._careful.read
        place, members = place_of(self.schema)
        self.columns: tuple[Column, ...] = columns_of(place, members)
        self.to_row: Callable[[Any], Row] = rows_of(place, members)

    def __reduce__(self) -> tuple[Callable[[Source], AvroSchema], tuple[Source]]:
        return load, (self.source,)

    @cached_property
    def _prefix(self) -> bytes:
        """How a payload in single-object encoding begins."""
        return _SINGLE + fingerprint(self.schema)

    @cached_property
    def _json_reader(self) -> Reader:
        return Reader(self.schema, tagged=True)

    def decode(self, payload: bytes, content_type: str | None = None) -> Any:
        """The value in a payload, in the encoding that the content type names.

        Where it names none, the payload is binary, or else JSON if it begins so. The prefix of
        the single-object encoding is recognised in any case.
        """
        encoding = encoding_of(content_type)
        if encoding == "json":
            return unframed(payload, self._from_json, ambiguous=True)
        try:
            return unframed(payload, self._from_binary, ambiguous=True)
        except MessageError as error:
            if encoding == "any" and _is_json(payload):
                return self._from_json(payload)
            return self._reasoned(payload, error)

    def _from_binary(self, payload: bytes) -> Any:
        if payload[:2] == _SINGLE and payload.startswith(self._prefix):
            return self._fast(payload[len(self._prefix) :])
        return self._fast(payload)

    def _reasoned(self, payload: bytes, error: MessageError) -> Any:
        """Read with care what could not be read fast, to say where and why."""
        if payload.startswith(_CONTAINER):
            told = "is an Avro container file, not one message"
            raise _refused("container", told)
        if payload[:2] != _SINGLE:
            if self._fast == self._careful.read:
                raise error
            return self._careful.read(payload)
        if payload.startswith(self._prefix):
            return self._careful.read(payload[len(self._prefix) :])
        told = "begins with the fingerprint of another schema, and is not plain binary either"
        raise _refused("fingerprint", told, payload[2:10].hex())

    def _from_json(self, payload: bytes) -> Any:
        return self._careful.read(self._written(parse(payload), "avro"))

    def _written(self, value: Any, spelling: Spelling) -> bytes:
        made = write(self.schema, value, spelling)
        if isinstance(made, bytes):
            return made
        raise MessageError(made)

    def encode(self, value: Any, content_type: str | None = None) -> bytes:
        """The bytes of a valid value: binary, unless the content type names another encoding."""
        data = self._written(value, "plain")
        encoding = encoding_of(content_type)
        if encoding == "json":
            return encode(self._json_reader.read(data))
        return self._prefix + data if encoding == "single-object" else data

    def is_valid(self, value: Any) -> bool:
        """Whether the schema accepts a value, typed or in its JSON spelling."""
        return isinstance(write(self.schema, value, "plain"), bytes)

    def check(self, value: Any) -> tuple[Problem, ...]:
        """The problems of a value, in the order of the fields; none if it is valid."""
        made = write(self.schema, value, "plain")
        return () if isinstance(made, bytes) else made

    def sample(self, random: Random, hints: Mapping[str, Any]) -> Any:
        """A valid value, with the hints in its fields where they are valid."""
        if self._shape.least(self.schema.top) >= ENDLESS:
            raise SchemaError(self.source.format, self.source.link, "no value has an end")
        try:
            value = Sampler(self.schema, self._shape, random).value(self.schema.top)
        except RecursionError:
            reason = "its smallest value is nested too deeply"
            raise SchemaError(self.source.format, self.source.link, reason) from None
        node = self.schema.resolve(self.schema.top)
        if isinstance(value, dict) and isinstance(node, Record):
            for field in node.fields:
                if field.name in hints:
                    value[field.name] = self._hinted(field, hints[field.name], value[field.name])
        return value

    def _hinted(self, field: Field, hint: Any, value: Any) -> Any:
        """The hint as a value of the field, or else what it spells in JSON, or else the value."""
        for candidate in (hint, _spelled(hint)):
            made = write_type(self.schema, field.type, candidate, "plain")
            if isinstance(made, bytes):
                return Reader(Schema(field.type, self.schema.named)).read(made)
        return value


def load(source: Source) -> AvroSchema:
    """The schema in an Avro document, or the type a link names; SchemaError for a wrong one."""
    return AvroSchema(source)


def _check_shape(format: str, shape: Shape, schema: Schema) -> None:  # noqa: A002
    if shape.depth > DEPTH_LIMIT:
        raise SchemaError(format, "", f"its types are nested deeper than {DEPTH_LIMIT} levels")
    if PART_LIMIT < shape.least(schema.top) < ENDLESS:
        raise SchemaError(format, "", f"its smallest value has more than {PART_LIMIT} parts")


def _check_defaults(format: str, schema: Schema) -> None:  # noqa: A002
    for node in schema.named.values():
        for field in node.fields if isinstance(node, Record) else ():
            if not field.has_default:
                continue
            made = write_type(schema, field.type, field.default, "default")
            if not isinstance(made, bytes):
                reason = f"the default of the field {field.name!r} {made[0].message}"
                raise SchemaError(format, f"{field.at}/default", reason)


def _is_json(payload: bytes) -> bool:
    try:
        parse(payload)
    except MessageError:
        return False
    return True


def _spelled(hint: Any) -> Any:
    if not isinstance(hint, str):
        return hint
    try:
        return parse(hint.encode("utf-8", "replace"))
    except MessageError:
        return hint


def _refused(rule: str, message: str, found: str | None = None) -> MessageError:
    return MessageError((Problem(path="/", rule=rule, message=message, found=found),))
