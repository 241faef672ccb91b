"""The rules of messages and endpoints when they are written to a registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from heraldry.dialects.xreg_1_0 import canonical
from heraldry.errors import RegistryError
from heraldry.registry.registry import Registry
from tests.registry.asking import ask, refused, registry

MESSAGE = "/messagegroups/g/messages/m"
CLOUDEVENT = {
    "envelope": "CloudEvents/1.0",
    "envelopemetadata": {"type": {"value": "a.b", "required": True}},
}


@pytest.fixture
def messaging() -> Registry:
    """A new registry for messages."""
    return registry("messaging")


def told(error: RegistryError) -> tuple[str, str, str]:
    """The error's subject, property and rule."""
    assert error.name == "invalid_attribute"
    detail = error.arguments["error_detail"]
    return error.subject, error.arguments["name"], detail[detail.rindex("(") + 1 : -1]


@pytest.mark.parametrize(
    ("given", "name", "rule"),
    [
        pytest.param(
            {"envelope": "CloudEvents/1.1"},
            "envelope",
            "M7",
            id="envelope",
        ),
        pytest.param({"protocol": "A/B/C"}, "protocol", "M10", id="protocol"),
        pytest.param(
            {"basemessage": "messages/m"},
            "basemessage",
            "M14",
            id="base",
        ),
        pytest.param(
            {"dataschema": {"type": "string"}},
            "dataschema",
            "M23",
            id="schema-without-format",
        ),
        pytest.param(
            {
                "dataschemaformat": "JsonSchema/draft-07",
                "dataschema": {},
                "dataschemauri": "/schemagroups/g/schemas/s",
            },
            "dataschema",
            "M25",
            id="two-schemas",
        ),
        pytest.param(
            {"datacontenttype": "json"},
            "datacontenttype",
            "M32",
            id="content-type",
        ),
        pytest.param(
            {"protocoloptions": []},
            "protocoloptions",
            "M68",
            id="options-array",
        ),
        pytest.param(
            {
                "envelope": "CloudEvents/1.0",
                "envelopemetadata": {"type": {"value": 1, "type": "strange"}},
            },
            "envelopemetadata.type.type",
            "M35",
            id="property-type",
        ),
        pytest.param(
            {
                "protocol": "KAFKA",
                "protocoloptions": {"key": "a", "key_base64": "YQ=="},
            },
            "protocoloptions.key_base64",
            "M62",
            id="two-keys",
        ),
        pytest.param(
            {"protocol": "HTTP", "protocoloptions": {"headers": [{"value": "x"}]}},
            "protocoloptions.headers[0]",
            "M54",
            id="header-without-name",
        ),
    ],
)
@pytest.mark.parametrize("groups", ["messagegroups", "endpoints"])
def test_a_broken_rule_is_refused_with_the_property_and_the_rule(
    messaging: Registry, groups: str, given: dict[str, Any], name: str, rule: str
) -> None:
    path = f"/{groups}/g/messages/m"
    if groups == "endpoints":
        ask(messaging, "put", "/endpoints/g", {"usage": ["producer"]})
    error = refused(messaging, "put", path, given)
    assert told(error) == (f"{path}/versions/1", name, rule)
    assert error.detail
    assert refused(messaging, "get", path).name == "not_found"


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"envelope": "CloudEvents"}, id="C11-no-version"),
        pytest.param({"protocol": "None"}, id="C54-none"),
        pytest.param({"envelope": "CloudEvents/1.0"}, id="C17-no-metadata"),
        pytest.param({"protocol": "kafka", "protocoloptions": {}}, id="C11-any-case"),
        pytest.param(
            {
                "protocol": "MQTT/5.0",
                "protocoloptions": {"topic-name": "a", "payload_format_indicator": 1},
            },
            id="C5-C6-names",
        ),
        pytest.param({"basemessageuri": "/messagegroups/x/messages/y"}, id="C13-C53-base"),
        pytest.param({"dataschemaformat": "Avro", "dataschema": '"string"'}, id="C44-no-version"),
        pytest.param({"x": {"Any": [1, None]}, "shoesize": 4}, id="C34-extensions"),
    ],
)
def test_what_a_tolerant_rule_accepts_is_stored_as_given(
    messaging: Registry, given: dict[str, Any]
) -> None:
    stored = ask(messaging, "put", MESSAGE, given)
    assert stored | given == stored


def test_a_message_has_the_envelope_and_protocol_of_its_group(messaging: Registry) -> None:
    ask(messaging, "put", "/messagegroups/g", {"envelope": "CloudEvents/1.0", "protocol": "KAFKA"})
    ask(messaging, "put", MESSAGE, CLOUDEVENT)
    error = refused(messaging, "patch", MESSAGE, {"protocol": "NATS"})
    assert told(error) == (f"{MESSAGE}/versions/1", "protocol", "M12")


def test_a_group_does_not_get_another_envelope_than_its_messages(messaging: Registry) -> None:
    ask(messaging, "put", MESSAGE, CLOUDEVENT)
    error = refused(messaging, "patch", "/messagegroups/g", {"envelope": "Other/1.0"})
    assert told(error) == (f"{MESSAGE}/versions/1", "envelope", "M8")
    ask(messaging, "patch", "/messagegroups/g", {"envelope": "CloudEvents/1.0"})


