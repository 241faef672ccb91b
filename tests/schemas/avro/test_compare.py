"""What changed between two Avro schemas: the verdict, the rule and the place of each change."""

from __future__ import annotations

import time

import pytest

from heraldry.errors import MessageError
from heraldry.schemas.compatibility import compare
from heraldry.schemas.formats import changes
from heraldry.schemas.formats import compile as compile_schema

# The promise is a second; a busy machine is given more.
SECONDS = 3.0
YES, NO, PERHAPS = "compatible", "incompatible", "undecided"


def field(name, type_, **more):
    return {"name": name, "type": type_, **more}


def record(*fields, name="R", **more):
    return {"type": "record", "name": name, "fields": list(fields), **more}


def enum(*symbols, name="E", **more):
    return {"type": "enum", "name": name, "symbols": list(symbols), **more}


def fixed(size, name="F", **more):
    return {"type": "fixed", "name": name, "size": size, **more}


def array(items):
    return {"type": "array", "items": items}


def map_(values):
    return {"type": "map", "values": values}


def logical(kind, name, **more):
    return {"type": kind, "logicalType": name, **more}


def decimal(precision, scale):
    return logical("bytes", "decimal", precision=precision, scale=scale)


A, B = field("a", "int"), field("b", "string")
FIRST = "/fields/0"
TYPE = "/fields/0/type"

