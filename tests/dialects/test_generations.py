"""Generations are told apart by the shape of a document, never by what it says it is."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.dialects import generations
from heraldry.dialects.load import load_bytes
from heraldry.errors import DialectError


def group(**members: Any) -> dict[str, Any]:
    return {"messagegroups": {"g": members}}


def message(**members: Any) -> dict[str, Any]:
    return group(messages={"m": members})


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param({"registryid": "r", "definitionGroups": {}}, generations.CURRENT, id="a-root"),
        pytest.param(
            {"messagegroups": {"g": {"messagegroupid": "g", "id": "x"}}},
            generations.CURRENT,
            id="a-group",
        ),
        pytest.param(
            message(messageid="m", metadata={}, format="x"), generations.CURRENT, id="a-message"
        ),
        pytest.param(
            {"specversion": "1.0-rc4", "definitionGroups": {}}, generations.CEREG, id="b-groups"
        ),
        pytest.param({"endpointsUrl": "x"}, generations.CEREG, id="b-url"),
        pytest.param(
            {"endpoints": {"e": {"definitions": {}}}}, generations.CEREG, id="b-definitions"
        ),
        pytest.param(
            {"endpoints": {"e": {"config": {"endpoints": ["http://x"]}}}},
            generations.CEREG,
            id="b-endpoints",
        ),
        pytest.param(
            {"endpoints": {"e": {"config": {"strict": True}}}}, generations.CEREG, id="b-strict"
        ),
        pytest.param({"messagedefinitions": []}, generations.MESSAGE_CATALOG, id="c-array"),
        pytest.param(
            {"definition": {}, "format": "AMQP"}, generations.MESSAGE_CATALOG, id="c-definition"
        ),
        pytest.param(group(id="g"), generations.XREG_0_5, id="d-id"),
        pytest.param(group(binding="KAFKA"), generations.XREG_0_5, id="d-binding"),
        pytest.param(message(message={}), generations.XREG_0_5, id="d-message"),
        pytest.param(message(basemessageurl="#/x"), generations.XREG_0_5, id="d-base"),
        pytest.param(
            {"endpoints": {"e": {"config": {"endpoints": [{"uri": "x"}]}}}},
            generations.XREG_0_5,
            id="d-config",
        ),
        pytest.param(message(envelope="x", basemessageurl="y"), generations.CURRENT, id="e"),
        pytest.param(
            {"schemagroups": {"s": {"schemas": {"x": {"schema": {"definitions": {}}}}}}},
            generations.CURRENT,
            id="e-not-inside-schemas",
        ),
        pytest.param({"specversion": "0.5-wip", "messagegroups": {}}, generations.CURRENT, id="e"),
    ],
)
def test_the_shape_decides(document: dict[str, Any], expected: str) -> None:
    assert generations.detect(document) == expected


def test_an_older_generation_is_named() -> None:
    with pytest.raises(DialectError) as caught:
        load_bytes(b'{"definitionGroups": {}}', "old.cereg")
    assert str(caught.value).startswith(
        "old.cereg: this is a CloudEvents Registry (.cereg, 2023) document; "
        "Heraldry does not read that generation yet; "
    )
