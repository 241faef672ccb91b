"""Landing what is posted: the intake is killed, the job is killed, and senders try again."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest

from heraldry.messages.envelopes import json_format
from heraldry.messages.message import Message
from tests.live.intake_process import intake, tokens
from tests.live.landing_kills import Landing, killed_landings, shop_messages
from tests.live.servers.server import free_port

pytestmark = pytest.mark.timeout(1200)

_BATCH = 200
_HEADERS = {"Content-Type": json_format.BATCH_MEDIA_TYPE}


def post(url: str, messages: Sequence[Message]) -> None:
    """Post a batch until it is taken."""
    body, end = json_format.write_batch(messages), time.monotonic() + 240
    while True:
        try:
            with urlopen(Request(f"{url}/shop", body, _HEADERS), timeout=10) as reply:
                assert reply.status == 202
                return
        except (HTTPError, URLError, ConnectionError, TimeoutError):
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def feed(url: str, messages: Sequence[Message]) -> None:
    for begin in range(0, len(messages), _BATCH):
        post(url, messages[begin : begin + _BATCH])


@contextmanager
def dying_intake(log: Path, kills: int, chance: random.Random) -> Iterator[str]:
    """An intake that is killed and started again so often, always at the same address."""
    port = free_port()
    ended = threading.Event()

    def run() -> None:
        for number in range(kills + 1):
            with intake(log, "--port", str(port)) as process:
                ended.wait(chance.uniform(0.3, 3) if number < kills else None)
                process.kill()

    running = threading.Thread(target=run)
    running.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        ended.set()
        running.join()


def test_an_intake_that_is_killed_keeps_what_it_acknowledged(tmp_path):
    messages = shop_messages(10_000)
    with dying_intake(tmp_path / "log", 4, random.Random(7)) as url:
        feed(url, messages)
        time.sleep(2)
        feed(url, messages[:_BATCH])
    found = tokens(tmp_path / "log")
    assert set(found) == {message.attributes["id"] for message in messages}
    # A batch may have been durable when its answer was lost.
    assert len(found) <= len(messages) + _BATCH * 6


def check_kills(folder: Path, kills: int) -> None:
    log, chance = folder / "log", random.Random()
    landing = Landing(folder=folder, source=f"raw-log:{log}")
    log.mkdir()
    with dying_intake(log, kills, chance) as url:
        killed_landings(landing, lambda messages: feed(url, messages), kills=kills)


def test_a_job_that_is_killed_lands_every_message_once(tmp_path):
    check_kills(tmp_path, 3)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_a_job_that_is_killed_twenty_times(tmp_path):
    check_kills(tmp_path, 20)
