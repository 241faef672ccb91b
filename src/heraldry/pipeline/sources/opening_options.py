"""Source options: what a source is told that its URL has no place for; none is ignored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from heraldry.errors import UsageError

DETAILS = ("security.protocol", "sasl.mechanism")
"""What a catalog says of servers beside their addresses."""


def refuse_strange(given: Mapping[str, str], known: Iterable[str], prefix: str = "\0") -> None:
    """UsageError for an option that the source does not know."""
    wanted = sorted(known)
    for name in given:
        if name not in wanted and not name.startswith(prefix):
            has = f"it has {', '.join(wanted)}" if wanted else "it takes none"
            raise UsageError(f"the source has no option {name!r}", has)


def whole_option(given: Mapping[str, str], name: str, low: int, high: int) -> int | None:
    """An option that is an integer within bounds; None where it is not given."""
    text = given.get(name)
    if text is None:
        return None
    if not text.isdecimal() or not low <= int(text) <= high:
        told = f"the source option {name} is {text!r}"
        raise UsageError(told, f"write an integer from {low} to {high}")
    return int(text)
