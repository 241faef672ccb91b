"""The only door to numba: compiled functions, and memory read and written by address.

Without numba everything here still imports, so that ``available`` can say so; nothing may be
called then.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

AVAILABLE = find_spec("numba") is not None
"""Whether numba is installed."""

PADDING = 64
"""So many zero bytes must follow every text that compiled functions read."""


def _compiler() -> Any:
    return import_module("numba").njit if AVAILABLE else None


def _sources() -> bytes | None:
    """A digest of all modules beside this one, or None where they are no files."""
    digest = sha256()
    try:
        for path in sorted(Path(__file__).parent.glob("*.py")):
            digest.update(path.read_bytes())
    except OSError:
        return None
    return digest.digest()


_njit = _compiler()
_SOURCES = _sources()


def njit(**options: Any) -> Callable[[Any], Any]:
    """Compile a function when it is first called, and keep the machine code on disk.

    Compiled functions count no references: they must not make arrays, nor keep them.
    """

    def compiled(function: Any) -> Any:
        if _njit is None:
            return function
        made = _njit(_nrt=False, **options)(function)
        if _SOURCES is not None:
            _keep(made)
        return made

    return compiled


def _keep(compiled: Any) -> None:
    """Keep machine code as long as no module of the kernel changes.

    On its own numba looks only at the module of a function, not at those it calls.
    """
    with suppress(RuntimeError):  # nowhere to keep it: neither beside the module nor at home
        compiled.enable_caching()
        compiled._cache._cache_file._source_stamp = _SOURCES


kernel: Any = njit()
"""A function that Python calls."""

inlined: Any = njit(forceinline=True)
"""A function that only compiled functions call, and that becomes a part of them."""


def _load(bits: int) -> Any:
    """A function (address, offset) -> the unsigned number of so many bits that is there."""
    types, ir = import_module("numba.core.types"), import_module("llvmlite.ir")
    kind = {8: types.uint8, 64: types.uint64}[bits]

    def load(typing: Any, address: Any, offset: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = builder.add(arguments[0], arguments[1])
            pointer = builder.inttoptr(place, ir.IntType(bits).as_pointer())
            return builder.load(pointer, align=1)

        return kind(types.uintp, types.int64), generate

    return import_module("numba.extending").intrinsic(load)


def _store() -> Any:
    """A procedure (address, offset, word) that writes eight bytes."""
    types, ir = import_module("numba.core.types"), import_module("llvmlite.ir")

    def store(typing: Any, address: Any, offset: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = builder.add(arguments[0], arguments[1])
            pointer = builder.inttoptr(place, ir.IntType(64).as_pointer())
            builder.store(arguments[2], pointer, align=1)
            return context.get_dummy_value()

        return types.void(types.uintp, types.int64, types.uint64), generate

    return import_module("numba.extending").intrinsic(store)


byte_at: Any = _load(8) if AVAILABLE else None
"""The byte at an address plus an offset."""

word_at: Any = _load(64) if AVAILABLE else None
"""Eight bytes, the first one lowest; they need not be aligned."""

put_word: Any = _store() if AVAILABLE else None
"""Write eight bytes at an address plus an offset."""

trailing_zeros: Any = (
    import_module("numba.cpython.unsafe.numbers").trailing_zeros if AVAILABLE else None
)
"""How many of the lowest bits of a word are zero."""
