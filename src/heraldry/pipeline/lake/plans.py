"""How each job of a warehouse lays out its tables, kept for those who land its letters later."""

from __future__ import annotations

import msgspec

from heraldry.errors import WarehouseError
from heraldry.pipeline.lake.layout import TablePlan
from heraldry.pipeline.lake.storage import Storage

_PLANS = "_plans"
_KIND = ".json"
_VERSION = 1


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A plan as it is stored; ``version`` is that of the form."""

    version: int = _VERSION
    plan: TablePlan


class _Form(msgspec.Struct, frozen=True):
    """What every form begins with."""

    version: int


def keep_plan(storage: Storage, job: str, plan: TablePlan) -> None:
    """Keep the plan of a job in its warehouse, whole or not at all; the newest counts."""
    path, data = f"{_PLANS}/{job}{_KIND}", msgspec.json.encode(_Kept(plan=plan))
    if storage.read(path) != data:
        storage.write(path, data)


def kept_plans(storage: Storage) -> dict[str, TablePlan]:
    """The plans of a warehouse by job; jobs from before plans were kept have none."""
    names = [name for name in storage.names(_PLANS) if name.endswith(_KIND)]
    return {name.removesuffix(_KIND): _read(storage, f"{_PLANS}/{name}") for name in names}


def _read(storage: Storage, path: str) -> TablePlan:
    """One plan; a guess instead of one that cannot be read would land in the wrong table."""
    data = storage.read(path) or b""
    try:
        version = msgspec.json.decode(data, type=_Form).version
        if version == _VERSION:
            return msgspec.json.decode(data, type=_Kept).plan
        reason = f"its form {version} is not known here"
    except msgspec.DecodeError as error:
        reason = f"the plan of a job cannot be read: {error}"
    raise WarehouseError(storage.join(path), reason, "use the version of Heraldry that wrote it")
