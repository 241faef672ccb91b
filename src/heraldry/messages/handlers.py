"""Handlers: functions that take the messages of one definition, and one for dead letters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from inspect import isawaitable
from types import CoroutineType
from typing import Any

from heraldry.errors import UsageError
from heraldry.messages.compile import CompiledDefinition
from heraldry.messages.matched import Matched, Unmatched
from heraldry.messages.slots import setters
from heraldry.messages.validate import validate
from heraldry.messages.verdict import Rejected
from heraldry.model.problem import Problem

Handler = Callable[[Any, Matched], Any]
"""Takes the decoded payload and the match: definition, values, attributes and message."""

DeadLetterHandler = Callable[[Any, Rejected], Any]
"""Takes what was dispatched, as it was given, and the reasons."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handled:
    """A message that a handler took; ``returned`` is what the handler gave back."""

    match: Matched
    returned: Any


_match, _returned = setters(Handled)


def _handled(match: Matched, returned: Any) -> Handled:
    made = object.__new__(Handled)
    _match(made, match)
    _returned(made, returned)
    return made


class Handlers:
    """The handlers of a catalog, by the xid of the definition.

    A definition has one handler. That of a base takes the messages of definitions derived from
    it, too, unless a nearer one has its own; that of an original those that borrow it.
    """

    def __init__(self) -> None:
        self._handlers: dict[str, Handler] = {}
        self._nearest: dict[str, Handler | None] = {}
        self._dead_letters: DeadLetterHandler | None = None

    def add(self, xid: str, handler: Handler) -> None:
        """Register the handler of a definition; a second one is refused."""
        if xid in self._handlers:
            reason = f"{xid} has a handler already: {_name(self._handlers[xid])}"
            raise UsageError(reason, "a definition has one")
        self._handlers[xid] = handler
        self._nearest.clear()

    def add_dead_letters(self, handler: DeadLetterHandler) -> None:
        """Register what takes all messages that no handler takes; a second one is refused."""
        if self._dead_letters is not None:
            reason = f"dead letters have a handler already: {_name(self._dead_letters)}"
            raise UsageError(reason, "a catalog has one")
        self._dead_letters = handler

    @property
    def takes_dead_letters(self) -> bool:
        """Whether there is a handler for messages that no other takes."""
        return self._dead_letters is not None

    def dispatch(self, raw: Any, result: Matched | Unmatched) -> Handled | Rejected:
        """Hand a message to its handler, else to that of dead letters, and say what happened."""
        given = self._given(result)
        if isinstance(given, Rejected):
            if self._dead_letters is not None:
                _no_coroutine(self._dead_letters(raw, given), "dead letters")
            return given
        handler, data, match = given
        returned = handler(data, match)
        if type(returned) is CoroutineType:
            _no_coroutine(returned, match.compiled.xid)
        return _handled(match, returned)

    async def dispatch_async(self, raw: Any, result: Matched | Unmatched) -> Handled | Rejected:
        """As :meth:`dispatch`; what a handler returns is awaited where it can be."""
        given = self._given(result)
        if isinstance(given, Rejected):
            if self._dead_letters is not None:
                await _settle(self._dead_letters(raw, given))
            return given
        handler, data, match = given
        return _handled(match, await _settle(handler(data, match)))

    def _given(self, result: Matched | Unmatched) -> tuple[Handler, Any, Matched] | Rejected:
        """The handler of a message and what it is called with, or why there is no such call."""
        if isinstance(result, Unmatched):
            return result.rejected
        compiled, message = result.compiled, result.message
        handler = self._nearest.get(compiled.xid) or self._handler(compiled)
        if handler is None:
            return Rejected(stage="handle", problems=(_NO_HANDLER,), definition=compiled.xid)
        if compiled.schema is None:
            return handler, message.payload, result
        data, problems = validate(compiled, message)
        if problems:
            return Rejected(stage="validate", problems=problems, definition=compiled.xid)
        return handler, data, result

    def _handler(self, compiled: CompiledDefinition) -> Handler | None:
        xid = compiled.xid
        if xid not in self._nearest:
            chain = (xid, *compiled.definition.bases)
            known = (self._handlers[one] for one in chain if one in self._handlers)
            self._nearest[xid] = next(known, None)
        return self._nearest[xid]


_NO_HANDLER = Problem(
    path="definition", rule="no-handler", message="nothing handles messages of this definition"
)


def _no_coroutine(returned: Any, whose: str) -> None:
    if type(returned) is CoroutineType:
        returned.close()  # nothing of it has run
        reason = f"the handler of {whose} is asynchronous: {returned.__qualname__}"
        raise UsageError(reason, "await dispatch_async instead of calling dispatch")


async def _settle(returned: Any | Awaitable[Any]) -> Any:
    return await returned if isawaitable(returned) else returned


def _name(handler: Any) -> str:
    return str(getattr(handler, "__qualname__", handler))
