"""Simple types as frozen values: what they are made of, free of the validator's components."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Literal

from heraldry.schemas.xsd.document import XSD

Kind = Literal[
    "string", "integer", "decimal", "float", "boolean", "dateTime", "date", "text", "hexBinary",
    "base64Binary", "QName", "list", "union",
]  # fmt: skip
"""How values are read: ``text`` is what has no type of its own (times, durations, URIs, ...)."""

_KINDS: dict[str, Kind] = {
    "string": "string",
    "decimal": "decimal",
    "float": "float",
    "double": "float",
    "boolean": "boolean",
    "dateTime": "dateTime",
    "date": "date",
    "hexBinary": "hexBinary",
    "base64Binary": "base64Binary",
    "QName": "QName",
}
_LONG = 2**63
_RANGES: Final = {
    "byte": (-(2**7), 2**7 - 1),
    "short": (-(2**15), 2**15 - 1),
    "int": (-(2**31), 2**31 - 1),
    "long": (-_LONG, _LONG - 1),
    "unsignedByte": (0, 2**8 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedLong": (0, 2**64 - 1),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
}
"""The least and the greatest value of the integer types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleType:
    """A simple type with all its facets, its own and those of the types it restricts.

    ``builtin`` is the nearest type of the standard itself, ``primitive`` the one under it;
    ``patterns`` holds one alternative list per step of derivation, all of which apply.
    ``low`` and ``high`` are bounds as (value, whether the value itself is allowed).
    """

    kind: Kind
    builtin: str
    primitive: str
    white_space: str = "collapse"
    enumeration: tuple[str, ...] | None = None
    patterns: tuple[tuple[str, ...], ...] = ()
    low: tuple[Any, bool] | None = None
    high: tuple[Any, bool] | None = None
    min_length: int | None = None
    max_length: int | None = None
    total_digits: int | None = None
    fraction_digits: int | None = None
    item: SimpleType | None = None
    members: tuple[SimpleType, ...] = ()
    conditions: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[Any, ...]:
        """What tells when two texts are the same value, or one is greater than the other."""
        parts = (self.item, *self.members) if self.item else self.members
        return self.primitive, self.white_space, *(one.values for one in parts)

    def normal(self, text: str) -> str:
        """A text with its white space as the type has it."""
        if self.white_space == "preserve":
            return text
        if self.white_space == "replace":
            return text.translate({9: " ", 10: " ", 13: " "})
        return " ".join(text.split(" ")) if not _spaced(text) else _collapsed(text)


def _spaced(text: str) -> bool:
    return (
        any(letter in text for letter in "\t\n\r")
        or text[:1] == " "
        or text[-1:] == " "
        or ("  " in text)
    )


def _collapsed(text: str) -> str:
    spaces = text.translate({9: " ", 10: " ", 13: " "})
    return " ".join(part for part in spaces.split(" ") if part)


def simple_type(component: Any) -> SimpleType:
    """The simple type of a component."""
    chain = _chain(component)
    kind, builtin, primitive = _kind(component, chain)
    facets = _Facets(chain)
    low, high = _bounds(builtin, facets)
    exact = facets.number("length")
    base = chain[-1]
    return SimpleType(
        kind=kind,
        builtin=builtin,
        primitive=primitive,
        white_space=component.white_space or ("preserve" if kind == "string" else "collapse"),
        enumeration=facets.enumeration(),
        patterns=facets.patterns(),
        low=low,
        high=high,
        min_length=exact if exact is not None else facets.number("minLength"),
        max_length=exact if exact is not None else facets.number("maxLength"),
        total_digits=facets.number("totalDigits"),
        fraction_digits=0 if kind == "integer" else facets.number("fractionDigits"),
        item=simple_type(base.item_type) if kind == "list" else None,
        members=tuple(map(simple_type, base.member_types)) if kind == "union" else (),
        conditions=facets.conditions(),
    )


def _chain(component: Any) -> list[Any]:
    """The type and those it restricts, down to a type of the standard, a list or a union."""
    chain = [component]
    while component.name is None or not component.name.startswith(f"{{{XSD}}}"):
        base = component.base_type
        if base is not None and not base.is_simple():
            # A type with simple content: its text is what is restricted.
            base = base.content if base.has_simple_content() else None
        if hasattr(component, "item_type") or hasattr(component, "member_types") or base is None:
            break
        component = base
        chain.append(component)
    # The lists of the standard (NMTOKENS, ...) restrict a list in turn.
    while component.is_list() and not hasattr(component, "item_type"):
        base = component.base_type or component.root_type
        if base is component:
            break
        component = base
        chain.append(component)
    return chain


def _kind(component: Any, chain: list[Any]) -> tuple[Kind, str, str]:
    if component.is_list():
        return "list", "list", "list"
    if component.is_union():
        return "union", "union", "union"
    builtin = str(chain[-1].local_name)
    names = set()
    base = chain[-1]
    while base is not None:
        names.add(base.local_name)
        base = base.base_type
    if "integer" in names:
        return "integer", builtin, "decimal"
    primitive = getattr(chain[-1].root_type, "local_name", "") or ""
    return _KINDS.get(primitive, "text"), builtin, primitive


class _Facets:
    """The facets along a chain of restrictions; the nearest one counts."""

    def __init__(self, chain: list[Any]) -> None:
        self._steps: list[dict[str, Any]] = [
            {str(tag).rpartition("}")[2]: facet for tag, facet in step.facets.items() if tag}
            for step in chain
        ]

    def first(self, name: str) -> Any:
        return next((step[name] for step in self._steps if name in step), None)

    def number(self, name: str) -> int | None:
        facet = self.first(name)
        return None if facet is None else int(facet.value)

    def enumeration(self) -> tuple[str, ...] | None:
        facet = self.first("enumeration")
        if facet is None:
            return None
        return tuple(str(elem.get("value", "")) for elem in facet)

    def patterns(self) -> tuple[tuple[str, ...], ...]:
        facets = [step["pattern"] for step in self._steps if "pattern" in step]
        # The types of the standard have patterns of their own, which are not of interest.
        return tuple(tuple(one.regexps) for one in facets if not _is_builtin(one.parent))

    def conditions(self) -> tuple[str, ...]:
        found: list[str] = []
        for step in self._steps:
            facet = step.get("assertion")
            for one in facet if isinstance(facet, list) else [facet] if facet is not None else []:
                found.append(str(one.path))  # noqa: PERF401
        zone = self.first("explicitTimezone")
        return (*found, *([f"explicitTimezone={zone.value}"] if zone is not None else []))

    def bound(self, side: str) -> tuple[Any, bool] | None:
        for step in self._steps:
            for suffix, inclusive in (("Inclusive", True), ("Exclusive", False)):
                if (facet := step.get(side + suffix)) is not None:
                    return facet.value, inclusive
        return None


def _is_builtin(component: Any) -> bool:
    return component is not None and str(component.name).startswith(f"{{{XSD}}}")


def _bounds(builtin: str, facets: _Facets) -> tuple[Any, Any]:
    least, most = _RANGES.get(builtin, (None, None))
    low, high = facets.bound("min"), facets.bound("max")
    if least is not None and (low is None or _below(low[0], least)):
        low = (Decimal(least), True)
    if most is not None and (high is None or _below(most, high[0])):
        high = (Decimal(most), True)
    return low, high


def _below(one: Any, other: Any) -> bool:
    return bool(Decimal(one) < Decimal(other))
