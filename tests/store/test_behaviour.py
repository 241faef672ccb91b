"""What every store does, whatever database it stands on."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from heraldry.errors import StoreError
from heraldry.store.opening import open_store
from heraldry.store.query import Order, Page
from heraldry.store.rows import Kind
from heraldry.store.store import Store
from tests.store.registries import (
    DIRS,
    FILES,
    FIRST,
    VERSIONS,
    File,
    add_file,
    add_group,
    add_version,
    fill,
    got,
    ids,
    note,
)

TREE = {
    "d1": {"f1": File(versions={"v1": {}, "v2": {}}), "F2": File(versions={"v1": {}})},
    "D2": {"a": File(versions={"v1": {}})},
}


class _Stop(Exception):  # noqa: N818
    pass


def test_a_new_registry_has_its_first_state(store: Store) -> None:
    with store.read() as tx:
        assert tx.state() == FIRST
        assert tx.state() is tx.state()


def test_state_is_replaced_as_a_whole(store: Store) -> None:
    changed = replace(FIRST, attributes={"epoch": 2, "labels": {"a": ""}}, modelsource=None)
    with store.write() as tx:
        tx.save_state(changed)
        assert tx.state() == changed
    with store.read() as tx:
        assert tx.state() == changed


def test_a_row_comes_back_as_it_was_saved(store: Store) -> None:
    attributes = {
        "epoch": 7,
        "name": "Ünïcode \0 and 'quotes'; --",
        "big": 10**25,
        "fraction": 0.1,
        "yes": True,
        "labels": {"a": "", "b.c": "x"},
        "list": [1, {"deep": [None, "x"]}],
        "#internal": [1],
    }
    with store.write() as tx:
        group = add_group(tx, "d1")
        file = add_file(tx, group, "f1", File(versions={"v1": attributes}, meta={"readonly": True}))
        borrowed = replace(
            add_version(tx, file, "v2", attributes), borrowed=True, document=9, attributes={}
        )
        tx.save(borrowed)
        inside = [tx.find(row.xid) for row in (group, file, borrowed)]
    with store.read() as tx:
        assert [tx.find(row.xid) for row in (group, file, borrowed)] == [group, file, borrowed]
        version = tx.find("/dirs/d1/files/f1/versions/v1")
        assert version is not None
        assert dict(version.attributes) == attributes
        assert list(version.attributes) == list(attributes)
    assert inside == [group, file, borrowed]


@pytest.mark.covers("CA-03")
def test_an_xid_is_found_by_its_case_only(store: Store) -> None:
    fill(store, TREE)
    with store.write() as tx:
        add_group(tx, "New")
        for place, other in (("/dirs/New", "/dirs/nEW"), ("/dirs/D2/files/a", "/DIRS/d2/files/A")):
            found = tx.find(place)
            assert found is not None
            assert tx.find(other) is None
            assert tx.find(other, any_case=True) == found


@pytest.mark.covers("CA-03")
def test_two_ids_that_differ_by_case_cannot_be_kept(store: Store) -> None:
    def add_both() -> None:
        with store.write() as tx:
            add_group(tx, "one")
            add_group(tx, "ONE")

    with pytest.raises(StoreError):
        add_both()
    with store.read() as tx:
        assert list(tx.rows(DIRS)) == []


@pytest.mark.parametrize("xid", ["/dirs/\0", "/dirs/\ud800", "/dirs/ä", "/", ""])
def test_what_no_entity_can_be_called_is_not_found(store: Store, xid: str) -> None:
    with store.read() as tx:
        assert tx.find(xid) is None


def test_children_come_by_parent_and_then_by_id_without_case(store: Store) -> None:
    d1, f1, f2, d2, a = fill(store, TREE)
    with store.read() as tx:
        assert ids(list(tx.children([0], DIRS))) == ["d1", "D2"]
        assert ids(list(tx.children([d1.key], FILES))) == ["f1", "F2"]
        assert ids(list(tx.children([d2.key, d1.key], FILES))) == ["a", "f1", "F2"]
        assert ids(list(tx.children([d2.key, d1.key], FILES, keys=[f2.key, a.key]))) == ["a", "F2"]
        assert ids(list(tx.children([d1.key], FILES, keys={f1.key}))) == ["f1"]
        assert list(tx.children([d1.key], VERSIONS)) == []
        assert list(tx.children([], FILES)) == []


def test_children_of_many_parents_and_many_keys(store: Store) -> None:
    names = [f"n{number:04}" for number in range(1200)]
    rows = fill(store, {"d1": {name: File() for name in names}})
    d1, files = rows[0], rows[1:]
    odd = {row.key for row in files[1::2]}
    with store.read() as tx:
        assert ids(list(tx.children([d1.key], FILES))) == names
        assert ids(list(tx.children([d1.key], FILES, keys=odd))) == names[1::2]
        every = range(1, 5000)
        assert ids(list(tx.children([d1.key], FILES, keys=every))) == names
        assert tx.count([d1.key], FILES, keys=every) == {d1.key: 1200}
        assert len(tx.by_key(every)) == 1201
        page, _ = tx.page(d1.key, FILES, Order(), Page(limit=3), keys=odd)
        assert ids(page) == names[1:7:2]
        assert ids(list(tx.rows(FILES))) == names


def test_counts(store: Store) -> None:
    d1, f1, f2, d2, a = fill(store, TREE)
    with store.read() as tx:
        assert tx.count([0], DIRS) == {0: 2}
        assert tx.count([d1.key, d2.key], FILES) == {d1.key: 2, d2.key: 1}
        assert tx.count([f1.key, f2.key, a.key], VERSIONS, keys=[f1.default, a.default]) == {
            f1.key: 1,
            a.key: 1,
        }
        assert tx.count([d1.key], VERSIONS).get(d1.key, 0) == 0


def test_all_entities_of_a_type_by_key(store: Store) -> None:
    rows = fill(store, TREE)
    with store.read() as tx:
        assert list(tx.rows(FILES)) == sorted(
            (row for row in rows if row.kind is Kind.RESOURCE), key=lambda row: row.key
        )
        assert list(tx.rows("nowhere")) == []


def test_entities_by_key(store: Store) -> None:
    d1, f1, *_ = fill(store, TREE)
    with store.write() as tx:
        new = add_group(tx, "new")
        assert tx.by_key([f1.key, new.key, 999]) == {f1.key: f1, new.key: new}
        assert tx.by_key([]) == {}
        assert tx.by_key({d1.key}) == {d1.key: d1}


def test_a_transaction_sees_its_own_writes(store: Store) -> None:
    d1, f1, *_ = fill(store, TREE)
    with store.write() as tx:
        tx.save(replace(f1, attributes={"name": "changed"}))
        new = add_file(tx, d1, "aa")
        assert got(tx, f1.xid).attributes == {"name": "changed"}
        assert ids(list(tx.children([d1.key], FILES))) == ["aa", "f1", "F2"]
        assert ids(list(tx.children([new.key], VERSIONS))) == ["v1"]
        assert tx.count([new.key, d1.key], FILES)[d1.key] == 3
        inner = add_file(tx, add_group(tx, "d9"), "x")
        assert ids(list(tx.children([inner.parent], FILES))) == ["x"]
        assert tx.count([inner.parent], FILES) == {inner.parent: 1}
        assert ids(list(tx.rows(DIRS))) == ["d1", "D2", "d9"]


def test_rows_may_be_saved_while_they_are_gone_through(store: Store) -> None:
    names = {f"n{number:04}": File() for number in range(510)}
    d1, *_ = fill(store, {"d1": names})
    seen = []
    with store.write() as tx:
        for row in tx.children([d1.key], FILES):
            tx.save(replace(row, attributes={"seen": True}))
            tx.count([d1.key], FILES)
            seen.append(row.id)
    with store.read() as tx:
        assert seen == list(names)
        assert all(row.attributes == {"seen": True} for row in tx.rows(FILES))


@pytest.mark.covers("GN-01")
def test_an_error_undoes_everything(store: Store) -> None:
    d1, f1, *_ = fill(store, TREE)
    before = store.revision()

    def fail() -> None:
        with store.write() as tx:
            tx.save(replace(f1, attributes={"name": "changed", "brand": {"new": 1}}))
            tx.save_state(replace(FIRST, id="other"))
            tx.note(note("/"))
            tx.remove(d1)
            add_group(tx, "d3")
            assert len(list(tx.rows(DIRS))) == 2
            raise _Stop

    with pytest.raises(_Stop):
        fail()
    assert store.revision() == before
    with store.read() as tx:
        assert tx.find(f1.xid) == f1
        assert tx.find("/dirs/d3") is None
        assert tx.state() == FIRST
        assert tx.journal(0, 10) == []
    with store.write() as tx:  # numbers of paths that were undone are not used again
        tx.save(replace(f1, attributes={"brand": {"new": 1}}))


def test_a_removed_group_takes_all_below_it_along(store: Store) -> None:
    d1, *_ = fill(store, TREE | {"d1x": {}})
    with store.write() as tx:
        document = tx.save_document(b"hello")
        add_version(tx, got(tx, "/dirs/d1/files/f1"), "v3", document=document)
        gone = tx.remove(d1)
    assert gone == [
        (DIRS, "/dirs/d1"),
        (FILES, "/dirs/d1/files/f1"),
        (VERSIONS, "/dirs/d1/files/f1/versions/v1"),
        (VERSIONS, "/dirs/d1/files/f1/versions/v2"),
        (VERSIONS, "/dirs/d1/files/f1/versions/v3"),
        (FILES, "/dirs/d1/files/F2"),
        (VERSIONS, "/dirs/d1/files/F2/versions/v1"),
    ]
    with store.read() as tx:
        assert ids(list(tx.rows(DIRS))) == ["D2", "d1x"]
        assert ids(list(tx.rows(FILES))) == ["a"]
        assert tx.documents([document]) == {}


def test_keys_are_never_used_again(store: Store) -> None:
    with store.write() as tx:
        last = add_group(tx, "d1")
        tx.remove(last)
    with store.write() as tx:
        assert tx.next_key() > last.key


def test_documents_live_with_the_version_that_owns_them(store: Store) -> None:
    with store.write() as tx:
        file = add_file(tx, add_group(tx, "d1"), "f1", File())
        first, second = tx.save_document(b"\x00one"), tx.save_document(b"")
        version = add_version(tx, file, "v1", document=first)
        borrowed = replace(add_version(tx, file, "v2", document=first), borrowed=True)
        tx.save(borrowed)
        assert tx.document(first) == b"\x00one"
        assert tx.documents([first, second, 99]) == {first: b"\x00one", second: b""}
    with store.write() as tx:
        tx.remove(borrowed)
    with store.read() as tx:
        assert tx.document(first) == b"\x00one"
        assert tx.documents([first, second, 99]) == {first: b"\x00one", second: b""}
    with store.write() as tx:
        tx.save(replace(version, document=second))
    with store.read() as tx:
        assert tx.documents([first, second]) == {second: b""}
        with pytest.raises(StoreError, match="missing"):
            tx.document(first)


def test_a_document_replaced_in_the_same_transaction_is_not_kept(store: Store) -> None:
    with store.write() as tx:
        file = add_file(tx, add_group(tx, "d1"), "f1", File())
        first, second = tx.save_document(b"one"), tx.save_document(b"two")
        version = add_version(tx, file, "v1", document=first)
        tx.save(replace(version, document=second))
    with store.read() as tx:
        assert tx.documents([first, second]) == {second: b"two"}


def test_borrowers_are_known_by_their_xref(store: Store) -> None:
    target = "/dirs/d1/files/f1"
    fill(store, {"d1": {"f1": File(versions={"v1": {}}), "f2": File(xref=target)}})
    with store.write() as tx:
        f2, f1 = got(tx, "/dirs/d1/files/f2"), got(tx, target)
        assert tx.borrowers(target) == [f2]
        tx.save(replace(f2, xref=""))
        tx.save(replace(f1, xref="/dirs/d9/files/x"))
        assert tx.borrowers(target) == []
        assert ids(tx.borrowers("/dirs/d9/files/x")) == ["f1"]
    with store.read() as tx:
        assert tx.borrowers(target) == []
        assert ids(tx.borrowers("/dirs/d9/files/x")) == ["f1"]
        assert tx.borrowers("") == []


def test_the_journal_is_in_the_order_of_commits(store: Store) -> None:
    for number in range(3):
        with store.write() as tx:
            tx.note(note("/dirs/a", number))
            tx.note(note("/dirs/b", number))
            assert len(tx.journal(0, 100)) == 2 * number + 2
    with store.read() as tx:
        every = tx.journal(0, 100)
        assert [one.correlation[-1] + one.xid[-1] for one in every] == [
            *("0a", "0b", "1a", "1b", "2a", "2b"),
        ]
        assert [one.sequence for one in every] == [1, 2, 3, 4, 5, 6]
        assert tx.journal(2, 2) == every[2:4]
        assert replace(every[0], sequence=0) == note("/dirs/a", 0)


def test_the_revision_changes_with_every_write_and_only_then(store: Store, address: str) -> None:
    seen = [store.revision()]
    with store.write() as tx:
        group = add_group(tx, "d1")
    seen.append(store.revision())
    with store.write() as tx:
        tx.note(note("/"))
    seen.append(store.revision())
    with store.write() as tx:
        tx.remove(group)
    seen.append(store.revision())
    with store.write() as tx:
        tx.find("/dirs/d1")
    assert len(set(seen)) == len(seen)
    assert store.revision() == seen[-1]
    if "memory" not in address:
        with closing(open_store(address, FIRST)) as other:
            with other.write() as tx:
                add_group(tx, "d2")
            assert store.revision() == other.revision() != seen[-1]


def test_a_reader_keeps_its_snapshot(store: Store) -> None:
    fill(store, TREE)
    with store.read() as tx:
        before = list(tx.children([0], DIRS))
        with store.write() as writer:
            add_group(writer, "d3")
            writer.save_state(replace(FIRST, id="other"))
        assert list(tx.children([0], DIRS)) == before
        assert tx.state() == FIRST
        with store.read() as later:
            assert len(list(later.children([0], DIRS))) == 3
            assert later.state().id == "other"
        assert tx.state() == FIRST


def test_what_was_committed_is_there_when_it_is_opened_again(address: str) -> None:
    if "memory" in address:
        pytest.skip("a registry in memory ends when it is closed")
    with closing(open_store(address, FIRST)) as store:
        rows = fill(store, TREE)
        revision = store.revision()
    with closing(open_store(address, replace(FIRST, id="unused"))) as store:
        assert store.revision() == revision
        with store.read() as tx:
            assert tx.state() == FIRST
            assert tx.by_key([row.key for row in rows]) == {row.key: row for row in rows}
