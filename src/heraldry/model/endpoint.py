"""Endpoints: where messages go and come from, as the catalog tells it (endpoint specification)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from heraldry.errors import UnknownEndpointError
from heraldry.model.catalog import Catalog
from heraldry.model.definition import Definition
from heraldry.model.endpoint_options import COMMON, default_of
from heraldry.model.entities import Group
from heraldry.model.formats import fold, is_deprecated, present, same_envelope, same_protocol
from heraldry.model.xid import Xid

_NOT_OPTIONS = frozenset((*COMMON, "options"))
_NEAR = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One endpoint of a catalog.

    ``addresses`` are the network addresses in order of preference, each as its URL or
    ``host:port``; ``details`` holds the members of each address (``security.protocol``, ...).
    ``options`` are the protocol's own, by their name without case and separators; use
    :meth:`option`. ``messagegroups`` are references to the groups of its contract.
    """

    xid: Xid
    usage: tuple[str, ...] = ()
    channel: str | None = None
    envelope: str | None = None
    envelopeoptions: Mapping[str, Any] = field(default_factory=dict)
    protocol: str | None = None
    # Not in the repr: a careless catalog may hold a password here.
    addresses: tuple[str, ...] = field(default=(), repr=False)
    details: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    deployed: bool = False
    messagegroups: tuple[str, ...] = ()
    deprecated: bool = False

    def option(self, name: str, default: Any = None) -> Any:
        """A protocol option, however its name is spelled: consumer-group, consumergroup (C5).

        One that the endpoint does not have is ``default``, else what the protocol says (R68..R91).
        """
        value = self.options.get(fold(name))
        if value is not None:
            return value
        return default if default is not None else default_of(self.protocol, name)


def endpoints(catalog: Catalog) -> Iterator[Xid]:
    """The xids of all endpoints."""
    for group in catalog.groups.get("endpoints", {}).values():
        yield group.xid


def endpoint_of(catalog: Catalog, name: str) -> Endpoint:
    """The endpoint of an xid or of a bare id; :class:`UnknownEndpointError`."""
    known = catalog.groups.get("endpoints", {})
    group = known.get(name.removeprefix("/endpoints/"))
    if group is None:
        near = get_close_matches(name.rpartition("/")[2], known, n=_NEAR)
        raise UnknownEndpointError(name, tuple(f"/endpoints/{one}" for one in near))
    return read_endpoint(group)


def is_foreign(endpoint: Endpoint, definition: Definition) -> bool:
    """Whether a definition is bound to another protocol or envelope than an endpoint (M12, M13)."""
    pairs = (
        (definition.protocol, endpoint.protocol, same_protocol),
        (definition.envelope, endpoint.envelope, same_envelope),
    )
    return any(own and common and not same(own, common) for own, common, same in pairs)


def read_endpoint(group: Group) -> Endpoint:
    """The endpoint a group is."""
    own = group.attributes
    options = _mapping(own.get("protocoloptions"))
    places = list(_places(options.get("endpoints")))
    return Endpoint(
        xid=group.xid,
        usage=_texts(own.get("usage")),
        channel=present(own.get("channel")),
        envelope=present(own.get("envelope")),
        envelopeoptions=_mapping(own.get("envelopeoptions")),
        protocol=present(own.get("protocol")),
        addresses=tuple(address for address, _ in places),
        details=tuple(detail for _, detail in places),
        options={fold(name): one for name, one in options.items() if name not in _NOT_OPTIONS},
        deployed=options.get("deployed") is True,
        messagegroups=_texts(own.get("messagegroups")),
        deprecated=is_deprecated(own),
    )


def _places(given: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Addresses as URLs; Kafka lists its servers in one member."""
    for place in given if isinstance(given, list) else ():
        if isinstance(place, str):
            yield place, {}
        elif isinstance(place, Mapping):
            servers = place.get("bootstrap.servers")
            listed = servers.split(",") if isinstance(servers, str) else _texts(servers)
            yield from ((server.strip(), place) for server in listed)
            url = place.get("url")
            if isinstance(url, str) and url:
                yield url, place


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _texts(value: Any) -> tuple[str, ...]:
    """The texts of an array; what is no text is left out, and reported by the rules."""
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()