CASES = [
    # id, old, new, backward, forward, rule, location in the old, in the new
    ("int to long", "int", "long", YES, NO, "type-changed", "", ""),
    ("int to float", "int", "float", YES, NO, "type-changed", "", ""),
    ("int to double", "int", "double", YES, NO, "type-changed", "", ""),
    ("long to float", "long", "float", YES, NO, "type-changed", "", ""),
    ("long to int", "long", "int", NO, YES, "type-changed", "", ""),
    ("float to double", "float", "double", YES, NO, "type-changed", "", ""),
    ("double to float", "double", "float", NO, YES, "type-changed", "", ""),
    ("string to bytes", "string", "bytes", YES, PERHAPS, "type-changed", "", ""),
    ("nullable bytes to string", ["null", "bytes"], ["null", "string"], PERHAPS, YES,
     "union-type-removed", "/1", ""),
    ("string to int", "string", "int", NO, NO, "type-changed", "", ""),
    ("boolean to int", "boolean", "int", NO, NO, "type-changed", "", ""),
    ("fixed to bytes", fixed(4), "bytes", NO, NO, "type-changed", "", ""),
    ("enum to string", enum("A"), "string", NO, NO, "type-changed", "", ""),
    ("record to map", record(A), map_("int"), NO, NO, "type-changed", "", ""),
    ("field added without default", record(A), record(A, B), NO, YES, "field-added", None,
     "/fields/1"),
    ("field added with default", record(A), record(A, {**B, "default": ""}), YES, YES,
     "field-added", None, "/fields/1"),
    ("field removed without default", record(A, B), record(A), YES, NO, "field-removed",
     "/fields/1", None),
    ("field removed with default", record({**A, "default": 1}, B), record(B), YES, YES,
     "field-removed", FIRST, None),
    ("field renamed without alias: removed", record(A), record(field("c", "int")), NO, NO,
     "field-removed", FIRST, None),
    ("field renamed without alias: added", record(A), record(field("c", "int")), NO, NO,
     "field-added", None, FIRST),
    ("field renamed with alias", record(A), record(field("c", "int", aliases=["a"])), YES, NO,
     "field-renamed", FIRST, FIRST),
    ("field renamed back", record(field("c", "int", aliases=["a"])), record(A), NO, YES,
     "field-renamed", FIRST, FIRST),
    ("field renamed with alias and default", record({**A, "default": 0}),
     record(field("c", "int", aliases=["a"])), YES, YES, "field-renamed", FIRST, FIRST),
    ("field renamed and widened", record(A), record(field("c", "long", aliases=["a"])), YES, NO,
     "type-changed", TYPE, TYPE),
    ("field widened", record(A), record(field("a", "long")), YES, NO, "type-changed", TYPE, TYPE),
    ("field retyped", record(A), record(field("a", "string")), NO, NO, "type-changed", TYPE, TYPE),
    ("fields in another order", record(A, B), record(B, A), YES, YES, "fields-reordered", "", ""),
    ("default added", record(A), record({**A, "default": 1}), YES, YES, "default-changed", FIRST,
     FIRST),
    ("default changed", record({**A, "default": 1}), record({**A, "default": 2}), YES, YES,
     "default-changed", FIRST, FIRST),
    ("record renamed", record(A), record(A, name="S"), NO, NO, "name-changed", "", ""),
    ("record renamed with alias", record(A), record(A, name="S", aliases=["R"]), YES, NO,
     "name-changed", "", ""),
    ("namespace changed", record(A), record(A, namespace="x"), YES, YES, "name-changed", "", ""),
    ("symbol added", enum("A"), enum("A", "B"), YES, NO, "enum-value-added", "", ""),
    ("symbol added, reader has a default", enum("A", default="A"), enum("A", "B", default="A"),
     YES, YES, "enum-value-added", "", ""),
    ("symbol removed", enum("A", "B"), enum("A"), NO, YES, "enum-value-removed", "", ""),
    ("symbol removed, default given", enum("A", "B"), enum("A", default="A"), YES, YES,
     "enum-value-removed", "", ""),
    ("symbol renamed", enum("A", "B"), enum("A", "C"), NO, NO, "enum-value-added", "", ""),
    ("enum default changed", enum("A", "B", default="A"), enum("A", "B", default="B"), YES, YES,
     "enum-default-changed", "", ""),
    ("enum renamed", enum("A"), enum("A", name="G"), NO, NO, "name-changed", "", ""),
    ("fixed size", fixed(4), fixed(5), NO, NO, "size-changed", "", ""),
    ("fixed renamed with alias", fixed(4), fixed(4, name="G", aliases=["F"]), YES, NO,
     "name-changed", "", ""),
    ("items widened", array("int"), array("long"), YES, NO, "type-changed", "/items", "/items"),
    ("values retyped", map_("int"), map_("string"), NO, NO, "type-changed", "/values", "/values"),
    ("became nullable", record(A), record(field("a", ["null", "int"])), YES, NO,
     "became-nullable", TYPE, f"{TYPE}/0"),
    ("became required", record(field("a", ["null", "int"])), record(A), NO, YES,
     "became-required", f"{TYPE}/0", TYPE),
    ("type added to a union", ["null", "int"], ["null", "int", "string"], YES, NO,
     "union-type-added", "", "/2"),
    ("type removed from a union", ["null", "int", "string"], ["null", "int"], NO, YES,
     "union-type-removed", "/2", ""),
    ("union widened", ["null", "int"], ["null", "long"], YES, NO, "union-type-added", "", "/1"),
    ("removed from a union, but another reads it", ["int", "double"], ["double"], YES, YES,
     "union-type-removed", "/0", ""),
    ("a union of one type", "int", ["int"], YES, YES, "union-changed", "", ""),
    ("union in another order", ["null", "int"], ["int", "null"], YES, YES, None, None, None),
    ("record in a union", ["null", record(A)], ["null", record(A, B)], NO, YES, "field-added",
     None, "/1/fields/1"),
    ("record in a union, renamed", ["null", record(A)], ["null", record(A, name="S")], NO, NO,
     "union-type-removed", "/1", ""),
    ("several records of that name", [record(A, name="x.R")],
     [record(A, name="y.R"), record(B, name="z.R")], PERHAPS, NO, "union-type-removed", "/0", ""),
    ("scale", decimal(9, 2), decimal(9, 3), NO, NO, "decimal-changed", "", ""),
    ("precision raised", decimal(9, 2), decimal(10, 2), YES, NO, "decimal-changed", "", ""),
    ("precision lowered", decimal(9, 2), decimal(8, 2), NO, YES, "decimal-changed", "", ""),
    ("milliseconds to microseconds", logical("long", "timestamp-millis"),
     logical("long", "timestamp-micros"), NO, NO, "logical-type-changed", "", ""),
    ("number to timestamp", "long", logical("long", "timestamp-millis"), PERHAPS, YES,
     "logical-type-changed", "", ""),
    ("timestamp to number", logical("long", "timestamp-millis"), "long", YES, PERHAPS,
     "logical-type-changed", "", ""),
    ("date widened to timestamp", logical("int", "date"), logical("long", "timestamp-millis"), NO,
     NO, "type-changed", "", ""),
    ("text to UUID", "string", logical("string", "uuid"), PERHAPS, YES, "logical-type-changed", "",
     ""),
    ("an unknown logical type", "long", logical("long", "fortnight"), YES, YES, None, None, None),
    ("inside a recursive record", record(A, field("next", ["null", "R"])),
     record(field("a", "long"), field("next", ["null", "R"])), YES, NO, "type-changed", TYPE, TYPE),
    ("a nested record used twice", record(field("x", record(A, name="P")), field("y", "P")),
     record(field("x", record(B, name="P")), field("y", "P")), NO, NO, "field-added", None,
     f"{TYPE}/fields/0"),
    ("documentation", record(A), record({**A, "doc": "the a"}, doc="a record"), YES, YES, None,
     None, None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "backward", "forward", "rule", "before", "after"),
    [pytest.param(*case[1:], id=case[0]) for case in CASES],
)
def test_a_change_has_its_verdict_rule_and_place(old, new, backward, forward, rule, before, after):
    first, second = (compile_schema("Avro/1.11", one) for one in (old, new))
    found = changes(first, second)
    if rule is None:
        assert found == ()
    else:
        assert (rule, before, after) in [(one.rule, one.old, one.new) for one in found]
    assert all(one.message.endswith(".") for one in found)
    assert compare([("1", first)], second, "backward").verdict == backward
    assert compare([("1", first)], second, "forward").verdict == forward


