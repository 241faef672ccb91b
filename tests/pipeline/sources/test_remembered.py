"""What a job remembers: the first text, also where the next run finds out another."""

from __future__ import annotations

from heraldry.pipeline.sources.remembered import Remembered


def test_the_first_text_is_kept(tmp_path):
    kept = Remembered.of(str(tmp_path), "begin")
    assert kept.find() is None
    assert kept.keep("17") == "17"
    again = Remembered.of(str(tmp_path), "begin")
    assert (again.keep("99"), again.find()) == ("17", "17")
    assert Remembered.of(str(tmp_path), "end").find() is None
    assert Remembered.of(str(tmp_path / "other"), "begin").find() is None


def test_what_is_forgotten_is_found_out_anew(tmp_path):
    kept = Remembered.of(str(tmp_path), "begin")
    kept.forget()
    kept.keep("17")
    kept.forget()
    assert kept.find() is None
    assert (kept.keep("99"), kept.find()) == ("99", "99")
