"""Where a job that reads a stream began: kept with what it was told, also by earlier versions."""

from __future__ import annotations

from heraldry.pipeline.sources.remembered import Remembered
from heraldry.pipeline.sources.stream_begin import BEGIN, StreamBegin

OFFSET = {"sequence": 10, "seen": "2026-01-01"}


def test_an_offset_is_kept_with_what_was_told(tmp_path):
    begin = StreamBegin(str(tmp_path))
    assert (begin.starting(), begin.offset()) == (None, {})
    assert begin.keep("latest", OFFSET) == OFFSET
    again = StreamBegin(str(tmp_path))
    assert (again.starting(), again.offset()) == ("latest", OFFSET)
    again.forget()
    assert (begin.starting(), begin.offset()) == (None, {})


def test_an_offset_of_an_earlier_version_says_nothing_of_what_was_told(tmp_path):
    Remembered.of(str(tmp_path), BEGIN).keep('{"sequence": 10, "seen": "2026-01-01"}')
    begin = StreamBegin(str(tmp_path))
    assert (begin.starting(), begin.offset()) == (None, OFFSET)


def test_a_batch_is_planned_once_spark_has_noted_it(tmp_path):
    begin, offsets = StreamBegin(str(tmp_path)), tmp_path / "offsets"
    assert not begin.is_planned()
    offsets.mkdir()
    (offsets / ".0.crc").touch()
    assert not begin.is_planned()
    (offsets / "0").touch()
    assert begin.is_planned()
