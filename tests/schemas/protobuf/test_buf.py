"""Our verdicts beside those of ``buf breaking`` (category WIRE) on generated pairs of versions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest

from heraldry.errors import SchemaError
from heraldry.schemas import formats

PAIRS = 240
BUF = shutil.which("buf", path=str(Path(sys.executable).parent)) or shutil.which("buf")
TYPES = ("int32", "int64", "uint32", "uint64", "sint32", "sint64", "bool", "string", "bytes")
MORE_TYPES = ("double", "float", "fixed32", "sfixed32", "Kind", "Part")

# Where the verdicts differ, and why both are right on their own terms: buf judges what a change
# may lead to later, we judge the messages of the two versions at hand.
BUF_IS_STRICTER = {
    "FIELD_NO_DELETE_UNLESS_NUMBER_RESERVED": "the number could be used again, later",
    "ENUM_VALUE_NO_DELETE_UNLESS_NUMBER_RESERVED": "the number could be used again, later",
    "FIELD_SAME_ONEOF": "a single field moves without any effect; we ask if two can be set",
    "FIELD_WIRE_COMPATIBLE_TYPE": "a type of another name and the same fields is read alike, and"
    " a map of another name has entries of another name",
}
WE_ARE_STRICTER = {
    "type-changed": "one encoding, but numbers that do not fit are read as others, and bytes that"
    " are no text are refused",
    "enum-value-added": "old readers of a closed enum drop what they do not know",
    "enum-number-changed": "two names that change places are no deletion, but mean another thing",
    "oneof-member-added": "old readers see no choice",
    "oneof-member-removed": "new readers see no choice, though the number is reserved",
}
# What else may be seen where buf alone objects.
HARMLESS = {
    "field-removed",
    "enum-value-removed",
    "presence-changed",
    "type-renamed",
    "name-changed",
}


@dataclass(frozen=True)
class Field:
    label: str
    type: str
    name: str
    number: int
    default: str = ""


@dataclass(frozen=True)
class Proto:
    syntax: str
    fields: tuple[Field, ...]
    enum: tuple[tuple[str, int], ...] = (("KIND_NONE", 0), ("KIND_A", 1), ("KIND_B", 2))
    part: tuple[str, ...] = ("string x = 1;", "int32 y = 2;")
    part_name: str = "Part"
    reserved: tuple[int, ...] = (90,)

    def text(self, package: str) -> str:
        lines = [f'syntax = "{self.syntax}";', f"package {package};", "message M {"]
        unions: dict[str, list[str]] = {}
        for field in self.fields:
            kind = self.part_name if field.type == "Part" else field.type
            bare = f"{kind} {field.name} = {field.number}{field.default};"
            if field.label.startswith("oneof"):
                unions.setdefault(field.label, []).append(bare)
            elif field.label == "map":
                lines.append(f"map<string, {kind}> {field.name} = {field.number};")
            elif field.label == "" and self.syntax == "proto2":
                lines.append(f"optional {bare}")
            else:
                lines.append(f"{field.label} {bare}")
        for name, members in unions.items():
            lines.append(f"oneof {name} {{ {' '.join(members)} }}")
        lines += [f"reserved {number};" for number in self.reserved]
        lines.append("}")
        label = "optional " if self.syntax == "proto2" else ""
        lines.append(f"message {self.part_name} {{ {' '.join(label + one for one in self.part)} }}")
        values = " ".join(f"{name} = {number};" for name, number in self.enum)
        lines.append(f"enum Kind {{ {values} }}")
        return "\n".join(lines)


def base(random: Random) -> Proto:
    syntax = random.choice(("proto2", "proto3"))
    labels = ["", "", "optional", "repeated", "oneofone", "oneofone", "map"]
    if syntax == "proto2":
        labels.append("required")
    fields = tuple(
        Field(random.choice(labels), random.choice(TYPES + MORE_TYPES), f"f{number}", number)
        for number in range(1, random.randint(3, 7))
    )
    # Both other types belong to the message, so that what happens to them matters.
    return Proto(syntax, (*fields, Field("", "Part", "part", 20), Field("", "Kind", "kind", 21)))


def mutated(proto: Proto, random: Random) -> Proto:
    position = random.randrange(len(proto.fields))
    field = proto.fields[position]
    without = proto.fields[:position] + proto.fields[position + 1 :]

    def put(changed: Field) -> Proto:
        return replace(
            proto, fields=(*proto.fields[:position], changed, *proto.fields[position + 1 :])
        )

    labels = ["", "optional", "repeated", "oneofone", "oneoftwo", "map"]
    if proto.syntax == "proto2":
        labels.append("required")
    new = Field(random.choice(labels), random.choice(TYPES + MORE_TYPES), "added", 50)
    choices = [
        lambda: replace(proto, fields=without),
        lambda: replace(proto, fields=without, reserved=(*proto.reserved, field.number)),
        lambda: replace(proto, fields=(*proto.fields, new)),
        lambda: replace(proto, fields=(*proto.fields, replace(new, number=90)), reserved=()),
        lambda: put(replace(field, name="renamed")),
        lambda: put(replace(field, number=60)),
        lambda: put(replace(field, type=random.choice(TYPES))),
        lambda: put(replace(field, type=random.choice(TYPES))),
        lambda: put(replace(field, type=random.choice(MORE_TYPES))),
        lambda: put(replace(field, label=random.choice(labels))),
        lambda: put(replace(field, label=random.choice(labels))),
        lambda: replace(proto, enum=(*proto.enum, ("KIND_C", 3))),
        lambda: replace(proto, enum=proto.enum[:-1]),
        lambda: replace(proto, enum=(*proto.enum[:-1], ("KIND_Z", 2))),
        lambda: replace(proto, enum=(proto.enum[0], ("KIND_B", 1), ("KIND_A", 2))),
        lambda: replace(proto, part=(*proto.part, "bytes z = 3;")),
        lambda: replace(proto, part=("string x = 1;", "double y = 2;")),
        lambda: replace(proto, part_name="Piece"),
    ]
    return random.choice(choices)()


def usable(proto: Proto) -> bool:
    """Whether the compiler takes it: the rest is noise."""
    try:
        formats.compile("Protobuf", proto.text("p"), "M")
    except SchemaError:
        return False
    return True


def pairs() -> list[tuple[Proto, Proto]]:
    random = Random(20_240)
    made: list[tuple[Proto, Proto]] = []
    while len(made) < PAIRS:
        old = base(random)
        new = mutated(old, random)
        if new != old and usable(old) and usable(new):
            made.append((old, new))
    return made


def buf(folder: Path, versions: list[tuple[Proto, Proto]]) -> dict[int, set[str]]:
    for side in ("old", "new"):
        (folder / side).mkdir()
        settings = "version: v2\nbreaking:\n  use:\n    - WIRE\n"
        (folder / side / "buf.yaml").write_text(settings)
        for number, pair in enumerate(versions):
            text = pair[side == "new"].text(f"p{number}")
            (folder / side / f"p{number}.proto").write_text(text)
    assert BUF is not None
    told = subprocess.run(
        [
            BUF,
            "breaking",
            "new",
            "--against",
            "old",
            "--error-format",
            "json",
        ],
        cwd=folder,
        env={**os.environ, "HOME": str(folder), "XDG_CACHE_HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    found: dict[int, set[str]] = {number: set() for number in range(len(versions))}
    for line in told.stdout.splitlines():
        entry = json.loads(line)
        number = int(Path(entry["path"]).stem.removeprefix("p"))
        found[number].add(entry["type"])
    assert told.returncode == 100, told.stderr
    return found


@pytest.mark.slow
@pytest.mark.skipif(BUF is None, reason="buf is not installed")
def test_every_disagreement_with_buf_is_of_a_known_class(tmp_path: Path):
    versions = pairs()
    theirs = buf(tmp_path, versions)
    seen: Counter[str] = Counter()
    unexplained = []
    for number, (old, new) in enumerate(versions):
        before, after = (formats.compile("Protobuf", one.text("p"), "M") for one in (old, new))
        made = formats.changes(before, after)
        bad = {one.rule for one in made if {one.backward, one.forward} != {"safe"}}
        if bool(bad) == bool(theirs[number]):
            seen["same verdict"] += 1
            continue
        known, side = (WE_ARE_STRICTER, bad) if bad else (BUF_IS_STRICTER, theirs[number])
        for rule in side:
            seen[f"{'we' if bad else 'buf'}: {rule}"] += 1
        if not side <= set(known) or (not bad and not {one.rule for one in made} <= HARMLESS):
            unexplained.append((side, old.text("p"), new.text("p")))
    print(dict(seen))  # noqa: T201
    assert not unexplained, unexplained[0]
    assert seen["same verdict"] >= PAIRS / 2
    told = {name.partition(": ")[2] for name in seen}
    assert not (set(BUF_IS_STRICTER) | set(WE_ARE_STRICTER)) - told, "a class is never seen"
