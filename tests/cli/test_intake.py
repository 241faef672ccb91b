"""`heraldry intake` as a process: killed or told to end, what it acknowledged is in its log."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from heraldry.messages.rawlog import RawLog
from tests.conftest import ROOT
from tests.live.servers.server import free_port

SHOP = str(ROOT / "examples" / "shop")


def start(
    folder: Path, *arguments: str, port: int | None = 0, **environment: str
) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "heraldry", "intake", "--log", str(folder)]
    listening = [] if port is None else ["--port", str(port)]
    return subprocess.Popen(
        [*command, *listening, "--format", "json", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )


@contextmanager
def taking(
    folder: Path, *arguments: str, port: int | None = 0, **environment: str
) -> Iterator[tuple[str, dict]]:
    process = start(folder, *arguments, port=port, **environment)
    try:
        said = process.stdout.readline()
        assert said, process.communicate()[1]
        yield json.loads(said)["url"], json.loads(said)
        process.terminate()
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
        process.communicate(timeout=20)


def post(url: str, body: bytes, **headers: str) -> int:
    try:
        with urlopen(Request(f"{url}/in", body, headers), timeout=20) as reply:
            return reply.status
    except HTTPError as error:
        error.close()
        return error.code


def test_messages_are_kept_from_run_to_run(tmp_path):
    log = tmp_path / "log"
    with taking(log) as (url, said):
        assert said == {"url": url, "log": str(log), "messages": 0}
        assert [post(url, b"%d" % number) for number in range(3)] == [202] * 3
    with taking(log) as (url, said):
        assert said["messages"] == 3
        assert post(url, b"3") == 202
    kept = [json.loads(line)["payload"] for line in RawLog(log).read(0, 4)]
    assert kept == [0, 1, 2, 3]


def test_a_token_from_the_environment(tmp_path):
    with taking(tmp_path, "--token-env", "DOOR", DOOR="open") as (url, _):
        assert post(url, b"1") == 401
        assert post(url, b"1", Authorization="Bearer open") == 202


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param(["--token-env", "NO_SUCH"], "NO_SUCH holds no token", id="no-token"),
        pytest.param(["--from", "kafka://b:9092/t"], "needs no intake", id="replayable"),
        pytest.param(["--from", "mqtt://127.0.0.1:1/a"], "is the broker running", id="no-broker"),
        pytest.param(["--source-option", "a=b"], "those of a source", id="option-without-source"),
        pytest.param(["--from", "endpoint:x"], "--catalog PATH", id="endpoint-without-catalog"),
        pytest.param(["--catalog", SHOP], "--from endpoint:XID", id="catalog-without-endpoint"),
        pytest.param(
            ["--catalog", SHOP, "--from", "mqtt://h/a"], "--from endpoint:XID", id="catalog-and-url"
        ),
        pytest.param(
            ["--catalog", SHOP, "--from", "endpoint:shop-mqt"],
            "did you mean /endpoints/shop-mqtt",
            id="no-such-endpoint",
        ),
        pytest.param(
            ["--catalog", SHOP, "--from", "endpoint:shop-kafka"],
            "needs no intake",
            id="replayable-endpoint",
        ),
        pytest.param(
            ["--catalog", SHOP, "--from", "endpoint:shop-http", "--source-option", "a=b"],
            "no option 'a': it takes none",
            id="option-of-http",
        ),
        pytest.param(
            ["--from", "mqtt://h/a", "--source-option", "idle"],
            "--source-option idle has no value",
            id="option-without-value",
        ),
        *(
            pytest.param(
                ["--from", "mqtt://127.0.0.1:1/a", *typed],
                f"{typed[0]} is for messages over HTTP: leave it out",
                id=f"broker-and{typed[0][1:]}",
            )
            for typed in (
                *(["--host", "::1"], ["--port", "1"], ["--max-body", "9"]),
                *(["--token-env", "PATH"], ["--keep-invalid"]),
                *(["--allow-host", "a"], ["--allow-origin", "*"]),
            )
        ),
    ],
)
def test_what_cannot_be(tmp_path, arguments, told):
    process = start(tmp_path, *arguments, port=None)
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, told in errors) == (2, True), errors


def catalog(folder: Path, address: str) -> str:
    options = {"endpoints": [{"uri": address}]}
    door = {"endpointid": "door", "usage": ["consumer"], "protocol": "HTTP"}
    place = folder / "door.xreg.json"
    endpoints = {"door": door | {"protocoloptions": options}}
    place.write_text(json.dumps({"specversion": "1.0-rc2", "endpoints": endpoints}))
    return str(place)


def test_an_http_endpoint_is_listened_at_by_its_address_and_path(tmp_path):
    port, log = free_port(), tmp_path / "log"
    named = catalog(tmp_path, "http://127.0.0.1:{port}/hooks/{shop}")
    given = ("--source-option", f"port={port}", "--source-option", "shop=lisbon")
    arguments = ("--catalog", named, "--from", "endpoint:door", *given)
    with taking(log, *arguments, port=None) as (url, _):
        assert url == f"http://127.0.0.1:{port}/hooks/lisbon"
        assert post(url, b"1") == 202
        assert post(f"http://127.0.0.1:{port}/hooks/lisbons", b"2") == 404
        assert post(f"http://127.0.0.1:{port}", b"3") == 404
        with urlopen(f"http://127.0.0.1:{port}/healthz", timeout=20) as reply:
            assert reply.status == 200
    (kept,) = RawLog(log).read(0, 1)
    assert json.loads(kept)["metadata"]["path"] == "/in"  # below the endpoint's own
    assert RawLog(log).source() == url


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_port_that_is_given_counts_more_than_that_of_the_endpoint(tmp_path, scheme):
    named, log = catalog(tmp_path, f"{scheme}://127.0.0.1:1/hooks"), tmp_path / "log"
    with taking(log, "--catalog", named, "--from", "endpoint:/endpoints/door") as (url, _):
        assert url.startswith("http://127.0.0.1:")
        assert url.endswith("/hooks")
        assert post(url, b"1") == 202


def test_an_endpoint_that_is_reached_by_tls_needs_a_proxy(tmp_path):
    named, log = catalog(tmp_path, "https://shop.example.com/hooks"), tmp_path / "log"
    process = start(log, "--catalog", named, "--from", "endpoint:door", port=None)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 2
    assert "let a proxy speak it, and name where it sends: --host, --port" in errors


def test_a_catalog_of_the_environment_is_not_in_the_way(tmp_path):
    with taking(tmp_path, HERALDRY_CATALOG=SHOP) as (url, _):
        assert post(url, b"1") == 202


def test_a_second_writer_is_refused(tmp_path):
    with taking(tmp_path):
        process = start(tmp_path)
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 2
        assert "another process writes this log" in errors
