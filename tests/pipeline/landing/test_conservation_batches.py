"""The conservation law over whole runs: batches of any size, kills anywhere, batches repeated.

Catalogs are drawn from definitions of all protocols and payload formats, and of such that were
made up; streams from good messages of them, flawed and ambiguous ones, messages of definitions
left out, and garbage; tables are arranged, shared and keep payloads as may be.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heraldry.dialects.load import load_bytes
from heraldry.messages.catalog import MessageCatalog
from heraldry.messages.identity import identity_of_line
from heraldry.messages.judge import Judge
from heraldry.messages.sample import sample
from heraldry.messages.verdict import Accepted
from heraldry.model.xid import Xid
from heraldry.pipeline.identities.duplicates import Window
from heraldry.pipeline.lake import delta
from heraldry.pipeline.lake.commits import Committer
from heraldry.pipeline.lake.layout import TablePlan
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.lake.storage import Storage
from heraldry.pipeline.lake.tables import tables
from heraldry.pipeline.landing import batches, committing
from heraldry.pipeline.landing.batch import BatchLander
from heraldry.pipeline.landing.breaker import Breaker
from heraldry.pipeline.landing.catalog_watch import CatalogWatch, fixed
from heraldry.pipeline.landing.committing import commit_manifest
from heraldry.pipeline.letters import deadletters
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources.files import FilesSource
from tests.conftest import ROOT
from tests.pipeline.landing.local_frame import frame_of
from tests.suites import invented

EXAMPLES = ("shop/shop", "airport/airport", "orders/orders")
FORMATS = tuple(path.name for path in sorted((ROOT / "examples/formats").glob("*.xreg.json")))
FAULTS = ("none", "none", "before", "prepared", "half", "recorded", "again")


class Killed(BaseException):
    """The process ends here."""


@cache
def pool() -> dict[str, dict[str, Any]]:
    """Every example's groups by a unique name, and their schemas beside them."""
    found: dict[str, dict[str, Any]] = {"messagegroups": {}, "schemagroups": {}}
    paths = [ROOT / f"examples/{name}.xreg.json" for name in EXAMPLES]
    paths += [ROOT / "examples/formats" / name for name in FORMATS]
    for path in paths:
        document = json.loads(path.read_bytes())
        for kind, groups in found.items():
            groups |= document.get(kind, {})
    return found


@cache
def whole() -> MessageCatalog:
    return MessageCatalog(load_bytes(msgspec.json.encode(pool()), "pool"))


@cache
def good(xid: str, seed: int) -> bytes:
    """A message of a definition."""
    return sample(whole()[xid].compiled, seed=seed).line()


def catalog(groups: frozenset[str], twice: str | None, made_up: dict[str, Any]) -> bytes:
    """A catalog of some groups; ``twice`` is there under another name too: ambiguous."""
    document = {
        "schemagroups": pool()["schemagroups"],
        "messagegroups": {name: pool()["messagegroups"][name] for name in sorted(groups)},
    }
    document["messagegroups"][made_up["messagegroupid"]] = made_up
    if twice is not None:
        copy = {**pool()["messagegroups"][twice], "messagegroupid": "twice"}
        document["messagegroups"]["twice"] = copy
    return msgspec.json.encode(document)


def flawed(line: bytes, chance: Random) -> bytes:
    """A message of which a member of the payload has a type that no schema here takes."""
    message = json.loads(line)
    payload = message.get("data", message.get("payload"))
    if not isinstance(payload, dict) or not payload:
        return mutated(line, chance)
    payload[chance.choice(sorted(payload))] = [[None]]
    return msgspec.json.encode(message)


def mutated(line: bytes, chance: Random) -> bytes:
    """A message with a flaw somewhere."""
    place = chance.randrange(len(line))
    return chance.choice(
        (
            line[:place],
            line[:place] + bytes([chance.randrange(256)]) + line[place + 1 :],
            line.replace(b"1", b'"one"', 1),
            line.replace(b'"type"', b'"tipe"', 1),
            line.replace(b'":"', b'":[],"x":"', 1),
        )
    ).replace(b"\n", b" ")


def stream(
    chance: Random, size: int, chosen: frozenset[str], made_up: dict[str, Any]
) -> list[bytes]:
    """Messages of the chosen groups, of what was made up and of others, some flawed or nonsense."""
    xids = [str(one.xid) for one in whole()]
    known = [xid for xid in xids if xid.split("/")[2] in chosen]
    own = {"messagegroups": {made_up["messagegroupid"]: made_up}}
    new = [one.compiled for one in MessageCatalog(load_bytes(msgspec.json.encode(own), "own"))]
    found = []
    for _ in range(size):
        line = good(chance.choice(known if chance.random() < 0.8 else xids), chance.randrange(20))
        if chance.random() < 0.3:
            line = sample(chance.choice(new), seed=chance.randrange(20)).line()
        kind = chance.random()
        if kind < 0.15:
            line = mutated(line, chance)
        elif kind < 0.3:
            line = flawed(line, chance)
        elif kind < 0.4:
            line = chance.choice((b"", b"{}", b"[]", b"\xff\xfe", b"garbage", b"null"))
        found.append(line)
    return found


