"""Messages that are no events and come again: found by the id that their sender gave the broker."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from heraldry.dialects.load import load_bytes
from heraldry.pipeline.replay import ReplaySettings, replay
from tests.pipeline.letters.lettering import land_lines, table_column
from tests.suites.streams import DRAFT_07, EVENTS, NUMBER, document, line, record

SPEED = {"dataschemaformat": DRAFT_07, "dataschema": record(speed=NUMBER)}
NATIVE = document(
    {
        "amqp": {
            "protocol": "AMQP/1.0",
            "protocoloptions": {"properties": [{"name": "to", "value": "belts/{belt}"}]},
            **SPEED,
        },
        "nats": {"protocol": "NATS", "protocoloptions": {"subject": "belts.{belt}"}, **SPEED},
    }
)
# None of these fits anything that is sent here.
REFUSING = document({"amqp": {"protocol": "MQTT/5.0"}})
ODD_IDS = document(
    {
        "odd": {
            "envelope": EVENTS,
            "envelopemetadata": {"type": {"value": "odd"}, "id": {"type": "any"}},
            **SPEED,
        }
    }
)


def amqp(belt: str, given: object) -> bytes:
    properties = {"to": f"belts/{belt}"} | ({} if given is None else {"message-id": given})
    return line(
        {"protocol": "AMQP/1.0", "metadata": {"properties": properties}, "payload": {"speed": 1}}
    )


def nats(belt: str, given: object) -> bytes:
    headers = {} if given is None else {"headers": {"Nats-Msg-Id": given}}
    metadata = {"subject": f"belts.{belt}", **headers}
    return line({"protocol": "NATS", "metadata": metadata, "payload": {"speed": 1}})


@pytest.mark.parametrize(
    ("table", "sent", "given"),
    [
        pytest.param("amqp", amqp, "m-1", id="amqp message-id"),
        pytest.param("amqp", amqp, 5, id="amqp message-id that is a number"),
        pytest.param("nats", nats, "m-1", id="Nats-Msg-Id"),
    ],
)
def test_a_native_message_that_comes_again_lands_once(
    tmp_path: Path, table: str, sent: Callable[[str, object], bytes], given: object
) -> None:
    """Twice in a batch, and once more in the next: beside it one of another id, then of a place."""
    again = sent("north", given)
    batches = ([again, again, sent("north", "other")], [again, sent("south", given)])
    done = [
        land_lines(tmp_path, NATIVE, lines, batch=batch, once=True)
        for batch, lines in enumerate(batches)
    ]
    assert [one.repeated for one in done] == [1, 1]
    assert [[(file.table, file.rows) for file in one.files] for one in done] == [
        [(f"default/shop/{table}", 2)],
        [(f"default/shop/{table}", 1)],
    ]
    rows = zip(
        *(
            table_column(tmp_path, f"default/shop/{table}", name)
            for name in ("_batch", "_position", "ctx_belt")
        ),
        strict=True,
    )
    assert sorted(rows) == [(0, "0+0", "north"), (0, "0+2", "north"), (1, "0+1", "south")]


@pytest.mark.parametrize("sent", [amqp, nats], ids=["amqp", "nats"])
def test_native_messages_without_an_id_land_each_time(
    tmp_path: Path, sent: Callable[[str, object], bytes]
) -> None:
    again = sent("north", None)
    done = [
        land_lines(tmp_path, NATIVE, lines, batch=batch, once=True)
        for batch, lines in enumerate(([again, again], [again]))
    ]
    assert [one.repeated for one in done] == [0, 0]
    assert len(table_column(tmp_path, f"default/shop/{sent.__name__}", "_position")) == 3


def stray(sent: bytes) -> bytes:
    """The message with one property of an event, which does not make it one."""
    found = json.loads(sent)
    if found["protocol"] == "AMQP/1.0":
        found["metadata"]["application-properties"] = {"cloudEvents:type": "t"}
    else:
        found["metadata"]["headers"]["ce-type"] = "t"
    return line(found)


def odd(given: object) -> bytes:
    told = {"specversion": "1.0", "type": "odd", "source": "/s", "id": given}
    return line({**told, "data": {"speed": 1}})


AGAIN = [
    pytest.param("amqp", NATIVE, stray(amqp("north", "m-1")), id="amqp with a stray attribute"),
    pytest.param("nats", NATIVE, stray(nats("north", "m-1")), id="nats with a stray attribute"),
    *(
        pytest.param("odd", ODD_IDS, odd(given), id=f"the id {json.dumps(given)}")
        for given in (5, True, 1.5, ["a"], {"a": 1}, 10**30)
    ),
]


@pytest.mark.parametrize(("table", "catalog", "sent"), AGAIN)
def test_a_row_that_is_hardly_an_event_lands_once(
    tmp_path: Path, table: str, catalog: bytes, sent: bytes
) -> None:
    done = [
        land_lines(tmp_path, catalog, [sent], batch=batch, source=str(batch), once=True)
        for batch in range(2)
    ]
    assert [one.repeated for one in done] == [0, 1]
    assert table_column(tmp_path, f"default/shop/{table}", "_source") == ["0"]


@pytest.mark.parametrize(("table", "catalog", "sent"), AGAIN)
def test_its_dead_letter_has_the_same_identity(
    tmp_path: Path, table: str, catalog: bytes, sent: bytes
) -> None:
    """It is sent again, then to a mended catalog, and its letter is replayed."""
    for batch, repeated in enumerate((0, 1)):
        refused = land_lines(tmp_path, REFUSING, [sent], batch=batch, source="letter", once=True)
        assert refused.repeated == repeated
    land_lines(tmp_path, catalog, [sent], batch=2, source="row", once=True)
    report = replay(load_bytes(catalog, "catalog"), ReplaySettings(warehouse=str(tmp_path)))
    assert (report.landed, report.repeated) == (0, 1)
    assert table_column(tmp_path, f"default/shop/{table}", "_source") == ["row"]
