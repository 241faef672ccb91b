"""Base messages from elsewhere: what they give to a catalog, and never an error."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import heraldry
from heraldry.errors import CircularBaseError
from heraldry.messages.catalog import MessageCatalog
from heraldry.model.catalog import Catalog
from tests.client.bases import DOCUMENT, NATS, M, based_on, define, reason, resolved
from tests.client.registries import Registry
from tests.model.catalogs import catalog


def test_an_allowed_base_is_inherited_from(registry: Registry) -> None:
    uri = registry.message("b", **NATS, datacontenttype="text/plain")
    found = resolved(based_on(uri, datacontenttype="text/csv"), registry.url)
    got = define(found)
    assert (got.protocol, got.protocoloptions) == ("NATS", {"subject": "orders"})
    assert got.datacontenttype == "text/csv"
    assert (got.basemessage, got.bases) == (uri, (uri,))
    assert registry.paths == ["/messagegroups/g/messages/b"]


def test_without_a_resolver_nothing_is_asked_for(registry: Registry, tmp_path: Path) -> None:
    file = tmp_path / "c.xreg.json"
    file.write_text(json.dumps(based_on(registry.message("b", **NATS)).source))
    opened = heraldry.open(file)
    assert opened["m"].definition.protocol is None
    assert [(one.rule, one.severity) for one in opened.check() if "base-" in one.rule] == [
        ("base-external", "info")
    ]
    assert registry.paths == []


def test_a_resolver_of_open_fetches_once(registry: Registry, tmp_path: Path) -> None:
    file = tmp_path / "c.xreg.json"
    file.write_text(json.dumps(based_on(registry.message("b", **NATS)).source))
    opened = heraldry.open(file, resolver=heraldry.Resolver(allow=(registry.url,)))
    assert opened["m"].definition.protocol == "NATS"
    assert opened["m"].build(b"x").as_nats().subject == "orders"
    assert not [one for one in opened.check() if "base-" in one.rule]
    assert len(registry.paths) == 1


def test_a_catalog_may_be_opened_within_an_event_loop(registry: Registry) -> None:
    found = based_on(registry.message("b", **NATS))

    async def open_there() -> Catalog:
        return resolved(found, registry.url)

    assert define(asyncio.run(open_there())).protocol == "NATS"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        pytest.param(b"<html><body>hello</body></html>", "not an object", id="HTML"),
        pytest.param(b"{", "not JSON", id="broken JSON"),
        pytest.param(b"[1]", "not an object", id="array"),
        pytest.param(b"", "cannot be read", id="nothing"),
        pytest.param(b"a: \xff", "cannot be read", id="no text"),
        pytest.param({"hello": 1}, "not a message definition", id="something else"),
        pytest.param({"messagegroupid": "g", "envelope": "CloudEvents/1.0"}, "not a", id="group"),
        pytest.param({"messagegroups": {}}, "whole catalog", id="catalog"),
        pytest.param(b'{"a":' * 200 + b"1" + b"}" * 200, "nested deeper", id="deep"),
        pytest.param(b'{"messageid": "b", "messageid": "c"}', "twice", id="duplicate"),
        pytest.param({"messageid": "b", "versions": {"1": 5}}, "expected an object", id="shape"),
    ],
)
def test_what_is_no_message_ends_the_chain(registry: Registry, content: Any, told: str) -> None:
    uri = registry.serve("/b", content)
    assert told in reason(resolved(based_on(uri), registry.url), uri)


def test_chains_are_limited(registry: Registry) -> None:
    for index in range(5):
        registry.message(f"b{index}", basemessage=f"/messagegroups/g/messages/b{index + 1}")
    registry.message("b5", **NATS)
    found = based_on(f"{registry.url}/messagegroups/g/messages/b0")
    assert define(resolved(found, registry.url, depth=6)).protocol == "NATS"
    short = resolved(found, registry.url, depth=3)
    end = f"{registry.url}/messagegroups/g/messages/b3"
    assert "longer than 3 messages" in reason(short, end)
    assert len(define(short).bases) == 3


def test_a_relative_base_is_of_its_own_registry(registry: Registry, other: Registry) -> None:
    registry.serve(
        "/deep/messagegroups/h/messages/c", {"messageid": "c", **NATS, "envelope": "none"}
    )
    uri = registry.serve(
        "/deep/endpoints/e/messages/b/versions/2",
        {"messageid": "b", "versionid": "2", "basemessage": "/messagegroups/h/messages/c"},
    )
    found = catalog({"m": {"basemessage": uri}, "c": {"protocol": "KAFKA"}})
    got = define(resolved(found, registry.url, other.url))
    assert got.protocol == "NATS"
    assert got.bases == (uri, f"{registry.url}/deep/messagegroups/h/messages/c")


def test_chains_go_over_several_catalogs(registry: Registry, other: Registry) -> None:
    last = other.message("c", **NATS)
    uri = registry.message("b", basemessage=last, datacontenttype="text/plain")
    chained = catalog(
        {"m": {"basemessage": "/messagegroups/g/messages/n"}, "n": {"basemessage": uri}}
    )
    got = define(resolved(chained, registry.url, other.url))
    assert (got.protocol, got.datacontenttype) == ("NATS", "text/plain")
    assert got.bases == ("/messagegroups/g/messages/n", uri, last)
    half = resolved(chained, registry.url)
    assert (define(half).protocol, define(half).datacontenttype) == (None, "text/plain")
    assert "not on the allow-list" in half.external[last].reason
    assert len(other.paths) == 1


def test_a_circle_over_catalogs_is_an_error(registry: Registry, other: Registry) -> None:
    second = f"{other.url}/messagegroups/g/messages/c"
    first = registry.message("b", basemessage=second)
    other.message("c", basemessage=first)
    found = resolved(based_on(first), registry.url, other.url)
    with pytest.raises(CircularBaseError) as error:
        define(found)
    assert error.value.chain == (first, second, first)
    findings = MessageCatalog(found).check()
    assert [one.severity for one in findings if one.rule in ("M18", "circular")] == ["error"]


def test_a_circle_is_found_however_an_address_is_spelt(registry: Registry) -> None:
    first = registry.message("b", basemessage="/messagegroups/g/messages/c")
    registry.message("c", basemessage=first.replace("/b", "/%62"))
    found = resolved(based_on(first.replace("http:", "HTTP:")), registry.url)
    with pytest.raises(CircularBaseError):
        define(found)
    assert len(registry.paths) == 2


@pytest.mark.parametrize(
    ("fragment", "protocol"),
    [
        pytest.param("/messagegroups/g/messages/b", "NATS", id="message"),
        pytest.param("/messagegroups/g/messages/borrowed", "NATS", id="borrowed"),
        pytest.param("/messagegroups/g/messages/old/versions/1", "KAFKA", id="version"),
        pytest.param("/messagegroups/g/messages/old/versions/3", None, id="no version"),
        pytest.param("/messagegroups/g/messages/no", None, id="no message"),
        pytest.param("/messagegroups/g", None, id="group"),
        pytest.param("c", None, id="no pointer"),
    ],
)
def test_a_message_of_a_document(registry: Registry, fragment: str, protocol: str | None) -> None:
    uri = registry.serve("/c.xreg.json", DOCUMENT) + "#" + fragment
    assert define(resolved(based_on(uri), registry.url)).protocol == protocol
    assert registry.paths == ["/c.xreg.json"]


def test_a_document_may_be_yaml(registry: Registry) -> None:
    text = b"messagegroups:\n  g:\n    messages:\n      b:\n        protocol: NATS\n"
    uri = registry.serve("/c.yaml", text) + "#/messagegroups/g/messages/b"
    assert define(resolved(based_on(uri), registry.url)).protocol == "NATS"


@pytest.mark.parametrize(
    "kind", [pytest.param("document", id="document"), pytest.param("entity", id="entity")]
)
def test_a_schema_of_a_base_is_not_looked_for_here(registry: Registry, kind: str) -> None:
    if kind == "document":
        uri = registry.serve("/c.json", DOCUMENT) + "#/messagegroups/g/messages/c"
        there = f"{registry.url}/c.json#/schemagroups/s/schemas/x"
    else:
        uri = registry.message(
            "c", dataschemaformat="JSONSchema/draft-07", dataschemaxid="/schemagroups/s/schemas/x"
        )
        there = f"{registry.url}/schemagroups/s/schemas/x"
    here = {"x": {"format": "JSONSchema/draft-07", "schema": {"type": "string"}}}
    found = resolved(catalog({"m": {"basemessage": uri}}, here), registry.url)
    got = define(found)
    assert (got.dataschemauri, got.dataschemaxid) == (there, None)
    assert MessageCatalog(found)["m"].compiled.schema_state == "external"


def test_a_password_in_a_catalog_is_not_told(registry: Registry) -> None:
    uri = registry.url.replace("//", "//me:hunter2@") + "/b"
    for found in (based_on(uri), resolved(based_on(uri), registry.url)):
        told = [one for one in MessageCatalog(found).check() if one.rule.startswith("base-")]
        assert len(told) == 1
        assert "hunter2" not in repr(told)
    assert registry.paths == []


def test_what_was_not_fetched_is_told_with_the_reason(registry: Registry) -> None:
    end = f"{registry.url}/messagegroups/g/messages/no"
    uri = registry.message("b", basemessage=end)
    found = resolved(based_on(uri), registry.url)
    (told,) = [one for one in MessageCatalog(found).check() if one.rule == "base-unresolved"]
    assert told.severity == "info"
    assert told.location == f"{M}/basemessage"
    assert end in told.message
    assert "answers 404" in told.message