@dataclass
class Run:
    """A job over a stream that is killed and started again."""

    folder: Path
    document: bytes
    plan: TablePlan
    only: tuple[Xid, ...] = ()
    dedupe: bool = False
    lander: BatchLander = field(init=False)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        """What a new process does: open all there is, and finish what was prepared."""
        storage = Storage.open(str(self.folder))
        ledger = Ledger.open(storage.join("_checkpoint"))
        given = LandSettings(
            source=f"files:{self.folder}", warehouse=str(self.folder), only=self.only
        )
        window = Window.open(ledger.storage, "heraldry/identities", 1000) if self.dedupe else None
        self.lander = BatchLander(
            settings=given,
            committer=Committer(storage, ledger.job),
            ledger=ledger,
            source=FilesSource(str(self.folder), given),
            watch=CatalogWatch(fixed(load_bytes(self.document, "catalog")), 0.0),
            plan=self.plan,
            run="run",
            breaker=Breaker(None, ledger),
            window=window,
        )
        pending = ledger.pending()
        if pending is not None:
            commit_manifest(self.lander.committer, ledger, pending)

    def land(self, lines: list[bytes], first: int, batch: int, fault: str, parts: int) -> None:
        """A batch, killed at a place and tried again until it is done."""
        try:
            with dying(fault):
                self.lander.land(frame_of(lines, first, parts), batch)
        except Killed:
            self.start()
            self.lander.land(frame_of(lines, first, parts), batch)
        if fault == "again":
            self.start()
            self.lander.land(frame_of(lines, first, parts), batch)


@contextmanager
def dying(fault: str) -> Iterator[None]:
    """Kill the job: before or after the manifest, among the commits, or before it is marked."""
    patch = pytest.MonkeyPatch()
    count = 0

    def die(*_: Any) -> None:
        raise Killed

    def die_later(*given: Any) -> int:
        nonlocal count
        count += 1
        if count > 1:
            raise Killed
        return commit_table(*given)

    commit_table = committing._commit_table
    if fault == "before":
        patch.setattr(Ledger, "prepare", die)
    elif fault == "prepared":
        patch.setattr(committing, "_commit_table", die)
    elif fault == "half":
        patch.setattr(committing, "_commit_table", die_later)
    elif fault == "recorded":
        patch.setattr(Ledger, "commit", die)
    with patch.context():
        try:
            yield
        finally:
            patch.undo()


def landed(folder: Path) -> Counter[str]:
    """The rows of all tables, by their place in the stream."""
    storage = Storage.open(str(folder))
    found: Counter[str] = Counter()
    for info in tables(str(folder)):
        table = delta.open_table(Storage(info.path), "")
        assert table is not None
        rows = delta.table_rows(storage, table, ["_position"])
        found.update(rows["_position"].to_pylist())
    return found


def lettered(folder: Path) -> Counter[str]:
    """The dead letters, by their place in the stream."""
    return Counter(letter["position"] for letter in deadletters.letters(str(folder)))


groups = st.frozensets(st.sampled_from(sorted(pool()["messagegroups"])), min_size=1)
plans = st.lists(
    st.tuples(st.integers(1, 30), st.sampled_from(FAULTS), st.integers(1, 3)),
    min_size=1,
    max_size=5,
)


tables_of = st.builds(
    TablePlan,
    keep_payload=st.booleans(),
    with_base=st.booleans(),
    partition_by=st.sampled_from([(), (), ("day",), ("hour", "ce_type"), ("ctx_shop",)]),
    cluster_by=st.sampled_from([(), (), ("ce_time", "ce_id")]),
)


