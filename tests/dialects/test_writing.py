"""Writing: what was read goes out as it came; what changed goes out so that it reads the same."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from heraldry.dialects.dump import dump
from heraldry.dialects.load import load_bytes
from heraldry.dialects.xreg_1_0 import read, write
from heraldry.model.catalog import Catalog
from heraldry.model.entities import Group, Resource, Version
from heraldry.model.xid import Xid

ODD: dict[str, Any] = {
    "$schema": "https://example.com/schema",
    "specversion": "1.0-rc2",
    "registryid": "my registry",
    "modified": None,
    "things": {"t": {"thingid": "t", "parts": {"p": {}}}},
    "endpoints": {
        "e": {
            "usage": "producer",
            "config": {"protocol": "NATS", "endpoints": [{"uri": "nats://x"}], "options": {}},
            "messagegroups": ["#/messagegroups/g"],
            "messages": {"own": {"protocol": "None"}},
        },
        "f": {"protocol": "AMQP/1.0", "endpoints": [], "protocoloptions": {"link_properties": {}}},
    },
    "messagegroups": {
        "g": {
            "messagegroupid": "g",
            "envelope": "",
            "messages": {
                "old": {
                    "format": "CloudEvents/1.0",
                    "metadata": {"attributes": {"type": {"value": "x"}}},
                    "ancestor": "1",
                },
                "mixed": {
                    "messageid": "mixed",
                    "basemessageuri": "#/messagegroups/g/messages/old",
                    "envelopeoptions": {"type": {"value": "y"}, "mode": "binary"},
                    "protocol": "mqtt",
                    "protocoloptions": {"topic-name": {"value": "a"}, "x": 1},
                },
                "borrowed": {"uri": "#/messagegroups/g/messages/old", "description": "d"},
                "versioned": {
                    "meta": {"defaultversionid": "1"},
                    "datacontenttype": "a/b",
                    "versions": {"1": {"ancestorid": "1"}, "2": {"basemessageurl": "https://x"}},
                },
            },
        },
        "empty": {"messages": {}},
        "none": {"messages": None},
    },
    "schemagroups": {
        "s": {
            "schemas": {
                "x": {
                    "format": "JSONSchema/draft-07",
                    "defaultversionid": "1",
                    "versions": {"1": {"schema": '{"a": 1}'}, "2": {"schemabase64": "e30="}},
                }
            }
        }
    },
}
M = Xid.parse("/messagegroups/g/messages/mixed")


def with_attributes(catalog: Catalog, xid: Xid, attributes: Mapping[str, Any]) -> Catalog:
    """The catalog with other attributes of a message's default version."""
    resource = catalog.resource(xid)
    group = catalog.group(xid)
    assert resource is not None
    assert group is not None
    version = replace(resource.versions[resource.default], attributes=attributes)
    changed = replace(resource, versions={**resource.versions, version.id: version})
    return with_resource(catalog, group, changed)


def with_resource(catalog: Catalog, group: Group, resource: Resource) -> Catalog:
    xid = resource.xid
    resources = {**group.resources.get(xid.resources, {}), xid.resource: resource}
    new = replace(group, resources={**group.resources, xid.resources: resources})
    groups = {**catalog.groups[xid.groups], xid.group: new}
    return replace(catalog, groups={**catalog.groups, xid.groups: groups})


def attributes(catalog: Catalog, xid: Xid) -> Mapping[str, Any]:
    resource = catalog.resource(xid)
    assert resource is not None
    return resource.attributes


def test_odd_documents_come_back_in_json_and_in_yaml() -> None:
    given_document = copy.deepcopy(ODD)
    for data, name in (
        (json.dumps(ODD).encode(), "odd.json"),
        (yaml.safe_dump(ODD, sort_keys=False).encode(), "odd.yaml"),
    ):
        catalog = load_bytes(data, name)
        assert json.dumps(write(catalog)) == json.dumps(given_document)
        assert json.loads(dump(catalog)) == given_document
    assert given_document == ODD


def test_only_what_changed_is_written_anew() -> None:
    catalog = read(ODD, "")
    new = {**attributes(catalog, M), "description": "new"}
    written = write(with_attributes(catalog, M, new))
    expected = copy.deepcopy(ODD)
    expected["messagegroups"]["g"]["messages"]["mixed"]["description"] = "new"
    assert written == expected


