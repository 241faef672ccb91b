"""What a folder holds that no message will ever come from, told before anybody wonders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from heraldry.pipeline.sources.file_reading import ENDINGS, LINES, fits, is_read
from heraldry.pipeline.sources.packed_lines import SUFFIXES
from heraldry.pipeline.sources.source import Tell

_MOST = 20_000
"""So many files are looked at, at most: links may go round."""
_SHOWN = 3
_OTHERS = [one for one in ENDINGS if not one.endswith(SUFFIXES)]
_NAMES = (
    f"names must end with {', '.join((*LINES, *_OTHERS))}, or lines with {', '.join(SUFFIXES)}"
    " behind that, and not begin with . or _"
)


def below(folder: str) -> Iterator[str]:
    """The files below a folder of this machine, by their paths there."""
    for place, _, names in os.walk(folder, followlinks=True):
        for name in names:
            yield Path(place, name).relative_to(folder).as_posix()


def tell_left_alone(paths: Iterable[str], tell: Tell) -> None:
    """Tell how names must be where there are files and none of them is read.

    A hidden or private file counts only where it has an ending of those that are read.
    """
    alone: list[str] = []
    for path in islice(paths, _MOST):
        if is_read(path):
            return
        if fits(path, LINES + ENDINGS) or not Path(path).name.startswith((".", "_")):
            alone.append(path)
    if alone:
        files = "1 file is" if len(alone) == 1 else f"{len(alone):,} files are"
        tell(f"{files} left alone ({shown(alone)}): {_NAMES}")


def shown(paths: list[str]) -> str:
    """The first paths of some."""
    return ", ".join([*sorted(paths)[:_SHOWN], *(["..."] if len(paths) > _SHOWN else [])])
