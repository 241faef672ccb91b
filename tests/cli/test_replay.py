"""``heraldry replay``: what it says of the letters it tried."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from heraldry.cli import dead_letters, main
from heraldry.cli.replay import command
from heraldry.pipeline import replay
from tests.pipeline.letters.lettering import land_lines, mask_letters, table_column
from tests.pipeline.test_replay import FIRST, SECOND, message
from tests.suites.streams import xid


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "mended.json").write_bytes(SECOND)
    (tmp_path / "lake").mkdir()
    land_lines(tmp_path / "lake", FIRST, [message(n, n % 5) for n in range(10)])
    return tmp_path


def arguments(site: Path, *more: str) -> list[str]:
    return ["--catalog", str(site / "mended.json"), "--warehouse", str(site / "lake"), *more]


def told(site: Path, *more: str) -> str:
    result = CliRunner().invoke(command, arguments(site, *more))
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_summary_adds_up(site: Path) -> None:
    text = told(site)
    assert (
        text.splitlines()[-1]
        == "10 letters = 6 landed + 4 refused + 0 masked + 0 skipped + 0 repeated"
    )
    assert "default.shop.order   2  rows" in text
    assert "[required]           2  refused" in text
    assert "4 letters = 0 landed + 4 refused" in told(site)


@pytest.mark.parametrize("more", [(), ("--dry-run",)], ids=str)
def test_terms_that_fit_no_letter(site: Path, more: tuple[str, ...]) -> None:
    text = told(site, "--where", "rule=tpye", *more)
    assert "0 of 10 open dead letters fit; rules there are: " in text
    assert "0 letters = 0 landed" in text.splitlines()[-1]
    assert "fit" not in told(site, "--where", "rule=type", "--limit", "0", *more)
    assert json.loads(told(site, "--where", "rule=tpye", "-o", "json", *more))["selected"] == 0
    assert told(site, "--where", "definition=order", "--dry-run").splitlines()[-1] == (
        "2 letters = 2 landed + 0 refused + 0 masked + 0 skipped + 0 repeated (nothing was written)"
    )


@pytest.mark.parametrize(
    ("term", "reason"),
    [
        ("stage=validat", "'validat' is no stage"),
        ("rule==type", "'rule==type' has one = too many: rule=type"),
    ],
)
def test_terms_that_can_fit_no_letter(site: Path, term: str, reason: str) -> None:
    result = CliRunner().invoke(main, ["replay", *arguments(site, "--where", term)])
    assert (result.exit_code, result.stdout) == (2, "")
    assert reason in result.stderr


def test_variables_are_for_jobs(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERALDRY_DATABASE", "other")
    monkeypatch.setenv("HERALDRY_PARTITION_BY", "_day")
    monkeypatch.setenv("HERALDRY_KEEP_PAYLOAD", "1")
    assert "default.shop.order   2  rows" in told(site)
    assert sorted(path.name for path in (site / "lake/default/shop/order").glob("*=*")) == []


def test_killed_on_one_machine_and_run_on_another(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was decided and not committed is found whatever variables the machine has for jobs."""

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setenv("HERALDRY_CHECKPOINT", str(site / "progress"))
    with monkeypatch.context() as dying:
        dying.setattr(replay, "commit_manifest", killed)
        assert CliRunner().invoke(command, arguments(site)).exit_code == 1
    with monkeypatch.context() as elsewhere:
        elsewhere.delenv("HERALDRY_CHECKPOINT")
        assert "finished 1 replay" in told(site, "--limit", "3")
    assert "4 letters = 0 landed" in told(site)
    for name, column in (("order", "ce_id"), ("refund", "ce_id"), ("belt", "_position")):
        rows = table_column(site / "lake", f"default/shop/{name}", column)
        assert len(rows) == len(set(rows)) == 2, name
    assert not (site / "progress").exists()


def test_as_json(site: Path) -> None:
    dry = json.loads(told(site, "--dry-run", "-o", "json"))
    assert (dry["dry_run"], dry["selected"], dry["landed"], dry["refused"]) == (True, 10, 6, 4)
    assert dry["tables"] == {f"default.shop.{name}": 2 for name in ("belt", "order", "refund")}
    done = json.loads(told(site, "-o", "json", "--where", "rule=type", "--limit", "1"))
    assert (done["selected"], done["tables"]) == (1, {"default.shop.order": 1})


def test_masked_and_skipped_letters_are_explained(site: Path) -> None:
    mask_letters(site / "lake", ["/data/total"], batch=3)
    text = told(site, "--max-attempts", "1")
    assert (
        text.splitlines()[-1]
        == "20 letters = 10 landed + 6 refused + 4 masked + 0 skipped + 0 repeated"
    )
    assert "masked letters cannot be replayed" in text
    text = told(site, "--max-attempts", "1")
    assert (
        text.splitlines()[-1]
        == "10 letters = 0 landed + 0 refused + 4 masked + 6 skipped + 0 repeated"
    )
    assert "tried too often" in text


def test_landed_letters_are_closed(site: Path) -> None:
    told(site)
    lake = str(site / "lake")
    open_ones = CliRunner().invoke(dead_letters.command, ["--warehouse", lake])
    assert "4 dead letters" in open_ones.stdout
    every = CliRunner().invoke(
        dead_letters.command, ["--warehouse", lake, "--all", "--rows", "-o", "json"]
    )
    first = next(one for one in json.loads(every.stdout) if one["position"] == "0+0")
    shown = CliRunner().invoke(
        dead_letters.command, ["--warehouse", lake, "--letter", first["letter"]]
    )
    assert "Replay 1, attempt 1: landed in default.shop.order" in shown.stdout


def test_letters_that_were_not_wanted_are_told_and_left_out(site: Path) -> None:
    unwanted = [message(number, 0) for number in range(20, 23)]
    land_lines(site / "lake", SECOND, unwanted, batch=1, source="other", only=(xid("scan"),))
    text = told(site, "--dry-run")
    assert "3 letters left out: --only kept them out of tables (--where rule=not-selected)" in text
    assert "10 letters = 6 landed" in text
    assert json.loads(told(site, "-o", "json"))["left_out"] == 3
    text = told(site, "--where", "rule=not-selected")
    assert "left out" not in text
    assert "3 letters = 3 landed" in text
