"""Payload schemas against their libraries: rates in one process, rounds interleaved.

JSON: ``decode`` (parse and validate) against parsing alone. Avro and Protobuf: ``decode`` and
``to_row`` (the values of the columns) against the library's own decoding to Python dicts.
Compiling: the second use of an equal schema against the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter
from typing import Any

import fastavro
from google.protobuf import json_format
from google.protobuf.message_factory import GetMessageClass

from heraldry.dialects.load import load
from heraldry.messages.compile import compile_definition
from heraldry.model.inherit import definitions
from heraldry.schemas import formats
from heraldry.schemas.json_schema.schema import JsonSchema
from heraldry.schemas.parse import parse
from heraldry.schemas.payload_schema import PayloadSchema
from heraldry.schemas.protobuf.schema import ProtobufSchema
from heraldry.schemas.source import Source

EXAMPLES = Path(__file__).parent.parent / "examples"
PAYLOADS = 2_000
JSON_GOAL = 0.4
BINARY_GOAL = 0.7
CACHE_GOAL = 100

Read = Callable[[bytes], object]


def run(rounds: int = 9) -> dict[str, Any]:
    """All benchmarks of payload schemas; the result says which goals are reached."""
    json = {path: _json(path, rounds) for path in ("airport", "formats/bookings-json-schema")}
    avro = _avro(rounds)
    protobuf = _protobuf(rounds)
    cache = _cache()
    goals = {
        f"validated JSON decode >= {JSON_GOAL} x parse": min(json.values()) >= JSON_GOAL,
        f"Avro to columns >= {BINARY_GOAL} x fastavro": avro >= BINARY_GOAL,
        f"Protobuf to columns >= {BINARY_GOAL} x MessageToDict": protobuf >= BINARY_GOAL,
        f"second compile >= {CACHE_GOAL} x faster": min(cache.values()) >= CACHE_GOAL,
    }
    return {"json": json, "avro": avro, "protobuf": protobuf, "cache": cache, "goals": goals}


def schemas(name: str) -> list[PayloadSchema]:
    """The payload schemas of an example catalog."""
    path = EXAMPLES / f"{name}.xreg.json"
    catalog = load(path if path.exists() else EXAMPLES / name)
    found = [compile_definition(catalog, xid).schema for xid in definitions(catalog)]
    return [schema for schema in found if schema is not None]


def payloads(schema: PayloadSchema) -> list[bytes]:
    """Payloads of a schema, the same in every run."""
    return [schema.encode(schema.sample(Random(number), {})) for number in range(PAYLOADS)]


def ratio(baseline: Read, ours: Read, texts: Sequence[bytes], rounds: int) -> float:
    """Our rate by the baseline's: the median of the rounds after a warm-up."""
    ratios = [_seconds(baseline, texts) / _seconds(ours, texts) for _ in range(rounds + 1)]
    return round(median(ratios[1:]), 2)


def _seconds(read: Read, texts: Sequence[bytes]) -> float:
    start = perf_counter()
    for text in texts:
        read(text)
    return perf_counter() - start


def _json(name: str, rounds: int) -> float:
    """The worst ratio over the schemas of a catalog."""
    own = [schema for schema in schemas(name) if isinstance(schema, JsonSchema)]
    return min(ratio(parse, schema.decode, payloads(schema), rounds) for schema in own)


def _avro(rounds: int) -> float:
    (schema,) = schemas("formats/payments-avro")
    # The library knows no catalogs: it is given the document with the other one put in.
    (party,) = schema.source.references
    named = f'"{party.name}"'.encode()
    parsed = fastavro.parse_schema(parse(schema.source.content.replace(named, party.content)))
    read = fastavro.schemaless_reader

    def library(payload: bytes) -> object:
        return read(BytesIO(payload), parsed)

    return ratio(library, _to_columns(schema), payloads(schema), rounds)


def _protobuf(rounds: int) -> float:
    (schema,) = schemas("formats/telemetry-protobuf")
    assert isinstance(schema, ProtobufSchema)
    message: Any = GetMessageClass(schema.message)

    def library(payload: bytes) -> object:
        read = message()
        read.ParseFromString(payload)
        return json_format.MessageToDict(read, preserving_proto_field_name=True)

    return ratio(library, _to_columns(schema), payloads(schema), rounds)


def _to_columns(schema: PayloadSchema) -> Read:
    decode, to_row = schema.decode, schema.to_row
    return lambda payload: to_row(decode(payload))


def _cache() -> dict[str, int]:
    """How many times faster an equal source is the second time, by format."""
    found = {}
    for path in sorted((EXAMPLES / "formats").glob("*.xreg.json")):
        (schema,) = schemas(f"formats/{path.name.removesuffix('.xreg.json')}")
        formats.load.cache_clear()
        first = _once(schema.source)
        again = median(_once(schema.source) for _ in range(1_000))
        found[schema.source.format] = round(first / again)
    return found


def _once(source: Source) -> float:
    start = perf_counter()
    formats.compile(
        source.format,
        source.content,
        source.link,
        name=source.name,
        references=source.references,
    )
    return perf_counter() - start
