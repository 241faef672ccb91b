"""What a server counts, as Prometheus reads it: ``/metrics``."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from heraldry.server.connection_counts import ConnectionCounts
    from heraldry.server.memory_budget import MemoryBudget

BUCKETS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
CONTENT_TYPE: Final = b"text/plain; version=0.0.4; charset=utf-8"
_METHODS: Final = frozenset(("GET", "HEAD", "OPTIONS", "PUT", "PATCH", "POST", "DELETE"))


class Metrics:
    """Requests by method, status and place, and how long they took. Used by one thread."""

    def __init__(self) -> None:
        self.others: list[Callable[[], Iterator[str]]] = []
        """Lines of others who count."""
        self._requests: Counter[tuple[str, int, str]] = Counter()
        self._buckets: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()

    def count(self, method: str, status: int, place: str, seconds: float) -> None:
        """One request is done."""
        if method not in _METHODS:
            method = "OTHER"  # whoever makes up methods must not make the server grow
        self._requests[method, status, place] += 1
        buckets = self._buckets.get(method)
        if buckets is None:
            buckets = self._buckets[method] = [0] * (len(BUCKETS) + 1)
        buckets[bisect_left(BUCKETS, seconds)] += 1
        self._seconds[method] += seconds  # type: ignore[assignment]

    def text(self, cache_hits: int, revision: int) -> bytes:
        """Everything counted so far, in Prometheus' text format."""
        return "".join(f"{line}\n" for line in self._lines(cache_hits, revision)).encode("ascii")

    def _lines(self, cache_hits: int, revision: int) -> Iterator[str]:
        yield "# HELP heraldry_requests_total Requests by method, status and place."
        yield "# TYPE heraldry_requests_total counter"
        for (method, status, place), number in sorted(self._requests.items()):
            labels = f'method="{method}",status="{status}",place="{place}"'
            yield f"heraldry_requests_total{{{labels}}} {number}"
        yield "# HELP heraldry_request_seconds How long requests took."
        yield "# TYPE heraldry_request_seconds histogram"
        for method in sorted(self._buckets):
            yield from self._histogram(method)
        yield "# HELP heraldry_cache_hits_total Requests that were answered from the cache."
        yield "# TYPE heraldry_cache_hits_total counter"
        yield f"heraldry_cache_hits_total {cache_hits}"
        yield "# HELP heraldry_store_revision Changes with every write to the registry."
        yield "# TYPE heraldry_store_revision gauge"
        yield f"heraldry_store_revision {revision}"
        for lines in self.others:
            yield from lines()

    def _histogram(self, method: str) -> Iterator[str]:
        total = 0
        for bound, number in zip((*BUCKETS, "+Inf"), self._buckets[method], strict=True):
            total += number
            yield f'heraldry_request_seconds_bucket{{method="{method}",le="{bound}"}} {total}'
        yield f'heraldry_request_seconds_sum{{method="{method}"}} {self._seconds[method]:.6f}'
        yield f'heraldry_request_seconds_count{{method="{method}"}} {total}'


def measure(name: str, help_text: str, value: float) -> Iterator[str]:
    """The lines of one number; a name that ends in ``_total`` counts."""
    yield f"# HELP {name} {help_text}"
    yield f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}"
    yield f"{name} {value}"


def budget_lines(name: str, noun: str, budget: MemoryBudget) -> Iterator[str]:
    """What a budget of bytes is used for; ``noun`` shares it."""
    yield from measure(f"{name}_bytes", f"Bytes that {noun} under way take.", budget.used)
    yield from measure(f"{name}_waiting", f"How many {noun} wait for bytes.", budget.waiting)
    help_text = f"How many {noun} were refused as too many bytes were taken."
    yield from measure(f"{name}_refused_total", help_text, budget.refused)


def connection_lines(name: str, counts: ConnectionCounts) -> Iterator[str]:
    """What became of connections."""
    yield from measure(f"{name}_connections", "Connections that are open.", counts.open)
    help_text = "Connections that were ended as their client kept the server waiting."
    yield from measure(f"{name}_connections_ended_total", help_text, counts.ended)
    help_text = "How often what came was not HTTP."
    yield from measure(f"{name}_invalid_http_total", help_text, counts.invalid)
