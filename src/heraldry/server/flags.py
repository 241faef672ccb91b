"""The request flags of a query (FL-01..FL-05, FL-30, FL-40, FL-44, FL-50, PG-01)."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote_plus

from heraldry.dialects.xreg_1_0 import flag_names
from heraldry.dialects.xreg_1_0.wire import WIRES, Wire
from heraldry.errors import RegistryError
from heraldry.registry.capabilities import Capabilities
from heraldry.registry.request import Flags

_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.\d+)?(-.*)?")
_NUMBER = re.compile(r"[0-9]{1,20}")
_MOST = 2**64 - 1


class Query:
    """A query, by parameter: the raw values in their order."""

    def __init__(self, query: bytes, path: str) -> None:
        self._path = path
        self._values: dict[str, list[str]] = {}
        for part in query.decode("latin-1").split("&"):
            name, _, value = part.partition("=")
            if name:
                self._values.setdefault(self._decoded(name), []).append(value)

    def _decoded(self, text: str) -> str:
        if "%" not in text and "+" not in text and text.isascii():
            return text
        try:
            return unquote_plus(text, errors="strict")
        except UnicodeDecodeError:
            reason = {"error_detail": "the query is not UTF-8"}
            raise RegistryError("bad_request", self._path, reason) from None

    @property
    def empty(self) -> bool:
        """Whether nothing is asked for."""
        return not self._values

    def has(self, name: str) -> bool:
        """Whether a boolean flag is set."""
        values = self._values.get(name)
        return values is not None and values != ["false"]

    def one(self, name: str) -> str | None:
        """The value of a flag that may be given once (FL-01)."""
        values = self._values.get(name)
        if values is None:
            return None
        if len(values) > 1:
            detail = "It may be given only once."
            raise RegistryError("bad_flag", self._path, {"flag": name}, detail)
        return self._decoded(values[0])

    def lists(self, name: str) -> list[tuple[str, ...]]:
        """Each value split at its commas, before it is decoded: ``%2C`` is text (FL-30)."""
        found = []
        for value in self._values.get(name, ()):
            parts = [self._decoded(part).strip() for part in value.split(",")]
            found.append(tuple(part for part in parts if part))
        return found

    def all(self, name: str) -> tuple[str, ...] | None:
        """The values of a list flag: ``None`` not given, ``()`` without a value."""
        if name not in self._values:
            return None
        lists = self.lists(name)
        if not any(lists):
            return ()
        return tuple(value for values in lists for value in values or ("*",))

    def limit(self) -> int | None:
        """The greatest number of entities on a page (PG-01)."""
        text = self.one("limit")
        if text is None:
            return None
        number = int(text) if _NUMBER.fullmatch(text) else 0
        if not 0 < number <= _MOST:
            detail = "It must be a whole number greater than 0."
            raise RegistryError("bad_flag", self._path, {"flag": "limit"}, detail)
        return number

    def ignore(self) -> tuple[str, ...] | None:
        """What is ignored, older flags of their own included (FL-40, FL-44)."""
        given = self.all("ignore")
        older = [what for name, what in flag_names.IGNORED_BY_NAME.items() if self.has(name)]
        if not older:
            return given
        return (*(("*",) if given == () else given or ()), *older)


def read_flags(query: Query) -> Flags:
    """The flags of a query; unknown parameters are passed over (HT-06)."""
    if query.empty:
        return _NONE
    given: dict[str, Any] = {name: query.has(name) for name in flag_names.BOOLEAN}
    return Flags(
        **given,
        epoch=query.one("epoch"),
        filter=tuple(values for values in query.lists("filter") if values),
        ignore=query.ignore(),
        inline=query.all("inline"),
        setdefaultversionid=query.one("setdefaultversionid"),
        sort=query.one("sort"),
        limit=query.limit(),
        after=query.one(flag_names.CURSOR) or "",
        confirm=query.all(flag_names.CONFIRM) or (),
    )


_NONE = Flags()


def choose_wire(query: Query, path: str, capabilities: Capabilities, default: Wire) -> Wire:
    """The generation a request asks for (FL-05); ``unsupported_specversion`` for another."""
    asked = query.one("specversion") if "specversion" in capabilities.flags else None
    if not asked:
        return default
    wanted = _without_patch(asked)
    supported = {_without_patch(one) for one in capabilities.specversions}
    for wire in WIRES:
        if wire.specversion == wanted and wanted in supported:
            return wire
    known = {"specversion": asked, "list": ",".join(capabilities.specversions)}
    raise RegistryError("unsupported_specversion", path, known)


def _without_patch(version: str) -> str:
    """What of a version counts: major, minor and suffix, in lower case (FL-05)."""
    found = _VERSION.fullmatch(version)
    return f"{found[1]}.{found[2]}{found[3] or ''}".lower() if found else ""
