"""The registry over HTTP on SQLite: 10 groups x 150 resources x 5 versions, and ten times that.

Single requests, a nested filter, writes, imports and the export, beside a bare Starlette handler.
"""

from __future__ import annotations

import json
import statistics
import threading
import time
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import psutil

from http_load import Call, Load, free_port, run, serving

MODEL = {"groups": {"dirs": {"singular": "dir", "resources": {"files": {"singular": "file"}}}}}
GROUPS, RESOURCES, VERSIONS = 10, 150, 5
ROUNDS = 3
FILTER = (
    "dirs.files.versions.name=file{f}%20of%20dir{d}%20v3,dirs.name=Directory%20{d},"
    "dirs.files.versions.labels.stage=prod"
)


def groups(first: int) -> dict[str, Any]:
    """Ten groups, as a body of POST /."""
    return {
        "dirs": {
            f"dir{d}": {
                "name": f"Directory {d}",
                "files": {
                    f"file{f}": {"versions": {f"v{v}": version(d, f, v) for v in range(VERSIONS)}}
                    for f in range(RESOURCES)
                },
            }
            for d in range(first, first + GROUPS)
        }
    }


def version(d: int, f: int, v: int) -> dict[str, Any]:
    """One version, with a small document."""
    return {
        "name": f"file{f} of dir{d} v{v}",
        "description": "One of many",
        "labels": {"stage": "prod" if v % 2 else "test", "team": f"team{f % 7}"},
        "contenttype": "application/json",
        "file": {"group": d, "number": f, "version": v},
    }


def figures(folder: Path, times: int) -> dict[str, Any]:
    """All figures of a registry with so many times the data."""
    port = free_port()
    database = folder / f"registry-{times}.db"
    for old in folder.glob(f"{database.name}*"):
        old.unlink()
    model = folder / "model.json"
    model.write_text(json.dumps(MODEL))
    serve = ["-m", "heraldry", "serve", "--db", f"sqlite:{database}", "--port", str(port)]
    with serving([*serve, "--model", str(model), "--registry-id", "bench"], port) as pid:
        rates = [_import(port, first * GROUPS) for first in range(times)]
        total = times * GROUPS
        found: dict[str, Any] = {"import_versions_per_second": round(rates[-1])}
        found |= _single(port, total) | _export(port, pid)
        found |= _cached(folder, port)
    return found


def _import(port: int, first: int) -> float:
    call = Call("POST", "/", json.dumps(groups(first)).encode())
    load = run(port, [call])
    _expect(load, 200)
    return GROUPS * RESOURCES * VERSIONS / load.seconds


def _single(port: int, total: int) -> dict[str, Any]:
    """Requests that no cache answers: each asks for something else."""
    places = [(d % total, f) for d in range(0, total, max(1, total // 10)) for f in range(100)]
    gets = [Call("GET", f"/dirs/dir{d}/files/file{f}$details") for d, f in places]
    filters = [
        Call("GET", "/?inline=dirs.files.versions&filter=" + FILTER.format(d=d, f=f))
        for d, f in places[::20]
    ]
    puts = [
        Call("PUT", f"/dirs/dir{d}/files/file{f}$details", b'{"name":"new","labels":{"a":"b"}}')
        for d, f in places[:600]
    ]
    get, nested = run(port, gets), run(port, filters)
    _expect(get, 200)
    _expect(nested, 200)
    put = run(port, puts)
    _expect(put, 200)
    return {
        "get_ms": round(get.median_ms, 3),
        "filter_ms": round(nested.median_ms, 3),
        "filter_to_get": round(nested.median_ms / get.median_ms, 1),
        "puts_per_second": round(put.rate),
        "put_ms": round(put.median_ms, 3),
    }


def _export(port: int, pid: int) -> dict[str, Any]:
    """How much memory the server takes more than before while it sends everything."""
    process, done = psutil.Process(pid), threading.Event()
    before = process.memory_info().rss
    peak = [before]

    def watch() -> None:
        while not done.wait(0.02):
            peak[0] = max(peak[0], process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    started = time.perf_counter()
    load = run(port, [Call("GET", "/export")])
    seconds = time.perf_counter() - started
    done.set()
    watcher.join()
    _expect(load, 200)
    return {
        "export_mb": round(load.size / 2**20, 1),
        "export_seconds": round(seconds, 2),
        "export_added_mb": round((peak[0] - before) / 2**20, 1),
    }


def _cached(folder: Path, port: int) -> dict[str, Any]:
    """The same GET again and again, beside a bare handler that returns the same bytes."""
    path = "/dirs/dir0/files/file0$details"
    with urlopen(f"http://127.0.0.1:{port}{path}") as reply:
        (folder / "bare.json").write_bytes(reply.read())
    bare = free_port()
    calls = [Call("GET", path)] * 10_000
    ratios, rates = [], []
    with serving(["benchmarks/bare_server.py", str(bare), str(folder / "bare.json")], bare):
        for _ in range(ROUNDS):
            baseline, ours = run(bare, calls, 8), run(port, calls, 8)
            _expect(ours, 200)
            ratios.append(ours.rate / baseline.rate)
            rates.append(ours.rate)
    return {
        "cached_gets_per_second": round(statistics.median(rates)),
        "cached_to_bare": round(statistics.median(ratios), 2),
    }


def _expect(load: Load, status: int) -> None:
    assert set(load.statuses) == {status}, load.statuses


def run_all(folder: Path) -> dict[str, Any]:
    """Both sizes, and whether the goals are reached."""
    folder.mkdir(parents=True, exist_ok=True)
    once, ten = figures(folder, 1), figures(folder, 10)
    growth = {name: round(ten[name] / once[name], 2) for name in ("get_ms", "put_ms", "filter_ms")}
    return {
        "once": once,
        "ten_times": ten,
        "growth": growth,
        "goals": {
            "registry: a cached GET at half the rate of a bare handler": once["cached_to_bare"]
            >= 0.5,
            "registry: a nested filter takes at most 50 single GETs": once["filter_to_get"] <= 50,
            "registry: 1,000 versions/s imported": once["import_versions_per_second"] >= 1000,
            "registry: 300 PUTs/s": once["puts_per_second"] >= 300,
            "registry: an export adds less than 100 MB": ten["export_added_mb"] < 100,
            "registry: ten times the data, requests within 1.5": growth["get_ms"] <= 1.5
            and growth["put_ms"] <= 1.5,
            "registry: ten times the data, filters within 12": growth["filter_ms"] <= 12,
        },
    }


if __name__ == "__main__":
    print(json.dumps(run_all(Path("build/bench/registry")), indent=2))
