"""Names of envelopes, protocols and schema formats: many spellings, one meaning."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

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


def same_protocol(own: str, common: str) -> bool:
    """Whether a protocol is the one of a group, or a more precise name of it (M12, C16).

    Messages are the same in all versions of HTTP (C11).
    """
    (name, version), (other, wanted) = protocol_family(own), protocol_family(common)
    return name == other and (name == "HTTP" or not version or not wanted or version == wanted)


def same_envelope(own: str, common: str) -> bool:
    """Whether an envelope is the one of a group, or a more precise name of it (M8, C16)."""
    if is_cloudevents(own) and is_cloudevents(common):
        return True
    own, common = own.strip().lower(), common.strip().lower()
    return own == common or ("/" not in common and own.partition("/")[0] == common)


def fold(name: str) -> str:
    """The name of an option without case and separators (C5)."""
    return name.replace("-", "").replace("_", "").lower()


def is_deprecated(attributes: Mapping[str, Any]) -> bool:
    """Whether an entity says that it is deprecated: an object does, also an empty one."""
    return attributes.get("deprecated") not in (None, False)
