"""Producers and consumers over HTTP on the loopback interface: built, sent, recognised, settled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

import heraldry
from heraldry.errors import (
    BuildError,
    HeraldryError,
    TransportError,
    UnknownDefinitionError,
    UsageError,
)
from heraldry.messages.catalog import MessageCatalog, MessageEndpoint
from heraldry.messages.handlers import Handled
from heraldry.messages.transports.consumer import Consumer, Received
from heraldry.messages.verdict import Rejected
from tests.messages.transports.loopback import (
    ORDER,
    PLACED,
    REVIEW,
    VALUES,
    events,
    free_address,
    post,
    run,
    shop,
)

BATCH = "application/cloudevents-batch+json"


async def take(consumer: Consumer, count: int, settle: str = "ack") -> list[Received]:
    """The next messages, each settled."""
    found: list[Received] = []
    async with aclosing(aiter(consumer)) as messages:
        async for received in messages:
            await getattr(received, settle)()
            found.append(received)
            if len(found) == count:
                break
    return found


async def sent(endpoint: MessageEndpoint, work: Callable[[Any], Any], count: int = 1) -> Any:
    """What a consumer gets of that which a producer does."""
    address = free_address()
    async with endpoint.consumer(address=address) as consumer:
        taking = asyncio.create_task(take(consumer, count))
        async with endpoint.producer(address=address) as producer:
            await work(producer)
        return await taking


def test_what_is_published_is_recognised(examples: Path) -> None:
    async def publish(producer: Any) -> None:
        await producer.publish("shop.order.placed", ORDER, **VALUES)
        await producer.publish(REVIEW, {"stars": 5}, shop="porto", lang="pt", site="x")

    order, review = run(sent(shop(examples).endpoint("shop-http"), publish, 2))
    assert (order.definition, order.values, order.data) == (PLACED, VALUES, ORDER)
    assert (review.definition, review.data) == (REVIEW, {"stars": 5})
    assert (order.ok, order.problems, review.ok) == (True, (), True)


def test_an_event_bound_to_no_protocol_is_sent_over_that_of_the_endpoint(examples: Path) -> None:
    catalog = shop(examples)
    message = catalog["shop.order.placed"].build(ORDER, **VALUES)
    assert message.protocol is None
    (found,) = run(sent(catalog.endpoint("shop-http"), lambda one: one.send(message)))
    assert (found.definition, found.message.attributes["id"]) == (PLACED, message.attributes["id"])


def test_a_message_of_another_protocol_is_not_sent(examples: Path) -> None:
    catalog = shop(examples)
    message = catalog["shop.payment.made"].sample()
    with pytest.raises(TransportError, match="of KAFKA cannot be sent over HTTP"):
        run(sent(catalog.endpoint("shop-http"), lambda one: one.send(message)))


@pytest.mark.parametrize(
    ("xid", "data", "values", "error"),
    [
        pytest.param(PLACED, {"total": -1}, VALUES, BuildError, id="payload"),
        pytest.param(PLACED, ORDER, {}, BuildError, id="no values"),
        pytest.param(PLACED, ORDER, {**VALUES, "x": "y"}, BuildError, id="unknown name"),
        pytest.param("shop.payment.made", ORDER, VALUES, UnknownDefinitionError, id="foreign"),
    ],
)
def test_what_is_refused_is_not_sent(
    xid: str, data: Any, values: dict[str, str], error: type[HeraldryError], examples: Path
) -> None:
    """Nobody listens, so sending would be another error."""
    endpoint = shop(examples).endpoint("shop-http")

    async def publish() -> None:
        async with endpoint.producer(address=free_address()) as producer:
            await producer.publish(xid, data, values=values)

    with pytest.raises(error):
        run(publish())


def test_a_definition_outside_the_contract_is_told_apart_from_one_that_is_not(
    examples: Path,
) -> None:
    endpoint = shop(examples).endpoint("shop-http")
    with pytest.raises(UnknownDefinitionError, match="the contract of /endpoints/shop-http has no"):
        endpoint["shop.payment.made"]


def test_a_producer_or_consumer_that_is_not_open_says_so(examples: Path) -> None:
    endpoint = shop(examples).endpoint("shop-http")

    async def closed() -> None:
        async with endpoint.producer(address=free_address()) as producer:
            pass
        with pytest.raises(UsageError, match="not open"):
            await producer.publish(PLACED, ORDER, **VALUES)
        with pytest.raises(UsageError, match="not open"):
            await take(endpoint.consumer(address=free_address()), 1)

    run(closed())


def with_options(folder: Path, examples: Path, url: str, **options: Any) -> MessageEndpoint:
    """The shop's endpoint with another address and other options."""
    document = json.loads((examples / "shop" / "shop.xreg.json").read_text())
    own = document["endpoints"]["shop-http"]
    own["protocoloptions"] = {"endpoints": [{"url": url}], **options}
    path = folder / "shop.xreg.json"
    path.write_text(json.dumps(document))
    return heraldry.open(path).endpoint("shop-http")


