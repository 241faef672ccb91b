"""Inheritance: chains, shadows, groups, borrowed messages and cycles."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.dialects.xreg_1_0 import read
from heraldry.errors import CircularBaseError, LongBaseError, UnknownDefinitionError
from heraldry.model.catalog import Catalog, External
from heraldry.model.definition import Definition
from heraldry.model.inherit import definitions, external_bases, materialize, merge
from heraldry.model.xid import Xid
from tests.model.catalogs import catalog

JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from("abc"), JSON)


def define(found: Catalog, message: str, group: str = "/messagegroups/g") -> Definition:
    return materialize(found, Xid.parse(f"{group}/messages/{message}"))


def test_objects_merge_and_scalars_and_arrays_replace() -> None:
    found = catalog(
        {
            "b": {
                "envelope": "CloudEvents/1.0",
                "envelopemetadata": {"type": {"value": "b"}, "subject": {"required": True}},
                "protocoloptions": {"headers": [{"name": "one"}], "path": {"value": "/x"}},
            },
            "m": {
                "basemessage": "/messagegroups/g/messages/b",
                "envelopemetadata": {"type": {"value": "m"}},
                "protocoloptions": {"headers": [{"name": "two"}], "path": "/y"},
            },
        }
    )
    got = define(found, "m")
    assert got.envelope == "CloudEvents/1.0"
    assert got.envelopemetadata == {"type": {"value": "m"}, "subject": {"required": True}}
    assert got.protocoloptions == {"headers": [{"name": "two"}], "path": "/y"}
    assert got.bases == ("/messagegroups/g/messages/b",)
    assert got.basemessage == "/messagegroups/g/messages/b"


@given(OBJECTS, OBJECTS, OBJECTS)
def test_merging_is_associative_where_objects_meet_objects(
    a: dict[str, object], b: dict[str, object], c: dict[str, object]
) -> None:
    assert merge({}, a) == a
    assert merge(a, {}) == a
    assert merge(a, a) == a
    # Only the last one to say something that is not an object decides.
    assert {k: v for k, v in merge(merge(a, b), c).items() if not isinstance(v, dict)} == {
        k: v for k, v in merge(a, merge(b, c)).items() if not isinstance(v, dict)
    }


@pytest.mark.parametrize(
    "reference",
    [
        pytest.param("/messagegroups/g/messages/nowhere", id="dangling"),
        pytest.param("/messagegroups/g/messages/b/versions/9", id="dangling-version"),
        pytest.param("https://example.com/messagegroups/g/messages/b", id="absolute"),
        pytest.param("b", id="no-xid"),
        pytest.param("/schemagroups/g/schemas/b", id="no-message"),
        pytest.param(5, id="no-text"),
    ],
)
def test_a_base_that_is_not_there_ends_the_chain(reference: object) -> None:
    found = catalog({"b": {"protocol": "NATS"}, "m": {"basemessage": reference}})
    got = define(found, "m")
    assert (got.protocol, got.bases) == (None, ())


def test_a_base_may_be_a_version() -> None:
    versions = {"1": {"protocol": "NATS"}, "2": {"protocol": "KAFKA"}}
    found = catalog(
        {
            "b": {"versions": versions},
            "old": {"basemessage": "/messagegroups/g/messages/b/versions/1"},
            "new": {"basemessage": "/messagegroups/g/messages/b/versions/2"},
        }
    )
    assert define(found, "old").protocol == "NATS"
    assert define(found, "old").bases == ("/messagegroups/g/messages/b/versions/1",)
    assert define(found, "new").bases == ("/messagegroups/g/messages/b",)
    assert define(found, "b").versionid == "2"


def test_a_circular_chain_names_its_members() -> None:
    found = catalog(
        {
            "a": {"basemessage": "/messagegroups/g/messages/b"},
            "b": {"basemessage": "/messagegroups/g/messages/c"},
            "c": {"basemessage": "/messagegroups/g/messages/b"},
        }
    )
    with pytest.raises(CircularBaseError) as caught:
        define(found, "a")
    b, c = "/messagegroups/g/messages/b", "/messagegroups/g/messages/c"
    assert caught.value.chain == (b, c, b)


def test_the_group_speaks_before_the_base() -> None:
    document = {
        "messagegroups": {
            "one": {"envelope": "CloudEvents/1.0", "messages": {"b": {"protocol": "KAFKA"}}},
            "two": {
                "protocol": "NATS",
                "messages": {"m": {"basemessage": "/messagegroups/one/messages/b"}},
            },
        }
    }
    got = define(read(document, ""), "m", "/messagegroups/two")
    assert (got.envelope, got.protocol) == ("CloudEvents/1.0", "NATS")


def test_a_payload_schema_replaces_the_way_its_base_names_one() -> None:
    found = catalog(
        {
            "b": {"dataschemaformat": "JSONSchema/draft-07", "dataschema": {}},
            "m": {
                "basemessage": "/messagegroups/g/messages/b",
                "dataschemauri": "/schemagroups/s/schemas/x",
            },
        }
    )
    got = define(found, "m")
    assert (got.dataschema, got.dataschemauri) == (None, "/schemagroups/s/schemas/x")
    assert got.dataschemaformat == "JSONSchema/draft-07"


def test_a_borrowed_message_is_its_target_under_its_own_xid() -> None:
    document = {
        "messagegroups": {
            "one": {
                "envelope": "CloudEvents/1.0",
                "messages": {"m": {"versionid": "7", "datacontenttype": "text/plain"}},
            },
            "two": {"messages": {"m": {"uri": "#/messagegroups/one/messages/m"}}},
            "three": {"messages": {"m": {"meta": {"xref": "/messagegroups/two/messages/m"}}}},
            "four": {"messages": {"m": {"meta": {"xref": "/messagegroups/no/messages/m"}}}},
        }
    }
    found = read(document, "")
    for group in ("two", "three"):
        got = define(found, "m", f"/messagegroups/{group}")
        assert str(got.xid) == f"/messagegroups/{group}/messages/m"
        assert (got.envelope, got.datacontenttype, got.versionid) == (
            "CloudEvents/1.0",
            "text/plain",
            "7",
        )
        assert got.bases == ("/messagegroups/one/messages/m",)
    assert define(found, "m", "/messagegroups/four").envelope is None


def test_a_borrowed_message_fills_in_from_its_own_group_what_its_target_leaves_open() -> None:
    target = {"datacontenttype": "text/plain", "protocol": "KAFKA"}
    document = {
        "messagegroups": {
            "one": {"messages": {"m": target, "bare": {}}},
            "two": {
                "envelope": "CloudEvents/1.0",
                "protocol": "NATS",
                "messages": {
                    "m": {"xref": "messagegroups/one/messages/m"},
                    "bare": {"xref": "messagegroups/one/messages/bare"},
                },
            },
        }
    }
    found = read(document, "")
    got = define(found, "m", "/messagegroups/two")
    assert (got.envelope, got.protocol) == ("CloudEvents/1.0", "KAFKA")
    got = define(found, "bare", "/messagegroups/two")
    assert (got.envelope, got.protocol) == ("CloudEvents/1.0", "NATS")
    assert define(found, "bare", "/messagegroups/one").protocol is None


def test_a_borrowed_message_keeps_the_group_of_its_target() -> None:
    document = {
        "messagegroups": {
            "one": {"envelope": "CloudEvents/1.0", "protocol": "KAFKA", "messages": {"m": {}}},
            "two": {
                "protocol": "NATS",
                "messages": {"m": {"xref": "messagegroups/one/messages/m"}},
            },
        }
    }
    got = define(read(document, ""), "m", "/messagegroups/two")
    assert (got.envelope, got.protocol) == ("CloudEvents/1.0", "KAFKA")


def test_a_borrowed_message_has_the_bases_of_its_target() -> None:
    found = catalog(
        {
            "base": {"protocol": "NATS"},
            "m": {"basemessage": "/messagegroups/g/messages/base"},
            "borrowed": {"xref": "/messagegroups/g/messages/m", "protocol": "KAFKA"},
            "derived": {"basemessage": "/messagegroups/g/messages/borrowed"},
        }
    )
    m, base = "/messagegroups/g/messages/m", "/messagegroups/g/messages/base"
    assert define(found, "borrowed").protocol == "NATS"
    assert define(found, "borrowed").bases == (m, base)
    assert define(found, "derived").bases == ("/messagegroups/g/messages/borrowed", m, base)


@pytest.mark.parametrize(
    "target",
    [
        pytest.param("/messagegroups/g/messages/nowhere", id="dangling"),
        pytest.param("/messagegroups/g/messages/m", id="itself"),
        pytest.param("/messagegroups/g/messages/other", id="in a circle"),
        pytest.param("https://example.com/messagegroups/g/messages/m", id="elsewhere"),
        pytest.param("/schemagroups/s/schemas/x", id="no message"),
        pytest.param("m", id="no xid"),
        pytest.param(5, id="no text"),
    ],
)
def test_a_message_that_borrows_nothing_that_is_there_is_empty(target: object) -> None:
    found = catalog(
        {
            "m": {"protocol": "KAFKA", "meta": {"xref": target}},
            "other": {"meta": {"xref": "/messagegroups/g/messages/m"}},
        },
        {"x": {"protocol": "KAFKA"}},
        envelope="CloudEvents/1.0",
    )
    got = define(found, "m")
    assert (got.envelope, got.protocol, got.bases) == ("CloudEvents/1.0", None, ())
    assert list(external_bases(found)) == []


def test_a_circle_through_a_borrowed_message_is_an_error() -> None:
    found = catalog(
        {
            "m": {"xref": "/messagegroups/g/messages/n"},
            "n": {"basemessage": "/messagegroups/g/messages/m"},
        }
    )
    for message in ("m", "n"):
        with pytest.raises(CircularBaseError):
            define(found, message)


ELSEWHERE = "https://example.com/messagegroups/g/messages/b"


def test_a_base_that_was_fetched_is_the_end_of_the_chain() -> None:
    found = catalog(
        {
            "m": {"basemessage": "/messagegroups/g/messages/n", "datacontenttype": "text/csv"},
            "n": {"basemessage": ELSEWHERE, "protocoloptions": {"subject": "s"}},
        }
    )
    assert list(external_bases(found)) == [ELSEWHERE, ELSEWHERE]
    fetched = {
        "protocol": "NATS",
        "protocoloptions": {"subject": "t", "reply-to": "r"},
        "datacontenttype": "text/plain",
    }
    found = replace(found, external={ELSEWHERE: External(attributes=fetched)})
    got = define(found, "m")
    assert (got.protocol, got.datacontenttype) == ("NATS", "text/csv")
    assert got.protocoloptions == {"subject": "s", "reply-to": "r"}
    assert got.bases == ("/messagegroups/g/messages/n", ELSEWHERE)
    assert list(external_bases(found)) == []


def test_a_fetched_base_never_leads_back_into_this_catalog_by_an_xid() -> None:
    found = catalog({"m": {"basemessage": ELSEWHERE}, "n": {"protocol": "KAFKA"}})
    fetched = External(attributes={"basemessage": "/messagegroups/g/messages/n"})
    got = define(replace(found, external={ELSEWHERE: fetched}), "m")
    assert (got.protocol, got.bases) == (None, (ELSEWHERE,))


def test_a_base_that_was_not_fetched_is_no_error() -> None:
    found = catalog({"m": {"basemessage": ELSEWHERE, "protocol": "NATS"}})
    found = replace(found, external={ELSEWHERE: External(reason="its server answers 404")})
    assert (define(found, "m").protocol, define(found, "m").bases) == ("NATS", ())


def test_endpoints_hold_messages_too() -> None:
    document = {
        "endpoints": {"e": {"protocol": "NATS", "messages": {"m": {}}}},
        "messagegroups": {"g": {"messages": {"n": {}}}},
        "schemagroups": {"s": {"schemas": {"x": {}}}},
    }
    found = read(document, "")
    xids = [str(xid) for xid in definitions(found)]
    assert xids == ["/endpoints/e/messages/m", "/messagegroups/g/messages/n"]
    assert define(found, "m", "/endpoints/e").protocol == "NATS"


def test_values_of_wrong_types_do_not_get_through() -> None:
    wrong = {"envelope": 5, "envelopemetadata": [], "protocoloptions": "x", "description": 1}
    got = define(catalog({"m": wrong}), "m")
    assert (got.envelope, got.envelopemetadata, got.protocoloptions) == (None, {}, {})
    assert got.description == ""


@pytest.mark.parametrize(
    "xid",
    [
        pytest.param("/messagegroups/g/messages/placd", id="typo"),
        pytest.param("/schemagroups/s/schemas/x", id="no-message"),
    ],
)
def test_an_unknown_definition_is_an_error(xid: str) -> None:
    found = catalog({"placed": {}}, {"x": {}})
    with pytest.raises(UnknownDefinitionError, match="no message definition"):
        materialize(found, Xid.parse(xid))


def test_an_unknown_definition_is_told_what_is_near() -> None:
    with pytest.raises(UnknownDefinitionError, match=r"did you mean .*/placed"):
        define(catalog({"placed": {}}), "placd")


def test_a_chain_without_end_is_refused_in_little_time() -> None:
    """Thousands of bases in one document must not cost the square of their number."""
    count = 5000
    bases = {
        f"m{number}": {"basemessage": f"/messagegroups/g/messages/m{number + 1}"}
        for number in range(count)
    }
    found = catalog(bases | {f"m{count}": {}})
    with pytest.raises(LongBaseError, match=r"m0 -> \.\.\. -> .*m100"):
        define(found, "m0")
    assert len(define(found, f"m{count - 50}").bases) == 50
