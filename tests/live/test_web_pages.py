"""What pages of other origins can do to a registry and an intake, in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from urllib.request import urlopen

import pytest

from heraldry.messages.rawlog import RawLog
from tests.cli.served import serving
from tests.live.intake_process import intake, url_of
from tests.live.servers.browser import Pages, chromium, pages

CONTENT = {"dirs": {"d1": {"files": {"f1": {"file": {"a": 1}}}}}}
MODEL = {"groups": {"dirs": {"singular": "dir", "resources": {"files": {"singular": "file"}}}}}
FORMS = """
const sent = [];
for (const url of %s) for (const enctype of
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
  const frame = document.createElement("iframe"), form = document.createElement("form");
  frame.name = "frame" + sent.length;
  Object.assign(form, {method: "POST", action: url, enctype, target: frame.name});
  const field = document.createElement("input");
  field.name = '{"evil":{"name":"'; field.value = '"}}';
  form.append(field);
  document.body.append(frame, form);
  sent.push(new Promise(done => frame.addEventListener("load", () => done("sent"))));
  form.submit();
}
return await Promise.all(sent);
"""
SILENT = """
const results = [];
for (const url of %s) {
  const body = '{"evil":{}}';
  results.push(await tried(url, {method: "POST", mode: "no-cors", body}));
  results.push(navigator.sendBeacon(url, body));
  results.push(navigator.sendBeacon(url, new Blob([body], {type: "text/plain"})));
}
return results;
"""
ASKING = """
const results = [];
for (const url of %s) {
  results.push(await tried(url, json("POST", {evil: {}})));
  results.push(await tried(url + "/evil", json("PUT", {})));
  results.push(await tried(url + "/d1", {method: "DELETE"}));
  results.push(await tried(url + "/d1"));
}
return results;
"""
REBOUND = """
return [
  await tried("/export"), await tried("/dirs/d1"), await tried("/dirs/d1", {method: "DELETE"}),
  await tried("/dirs", json("POST", {evil: {}})), await tried("/dirs/evil", json("PUT", {})),
];
"""
WELCOME = """
const [registry, intake] = %s;
return [
  await tried(registry + "/d2", json("PUT", {})), await tried(registry + "/d2"),
  await tried(registry + "/d2/files/f", {method: "PUT", body: "a document"}),
  await tried(registry, {method: "POST", body: '{"evil":{}}'}),
  await tried(registry + "/d2", {method: "DELETE"}),
  await tried(intake, json("POST", {})), await tried(intake, {method: "POST", body: "a text"}),
];
"""


@dataclass(frozen=True, kw_only=True)
class Servers:
    """A registry and an intake, and pages that know their addresses."""

    registry: str
    log: Path
    targets: str
    pages: Pages
    folder: Path

    def run(self, host: str, script: str, refused: int = 0) -> list[object]:
        """What the script of a page of a host returns, once so much of it was refused."""
        if "%s" in script:
            script = script.replace("%s", self.targets)
        with self.pages.opened(host, script, self.folder) as result:
            end = monotonic() + 20
            while self.refused() < refused and monotonic() < end:
                sleep(0.05)  # beacons arrive when they like
        assert isinstance(result, list), result
        return result

    def state(self) -> tuple[bytes, int]:
        """All that the registry and the log hold."""
        with urlopen(f"{self.registry}/export") as shown:
            return shown.read(), RawLog(self.log).end()

    def refused(self) -> int:
        """How many requests the registry has answered with 403."""
        with urlopen(f"{self.registry}/metrics") as shown:
            lines = shown.read().decode()
        return sum(map(int, re.findall(r'requests_total\{[^}]*status="403"[^}]*\} (\d+)', lines)))


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    chromium()
    model, content = tmp_path / "model.json", tmp_path / "content.json"
    model.write_text(json.dumps(MODEL))
    content.write_text(json.dumps({"specversion": "1.0-rc4", **CONTENT}))
    with ExitStack() as stack:
        served = stack.enter_context(pages())
        allowed = ("--allow-origin", f"http://friend.example:{served.port}")
        starting = ("--model", str(model), "--import", str(content))
        registry = stack.enter_context(serving(tmp_path, *starting, *allowed)).url
        log = tmp_path / "log"
        process = stack.enter_context(intake(log, "--port", "0", *allowed))
        targets = json.dumps([f"{registry}/dirs", f"{url_of(process)}/in"])
        yield Servers(registry=registry, log=log, targets=targets, pages=served, folder=tmp_path)


@pytest.mark.parametrize(
    ("script", "results", "refused"),
    [
        pytest.param(FORMS, ["sent"] * 6, 3, id="forms"),
        pytest.param(SILENT, [0, True, True] * 2, 3, id="silent"),
        # The browser asks first, so that nothing arrives that could be refused.
        pytest.param(ASKING, ["TypeError"] * 8, 0, id="asking"),
    ],
)
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1"])
def test_a_page_of_another_origin_changes_nothing(
    servers: Servers, host: str, script: str, results: list[object], refused: int
) -> None:
    before = servers.state()
    assert servers.run(host, script, refused) == results
    assert (servers.state(), servers.refused()) == (before, refused)


def test_a_rebound_host_reads_and_changes_nothing(servers: Servers) -> None:
    before = servers.state()
    servers.pages.behind = int(servers.registry.rpartition(":")[2])
    assert servers.run("evil.example", REBOUND) == [403] * 5
    assert (servers.state(), servers.refused()) == (before, 5)


def test_a_page_of_an_origin_that_is_allowed(servers: Servers) -> None:
    results = servers.run("friend.example", WELCOME)
    assert results == [201, 200, 201, 403, 204, 202, 202]
    assert RawLog(servers.log).end() == 2
