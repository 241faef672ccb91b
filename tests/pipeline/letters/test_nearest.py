"""Letters by definition: counted where they are made, and never more than so many names."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from heraldry.pipeline.landing.totals import Totals
from heraldry.pipeline.letters.nearest import OTHER, bounded, nearest
from heraldry.pipeline.watching.status import status
from tests.pipeline.landing.without_spark import Setting, lander_of, lines_of
from tests.pipeline.letters.lettering import land_lines
from tests.pipeline.test_replay import FIRST, message
from tests.pipeline.watching.observing import batch
from tests.suites.streams import line, xid

TYPO = line(
    {"specversion": "1.0", "id": "1", "source": "/s", "type": "shop.orders", "data": {"id": "1"}}
)


def test_the_definition_that_refused_or_the_nearest() -> None:
    rows = pa.table(
        {
            "definition": ["/a", None, None, None],
            "near": ["[]", '[{"definition":"/b","score":0.5,"problems":[]}]', "[]", None],
        }
    )
    assert nearest(rows) == {"/a": 1, "/b": 1, "": 2}


def test_what_a_lander_says_of_its_letters(tmp_path: Path) -> None:
    """An order with a wrong total, one whose type nearly fits, and what is no message."""
    written = (
        lander_of(Setting(catalog=FIRST), tmp_path)
        .land(lines_of([message(0, 0), TYPO, message(1, 3)], "file"))
        .to_pylist()
    )
    (letters,) = (row for row in written if row["path"] == "_dead_letters")
    found = json.loads(letters["nearest"])
    assert found.pop("") == 1
    assert sum(found.values()) == 2
    assert found[xid("order")] >= 1


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 9)), st.integers(0, 5))
def test_bounds_keep_the_sum(counts: dict[str, int], most: int) -> None:
    kept = bounded(counts, most)
    assert sum(kept.values()) == sum(counts.values())
    assert len(kept.keys() - {OTHER}) <= most
    least = min((number for name, number in kept.items() if name != OTHER), default=10)
    assert all(number <= least for name, number in counts.items() if name not in kept)


def test_a_run_adds_up() -> None:
    totals = Totals()
    for number in range(3):
        totals.add(batch(number, nearest={"/a": 1, f"/{number}": 2}))
    report = totals.report()
    assert report.nearest == {"/0": 2, "/1": 2, "/2": 2, "/a": 3}
    assert report.reasons == {"type": 3}


def test_status_names_them(tmp_path: Path) -> None:
    land_lines(tmp_path, FIRST, [message(n, n % 5) for n in range(10)])
    found = status(str(tmp_path))
    names = Counter(dict(found.nearest))
    assert names[xid("order")] >= 2
    assert "" not in names
