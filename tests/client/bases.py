"""Catalogs with a base message elsewhere, and what comes of it."""

from __future__ import annotations

from typing import Any

from heraldry.client.fetch import FetchLimits
from heraldry.client.resolver import Resolver
from heraldry.model.catalog import Catalog
from heraldry.model.definition import Definition
from heraldry.model.inherit import materialize
from heraldry.model.xid import Xid
from tests.model.catalogs import catalog

M = Xid.parse("/messagegroups/g/messages/m")
NATS = {"protocol": "NATS", "protocoloptions": {"subject": "orders"}}
DOCUMENT = {
    "messagegroups": {
        "g": {
            "protocol": "NATS",
            "messages": {
                "b": {"basemessage": "#/messagegroups/g/messages/c"},
                "c": {
                    "protocoloptions": {"subject": "orders"},
                    "dataschemaformat": "JSONSchema/draft-07",
                    "dataschemauri": "/schemagroups/s/schemas/x",
                },
                "borrowed": {"meta": {"xref": "/messagegroups/g/messages/b"}},
                "old": {"versions": {"1": {"protocol": "KAFKA"}, "2": {}}},
            },
        }
    }
}


def based_on(base: str, **attributes: Any) -> Catalog:
    return catalog({"m": {"basemessage": base, **attributes}})


def resolved(found: Catalog, *allow: str, **limits: Any) -> Catalog:
    return Resolver(allow=allow, limits=FetchLimits(**limits)).resolve(found)


def define(found: Catalog) -> Definition:
    return materialize(found, M)


def reason(found: Catalog, uri: str) -> str:
    assert found.external[uri].attributes is None
    assert define(found).protocol is None
    return found.external[uri].reason
