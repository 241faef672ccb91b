"""What a stream has lost, as its state tells it; against a server, see tests/live."""

from __future__ import annotations

import pytest

from heraldry.errors import PipelineError
from heraldry.messages.transports.nats_range import StreamState
from heraldry.messages.transports.secrets import Credentials
from heraldry.model.endpoint import Endpoint
from heraldry.model.xid import Xid
from heraldry.pipeline.sources.jetstream import Place, check_loss

SEEN, CREATED, OLDEST = "2026-01-01", "2026-01-02", "2026-01-03"


def place(*, goes_on: bool = False, starting: str = "earliest", checkpoint: str = "ck") -> Place:
    endpoint = Endpoint(
        xid=Xid.parse("/endpoints/hub"), protocol="NATS", addresses=("nats://127.0.0.1:9",)
    )
    return Place(
        endpoint=endpoint,
        credentials=Credentials(),
        stream="A",
        subject=None,
        starting=starting,
        asked=True,
        goes_on=goes_on,
        limit=100,
        parts=1,
        checkpoint=checkpoint,
    )


def made_later(first: int, last: int) -> StreamState:
    """A stream that says that it was made after it was seen, and all of its messages since."""
    return StreamState(stream="A", first=first, last=last, created=CREATED, oldest=OLDEST)


@pytest.mark.parametrize("goes_on", [False, True], ids=["fail", "continue"])
@pytest.mark.parametrize("first", [101, 102], ids=["nothing lost", "some lost"])
def test_a_stream_that_has_dropped_all_that_was_read_is_the_same(first: int, goes_on: bool) -> None:
    """Servers tell a later time of making after a restart: the sequences go on behind."""
    state = made_later(first, 110)
    if first == 101 or goes_on:
        check_loss(place(goes_on=goes_on), state, 100, SEEN)
        return
    with pytest.raises(PipelineError, match="has dropped its messages 101 to 101 unread"):
        check_loss(place(), state, 100, SEEN)


@pytest.mark.parametrize("goes_on", [False, True], ids=["fail", "continue"])
@pytest.mark.parametrize("first", [1, 100], ids=["from the first", "from the last that was read"])
def test_a_stream_with_others_in_the_place_of_what_was_read(first: int, goes_on: bool) -> None:
    with pytest.raises(PipelineError, match="A is of 2026-01-02, but 100 was read from it before"):
        check_loss(place(goes_on=goes_on), made_later(first, 110), 100, SEEN)
