"""A registry's address as a catalog: fetched as one document, and kept for when it is down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import heraldry
from heraldry.client.registry import Patience
from heraldry.client.registry_catalog import Catalogs
from heraldry.errors import ClientError, DocumentError, TransportError, UsageError
from tests.client.registries import Registry, running

QUICK = Patience(pause=0.01, longest_pause=0.02)
MESSAGE = "/messagegroups/orders/messages/order.placed"


def export(**attributes: Any) -> dict[str, Any]:
    """A registry in document view, as ``/export`` gives it."""
    version = {"messageid": "order.placed", "versionid": "1", "envelope": "CloudEvents/1.0"}
    message = {
        "messageid": "order.placed",
        "self": f"#{MESSAGE}",
        "xid": MESSAGE,
        "metaurl": f"#{MESSAGE}/meta",
        "meta": {"messageid": "order.placed", "defaultversionid": "1"},
        "versions": {"1": version | attributes},
    }
    group = {"messagegroupid": "orders", "messages": {"order.placed": message}}
    return {"specversion": "1.0-rc2", "registryid": "r", "messagegroups": {"orders": group}}


class Told(list[str]):
    """What was said about old copies."""


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def catalogs(tmp_path: Path, told: Told) -> Catalogs:
    return Catalogs(cache=tmp_path / "cache", tell=told.append, patience=QUICK)


def messages(catalog: Any) -> set[str]:
    return {
        str(message.xid)
        for group in catalog.groups.get("messagegroups", {}).values()
        for message in group.resources["messages"].values()
    }


@pytest.mark.parametrize("slash", ["", "/"], ids=["bare", "slash"])
def test_a_registry_is_fetched_by_its_export(
    catalogs: Catalogs, registry: Registry, slash: str
) -> None:
    registry.serve("/export", export())
    assert messages(catalogs.load(registry.url + slash)) == {MESSAGE}
    assert registry.paths == ["/export"]


def test_without_an_export_the_document_view_is_fetched(
    catalogs: Catalogs, registry: Registry
) -> None:
    registry.serve("/reg/export", {"title": "not available"}, 400)
    registry.serve("/reg/?doc&inline=*", export())
    assert messages(catalogs.load(f"{registry.url}/reg")) == {MESSAGE}


@pytest.mark.parametrize(
    "path",
    ["/a/orders.xreg.json", "/export", "/?doc&inline=messagegroups"],
    ids=["file", "export", "query"],
)
def test_a_document_is_fetched_as_it_is_named(
    catalogs: Catalogs, registry: Registry, path: str
) -> None:
    url = registry.serve(path, export())
    assert messages(catalogs.load(url)) == {MESSAGE}
    assert registry.paths == [path]


def test_addresses_and_files_are_merged(
    catalogs: Catalogs, registry: Registry, examples: Path
) -> None:
    registry.serve("/export", export())
    found = messages(catalogs.load(registry.url, examples / "airport"))
    assert MESSAGE in found
    assert len(found) > 1


def test_the_copy_is_used_while_the_registry_is_down(catalogs: Catalogs, told: Told) -> None:
    with running() as registry:
        registry.serve("/export", export())
        catalogs.load(registry.url)
    assert told == []
    assert messages(catalogs.load(registry.url)) == {MESSAGE}
    assert len(told) == 1
    assert registry.url in told[0]
    assert "using the copy of 20" in told[0]


def test_the_copy_is_used_while_the_registry_fails(
    catalogs: Catalogs, registry: Registry, told: Told
) -> None:
    registry.serve("/export", export())
    catalogs.load(registry.url)
    registry.serve("/export", {"title": "out of order"}, 500)
    assert messages(catalogs.load(registry.url)) == {MESSAGE}
    assert "out of order" in told[0]


def test_a_refusal_is_not_papered_over_by_a_copy(
    catalogs: Catalogs, registry: Registry, told: Told
) -> None:
    registry.serve("/export", export())
    catalogs.load(registry.url)
    registry.serve("/export", {"title": "who are you?"}, 401)
    with pytest.raises(ClientError, match="who are you"):
        catalogs.load(registry.url)
    assert told == []


def test_without_a_copy_a_registry_that_is_down_is_an_error(catalogs: Catalogs) -> None:
    with pytest.raises(TransportError) as failed:
        catalogs.load("http://127.0.0.1:9")
    assert failed.value.exit_code == 2


def test_a_new_reply_replaces_the_copy(catalogs: Catalogs, told: Told) -> None:
    with running() as registry:
        registry.serve("/export", export(description="old"))
        catalogs.load(registry.url)
        registry.serve("/export", export(description="new"))
        catalogs.load(registry.url)
    document = json.loads(catalogs.document(registry.url))
    version = document["messagegroups"]["orders"]["messages"]["order.placed"]["versions"]["1"]
    assert version["description"] == "new"


def test_what_is_no_catalog_is_an_error(catalogs: Catalogs, registry: Registry) -> None:
    url = registry.serve("/export", b"<html>")
    with pytest.raises(DocumentError):
        catalogs.load(url)
    ((place, found),) = catalogs.load_each(url)
    assert place == url
    assert isinstance(found, DocumentError)


def test_an_address_with_a_password_is_refused(catalogs: Catalogs) -> None:
    with pytest.raises(UsageError) as refused:
        catalogs.load("http://user:secret@host/")
    assert "secret" not in str(refused.value)


def test_open_takes_an_address_and_warns_of_an_old_copy(tmp_path: Path) -> None:
    with running() as registry:
        registry.serve("/export", export())
        assert MESSAGE in heraldry.open(registry.url, cache=tmp_path)
    with pytest.warns(UserWarning, match="using the copy of") as said:
        opened = heraldry.open(registry.url, cache=tmp_path)
    assert MESSAGE in opened
    assert said[0].filename == __file__