def test_placeholders_of_the_endpoint_take_the_values_of_message_and_connection(
    tmp_path: Path, examples: Path
) -> None:
    """The message's come first; one that only the endpoint asks for is none of the message's."""
    url = free_address().replace("127.0.0.1", "{host}")
    headers = [{"name": "x-shop", "value": "{shop} in {country}"}]
    endpoint = with_options(tmp_path, examples, f"{url}/{{stage}}", headers=headers)
    values = {"host": "127.0.0.1", "stage": "test", "shop": "nowhere", "country": "pt"}

    async def once() -> Received:
        async with endpoint.consumer(values=values) as consumer:
            taking = asyncio.create_task(take(consumer, 1))
            async with endpoint.producer(values=values) as producer:
                await producer.publish(PLACED, ORDER, **VALUES)
            return (await taking)[0]

    found = run(once())
    assert found.values == VALUES
    assert ("x-shop", "lisbon in pt") in found.raw.headers


def test_a_placeholder_of_the_endpoint_without_a_value_is_named(
    tmp_path: Path, examples: Path
) -> None:
    endpoint = with_options(tmp_path, examples, "http://{host}:1")
    with pytest.raises(TransportError, match=r"\{host\} has no value"):
        endpoint.producer()


async def settled(
    endpoint: MessageEndpoint, body: Any, content_type: str, work: Callable[[Received], Any]
) -> tuple[int, list[Received]]:
    """The answer to a request whose messages are settled by some work, and these messages."""
    found: list[Received] = []
    address = free_address()

    async def follow(consumer: Consumer) -> None:
        async for received in consumer:
            found.append(received)
            await work(received)

    async with endpoint.consumer(address=address) as consumer:
        following = asyncio.create_task(follow(consumer))
        status = await post(address, body, content_type)
        following.cancel()
        await asyncio.wait([following])
    return status, found


async def by_its_value(received: Received) -> None:
    await (received.ack() if received.ok else received.reject())


@pytest.mark.parametrize(
    ("body", "status", "good"),
    [
        pytest.param(events("abc"), 204, [True, True, True], id="all good"),
        pytest.param(
            [*events("a"), *events("b", type="x"), *events("c")], 422, [1, 0, 1], id="one is bad"
        ),
        pytest.param(events("a", data={}), 422, [False], id="payload"),
        pytest.param([], 204, [], id="no events"),
        pytest.param([{"specversion": "1.0"}], 422, [False], id="no event"),
        pytest.param({"not": "a batch"}, 422, [False], id="no batch"),
    ],
)
def test_a_batch_is_settled_as_a_whole(
    body: Any, status: int, good: list[bool], examples: Path
) -> None:
    endpoint = shop(examples).endpoint("shop-http")
    answer, found = run(settled(endpoint, body, BATCH, by_its_value))
    assert answer == status
    assert [one.ok for one in found] == good


