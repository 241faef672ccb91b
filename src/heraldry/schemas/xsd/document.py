"""The schema documents of one source: read safely, all there, and none of them a bomb."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from lxml import etree

from heraldry.errors import SchemaError
from heraldry.schemas.source import Source
from heraldry.schemas.xsd.pattern import is_harmless, matcher
from heraldry.schemas.xsd.references import references
from heraldry.schemas.xsd.xml import Node, local, namespace, read

DOCUMENT_LIMIT: Final = 4 * 1024 * 1024
"""How many bytes the documents of one schema may have in all."""

NODE_LIMIT: Final = 2_500
"""How many elements the documents of one schema may have in all, annotations left out."""

WORK_LIMIT: Final = 500_000
"""How many pairs of elements of one content model there may be, over all types."""

OCCURS_LIMIT: Final = 1_000_000
"""How often at most an element may be asked for, where the number is bounded."""

XSD: Final = "http://www.w3.org/2001/XMLSchema"

_VERSIONING = "http://www.w3.org/2007/XMLSchema-versioning"
_NEWER_TAGS = {
    "assert", "assertion", "alternative", "openContent", "defaultOpenContent", "override",
    "explicitTimezone",
}  # fmt: skip
_NEWER_ATTRIBUTES = {
    "notQName", "notNamespace", "defaultAttributes", "xpathDefaultNamespace",
    "defaultAttributesApply", "inheritable",
}  # fmt: skip
_NEWER_TYPES = {"dateTimeStamp", "dayTimeDuration", "yearMonthDuration", "anyAtomicType", "error"}
_PUT_TOGETHER = ("group", "attributeGroup", "complexType", "simpleType")
_PARTS = {
    *_PUT_TOGETHER, "all", "any", "attribute", "choice", "complexContent", "element", "extension",
    "list", "restriction", "sequence", "simpleContent", "union",
}  # fmt: skip
_NAMING = ("ref", "base", "itemType", "memberTypes")
# Where libxml2 says yes too easily, or takes too long, or would load something.
_LEFT_OUT = {
    "any", "anyAttribute", "import", "include", "key", "keyref", "notation", "redefine", "union",
    "unique",
}  # fmt: skip
_LISTS = {"ENTITIES", "IDREFS", "NMTOKENS"}
_LENIENT = {"ENTITIES", "ENTITY", "ID", "IDREF", "IDREFS", "NMTOKENS", "NOTATION", "duration"}
# libxml2 writes out every repetition of a bounded particle.
_FEW = 20
# What a condition may call: nothing that reads a document, repeats, or matches a pattern.
_FUNCTIONS = {
    "abs", "avg", "boolean", "ceiling", "concat", "contains", "count", "data", "deep-equal",
    "distinct-values", "empty", "ends-with", "exists", "false", "floor", "last", "local-name",
    "lower-case", "max", "min", "name", "namespace-uri", "node", "normalize-space", "not",
    "number", "position", "round", "starts-with", "string", "string-length", "substring",
    "substring-after", "substring-before", "sum", "text", "true", "upper-case", "if",
    "and", "or", "in", "return", "then", "else", "satisfies",
}  # fmt: skip
_CALL = re.compile(r"([\w.-]+(?::[\w.-]+)?)\s*\(")
_LITERAL = re.compile(r"\"[^\"]*\"|'[^']*'")
_LOOP = re.compile(r"\b(?:for|some|every)\s+\$|\bto\b|\[")
_CONDITION_LIMIT = 500


@dataclass(frozen=True)
class Documents:
    """The document of a source and those it refers to, by the text they are referred to."""

    source: Source
    root: Node
    others: dict[str, Node]

    @cached_property
    def nodes(self) -> list[Node]:
        """All elements of all documents."""
        return [
            node
            for root in (self.root, *self.others.values())
            for node in root.iter(f"{{{XSD}}}*")
            if local(str(node.tag)) not in ("annotation", "documentation", "appinfo")
        ]

    @cached_property
    def is_newer(self) -> bool:
        """Whether it says what only XML Schema 1.1 has."""
        return any(_is_newer(node) for node in self.nodes)

    @cached_property
    def has_conditions(self) -> bool:
        """Whether it has conditions, which may look at every pair of elements."""
        return any(node.get("test") is not None for node in self.nodes)

    @cached_property
    def keys(self) -> int:
        """How many rules it has that values are unique, or found elsewhere."""
        return sum(local(str(node.tag)) in ("key", "keyref", "unique") for node in self.nodes)

    @cached_property
    def list_weight(self) -> int:
        """What an item of a list costs the validator: more where it may be of many types."""
        if not any(_is_list(node) for node in self.nodes):
            return 0
        named = _named(self.nodes)
        unions = [node for node in self.nodes if local(str(node.tag)) == "union"]
        return 2 + max((_width(node, named, {}) for node in unions), default=0)

    @cached_property
    def choices(self) -> int:
        """How many elements there are to choose from, at most, at one place."""
        named, sizes = _named(self.nodes), dict[Node, int]()
        open_tags = ("choice", "all")
        wide = [node for node in self.nodes if local(str(node.tag)) in open_tags]
        substitutes = sum(1 for node in self.nodes if node.get("substitutionGroup"))
        return substitutes + max((_size(node, named, sizes) for node in wide), default=0)

    @cached_property
    def is_plain(self) -> bool:
        """Whether libxml2 validates it in linear time, with nothing to load."""
        return not self.is_newer and not self.others and all(map(_is_plain, self.nodes))


def documents(source: Source) -> Documents:
    """The documents of a source; SchemaError where one is missing, unreadable or too large."""
    known = {reference.name: reference.content for reference in source.references}
    found: dict[str, Node] = {}
    root = _read(source, "", source.content)
    waiting = list(references(source.content))
    size = len(source.content)
    while waiting:
        location = waiting.pop()
        if location in found:
            continue
        if location not in known:
            reason = f"{location!r} is not in the catalog, and nothing is fetched"
            raise SchemaError(source.format, location, reason)
        size += len(known[location])
        found[location] = _read(source, location, known[location])
        waiting += references(known[location])
    one = Documents(source, root, found)
    if size > DOCUMENT_LIMIT or len(one.nodes) > NODE_LIMIT:
        told = f"more than {DOCUMENT_LIMIT} bytes or {NODE_LIMIT} elements"
        raise SchemaError(source.format, "", f"the document is too large: {told}")
    for node in one.nodes:
        _refuse_hostile(source, node)
    if _work(one.nodes) > WORK_LIMIT:
        reason = f"its types have too many elements in one another (more than {WORK_LIMIT} pairs)"
        raise SchemaError(source.format, "", reason)
    return one


def _work(nodes: list[Node]) -> int:
    """How many pairs of parts the check for ambiguous content models looks at, at most."""
    named = _named(nodes)
    sizes: dict[Node, int] = {}
    tops = [node for node in nodes if local(str(node.tag)) in _PUT_TOGETHER]
    return sum(min(_size(node, named, sizes), WORK_LIMIT) ** 2 for node in tops)


def _named(nodes: list[Node]) -> dict[tuple[str, str], Node]:
    named: dict[tuple[str, str], Node] = {}
    for node in nodes:
        tag = local(str(node.tag))
        if tag in _PUT_TOGETHER and node.get("name"):
            named.setdefault((tag, str(node.get("name"))), node)
    return named


def _is_list(node: Node) -> bool:
    kinds = {name.rpartition(":")[2] for name in _types(node)}
    return local(str(node.tag)) == "list" or not kinds.isdisjoint(_LISTS)


def _width(union: Node, named: dict[tuple[str, str], Node], known: dict[Node, int]) -> int:
    """How many types a union has, with those of the unions in it."""
    if union in known:
        return known[union]
    known[union] = 0
    members = [one for one in union if local(str(one.tag)) == "simpleType"]
    count = 0
    for name in str(union.get("memberTypes", "")).split():
        member = named.get(("simpleType", name.rpartition(":")[2]))
        members += [member] if member is not None else []
        count += 1
    count += sum(
        _width(inner, named, known) for one in members for inner in one.iter(f"{{{XSD}}}union")
    )
    known[union] = count + len(members)
    return known[union]


def _size(start: Node, named: dict[tuple[str, str], Node], sizes: dict[Node, int]) -> int:
    """The parts of a content model, with those of the groups and types it takes in."""
    if start in sizes:
        return sizes[start]
    # A circle of groups is an error that the validator finds.
    sizes[start] = 0
    count = 0
    waiting = list(start)
    while waiting:
        node = waiting.pop()
        tag = local(str(node.tag))
        if tag not in _PARTS:
            continue
        count += 1
        if tag == "element":
            continue
        waiting += list(node)
        for name in " ".join(str(node.get(name, "")) for name in _NAMING).split():
            for kind in (tag, "complexType", "simpleType"):
                taken = named.get((kind, name.rpartition(":")[2]))
                count += _size(taken, named, sizes) if taken is not None else 0
    sizes[start] = count
    return count


def _read(source: Source, location: str, content: bytes) -> Node:
    if len(content) > DOCUMENT_LIMIT:
        reason = f"the document is larger than {DOCUMENT_LIMIT} bytes"
        raise SchemaError(source.format, location, reason)
    try:
        root = read(content)
    except ValueError as error:
        raise SchemaError(source.format, location, f"the document {error}") from None
    if root.tag != f"{{{XSD}}}schema":
        raise SchemaError(source.format, location, "the document is not an XML Schema")
    return root


def _refuse_hostile(source: Source, node: Node) -> None:
    tag = local(str(node.tag))
    if tag == "pattern" and namespace(str(node.tag)) == XSD:
        try:
            matcher(node.get("value", ""), "1.1")
        except ValueError as error:
            raise SchemaError(source.format, place(node), str(error)) from None
    for name in ("minOccurs", "maxOccurs"):
        count = node.get(name, "").strip()
        if len(count) > 7 and count.isdigit() and int(count[:20]) > OCCURS_LIMIT:
            reason = f"{name} is larger than {OCCURS_LIMIT}"
            raise SchemaError(source.format, place(node), reason)
    test = node.get("test")
    if test is not None and tag in ("assert", "assertion", "alternative"):
        bare = _LITERAL.sub("''", test)
        called = {name.removeprefix("fn:") for name in _CALL.findall(bare)}
        casts = {name for name in called if name.startswith(("xs:", "xsd:"))}
        if len(test) > _CONDITION_LIMIT or called - casts - _FUNCTIONS or _LOOP.search(bare):
            reason = "its condition calls what is not known to end soon; only plain ones are run"
            raise SchemaError(source.format, place(node), reason)


def place(node: Node) -> str:
    """Where an element of a schema document is: the names of the components around it."""
    names = [
        str(one.get("name") or local(str(one.tag)))
        for one in (node, *node.iterancestors())
        if one.getparent() is not None
    ]
    return "/" + "/".join(reversed(names))


def _is_newer(node: Node) -> bool:
    tag = local(str(node.tag))
    return (
        tag in _NEWER_TAGS
        or not _NEWER_ATTRIBUTES.isdisjoint(map(str, node.attrib))
        or any(value.rpartition(":")[2] in _NEWER_TYPES for value in _types(node))
        or (tag == "all" and _is_newer_all(node))
    )


def _is_newer_all(node: Node) -> bool:
    parent = node.getparent()
    return (
        (parent is not None and local(str(parent.tag)) in ("extension", "all"))
        or any(local(str(one.tag)) in ("any", "group") for one in node)
        or any(one.get("maxOccurs", "1") not in ("0", "1") for one in node)
    )


def _types(node: Node) -> list[str]:
    named = " ".join(str(node.get(name, "")) for name in ("type", "base", "itemType"))
    return [*named.split(), *str(node.get("memberTypes", "")).split()]


def _is_plain(node: Node) -> bool:
    tag = local(str(node.tag))
    if namespace(str(node.tag)) != XSD:
        return True
    if tag in _LEFT_OUT or node.get("fixed") is not None:
        return False
    if any(value.rpartition(":")[2] in _LENIENT for value in _types(node)):
        return False
    if tag == "pattern":
        return is_harmless(node.get("value", ""))
    counts = [node.get(name, "1") for name in ("minOccurs", "maxOccurs")]
    few = all(count == "unbounded" or (count.isdigit() and int(count) <= _FEW) for count in counts)
    versioned = any(namespace(str(name)) == _VERSIONING for name in node.attrib)
    return few and (not versioned or tag == "schema")


def text(node: Node) -> bytes:
    """A document for the validator: without comments, in UTF-8."""
    return bytes(etree.tostring(node, encoding="utf-8"))
