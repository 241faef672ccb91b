"""Consuming: messages from one endpoint, recognised and validated as they come.

async with catalog.endpoint("shop-kafka").consumer() as consumer:
    async for received in consumer:
        print(received.definition, received.values, received.data)
        await received.ack()
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from heraldry.errors import MessageError, UsageError
from heraldry.messages.catalog import Matched, MessageEndpoint, Unmatched
from heraldry.messages.handlers import Handled, Handlers
from heraldry.messages.protocol_table import decode_all
from heraldry.messages.transports.settlements import Settlements
from heraldry.messages.transports.transport import Connection, Delivery
from heraldry.messages.transports.transport_table import open_transport
from heraldry.messages.validate import validate
from heraldry.model.problem import Problem

if TYPE_CHECKING:
    from heraldry.messages.message import Message

Settle = Callable[[], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Received:
    """One message with what it is: ``data`` is its decoded payload, ``problems`` what is wrong.

    ``message`` is None where the bytes were none; ``result`` is the match or the reasons why
    there is none. ``ack`` and ``reject`` settle it with the source, see :class:`Delivery`.
    """

    raw: Any
    position: str
    message: Message | None
    result: Matched | Unmatched
    ack: Settle = field(repr=False, compare=False)
    reject: Settle = field(repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """Whether it is a valid message of one definition."""
        return isinstance(self.result, Matched) and not self.problems

    @property
    def given(self) -> Any:
        """What a handler of dead letters gets: the message, or what came where it is none."""
        return self.raw if self.message is None else self.message

    @property
    def definition(self) -> str | None:
        """The xid of its definition, or None."""
        return str(self.result.definition.xid) if isinstance(self.result, Matched) else None

    @property
    def values(self) -> Mapping[str, str]:
        """The values of the definition's placeholders."""
        return self.result.values if isinstance(self.result, Matched) else {}

    @property
    def data(self) -> Any:
        """The payload, decoded by its schema; without a usable schema the bytes as they are."""
        return self._validated[0]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Why it matches nothing, or what is wrong with its payload."""
        return self._validated[1]

    @cached_property
    def _validated(self) -> tuple[Any, tuple[Problem, ...]]:
        result = self.result
        if not isinstance(result, Matched):
            return None, result.problems
        if result.compiled.schema is None:
            return result.message.payload, ()
        return validate(result.compiled, result.message)


class Consumer:
    """The messages of an endpoint, judged by its contract, without end."""

    def __init__(self, endpoint: MessageEndpoint, connection: Connection) -> None:
        self.endpoint = endpoint
        self.connection = connection
        self._transport = open_transport(connection)
        self._open = False

    async def __aenter__(self) -> Self:
        await self._transport.__aenter__()
        self._open = True
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open = False
        await self._transport.__aexit__(kind, error, trace)

    async def __aiter__(self) -> AsyncGenerator[Received]:
        if not self._open:
            raise UsageError("the consumer is not open", "use it in its `async with`")
        async with aclosing(self._transport.consume()) as deliveries:
            async for delivery in deliveries:
                empty = True
                for received in receive(self.endpoint, delivery):
                    empty = False
                    yield received
                if empty:  # a batch without events: nobody else would settle it
                    await delivery.ack()

    async def run(self) -> None:
        """Hand each message to the catalog's handler for it, without end; then settle it.

        What a handler has taken is acknowledged, a dead letter is rejected once its handler has
        seen it. What a handler raises is raised here: that message is not settled, and comes again
        where the source can send it again.
        """
        handlers = self.handlers
        settlements = Settlements()
        async with aclosing(aiter(self)) as messages:
            try:
                async for received in messages:
                    outcome = await handlers.dispatch_async(received.given, received.result)
                    taken = isinstance(outcome, Handled)
                    await settlements.add(received.ack() if taken else received.reject())
            finally:
                await settlements.finish()

    @property
    def handlers(self) -> Handlers:
        """The handlers of the catalog; UsageError where a message could be lost."""
        handlers = self.endpoint.messages.handlers
        if not handlers.takes_dead_letters:
            reason = "nothing takes the messages that no handler takes: they would be lost"
            raise UsageError(reason, "register a function with @catalog.on_dead_letter")
        return handlers


def receive(endpoint: MessageEndpoint, delivery: Delivery) -> Iterator[Received]:
    """What came in one delivery: one message, or the events of a batch.

    A batch is settled as a whole when its last event is: rejected where any was.
    """
    try:
        messages = decode_all(delivery.raw)
    except MessageError as error:
        yield Received(
            raw=delivery.raw,
            position=delivery.position,
            message=None,
            result=Unmatched(problems=error.problems),
            ack=delivery.ack,
            reject=delivery.reject,
        )
        return
    settling = _Settling(delivery, len(messages))
    for number, message in enumerate(messages):
        yield Received(
            raw=delivery.raw,
            position=delivery.position,
            message=message,
            result=endpoint.match(message),
            ack=partial(settling.settle, number, rejected=False),
            reject=partial(settling.settle, number, rejected=True),
        )


class _Settling:
    """Settles a delivery once all its messages are; what is settled stays so."""

    def __init__(self, delivery: Delivery, count: int) -> None:
        self._delivery, self._open, self._rejected = delivery, set(range(count)), False

    async def settle(self, number: int, *, rejected: bool) -> None:
        if number not in self._open:
            return
        self._open.remove(number)
        self._rejected |= rejected
        if not self._open:
            await (self._delivery.reject() if self._rejected else self._delivery.ack())