def test_an_event_of_a_batch_is_settled_once(examples: Path) -> None:
    """The second word about an event counts neither for it nor for another one."""
    endpoint = shop(examples).endpoint("shop-http")
    answered: list[bool] = []

    async def twice(received: Received) -> None:
        await received.ack()
        await received.reject()
        answered.append(received.message is not None)

    status, _ = run(settled(endpoint, events("ab"), BATCH, twice))
    assert (status, answered) == (204, [True, True])


def test_bytes_that_are_no_message_are_received_with_the_reason(examples: Path) -> None:
    endpoint = shop(examples).endpoint("shop-http")
    status, (found,) = run(settled(endpoint, b"{", "application/cloudevents+json", by_its_value))
    assert (status, found.message, found.definition, found.data) == (422, None, None, None)
    assert (found.ok, found.values, found.problems[0].rule) == (False, {}, "json")


async def dispatched(catalog: MessageCatalog, *bodies: tuple[Any, str]) -> list[int]:
    """The answers to requests while the handlers of a catalog run."""
    address = free_address()
    async with catalog.endpoint("shop-http").consumer(address=address) as consumer:
        running = asyncio.create_task(consumer.run())
        answers = [await post(address, *body) for body in bodies]
        running.cancel()
        await asyncio.wait([running])
    return answers


def test_handlers_settle_what_they_take_and_dead_letters_are_rejected(examples: Path) -> None:
    catalog, seen = shop(examples), list[Any]()

    @catalog.on("shop.order.placed")
    async def placed(data: Any, match: Any) -> None:
        await asyncio.sleep(0)
        seen.append((match.values["shop"], data["total"]))

    @catalog.on_dead_letter
    def sidelined(raw: Any, rejected: Rejected) -> None:
        seen.append((rejected.stage, rejected.problems[0].rule))

    kind = "application/cloudevents+json"
    (good,), (bad,), (strange,) = events("a"), events("b", data={}), events("c", type="x")
    (cancelled,) = events("d", type="shop.order.cancelled", data={"order": "1", "reason": "no"})
    answers = run(
        dispatched(catalog, (good, kind), (bad, kind), (strange, kind), (cancelled, kind))
    )
    assert answers == [204, 422, 422, 422]
    stages = [one[0] for one in seen]
    assert stages == ["lisbon", "validate", "match", "handle"]


def test_what_a_handler_raises_ends_the_run_and_settles_nothing(examples: Path) -> None:
    catalog = shop(examples)

    @catalog.on("shop.order.placed")
    def placed(data: Any, match: Any) -> None:
        raise RuntimeError("the database is gone")

    @catalog.on_dead_letter
    def sidelined(raw: Any, rejected: Rejected) -> None:
        raise AssertionError

    async def once() -> int:
        address = free_address()
        async with catalog.endpoint("shop-http").consumer(address=address) as consumer:
            kind = "application/cloudevents+json"
            posting = asyncio.create_task(post(address, events("a")[0], kind))
            with pytest.raises(RuntimeError, match="the database is gone"):
                await consumer.run()
        return await posting

    assert run(once()) == 503, "the sender is to come again"


def test_a_run_without_a_handler_for_dead_letters_is_refused(examples: Path) -> None:
    catalog = shop(examples)
    catalog.on(PLACED)(lambda data, match: Handled)

    async def once() -> None:
        async with catalog.endpoint("shop-http").consumer(address=free_address()) as consumer:
            await consumer.run()

    with pytest.raises(UsageError, match="they would be lost"):
        run(once())


def test_leaving_the_loop_leaves_nothing_behind(examples: Path) -> None:
    """A plain `break` is enough; warnings are errors, so a task or socket left open would show."""
    endpoint = shop(examples).endpoint("shop-http")

    async def once() -> str | None:
        address = free_address()
        async with endpoint.consumer(address=address) as consumer:
            kind = "application/cloudevents+json"
            posting = asyncio.create_task(post(address, events("a")[0], kind))
            async for received in consumer:
                await received.ack()
                break
            assert await posting == 204
            return received.definition

    assert run(once()) == PLACED
