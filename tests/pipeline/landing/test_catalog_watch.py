"""The catalog of a running job: changed, gone, broken, and back."""

from __future__ import annotations

import json
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from socket import SHUT_RDWR

import pyarrow as pa
import pytest

from heraldry.client.catalog_follower import CatalogFollower, Look
from heraldry.client.registry import Patience
from heraldry.client.registry_catalog import Catalogs
from heraldry.dialects.folder_writing import ResourceShape, write_folder
from heraldry.dialects.load import load, load_bytes
from heraldry.errors import HeraldryError, PipelineError, UsageError, WarehouseError
from heraldry.model.catalog import Catalog
from heraldry.pipeline.lake.commits import Committer
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.landing.catalog_watch import AskedMeanwhile, CatalogWatch, Watched, fixed
from heraldry.pipeline.landing.parquet import ParquetWriter
from tests.cli.served import serving
from tests.client.registries import running

ROOT = Path(__file__).resolve().parents[3]
PLACED = "/messagegroups/orders/messages/placed"


def catalog(*messages: str) -> Catalog:
    return load_bytes(document(*messages), "orders.xreg.json")


def document(*messages: str) -> bytes:
    group = {"messagegroupid": "orders", "messages": {m: {"messageid": m} for m in messages}}
    return json.dumps({"specversion": "1.0-rc2", "messagegroups": {"orders": group}}).encode()


def names(found: Catalog) -> list[str]:
    return [str(message.xid) for message in found.resources("messages")]


@dataclass
class Site:
    """A watch with a clock and looks that the test decides."""

    looks: list[Look | Exception]
    grace: float = 60.0
    refused: str = ""
    refusal: Exception = field(
        default_factory=lambda: WarehouseError("lake", "a column changed its type")
    )
    now: float = 0.0
    asked: int = 0
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.watch = CatalogWatch(self.look, self.grace, tell=self.told.append, clock=self.clock)
        self.watch.accept_by(self.accept)

    def clock(self) -> float:
        return self.now

    def look(self) -> Look:
        self.asked += 1
        found = self.looks.pop(0) if self.looks else Look()
        if isinstance(found, Exception):
            raise found
        return found

    def accept(self, found: Catalog) -> None:
        if self.refused and self.refused in "".join(names(found)):
            raise self.refusal

    def at(self, now: float) -> Watched:
        self.now = now
        return self.watch.current()


def test_a_new_definition_takes_effect_at_the_next_batch() -> None:
    site = Site([Look(catalog=catalog("placed")), Look(catalog=catalog("placed", "paid"))])
    first, second = site.at(0), site.at(1)
    assert names(first.catalog) == [PLACED]
    assert len(names(second.catalog)) == 2
    assert first.digest != second.digest
    assert site.told == [f"the catalog changed: {first.digest[:12]} is now {second.digest[:12]}"]


def test_an_unchanged_catalog_is_the_same_object_and_asked_for_once_in_a_while() -> None:
    site = Site([Look(catalog=catalog("placed"))])
    first = site.at(0)
    assert all(site.at(step / 10) is first for step in range(1, 30))
    assert site.asked == 3  # at 0, 1 and 2 seconds


def test_a_catalog_that_says_the_same_in_other_words_is_no_change() -> None:
    site = Site([Look(catalog=catalog("placed")), Look(catalog=catalog("placed"))])
    assert site.at(0) is site.at(5)
    assert site.told == []


def test_a_registry_that_is_away_is_told_once_and_when_it_is_back() -> None:
    away = Look(away="nobody answers")
    site = Site([Look(catalog=catalog("placed")), away, away, away, Look()])
    digests = {site.at(now).digest for now in (0, 1, 2, 3)}
    assert site.watch.current().stale_since == 1
    assert site.at(9).stale_since is None
    assert len(digests) == 1
    assert site.told == [
        "the last catalog goes on for up to 60 s: nobody answers",
        "the catalog is back after 8 s",
    ]


def test_after_the_grace_the_job_stops_with_the_reason() -> None:
    site = Site([Look(catalog=catalog("placed")), *[Look(away="nobody answers")] * 9])
    site.at(0)
    site.at(10)
    site.at(69)
    with pytest.raises(PipelineError, match="for 60 s it could not be had: nobody answers"):
        site.at(70)


