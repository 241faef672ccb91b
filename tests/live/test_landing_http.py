"""Landing what is posted: the intake is killed, the job is killed, and senders try again."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
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


@dataclass
class Poster:
    """Posts batches to one address, each until it is taken."""

    url: str
    posting: threading.Event = field(default_factory=threading.Event)
    """Set while posts are under way."""
    again: int = 0
    """How many posts were not taken the first time."""

    def feed(self, messages: Sequence[Message]) -> None:
        self.posting.set()
        for begin in range(0, len(messages), _BATCH):
            self._post(messages[begin : begin + _BATCH])
        self.posting.clear()

    def _post(self, messages: Sequence[Message]) -> None:
        body, end = json_format.write_batch(messages), time.monotonic() + 240
        tries = 0
        while not self._taken(body):
            assert time.monotonic() < end, "nobody takes it"
            tries += 1
            time.sleep(0.05)
        self.again += tries > 0

    def _taken(self, body: bytes) -> bool:
        try:
            with urlopen(Request(f"{self.url}/shop", body, _HEADERS), timeout=10) as reply:
                return bool(reply.status == 202)
        except HTTPError as refused:
            refused.close()
            return False
        except (URLError, ConnectionError, TimeoutError):
            return False


@contextmanager
def dying_intake(log: Path, kills: int, chance: random.Random) -> Iterator[Poster]:
    """An intake that is killed amid posts and started again so often, always at one address."""
    port = free_port()
    poster = Poster(f"http://127.0.0.1:{port}")
    ready, ended = threading.Event(), threading.Event()

    def run() -> None:
        for number in range(kills + 1):
            with intake(log, "--port", str(port)) as process:
                ready.set()
                ended.wait(chance.uniform(0.1, 9 / kills) if number < kills else None)
                while not (poster.posting.is_set() or ended.is_set()):
                    ended.wait(0.001)
                process.kill()
            if ended.is_set():
                return

    running = threading.Thread(target=run)
    running.start()
    try:
        assert ready.wait(60)  # so that only a kill can refuse a post
        yield poster
    finally:
        ended.set()
        running.join()


def test_an_intake_that_is_killed_keeps_what_it_acknowledged(tmp_path):
    messages = shop_messages(10_000)
    with dying_intake(tmp_path / "log", 4, random.Random(7)) as poster:
        poster.feed(messages)
        time.sleep(2)
        poster.feed(messages[:_BATCH])
    assert poster.again, "no kill met a post"
    found = tokens(tmp_path / "log")
    assert set(found) == {message.attributes["id"] for message in messages}
    # A batch may have been durable when its answer was lost.
    assert len(found) <= len(messages) + _BATCH * 6


def check_kills(folder: Path, kills: int) -> None:
    log, chance = folder / "log", random.Random()
    landing = Landing(folder=folder, source=f"raw-log:{log}")
    log.mkdir()
    with dying_intake(log, kills, chance) as poster:
        killed_landings(landing, poster.feed, kills=kills, twice=True)
    assert poster.again, "no kill met a post"


def test_a_job_that_is_killed_lands_every_message_once(tmp_path):
    check_kills(tmp_path, 3)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_a_job_that_is_killed_twenty_times(tmp_path):
    check_kills(tmp_path, 20)
