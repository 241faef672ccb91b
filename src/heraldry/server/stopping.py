"""A server that heeds a signal which comes while it is still starting."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn


class StoppingServer(uvicorn.Server):
    """Lets signals in once it is ready for them; whoever starts it has held them back.

    An exception that a handler raises in the middle of anything may be lost there: Python drops
    those in callbacks of weak references.
    """

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Heed signals, as long as the server runs."""
        with super().capture_signals():
            signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))
            yield
