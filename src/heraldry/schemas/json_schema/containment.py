"""Whether one schema accepts every value of another, as far as that can be decided."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, Final, Literal

import jsonschema_rs

from heraldry.errors import UnreadableError
from heraldry.schemas.json_schema.containment_document import standing_alone
from heraldry.schemas.json_schema.document import Document, nodes

Answer = Literal["yes", "no", "unknown"]

# The canonical form distinguishes cases, so that its cost is exponential in some keywords, and no
# call of it can be interrupted. Below these limits the worst measured took 0.3 seconds.
NODE_LIMIT: Final = 1_500
"""How many objects a document may have to be decided."""

CASE_LIMIT: Final = 64
"""Into how many cases the alternatives that apply to one value may multiply."""

VALUE_LIMIT: Final = 500
"""How many values an enumeration may have."""

# The difference of two schemas is a schema too, and grows much faster than the answer does.
_SMALL_NODES, _SMALL_CASES = 40, 8

_DRAFTS: Final = {
    4: jsonschema_rs.Draft4,
    6: jsonschema_rs.Draft6,
    7: jsonschema_rs.Draft7,
    2019: jsonschema_rs.Draft201909,
    2020: jsonschema_rs.Draft202012,
}
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")


def covers(document: Document, wide: Any, other: Document, narrow: Any) -> Answer:
    """Whether ``wide`` (a part of a document) accepts every value that ``narrow`` accepts."""
    pair = _canonical_pair(document, wide, other, narrow)
    if pair is None:
        return "unknown"
    answer = _guarded(lambda: str(pair[0].covers(pair[1]).value))
    return answer if answer in ("yes", "no") else "unknown"


def disjoint(document: Document, parts: list[Any]) -> bool:
    """Whether it is certain that no value is accepted by two of the parts of a document."""
    forms = [_canonical(document, part) for part in parts]
    if len(parts) > VALUE_LIMIT // 10:
        return False
    for at, one in enumerate(forms):
        for two in forms[:at]:
            if one is None or two is None:
                return False
            meet = _guarded(lambda one=one, two=two: str(one.intersect(two).satisfiability().value))
            if meet != "no":
                return False
    return True


def difference(document: Document, wide: Any, other: Document, narrow: Any) -> Any:
    """A schema of the values that ``narrow`` accepts and ``wide`` refuses; None if not at hand."""
    if not (_small(document, wide) and _small(other, narrow)):
        return None
    pair = _canonical_pair(document, wide, other, narrow)
    return None if pair is None else _guarded(lambda: pair[1].subtract(pair[0]).to_json_schema())


def _canonical_pair(
    document: Document, wide: Any, other: Document, narrow: Any
) -> tuple[jsonschema_rs.CanonicalSchema, jsonschema_rs.CanonicalSchema] | None:
    # A keyword may mean something else in another draft, so these are never mixed.
    if document.draft != other.draft:
        return None
    one, two = _canonical(document, wide), _canonical(other, narrow)
    return None if one is None or two is None else (one, two)


def _canonical(document: Document, part: Any) -> jsonschema_rs.CanonicalSchema | None:
    whole = standing_alone(document, part, NODE_LIMIT)
    if whole is None or not _affordable(Document(whole, document.draft), whole):
        return None
    form: jsonschema_rs.CanonicalSchema | None = _guarded(
        lambda: jsonschema_rs.canonicalize(
            whole,
            draft=_DRAFTS[document.draft],
            pattern_options=jsonschema_rs.RegexOptions(),
            offline=True,
        )
    )
    return form


def _guarded(ask: Any) -> Any:
    """What a call of the experimental engine gives, or None where it fails in any way."""
    try:
        return ask()
    except (ValueError, jsonschema_rs.ReferencingError):
        return None
    except BaseException as error:
        # A panic of the engine is no Exception, and its class cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        return None


def _affordable(document: Document, whole: Any) -> bool:
    for count, node in enumerate(nodes(whole)):
        sizes = {key: len(value) for key, value in node.items() if isinstance(value, (list, dict))}
        patterns = sizes.get("patternProperties", 0)
        # Every pattern is tried on every name and every other pattern.
        meeting = patterns * (patterns + sizes.get("properties", 0))
        if count >= NODE_LIMIT or max(sizes.get("enum", 0), meeting) > VALUE_LIMIT:
            return False
    return _Cases(document).most() <= CASE_LIMIT


def _small(document: Document, part: Any) -> bool:
    inside = list(islice(nodes(part), _SMALL_NODES + 1))
    if len(inside) > _SMALL_NODES or any(key in node for node in inside for key in _REFERENCES):
        return False
    return _Cases(Document(part, document.draft)).most() <= _SMALL_CASES


class _Cases:
    """Counts the cases that each object of a document falls into, each object once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._known: dict[int, float] = {}

    def most(self) -> float:
        try:
            return max((self._of(node) for node in nodes(self._document.root)), default=1)
        except RecursionError:
            return math.inf

    def _of(self, schema: Any) -> float:
        if not isinstance(schema, Mapping):
            return 1
        known = self._known.get(id(schema))
        if known is None:
            self._known[id(schema)] = 1
            known = float(min(math.prod(self._factors(schema)), 1e9))
            self._known[id(schema)] = known
        return known

    def _factors(self, schema: Mapping[str, Any]) -> Iterator[float]:
        for key in _REFERENCES:
            with suppress(UnreadableError):
                if key in schema:
                    yield self._of(self._document.target(schema[key], guess=True))
        for key in ("anyOf", "oneOf", "allOf"):
            parts = schema.get(key)
            if isinstance(parts, list) and parts:
                counts = [self._of(part) for part in parts]
                yield math.prod(counts) if key == "allOf" else sum(counts)
        if "not" in schema:
            yield self._negated(schema["not"])
        if "if" in schema:
            yield 4 * math.prod(self._of(schema.get(key)) for key in ("if", "then", "else"))
        for key in ("dependentSchemas", "dependentRequired", "dependencies"):
            parts = schema.get(key)
            if isinstance(parts, Mapping):
                yield math.prod(1 + self._of(part) for part in parts.values())

    def _negated(self, schema: Any) -> float:
        if not isinstance(schema, Mapping):
            return 1
        members = schema.get("properties")
        return self._of(schema) + (len(members) if isinstance(members, Mapping) else 0)