def test_a_changed_member_loses_its_old_spelling() -> None:
    catalog = read(ODD, "")
    new = {**attributes(catalog, M), "basemessage": "/messagegroups/g/messages/versioned"}
    message = write(with_attributes(catalog, M, new))["messagegroups"]["g"]["messages"]["mixed"]
    source = ODD["messagegroups"]["g"]["messages"]["mixed"]
    assert message["basemessage"] == "/messagegroups/g/messages/versioned"
    assert "basemessageuri" not in message
    assert message["protocoloptions"] == source["protocoloptions"]
    assert message["envelopeoptions"] == source["envelopeoptions"]


def test_members_that_belong_together_change_together() -> None:
    catalog = read(ODD, "")
    old = Xid.parse("/messagegroups/g/messages/old")
    new = {**attributes(catalog, old), "envelopemetadata": {"type": {"value": "z"}}}
    message = write(with_attributes(catalog, old, new))["messagegroups"]["g"]["messages"]["old"]
    assert message == {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {"type": {"value": "z"}},
        "ancestor": "1",
    }


def test_what_is_removed_is_not_filled_again() -> None:
    catalog = read(ODD, "")
    xid = Xid.parse("/messagegroups/g/messages/versioned")
    written = write(with_attributes(catalog, xid, {}))
    assert attributes(read(written, ""), xid) == {}


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        pytest.param(
            Resource(xid=M, versions={"1": Version(id="1", attributes={"a": 1})}, default="1"),
            {"a": 1},
            id="flat",
        ),
        pytest.param(
            Resource(xid=M, versions={"v": Version(id="v", attributes={"a": 1})}, default="v"),
            {"versions": {"v": {"a": 1}}},
            id="named-version",
        ),
        pytest.param(
            Resource(
                xid=M,
                versions={"1": Version(id="1", attributes={}), "2": Version(id="2", attributes={})},
                default="1",
            ),
            {"meta": {"defaultversionid": "1"}, "versions": {"1": {}, "2": {}}},
            id="older-default",
        ),
        pytest.param(
            Resource(
                xid=M,
                versions={"1": Version(id="1", attributes={})},
                default="1",
                meta={"readonly": True},
            ),
            {"meta": {"readonly": True}},
            id="meta",
        ),
    ],
)
def test_entities_that_come_from_no_document(resource: Resource, expected: dict[str, Any]) -> None:
    group = Group(xid=Xid("messagegroups", "g"), attributes={"protocol": "NATS"})
    empty = Catalog(attributes={"registryid": "r"}, groups={"messagegroups": {"g": group}})
    assert write(with_resource(empty, group, resource)) == {
        "registryid": "r",
        "messagegroups": {"g": {"protocol": "NATS", "messages": {"mixed": expected}}},
    }


def test_entities_can_be_removed() -> None:
    catalog = read(ODD, "")
    fewer = replace(catalog, groups={"schemagroups": catalog.groups["schemagroups"]})
    written = write(fewer)
    assert set(ODD) - set(written) == {"endpoints", "messagegroups"}


IDS = st.from_regex(r"[a-z0-9_][a-z0-9.:~@/-]{0,5}", fullmatch=True)
SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=4)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
    ),
    max_leaves=5,
)
PROPERTIES = st.dictionaries(
    st.sampled_from(["value", "type", "required", "description", "attributes"]), JSON, max_size=3
)
NAMED = st.dictionaries(
    st.sampled_from(["type", "source", "mode", "attributes", "x"]), PROPERTIES | JSON, max_size=3
)
OPTIONS = st.dictionaries(
    st.sampled_from(
        [
            "topic-name",
            "topic_name",
            "topicname",
            "qos",
            "user-properties",
            "properties",
            "header",
            "reply",
            "replyto",
            "reply-to",
            "message_id",
            "options",
            "endpoints",
            "payload_format_indicator",
            "link_properties",
        ]
    ),
    PROPERTIES | JSON | st.lists(st.fixed_dictionaries({"uri": JSON}), max_size=2),
    max_size=4,
)
REFERENCES = st.sampled_from(
    ["#/messagegroups/a/messages/b", "/messagegroups/a/messages/b", "https://x", "#/a//b", "x", ""]
)
NAMES = st.sampled_from(["CloudEvents/1.0", "MQTT", "AMQP/1.0", "NATS", "None", "", "X/1"])
MEMBERS: dict[str, st.SearchStrategy[Any]] = {
    "basemessage": REFERENCES | JSON,
    "basemessageuri": REFERENCES,
    "basemessageurl": REFERENCES,
    "uri": REFERENCES | JSON,
    "xref": REFERENCES | JSON,
    "envelope": NAMES | JSON,
    "format": NAMES | JSON,
    "metadata": NAMED | JSON,
    "envelopemetadata": NAMED | st.builds(lambda m: {"attributes": m}, NAMED) | JSON,
    "envelopeoptions": NAMED | JSON,
    "protocol": NAMES | JSON,
    "protocoloptions": OPTIONS | JSON,
    "config": OPTIONS | JSON,
    "endpoints": st.lists(st.fixed_dictionaries({"uri": JSON}), max_size=2) | JSON,
    "deployed": JSON,
    "usage": JSON,
    "messagegroups": st.lists(REFERENCES, max_size=2) | JSON,
    "defaultversionid": st.sampled_from(["1", "2", "v"]),
    "schema": JSON | st.sampled_from(['{"a": 1}', "{", "x"]),
    "schemabase64": st.sampled_from(["e30=", "%", "eA=="]) | JSON,
    "ancestor": st.text(max_size=2),
    "extension": JSON,
}
ENTITY = st.fixed_dictionaries({}, optional=MEMBERS)
RESOURCE = st.builds(
    lambda own, more: {**own, **more},
    ENTITY,
    st.fixed_dictionaries(
        {},
        optional={
            "meta": st.dictionaries(st.sampled_from(["xref", "defaultversionid", "x"]), JSON),
            "versions": st.dictionaries(st.sampled_from(["1", "2", "v"]), ENTITY, max_size=3),
        },
    ),
)


