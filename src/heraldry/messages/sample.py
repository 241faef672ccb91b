"""Sampling: a plausible message of a definition, the same for the same seed."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any
from uuid import UUID

from heraldry.messages.build import BuiltMessage, Clock, NewId, build, now
from heraldry.messages.compile import (
    CompiledDefinition,
    infers_json,
    is_media_type,
    states_envelope,
)
from heraldry.messages.constraint import Constraint
from heraldry.messages.message import Mode
from heraldry.messages.values import is_json_media_type

NOTHING: Any = object()
"""Stands for data that was not given; None is a payload's absence."""

_FIXED = {"status": "200", "content-encoding": "gzip"}
"""Properties of protocols that have few values."""


def sample(
    compiled: CompiledDefinition,
    data: Any = NOTHING,
    *,
    seed: int = 0,
    values: Mapping[str, Any] | None = None,
    protocol: str | None = None,
    mode: Mode | None = None,
    event_format: str | None = None,
    clock: Clock = now,
    make_id: NewId | None = None,
) -> BuiltMessage:
    """Build a message and make up whatever is not given; equal placeholders get equal values.

    The id follows from the seed too; only the time is the current one.
    """
    given = dict(values or {})
    made = {name: sample_value(name, seed) for name in compiled.placeholders} | given
    for rule in compiled.constraints:
        needed = rule.required and rule.kind in ("type", "required") and not rule.now
        if needed and rule.path != "attributes.id" and not _is_given(compiled, rule, given):
            made[rule.path] = sample_property(compiled, rule, seed)
    if data is NOTHING:
        data = sample_payload(compiled, seed, made)
    return build(
        compiled,
        data,
        values=made,
        protocol=protocol,
        mode=mode,
        event_format=event_format,
        clock=clock,
        make_id=make_id or (lambda: sample_id(compiled, seed)),
    )


def _is_given(compiled: CompiledDefinition, rule: Constraint, given: Mapping[str, Any]) -> bool:
    """Whether a property was given, by its path or by a name that is no placeholder."""
    path = rule.path.removeprefix("metadata.")
    bare = rule.place.member or rule.place.name
    return rule.path in given or path in given or bare in given.keys() - compiled.placeholders


def sample_id(compiled: CompiledDefinition, seed: int) -> str:
    """An id that differs with the seed and the definition."""
    return str(UUID(int=Random(f"{seed}/{compiled.xid}/id").getrandbits(128), version=4))


def sample_value(name: str, seed: int = 0) -> str:
    """A readable value of a placeholder, such as ``tenantid-4821``."""
    return f"{name}-{Random(f'{seed}/{name}').randint(1000, 9999)}"


def sample_property(compiled: CompiledDefinition, rule: Constraint, seed: int) -> Any:
    """A value for a required property that the definition leaves open, by its type."""
    name = rule.place.member or rule.place.name
    if rule.path == "attributes.type":
        return compiled.definition.xid.resource
    if is_media_type(rule.place):
        return compiled.schema.media_type if compiled.schema else "application/json"
    if rule.place.section == "metadata" and name in _FIXED:
        return _FIXED[name]
    random = Random(f"{seed}/{rule.path}")
    number = random.randint(1000, 9999)
    if rule.type == "integer" and rule.place.section == "metadata":
        return number % 2  # every integer of every protocol can be 0 and 1
    match rule.type:
        case "integer" | "ulong":
            return number
        case "number":
            return number / 10
        case "boolean":
            return True
        case "timestamp":
            return f"2026-01-{1 + number % 28:02}T{number % 24:02}:{number % 60:02}:00Z"
        case "duration":
            return f"PT{number}S"
        case "uri":
            return f"https://example.com/{name}/{number}"
        case "urireference" | "uritemplate":
            return f"/{name}/{number}"
        case "binary":
            return "AAECAw=="
        case "uuid":
            return f"00000000-0000-4000-8000-00000000{number}"
        case "symbol":
            return f"{name}_{number}".replace("-", "_")
    return f"{name}-{number}"


def sample_payload(compiled: CompiledDefinition, seed: int, hints: Mapping[str, Any]) -> Any:
    """A payload the schema accepts; without a usable schema a small one of the content type."""
    if compiled.schema is not None:
        return compiled.schema.sample(Random(f"{seed}/{compiled.xid}"), hints)
    own = compiled.definition
    declared = None if states_envelope(own) else own.datacontenttype
    for rule in compiled.constraints:
        if rule.kind == "media-type" and not rule.inferred:
            declared = declared or rule.text
    if declared is None or infers_json(own) or is_json_media_type(declared):
        return {}
    return b"sample"
