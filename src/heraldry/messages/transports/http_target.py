"""HTTP targets: how the address of an endpoint and the path and query of a message make one.

A message's path continues that of the address: ``http://host/events`` and ``/orders/7`` are
``/events/orders/7``. A listener takes the path of its address off again.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, quote, urlencode

from heraldry.messages.message import Pairs
from heraldry.messages.transports.address import Address

PORTS = {"http": 80, "https": 443}
_PATH_SAFE = "/%:@!$&'()*+,;=-._~"
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_DOTS = re.compile(r"(?:\.|%2e){1,2}", re.IGNORECASE)


def split_address(address: Address) -> tuple[str, Pairs]:
    """The path of an address, without a slash at its end, and its query."""
    path, _, query = address.path.partition("?")
    return quoted(f"/{path}").rstrip("/"), tuple(parse_qsl(query, keep_blank_values=True))


def quoted(path: str) -> str:
    """A path as it may be sent: percent-escapes stay, all else that is not legal is escaped."""
    return quote(_BROKEN_ESCAPE.sub("%25", path), safe=_PATH_SAFE)


def climbs(path: str) -> bool:
    """Whether a path has a segment ``.`` or ``..``, which would lead out of the address."""
    return any(_DOTS.fullmatch(segment) for segment in path.split("/"))


def join(start: str, path: str | None, query: Pairs) -> str:
    """The target of a request below the path of an address."""
    rest = quoted(path or "")
    if rest and not rest.startswith("/"):
        rest = f"/{rest}"
    target = (start + rest) or "/"
    return f"{target}?{urlencode(query, quote_via=quote)}" if query else target


def split(start: str, target: str) -> tuple[str, Pairs] | None:
    """The path below that of the address, and the query; None where it is not below it.

    ValueError where the query is not UTF-8.
    """
    path, _, query = target.partition("?")
    if path != start and not path.startswith(f"{start}/"):
        return None
    pairs = parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=1000)
    return path[len(start) :] or "/", tuple(pairs)
