"""What a model may include: documents at allowed addresses, and nothing else (MD-60).

resolve_includes(source, Includes(allow=("https://example.com/models/",)).load)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from heraldry.client.address import AllowList, Refused, parse
from heraldry.client.fetch import Fetched, FetchLimits, open_fetcher
from heraldry.client.resolver import run
from heraldry.dialects.limits import Limits
from heraldry.dialects.load import parse_document
from heraldry.errors import DocumentError, RegistryError


@dataclass(frozen=True, slots=True, kw_only=True)
class Includes:
    """Loads what models include and what documents are kept elsewhere.

    Addresses begin with one of ``allow``.
    """

    allow: tuple[str, ...] = ()
    limits: FetchLimits = field(default_factory=FetchLimits)

    def __post_init__(self) -> None:
        AllowList.of(self.allow)  # a mistake in it shows at once

    def load(self, address: str) -> Any:
        """The document at an address; ``model_error`` says why it cannot be had."""
        found = run(self._fetch(address))
        if isinstance(found, Refused):
            raise _refused(address, found.reason)
        try:
            name = found.address.path
            return parse_document(found.data, name, Limits(size=self.limits.size))
        except DocumentError as error:
            raise _refused(address, error.reason) from None

    def fetch(self, address: str, subject: str) -> bytes:
        """The bytes at an address, for an entity; ``bad_request`` says why there are none."""
        found = run(self._fetch(address))
        if isinstance(found, Refused):
            told = f"the document at {address!r} cannot be read: {found.reason}"
            raise RegistryError("bad_request", subject, {"error_detail": told})
        return found.data

    async def _fetch(self, text: str) -> Fetched | Refused:
        address = parse(text)
        if isinstance(address, Refused):
            return address
        allow = AllowList.of(self.allow)
        if not allow.permits(address):
            return Refused(reason="its address is not on the list of those that may be included")
        async with open_fetcher(allow, self.limits) as fetcher:
            return await fetcher.fetch(address)


def _refused(address: str, reason: str) -> RegistryError:
    detail = f"the include {address!r} cannot be read: {reason}"
    return RegistryError("model_error", "/model", {"error_detail": detail})
