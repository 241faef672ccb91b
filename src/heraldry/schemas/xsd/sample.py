"""Documents made up from a schema: valid as far as can be seen, checked by who asks for them."""

from __future__ import annotations

from random import Random
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from heraldry.errors import UnsupportedPatternError
from heraldry.schemas.xsd.model import Element, Model, Particle
from heraldry.schemas.xsd.sample_scalars import text_of
from heraldry.schemas.xsd.simple_type import simple_type
from heraldry.schemas.xsd.xml import local, namespace

DEPTH_LIMIT: Final = 12
"""How deep optional elements are still made; what must be there may go deeper."""

SIZE_LIMIT: Final = 20_000
"""How many elements a document may get."""

_MOST = 3
_XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'


class Sampler:
    """Makes one document; later attempts take less of what is optional."""

    def __init__(self, model: Model, random: Random, attempt: int, version: str) -> None:
        self._model, self._random, self._version = model, random, version
        self._optional = (0.7, 0.4, 0.0)[min(attempt, 2)]
        self._left = SIZE_LIMIT

    def document(self, element: Element) -> bytes:
        """The text of a document; ValueError where none ends, or no text is known for a type."""
        try:
            return self._element(element.component, 0).encode("utf-8", "replace")
        except (RecursionError, UnsupportedPatternError):
            raise ValueError("no sample can be made") from None

    def _element(self, component: Any, depth: int) -> str:
        self._left -= 1
        if self._left < 0:
            raise ValueError("no sample can be made")
        uri = namespace(component.name)
        tag = f"t:{local(component.name)}" if uri else component.name
        declared = f" xmlns:t={quoteattr(uri)}" if uri else ""
        kind = component.type
        if kind.abstract:
            return self._derived(component, tag + declared, tag, depth)
        attributes, content = self._type(component, kind, depth)
        return f"<{tag}{declared}{attributes}>{content}</{tag}>"

    def _derived(self, component: Any, opening: str, tag: str, depth: int) -> str:
        """An element of an abstract type, as one of the types derived from it."""
        found = [
            one
            for one in self._model.maps.types.values()
            if one.is_complex() and not one.abstract and one.is_derived(component.type)
        ]
        if not found:
            raise ValueError("no sample can be made")
        kind = self._random.choice(sorted(found, key=lambda one: str(one.name)))
        uri = namespace(kind.name)
        name = f"x:{local(kind.name)}" if uri else kind.name
        opening += f" {_XSI} xsi:type={quoteattr(name)}"
        opening += f" xmlns:x={quoteattr(uri)}" if uri else ""
        attributes, content = self._type(component, kind, depth)
        return f"<{opening}{attributes}>{content}</{tag}>"

    def _type(self, component: Any, kind: Any, depth: int) -> tuple[str, str]:
        value = component.fixed if component.fixed is not None else None
        if kind.is_simple():
            return "", escape(value if value is not None else self._text(kind))
        attributes = "".join(
            self._attribute(name, one, at)
            for at, (name, one) in enumerate(kind.attributes.items())
            if name is not None
        )
        if kind.has_simple_content():
            return attributes, escape(value if value is not None else self._text(kind.content))
        if kind.name is not None and local(kind.name) == "anyType":
            return attributes, ""
        return attributes, self._particle(self._model.particle(kind.content), depth + 1)

    def _attribute(self, name: str, component: Any, at: int) -> str:
        if component.use == "prohibited":
            return ""
        if component.use != "required" and self._random.random() >= self._optional:
            return ""
        value = component.fixed if component.fixed is not None else self._text(component.type)
        text = quoteattr(value, {"\r": "&#13;", "\n": "&#10;", "\t": "&#9;"})
        uri = namespace(name)
        if not uri:
            return f" {name}={text}"
        if uri == "http://www.w3.org/XML/1998/namespace":
            return f" xml:{local(name)}={text}"
        return f" xmlns:a{at}={quoteattr(uri)} a{at}:{local(name)}={text}"

    def _text(self, kind: Any) -> str:
        return text_of(simple_type(kind), self._random, self._version)

    def _particle(self, particle: Particle, depth: int) -> str:
        low, high = particle.low, particle.high
        more = depth <= DEPTH_LIMIT and self._random.random() < self._optional
        if high is None or high > low:
            most = low + _MOST if high is None else min(high, low + _MOST)
            count = self._random.randint(low + (low == 0), most) if more else low
        else:
            count = low
        if count > SIZE_LIMIT:
            raise ValueError("no sample can be made")
        return "".join(self._once(particle, depth) for _ in range(count))

    def _once(self, particle: Particle, depth: int) -> str:
        if particle.kind == "element":
            return self._element(particle.component, depth)
        if particle.kind == "any":
            return self._other(particle.component)
        if particle.kind == "choice" and particle.parts:
            # Past the limit the least that is allowed may be what ends the recursion.
            parts = particle.parts
            part = self._random.choice(parts) if depth <= DEPTH_LIMIT else min(parts, key=_weight)
            return self._particle(part, depth)
        return "".join(self._particle(part, depth) for part in particle.parts)

    def _other(self, wildcard: Any) -> str:
        if wildcard.process_contents != "strict":
            for name in ("{urn:example:other}other", "other"):
                if wildcard.is_matching(name, None):
                    uri = namespace(name)
                    return f"<other xmlns={quoteattr(uri)}/>" if uri else "<other/>"
        names = sorted(self._model.maps.elements)
        for name in names:
            one = self._model.maps.elements[name]
            if wildcard.is_matching(name, None) and not one.abstract and one.type.is_simple():
                return self._element(one, DEPTH_LIMIT + 1)
        return ""


def _weight(particle: Particle) -> int:
    """How much a particle asks for at least: texts little, elements with children more."""
    if particle.low == 0:
        return 0
    if particle.kind == "element":
        return 1 if particle.component.type.is_simple() else 10
    if particle.kind == "choice":
        return min(map(_weight, particle.parts), default=0)
    return sum(map(_weight, particle.parts))
