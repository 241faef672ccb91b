"""Source options: what a source is told that its URL has no place for; none is ignored."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from heraldry.errors import UsageError
from heraldry.pipeline.settings import LandSettings

DETAILS = ("security.protocol", "sasl.mechanism")
"""What a catalog says of servers beside their addresses."""


def refuse_strange(given: Mapping[str, str], known: Iterable[str], prefix: str = "\0") -> None:
    """UsageError for an option that the source does not know."""
    wanted = sorted(known)
    for name in given:
        if name not in wanted and not name.startswith(prefix):
            has = f"it has {', '.join(wanted)}" if wanted else "it takes none"
            raise UsageError(f"the source has no option {name!r}", has)


def goes_on(given: Mapping[str, str]) -> bool:
    """Whether a job goes on without what is gone before it was read: ``on_loss``."""
    found = given.get("on_loss", "fail")
    if found not in ("fail", "continue"):
        raise UsageError(f"the source option on_loss is {found!r}", "write fail or continue")
    return found == "continue"


def refuse_raw_log(settings: LandSettings, source: str = "") -> None:
    """UsageError for a raw log beside a source that can be read again, save that it is the log.

    Where it is meant for those that need one, it is passed over.
    """
    given = settings.raw_log
    if given is None or settings.raw_log_if_needed:
        return
    if source and os.path.abspath(given) == os.path.abspath(source):
        return
    told = f"{settings.source.partition('?')[0]} can be read again, and needs no raw log"
    raise UsageError(told, "leave out --raw-log (HERALDRY_RAW_LOG)")


def whole_option(given: Mapping[str, str], name: str, low: int, high: int) -> int | None:
    """An option that is an integer within bounds; None where it is not given."""
    text = given.get(name)
    if text is None:
        return None
    if not text.isdecimal() or not low <= int(text) <= high:
        told = f"the source option {name} is {text!r}"
        raise UsageError(told, f"write an integer from {low} to {high}")
    return int(text)