def test_without_any_grace_the_job_stops_at_once() -> None:
    site = Site([Look(catalog=catalog("placed")), Look(away="nobody answers")], grace=0)
    site.at(0)
    with pytest.raises(PipelineError):
        site.at(1)


def test_an_old_copy_at_the_start_is_old_from_the_start() -> None:
    site = Site([Look(catalog=catalog("placed"), away="nobody answers"), *[Look(away="x")] * 9])
    assert site.at(5).stale_since == 5
    assert len(site.told) == 1
    with pytest.raises(PipelineError):
        site.at(65)


def test_no_catalog_at_the_start_is_an_error_at_once() -> None:
    site = Site([UsageError("no catalog")])
    with pytest.raises(UsageError):
        site.at(0)


def test_a_catalog_that_the_job_cannot_take_counts_as_broken_until_another_comes() -> None:
    looks = [Look(catalog=catalog("placed")), Look(catalog=catalog("placed", "bad")), Look()]
    site = Site([*looks, Look(catalog=catalog("placed", "good"))], refused="bad")
    first = site.at(0)
    assert site.at(1).digest == site.at(2).digest == first.digest
    assert "lake: a column changed its type" in site.told[0]
    assert len(names(site.at(3).catalog)) == 2
    assert site.watch.current().stale_since is None


@pytest.mark.parametrize(
    "refusal",
    [WarehouseError("lake", "not now"), OSError("not now")],
    ids=["refused", "store away"],
)
def test_a_catalog_that_could_not_be_taken_is_taken_as_soon_as_it_can(refusal: Exception) -> None:
    looks = [Look(catalog=catalog("placed")), Look(catalog=catalog("placed", "late"))]
    site = Site(looks, refused="late", refusal=refusal)
    assert len(names(site.at(0).catalog)) == len(names(site.at(1).catalog)) == 1
    site.refused = ""
    assert len(names(site.at(2).catalog)) == 2
    assert site.watch.current().stale_since is None


def test_a_catalog_that_is_refused_for_too_long_stops_the_job() -> None:
    looks = [Look(catalog=catalog("placed")), Look(catalog=catalog("placed", "bad"))]
    site = Site(looks, refused="bad")
    site.at(0)
    site.at(1)
    site.at(60)
    with pytest.raises(PipelineError, match=r"for 60 s .* a column changed its type"):
        site.at(61)
    assert len(site.told) == 1


@pytest.mark.parametrize("begun", [False, True], ids=["before the first look", "after it"])
def test_the_first_catalog_that_is_refused_is_an_error_at_once(begun: bool) -> None:
    site = Site([])
    watch = CatalogWatch(fixed(catalog("bad")), 600.0)
    site.refused = "bad"
    if begun:
        watch.current()
    with pytest.raises(WarehouseError, match="a column changed its type"):
        _begin(watch, site)


def _begin(watch: CatalogWatch, site: Site) -> None:
    watch.accept_by(site.accept)
    watch.current()


def test_one_look_at_a_time() -> None:
    """A batch and whoever asks meanwhile are two threads."""
    busy, most = [0], [0]

    def look() -> Look:
        busy[0] += 1
        most[0] = max(most[0], busy[0])
        time.sleep(0.02)
        busy[0] -= 1
        return Look(catalog=catalog("placed"))

    watch = CatalogWatch(look, 600.0, every=0.0)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: watch.current(), range(8)))
    assert most == [1]
    assert all(one is found[0] for one in found)


def test_without_any_batch_the_catalog_is_asked_for() -> None:
    away = [False]

    def look() -> Look:
        return Look(away="nobody answers" if away[0] else "")

    looks = iter([Look(catalog=catalog("placed"))])
    watch = CatalogWatch(lambda: next(looks, None) or look(), 0.0, every=0.0)
    watch.current()
    away[0] = True
    with AskedMeanwhile(watch, every=0.01) as asked:
        deadline = time.monotonic() + 10
        while asked.failure is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert isinstance(asked.failure, PipelineError)
        assert "nobody answers" in str(asked.failure)
        away[0] = False
        while asked.failure is not None:
            assert time.monotonic() < deadline
            time.sleep(0.01)


