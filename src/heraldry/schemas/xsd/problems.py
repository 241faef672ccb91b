"""The validator's errors as problems: where, by which rule, and never with the value found."""

from __future__ import annotations

import re
from typing import Any

from xmlschema.validators import (
    XMLSchemaChildrenValidationError,
    XMLSchemaDecodeError,
    XsdAnyElement,
    XsdAssert,
    XsdAttributeGroup,
    XsdFacet,
    XsdIdentity,
    XsdType,
)

from heraldry.model.problem import Problem
from heraldry.schemas.located import TEXT_LIMIT, pointer, short
from heraldry.schemas.xsd.engine import ValidationError
from heraldry.schemas.xsd.model import TEXT, Element, Record
from heraldry.schemas.xsd.xml import XSI, Node, local

_TYPE = f"{{{XSI}}}type"
_ATTRIBUTE = re.compile(r"attribute '?([^\s=']+)")
_MISSING = re.compile(r"missing required attribute '([^']*)'")
_REFUSED = re.compile(r"'([^']*)' attribute not allowed")
_MESSAGES = {
    "minInclusive": "is less than the least value allowed",
    "minExclusive": "is not greater than its lower bound",
    "maxInclusive": "is greater than the greatest value allowed",
    "maxExclusive": "is not less than its upper bound",
    "length": "has another length than it must have",
    "minLength": "is shorter than it must be",
    "maxLength": "is longer than it may be",
    "pattern": "does not match the pattern",
    "enumeration": "is none of the values allowed",
    "totalDigits": "has more digits than allowed",
    "fractionDigits": "has more digits of a fraction than allowed",
    "assertion": "does not meet a condition",
    "explicitTimezone": "has a time zone, or lacks one, against the schema",
}
# What the library says, by a part of its sentences.
_REASONS = {
    "duplicated xs:ID": ("xs:ID", "is an id that another element has, too"),
    "not found in XML document": ("xs:IDREF", "refers to an id that no element has"),
    "duplicated value": ("xs:unique", "has a value that must be unique, but is not"),
    "missing key field": ("xs:key", "lacks a value that is part of its key"),
    ") not found for Xsd": ("xs:keyref", "refers to a key that no element has"),
    ") is abstract": ("xsi:type", "is of an abstract type: xsi:type must name another one"),
    "is not nillable": ("xsi:nil", "is nil, which the schema does not allow"),
    "but the element is not empty": ("xsi:nil", "is nil, but has content"),
    "character data between": ("text", "has text between its elements"),
}


def to_problem(error: ValidationError, root: Node, element: Element) -> Problem:
    """One error of the validator, with the path of the value it is about."""
    found: Any = error.elem
    node = found if isinstance(found, Node) else root
    if isinstance(error, XMLSchemaChildrenValidationError):
        return _children(error, node, root, element)
    validator = error.validator
    reason = str(error.reason or "")
    path = path_of(node, root, element)
    owner = _element_at(node, root, element)
    if isinstance(validator, XsdAttributeGroup):
        if problem := _attribute_set(reason, path, owner):
            return problem
    elif attribute := _ATTRIBUTE.match(reason):
        path = [*path, _attribute_key(owner, attribute[1])]
    elif owner is not None and isinstance(owner.shape, Record) and owner.shape.text is not None:
        path = [*path, TEXT]
    if known := next((known for part, known in _REASONS.items() if part in reason), None):
        return Problem(path=pointer(path), rule=known[0], message=known[1])
    if isinstance(validator, XsdFacet):
        return _facet(validator, pointer(path), error.obj)
    if isinstance(error, XMLSchemaDecodeError) or isinstance(validator, XsdType):
        name = getattr(validator, "local_name", None) or "the type"
        told = f"is not a valid {name}" if name != "the type" else "is not valid for its type"
        return Problem(
            path=pointer(path),
            rule=f"xs:{name}" if name != "the type" else "type",
            message=told,
            found=_found(error.obj),
        )
    if named := getattr(validator, "__name__", "").removesuffix("_validator"):
        # The ranges of the standard's integer types are functions.
        told = f"is not a valid {named}"
        return Problem(
            path=pointer(path), rule=f"xs:{named}", message=told, found=_found(error.obj)
        )
    rule, message = _other(validator, reason)
    return Problem(path=pointer(path), rule=rule, message=message)


def unknown_type(root: Node, element: Element) -> Problem:
    """The first element whose xsi:type no schema has, a case in which the library gives up."""
    for node in root.iter():
        prefix, _, name = node.get(_TYPE, "").strip().rpartition(":")
        uri = node.nsmap.get(prefix or None)
        if name and (f"{{{uri}}}{name}" if uri else name) not in element.model.maps.types:
            path = pointer(path_of(node, root, element))
            return Problem(path=path, rule="xsi:type", message="names a type that is not known")
    return Problem(path="/", rule="schema", message="cannot be checked")


