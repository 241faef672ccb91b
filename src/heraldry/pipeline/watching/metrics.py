"""What a job counts, as Prometheus reads it: ``/metrics`` and ``/healthz`` of the driver.

with MetricsServer(9464) as metrics:     # an observer
    metrics.url                          # http://127.0.0.1:9464
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from types import TracebackType
from typing import Final

from heraldry.errors import UsageError
from heraldry.pipeline.landing.report import BatchReport, LandReport
from heraldry.pipeline.letters.nearest import OTHER
from heraldry.pipeline.watching.observer import JobInfo

BUCKETS: Final = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
MOST_LABELS: Final = 1000

METRICS: Final[Mapping[str, tuple[str, str]]] = {
    "heraldry_rows_read_total": ("counter", "Messages that were read."),
    "heraldry_landed_total": ("counter", "Rows that landed, by table."),
    "heraldry_dead_letters_total": ("counter", "Dead letters, by rule."),
    "heraldry_dead_letters_nearest_total": (
        "counter",
        "Dead letters, by the definition that they came nearest to.",
    ),
    "heraldry_deprecated_total": (
        "counter",
        "Rows that landed of deprecated definitions, by definition.",
    ),
    "heraldry_repeated_total": ("counter", "Messages that had come before."),
    "heraldry_batches_total": ("counter", "Batches that were committed."),
    "heraldry_batch_seconds": ("histogram", "How long batches took."),
    "heraldry_lag_messages": ("gauge", "Messages that the source still held."),
    "heraldry_freshness_seconds": ("gauge", "Age of the newest event that landed."),
    "heraldry_last_commit_timestamp_seconds": ("gauge", "When the last batch was committed."),
    "heraldry_catalog_info": ("gauge", "The catalog that judged the last batch, by digest."),
    "heraldry_job_info": ("gauge", "The job, by its id, source and warehouse."),
    "heraldry_up": ("gauge", "1 while the job runs, 0 when it has ended."),
}
"""Every metric with its type and meaning: the reference page is written from this table."""

LOOPBACK: Final = "127.0.0.1"
"""Where metrics are offered unless somebody says otherwise: numbers tell of a business."""


class JobMetrics:
    """An observer that counts; its text may be asked for by other threads."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = Lock()
        self._info: JobInfo | None = None
        self._last: BatchReport | None = None
        self._totals: Counter[str] = Counter()
        self._tables: Counter[str] = Counter()
        self._rules: Counter[str] = Counter()
        self._nearest: Counter[str] = Counter()
        self._deprecated: Counter[str] = Counter()
        self._buckets = [0] * (len(BUCKETS) + 1)
        self._seconds = 0.0
        self._committed: float | None = None
        self._newest: float | None = None
        self._lag: int | None = None
        self._state = "starting"

    @property
    def state(self) -> str:
        """``starting``, ``running``, ``ended`` or ``failed``."""
        return self._state

    def started(self, info: JobInfo) -> None:
        """The job is about to read."""
        with self._lock:
            self._info, self._state = info, "running"

    def event(self, text: str) -> None:
        """Events are not counted."""

    def batch(self, info: JobInfo, report: BatchReport) -> None:
        """Count a batch."""
        with self._lock:
            self._info, self._last = info, report
            self._totals.update(read=report.read, repeated=report.repeated, batches=1)
            _add(self._tables, report.tables)
            _add(self._rules, report.reasons)
            # Whatever the reasons leave out is counted all the same.
            _add(self._rules, {"": max(report.dead - sum(report.reasons.values()), 0)})
            _add(self._nearest, report.nearest)
            _add(self._nearest, {"": max(report.dead - sum(report.nearest.values()), 0)})
            _add(self._deprecated, {xid: one.rows for xid, one in report.deprecated.items()})
            self._buckets[bisect_left(BUCKETS, report.seconds)] += 1
            self._seconds += report.seconds
            self._committed = report.committed.timestamp() if report.committed else self._clock()
            if report.newest is not None:
                self._newest = max(self._newest or 0.0, report.newest.timestamp())
            self._lag = report.lag

    def ended(self, info: JobInfo, report: LandReport, error: BaseException | None) -> None:
        """The run is over."""
        with self._lock:
            self._state = "failed" if error is not None else "ended"

    def text(self) -> bytes:
        """Everything counted so far, in Prometheus' text format."""
        with self._lock:
            return "".join(f"{line}\n" for line in self._lines()).encode()

    def _lines(self) -> Iterator[str]:
        for name, (kind, help_) in METRICS.items():
            samples = list(self._samples(name))
            if samples:
                yield f"# HELP {name} {help_}"
                yield f"# TYPE {name} {kind}"
                yield from samples

    def _samples(self, name: str) -> Iterator[str]:
        if name == "heraldry_batch_seconds":
            yield from self._histogram(name)
        elif name == "heraldry_landed_total":
            yield from (sample(name, n, table=t) for t, n in sorted(self._tables.items()))
        elif name == "heraldry_dead_letters_total":
            yield from (sample(name, n, rule=r) for r, n in sorted(self._rules.items()))
        elif name == "heraldry_dead_letters_nearest_total":
            yield from (sample(name, n, definition=d) for d, n in sorted(self._nearest.items()))
        elif name == "heraldry_deprecated_total":
            yield from (sample(name, n, definition=d) for d, n in sorted(self._deprecated.items()))
        elif name == "heraldry_job_info" and self._info is not None:
            info = self._info
            labels = {"job": info.job, "run": info.run}
            yield sample(name, 1, **labels, source=info.source, warehouse=info.warehouse)
        elif name == "heraldry_catalog_info" and (digest := self._digest()):
            yield sample(name, 1, digest=digest)
        elif (value := self._value(name)) is not None:
            yield sample(name, value)

    def _digest(self) -> str:
        if self._last is not None and self._last.catalog:
            return self._last.catalog
        return self._info.catalog if self._info is not None else ""

    def _value(self, name: str) -> float | None:
        """The one value of a metric without labels; None where it is not known."""
        fresh = None if self._newest is None else max(self._clock() - self._newest, 0.0)
        return {
            "heraldry_rows_read_total": float(self._totals["read"]),
            "heraldry_repeated_total": float(self._totals["repeated"]),
            "heraldry_batches_total": float(self._totals["batches"]),
            "heraldry_lag_messages": None if self._lag is None else float(self._lag),
            "heraldry_freshness_seconds": fresh,
            "heraldry_last_commit_timestamp_seconds": self._committed,
            "heraldry_up": float(self._state == "running"),
        }.get(name)

    def _histogram(self, name: str) -> Iterator[str]:
        total = 0
        for bound, number in zip((*BUCKETS, "+Inf"), self._buckets, strict=True):
            total += number
            yield sample(f"{name}_bucket", total, le=str(bound))
        yield sample(f"{name}_sum", self._seconds)
        yield sample(f"{name}_count", total)


