"""XML read safely: no DTD, no entities, nothing fetched; and parts of it kept as canonical text."""

from __future__ import annotations

import re
from typing import Final

from lxml import etree

Node = etree._Element

DEPTH_LIMIT: Final = 100
"""How many elements may be nested in one another; the validator recurses."""

ATTRIBUTE_LIMIT: Final = 1_000
"""How many attributes an element may have: they are sorted, slowly, for its canonical text."""

XSI: Final = "http://www.w3.org/2001/XMLSchema-instance"
NIL: Final = f"{{{XSI}}}nil"

_DOCTYPE = re.compile(rb"(?>\s+|<\?(?s:.*?)\?>|<!--(?s:.*?)-->)*+<!DOCTYPE")
_ENCODING = re.compile(rb"""<\?xml\s[^>]*?encoding\s*=\s*["']([^"'>]*)["']""")
_DECLARATION = re.compile(r"<\?xml\s[^>]*\?>")
# What writes markup as ASCII does, so that the search for a DTD sees what the parser sees.
_ENCODINGS = re.compile(
    rb"utf-?8|us-ascii|ascii|iso-8859-\d+|latin-?1|windows-125\d", re.IGNORECASE
)
_PREFIX = re.compile(r"([^\s:'\"()\[\]{}<>,;=/@|]+):")


def read(data: bytes) -> Node:
    """The root element of a document without comments; ValueError says why there is none."""
    data = _as_utf8(data)
    if _DOCTYPE.match(data):
        raise ValueError("has a DOCTYPE, which is refused: entities and DTDs are never read")
    declared = _ENCODING.match(data)
    if declared and not _ENCODINGS.fullmatch(declared[1]):
        raise ValueError("is written in an encoding that is not supported")
    try:
        root = etree.fromstring(data, _parser())
    except etree.XMLSyntaxError as error:
        line, column = error.position
        raise ValueError(f"is not well-formed XML at line {line}, column {column}") from None
    except (ValueError, LookupError):
        raise ValueError("is not well-formed XML") from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise ValueError("has a DOCTYPE, which is refused: entities and DTDs are never read")
    if data.count(b"<") > DEPTH_LIMIT and is_deep(root):
        raise ValueError(f"is nested deeper than {DEPTH_LIMIT} levels")
    if data.count(b"=") > ATTRIBUTE_LIMIT and _is_wide(root):
        raise ValueError(f"has an element with more than {ATTRIBUTE_LIMIT} attributes")
    return root


def _is_wide(root: Node) -> bool:
    return any(len(node.attrib) > ATTRIBUTE_LIMIT for node in root.iter())


def _parser() -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        attribute_defaults=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )


def _as_utf8(data: bytes) -> bytes:
    if data[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        return data.removeprefix(b"\xef\xbb\xbf")
    try:
        text = data.decode("utf-16")
    except UnicodeDecodeError:
        raise ValueError("is not UTF-16, as its first bytes say") from None
    return _DECLARATION.sub("", text, count=1).encode("utf-8", "surrogatepass")


def words(root: Node, limit: int) -> int:
    """How many words the texts and the attributes have; no text is looked at past the limit."""
    return sum(
        len(text.split(None, limit))
        for node in root.iter()
        for text in (node.text, *node.attrib.values())
        if text
    )


def is_deep(root: Node) -> bool:
    """Whether elements are nested deeper than DEPTH_LIMIT."""
    level = [root]
    for _ in range(DEPTH_LIMIT):
        level = [child for parent in level for child in parent]
        if not level:
            return False
    return True


def canonical(node: Node) -> str:
    """The text of one element, the same wherever it stands: C14N, with the prefixes it needs."""
    used: set[str] = set()
    for part in node.iter():
        for text in (part.text, part.tail if part is not node else None, *part.attrib.values()):
            if text and ":" in text:
                used.update(_PREFIX.findall(text))
    prefixes = sorted(used & {prefix for prefix in node.nsmap if prefix})
    try:
        written: bytes = etree.tostring(
            node,
            method="c14n",
            exclusive=True,
            with_comments=False,
            with_tail=False,
            inclusive_ns_prefixes=prefixes,
        )
    except etree.C14NError:
        # A namespace that is no absolute URI: only the newer form of C14N knows such.
        plain = etree.tostring(node, encoding="unicode", with_tail=False)
        return str(etree.canonicalize(plain, with_comments=False))
    return written.decode()


def local(name: str) -> str:
    """The name without its namespace."""
    return name.rpartition("}")[2]


def namespace(name: str) -> str:
    """The namespace of a name in Clark's notation; empty where it has none."""
    return name[1:].partition("}")[0] if name.startswith("{") else ""
