"""What one write may cost: entities, time, and a client that waits for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from heraldry.errors import RegistryError
from heraldry.registry.limits import Limits
from heraldry.registry.registry import Registry
from heraldry.registry.request import Request, Target
from tests.registry.asking import ask, changes, refused

MODEL = {
    "groups": {
        "dirs": {"singular": "dir", "resources": {"files": {"singular": "file"}}},
        "boxes": {"singular": "box", "resources": {}},
    }
}
MANY = 20_000


def dirs(number: int) -> dict[str, Any]:
    """So many directories."""
    return {f"d{one}": {} for one in range(number)}


@pytest.fixture
def small(address: str) -> Iterator[Registry]:
    """A registry that takes four entities at a time."""
    limits = Limits(write_entities=4)
    with closing(Registry.open(address, model=MODEL, limits=limits)) as made:
        yield made


@pytest.mark.parametrize(
    ("action", "path", "body"),
    [
        pytest.param("post", "/", {"dirs": dirs(3), "boxes": dirs(2)}, id="types of groups"),
        pytest.param("put", "/", {"dirs": dirs(5)}, id="the registry"),
        pytest.param("post", "/dirs", dirs(5), id="groups"),
        pytest.param("delete", "/dirs", dirs(5), id="deleted groups"),
        pytest.param("put", "/dirs/d", {"files": dirs(5)}, id="in a group"),
        pytest.param("patch", "/", {"dirs": {"d": {"files": dirs(4)}}}, id="in groups"),
        pytest.param("post", "/dirs/d", {"files": dirs(5)}, id="to a group"),
        pytest.param("post", "/dirs/d/files", dirs(5), id="resources"),
        pytest.param("post", "/dirs/d/files", {"f": {"versions": dirs(4)}}, id="with versions"),
        pytest.param("put", "/dirs/d/files/f$details", {"versions": dirs(5)}, id="a resource"),
        pytest.param("patch", "/dirs/d/files/f/versions", dirs(5), id="versions"),
    ],
)
def test_more_entities_than_allowed_are_refused(
    small: Registry, action: str, path: str, body: dict[str, Any]
) -> None:
    error = refused(small, action, path, body)
    assert (error.name, error.subject) == ("request_too_large", path)
    assert "more than 4 entities" in error.detail
    assert changes(small) == []


def test_entities_of_types_that_the_request_brings_are_counted(small: Registry) -> None:
    source = {"groups": {"shelves": {"singular": "shelf"}}}
    error = refused(small, "put", "/", {"modelsource": source, "shelves": dirs(5)})
    assert error.name == "request_too_large"
    assert changes(small) == []


def test_as_many_as_allowed_are_written(small: Registry) -> None:
    labels = {str(number): "x" for number in range(100)}
    ask(small, "post", "/", {"dirs": {**dirs(3), "d9": {"labels": labels}}})
    ask(small, "put", "/dirs/d/files/f$details", {"versions": dirs(4)})
    assert ask(small, "get", "/")["dirscount"] == 5


def test_the_owner_of_a_registry_may_write_more(small: Registry) -> None:
    request = Request(action="post", target=Target(), body={"dirs": dirs(100)})
    small.run(request, Limits(write_entities=0, write_seconds=0))
    assert ask(small, "get", "/")["dirscount"] == 100


@pytest.fixture
def hurried(address: str) -> Iterator[Registry]:
    """A registry that gives a write a tenth of a second."""
    limits = Limits(write_seconds=0.1)
    with closing(Registry.open(address, model="messaging", limits=limits)) as made:
        yield made


def test_a_write_that_takes_too_long_is_undone(hurried: Registry) -> None:
    before = ask(hurried, "get", "/")
    error = refused(hurried, "post", "/", {"endpoints": {}, "schemagroups": dirs(MANY)})
    assert (error.name, error.subject) == ("write_too_long", "/")
    assert "0.1 seconds" in error.detail
    assert ask(hurried, "get", "/") == before
    assert changes(hurried) == []


def test_a_rule_for_too_many_versions_is_undone(hurried: Registry) -> None:
    path = "/schemagroups/g/schemas/s"
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    versions = {
        f"v{number}": {"format": "JsonSchema", "schema": schema | {"title": str(number)}}
        for number in range(500)
    }
    request = Request(
        action="put", target=Target.parse(f"{path}$details"), body={"versions": versions}
    )
    hurried.run(request, Limits())
    error = refused(hurried, "patch", f"{path}/meta", {"compatibility": "full_transitive"})
    assert error.name == "write_too_long"
    assert "compatibility" not in ask(hurried, "get", f"{path}/meta")


def after(calls: int) -> Callable[[], bool]:
    """A client that leaves when it was asked about so often."""
    asked = iter(range(calls))
    return lambda: next(asked, None) is None


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param(0, id="before it begins"),
        pytest.param(50, id="between two entities"),
        pytest.param(1_100, id="while they go to the database"),
    ],
)
def test_a_write_whose_client_leaves_is_undone(address: str, calls: int) -> None:
    with closing(Registry.open(address, model=MODEL)) as made:
        body = {"dirs": dirs(1_000)}
        request = Request(action="post", target=Target(), body=body, cancelled=after(calls))
        with pytest.raises(RegistryError) as caught:
            made.run(request)
        assert caught.value.name == "server_busy"
        assert changes(made) == []
        ask(made, "post", "/", {"dirs": dirs(2)})
        assert ask(made, "get", "/")["dirscount"] == 2


def test_a_delete_whose_client_leaves_is_undone(address: str) -> None:
    with closing(Registry.open(address, model=MODEL)) as made:
        ask(made, "post", "/", {"dirs": dirs(10)})
        request = Request(action="delete", target=Target.parse("/dirs"), cancelled=after(5))
        with pytest.raises(RegistryError):
            made.run(request)
        assert ask(made, "get", "/")["dirscount"] == 10
