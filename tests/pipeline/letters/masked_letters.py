"""Letters as they are after masking."""

from __future__ import annotations

from typing import Any

from heraldry.messages.verdict import Near, Rejected
from heraldry.model.problem import Problem
from heraldry.pipeline.letters.letter import letter
from heraldry.pipeline.letters.masking import Masker

SECRET = "hunter2-Geheim"
STRUCTURED = {"headers": {"content-type": "application/cloudevents+json"}}


def masked(rules: list[str], whole: bytes, *problems: Problem) -> dict[str, Any]:
    """A letter of a line, refused for some reasons, after masking."""
    given_problems = problems or (Problem(path="/", rule="type", message="is wrong"),)
    near = (Near(definition="/d", score=0.5, problems=given_problems),)
    verdict = Rejected(stage="match", problems=given_problems, near=near)
    return Masker.of(rules).letter(letter(whole, verdict))
