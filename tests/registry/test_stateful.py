"""Random requests to a registry and to a reference in memory: they agree after every step."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from heraldry.errors import RegistryError
from tests.registry import random_requests as made
from tests.registry.asking import ask
from tests.registry.expected_files import Kind
from tests.registry.expected_registry import Expected
from tests.registry.expected_versions import RefusedError
from tests.registry.files import files

PUT_PATCH = st.sampled_from(("put", "patch"))
POST_PATCH = st.sampled_from(("post", "patch"))


class Clock:
    """Stands for `datetime` where the registry asks what time it is."""

    time = datetime(2026, 1, 1, tzinfo=UTC)

    @classmethod
    def now(cls, _zone: Any) -> datetime:
        return cls.time

    @classmethod
    def tick(cls) -> str:
        cls.time += timedelta(seconds=1)
        return cls.time.strftime("%Y-%m-%dT%H:%M:%SZ")


def differences(at: str, found: Any, wanted: Any) -> list[str]:
    """Where two values differ, for a failure that can be read."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        names = sorted({*found, *wanted})
        return [
            line
            for name in names
            for line in differences(f"{at}/{name}", found.get(name), wanted.get(name))
        ]
    return [] if found == wanted else [f"{at}: {found!r}, not {wanted!r}"]


class Requests(RuleBasedStateMachine):
    """The same requests to both; what each holds is compared after every one."""

    def __init__(self) -> None:
        super().__init__()
        self.patched = patch("heraldry.registry.unit.datetime", Clock)
        self.patched.start()

    def teardown(self) -> None:
        self.patched.stop()

    @initialize(kind=made.kinds())
    def begin(self, kind: Kind) -> None:
        self.mode = kind.mode
        self.expected = Expected(kind=kind)
        self.registry = files(
            versionmode=kind.mode,
            maxversions=kind.maxversions,
            singleversionroot=kind.single,
            setversionid=kind.setversionid,
        )
        self.expected.epoch = ask(self.registry, "get", "/")["epoch"]

    def send(self, action: str, path: str, body: Any = None, **flags: Any) -> None:
        now = Clock.tick()
        refusal = found = ""
        try:
            expected = self.expected.after(action, path, body, flags, now)
        except RefusedError as error:
            refusal, expected = str(error), self.expected
        try:
            ask(self.registry, action, path, body, **flags)
        except RegistryError as error:
            found = error.name
        assert found == refusal, (
            f"{action} {path} {body} {flags}: {found or 'done'}, not {refusal or 'done'}"
        )
        self.expected = expected
        whole = ask(self.registry, "get", "/", inline=("*",))
        wanted = whole | {"epoch": expected.epoch, "dirs": expected.view()}
        assert whole == wanted, "\n".join(differences("", whole, wanted))

    def file(self, data: Any) -> tuple[str, st.SearchStrategy[str]]:
        """The path of a file, mostly of one that is there, and ids of its versions."""
        there = {
            f"/dirs/{group.id}/files/{file.id}": list(file.versions)
            for group in self.expected.groups.values()
            for file in group.files.values()
        }
        anywhere = st.builds("/dirs/{}/files/{}".format, made.GROUPS, made.FILES)
        known = st.sampled_from(list(there)) if there else anywhere
        path = data.draw(st.one_of(known, known, anywhere))
        return path, made.version_ids(self.mode, there.get(path, []))

    @rule(data=st.data(), action=PUT_PATCH, group=made.GROUPS)
    def write_group(self, data: Any, action: str, group: str) -> None:
        body = data.draw(made.groups(made.version_ids(self.mode, [])))
        self.send(action, f"/dirs/{group}", body)

    @rule(data=st.data(), action=POST_PATCH, group=made.GROUPS)
    def write_files(self, data: Any, action: str, group: str) -> None:
        bodies = made.files(made.version_ids(self.mode, []))
        body = data.draw(st.dictionaries(made.FILES, bodies, max_size=3))
        self.send(action, f"/dirs/{group}/files", body)

    @rule(data=st.data(), action=PUT_PATCH)
    def write_file(self, data: Any, action: str) -> None:
        path, ids = self.file(data)
        self.send(action, path, data.draw(made.files(ids)), **data.draw(made.flags(ids)))

    @rule(data=st.data())
    def post_version(self, data: Any) -> None:
        path, ids = self.file(data)
        body = data.draw(made.versions(ids)) | data.draw(made.members(versionid=(5, ids)))
        self.send("post", path, body, **data.draw(made.flags(ids, "request")))

    @rule(data=st.data(), action=PUT_PATCH)
    def write_meta(self, data: Any, action: str) -> None:
        path, ids = self.file(data)
        flags = data.draw(made.flags(ids, "request"))
        self.send(action, f"{path}/meta", data.draw(made.metas(ids)), **flags)

    @rule(data=st.data(), action=POST_PATCH)
    def write_versions(self, data: Any, action: str) -> None:
        path, ids = self.file(data)
        body = data.draw(st.dictionaries(ids, made.versions(ids), max_size=3))
        self.send(action, f"{path}/versions", body, **data.draw(made.flags(ids)))

    @rule(data=st.data(), action=PUT_PATCH)
    def write_version(self, data: Any, action: str) -> None:
        path, ids = self.file(data)
        body, flags = data.draw(made.versions(ids)), data.draw(made.flags(ids, "request"))
        self.send(action, f"{path}/versions/{data.draw(ids)}", body, **flags)

    @rule(data=st.data())
    def delete_versions(self, data: Any) -> None:
        path, ids = self.file(data)
        some = st.dictionaries(ids, made.members(epoch=(1, made.EPOCHS)), max_size=3)
        body = data.draw(st.one_of(some, some, some, some, st.none()))
        self.send("delete", f"{path}/versions", body, **data.draw(made.flags(ids)))

    @rule(data=st.data())
    def delete_version(self, data: Any) -> None:
        path, ids = self.file(data)
        flags = data.draw(made.flags(ids, "request")) | data.draw(made.epochs())
        self.send("delete", f"{path}/versions/{data.draw(ids)}", **flags)

    @rule(data=st.data(), group=made.GROUPS)
    def delete_more(self, data: Any, group: str) -> None:
        """One file, some or all files, or a group: seldom, as everything must be made anew."""
        match data.draw(st.sampled_from(("some", "some", "some", "file", "group"))):
            case "some":
                meta = made.members(epoch=(8, made.EPOCHS))
                one = made.members(epoch=(1, made.EPOCHS), meta=(7, meta), fileid=(1, made.FILES))
                some = st.dictionaries(made.FILES, one, max_size=2)
                body = data.draw(st.one_of(some, some, some, some, st.none()))
                self.send("delete", f"/dirs/{group}/files", body)
            case "file":
                self.send("delete", self.file(data)[0], **data.draw(made.epochs()))
            case "group":
                self.send("delete", f"/dirs/{group}", **data.draw(made.epochs()))


def run(examples: int, steps: int) -> None:
    chosen = settings(max_examples=examples, stateful_step_count=steps, deadline=None)
    run_state_machine_as_test(Requests, settings=chosen)


@pytest.mark.slow
@pytest.mark.covers("CA-10", "CA-13", "CA-14", "VE-08", "AL-10", "AL-24", "ME-10", "RP-02", "XR-07")
def test_the_registry_agrees_with_the_reference() -> None:
    run(examples=100, steps=40)


@pytest.mark.soak
def test_the_registry_agrees_with_the_reference_for_long() -> None:
    run(examples=1500, steps=50)
