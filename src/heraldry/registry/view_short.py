"""Short addresses of entities, from the keys of their rows (CA-06).

``/~12`` is an entity and ``/~12m`` its meta entity: no name of a group type starts with ``~``, so
no path is taken, and a key belongs to one entity for ever.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from heraldry.errors import RegistryError

if TYPE_CHECKING:
    from heraldry.store.store import Reader

_SHORT: Final = re.compile(r"/~([1-9][0-9]{0,17})(m?)(\$details)?/?")


def short_path(key: int, *, meta: bool = False) -> str:
    """The short path of an entity, or of its meta entity; the registry has none but its root."""
    if key == 0:
        return "/"
    return f"/~{key}m" if meta else f"/~{key}"


def is_short(path: str) -> bool:
    """Whether a path is meant to be a short one."""
    return path.startswith("/~")


def long_path(tx: Reader, path: str) -> str:
    """The path a short one stands for, with the ``$details`` it had; ``not_found`` for none."""
    read = _SHORT.fullmatch(path)
    row = tx.by_key([int(read[1])]).get(int(read[1])) if read else None
    if read is None or row is None:
        raise RegistryError("not_found", path)
    return row.xid + ("/meta" if read[2] else "") + (read[3] or "")