def check_conservation(
    folder: Path,
    chosen: frozenset[str],
    double: bool,
    arranged: TablePlan,
    plan: list[tuple[int, str, int]],
    chance: Random,
) -> None:
    """Each message is in one place once: a table if the judge accepts it, else the letters."""
    made_up = invented.group(chance)
    document = catalog(chosen, min(chosen) if double else None, made_up)
    xids = [one.xid for one in load_bytes(document, "catalog").resources("messages")]
    only = tuple(chance.sample(xids, len(xids) // 2)) if chance.random() < 0.2 else ()
    run = Run(folder, document, arranged, only)
    lines = stream(chance, sum(size for size, _, _ in plan), chosen, made_up)
    first = 0
    for batch, (size, fault, parts) in enumerate(plan):
        run.land(lines[first : first + size], first, batch, fault, parts)
        first += size
    judge = Judge(load_bytes(document, "catalog"), only=only)
    good = {f"{n}+0" for n, line in enumerate(lines) if isinstance(judge.judge(line), Accepted)}
    assert landed(folder) == Counter(good)
    assert lettered(folder) == Counter({f"{number}+0" for number in range(len(lines))} - good)
    ledger = batches.batches(Storage.open(str(folder)))
    assert ledger["batch"].to_pylist() == list(range(len(plan)))
    assert ledger["read"].to_pylist() == [size for size, _, _ in plan]
    shutil.rmtree(folder)


Copy = tuple[int, str, bool]
"""A message as it was sent: in which batch, at which place, and whether it can land."""


def check_copies(same: list[Copy], rows: Counter[str], letters: Counter[str]) -> None:
    """Of copies that can land the first one does; a letter stays only from before that."""
    fit = [batch for batch, _, lands in same if lands]
    unfit = [batch for batch, _, lands in same if not lands]
    kept = [batch for batch, place, lands in same if lands for _ in range(rows[place])]
    assert kept == fit[:1], same
    told = [batch for batch, place, lands in same if not lands for _ in range(letters[place])]
    if fit and unfit and unfit[0] == fit[0]:
        assert told in ([], unfit[:1]), same
    else:
        assert told == (unfit[:1] if not fit or unfit[:1] < fit[:1] else []), same


def check_repeats(
    folder: Path, chosen: frozenset[str], plan: list[tuple[int, str, int]], chance: Random
) -> None:
    """What comes again is left out, by its identity; the rest is as the judge says."""
    made_up = invented.group(chance)
    document = catalog(chosen, None, made_up)
    run = Run(folder, document, TablePlan(), dedupe=True)
    judge = Judge(load_bytes(document, "catalog"))
    fresh = stream(chance, sum(size for size, _, _ in plan), chosen, made_up)
    sent: list[bytes] = []
    copies: dict[object, list[Copy]] = {}
    for batch, (size, fault, parts) in enumerate(plan):
        again = chance.sample(sent, min(len(sent), 5))
        lines, fresh = [*fresh[:size], *again], fresh[size:]
        run.land(lines, len(sent), batch, fault, parts)
        for place, line in enumerate(lines, len(sent)):
            copy = (batch, f"{place}+0", isinstance(judge.judge(line), Accepted))
            copies.setdefault(identity_of_line(line) or place, []).append(copy)
        sent += lines
    rows, letters = landed(folder), lettered(folder)
    for same in copies.values():
        check_copies(same, rows, letters)
    ledger = batches.batches(Storage.open(str(folder)))
    total = [sum(ledger[name].to_pylist()) for name in ("read", "landed", "dead", "repeated")]
    places = (len(sent), rows.total(), letters.total())
    assert total == [*places, len(sent) - rows.total() - letters.total()]
    shutil.rmtree(folder)


def few(count: int) -> settings:
    """So many examples; a soak is not made of the same ones each time."""
    return settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck))


def many(count: int) -> settings:
    """So many other examples each time."""
    return settings(few(count), derandomize=False)


CONSERVED = given(groups, st.booleans(), tables_of, plans, st.randoms(use_true_random=False))
REPEATED = given(groups, plans, st.randoms(use_true_random=False))


@few(20)
@CONSERVED
def test_every_message_ends_in_one_place_once(
    tmp_path_factory: pytest.TempPathFactory,
    chosen: frozenset[str],
    double: bool,
    arranged: TablePlan,
    plan: list[tuple[int, str, int]],
    chance: Random,
) -> None:
    check_conservation(tmp_path_factory.mktemp("lake"), chosen, double, arranged, plan, chance)


@few(10)
@REPEATED
def test_what_comes_again_is_counted_and_left_out(
    tmp_path_factory: pytest.TempPathFactory,
    chosen: frozenset[str],
    plan: list[tuple[int, str, int]],
    chance: Random,
) -> None:
    check_repeats(tmp_path_factory.mktemp("lake"), chosen, plan, chance)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@many(600)
@CONSERVED
def test_every_one_of_many_streams_is_conserved(
    tmp_path_factory: pytest.TempPathFactory,
    chosen: frozenset[str],
    double: bool,
    arranged: TablePlan,
    plan: list[tuple[int, str, int]],
    chance: Random,
) -> None:
    check_conservation(tmp_path_factory.mktemp("lake"), chosen, double, arranged, plan, chance)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@many(600)
@REPEATED
def test_repeats_in_many_streams_are_left_out(
    tmp_path_factory: pytest.TempPathFactory,
    chosen: frozenset[str],
    plan: list[tuple[int, str, int]],
    chance: Random,
) -> None:
    check_repeats(tmp_path_factory.mktemp("lake"), chosen, plan, chance)
