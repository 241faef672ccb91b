from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import heraldry
from heraldry.cli import main
from heraldry.cli.wire import show
from heraldry.dialects.load import load
from heraldry.messages.verdict import Match
from heraldry.model.inherit import definitions

PLACED = "/messagegroups/orders/messages/placed"
GIVEN = (
    "--set",
    "shop=lisbon",
    "--set",
    "order=4711",
    "--data",
    '{"customer": "Inês", "total": 9}',
)


def build(catalog: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["build", "--catalog", str(catalog), *arguments])


def test_a_cloudevent_is_shown_as_json(examples: Path) -> None:
    result = build(examples / "orders", PLACED, *GIVEN, "--seed", "1")
    assert (result.exit_code, result.stderr) == (0, "")
    assert (
        result.stdout
        == """\
{
  "id": "6e5cda84-4b4c-42eb-838b-9ce3a7740757",
  "source": "/shops/lisbon",
  "type": "com.example.orders.placed",
  "specversion": "1.0",
  "subject": "4711",
  "time": "2026-01-01T00:00:00.000Z",
  "datacontenttype": "application/json",
  "data": {
    "customer": "Inês",
    "total": 9
  }
}
"""
    )


def test_over_http_it_is_a_request(examples: Path) -> None:
    result = build(examples / "orders", PLACED, *GIVEN, "--seed", "1", "--as", "http")
    assert (
        result.stdout
        == """\
POST / HTTP/1.1
ce-id: 6e5cda84-4b4c-42eb-838b-9ce3a7740757
ce-source: /shops/lisbon
ce-type: com.example.orders.placed
ce-specversion: 1.0
ce-subject: 4711
ce-time: 2026-01-01T00:00:00.000Z
content-type: application/json

{
  "customer": "Inês",
  "total": 9
}
"""
    )


def test_over_kafka_it_is_a_record(examples: Path) -> None:
    result = build(examples / "orders", PLACED, *GIVEN, "--seed", "1", "--as", "kafka")
    assert (
        result.stdout
        == """\
KAFKA
headers:
  ce_id: 6e5cda84-4b4c-42eb-838b-9ce3a7740757
  ce_source: /shops/lisbon
  ce_type: com.example.orders.placed
  ce_specversion: 1.0
  ce_subject: 4711
  ce_time: 2026-01-01T00:00:00.000Z
  content-type: application/json
value:
{
  "customer": "Inês",
  "total": 9
}
"""
    )


def test_over_amqp_it_has_sections(examples: Path) -> None:
    result = build(examples / "orders", PLACED, *GIVEN, "--seed", "1", "--as", "amqp")
    assert (
        result.stdout
        == """\
AMQP/1.0
properties:
  content-type: application/json
application-properties:
  cloudEvents_id: 6e5cda84-4b4c-42eb-838b-9ce3a7740757
  cloudEvents_source: /shops/lisbon
  cloudEvents_type: com.example.orders.placed
  cloudEvents_specversion: 1.0
  cloudEvents_subject: 4711
  cloudEvents_time: 2026-01-01T00:00:00.000Z
body:
{
  "customer": "Inês",
  "total": 9
}
"""
    )


@pytest.mark.parametrize(
    ("shape", "protocol"),
    [
        pytest.param("http", "HTTP", id="http"),
        pytest.param("amqp", "AMQP/1.0", id="amqp"),
        pytest.param("mqtt", "MQTT/5.0", id="mqtt"),
        pytest.param("mqtt3", "MQTT/3.1.1", id="mqtt3"),
        pytest.param("kafka", "KAFKA", id="kafka"),
        pytest.param("nats", "NATS", id="nats"),
    ],
)
def test_every_shape_is_a_line_that_is_matched(shape: str, protocol: str, examples: Path) -> None:
    result = build(examples / "orders", PLACED, *GIVEN, "--as", shape, "--format", "json")
    assert json.loads(result.stdout)["protocol"] == protocol
    matched = heraldry.open(examples / "orders").match(result.stdout)
    assert isinstance(matched, Match)
    assert (str(matched.definition.xid), matched.values["shop"]) == (PLACED, "lisbon")


def test_values_with_types_are_shown_plainly() -> None:
    line = {
        "protocol": "AMQP/1.0",
        "metadata": {
            "properties": {
                "message-id": {"uuid": "00000000-0000-4000-8000-000000000001"},
                "user-id": {"base64": "/w=="},
                "creation-time": {"timestamp": "2026-01-01T00:00:00.000Z"},
            },
            "application-properties": {"base64": "x", "count": 5},
        },
    }
    assert (
        show(json.dumps(line).encode())
        == """\
AMQP/1.0
properties:
  message-id: 00000000-0000-4000-8000-000000000001
  user-id: {"base64": "/w=="}
  creation-time: 2026-01-01T00:00:00.000Z
application-properties:
  base64: x
  count: 5"""
    )


def test_parameters_may_repeat() -> None:
    query = [{"name": "a", "value": "1 2"}, {"name": "a", "value": "3"}]
    line = {"protocol": "HTTP", "metadata": {"method": "GET", "path": "/x", "query": query}}
    assert show(json.dumps(line).encode()) == "GET /x?a=1+2&a=3 HTTP/1.1"


