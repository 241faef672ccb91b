"""Addresses without segments, such as Kafka's topics: few are distinct, and each is looked up."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heraldry.messages.template import Template
from heraldry.pipeline.kernel.columns import Spans
from heraldry.pipeline.kernel.routes import NO_ROUTE, SEVERAL

_MEMORY = 65_536


class Addresses:
    """Definitions by their constant address or its template; routes are their positions."""

    def __init__(self, filed: Iterable[tuple[str, bool, int]]) -> None:
        self._constants: dict[str, list[int]] = {}
        self._prefixes: dict[str, list[tuple[Template, int]]] = {}
        for text, constant, position in filed:
            if constant:
                self._constants.setdefault(text, []).append(position)
            else:
                template = Template.parse(text)
                self._prefixes.setdefault(template.literals[0], []).append((template, position))
        self._lengths = sorted({len(prefix) for prefix in self._prefixes})
        self._known: dict[str, int] = {}

    def find(self, addresses: Spans) -> NDArray[np.int64]:
        """The route of every address, NO_ROUTE or SEVERAL."""
        found = addresses.to_arrow(pa.string()).dictionary_encode()
        routes = [self._route(text) for text in found.dictionary.to_pylist()]
        codes = found.indices.fill_null(len(routes)).to_numpy(zero_copy_only=False)
        # An absent address has no code, and no definition here does without one.
        return np.array([*routes, NO_ROUTE], np.int64)[codes]

    def position(self, route: int) -> int:
        """The position of the only definition of a route."""
        return route

    def _route(self, text: str) -> int:
        known = self._known.get(text)
        if known is None:
            if len(self._known) >= _MEMORY:  # a stream of ever new topics must not fill memory
                self._known.clear()
            known = self._known[text] = self._look_up(text)
        return known

    def _look_up(self, text: str) -> int:
        found = list(self._constants.get(text, ()))
        for length in self._lengths:
            for template, position in self._prefixes.get(text[:length], ()):
                if len(text) >= length and template.match(text) is not None:
                    found.append(position)
        if len(found) > 1:
            return SEVERAL
        return found[0] if found else NO_ROUTE
