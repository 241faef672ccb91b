"""Names of envelopes, protocols and schema formats: many spellings, one meaning."""

from __future__ import annotations

from functools import lru_cache

_SCHEMA_ALIASES = {
    "xmlschema": "xsd",
    "json-schema": "jsonschema",
    "json-structure": "jsonstructure",
    "protocolbuffers": "protobuf",
}
_DEFAULT_VERSIONS = {"AMQP": "1.0", "MQTT": "5.0"}
_PROTOCOL_VERSIONS = {("AMQP", "1"): "1.0", ("MQTT", "5"): "5.0"}


def present(name: object) -> str | None:
    """A name, or None where the text is empty or says "None" (C54)."""
    if not isinstance(name, str):
        return None
    text = name.strip()
    return None if not text or text.lower() == "none" else text


@lru_cache(maxsize=1024)
def family(text: str) -> tuple[str, str]:
    """The family and version of a schema format; no version is ``""`` (C44, C55).

    Both are in lower case, ``XMLSchema`` is ``xsd``, and a trailing ``.0`` is dropped.
    """
    name, _, version = text.strip().lower().partition("/")
    while version.endswith(".0"):
        version = version[:-2]
    return _SCHEMA_ALIASES.get(name, name), version


@lru_cache(maxsize=1024)
def protocol_family(text: str | None) -> tuple[str, str]:
    """The family and version of a protocol; AMQP and MQTT default to 1.0 and 5.0 (C11).

    An absent protocol is ``("", "")`` (C54).
    """
    given = present(text)
    if given is None:
        return "", ""
    name, _, version = given.upper().partition("/")
    version = version or _DEFAULT_VERSIONS.get(name, "")
    return name, _PROTOCOL_VERSIONS.get((name, version), version)


def is_cloudevents(envelope: str | None) -> bool:
    """Whether an envelope is CloudEvents 1.0, in any case, version or not (M7, C11)."""
    return isinstance(envelope, str) and envelope.strip().lower() in {
        "cloudevents",
        "cloudevents/1.0",
    }
