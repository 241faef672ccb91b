"""Names of formats, protocols and envelopes: many spellings, one meaning."""

from __future__ import annotations

import pytest

from heraldry.model.formats import family, is_cloudevents, present, protocol_family


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("JSONSchema/Draft-07", ("jsonschema", "draft-07"), id="case"),
        pytest.param("XMLSchema/1.1", ("xsd", "1.1"), id="xml-schema"),
        pytest.param("XSD/1.1", ("xsd", "1.1"), id="xsd"),
        pytest.param("Protobuf/3.0", ("protobuf", "3"), id="trailing-zero"),
        pytest.param("Avro/1.9.0", ("avro", "1.9"), id="patch-zero"),
        pytest.param("Avro", ("avro", ""), id="no-version"),
        pytest.param("", ("", ""), id="empty"),
    ],
)
def test_schema_formats_have_a_family(text: str, expected: tuple[str, str]) -> None:
    assert family(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Kafka/0.11", ("KAFKA", "0.11"), id="kafka-version"),
        pytest.param("kafka", ("KAFKA", ""), id="kafka"),
        pytest.param("MQTT", ("MQTT", "5.0"), id="mqtt-is-5"),
        pytest.param("mqtt/5", ("MQTT", "5.0"), id="mqtt-short"),
        pytest.param("MQTT/3.1.1", ("MQTT", "3.1.1"), id="mqtt-3"),
        pytest.param("amqp", ("AMQP", "1.0"), id="amqp-is-1"),
        pytest.param("HTTP/1.1", ("HTTP", "1.1"), id="http"),
        pytest.param("None", ("", ""), id="none-is-absent"),
        pytest.param("", ("", ""), id="empty-is-absent"),
        pytest.param(None, ("", ""), id="absent"),
    ],
)
def test_protocols_have_a_family(text: str | None, expected: tuple[str, str]) -> None:
    assert protocol_family(text) == expected


@pytest.mark.parametrize(
    ("envelope", "expected"),
    [
        pytest.param("CloudEvents/1.0", True, id="name"),
        pytest.param("cloudevents", True, id="shorthand"),
        pytest.param("CloudEvents/0.3", False, id="older"),
        pytest.param("SOAP/1.2", False, id="other"),
        pytest.param(None, False, id="absent"),
    ],
)
def test_cloudevents_is_recognised(envelope: str | None, expected: bool) -> None:
    assert is_cloudevents(envelope) is expected


def test_a_name_that_says_none_is_absent() -> None:
    assert [present(n) for n in ("None", " none ", "", 5, None, "X")] == [None] * 5 + ["X"]
