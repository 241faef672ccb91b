"""What a new version of a message type means for messages: verdict, rule and place."""

from __future__ import annotations

import time
from random import Random
from typing import Any

import pytest

from heraldry.schemas import formats
from heraldry.schemas.compatibility import compare
from heraldry.schemas.source import Reference

OK, BAD, OPEN = "compatible", "incompatible", "undecided"
P3 = 'syntax = "proto3"; '
P2 = 'syntax = "proto2"; '
E23 = 'edition = "2023"; '
WKT = "".join(f'import "google/protobuf/{one}.proto"; ' for one in ("timestamp", "duration"))
# The promise is a second; a busy machine is given more.
SECONDS = 3.0
COMMON = P3 + "message Line { int32 count = 1; }"
COMMON_2 = P3 + "message Line { string count = 1; }"


def m(body: str) -> str:
    return P3 + f"message M {{ {body} }}"


def m2(body: str) -> str:
    return P2 + f"message M {{ {body} }}"


def e3(values: str) -> str:
    return m("C c = 1;") + f" enum C {{ {values} }}"


def e2(values: str) -> str:
    return m2("optional C c = 1;") + f" enum C {{ {values} }}"


AB = "string a = 1; string b = 2;"
# id, old, new, backward, forward, rule, place in the new version, or else in the old one
CASES: list[tuple[str, str, str, str, str, str | None, str | None]] = [
    ("equal", m(AB), m(AB), OK, OK, None, None),
    ("comments-and-order", m(AB), m("/* x */ string b = 2; string a = 1;"), OK, OK, None, None),
    ("field-added", m("string a = 1;"), m(AB), OK, OK, "field-added", "M.b"),
    ("field-removed", m(AB), m("string a = 1;"), OK, OK, "field-removed", "M.b"),
    (
        "required-field-added",
        m2("optional int32 a = 1;"),
        m2("optional int32 a = 1; required int32 b = 2;"),
        BAD,
        OK,
        "required-field-added",
        "M.b",
    ),
    (
        "required-field-removed",
        m2("optional int32 a = 1; required int32 b = 2;"),
        m2("optional int32 a = 1;"),
        OK,
        BAD,
        "required-field-removed",
        "M.b",
    ),
    (
        "became-required",
        m2("optional int32 a = 1;"),
        m2("required int32 a = 1;"),
        BAD,
        OK,
        "became-required",
        "M.a",
    ),
    (
        "became-optional",
        m2("required int32 a = 1;"),
        m2("optional int32 a = 1;"),
        OK,
        BAD,
        "became-optional",
        "M.a",
    ),
    ("renamed", m("string a = 1;"), m("string z = 1;"), OK, OK, "name-changed", "M.z"),
    (
        "json-renamed",
        m("string a = 1;"),
        m('string a = 1 [json_name = "z"];'),
        OK,
        OK,
        "json-name-changed",
        "M.a",
    ),
    ("renumbered", m("string a = 1;"), m("string a = 2;"), BAD, BAD, "number-changed", "M.a"),
    (
        "swapped",
        m(AB),
        m("string b = 1; string a = 2;"),
        BAD,
        BAD,
        "number-changed",
        "M.b",
    ),
    (
        "number-reused",
        m("string a = 1;"),
        m("int32 z = 1;"),
        BAD,
        BAD,
        "type-changed",
        "M.z",
    ),
    (
        "reserved-number-used",
        m("reserved 2 to 4; string a = 1;"),
        m("string a = 1; string c = 3;"),
        OPEN,
        OK,
        "reserved-number-used",
        "M.c",
    ),
    ("int32-int64", m("int32 a = 1;"), m("int64 a = 1;"), OK, BAD, "type-changed", "M.a"),
    ("int64-int32", m("int64 a = 1;"), m("int32 a = 1;"), BAD, OK, "type-changed", "M.a"),
    ("uint32-int64", m("uint32 a = 1;"), m("int64 a = 1;"), OK, BAD, "type-changed", "M.a"),
    ("int32-uint32", m("int32 a = 1;"), m("uint32 a = 1;"), BAD, BAD, "type-changed", "M.a"),
    ("int32-uint64", m("int32 a = 1;"), m("uint64 a = 1;"), BAD, BAD, "type-changed", "M.a"),
    ("bool-int32", m("bool a = 1;"), m("int32 a = 1;"), OK, BAD, "type-changed", "M.a"),
    ("int32-sint32", m("int32 a = 1;"), m("sint32 a = 1;"), BAD, BAD, "type-changed", "M.a"),
    ("sint32-sint64", m("sint32 a = 1;"), m("sint64 a = 1;"), OK, BAD, "type-changed", "M.a"),
    ("fixed-sfixed", m("fixed32 a = 1;"), m("sfixed32 a = 1;"), BAD, BAD, "type-changed", "M.a"),
    ("fixed32-64", m("fixed32 a = 1;"), m("fixed64 a = 1;"), BAD, BAD, "type-changed", "M.a"),
    ("float-double", m("float a = 1;"), m("double a = 1;"), BAD, BAD, "type-changed", "M.a"),
    ("string-bytes", m("string a = 1;"), m("bytes a = 1;"), OK, BAD, "type-changed", "M.a"),
    ("bytes-string", m("bytes a = 1;"), m("string a = 1;"), BAD, OK, "type-changed", "M.a"),
    ("string-int32", m("string a = 1;"), m("int32 a = 1;"), BAD, BAD, "type-changed", "M.a"),
    (
        "scalar-message",
        m("string a = 1;"),
        m("message A { string b = 1; } A a = 1;"),
        BAD,
        BAD,
        "type-changed",
        "M.a",
    ),
    (
        "single-list",
        m("string a = 1;"),
        m("repeated string a = 1;"),
        OK,
        BAD,
        "became-repeated",
        "M.a",
    ),
    ("list-single", m("repeated int32 a = 1;"), m("int32 a = 1;"), BAD, OK, "became-single", "M.a"),
    (
        "packed",
        m("repeated int32 a = 1;"),
        m("repeated int32 a = 1 [packed = false];"),
        OK,
        OK,
        None,
        None,
    ),
    (
        "implicit-optional",
        m("int32 a = 1;"),
        m("optional int32 a = 1;"),
        OK,
        OK,
        "presence-changed",
        "M.a",
    ),
    (
        "default-of-a-wider-type-changed",
        m2("optional int32 a = 1 [default = 1];"),
        m2("optional int64 a = 1;"),
        BAD,
        BAD,
        "default-changed",
        "M.a",
    ),
    (
        "default-of-text-as-bytes-kept",
        m2('optional string a = 1 [default = "x"];'),
        m2('optional bytes a = 1 [default = "x"];'),
        OK,
        BAD,
        "type-changed",
        "M.a",
    ),
    (
        "extension-number-used",
        m2("extensions 100 to 200;"),
        m2("optional int32 a = 100;"),
        OPEN,
        OK,
        "reserved-number-used",
        "M.a",
    ),
    (
        "default-changed",
        m2("optional int32 a = 1 [default = 1];"),
        m2("optional int32 a = 1 [default = 2];"),
        BAD,
        BAD,
        "default-changed",
        "M.a",
    ),
    (
        "map-value",
        m("map<string, int32> a = 1;"),
        m("map<string, string> a = 1;"),
        BAD,
        BAD,
        "type-changed",
        "M.a",
    ),
    (
        "map-key",
        m("map<int32, int32> a = 1;"),
        m("map<int64, int32> a = 1;"),
        OK,
        BAD,
        "type-changed",
        "M.a",
    ),
    (
        "map-list-of-entries",
        m("map<string, int32> a = 1;"),
        m("message A { string key = 1; int32 value = 2; } repeated A a = 1;"),
        OK,
        BAD,
        "type-changed",
        "M.a",
    ),
    (
        "list-of-entries-map",
        m("message A { string key = 1; int32 value = 2; } repeated A a = 1;"),
        m("map<string, int32> a = 1;"),
        BAD,
        OK,
        "type-changed",
        "M.a",
    ),
    (
        "nested-field-added",
        m("message A { string b = 1; } A a = 1;"),
        m("message A { string b = 1; string c = 2; } A a = 1;"),
        OK,
        OK,
        "field-added",
        "M.A.c",
    ),
    (
        "nested-type-changed",
        m("message A { string b = 1; } repeated A a = 1;"),
        m("message A { double b = 1; } repeated A a = 1;"),
        BAD,
        BAD,
        "type-changed",
        "M.A.b",
    ),
    (
        "nested-in-a-map",
        m("message A { string b = 1; } map<string, A> a = 1;"),
        m("message A { double b = 1; } map<string, A> a = 1;"),
        BAD,
        BAD,
        "type-changed",
        "M.A.b",
    ),
    (
        "type-renamed",
        m("message A { string b = 1; } A a = 1;"),
        m("message B { string b = 1; } B a = 1;"),
        OK,
        OK,
        "type-renamed",
        "M.a",
    ),
    (
        "recursive",
        m("M a = 1; string b = 2;"),
        m("M a = 1; bytes b = 2;"),
        OK,
        BAD,
        "type-changed",
        "M.b",
    ),
    (
        "group-message",
        m2("optional group G = 1 { optional int32 a = 1; }"),
        m2("message G { optional int32 a = 1; } optional G g = 1;"),
        BAD,
        BAD,
        "type-changed",
        "M.g",
    ),
    (
        "timestamp-duration",
        P3 + WKT + "message M { google.protobuf.Timestamp a = 1; }",
        P3 + WKT + "message M { google.protobuf.Duration a = 1; }",
        BAD,
        BAD,
        "type-changed",
        "M.a",
    ),
    ("enum-int32", e3("X = 0;"), m("int32 c = 1;"), OK, OK, "type-changed", "M.c"),
    (
        "closed-enum-bool",
        e2("X = 0; Y = 1;"),
        m2("optional bool c = 1;"),
        OK,
        OK,
        "type-changed",
        "M.c",
    ),
    (
        "int32-closed-enum",
        m2("optional int32 c = 1;"),
        e2("X = 0;"),
        BAD,
        OK,
        "type-changed",
        "M.c",
    ),
    ("open-enum-added", e3("X = 0;"), e3("X = 0; Y = 1;"), OK, OK, "enum-value-added", "C.Y"),
    ("closed-enum-added", e2("X = 0;"), e2("X = 0; Y = 1;"), OK, BAD, "enum-value-added", "C.Y"),
    ("open-enum-removed", e3("X = 0; Y = 1;"), e3("X = 0;"), OK, OK, "enum-value-removed", "C.Y"),
    (
        "closed-enum-removed",
        e2("X = 0; Y = 1;"),
        e2("X = 0;"),
        BAD,
        OK,
        "enum-value-removed",
        "C.Y",
    ),
    ("enum-renamed", e3("X = 0; Y = 1;"), e3("X = 0; Z = 1;"), OK, OK, "enum-value-renamed", "C.Z"),
    (
        "enum-renumbered",
        e3("X = 0; Y = 1;"),
        e3("X = 0; Y = 2;"),
        BAD,
        BAD,
        "enum-number-changed",
        "C.Y",
    ),
    (
        "enum-alias-added",
        e3("X = 0; Y = 1;"),
        e3("option allow_alias = true; X = 0; Z = 1; Y = 1;"),
        OK,
        OK,
        "enum-value-renamed",
        "C.Z",
    ),
    (
        "enum-alias-added-behind",
        e3("X = 0; Y = 1;"),
        e3("option allow_alias = true; X = 0; Y = 1; Z = 1;"),
        OK,
        OK,
        None,
        None,
    ),
    (
        "enum-closed",
        E23 + "message M { C c = 1; } enum C { X = 0; }",
        E23 + "message M { C c = 1; } enum C { option features.enum_type = CLOSED; X = 0; }",
        BAD,
        OK,
        "enum-closed",
        "C",
    ),
    (
        "joined-oneof",
        m(AB),
        m("oneof x { string a = 1; string b = 2; }"),
        BAD,
        OK,
        "fields-joined-oneof",
        "M.x",
    ),
    (
        "one-field-into-oneof",
        m(AB),
        m("string a = 1; oneof x { string b = 2; string c = 3; }"),
        OK,
        OK,
        "presence-changed",
        "M.b",
    ),
    (
        "left-oneof",
        m("oneof x { string a = 1; string b = 2; }"),
        m(AB),
        OK,
        BAD,
        "fields-left-oneof",
        "M",
    ),
    (
        "oneof-renamed",
        m("oneof x { string a = 1; string b = 2; }"),
        m("oneof y { string a = 1; string b = 2; }"),
        OK,
        OK,
        None,
        None,
    ),
    (
        "oneof-member-added",
        m("oneof x { string a = 1; }"),
        m("oneof x { string a = 1; string b = 2; }"),
        OK,
        BAD,
        "oneof-member-added",
        "M.b",
    ),
    (
        "oneof-member-removed",
        m("oneof x { string a = 1; string b = 2; }"),
        m("oneof x { string a = 1; }"),
        BAD,
        OK,
        "oneof-member-removed",
        "M.b",
    ),
    (
        "oneof-removed-as-a-whole",
        m("string z = 9; oneof x { string a = 1; string b = 2; }"),
        m("string z = 9;"),
        OK,
        OK,
        "field-removed",
        "M.a",
    ),
    (
        "package",
        P3 + "package a; message M {}",
        P3 + "package b; message M {}",
        BAD,
        BAD,
        "package-changed",
        "M",
    ),
    ("message-renamed", P3 + "message M {}", P3 + "message N {}", BAD, BAD, "message-renamed", "N"),
    (
        "syntax",
        m2("optional string a = 1; repeated int32 b = 2;"),
        m("optional string a = 1; repeated int32 b = 2;"),
        OK,
        OK,
        None,
        None,
    ),
    (
        "edition",
        m("string a = 1;"),
        E23 + "message M { string a = 1 [features.field_presence = IMPLICIT]; }",
        OK,
        OK,
        None,
        None,
    ),
]


