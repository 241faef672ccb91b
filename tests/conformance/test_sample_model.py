"""``GET /model`` shows the specification's own sample of a complete model, aspect by aspect."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heraldry.dialects.xreg_1_0.wire import RC4
from heraldry.registry.registry import Registry
from heraldry.server.app import create_app
from heraldry.server.settings import ServerSettings
from tests.model.models import files
from tests.server.asgi import call


@pytest.mark.covers("MD-02", "MD-03", "CA-16")
def test_the_complete_model_is_the_one_of_the_specification(
    reference: Path, durable_address: str
) -> None:
    registry = Registry.open(durable_address)
    try:
        app = create_app(registry, ServerSettings(wire=RC4))
        source = json.dumps(files()).encode()
        assert call(app, "PUT", "/modelsource", body=source).status == 200
        shown = json.loads(call(app, "GET", "/model").body)
    finally:
        registry.close()
    versions = shown["groups"]["dirs"]["resources"]["files"]["attributes"]
    versions.pop("fileproxyurl", None)  # an attribute beside those of the specification
    sample = json.loads((reference / "models/rc4/core.sample-model-full.json").read_text())
    assert shown == sample
