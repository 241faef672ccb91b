"""Sources that cannot be read again (MQTT, AMQP, NATS, HTTP): taken into a raw log first.

The job takes messages in while it runs, and acknowledges them once they are durable in its log.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace

from heraldry.errors import UsageError
from heraldry.messages.intake import Intake
from heraldry.messages.intake_connection import intake_connection, intake_endpoint, intake_name
from heraldry.messages.rawlog_writer import RawLogWriter
from heraldry.model.endpoint import Endpoint
from heraldry.model.formats import protocol_family
from heraldry.pipeline.lake.ledger import Ledger
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources.raw_log import RawLogSource
from heraldry.pipeline.sources.source import Guarantee, Tell, unheard

FOLDER = "raw_log"
"""The folder of the log in a checkpoint."""
IDLE_SECONDS = 2.0
"""So long nothing must come before a job that does not stream has everything: option ``idle``."""
LONGEST_SECONDS = 60.0
"""So long after the first message such a job takes more, if they never end: option ``longest``."""

_IDENTITY = "number in the log"
_REPEATS = Guarantee(
    replayable=False, repeats=True, ordered="as the server sends", identity=_IDENTITY
)
GUARANTEES: Mapping[str, Guarantee] = {
    "MQTT": _REPEATS,
    "AMQP": _REPEATS,
    "HTTP": replace(_REPEATS, ordered="not across senders"),
    "NATS": replace(_REPEATS, repeats=False, ordered="for each publisher"),
}
"""What is promised of each protocol; NATS without JetStream sends what it has once, or never."""


class IntakeSource(RawLogSource):
    """The messages of an endpoint, by way of a raw log in the checkpoint or where it is set."""

    def __init__(self, endpoint: Endpoint, settings: LandSettings, checkpoint: str) -> None:
        options = dict(settings.source_options)
        self._idle = _seconds(options, "idle", IDLE_SECONDS)
        self._longest = _seconds(options, "longest", LONGEST_SECONDS)
        self._endpoint = intake_endpoint(endpoint, options, ("idle", "longest"))
        folder = settings.raw_log or os.path.join(checkpoint, FOLDER)
        if "://" in folder:
            told = "the raw log must be on a disk of this machine"
            raise UsageError(told, "name its folder: --raw-log DIR")
        os.makedirs(folder, exist_ok=True)
        super().__init__(folder, settings, checkpoint)
        self.guarantee = GUARANTEES[protocol_family(endpoint.protocol)[0]]
        self.name = intake_name(endpoint)
        self._stream = settings.stream
        ledger = Ledger.find(checkpoint)
        self._is_new = ledger is None or ledger.last is None

    def open(self, tell: Tell = unheard) -> AbstractContextManager[None]:
        """Take messages in: as long as the job streams, else what comes within bounds."""
        return self._taking(tell)

    @contextmanager
    def _taking(self, tell: Tell) -> Iterator[None]:
        self._one.check()  # before a message goes into a log that this job cannot land
        with RawLogWriter(self._log.folder, source=self.name) as log:
            with self._connected(log, tell) as intake:
                if self._stream:
                    yield
                    return
                ended = intake.wait_until_idle(self._idle, self._longest, tell)
            if ended is not None:
                tell(f"{intake.taken:,} messages taken in, the next run takes more: {ended}")
            yield

    @contextmanager
    def _connected(self, log: RawLogWriter, tell: Tell) -> Iterator[Intake]:
        """A running intake; where there cannot be one, an empty log is not yet that of the job."""
        kept = self._is_new and self._one.keep()
        with ExitStack() as stack:
            try:
                connection = intake_connection(self._endpoint, log.name)
                intake = stack.enter_context(Intake(connection, log, on_event=tell))
            except BaseException:
                if kept and log.end == 0:
                    self._one.forget()
                raise
            yield intake


def _seconds(options: dict[str, str], name: str, default: float) -> float:
    """An option in seconds, which is taken out."""
    given = options.pop(name, None)
    try:
        seconds = default if given is None else float(given)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        told = f"the source option {name} is {given!r}"
        raise UsageError(told, f"write seconds, such as {name}={default:g}")
    return seconds
