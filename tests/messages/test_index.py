"""The index finds every definition that fits, and looks at few that do not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.messages.fit import fits
from heraldry.messages.index import Index
from heraldry.messages.message import Message
from heraldry.model.definition import Definition
from heraldry.model.xid import Xid
from tests.messages.airport import catalog_of


def defined(number: int, **members: Any) -> Definition:
    return Definition(xid=Xid("messagegroups", "g", "messages", f"m{number}"), **members)


def event(**attributes: str) -> Message:
    return Message(envelope="CloudEvents/1.0", attributes=attributes)


def events(**values: str) -> dict[str, Any]:
    metadata = {name: {"value": value} for name, value in values.items()}
    return {"envelope": "CloudEvents/1.0", "envelopemetadata": metadata}


def index_of(*declared: dict[str, Any]) -> Index:
    return Index((place, defined(place, **one), "both") for place, one in enumerate(declared))


def test_a_constant_is_looked_up() -> None:
    index = index_of(*(events(type=f"t{n}") for n in range(50)))
    assert index.find(event(type="t7")) == [7]
    assert index.find(event(type="nothing")) == []


def test_members_of_amqp_sections_are_looked_up() -> None:
    def amqp(section: str, name: str, value: Any) -> dict[str, Any]:
        options = {section: {name: {"value": value}}}
        return {"protocol": "AMQP/1.0", "protocoloptions": options}

    index = index_of(
        *(amqp("properties", "subject", f"s{n}") for n in range(50)),
        *(amqp("application_properties", "Kind", f"k{n}") for n in range(50)),
        amqp("properties", "reply_to", "queue/{name}"),
        amqp("properties", "user-id", "/w=="),
    )
    found = index.find(
        Message(
            protocol="AMQP/1.0",
            metadata={
                "properties": (("subject", "s7"), ("reply-to", "queue/a")),
                "application-properties": (("Kind", "k8"), ("kind", "k9")),
            },
        )
    )
    assert sorted(found) == [7, 58, 100, 101]


def test_subjects_of_nats_are_looked_up_word_by_word() -> None:
    index = index_of(
        *(
            {"protocol": "NATS", "protocoloptions": {"subject": f"shop.{{store}}.kind{n}"}}
            for n in range(50)
        )
    )
    assert index.find(Message(protocol="NATS", metadata={"subject": "shop.berlin.kind7"})) == [7]
    assert index.find(Message(protocol="NATS", metadata={"subject": "shop.a.b.kind7"})) == []


def test_the_rarest_key_is_taken() -> None:
    index = index_of(*(events(type="same", subject=f"s{n}") for n in range(50)))
    assert index.find(event(type="same", subject="s7")) == [7]


def test_the_start_of_a_template_is_a_key() -> None:
    index = index_of(*(events(type="same", source=f"/plants/{n}/{{line}}") for n in range(50)))
    assert index.find(event(type="same", source="/plants/7/a")) == [7]


@pytest.mark.parametrize(
    "template",
    [
        pytest.param("{store}-orders-kind%d", id="at the end"),
        pytest.param("shop.{store}.kind%d.{desk}", id="between placeholders"),
    ],
)
def test_a_word_of_a_template_is_a_key(template: str) -> None:
    index = index_of(*(events(type="same", subject=template % n) for n in range(50)))
    text = (template % 7).format(store="17", desk="3")
    assert index.find(event(type="same", subject=text)) == [7]


def test_a_word_beside_a_placeholder_is_no_key() -> None:
    index = index_of(events(subject="{a}kind"), events(subject="kind{a}-x"))
    assert index.find(event(subject="mankind")) == [0]
    assert sorted(index.find(event(subject="kinder-x"))) == [0, 1]


def test_topics_are_found_by_their_segments() -> None:
    options = [
        {"topic_name": "belts/{belt}/sensors/{sensor}", "qos": 1},
        {"topic_name": "belts/{belt}/motors/{motor}", "qos": 1},
        {"topic_name": "{any}/7/sensors/t1", "qos": 1},
        {"topic_name": "belts/{belt}", "qos": 1},
    ]
    index = index_of(*({"protocol": "MQTT/5.0", "protocoloptions": one} for one in options))
    message = Message(protocol="MQTT/5.0", metadata={"topic_name": "belts/7/sensors/t1", "qos": 1})
    assert sorted(index.find(message)) == [0, 2]


def test_a_definition_without_keys_is_always_tried() -> None:
    index = index_of(events(), events(type="t"), events(source="{anything}"))
    assert index.find(event(type="x")) == [0, 2]


def test_neighbours_ignore_case_and_punctuation_and_stand_beside() -> None:
    index = index_of(*(events(type=f"com.example.t{n:03}") for n in range(200)))
    path, value, near = index.near(event(type="COM_EXAMPLE-T150"), 4)
    assert (path, value) == ("attributes.type", "COM_EXAMPLE-T150")
    assert near[0] == 150
    beside = index.near(event(type="com.example.t1005"), 4)[2]
    assert beside[0] == 100
    assert set(beside) < set(range(97, 105))


LETTERS = st.text(alphabet="ab/", min_size=1, max_size=6)
VALUES = st.one_of(
    LETTERS,
    st.builds("{}{{x}}".format, LETTERS),
    st.builds("{{x}}{}".format, LETTERS),
    st.builds("{{x}}{}{{y}}".format, LETTERS),
    st.just("{x}"),
    st.none(),
)


@given(
    declared=st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=8),
    sent=st.tuples(LETTERS, LETTERS, LETTERS),
)
def test_no_fitting_definition_is_missed(
    declared: list[tuple[str | None, ...]], sent: tuple[str, str, str]
) -> None:
    names = ("type", "subject", "gate")
    messages = {
        f"m{n}": events(**{k: v for k, v in zip(names, one, strict=True) if v is not None})
        for n, one in enumerate(declared)
    }
    matcher = catalog_of(**messages).matcher
    attributes = {
        "specversion": "1.0",
        "id": "1",
        "source": "/s",
        **dict(zip(names, sent, strict=True)),
    }
    message = event(**attributes)
    every = [matcher.compiled(place) for place in range(len(matcher.definitions))]
    fitting = {place for place, one in enumerate(every) if fits(one, message) is not None}
    found = Index((p, one, "envelope") for p, one in enumerate(matcher.definitions)).find(message)
    assert fitting <= set(found)
    assert len(found) == len(set(found))


@given(
    declared=st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=8),
    sent=st.tuples(LETTERS, st.lists(LETTERS, max_size=3)),
)
def test_no_fitting_definition_of_a_protocol_is_missed(
    declared: list[tuple[str | None, str | None]], sent: tuple[str, list[str]]
) -> None:
    def options(topic: str | None, unit: str | None) -> dict[str, Any]:
        given: dict[str, Any] = {} if topic is None else {"topic_name": topic}
        if unit is not None:
            given["user_properties"] = [{"name": "unit", "value": unit}]
        return {"protocol": "MQTT/5.0", "protocoloptions": given}

    matcher = catalog_of(**{f"m{n}": options(*one) for n, one in enumerate(declared)}).matcher
    pairs = tuple(("unit", one) for one in sent[1])
    metadata = {"topic_name": sent[0], "user_properties": pairs}
    message = Message(protocol="MQTT/5.0", metadata=metadata)
    every = [matcher.compiled(place) for place in range(len(matcher.definitions))]
    fitting = {place for place, one in enumerate(every) if fits(one, message) is not None}
    found = Index((p, one, "protocol") for p, one in enumerate(matcher.definitions)).find(message)
    assert fitting <= set(found)
    assert len(found) == len(set(found))


@pytest.mark.parametrize("count", [10, 10_000], ids=["10", "10000"])
def test_candidates_stay_few(count: int) -> None:
    index = index_of(*(events(type=f"t{n}", source="/{a}/x") for n in range(count)))
    assert index.find(event(type="t3", source="/1/x")) == [3]
