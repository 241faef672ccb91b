"""Credentials: from the environment or a callback, never from a catalog, never shown."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from heraldry.model.endpoint import Endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """What a server may ask for; no text of it shows in a repr, a log or an error."""

    username: str | None = None
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    certificate_file: str | None = None
    key_file: str | None = None


Secrets = Callable[[Endpoint], Credentials]
"""Gives the credentials for an endpoint; called once for each connection."""


def from_environment(
    endpoint: Endpoint, environment: Mapping[str, str] | None = None
) -> Credentials:
    """The credentials in ``HERALDRY_USERNAME``, ``_PASSWORD``, ``_TOKEN``, ``_CA_FILE``, ....

    ``HERALDRY_<ENDPOINT>_PASSWORD`` comes first: the id in upper case, all else ``_``.
    """
    known = os.environ if environment is None else environment
    own = re.sub(r"[^A-Z0-9]+", "_", endpoint.xid.group.upper())

    def find(name: str) -> str | None:
        return known.get(f"HERALDRY_{own}_{name}") or known.get(f"HERALDRY_{name}") or None

    return Credentials(
        username=find("USERNAME"),
        password=find("PASSWORD"),
        token=find("TOKEN"),
        ca_file=find("CA_FILE"),
        certificate_file=find("CERTIFICATE_FILE"),
        key_file=find("KEY_FILE"),
    )
