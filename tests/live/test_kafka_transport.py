"""Kafka against a broker: what is published comes, at least once, and in order."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from heraldry.errors import TransportError
from heraldry.messages.protocols.kafka import KafkaRecord
from heraldry.messages.transports import kafka_consumer
from heraldry.messages.transports.kafka_consumer import KafkaConsumer
from heraldry.messages.transports.transport import Delivery
from tests.live.kafka_wire import (
    both,
    new_topic,
    numbered,
    publish,
    read,
    run,
    take,
    texts,
    transport,
)
from tests.live.servers.kafka import KafkaServer, broker, create_topic, prepare
from tests.messages.wires import raws

FULL = KafkaRecord(
    key=b"\x00key\xff",
    headers=(
        ("a", b"1"),
        ("größer 漢字", "Straße 🎈".encode()),
        ("a", b"2"),
        ("empty", b""),
        ("null", None),
        ("binary", b"\xff\x00"),
    ),
    value=b'{"n":1}',
)


@pytest.fixture
def topic(kafka: KafkaServer) -> str:
    return new_topic(kafka, "topic")


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(FULL, id="every property"),
        pytest.param(KafkaRecord(), id="nothing at all"),
        pytest.param(KafkaRecord(key=b"", value=b""), id="empty key and value"),
        pytest.param(KafkaRecord(value=bytes(range(256))), id="binary"),
        pytest.param(KafkaRecord(value=b"x" * 1_000_000), id="1 MB"),
    ],
)
def test_what_is_published_comes(kafka: KafkaServer, topic: str, record: KafkaRecord) -> None:
    async def work() -> list[Delivery]:
        async with both(kafka, topic) as (writer, reader):
            await writer.publish(record)
            return await take(reader, 1)

    (found,) = run(work())
    assert found.raw == replace(record, topic=topic, partition=0)
    assert found.position == f"{topic}/0/0"


def test_drawn_records_come(kafka: KafkaServer, topic: str) -> None:
    with asyncio.Runner() as runner:
        opened = both(kafka, topic)
        writer, reader = runner.run(opened.__aenter__())

        @settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
        @given(raws("KAFKA"))
        def check(drawn: KafkaRecord) -> None:
            record = replace(drawn, topic=topic, partition=0)

            async def there_and_back() -> list[Delivery]:
                await writer.publish(record)
                return await take(reader, 1)

            assert runner.run(there_and_back())[0].raw == record

        check()
        runner.run(opened.__aexit__(None, None, None))


def test_many_at_once_keep_their_order(kafka: KafkaServer, topic: str) -> None:
    async def work() -> list[Delivery]:
        async with both(kafka, topic, acks=-1) as (writer, reader):
            await asyncio.gather(*map(writer.publish, numbered(0, 3000)))
            return await take(reader, 3000)

    assert texts(run(work())) == [str(n) for n in range(3000)]


def test_the_endpoint_fills_what_a_record_leaves_open(kafka: KafkaServer) -> None:
    name = new_topic(kafka, "shop.lisbon", partitions=3)
    shop = name.removeprefix("shop.")
    options = {
        "topic": "shop.{shop}",
        "key": "{shop}-key",
        "partition": 2,
        "headers": {"origin": "{shop}", "kind": "endpoint"},
        "acks": -1,
    }
    own = KafkaRecord(topic=name, key=b"own", partition=1, headers=(("kind", b"own"),))

    async def work() -> list[Delivery]:
        async with transport(kafka.address, "producer", **options) as writer:
            await writer.publish(KafkaRecord(), {"shop": shop})
            await writer.publish(own, {"shop": shop})
        return await read(kafka.address, 2, topic=name)

    found = {delivery.raw.partition: delivery.raw for delivery in run(work())}
    assert found[2] == KafkaRecord(
        topic=name,
        partition=2,
        key=f"{shop}-key".encode(),
        headers=(("origin", shop.encode()), ("kind", b"endpoint")),
    )
    assert found[1] == replace(own, headers=(("kind", b"own"), ("origin", shop.encode())))


@pytest.mark.parametrize("group", [None, "patterns"], ids=["alone", "in a group"])
def test_an_open_placeholder_reads_every_topic(kafka: KafkaServer, group: str | None) -> None:
    start = f"sales-{group}"
    names = {create_topic(kafka, f"{start}.{shop}.till") for shop in ("porto", "faro")}
    create_topic(kafka, f"{start}.porto.other")

    async def work() -> list[Delivery]:
        for name in names:
            await publish(kafka.address, KafkaRecord(), topic=name)
        options = {"consumergroup": group} if group else {}
        return await read(kafka.address, 2, topic=start + ".{shop}.till", **options)

    assert {delivery.raw.topic for delivery in run(work())} == names


def test_only_the_partition_of_the_endpoint_is_read(kafka: KafkaServer) -> None:
    name = new_topic(kafka, "two", partitions=2)
    records = [replace(record, partition=n % 2) for n, record in enumerate(numbered(0, 6))]

    async def work() -> list[Delivery]:
        await publish(kafka.address, *records, topic=name)
        options = {"topic": name, "partition": 1, "consumergroup": f"g-{name}"}
        return await read(kafka.address, 2, **options) + await read(kafka.address, 1, **options)

    assert texts(run(work())) == ["1", "3", "5"]


def test_a_group_goes_on_after_what_was_acked(kafka: KafkaServer, topic: str) -> None:
    options = {"topic": topic, "consumergroup": f"g-{topic}"}

    async def work() -> tuple[list[Delivery], list[Delivery]]:
        await publish(kafka.address, *numbered(0, 5), topic=topic)
        first = await read(kafka.address, 2, **options)
        await read(kafka.address, 2, ack=False, **options)
        return first, await read(kafka.address, 3, **options)

    first, second = run(work())
    assert (texts(first), texts(second)) == (["0", "1"], ["2", "3", "4"])


def test_an_ack_out_of_order_waits_for_those_before_it(kafka: KafkaServer, topic: str) -> None:
    options = {"topic": topic, "consumergroup": f"g-{topic}"}

    async def work() -> list[list[Delivery]]:
        await publish(kafka.address, *numbered(0, 4), topic=topic)
        found = []
        for settled in ((2, 1), (1, 2, 0)):
            reader = transport(kafka.address, "consumer", autooffsetreset="earliest", **options)
            async with reader as one:
                found.append(await take(one, 4, ack=False))
                for number in settled:
                    await found[-1][number].reject()
                await found[-1][settled[0]].ack()  # once more has no effect
        return [*found, await read(kafka.address, 1, **options)]

    assert [texts(one) for one in run(work())] == [["0", "1", "2", "3"]] * 2 + [["3"]]


def test_autocommit_commits_what_was_acked(kafka: KafkaServer, topic: str) -> None:
    options = {"topic": topic, "consumergroup": f"g-{topic}", "enableautocommit": True}

    async def work() -> list[Delivery]:
        await publish(kafka.address, *numbered(0, 4), topic=topic)
        await read(kafka.address, 2, **options)
        return await read(kafka.address, 2, **options)

    assert texts(run(work())) == ["2", "3"]


def test_members_of_a_group_come_and_go(kafka: KafkaServer) -> None:
    """A topic goes over from one to two members and to the other one, and nothing is lost."""
    name = new_topic(kafka, "shared", partitions=2)
    options = {"topic": name, "consumergroup": f"g-{name}", "autooffsetreset": "earliest"}
    found: dict[str, list[Delivery]] = {"first": [], "second": []}
    sent: list[str] = []
    acknowledging: set[str] = set()

    async def member(which: str) -> None:
        reader = transport(kafka.address, "consumer", **options)
        async with reader, aclosing(reader.consume()) as deliveries:
            async for delivery in deliveries:
                found[which].append(delivery)
                acknowledging.add(which)
                await delivery.ack()
                acknowledging.remove(which)

    async def until(which: str, number: int) -> None:
        async with transport(kafka.address, "producer", topic=name) as writer:
            while len(found[which]) < number:
                sent.append(str(len(sent)))
                record = KafkaRecord(value=sent[-1].encode(), partition=len(sent) % 2)
                await writer.publish(record)
                await asyncio.sleep(0.002)

    async def work() -> list[Delivery]:
        first = asyncio.create_task(member("first"))
        await until("first", 20)
        second = asyncio.create_task(member("second"))
        await until("second", 20)
        first.cancel()
        await until("second", len(found["second"]) + 20)
        while {*texts(found["first"]), *texts(found["second"])} != set(sent) or (
            "second" in acknowledging  # what is cut short comes again
        ):
            await asyncio.sleep(0.02)
        second.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        await publish(kafka.address, KafkaRecord(value=b"next"), topic=name)
        return await read(kafka.address, 1, **options)

    assert texts(run(work())) == ["next"]


def test_without_a_group_latest_is_all_after_connecting(kafka: KafkaServer, topic: str) -> None:
    async def work() -> list[Delivery]:
        await publish(kafka.address, *numbered(0, 3), topic=topic)
        async with both(kafka, topic) as (writer, reader):
            await writer.publish(KafkaRecord(value=b"new"))
            return await take(reader, 1)

    assert texts(run(work())) == ["new"]


def test_a_slow_program_loses_nothing_and_queues_little(
    kafka: KafkaServer, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_consumer, "WAITING", 10)
    longest = 0

    async def work() -> list[Delivery]:
        nonlocal longest
        async with transport(kafka.address, "producer", topic=topic) as writer:
            await asyncio.gather(*map(writer.publish, numbered(0, 500)))
        found = []
        options = {"topic": topic, "autooffsetreset": "earliest"}
        async with transport(kafka.address, "consumer", **options) as reader:
            assert isinstance(reader, KafkaConsumer)
            await asyncio.sleep(0.5)
            async with aclosing(reader.consume()) as deliveries:
                async for delivery in deliveries:
                    found.append(delivery)
                    longest = max(longest, reader._queue.qsize())
                    if len(found) == 500:
                        break
                    if len(found) % 100 == 0:
                        await asyncio.sleep(0.3)
        return found

    assert texts(run(work())) == [str(n) for n in range(500)]
    assert longest <= 20


def test_cancelled_publishing_and_consuming_end_cleanly(kafka: KafkaServer, topic: str) -> None:
    async def work() -> list[Delivery]:
        async with both(kafka, topic) as (writer, reader):
            waiting = asyncio.create_task(take(reader, 1))
            sending = asyncio.create_task(writer.publish(KafkaRecord(value=b"given up")))
            await asyncio.sleep(0)
            for task in (sending, waiting):
                task.cancel()
            await asyncio.gather(waiting, sending, return_exceptions=True)
            await writer.publish(KafkaRecord(value=b"last"))
            return await take(reader, 1)

    assert texts(run(work()))[0] in ("given up", "last")


def test_an_ack_after_the_end_says_so(kafka: KafkaServer, topic: str) -> None:
    async def work() -> None:
        await publish(kafka.address, KafkaRecord(value=b"x"), topic=topic)
        options = {"topic": topic, "consumergroup": f"g-{topic}"}
        (late,) = await read(kafka.address, 1, ack=False, **options)
        with pytest.raises(TransportError, match="the consumer is closed"):
            await late.ack()

    run(work())


def test_a_restart_of_the_broker_is_survived(tmp_path: Path) -> None:
    server = prepare(tmp_path)

    async def work() -> list[Delivery]:
        with broker(server, tmp_path):
            create_topic(server, "kept")
            reader = transport(
                *(server.address, "consumer"),
                topic="kept",
                consumergroup="g",
                autooffsetreset="earliest",
            )
            writer = transport(server.address, "producer", topic="kept", acks=-1)
            await writer.__aenter__()
            await reader.__aenter__()
            await writer.publish(KafkaRecord(value=b"before"))
            found = await take(reader, 1)
        sending = asyncio.create_task(writer.publish(KafkaRecord(value=b"meanwhile")))
        await asyncio.sleep(0.5)
        with broker(server, tmp_path):
            await sending
            await writer.publish(KafkaRecord(value=b"after"))
            found += await take(reader, 2)
            await writer.__aexit__(None, None, None)
            await reader.__aexit__(None, None, None)
        return found

    assert texts(run(work(), 120)) == ["before", "meanwhile", "after"]
