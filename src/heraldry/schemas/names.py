"""Column names that Parquet, Delta and Spark all accept, unique in their table or record."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Delta refuses " ,;{}()\n\t="; Spark reads "." as access to a nested field; control characters
# and lone surrogates have no place in a Parquet footer.
_ILLEGAL = re.compile(r"[ ,;{}()=.\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def legal_names(keys: Iterable[str]) -> tuple[str, ...]:
    """Legal names for member names, unique ignoring case: the later one gets ``_2``, ``_3``."""
    names: list[str] = []
    taken: set[str] = set()
    for key in keys:
        plain = name = _ILLEGAL.sub("_", key) or "_"
        count = 1
        while _folded(name) in taken:
            count += 1
            name = f"{plain}_{count}"
        taken.add(_folded(name))
        names.append(name)
    return tuple(names)


def _folded(name: str) -> str:
    # Engines disagree about what "ignoring case" means beyond ASCII: unite all their views.
    return name.upper().lower().casefold()
