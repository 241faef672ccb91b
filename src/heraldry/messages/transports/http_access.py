"""Credentials over HTTP: shown by a producer, demanded by a listener."""

from __future__ import annotations

import hmac
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field

from heraldry.errors import TransportError
from heraldry.messages.message import Pairs
from heraldry.messages.transports.options import text
from heraldry.messages.transports.secrets import Credentials
from heraldry.messages.transports.transport import Connection

_ILLEGAL = re.compile(r"[^\x20-\x7e]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a request carries to be let in; names of headers are in lower case."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    query: Mapping[str, str] = field(default_factory=dict, repr=False)

    def shown(self, query: Pairs, headers: Pairs) -> tuple[Pairs, Pairs]:
        """Query and headers of a request with the credentials; a message cannot override them."""
        headers = tuple(pair for pair in headers if pair[0].lower() not in self.headers)
        query = tuple(pair for pair in query if pair[0] not in self.query)
        return (*query, *self.query.items()), (*headers, *self.headers.items())

    def grants(self, headers: Pairs, query: Pairs) -> bool:
        """Whether a request carries it; compared in constant time."""
        sent = tuple((name.lower(), value) for name, value in headers)
        return all(
            any(_same(value, found) for one, found in pairs if one == name)
            for wanted, pairs in ((self.headers, sent), (self.query, query))
            for name, value in wanted.items()
        )

    def without(self, headers: Pairs, query: Pairs) -> tuple[Pairs, Pairs]:
        """Headers and query without credentials, which are no part of a message."""
        hidden = {"authorization", "proxy-authorization", *self.headers}
        return (
            tuple(pair for pair in headers if pair[0].lower() not in hidden),
            tuple(pair for pair in query if pair[0] not in self.query),
        )


def access(connection: Connection, credentials: Credentials) -> Access:
    """The credentials where the options of the endpoint put them; nothing where there are none."""
    if credentials.token is not None:
        return _by_token(connection, _legal(connection, credentials.token))
    if credentials.username is not None:
        return _by_password(connection, credentials.username, credentials.password or "")
    return Access()


def _by_token(connection: Connection, token: str) -> Access:
    name, place = text(connection, "apikeyname"), text(connection, "apikeyin") or "header"
    if name is None:
        return Access(headers={"authorization": f"Bearer {token}"})
    if place == "header":
        return Access(headers={name.lower(): token})
    if place == "query":
        return Access(query={name: token})
    raise _wrong(connection, "apikeyin", place, "header or query")


def _by_password(connection: Connection, username: str, password: str) -> Access:
    scheme = text(connection, "plainscheme") or "basic"
    if scheme == "basic":
        both = b64encode(f"{username}:{password}".encode()).decode()
        return Access(headers={"authorization": f"Basic {both}"})
    if scheme != "query":
        raise _wrong(connection, "plainscheme", scheme, "basic or query")
    fields = [text(connection, f"plain{one}field") for one in ("username", "password")]
    if fields[0] is None or fields[1] is None:
        told = "the option plainscheme is 'query', but the fields have no names"
        advice = "add plainusernamefield and plainpasswordfield"
        raise TransportError(str(connection.endpoint.xid), told, advice)
    return Access(query={fields[0]: username, fields[1]: password})


def _legal(connection: Connection, token: str) -> str:
    if _ILLEGAL.search(token):
        told = "the token holds characters that HTTP does not allow"
        raise TransportError(str(connection.endpoint.xid), told, "check HERALDRY_TOKEN")
    return token


def _same(wanted: str, found: str) -> bool:
    return hmac.compare_digest(wanted.encode(), found.encode())


def _wrong(connection: Connection, name: str, given: str, right: str) -> TransportError:
    told = f"the option {name} is {given!r}"
    return TransportError(str(connection.endpoint.xid), told, f"it must be {right}")