def test_a_payload_gives_the_terminal_no_commands() -> None:
    line = {"protocol": "NATS", "metadata": {}, "payload_text": "ü\n\x1b[2J"}
    assert show(json.dumps(line).encode()) == 'NATS\npayload:\n"ü\\n\\u001b[2J"'
    assert show(json.dumps(line | {"payload_text": "ü\n"}).encode()) == "NATS\npayload:\nü\n"


def test_a_value_that_is_no_text_is_refused(examples: Path) -> None:
    result = build(examples / "orders", PLACED, *GIVEN, "--set", "shop=\udcff")
    assert result.exit_code == 1
    assert "shop: is a value that no message can hold [type]" in result.stderr


def test_a_native_mqtt_message(examples: Path) -> None:
    data = '{"at": "2026-06-01T04:00:00Z", "sequence": 1, "speed": 1.2, "load": 40}'
    given = ("--set", "airport=MUC", "--set", "belt=7", "--data", data)
    result = build(examples / "airport", "reading", *given)
    assert (
        result.stdout
        == """\
MQTT/5.0
qos: 0
retain: false
topic_name: airports/MUC/belts/7/readings
content_type: application/json
payload:
{
  "at": "2026-06-01T04:00:00Z",
  "sequence": 1,
  "speed": 1.2,
  "load": 40
}
"""
    )


def test_every_problem_is_listed(examples: Path) -> None:
    result = build(examples / "orders", PLACED, "--set", "shop=x", "--data", '{"total": "much"}')
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.splitlines()[0] == f"heraldry: {PLACED} refuses this message:"
    assert "  attributes.subject: {order} has no value [placeholder]" in result.stderr
    assert "misses the required property 'customer'" in result.stderr
    assert "  /total: is not of type number" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param(("--set", "shop"), "--set shop cannot be read", id="set-without-value"),
        pytest.param(("--data", "{"), "--data is not JSON", id="data-not-json"),
        pytest.param(("--data", "@nowhere"), "--data @nowhere cannot be read", id="no-such-file"),
        pytest.param(("--raw", "--sample"), "--raw does not go with --sample", id="raw-sample"),
    ],
)
def test_usage_errors(arguments: tuple[str, ...], told: str, examples: Path) -> None:
    result = build(examples / "orders", PLACED, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"heraldry: {told}")


@pytest.mark.parametrize(
    ("shape", "told"),
    [
        pytest.param("kafka", "is bound to MQTT/5.0", id="another-protocol"),
        pytest.param("cloudevents-json", "this message is no CloudEvent", id="no-envelope"),
    ],
)
def test_a_shape_the_definition_does_not_have(shape: str, told: str, examples: Path) -> None:
    result = build(examples / "airport", "reading", "--sample", "--as", shape)
    assert result.exit_code == 2
    assert told in result.stderr


def test_a_name_that_several_have_is_refused_with_both(examples: Path) -> None:
    result = build(examples / "airport", "loaded", "--sample")
    assert result.exit_code == 2
    assert "did you mean /messagegroups/luggage/messages/loaded or " in result.stderr


def test_data_from_a_file(examples: Path, tmp_path: Path) -> None:
    file = tmp_path / "order.json"
    file.write_text('{\n  "customer": "Liv",\n  "total": 123456789012345678901234567890\n}')
    given = ("--set", "shop=x", "--set", "order=y", "--data", f"@{file}", "--format", "json")
    result = build(examples / "orders", PLACED, *given)
    assert result.exit_code == 0, result.stderr
    assert '"total":123456789012345678901234567890' in result.stdout


def test_values_are_encoded_unless_raw(examples: Path) -> None:
    given = ("--set", "shop=a/b c", "--set", "order=1", *GIVEN[4:], "-o", "json")
    encoded = json.loads(build(examples / "orders", PLACED, *given).stdout)
    assert encoded["source"] == "/shops/a%2Fb%20c"
    raw = json.loads(build(examples / "orders", PLACED, *given, "--raw").stdout)
    assert raw["source"] == "/shops/a/b c"


def test_the_same_seed_makes_the_same_messages(examples: Path) -> None:
    arguments = (PLACED, "--sample", "--seed", "3", "--count", "3", "--format", "json")
    first, second = (build(examples / "orders", *arguments).stdout for _ in range(2))
    assert first == second
    assert len(set(first.splitlines())) == 3


AIRPORT = [
    str(xid) for xid in definitions(load(Path(__file__).parents[2] / "examples" / "airport"))
]


@pytest.mark.parametrize("shape", ["native", "cloudevents-json", "http", "kafka", "mqtt"])
@pytest.mark.parametrize(
    "xid", AIRPORT, ids=[xid.split("/")[2] + "." + xid.split("/")[4] for xid in AIRPORT]
)
def test_what_build_writes_match_reads(xid: str, shape: str, examples: Path) -> None:
    chosen = () if shape == "native" else ("--as", shape)
    built = build(examples / "airport", xid, "--sample", *chosen, "-o", "json")
    if built.exit_code == 2:
        assert "bound to" in built.stderr or "no CloudEvent" in built.stderr
        return
    assert built.stdout.count("\n") == 1
    arguments = ["match", "--catalog", str(examples / "airport"), "-o", "json"]
    matched = CliRunner().invoke(main, arguments, input=built.stdout)
    assert json.loads(matched.stdout)["definition"] == xid
    assert matched.exit_code == 0
