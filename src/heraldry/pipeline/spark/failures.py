"""Why a query failed, told in one sentence, whether it ran here or on a server elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence

from heraldry.errors import HeraldryError, PipelineError, UsageError

_OURS = re.compile(
    r"heraldry\.errors\.\w+: (?:the pipeline stopped while it (?P<stage>[^:]+): )?(?P<reason>.+)"
)
_CAUSE = re.compile(r"[A-Za-z_.]+(Error|Exception|Warning): ")
_NO_CONNECTOR = "DATA_SOURCE_NOT_FOUND", "Failed to find data source"
_CALL = "An error occurred while calling "
_LONGEST = 500


def failure_of(
    error: BaseException, stage: str = "landed a batch", packages: Sequence[str] = ()
) -> HeraldryError:
    """An error of Heraldry as it is; one of Spark as what Heraldry said in it, else in short.

    What a worker or a server raised comes back as the text of a traceback. ``packages`` are those
    that the source needs.
    """
    if isinstance(error, HeraldryError):
        return error
    said = list(_OURS.finditer(str(error)))
    found: HeraldryError
    if said:
        found = PipelineError(said[-1]["stage"] or stage, said[-1]["reason"].strip())
    elif packages and any(text in str(error) for text in _NO_CONNECTOR):
        told = (
            f"Spark runs without {', '.join(packages)}, which must be there before its Java starts"
        )
        found = UsageError(told, "give --packages to spark-submit or to the Spark Connect server")
    else:
        found = PipelineError(stage, _short(error))
    found.__cause__ = error
    return found


def _short(error: BaseException) -> str:
    """What Spark's long stories begin with, and how those of a Python worker end."""
    lines = [line.strip().removeprefix(": ") for line in str(error).splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].startswith(_CALL):
        lines = lines[1:]
    if not lines:
        return type(error).__name__
    cause = next((line for line in reversed(lines[1:]) if _CAUSE.match(line)), "")
    return f"{lines[0]} {cause}".strip()[:_LONGEST]
