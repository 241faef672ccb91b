"""The shape of payloads: which element becomes a record, a list, a value or a piece of XML text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

from xmlschema.validators import XsdAnyElement, XsdElement, XsdGroup

from heraldry.schemas.xsd.simple_type import SimpleType, simple_type
from heraldry.schemas.xsd.xml import local

TEXT: Final = "value"
"""The key of an element's text where it has attributes, too."""

ANY: Final = "any"
"""The key of the elements a wildcard lets in, each as XML text."""

ANY_ATTRIBUTES: Final = "any_attributes"
"""The key of the attributes a wildcard lets in, by name in Clark's notation."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """An element kept as XML text, because of ``reason``; nothing of it is lost."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """An attribute; ``value`` is its default, which a fixed value is, too."""

    key: str
    name: str
    type: SimpleType
    required: bool
    value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """One kind of child; ``element`` is None for those a wildcard lets in.

    ``low`` and ``high`` say how often it occurs in all, ``high`` None being without limit.
    """

    key: str
    name: str
    element: Element | None
    low: int
    high: int | None

    @property
    def is_list(self) -> bool:
        """Whether its values come as a list."""
        return self.high != 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """An element with attributes, and with children or a text (``text``, under TEXT)."""

    attributes: tuple[Attribute, ...]
    children: tuple[Child, ...]
    text: SimpleType | None
    any_attributes: str | None
    ordered: bool


Shape = SimpleType | Record | Opaque


@dataclass(frozen=True, slots=True)
class Particle:
    """A node of a content model: a group of others, an element, or a wildcard."""

    kind: Literal["sequence", "choice", "all", "element", "any"]
    low: int
    high: int | None
    parts: tuple[Particle, ...] = ()
    component: Any = None


class Element:
    """A declared element; its shape is read when it is needed, as types may be recursive."""

    def __init__(self, model: Model, component: Any) -> None:
        self.model, self.component = model, component
        self.name: str = component.name
        self.nillable = bool(component.nillable)
        self.default: str | None = (
            component.fixed if component.fixed is not None else (component.default)
        )

    @cached_property
    def shape(self) -> Shape:
        """How values of the element look."""
        if getattr(self.component, "alternatives", None):
            return Opaque("its type depends on its attributes")
        return self.model.shape(self.component.type, str(self.component.block or ""))


class Model:
    """The elements of one compiled schema."""

    def __init__(self, schema: Any) -> None:
        self.maps = schema.maps
        self._elements: dict[int, Element] = {}
        self._shapes: dict[tuple[int, bool], Shape] = {}

    def element(self, component: Any) -> Element:
        """The one element of a component."""
        if id(component) not in self._elements:
            self._elements[id(component)] = Element(self, component)
        return self._elements[id(component)]

    def shape(self, kind: Any, block: str) -> Shape:
        """The shape of a type."""
        blocked = block == "#all" or "extension" in block
        key = (id(kind), blocked)
        if key not in self._shapes:
            self._shapes[key] = self._shape(kind, blocked)
        return self._shapes[key]

    def _shape(self, kind: Any, blocked: bool) -> Shape:
        if kind.is_simple():
            return simple_type(kind)
        if reason := self._opaque(kind, blocked):
            return Opaque(reason)
        if kind.has_simple_content():
            return _record(kind, simple_type(kind.content), (), ordered=True)
        children = self._children(kind.content)
        if children is None:
            return Opaque("the order of its elements is not fixed by the schema")
        return _record(kind, None, children, ordered=kind.content.model != "all")

    def _opaque(self, kind: Any, blocked: bool) -> str:
        if kind.name is not None and local(kind.name) == "anyType":
            return "it may hold anything"
        if kind.mixed:
            return "it mixes text and elements"
        if getattr(kind, "open_content", None) is not None and kind.open_content.mode != "none":
            return "its content is open"
        if kind.abstract or (id(kind) in self._extended and not blocked and not _closed(kind)):
            return "xsi:type may give it another type"
        return ""

    @cached_property
    def _extended(self) -> set[int]:
        """The types that another one extends: messages may put that one in their place."""
        found: set[int] = set()
        for kind in self.maps.types.values():
            extended = False
            while kind is not None and not kind.is_simple():
                extended = extended or kind.derivation == "extension"
                kind = kind.base_type
                if extended and kind is not None:
                    found.add(id(kind))
        return found

    def derived(self, kind: Any, blocked: str) -> list[Any]:
        """The global complex types that a message may put in the place of a type."""
        if "#all" in blocked:
            return []
        return [
            one
            for one in self.maps.types.values()
            if one is not kind and one.is_complex() and one.is_derived(kind) and not one.abstract
            if not _is_blocked(one, kind, blocked)
        ]

    def wildcards(self, kind: Any) -> list[Any]:
        """The wildcards of a complex type, that of its open content included."""
        found = leaves(self.particle(kind.content), 1, 1)
        wild = [leaf.component for leaf, _, _, _ in found if leaf.kind == "any"]
        opened = getattr(kind, "open_content", None)
        return [*wild, opened.any_element] if opened is not None and opened.mode != "none" else wild

    @cached_property
    def globals(self) -> dict[str, Any]:
        """The global elements of the documents."""
        return {n: one for n, one in self.maps.elements.items() if one.schema.maps is self.maps}

    def substitutes(self, component: Any) -> list[Any]:
        """The elements that may stand where one is declared, itself included if it may."""
        own = [] if component.abstract else [component]
        if component.ref is None and not component.is_global():
            return own
        found = {one.name: one for one in component.iter_substitutes() if not one.abstract}
        return own + [found[name] for name in sorted(found)]

    def particle(self, component: Any) -> Particle:
        """The content model of a group; a head of a substitution group becomes a choice."""
        low, high = component.min_occurs, component.max_occurs
        if isinstance(component, XsdGroup):
            parts = tuple(self.particle(one) for one in component if one.max_occurs != 0)
            return Particle(component.model, low, high, parts)  # type: ignore[arg-type]
        if isinstance(component, XsdAnyElement):
            return Particle("any", low, high, component=component)
        assert isinstance(component, XsdElement)
        choices = self.substitutes(component)
        if choices == [component]:
            return Particle("element", low, high, component=component)
        parts = tuple(Particle("element", 1, 1, component=one) for one in choices)
        return Particle("choice", low, high, parts)

    def _children(self, content: Any) -> tuple[Child, ...] | None:
        found = list(leaves(self.particle(content), 1, 1))
        names = [_name(leaf.component) for leaf, _, _, _ in found]
        if len(set(names)) < len(names) or not all(single for _, _, _, single in found):
            return None
        keys = _keys(names)
        return tuple(
            Child(
                key=key,
                name=name,
                element=None if leaf.kind == "any" else self.element(leaf.component),
                low=low,
                high=high,
            )
            for key, name, (leaf, low, high, _) in zip(keys, names, found, strict=True)
        )


def _is_blocked(kind: Any, base: Any, blocked: str) -> bool:
    while kind is not None and kind is not base:
        if kind.derivation and kind.derivation in blocked:
            return True
        kind = kind.base_type
    return False


def _name(component: Any) -> str:
    return "*" if isinstance(component, XsdAnyElement) else str(component.name)


def _closed(kind: Any) -> bool:
    block = str(kind.block or "")
    return block == "#all" or "extension" in block


def leaves(
    particle: Particle, low: int, high: int | None
) -> Iterator[tuple[Particle, int, int | None, bool]]:
    """The elements and wildcards, how often each occurs, and whether its place is its own."""
    low *= particle.low
    high = None if high is None or particle.high is None else high * particle.high
    if not particle.parts:
        if particle.kind in ("element", "any"):
            yield particle, low, high, True
        return
    found = [
        leaf
        for part in particle.parts
        for leaf in leaves(part, 0 if _is_open(particle) else low, high)
    ]
    alone = len(found) == 1 or particle.high == 1
    for leaf, least, most, single in found:
        yield leaf, least, most, single and alone


def _is_open(particle: Particle) -> bool:
    return particle.kind == "choice" and len(particle.parts) > 1


def _keys(names: list[str]) -> list[str]:
    """The local names; where two are alike, the later one with its namespace."""
    keys: list[str] = []
    for name in names:
        plain = ANY if name == "*" else local(name)
        while plain in keys:
            plain = name if name != "*" and plain != name else f"_{plain}"
        keys.append(plain)
    return keys


def _record(
    kind: Any, text: SimpleType | None, children: tuple[Child, ...], *, ordered: bool
) -> Record:
    taken = {child.key for child in children} | ({TEXT} if text else set())
    attributes: list[Attribute] = []
    wild = False
    for name, component in kind.attributes.items():
        if name is None:
            wild = True
        elif component.use != "prohibited":
            one = _attribute(name, component, taken)
            taken.add(one.key)
            attributes.append(one)
    others = ANY_ATTRIBUTES
    while others in taken:
        others = f"_{others}"
    return Record(
        attributes=tuple(attributes),
        children=children,
        text=text,
        any_attributes=others if wild else None,
        ordered=ordered,
    )


def _attribute(name: str, component: Any, taken: set[str]) -> Attribute:
    key = local(name)
    while key in taken:
        key = f"@{key}"
    fixed = component.fixed
    return Attribute(
        key=key,
        name=name,
        type=simple_type(component.type),
        required=component.use == "required",
        value=fixed if fixed is not None else component.default,
    )
