"""What a folder holds that no message will ever come from, told before anybody wonders."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from heraldry.pipeline.sources.file_reading import ENDINGS, LINES, fits, is_read
from heraldry.pipeline.sources.packed_lines import SUFFIXES
from heraldry.pipeline.sources.source import Tell

_MOST = 20_000
"""So many files are looked at, at most: links may go round."""
_SHOWN = 3
_SETTLED = 3600.0
"""An empty file of lines is one that has none, and not one to be filled, after so many seconds."""
_OTHERS = [one for one in ENDINGS if not one.endswith(SUFFIXES)]
_NAMES = (
    f"names must end with {', '.join((*LINES, *_OTHERS))}, or lines with {', '.join(SUFFIXES)}"
    " behind that, and not begin with . or _"
)


def below(folder: str) -> Iterator[str]:
    """The files below a folder of this machine, by their paths there."""
    start = len(os.path.join(folder, ""))
    for place, _, names in os.walk(folder, followlinks=True):
        for name in names:
            yield os.path.join(place, name)[start:]


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


class EmptyFiles:
    """Tells, once in a run, of each file of a folder of this machine that is empty and should not.

    Spark notes an empty file as read and hands it to nobody, whatever it is asked for: what is
    written there later is lost.
    """

    def __init__(self, folder: str, tell: Tell) -> None:
        self._folder, self._tell = folder, tell
        self._known: set[str] = set()

    def look(self) -> None:
        """Tell of those that are new; before every batch, so that no file is asked for twice."""
        since = time.time() - _SETTLED
        found = (path for path in islice(below(self._folder), _MOST) if is_read(path))
        fresh = [one for one in found if one not in self._known]
        self._known.update(fresh)
        new = [one for one in fresh if self._is_empty(one, since)]
        if new:
            single = len(new) == 1
            what = f"{new[0]} is" if single else f"{len(new):,} files are"
            named = "and counts" if single else f"({shown(new)}) and count"
            advice = "write files under another name and rename them"
            self._tell(f"{what} empty {named} as read, also when filled later: {advice}")

    def _is_empty(self, path: str, since: float) -> bool:
        with suppress(OSError):  # gone meanwhile
            found = os.stat(os.path.join(self._folder, path))
            return not found.st_size and (found.st_mtime > since or not fits(path, LINES))
        return False


def shown(paths: list[str]) -> str:
    """The first paths of some."""
    return ", ".join([*sorted(paths)[:_SHOWN], *(["..."] if len(paths) > _SHOWN else [])])
