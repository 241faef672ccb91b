"""Signals that come before a query runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from heraldry.pipeline.spark.stopping import end_on_term, hold_signals
from tests.suites.processes import wait_until_over
from tests.suites.streams import WIDE, event, line

PATIENCE = 120.0
"""A job that is no further after so many seconds has failed."""
Moment = Callable[[psutil.Process, Path], bool]
"""Whether a job has come so far, by its processes and its log."""


def test_sigterm_ends_in_order() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended, end_on_term():
        signal.raise_signal(signal.SIGTERM)
    assert ended.value.code == 143
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_thread_leaves_signals_alone() -> None:
    found: list[object] = []

    def work() -> None:
        with end_on_term():
            found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGTERM)]


Meanwhile = Callable[[list[str]], object]


def held(done: list[str], *meanwhile: Meanwhile) -> None:
    """Do some things while signals are held, and say which were done."""
    with end_on_term(), hold_signals(lambda _: done.append("heard")):
        for one in meanwhile:
            one(done)
            done.append("on")


def term(done: list[str]) -> None:
    signal.raise_signal(signal.SIGTERM)


def interrupt(done: list[str]) -> None:
    signal.raise_signal(signal.SIGINT)


def fail(done: list[str]) -> None:
    raise OSError("Java is gone")


def hold(done: list[str]) -> None:
    with hold_signals():
        interrupt(done)


@pytest.mark.parametrize(
    ("meanwhile", "raised", "expected"),
    [
        pytest.param([term], SystemExit, ["heard", "on"], id="SIGTERM"),
        pytest.param([interrupt], KeyboardInterrupt, ["heard", "on"], id="SIGINT"),
        pytest.param([term, fail], SystemExit, ["heard", "on"], id="what-failed-by-it"),
        pytest.param([hold], KeyboardInterrupt, ["heard", "on"], id="a-hold-within"),
        pytest.param([interrupt] * 2, KeyboardInterrupt, ["heard", "on"], id="who-insists"),
        pytest.param([term, term], SystemExit, ["heard", "on"], id="SIGTERM-twice"),
    ],
)
def test_what_comes_meanwhile_is_heard_at_once_and_raised_afterwards(
    meanwhile: list[Meanwhile], raised: type[BaseException], expected: list[str]
) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    done: list[str] = []
    with pytest.raises(raised):
        held(done, *meanwhile)
    assert done == expected
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before


def test_a_handler_that_is_set_meanwhile_does_not_stay() -> None:
    with hold_signals():
        signal.signal(signal.SIGINT, lambda *_: pytest.fail("PySpark breaks in"))
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_what_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with hold_signals() as told:
            signal.raise_signal(signal.SIGINT)
        assert not told.is_set()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_thread_holds_nothing() -> None:
    found: list[object] = []

    def work() -> None:
        with hold_signals() as told:
            found.extend((signal.getsignal(signal.SIGINT), told.is_set()))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGINT), False]


def until(job: subprocess.Popen[bytes], log: Path, condition: Callable[[], bool]) -> None:
    """Look again and again while the job lives."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert job.poll() is None, f"the job ended by itself:\n{log.read_text()}"
        assert time.monotonic() < end, f"the job got nowhere:\n{log.read_text()}"
        time.sleep(0.01)


def begins(process: psutil.Process, log: Path) -> bool:
    return bool(process.children())


def runs(process: psutil.Process, log: Path) -> bool:
    """The script that looks for Java has become it."""
    return any(child.name() == "java" for child in process.children())


def spoken_to(process: psutil.Process, log: Path) -> bool:
    """There is a session, and the query is about to start."""
    return "Spark " in log.read_text()


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "codes", "moment", "after"),
    [
        pytest.param(signal.SIGINT, (130,), begins, 0.0, id="SIGINT-java-begins"),
        pytest.param(signal.SIGTERM, (143,), runs, 0.5, id="SIGTERM-java-runs"),
        pytest.param(signal.SIGINT, (130, 0), runs, 3.0, id="SIGINT-session"),
        pytest.param(signal.SIGINT, (130,), spoken_to, 0.0, id="SIGINT-query"),
    ],
)
def test_a_signal_while_spark_starts_leaves_nothing(
    tmp_path: Path, number: signal.Signals, codes: tuple[int, ...], moment: Moment, after: float
) -> None:
    """Whenever it comes: no Java lives on, and nobody has to read how Python and Java talk.

    A stream that has begun by then, on a quick machine, ends in order.
    """
    (tmp_path / "in").mkdir()
    catalog, log = tmp_path / "catalog.json", tmp_path / "log"
    catalog.write_bytes(WIDE)
    (tmp_path / "in" / "a.jsonl").write_bytes(line(event("order", {"id": "1"})))
    asked = ["--from", f"files:{tmp_path / 'in'}", "--to", str(tmp_path / "lake"), "--stream"]
    command = [sys.executable, "-m", "heraldry", "land", "--catalog", str(catalog), *asked]
    with log.open("wb") as told:
        job = subprocess.Popen(command, stderr=told, stdout=told, start_new_session=True)
    process = psutil.Process(job.pid)
    family = [process]
    try:
        until(job, log, lambda: moment(process, log))
        time.sleep(after)
        family += process.children(recursive=True)
        job.send_signal(number)
        assert job.wait(30) in codes, log.read_text()
        wait_until_over(family, 15)
        assert not [one for one in family if one.is_running() and one.status() != "zombie"]
    finally:
        if any(one.is_running() for one in family):
            os.killpg(job.pid, signal.SIGKILL)
        job.wait()
    assert not {"Traceback", "ERROR"} & set(log.read_text().replace(":", " ").split())