class MetricsServer(JobMetrics):
    """Counts a job and answers for it over HTTP from a thread; a port that is taken is an error."""

    def __init__(
        self, port: int, host: str = LOOPBACK, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(clock)
        try:
            self._server = ThreadingHTTPServer((host, port), _handler(self))
        except OSError as error:
            reason = f"metrics cannot be offered at {host}:{port}"
            raise UsageError(reason, error.strerror or str(error)) from None
        self._server.daemon_threads = True
        self.url = f"http://{host}:{self._server.server_port}"
        self._thread = Thread(target=self._server.serve_forever, name="metrics", daemon=True)
        self._thread.start()

    def __enter__(self) -> MetricsServer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop to answer."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def sample(metric: str, value: float, **labels: str) -> str:
    """One line of the text format."""
    said = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())
    number = repr(value) if value % 1 else str(int(value))
    return f"{metric}{{{said}}} {number}" if said else f"{metric} {number}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _add(counter: Counter[str], found: Mapping[str, int]) -> None:
    """Add by label; beyond so many labels the new ones are counted together."""
    for label, number in found.items():
        if number:
            known = label in counter or len(counter) < MOST_LABELS
            counter[label if known else OTHER] += number


def _handler(metrics: JobMetrics) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            if path == "/metrics":
                self._answer(200, metrics.text(), CONTENT_TYPE)
            elif path == "/healthz":
                state = metrics.state
                code = 200 if state in {"starting", "running"} else 503
                self._answer(code, f"{state}\n".encode(), "text/plain; charset=utf-8")
            else:
                self._answer(404, b"there are /metrics and /healthz\n", "text/plain")

        def _answer(self, code: int, body: bytes, kind: str) -> None:
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Requests are not worth a line."""

    return Handler