def test_a_look_that_waits_keeps_nobody_from_ending() -> None:
    looking, answer = threading.Event(), threading.Event()

    def look() -> Look:
        looking.set()
        answer.wait(10)
        return Look()

    watch = CatalogWatch(look, 600.0, every=0.0)
    begun = time.monotonic()
    with AskedMeanwhile(watch, every=0.01):
        assert looking.wait(10)
    assert time.monotonic() - begun < 5
    answer.set()


def test_a_fixed_catalog_never_changes() -> None:
    watch = CatalogWatch(fixed(catalog("placed")), 60.0, every=0.0)
    assert watch.current() is watch.current()


def test_a_slow_registry_is_left_alone_for_a_while() -> None:
    site = Site([])

    def slow() -> Look:
        site.asked += 1
        site.now += 5 if site.asked > 1 else 0
        return Look(away="too slow") if site.asked > 1 else Look(catalog=catalog("placed"))

    site.watch = CatalogWatch(slow, 600.0, clock=site.clock)
    for now in (0, 1, 10, 20, 25):
        site.at(now)
    assert site.asked == 2
    site.at(27)
    assert site.asked == 3  # after four times as long as the last look took


def test_whoever_would_stop_looks_once_more() -> None:
    site = Site([Look(catalog=catalog("placed")), Look(away="too slow"), Look()], grace=0.5)
    site.at(0)
    site.at(1.0)
    assert site.at(1.6).stale_since is None


# --- files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "catalog"
    place.mkdir()
    (place / "orders.xreg.json").write_bytes(document("placed"))
    return place


def follower(*places: str | Path, cache: Path | None = None) -> CatalogFollower:
    patience = Patience(pause=0.01, longest_pause=0.02)
    return CatalogFollower(Catalogs(cache=cache, patience=patience), places)


def test_files_are_read_again_where_they_changed(folder: Path) -> None:
    follow = follower(folder)
    assert names(follow.look().catalog) == [PLACED]
    assert follow.look() == Look()
    other = document("paid").replace(b"orders", b"shops")
    (folder / "shops.xreg.json").write_bytes(other)
    assert len(names(follow.look().catalog)) == 2
    (folder / "shops.xreg.json").unlink()
    assert names(follow.look().catalog) == [PLACED]
    (folder / ".notes").write_text("hidden files do not count")
    assert follow.look() == Look()


def test_a_document_of_an_exported_folder_counts_too(folder: Path) -> None:
    follow = follower(folder)
    follow.look()
    (folder / "deeper").mkdir()
    (folder / "deeper" / "schema.avsc").write_text("{}")
    assert follow.look().catalog is not None


def test_a_torn_file_is_told_and_read_when_it_is_whole(folder: Path) -> None:
    follow = follower(folder)
    follow.look()
    file = folder / "orders.xreg.json"
    whole = document("placed", "paid")
    file.write_bytes(whole[:50])
    torn = follow.look()
    assert torn.catalog is None
    assert "orders.xreg.json" in torn.away
    file.write_bytes(whole)
    assert len(names(follow.look().catalog)) == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("paid.xreg.json", "", id="empty"),
        pytest.param("paid.xreg.json", '{"specver', id="cut before it speaks of groups"),
        pytest.param("paid.json", "", id="empty, plain name"),
        pytest.param("paid.json", '{"specver', id="cut, plain name"),
        pytest.param("paid.yaml", "specversion: 1.0\n", id="cut at a line, plain name"),
        pytest.param("paid.json", "{}", id="something else"),
    ],
)
def test_a_part_of_the_catalog_that_is_written_anew_counts_as_away(
    name: str, text: str, folder: Path
) -> None:
    file, whole = folder / name, document("paid").replace(b"orders", b"shops")
    file.write_bytes(whole)
    follow = follower(folder)
    assert len(names(follow.look().catalog)) == 2
    file.write_text(text)
    for _ in range(2):
        torn = follow.look()
        assert torn.catalog is None
        assert name in torn.away
    file.write_bytes(whole)
    assert len(names(follow.look().catalog)) == 2
    file.write_text(text)
    assert follow.look().away
    file.unlink()
    assert names(follow.look().catalog) == [PLACED]