def _other(validator: Any, reason: str) -> tuple[str, str]:
    if isinstance(validator, XsdAssert):
        return "xs:assert", "does not meet a condition of the schema"
    if isinstance(validator, XsdIdentity):
        kind = type(validator).__name__.lower().removeprefix("xsd11").removeprefix("xsd")
        return f"xs:{kind}", "breaks a rule about unique values or references"
    if "fixed" in reason:
        return "fixed", "is not the fixed value"
    if isinstance(validator, XsdAnyElement):
        return "unexpected-element", "is not an element of the schema"
    if "is not an element of the schema" in reason:
        return "unexpected-element", "is not an element of the schema"
    return "schema", "is refused by the schema"


def _facet(facet: XsdFacet, path: str, value: Any) -> Problem:
    name = local(str(getattr(facet.elem, "tag", "")))
    expected: str | None = None
    if name in ("pattern", "enumeration"):
        values = facet.regexps if name == "pattern" else facet.enumeration  # type: ignore[attr-defined]
        expected = ", ".join(map(str, values))
    elif hasattr(facet, "value"):
        expected = str(facet.value)
    if expected is not None and len(expected) > TEXT_LIMIT:
        expected = expected[: TEXT_LIMIT - 1] + "…"
    message = _MESSAGES.get(name, "is refused by the schema")
    return Problem(
        path=path, rule=f"xs:{name}", message=message, expected=expected, found=_found(value)
    )


def _children(
    error: XMLSchemaChildrenValidationError, node: Node, root: Node, element: Element
) -> Problem:
    tags = [_plain(tag) for tag in error.expected_tags]
    expected = ", ".join(tags) or None
    path = path_of(node, root, element)
    invalid = error.invalid_child
    declared = isinstance(invalid, Node) and _element_at(invalid, root, element) is not None
    names = {_plain(str(one.tag)) for one in node}
    skipped = declared and len(tags) == 1 and tags[0] not in names
    # One that comes too early tells that the one before it is missing.
    if isinstance(invalid, Node) and not skipped:
        own = path_of(invalid, root, element) if declared else [*path, local(str(invalid.tag))]
        return Problem(
            path=pointer(own),
            rule="unexpected-element",
            message="is an element that has no place here",
            expected=expected,
        )
    if len(tags) == 1:
        key = _key(_element_at(node, root, element), tags[0])
        return Problem(
            path=pointer([*path, key]),
            rule="missing-element",
            message="is missing",
            expected=expected,
        )
    return Problem(
        path=pointer(path), rule="missing-element", message="lacks an element", expected=expected
    )


def _plain(tag: str) -> str:
    """The name without its namespace or the prefix of one."""
    return local(tag).rpartition(":")[2]


def _key(owner: Element | None, name: str) -> str:
    if owner is not None and isinstance(owner.shape, Record):
        for child in owner.shape.children:
            if local(child.name) == name:
                return child.key
    return name


def _attribute_set(reason: str, path: list[str | int], owner: Element | None) -> Problem | None:
    for found, rule, message in (
        (_MISSING.search(reason), "missing-attribute", "is missing"),
        (_REFUSED.search(reason), "unexpected-attribute", "is an attribute that has no place here"),
    ):
        if found:
            key = _attribute_key(owner, found[1])
            return Problem(path=pointer([*path, key]), rule=rule, message=message)
    return None


def _attribute_key(owner: Element | None, name: str) -> str:
    plain = _plain(name)
    if owner is not None and isinstance(owner.shape, Record):
        for attribute in owner.shape.attributes:
            if local(attribute.name) == plain:
                return attribute.key
    return f"@{plain}"


def _found(value: Any) -> str | None:
    return None if isinstance(value, (Node, dict)) or value is None else short(value)


def path_of(node: Node, root: Node, element: Element) -> list[str | int]:
    """The keys that lead to an element; below XML text, the names of the elements."""
    path: list[str | int] = []
    current: Element | None = element
    for one in _line(node, root):
        shape = current.shape if current is not None else None
        child = None
        if isinstance(shape, Record):
            child = next((c for c in shape.children if c.name == one.tag), None)
            child = child or next((c for c in shape.children if c.name == "*"), None)
        path.append(child.key if child else local(str(one.tag)))
        if child is not None and child.is_list:
            same = one.itersiblings(preceding=True)
            path.append(sum(1 for other in same if other.tag == one.tag))
        current = child.element if child else None
    return path


def _element_at(node: Node, root: Node, element: Element) -> Element | None:
    current: Element | None = element
    for one in _line(node, root):
        shape = current.shape if current is not None else None
        found = (
            [c for c in shape.children if c.name == one.tag] if isinstance(shape, Record) else []
        )
        current = found[0].element if found else None
    return current


def _line(node: Node, root: Node) -> list[Node]:
    line = [node, *node.iterancestors()]
    return list(reversed(line))[1:] if line[-1] is root else []
