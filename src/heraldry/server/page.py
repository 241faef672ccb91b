"""JSON as a page for a browser: the same text, in which the registry's addresses are links.

The flag ``html`` is an extension of the reference server; it is kept in the links.
"""

from __future__ import annotations

import html
import re
from typing import Final

from heraldry.server.incoming import Header

PAGE: Final[list[Header]] = [
    (b"content-type", b"text/html"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'"),
]
_REST: Final = r'(?:[/?#][^"\\\s]*)?'


def page(text: bytes, base: str) -> bytes:
    """The page of a JSON text; what is not ASCII is escaped, so that no charset is needed."""
    shown = html.escape(text.decode("utf-8"), quote=False)
    address = re.compile('"(' + re.escape(html.escape(base, quote=False)) + _REST + ')"')
    return ("<pre>\n" + address.sub(_link, shown) + "\n").encode("ascii", "xmlcharrefreplace")


def _link(found: re.Match[str]) -> str:
    url = found[1] + ("&amp;html" if "?" in found[1] else "?html")
    return f'"<a href="{url}">{url}</a>"'
