"""Choosing the event format of a structured event: what is asked for, else what is declared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heraldry.errors import BuildError, UsageError
from heraldry.messages.compile import CompiledDefinition, states_envelope
from heraldry.messages.envelopes import event_formats
from heraldry.messages.message import Mode
from heraldry.messages.protocol_table import with_content_type
from heraldry.model.problem import Problem

_KNOWN = ", ".join(event_formats.FORMATS)


def choose_format(
    compiled: CompiledDefinition, mode: Mode | None, event_format: str | None
) -> str | None:
    """The name of the format of an event that has to be structured; None where it need not be.

    A definition declares it in ``envelopeoptions``, or by its content type (M30).
    """
    own = compiled.definition
    if event_format is not None:
        chosen = event_formats.named(event_format)
        if chosen is None:
            raise UsageError(f"{event_format!r} is not an event format", f"choose one of {_KNOWN}")
        if mode == "binary" or not compiled.cloudevents:
            raise UsageError("only a structured CloudEvent has an event format")
        return chosen
    asked = mode or str(own.envelopeoptions.get("mode", "")).lower()
    if asked != "structured" or not compiled.cloudevents:
        return None
    stated = own.datacontenttype if states_envelope(own) else None
    declared = str(own.envelopeoptions.get("format") or stated or "json")
    chosen = event_formats.named(declared)
    if chosen is None and event_formats.is_named(declared):
        told = "is not an event format that is known"
        path = "envelopeoptions.format"
        problem = Problem(path=path, rule="event-format", message=told, expected=_KNOWN)
        raise BuildError(compiled.xid, (problem,))
    return chosen or "json"


def state_format(
    protocol: str | None, metadata: Mapping[str, Any], event_format: str | None
) -> dict[str, Any]:
    """The metadata of a structured event: its content type names the format, which JSON need not.

    Raises :class:`heraldry.errors.MessageError` where the protocol cannot name it.
    """
    if protocol is None or event_format in (None, "json"):
        return dict(metadata)
    kind = event_formats.FORMATS[event_format or ""].MEDIA_TYPE
    return with_content_type(protocol, metadata, kind)
