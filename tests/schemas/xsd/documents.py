"""Schema documents for the tests, put together from small parts."""

from __future__ import annotations

HEAD = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"'


def document(body: str, head: str = "") -> str:
    """A schema document around global components."""
    return f"{HEAD} {head}>{body}</xs:schema>"


def order(content: str, after: str = "", head: str = "", group: str = "sequence") -> str:
    """A schema whose payload is the element ``order`` with this content."""
    inner = f"<xs:{group}>{content}</xs:{group}>"
    body = f'<xs:element name="order"><xs:complexType>{inner}{after}</xs:complexType></xs:element>'
    return document(body, head)


def element(name: str, kind: str = "xs:string", more: str = "") -> str:
    """A local element of a named type."""
    return f'<xs:element name="{name}" type="{kind}" {more}/>'


def restricted(name: str, base: str, facets: str, more: str = "") -> str:
    """A local element of a restricted simple type."""
    inner = f'<xs:restriction base="{base}">{facets}</xs:restriction>'
    return f'<xs:element name="{name}" {more}><xs:simpleType>{inner}</xs:simpleType></xs:element>'


def facet(name: str, *values: object) -> str:
    """One facet for each value."""
    return "".join(f'<xs:{name} value="{value}"/>' for value in values)
