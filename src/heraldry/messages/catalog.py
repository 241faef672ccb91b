"""The catalog at work: what ``heraldry.open`` returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from heraldry.client.registry_catalog import Catalogs
from heraldry.client.resolver import Resolver
from heraldry.errors import MessageError, UnknownDefinitionError, UsageError
from heraldry.messages import lint
from heraldry.messages.build import BuiltMessage, Clock, NewId, build, new_id, now
from heraldry.messages.compile import CompiledDefinition
from heraldry.messages.contract import Contract, ContractMatcher, contract_of
from heraldry.messages.explain import PropertyVerdict, explain
from heraldry.messages.handlers import DeadLetterHandler, Handled, Handler, Handlers
from heraldry.messages.judge import Judge
from heraldry.messages.mapping import Mapped, Mapper
from heraldry.messages.match import Matcher
from heraldry.messages.matched import Matched, Unmatched, to_json
from heraldry.messages.message import Mode
from heraldry.messages.raw import Raw, read
from heraldry.messages.sample import NOTHING, sample
from heraldry.messages.verdict import Rejected, Verdict
from heraldry.model.catalog import Catalog
from heraldry.model.definition import Definition
from heraldry.model.endpoint import Endpoint
from heraldry.model.problem import Finding

if TYPE_CHECKING:
    from heraldry.messages.transports.blocking import BlockingConsumer, BlockingProducer
    from heraldry.messages.transports.consumer import Consumer
    from heraldry.messages.transports.producer import Producer
    from heraldry.messages.transports.transport import Connecting, Connection, Usage

HandlerFunction = TypeVar("HandlerFunction", bound=Handler)
DeadLetterFunction = TypeVar("DeadLetterFunction", bound=DeadLetterHandler)

__all__ = [
    "Matched",
    "MessageCatalog",
    "MessageDefinition",
    "MessageEndpoint",
    "Raw",
    "Unmatched",
    "open",
    "read",
    "to_json",
]


def open(  # noqa: A001 - heraldry.open reads best
    *paths: str | Path, resolver: Resolver | None = None, cache: Path | None = None
) -> MessageCatalog:
    """The catalog of files, folders and registries, ready to build, match and judge messages.

    A registry is named by its URL; a copy is kept in ``cache`` (by default the user's cache
    folder) and used, with a warning, where the registry cannot be reached. Base messages that are
    kept elsewhere are fetched by the ``resolver``, now or never.
    """
    catalog = Catalogs(cache=cache).load(*paths)
    return MessageCatalog(resolver.resolve(catalog) if resolver else catalog)


@dataclass(frozen=True, slots=True)
class MessageDefinition:
    """One definition at work: template for producers, filter for consumers."""

    compiled: CompiledDefinition

    @property
    def xid(self) -> str:
        """The xid as text."""
        return self.compiled.xid

    @property
    def definition(self) -> Definition:
        """The definition with all it inherits."""
        return self.compiled.definition

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names a message is built with, in order."""
        return self.compiled.placeholders

    def build(
        self,
        data: Any = None,
        *,
        protocol: str | None = None,
        mode: Mode | None = None,
        event_format: str | None = None,
        raw: bool = False,
        values: Mapping[str, Any] | None = None,
        clock: Clock = now,
        make_id: NewId = new_id,
        **context: Any,
    ) -> BuiltMessage:
        """Build a message; ``context`` are placeholders first, then properties by name.

        ``values`` is the same for names that are no Python names. Raises
        :class:`heraldry.errors.BuildError` with every problem at once.
        """
        return build(
            self.compiled,
            data,
            values={**(values or {}), **context},
            protocol=protocol,
            mode=mode,
            event_format=event_format,
            raw=raw,
            clock=clock,
            make_id=make_id,
        )

    def sample(
        self,
        data: Any = NOTHING,
        *,
        seed: int = 0,
        protocol: str | None = None,
        mode: Mode | None = None,
        event_format: str | None = None,
        values: Mapping[str, Any] | None = None,
        clock: Clock = now,
        make_id: NewId | None = None,
        **context: Any,
    ) -> BuiltMessage:
        """Build a message and make up what is not given, the same for the same seed."""
        return sample(
            self.compiled,
            data,
            seed=seed,
            values={**(values or {}), **context},
            protocol=protocol,
            mode=mode,
            event_format=event_format,
            clock=clock,
            make_id=make_id,
        )

    def explain(self, raw: Raw) -> tuple[PropertyVerdict, ...]:
        """A message beside this definition, property by property."""
        return explain(read(raw), self.compiled)


