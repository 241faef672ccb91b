"""Values as XML text, in the order of the schema; what no text can be made of is a problem."""

from __future__ import annotations

import re
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from heraldry.model.problem import Problem
from heraldry.schemas.located import pointer, short
from heraldry.schemas.xsd import scalars
from heraldry.schemas.xsd.model import TEXT, Child, Element, Record
from heraldry.schemas.xsd.simple_type import SimpleType
from heraldry.schemas.xsd.xml import DEPTH_LIMIT, XSI, canonical, local, namespace, read

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_XML = "http://www.w3.org/XML/1998/namespace"
_RETURN = {"\r": "&#13;"}
_BLANKS = {"\r": "&#13;", "\n": "&#10;", "\t": "&#9;"}

Path = tuple[str | int, ...]


class Writer:
    """Writes one value; ``problems`` says what it could not write."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._prefixes = {_XML: "xml", XSI: "xsi"}

    def document(self, value: Any, element: Element) -> bytes:
        """The text of a whole document; worth nothing where there are problems."""
        written = self._element(value, element, ())
        declared = "".join(
            f" xmlns:{prefix}={quoteattr(uri)}"
            for uri, prefix in self._prefixes.items()
            if uri != _XML and (uri != XSI or "xsi:" in written)
        )
        tag = self._tag(element.name)
        return f"<{tag}{declared}{written[len(tag) + 1 :]}".encode("utf-8", "replace")

    def _element(self, value: Any, element: Element, path: Path) -> str:
        tag = self._tag(element.name)
        if value is None and element.nillable:
            return f'<{tag} xsi:nil="true"/>'
        if len(path) > 2 * DEPTH_LIMIT:
            self._refuse(path, "depth", f"is nested deeper than {DEPTH_LIMIT} levels", None)
            return ""
        shape = element.shape
        if isinstance(shape, SimpleType):
            text = self._scalar(value, shape, path)
            if text == "" and element.default:
                self._refuse(path, "default", "is empty, which stands for the default", value)
            return f"<{tag}>{escape(text, _RETURN)}</{tag}>"
        if isinstance(shape, Record):
            return self._record(value, shape, tag, path)
        return self._fragment(value, element.name, path)

    def _record(self, value: Any, shape: Record, tag: str, path: Path) -> str:
        if not isinstance(value, dict):
            self._refuse(path, "type", "is not an object", value)
            return ""
        known = {one.key for one in shape.attributes} | {one.key for one in shape.children}
        known |= {TEXT} if shape.text else set()
        known |= {shape.any_attributes} if shape.any_attributes else set()
        for key in value:
            if key not in known:
                self._refuse((*path, str(key)), "unexpected-member", "is not in the schema", None)
        attributes = self._attributes(value, shape, path)
        if shape.text is not None:
            text = self._scalar(value.get(TEXT), shape.text, (*path, TEXT))
            return f"<{tag}{attributes}>{escape(text, _RETURN)}</{tag}>"
        content = "".join(
            self._child(value[child.key], child, (*path, child.key))
            for child in shape.children
            if child.key in value
        )
        return f"<{tag}{attributes}>{content}</{tag}>"

    def _attributes(self, value: dict[str, Any], shape: Record, path: Path) -> str:
        found: list[tuple[str, str]] = []
        for attribute in shape.attributes:
            given = value.get(attribute.key)
            if given is not None:
                text = self._scalar(given, attribute.type, (*path, attribute.key))
                found.append((attribute.name, text))
        others = value.get(shape.any_attributes) if shape.any_attributes else None
        if others is not None and not isinstance(others, dict):
            self._refuse((*path, str(shape.any_attributes)), "type", "is not an object", others)
        elif others:
            for name, text in others.items():
                where = (*path, str(shape.any_attributes), str(name))
                if not isinstance(text, str) or not _is_name(str(name)) or _ILLEGAL.search(text):
                    self._refuse(where, "type", "is not an attribute", text)
                else:
                    found.append((str(name), text))
        return "".join(f" {self._tag(name)}={quoteattr(text, _BLANKS)}" for name, text in found)

    def _child(self, value: Any, child: Child, path: Path) -> str:
        if not child.is_list:
            return self._one(value, child, path)
        if value is None:
            return ""
        if not isinstance(value, (list, tuple)):
            self._refuse(path, "type", "is not a list", value)
            return ""
        return "".join(self._one(one, child, (*path, at), True) for at, one in enumerate(value))

    def _one(self, value: Any, child: Child, path: Path, is_item: bool = False) -> str:
        if child.element is None:
            return self._fragment(value, "", path) if value is not None else ""
        if value is None and not child.element.nillable:
            if is_item:
                self._refuse(path, "nillable", "is null, which the schema has no place for", None)
            return ""
        return self._element(value, child.element, path)

    def _scalar(self, value: Any, kind: SimpleType, path: Path) -> str:
        try:
            text = scalars.write(kind, value, self._prefix)
        except (ValueError, OverflowError) as error:
            self._refuse(path, f"xs:{kind.builtin}", str(error), value)
            return ""
        if _ILLEGAL.search(text):
            told = "has a character that XML cannot hold"
            self._refuse(path, "character", told, value)
            return ""
        return text

    def _fragment(self, value: Any, name: str, path: Path) -> str:
        if not isinstance(value, str):
            self._refuse(path, "type", "is not XML text", value)
            return ""
        try:
            root = read(value.encode("utf-8", "replace"))
        except ValueError as error:
            self._refuse(path, "xml", str(error), value)
            return ""
        if name and root.tag != name:
            self._refuse(path, "type", f"is not an element {local(name)!r}", value)
        return canonical(root)

    def _tag(self, name: str) -> str:
        uri = namespace(name)
        return f"{self._prefix(uri)}:{local(name)}" if uri else name

    def _prefix(self, uri: str) -> str:
        return self._prefixes.setdefault(uri, f"ns{len(self._prefixes) - 1}")

    def _refuse(self, path: Path, rule: str, message: str, value: Any) -> None:
        found = None if value is None else short(value)
        self.problems.append(Problem(path=pointer(path), rule=rule, message=message, found=found))


_NAME = re.compile(r"(?:\{[^{}<>\"&\s]+\})?[^\W\d][\w.-]*")


def _is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None