def test_an_exported_folder_may_give_way_to_files_in_it(folder: Path) -> None:
    """It is one document by the name of the folder, which is still there."""
    exported = folder / "exported"
    shapes = {"messagegroups": {"messages": ResourceShape(singular="message", has_document=False)}}
    group = {"messagegroupid": "g", "messages": {}}
    write_folder({"specversion": "1.0-rc2", "messagegroups": {"g": group}}, shapes, exported)
    follow = follower(folder)
    first = follow.look().catalog
    assert first is not None
    assert "g" in first.groups["messagegroups"]
    shutil.rmtree(exported)
    exported.mkdir()
    document = {"specversion": "1.0-rc2", "messagegroups": {"h": group | {"messagegroupid": "h"}}}
    (exported / "a.json").write_text(json.dumps(document))
    second = follow.look().catalog
    assert second is not None
    assert "h" in second.groups["messagegroups"]


def test_a_new_file_that_is_half_written_takes_nothing_away(folder: Path) -> None:
    follow = follower(folder)
    follow.look()
    (folder / "paid.xreg.json").write_text("")
    assert "paid.xreg.json: the file is empty" in follow.look().away
    (folder / "paid.xreg.json").write_bytes(document("paid").replace(b"orders", b"shops"))
    assert len(names(follow.look().catalog)) == 2


def test_files_that_go_and_come_back_unchanged_are_no_change(folder: Path) -> None:
    follow = follower(folder)
    follow.look()
    folder.rename(folder.with_name("elsewhere"))
    assert "does not exist" in follow.look().away
    folder.with_name("elsewhere").rename(folder)
    assert follow.look() == Look()