class MessageCatalog:
    """Builds, recognises and judges messages by the definitions of one catalog."""

    def __init__(
        self,
        catalog: Catalog,
        matcher: Matcher | None = None,
        handlers: Handlers | None = None,
    ) -> None:
        self.catalog = catalog
        self.matcher = matcher or Matcher(catalog)
        self.handlers = handlers or Handlers()
        self._judge = Judge(self.matcher)
        self._mapper = Mapper(self.matcher)

    def __getitem__(self, xid: object) -> MessageDefinition:
        text = str(xid)
        if text in self.matcher.positions:
            return MessageDefinition(self.matcher.definition(text))
        named = [one for one in self.matcher.positions if one.rpartition("/")[2] == text]
        if len(named) == 1:
            return MessageDefinition(self.matcher.definition(named[0]))
        raise UnknownDefinitionError(text, tuple(named) or self._near(text))

    def _near(self, text: str) -> tuple[str, ...]:
        known = list(self.matcher.positions)
        if "/" in text:
            return tuple(get_close_matches(text, known, n=3))
        ids = {one.rpartition("/")[2]: one for one in known}
        return tuple(ids[near] for near in get_close_matches(text, ids, n=3))

    def __contains__(self, xid: object) -> bool:
        try:
            self[xid]
        except UnknownDefinitionError:
            return False
        return True

    def __iter__(self) -> Iterator[MessageDefinition]:
        for xid in self.matcher.positions:
            yield MessageDefinition(self.matcher.definition(xid))

    def __len__(self) -> int:
        return len(self.matcher.positions)

    def match(self, raw: Raw) -> Matched | Unmatched:
        """The definition of a message and the values of its placeholders, or reasons why not."""
        try:
            message = read(raw)
        except MessageError as error:
            return Unmatched(problems=error.problems)
        result = self.matcher.match(message)
        if isinstance(result, Matched):
            return result
        xids = result.candidates or tuple(one.definition for one in result.near)
        return Unmatched(
            problems=result.problems,
            near=result.near,
            candidates=result.candidates,
            message=message,
            compiled=tuple(self.matcher.definition(xid) for xid in xids),
        )

    def to_cloudevent(
        self,
        raw: Raw,
        *,
        values: Mapping[str, Any] | None = None,
        clock: Clock = now,
        make_id: NewId = new_id,
    ) -> Mapped | Rejected:
        """A message of any protocol as the CloudEvent that its definition makes of it.

        Only what the definition says of the protocol and the payload must hold; its placeholders
        fill the attributes in, ``values`` adds what they need beside. A message that is an event
        stays as it is. What cannot be filled in is a problem, named by its path.
        """
        try:
            message = read(raw)
        except MessageError as error:
            return Rejected(stage="decode", problems=error.problems)
        return self._mapper.map(message, values=values, clock=clock, make_id=make_id)

    def on(self, *names: object) -> Callable[[HandlerFunction], HandlerFunction]:
        """Make a function the handler of definitions, named by xid or bare id.

        It is called with the payload, decoded by the payload schema (without a usable schema
        the bytes as they are), and the match. A definition has one handler; that of a base
        definition takes the messages of derived ones that have none of their own.
        """
        if not names:
            raise UsageError("the handler is for no definition", "name one: @catalog.on(XID)")
        xids = [self[name].xid for name in names]

        def register(handler: HandlerFunction) -> HandlerFunction:
            for xid in xids:
                self.handlers.add(xid, handler)
            return handler

        return register

    def on_dead_letter(self, handler: DeadLetterFunction) -> DeadLetterFunction:
        """Make a function the handler of every message that no other handler takes.

        It is called with what was dispatched, as it was given, and the reasons.
        """
        self.handlers.add_dead_letters(handler)
        return handler

    def dispatch(self, raw: Raw) -> Handled | Rejected:
        """Match a message, validate it and hand it to its handler; what a handler raises is raised.

        A message that no handler takes is rejected, with the stage and the reasons: one that
        matches and is valid, but whose definition has no handler, at the stage ``handle``.
        """
        return self.handlers.dispatch(raw, self.match(raw))

    async def dispatch_async(self, raw: Raw) -> Handled | Rejected:
        """As :meth:`dispatch`, for asynchronous handlers; others are called where it runs."""
        return await self.handlers.dispatch_async(raw, self.match(raw))

    def judge(self, line: bytes) -> Verdict:
        """The verdict on one JSON line: a typed row, or the reasons why there is none."""
        return self._judge.judge(line)

    def check(self) -> tuple[Finding, ...]:
        """Every finding about the catalog."""
        return lint.check(self.catalog)

    def endpoint(self, name: object) -> MessageEndpoint:
        """An endpoint by its xid or its bare id, with the definitions that may travel there."""
        contract = contract_of(self.catalog, str(name))
        matcher = ContractMatcher(contract, self.matcher)
        messages = MessageCatalog(self.catalog, matcher, self.handlers)
        return MessageEndpoint(contract, messages)