def groups(plural: str) -> st.SearchStrategy[dict[str, Any]]:
    resources = st.dictionaries(IDS, RESOURCE, max_size=2) | st.none()
    group = st.builds(lambda own, inner: {**own, plural: inner}, ENTITY, resources)
    return st.dictionaries(IDS, group | ENTITY, max_size=2)


DOCUMENTS = st.fixed_dictionaries(
    {"messagegroups": groups("messages")},
    optional={
        "endpoints": groups("messages"),
        "schemagroups": groups("schemas"),
        "specversion": st.just("1.0-rc4"),
        "things": st.dictionaries(IDS, st.dictionaries(IDS, JSON, max_size=2), max_size=2),
        "labels": JSON,
    },
)


@given(DOCUMENTS)
def test_what_was_read_is_written_as_it_came(document: dict[str, Any]) -> None:
    before = copy.deepcopy(document)
    written = write(read(document, ""))
    assert json.dumps(written) == json.dumps(before)


@given(DOCUMENTS)
def test_canonical_attributes_are_a_document_of_the_same_meaning(document: dict[str, Any]) -> None:
    catalog = read(document, "")
    bare = replace(catalog, source=None, groups=_without_sources(catalog))
    again = read(write(bare), "")
    assert _meaning(again) == _meaning(catalog)


@given(st.data(), RESOURCE, ENTITY)
def test_a_change_is_read_back(
    data: st.DataObject, old: dict[str, Any], new: dict[str, Any]
) -> None:
    plural = data.draw(
        st.sampled_from([("messagegroups", "messages"), ("schemagroups", "schemas")])
    )
    xid = Xid(plural[0], "g", plural[1], "r")
    catalog = read({plural[0]: {"g": {plural[1]: {"r": old}}}}, "")
    wanted = attributes(read({plural[0]: {"g": {plural[1]: {"r": new}}}}, ""), xid)
    changed = with_attributes(catalog, xid, wanted)
    again = read(write(changed), "")
    assert attributes(again, xid) == wanted
    assert _versions(again, xid) == _versions(changed, xid)


def _versions(catalog: Catalog, xid: Xid) -> dict[str, Any]:
    resource = catalog.resource(xid)
    assert resource is not None
    return {version.id: version.attributes for version in resource.versions.values()}


def _without_sources(catalog: Catalog) -> dict[str, dict[str, Group]]:
    return {
        plural: {id_: _bare(group) for id_, group in found.items()}
        for plural, found in catalog.groups.items()
    }


def _bare(group: Group) -> Group:
    resources = {
        plural: {
            id_: replace(
                resource,
                source=None,
                versions={v.id: replace(v, source=None) for v in resource.versions.values()},
            )
            for id_, resource in found.items()
        }
        for plural, found in group.resources.items()
    }
    return replace(group, source=None, resources=resources)


def _meaning(catalog: Catalog) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for of_type in catalog.groups.values():
        for group in of_type.values():
            found[str(group.xid)] = group.attributes
            for resources in group.resources.values():
                for resource in resources.values():
                    found[str(resource.xid)] = (resource.default, _versions(catalog, resource.xid))
    return found
