"""Messages that are no events and come again: found by the id that their sender gave the broker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.pipeline.letters.lettering import land_lines, table_column
from tests.suites.streams import DRAFT_07, NUMBER, document, line, record

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