@dataclass(frozen=True, slots=True)
class MessageEndpoint:
    """An endpoint at work: ``messages`` is the catalog of what may travel there, and no more."""

    contract: Contract
    messages: MessageCatalog

    @property
    def endpoint(self) -> Endpoint:
        """Where the messages go and come from."""
        return self.contract.endpoint

    @property
    def definitions(self) -> tuple[MessageDefinition, ...]:
        """The definitions of the contract, the endpoint's own first."""
        return tuple(self)

    def __iter__(self) -> Iterator[MessageDefinition]:
        for xid in self.contract.xids:
            yield self.messages[xid]

    def __getitem__(self, xid: object) -> MessageDefinition:
        try:
            return self.messages[xid]
        except UnknownDefinitionError as error:
            place = f"the contract of {self.endpoint.xid}"
            raise UnknownDefinitionError(error.xid, error.near, place) from None

    def __contains__(self, xid: object) -> bool:
        return xid in self.messages

    def __len__(self) -> int:
        return len(self.contract.xids)

    def match(self, raw: Raw) -> Matched | Unmatched:
        """As :meth:`MessageCatalog.match`, by the definitions of the contract only."""
        return self.messages.match(raw)

    def judge(self, line: bytes) -> Verdict:
        """As :meth:`MessageCatalog.judge`, by the definitions of the contract only."""
        return self.messages.judge(line)

    def producer(self, **how: Unpack[Connecting]) -> Producer:
        """Publishes messages to the endpoint; ``async with`` connects it.

        An MQTT endpoint may name a will: build it by its definition, and give it as ``will=``.
        """
        from heraldry.messages.transports.producer import Producer

        return Producer(self, self._connection("producer", how))

    def consumer(self, **how: Unpack[Connecting]) -> Consumer:
        """The messages that come from the endpoint; ``async with`` connects it."""
        from heraldry.messages.transports.consumer import Consumer

        return Consumer(self, self._connection("consumer", how))

    def blocking_producer(self, **how: Unpack[Connecting]) -> BlockingProducer:
        """As :meth:`producer`, for programs without asyncio: ``with`` connects it."""
        from heraldry.messages.transports.blocking import BlockingProducer

        return BlockingProducer(self.producer(**how))

    def blocking_consumer(self, **how: Unpack[Connecting]) -> BlockingConsumer:
        """As :meth:`consumer`, for programs without asyncio: ``with`` connects it."""
        from heraldry.messages.transports.blocking import BlockingConsumer

        return BlockingConsumer(self.consumer(**how))

    def _connection(self, usage: Usage, how: Connecting) -> Connection:
        from heraldry.messages.transports.transport import Connection

        return Connection(endpoint=self.endpoint, usage=usage, **how)