def test_a_change_in_one_place_is_not_lost_while_another_is_broken(
    folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.xreg.json"
    other.write_bytes(document("seen").replace(b"orders", b"shops"))
    follow = follower(folder, other)
    follow.look()
    (folder / "orders.xreg.json").write_bytes(document("placed", "paid"))
    kept = other.stat()
    other.rename(tmp_path / "away")
    assert follow.look().away
    (tmp_path / "away").rename(other)
    assert other.stat().st_mtime_ns == kept.st_mtime_ns
    assert len(names(follow.look().catalog)) == 3


def test_tables_beside_a_catalog_are_none_of_its_business(folder: Path) -> None:
    """Their logs speak of definitions, and every batch adds to them."""
    storage = Storage.open(str(folder / "lake"))
    follow = follower(folder)
    assert names(follow.look().catalog) == [PLACED]
    told = {"heraldry.definition": PLACED, "heraldry.name": json.dumps(["d", "g", "m"])}
    for batch in range(2):
        files = ParquetWriter(storage, batch).write("d/g/m", pa.table({"n": [batch]}))
        Committer(storage, "job").commit("d/g/m", told, files, batch)
        Ledger.open(storage.join("_checkpoint")).storage.write(f"offsets/{batch}.json", b"{}")
        assert not any(place.look() for place in follow._places)
    assert names(load(folder)) == [PLACED]


def test_a_folder_without_a_catalog_is_an_error_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(HeraldryError):
        follower(tmp_path).look()
    with pytest.raises(UsageError):
        follower()


# --- registries


def test_an_unchanged_registry_is_asked_once_with_its_tag(tmp_path: Path) -> None:
    with running() as registry:
        registry.serve("/export", document("placed"), etag='W/"1"')
        follow = follower(registry.url, cache=tmp_path)
        follow.look()
        registry.serve("/export", b"", 304)
        assert [follow.look() for _ in range(3)] == [Look()] * 3
        follow.close()
        assert registry.paths == ["/export"] * 4
        assert [h.get("If-None-Match") for h in registry.headers] == [None, *['W/"1"'] * 3]


def test_a_registry_without_tags_is_compared_by_content(tmp_path: Path) -> None:
    with running() as registry:
        registry.serve("/?doc&inline=*", document("placed"))
        follow = follower(registry.url, cache=tmp_path)
        assert follow.look().catalog is not None
        assert follow.look() == Look()
        follow.close()
        assert registry.paths == ["/export", "/?doc&inline=*", "/?doc&inline=*"]


def test_a_refusal_is_an_error_at_the_start_and_told_later(tmp_path: Path) -> None:
    with running() as registry:
        registry.serve("/export", document("placed"))
        follow = follower(registry.url, cache=tmp_path)
        follow.look()
        registry.serve("/export", {"title": "who are you?"}, 401)
        assert "who are you?" in follow.look().away
        follow.close()
        again = follower(registry.url, cache=tmp_path)
        with pytest.raises(HeraldryError, match="who are you"):
            again.look()
        again.close()


@pytest.mark.parametrize("answer", [503, 429, None], ids=["fails", "busy", "silent"])
def test_a_base_elsewhere_that_is_away_is_a_catalog_that_is_away(
    tmp_path: Path, answer: int | None
) -> None:
    """Half a definition would accept messages of others, and make letters of its own."""
    told: list[str] = []
    path, place = "/messagegroups/g/messages/b", tmp_path / "c.xreg.json"

    def write(base: str, about: str) -> None:
        messages = {"m": {"messageid": "m", "description": about, "basemessage": base}}
        group = {"messagegroupid": "orders", "messages": messages}
        place.write_text(json.dumps({"messagegroups": {"orders": group}}))

    with running() as registry:
        write(registry.message("b", protocol="NATS"), "the first")
        follow = CatalogFollower(Catalogs(), [place], (registry.url,))
        watch = CatalogWatch(follow.look, 60.0, every=0.0, tell=told.append, clock=lambda: 0.0)
        first = watch.current()
        if answer is None:
            registry.pages[path] = lambda request: request.connection.shutdown(SHUT_RDWR)
        else:
            registry.serve(path, {}, answer)
        write(registry.url + path, "the second, longer")
        assert watch.current().digest == first.digest
        assert watch.current().stale_since is not None
        with pytest.raises(HeraldryError, match="a base message that cannot be had"):
            CatalogFollower(Catalogs(), [place], (registry.url,)).look()
        registry.message("b", protocol="NATS")
        second = watch.current()
        assert second.stale_since is None
        assert [one.attributes["description"] for one in second.catalog.resources("messages")] == [
            "the second, longer"
        ]
        registry.serve(path, {}, 404)  # an answer
        write(registry.url + path, "the third, longest of them")
        assert watch.current().stale_since is None
    assert [line.split(":")[0].split(" after")[0] for line in told] == [
        "the last catalog goes on for up to 60 s",
        "the catalog changed",
        "the catalog is back",
        "the catalog changed",
    ]


@pytest.mark.slow
def test_a_real_registry_changes_dies_and_returns(tmp_path: Path) -> None:
    base = tmp_path / "registry"
    base.mkdir()
    told: list[str] = []
    source = shutil.copy(ROOT / "examples/orders/orders.xreg.json", tmp_path / "orders.xreg.json")
    with serving(base, "--import", str(source)) as served:
        follow = follower(served.url, cache=tmp_path / "cache")
        watch = CatalogWatch(follow.look, 600.0, every=0.0, tell=told.append)
        first = watch.current()
        assert names(first.catalog) == names(load(source))
        assert watch.current() is first
        served.ok("create", "/messagegroups/orders/messages/refunded", "-d", "{}")
        changed = watch.current()
        assert len(names(changed.catalog)) == len(names(first.catalog)) + 1
        port = served.url.rstrip("/").rpartition(":")[2]
        served.process.kill()
        served.process.wait()
        assert watch.current().digest == changed.digest
        assert watch.current().stale_since is not None
    late = follower(f"http://127.0.0.1:{port}", cache=tmp_path / "cache").look()
    assert late.away
    assert Watched.of(late.catalog).digest == changed.digest
    with serving(base, "--port", port):
        back = watch.current()
        assert back.digest == changed.digest
        assert back.stale_since is None
        follow.close()
    assert [line.split(":")[0].split(" after")[0] for line in told] == [
        "the catalog changed",
        "the last catalog goes on for up to 600 s",
        "the catalog is back",
    ]
