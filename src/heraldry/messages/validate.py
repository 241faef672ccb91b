"""Validating: the payload of a message against the schema of its definition."""

from __future__ import annotations

from typing import Any

from heraldry.errors import MessageError
from heraldry.messages.compile import CompiledDefinition
from heraldry.messages.message import Message
from heraldry.model.problem import Problem

MISSING = Problem(path="/", rule="payload", message="the payload is missing")


def validate(compiled: CompiledDefinition, message: Message) -> tuple[Any, tuple[Problem, ...]]:
    """The decoded payload and what is wrong with it; without a usable schema nothing is."""
    schema = compiled.schema
    if schema is None:
        return None, ()
    if message.payload is None:
        return None, (MISSING,)
    try:
        return schema.decode(message.payload, stated_type(message)), ()
    except MessageError as error:
        return None, error.problems


def stated_type(message: Message) -> str | None:
    """The content type that the message itself states; what a structured event implies is none."""
    if message.mode == "structured" and "datacontenttype" not in message.attributes:
        return None
    return message.content_type
