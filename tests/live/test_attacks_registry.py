"""What one costly request may do to the others: many entities, many versions, a large order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.live.attack import Attacked, attacked, read_for

pytestmark = pytest.mark.alone

GROUPS = 100_000
DEFINITIONS = 10_000
VERSIONS = 400
MODEL = {
    "groups": {
        "dirs": {"singular": "dir", "resources": {"files": {"singular": "file"}}},
        "boxes": {"singular": "box"},
        "schemagroups": {
            "singular": "schemagroup",
            "resources": {
                "schemas": {
                    "singular": "schema",
                    "validateformat": True,
                    "validatecompatibility": True,
                }
            },
        },
    }
}
TYPED = {"Content-Type": "application/json"}
RC4 = "specversion=1.0-rc4"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    """A server with many groups, in no order."""
    with attacked(tmp_path_factory.mktemp("attacked"), MODEL) as one:
        for start in range(0, GROUPS, GROUPS // 10):
            some = range(start, start + GROUPS // 10)
            boxes = {f"b{number}": {"name": f"n{number * 7919 % GROUPS}"} for number in some}
            assert send(one, "POST", "/boxes", boxes) == 200
        yield one


def send(server: Attacked, method: str, target: str, value: Any, seconds: float = 300) -> int:
    body = json.dumps(value).encode()
    return server.call(method, target, body, TYPED, seconds=seconds).status


def test_a_million_groups_in_one_write(server: Attacked) -> None:
    body = b'{"dirs":{' + b",".join(b'"g%d":{}' % number for number in range(1_000_000)) + b"}}"

    def assault() -> None:
        answer = server.call("POST", "/", body, TYPED, seconds=300)
        assert answer.status in (400, 413), answer.body[:500]
        read_for(4)  # for a percentile: to parse a million members is one step, which holds all up

    server.withstands(assault)


def test_as_many_groups_as_a_write_may_have(server: Attacked) -> None:
    body = {"dirs": {f"g{number}": {} for number in range(50_000)}}

    def assault() -> None:
        assert send(server, "POST", "/", body) == 200
        read_for(1)

    server.withstands(assault, rounds=1)


def test_many_versions_that_go_with_all_others(server: Attacked) -> None:
    def version(number: int) -> dict[str, Any]:
        schema = {
            "type": "object",
            "title": str(number),
            "properties": {f"p{one}": {"type": "string"} for one in range(5)},
        }
        return {"format": "JsonSchema/draft-07", "schema": schema}

    path = "/schemagroups/g/schemas/s"
    versions = {f"v{number:04}": version(number) for number in range(VERSIONS)}
    body = {"meta": {"compatibility": "full_transitive"}, "versions": versions}

    def assault() -> None:
        assert send(server, "PUT", f"{path}$details?{RC4}", body) in (200, 201)
        versions["v0000"] = version(len(versions))
        versions[f"v{len(versions):04}"] = version(len(versions))
        assert send(server, "PUT", f"{path}$details?{RC4}", body) == 200
        read_for(1)

    server.withstands(assault)


@pytest.mark.parametrize("limit", ["&limit=50", ""], ids=["a page", "all of it"])
def test_an_order_of_many_groups(server: Attacked, limit: str) -> None:
    orders = iter(["name", "name=desc", "epoch"])

    def assault() -> None:
        answer = server.call("GET", f"/boxes?sort={next(orders)}{limit}", seconds=300)
        found = json.loads(answer.body)
        assert (answer.status, len(found)) == (200, 50 if limit else GROUPS)
        read_for(1)

    server.withstands(assault)


def test_an_import_of_many_definitions_is_taken(server: Attacked) -> None:
    schemas = {f"s{number}": {"name": f"Schema {number}"} for number in range(DEFINITIONS)}

    def assault() -> None:
        assert send(server, "POST", "/", {"schemagroups": {"many": {"schemas": schemas}}}) == 200

    server.withstands(assault, rounds=1)
    count = json.loads(server.call("GET", "/schemagroups/many").body)["schemascount"]
    assert count == DEFINITIONS