def compiled(document: str) -> Any:
    link = "N" if "message N" in document else "M"
    return formats.compile("Protobuf", document, link)


@pytest.mark.parametrize(
    ("old", "new", "backward", "forward", "rule", "place"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_the_verdict(old, new, backward, forward, rule, place):
    before, after = compiled(old), compiled(new)
    assert compare([("1", before)], after, "backward").verdict == backward
    assert compare([("1", before)], after, "forward").verdict == forward
    made = formats.changes(before, after)
    if rule is None:
        assert made == ()
    else:
        assert (rule, place) in [(one.rule, one.new or one.old) for one in made]
    for one in made:
        assert one.message.endswith(".")
        assert one.old or one.new


def without(rule: str) -> list[Any]:
    return [pytest.param(case, id=case[0]) for case in CASES if case[5] != rule]


# A number is reserved in one version only.
@pytest.mark.parametrize("case", without("reserved-number-used"))
def test_back_again_is_the_other_direction(case):
    _, old, new, backward, forward, _, _ = case
    before, after = compiled(old), compiled(new)
    assert compare([("1", after)], before, "backward").verdict == forward
    assert compare([("1", after)], before, "forward").verdict == backward


# A value of an enum is shown by its name, but is its number.
@pytest.mark.parametrize("case", without("enum-value-renamed"))
def test_a_compatible_verdict_has_no_counter_example_among_samples(case):
    _, old, new, backward, forward, _, _ = case
    before, after = compiled(old), compiled(new)
    for writer, reader, verdict in ((before, after, backward), (after, before, forward)):
        if verdict != OK:
            continue
        for seed in range(10):
            sent = writer.sample(Random(seed), {})
            seen = reader.decode(writer.encode(sent))
            for name in sent.keys() & seen.keys():
                if type(sent[name]) is type(seen[name]) and not isinstance(sent[name], dict):
                    assert seen[name] == sent[name]


def test_a_change_in_an_import_is_located_there():
    text = P3 + 'import "common.proto"; message M { Line line = 1; }'
    old, new = (
        formats.compile("Protobuf", text, references=(Reference("common.proto", common.encode()),))
        for common in (COMMON, COMMON_2)
    )
    (change,) = formats.changes(old, new)
    assert (change.rule, change.old, change.new) == (
        "type-changed",
        "common.proto:Line.count",
        "common.proto:Line.count",
    )


def test_a_large_oneof_is_compared_soon():
    one = compiled(m("oneof o { int32 f1 = 1; }"))
    members = "".join(f"int32 f{n} = {n};" for n in range(1, 10_000))
    many = compiled(m(f"oneof o {{ {members} }}"))
    start = time.process_time()
    assert {change.rule for change in formats.changes(one, many)} == {"oneof-member-added"}
    assert {change.rule for change in formats.changes(many, one)} == {"oneof-member-removed"}
    assert time.process_time() - start < SECONDS


def test_many_reserved_numbers_are_compared_soon():
    old = compiled(m("".join(f"reserved {2 * n};" for n in range(20_000, 30_000))))
    new = compiled(m("".join(f"int32 f{n} = {2 * n};" for n in range(20_000, 30_000))))
    start = time.process_time()
    assert {change.rule for change in formats.changes(old, new)} == {"reserved-number-used"}
    assert time.process_time() - start < SECONDS


def test_messages_paired_with_each_other_are_compared_up_to_a_limit():
    def paired(kind, held):
        fields = "".join(f"{kind} f{n} = {n};" for n in range(1, 101))
        messages = "".join(f"message H{n} {{ {fields} }} " for n in range(50))
        pairs = "".join(f"H{held(n)} p{n} = {n + 1};" for n in range(2_500))
        return compiled(m(messages + pairs))

    old, new = paired("int32", lambda n: n // 50), paired("int64", lambda n: n % 50)
    start = time.process_time()
    found = formats.changes(old, new)
    assert time.process_time() - start < SECONDS
    assert (found[-1].rule, found[-1].backward, found[-1].forward) == ("size", OPEN, OPEN)


def test_an_enum_of_many_fields_is_read_once():
    values = "".join(f"V{n} = {n};" for n in range(10_000))
    fields = "".join(f"E f{n} = {n};" for n in range(1, 1_000))
    start = time.process_time()
    schema = compiled(m(f"enum E {{ {values} }} {fields}"))
    schema.sample(Random(1), {})
    assert time.process_time() - start < SECONDS


def test_a_list_that_becomes_a_map_is_called_by_its_name():
    old = P3 + "message M { repeated N a = 1; } message N { string key = 1; int32 value = 2; }"
    before = formats.compile("Protobuf", old, ":M")
    found = formats.changes(before, compiled(m("map<string, int32> a = 1;")))
    assert found[0].message.startswith("The type of 'a' changed from N to M.AEntry: ")


def test_the_sentences_tell_a_producer_what_happens():
    (change,) = formats.changes(
        compiled(m2("optional double weight = 1;")), compiled(m2("required double weight = 1;"))
    )
    assert change.message == (
        "The field 'weight' became required: messages of the old version without it are refused."
    )
    (change,) = formats.changes(compiled(m("int64 a = 1;")), compiled(m("int32 a = 1;")))
    assert change.message == (
        "The type of 'a' changed from int64 to int32: for new readers, numbers that do not fit"
        " are read as other numbers."
    )