def test_bases_that_come_back_are_refused_also_in_one_request(messaging: Registry) -> None:
    names = ("a", "b", "c")
    circle = {
        name: {"basemessage": f"/messagegroups/g/messages/{base}"}
        for name, base in zip(names, (*names[1:], names[0]), strict=True)
    }
    error = refused(messaging, "post", "/messagegroups/g/messages", circle)
    assert told(error)[1:] == ("basemessage", "M18")
    circle["c"] = {}
    ask(messaging, "post", "/messagegroups/g/messages", circle)
    error = refused(
        messaging,
        "put",
        "/messagegroups/g/messages/c",
        {"basemessage": "/messagegroups/g/messages/a"},
    )
    assert told(error)[1:] == ("basemessage", "M18")


@pytest.mark.covers("GN-10")
def test_a_base_may_be_missing(messaging: Registry) -> None:
    ask(messaging, "put", MESSAGE, {"basemessage": "/messagegroups/x/messages/none"})
    ask(messaging, "put", MESSAGE, {"basemessage": "https://elsewhere.example/messages/m"})


def test_what_is_inherited_counts(messaging: Registry) -> None:
    ask(messaging, "put", "/messagegroups/g/messages/base", {"dataschemaformat": "Avro/1.11"})
    own = {"dataschema": {"type": "string"}, "basemessage": "/messagegroups/g/messages/base"}
    ask(messaging, "put", MESSAGE, own)
    assert told(refused(messaging, "patch", MESSAGE, {"basemessage": None}))[2] == "M23"


def test_two_names_of_a_schema_mean_the_same_one(messaging: Registry) -> None:
    for name in ("one", "two"):
        ask(messaging, "put", f"/schemagroups/g/schemas/{name}$details", {"schema": {}})
    same = {
        "dataschemaformat": "JsonSchema/draft-07",
        "dataschemaxid": "/schemagroups/g/schemas/one",
        "dataschemauri": "/schemagroups/g/schemas/one/versions/1",
    }
    ask(messaging, "put", MESSAGE, same)
    other = same | {"dataschemauri": "/schemagroups/g/schemas/two"}
    assert told(refused(messaging, "put", MESSAGE, other))[1:] == ("dataschemauri", "M28")


def test_each_version_of_a_message_is_checked(messaging: Registry) -> None:
    ask(messaging, "put", MESSAGE, CLOUDEVENT)
    versions = {"v2": {}, "v3": {"datacontenttype": "json"}}
    error = refused(messaging, "post", f"{MESSAGE}/versions", versions)
    assert told(error) == (f"{MESSAGE}/versions/v3", "datacontenttype", "M32")


@pytest.mark.parametrize(
    ("given", "name"),
    [
        pytest.param({"usage": ["buyer"]}, "usage[0]", id="usage"),
        pytest.param(
            {
                "usage": ["producer"],
                "protocol": "MQTT/5.0",
                "protocoloptions": {"qos": 3},
            },
            "protocoloptions.qos",
            id="option",
        ),
    ],
)
def test_the_rules_of_endpoints_hold_on_write(
    messaging: Registry, given: dict[str, Any], name: str
) -> None:
    error = refused(messaging, "put", "/endpoints/e", given)
    assert told(error)[:2] == ("/endpoints/e", name)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"usage": "producer"}, id="C38-text"),
        pytest.param(
            {
                "usage": ["producer"],
                "protocol": "KAFKA",
                "endpoints": [{"uri": "kafka://h:1"}],
                "deployed": False,
            },
            id="C41-beside",
        ),
        pytest.param(
            {
                "usage": ["consumer"],
                "protocol": "KAFKA",
                "protocoloptions": {
                    "endpoints": [{"bootstrap.servers": "h:1"}],
                    "options": {"consumer-group": "g", "topic": "t"},
                },
            },
            id="C52-options",
        ),
    ],
)
def test_endpoints_are_read_tolerantly(messaging: Registry, given: dict[str, Any]) -> None:
    stored = ask(messaging, "put", "/endpoints/e", given)
    assert stored | given == stored


def test_a_borrowed_message_fits_the_group_that_borrows_it(messaging: Registry) -> None:
    ask(messaging, "put", MESSAGE, CLOUDEVENT)
    ask(messaging, "put", "/endpoints/e", {"usage": ["producer"], "envelope": "Other/1.0"})
    error = refused(messaging, "put", "/endpoints/e/messages/m/meta", {"xref": MESSAGE})
    assert told(error)[2] == "M8"
    ask(messaging, "put", "/endpoints/e", {"usage": ["producer"], "envelope": "CloudEvents/1.0"})
    ask(messaging, "put", "/endpoints/e/messages/m/meta", {"xref": MESSAGE})


def test_other_types_of_the_same_shape_have_no_such_rules() -> None:
    other = registry(
        {
            "groups": {
                "dirs": {
                    "singular": "dir",
                    "attributes": {"*": {"type": "any"}},
                    "resources": {
                        "messages": {
                            "singular": "message",
                            "hasdocument": False,
                            "attributes": {"*": {"type": "any"}},
                        }
                    },
                }
            }
        }
    )
    ask(other, "put", "/dirs/g/messages/m", {"envelope": "CloudEvents/1.1", "protocol": "A/B/C"})


def test_a_bulk_import_reads_each_message_once(
    messaging: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    plain = canonical.message

    def counted(one: Mapping[str, Any]) -> dict[str, Any]:
        read.append(one)
        return plain(one)

    monkeypatch.setattr(canonical, "message", counted)
    base = "/messagegroups/g/messages/m0"
    messages = {f"m{number}": {**CLOUDEVENT, "basemessage": base} for number in range(1, 1200)}
    ask(messaging, "post", "/", {"messagegroups": {"g": {"messages": messages | {"m0": {}}}}})
    # The base may be looked up before its turn comes.
    assert len(read) in (1200, 1201)
