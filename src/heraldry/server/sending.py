"""Sending an answer: in pieces, as its client takes them, and as long as it is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heraldry.server.answer import Answer, take

if TYPE_CHECKING:
    from starlette.types import Send

    from heraldry.server.request_state import RequestState
    from heraldry.server.work_queue import WorkQueue

_PIECE: Final = 64 * 1024
"""What the connection holds of a reply, beside the reply itself."""


async def send_answer(
    answer: Answer, send: Send, state: RequestState, readers: WorkQueue, *, head: bool
) -> None:
    """Send status, headers and, unless only the ``head`` is asked for, the body."""
    await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
    if head:
        answer.close()
        await send({"type": "http.response.body", "body": b""})
    elif answer.rest is None and len(answer.body) <= _PIECE:
        await send({"type": "http.response.body", "body": answer.body})
    elif answer.rest is None:
        await _send_piece(answer.body, send, state, more=False)
    else:
        await _stream(answer, send, state, readers)


async def _stream(answer: Answer, send: Send, state: RequestState, readers: WorkQueue) -> None:
    """Send pieces as they are made. An error ends the connection, so that it is noticed."""
    assert answer.rest is not None
    piece, more = answer.body, True
    try:
        while more and not state.client_left:
            if piece:
                await _send_piece(piece, send, state, more=True)
            piece, more = await readers.step(take, answer.rest)
    finally:
        await readers.step(answer.close)
    await _send_piece(piece, send, state, more=False)


async def _send_piece(piece: bytes, send: Send, state: RequestState, *, more: bool) -> None:
    last = max(0, len(piece) - 1) // _PIECE * _PIECE
    for start in range(0, last, _PIECE):
        if state.client_left:
            break
        part = piece[start : start + _PIECE]
        await send({"type": "http.response.body", "body": part, "more_body": True})
    rest = piece[last:] if last else piece
    await send({"type": "http.response.body", "body": rest, "more_body": more})