def test_there_are_enough_cases():
    assert len({case[0] for case in CASES}) == len(CASES) >= 40


@pytest.mark.parametrize("document", [pytest.param(case[1], id=case[0]) for case in CASES])
def test_a_schema_does_not_differ_from_itself(document):
    schema = compile_schema("Avro/1.11", document)
    assert changes(schema, compile_schema("Avro/1.11", document)) == ()


def test_a_change_of_a_shared_type_is_told_once():
    old = record(field("x", record(A, name="P")), field("y", "P"))
    new = record(field("x", record(A, B, name="P")), field("y", "P"))
    found = changes(compile_schema("Avro", old), compile_schema("Avro", new))
    assert [(one.rule, one.new) for one in found] == [("field-added", "/fields/0/type/fields/1")]


def test_a_sentence_says_what_happens():
    found = changes(compile_schema("Avro", record(A)), compile_schema("Avro", record(A, B)))
    assert [one.message for one in found] == [
        "The field 'b' is new and has no default: messages of the old version without it are"
        " refused."
    ]


def test_a_large_comparison_is_undecided_rather_than_endless():
    old, new = (
        compile_schema("Avro", [record(A, name=f"{space}{n}.R") for n in range(300)])
        for space in ("x", "y")
    )
    found = changes(old, new)
    assert len(found) == 600
    assert {one.backward for one in found} == {"safe", "undecided"}


def enum_pairs(prefix, kind):
    """Sixty enums, and a field for each pair of one with another version's."""
    enums = [
        field(f"e{n}", enum(*(f"{prefix}{n}_{m}" for m in range(300)), name=f"E{n}"))
        for n in range(60)
    ]
    fields = [field(f"f{a}_{b}", f"E{kind(a, b)}") for a in range(60) for b in range(60)]
    return compile_schema("Avro", record(*enums, *fields))


def test_enums_paired_with_each_other_are_compared_up_to_a_limit():
    old, new = enum_pairs("A", lambda a, b: a), enum_pairs("B", lambda a, b: b)
    start = time.process_time()
    found = changes(old, new)
    assert time.process_time() - start < SECONDS
    assert (found[-1].rule, found[-1].backward, found[-1].forward) == (
        "size",
        "undecided",
        "undecided",
    )


def test_many_aliases_are_compared_soon():
    old, new = (
        compile_schema(
            "Avro",
            [
                {**record(name=f"{one}{n}"), "aliases": [f"z{n}_{m}" for m in range(400)]}
                for n in range(450)
            ],
        )
        for one in "AB"
    )
    start = time.process_time()
    assert len(changes(old, new)) == 900
    assert time.process_time() - start < SECONDS


def test_bytes_that_are_no_text_break_a_reader_of_text():
    old, new = (compile_schema("Avro", record(field("a", one))) for one in ("bytes", "string"))
    (found,) = changes(old, new)
    assert (found.backward, found.forward) == ("undecided", "safe")
    assert found.message.endswith("bytes that are not UTF-8 are no text.")
    with pytest.raises(MessageError):
        new.decode(old.encode({"a": b"\xff"}), "avro/binary")


def test_cycles_of_different_length_are_undecided_rather_than_endless():
    def cycle(space, length):
        inner = ["null", f"{space}0.R"]
        for number in reversed(range(length)):
            inner = record(field("n", inner), name=f"{space}{number}.R")
        return compile_schema("Avro", inner)

    (found,) = changes(cycle("x", 31), cycle("y", 29))
    assert (found.rule, found.backward, found.forward) == ("depth", "undecided", "undecided")
