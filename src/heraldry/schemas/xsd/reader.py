"""Valid documents as values: a record per element with structure, typed values in its leaves."""

from __future__ import annotations

from typing import Any

from heraldry.errors import MessageError
from heraldry.model.problem import Problem
from heraldry.schemas.xsd import scalars
from heraldry.schemas.xsd.model import TEXT, Child, Element, Record
from heraldry.schemas.xsd.simple_type import SimpleType
from heraldry.schemas.xsd.xml import NIL, XSI, Node, canonical, namespace


def read(node: Node, element: Element) -> Any:
    """The value of a valid element: None where it is nil."""
    if element.nillable and node.get(NIL, "").strip() in ("true", "1"):
        return None
    shape = element.shape
    if isinstance(shape, SimpleType):
        text = node.text or ""
        return _scalar(shape, element.default if not text and element.default else text, node)
    if isinstance(shape, Record):
        return _record(shape, node, element)
    return canonical(node)


def _scalar(kind: SimpleType, text: str, node: Node) -> Any:
    try:
        return scalars.read(kind, text, node.nsmap)
    except ValueError as error:
        # Only what Python cannot hold ends here: the text itself is valid.
        problem = Problem(path="/", rule="size", message=str(error))
        raise MessageError((problem,)) from None


def _record(shape: Record, node: Node, element: Element) -> dict[str, Any]:
    value: dict[str, Any] = {}
    given = node.attrib
    for attribute in shape.attributes:
        text = given.get(attribute.name, attribute.value)
        if text is not None:
            value[attribute.key] = _scalar(attribute.type, str(text), node)
    if shape.any_attributes:
        known = {attribute.name for attribute in shape.attributes}
        others = {str(n): str(t) for n, t in given.items() if n not in known}
        others = {name: text for name, text in others.items() if namespace(name) != XSI}
        if others:
            value[shape.any_attributes] = others
    if shape.text is not None:
        text = node.text or ""
        value[TEXT] = _scalar(
            shape.text, element.default if not text and element.default else text, node
        )
    _children(shape, node, value)
    return value


def _children(shape: Record, node: Node, value: dict[str, Any]) -> None:
    places = {child.name: place for place, child in enumerate(shape.children)}
    other = places.get("*")
    at = 0
    for one in node:
        place = places.get(str(one.tag))
        child = shape.children[place] if place is not None else None
        if other is not None and (child is None or _is_other(shape, child, value, place, at)):
            # What comes too late, or too often, is what the wildcard lets in.
            place, child = other, shape.children[other]
        if place is None or child is None or child.high == 0:
            continue
        at = max(at, place)
        found = canonical(one) if child.element is None else read(one, child.element)
        if child.is_list:
            value.setdefault(child.key, []).append(found)
        else:
            value[child.key] = found


def _is_other(
    shape: Record, child: Child, value: dict[str, Any], place: int | None, at: int
) -> bool:
    if shape.ordered and place is not None and place < at:
        return True
    if not child.is_list:
        return child.key in value
    return child.high is not None and len(value.get(child.key, ())) >= child.high
