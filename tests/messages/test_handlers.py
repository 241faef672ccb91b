"""Every dispatched message ends with its handler, or with the reasons why there is none."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from heraldry.dialects.load import load_bytes
from heraldry.errors import UnknownDefinitionError, UsageError
from heraldry.messages.catalog import Matched, MessageCatalog
from heraldry.messages.handlers import Handled
from heraldry.messages.verdict import Rejected
from tests.messages.airport import (
    CHECKED_IN,
    LOADED,
    airport,
    catalog_of,
    document,
    event,
    reading,
    xid,
)

TIME = "2026-11-16T08:30:00Z"
DERIVED = {"basemessage": xid("loaded"), "envelopemetadata": {"gate": {"value": "A1"}}}


def loaded(**attributes: Any) -> dict[str, Any]:
    return event(type="airport.luggage.loaded", time=TIME, **attributes)


def named(name: str) -> Any:
    return lambda data, context: name


def test_a_handler_gets_the_decoded_payload_and_its_context() -> None:
    catalog = airport()
    taken: list[tuple[Any, Matched]] = []

    @catalog.on(xid("checkedin"))
    def checked_in(data: Any, context: Matched) -> str:
        taken.append((data, context))
        return "done"

    result = catalog.dispatch(event({"weight": 17.5}))
    assert isinstance(result, Handled)
    assert result.returned == "done"
    ((data, context),) = taken
    assert data == {"weight": 17.5}
    assert context is result.match
    assert str(context.definition.xid) == xid("checkedin")
    assert context.values == {"airport": "MUC", "tag": "0220731"}
    assert context.attributes["subject"] == "BAG-0220731"
    assert context.message.payload == b'{"weight":17.5}'


def test_without_a_usable_schema_the_payload_comes_as_it_is() -> None:
    bare = {"protocol": "MQTT/5.0", "protocoloptions": {"topic_name": "belts/{belt}/sensors/{s}"}}
    catalog = catalog_of(reading=bare)
    taken: list[Any] = []
    catalog.on("reading")(lambda data, context: taken.append(data))
    assert isinstance(catalog.dispatch(reading()), Handled)
    assert taken == [b'{"value": 3}']


def test_one_function_may_take_several_definitions() -> None:
    catalog = airport()
    handler = catalog.on("checkedin", "loaded")(named("both"))
    assert handler(None, None) == "both"
    for sent in (event({"weight": 1}), loaded()):
        result = catalog.dispatch(sent)
        assert isinstance(result, Handled)
        assert result.returned == "both"


@pytest.mark.parametrize(
    ("handled", "sent", "returned"),
    [
        pytest.param(["loaded"], loaded(gate="A1"), "loaded", id="the base's, for a derived one"),
        pytest.param(["loaded", "atgate"], loaded(gate="A1"), "atgate", id="its own comes first"),
        pytest.param(["loaded", "atgate"], loaded(gate="B7"), "loaded", id="the base itself"),
        pytest.param(["atgate"], loaded(gate="B7"), None, id="never that of a derived one"),
    ],
)
def test_a_base_stands_in_for_what_is_derived_from_it(
    handled: list[str], sent: dict[str, Any], returned: str | None
) -> None:
    catalog = catalog_of(loaded=LOADED, atgate=DERIVED)
    for name in handled:
        catalog.on(name)(named(name))
    result = catalog.dispatch(sent)
    assert (result.returned if isinstance(result, Handled) else None) == returned


def test_a_nearer_handler_counts_also_when_it_comes_later() -> None:
    catalog = catalog_of(loaded=LOADED, atgate=DERIVED)
    catalog.on("loaded")(named("loaded"))
    catalog.dispatch(loaded(gate="A1"))
    catalog.on("atgate")(named("atgate"))
    result = catalog.dispatch(loaded(gate="A1"))
    assert isinstance(result, Handled)
    assert result.returned == "atgate"


REJECTED = [
    pytest.param(b"{", "decode", "json", None, id="no message"),
    pytest.param(event(subject="X"), "match", "template", xid("checkedin"), id="no match"),
    pytest.param(
        event({"weight": -1}), "validate", "minimum", xid("checkedin"), id="invalid payload"
    ),
    pytest.param(loaded(), "handle", "no-handler", xid("loaded"), id="no handler"),
]


@pytest.mark.parametrize(("raw", "stage", "rule", "definition"), REJECTED)
def test_the_rest_are_dead_letters(raw: Any, stage: str, rule: str, definition: str) -> None:
    catalog = airport()
    catalog.on("checkedin")(named("checkedin"))
    silent = catalog.dispatch(raw)
    assert isinstance(silent, Rejected)
    assert (silent.stage, silent.problems[0].rule, silent.definition) == (stage, rule, definition)
    letters: list[tuple[Any, Rejected]] = []

    @catalog.on_dead_letter
    def sidelined(raw: Any, rejected: Rejected) -> None:
        letters.append((raw, rejected))

    assert catalog.dispatch(raw) == silent
    assert letters == [(raw, silent)]
    assert asyncio.run(catalog.dispatch_async(raw)) == silent
    assert len(letters) == 2


def test_what_a_handler_raises_is_raised() -> None:
    catalog = airport()

    @catalog.on("checkedin")
    def fails(data: Any, context: Matched) -> None:
        raise LookupError("no such belt")

    catalog.on_dead_letter(lambda raw, rejected: pytest.fail("it is no dead letter"))
    with pytest.raises(LookupError, match="no such belt"):
        catalog.dispatch(event({"weight": 1}))
    with pytest.raises(LookupError, match="no such belt"):
        asyncio.run(catalog.dispatch_async(event({"weight": 1})))


def asynchronous() -> MessageCatalog:
    catalog = airport()

    @catalog.on("checkedin")
    async def checked_in(data: Any, context: Matched) -> float:
        await asyncio.sleep(0)
        return float(data["weight"])

    @catalog.on_dead_letter
    async def sidelined(raw: Any, rejected: Rejected) -> None:
        await asyncio.sleep(0)

    catalog.on("loaded")(named("loaded"))
    return catalog


def test_asynchronous_and_other_handlers_are_awaited() -> None:
    async def run() -> list[Handled | Rejected]:
        catalog = asynchronous()
        sent = (event({"weight": 2}), loaded(), event(subject="X"))
        return [await catalog.dispatch_async(one) for one in sent]

    first, second, third = asyncio.run(run())
    assert isinstance(first, Handled)
    assert isinstance(second, Handled)
    assert (first.returned, second.returned) == (2.0, "loaded")
    assert isinstance(third, Rejected)


@pytest.mark.parametrize(
    ("sent", "whose"),
    [
        pytest.param(event({"weight": 2}), xid("checkedin"), id="handler"),
        pytest.param(event(subject="X"), "dead letters", id="dead letters"),
    ],
)
def test_an_asynchronous_handler_cannot_be_called_without_a_loop(sent: Any, whose: str) -> None:
    with pytest.raises(UsageError, match="await dispatch_async") as caught:
        asynchronous().dispatch(sent)
    assert f"the handler of {whose} is asynchronous" in str(caught.value)


def test_an_endpoint_dispatches_to_the_handlers_of_its_catalog() -> None:
    endpoints = {"belt": {"usage": ["consumer"], "messagegroups": ["/messagegroups/luggage"]}}
    whole = document(checkedin=CHECKED_IN) | {"endpoints": endpoints}
    catalog = MessageCatalog(load_bytes(json.dumps(whole).encode(), "belt.xreg.json"))
    catalog.on("checkedin")(named("checkedin"))
    result = catalog.endpoint("belt").messages.dispatch(event({"weight": 1}))
    assert isinstance(result, Handled)
    assert result.returned == "checkedin"


def test_an_unknown_definition_is_refused_at_once() -> None:
    with pytest.raises(UnknownDefinitionError) as caught:
        airport().on("chekedin")
    assert caught.value.near == (xid("checkedin"),)


def test_a_handler_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="for no definition"):
        airport().on()


def test_a_second_handler_is_refused() -> None:
    catalog = airport()
    catalog.on("loaded")(named("first"))
    with pytest.raises(UsageError, match=f"{xid('loaded')} has a handler already: named"):
        catalog.on(xid("loaded"))(named("second"))
    catalog.on_dead_letter(lambda raw, rejected: None)
    with pytest.raises(UsageError, match="dead letters have a handler already"):
        catalog.on_dead_letter(lambda raw, rejected: None)
