from __future__ import annotations

import gzip
import itertools
from pathlib import Path

import msgspec
import pytest

from heraldry.cli import demo_stream
from heraldry.cli.demo_flaws import FLAWS, Flaw
from heraldry.dialects.load import load
from heraldry.messages.judge import Judge
from heraldry.messages.verdict import Accepted, Rejected


@pytest.fixture(scope="module")
def judge(examples: Path) -> Judge:
    return Judge(load(examples / "airport"))


def test_the_same_seed_makes_the_same_stream(tmp_path: Path) -> None:
    first = demo_stream.write(tmp_path / "a", 1000, 7)
    demo_stream.write(tmp_path / "b", 1000, 7)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
    other = list(demo_stream.lines(1000, 8))
    assert other != list(demo_stream.lines(1000, 7))
    assert (first.files, first.messages) == (12, 1000)


def test_the_files_hold_every_message_once(tmp_path: Path) -> None:
    demo_stream.write(tmp_path, 1001, 3)
    paths = sorted(tmp_path.iterdir())
    assert sum(path.suffix == ".gz" for path in paths) == 4
    whole = b"".join(
        gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for path in paths
    )
    assert whole == b"".join(line + b"\n" for line in demo_stream.lines(1001, 3))
    assert whole.count(b"\n") == 1001


def test_good_messages_land_and_every_definition_occurs(judge: Judge) -> None:
    day = demo_stream.Day(1)
    verdicts = [judge.judge(msgspec.json.encode(day.message())) for _ in range(3000)]
    assert [v for v in verdicts if isinstance(v, Rejected)] == []
    seen = {str(v.match.definition.xid) for v in verdicts if isinstance(v, Accepted)}
    assert seen == {
        "/messagegroups/luggage/messages/checkedin",
        "/messagegroups/luggage/messages/loaded",
        "/messagegroups/luggage/messages/unloaded",
        "/messagegroups/luggage/messages/delivered",
        "/messagegroups/luggage-mqtt/messages/loaded",
        "/messagegroups/belts/messages/reading",
        "/messagegroups/belts/messages/jam",
    }


@pytest.mark.parametrize("flaw", FLAWS, ids=[flaw.__name__.lstrip("_") for flaw in FLAWS])
def test_every_flaw_is_a_dead_letter_with_reasons(flaw: Flaw, judge: Judge) -> None:
    day = demo_stream.Day(2)
    made = (flaw(day.message(), day.random) for _ in range(2000))
    lines = list(itertools.islice((line for line in made if line is not None), 40))
    assert lines
    for line in lines:
        verdict = judge.judge(line)
        assert isinstance(verdict, Rejected), line
        assert verdict.problems


def test_about_three_in_a_hundred_are_flawed(judge: Judge) -> None:
    verdicts = [judge.judge(line) for line in demo_stream.lines(4000, 5)]
    dead = sum(isinstance(verdict, Rejected) for verdict in verdicts)
    assert 60 < dead < 190
