"""One HTTP request, from what arrived to what is sent back; runs on any thread."""

from __future__ import annotations

import uuid
from dataclasses import replace
from functools import partial

from heraldry.dialects.xreg_1_0.wire import Wire
from heraldry.errors import IncompleteError, RegistryError
from heraldry.registry.request import Reply, Request
from heraldry.server.answer import Answer, completed
from heraldry.server.flags import Query, choose_wire
from heraldry.server.incoming import Incoming
from heraldry.server.metrics import Metrics
from heraldry.server.offer import Offer
from heraldry.server.preconditions import Preconditions, is_current
from heraldry.server.problems import problem_answer, said_at, unexpected
from heraldry.server.replies import answer_of, root_link
from heraldry.server.request_reading import Addressed, Spoken, read_request
from heraldry.server.response_cache import Key, ResponseCache
from heraldry.server.service_paths import ALLOWED, UNCACHED, is_service, service_answer
from heraldry.server.settings import ServerSettings


class Handler:
    """Answers requests from a registry, or from the replies it kept."""

    def __init__(self, offer: Offer, settings: ServerSettings) -> None:
        self.offer, self.settings = offer, settings
        self.cache = ResponseCache(settings.cache)
        self.metrics = Metrics()

    def kept(self, incoming: Incoming) -> Answer | None:
        """The reply that was kept for a request, if nothing has changed since."""
        if incoming.path in UNCACHED:
            return None
        return self.cache.find(_key(incoming), self.offer.revision())

    def read(self, incoming: Incoming) -> Answer:
        """The response to a GET or HEAD; a reply that may be used again is kept."""
        if incoming.path in UNCACHED:
            return self.answer(incoming, b"")
        key = _key(incoming)
        try:
            revision = self.offer.revision()
        except Exception as error:  # noqa: BLE001 - whatever fails is told as a problem
            return self.failed(error, incoming)
        found = self.cache.find(key, revision)
        if found is not None:
            return found
        answer = self.answer(incoming, b"", revision)
        if answer.status == 200 and answer.rest is None and answer.etag:
            self.cache.keep(key, revision, answer)
        return answer

    def answer(self, incoming: Incoming, content: bytes, revision: int | None = None) -> Answer:
        """The response to any request; ``revision`` is the store's, where it is known."""
        base = incoming.base(self.settings)
        wire, allow = self.settings.wire, ALLOWED
        try:
            incoming.check(self.settings.limits)
            if is_service(incoming.path, self.offer):
                hits = self.cache.hits
                root = incoming.root(self.settings)
                answer = service_answer(incoming, self.offer, root, self.metrics, hits)
                return self._with_methods(answer, allow)
            addressed = Addressed(incoming, self.offer, revision)
            allow = addressed.allowed()
            query = Query(incoming.query, addressed.path)
            wire = choose_wire(query, addressed.path, addressed.capabilities, wire)
            answer = self._run(incoming, addressed, query, content, Spoken(base, wire))
            return self._with_methods(answer, allow)
        except IncompleteError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever fails is told as a problem
            return self.failed(error, incoming, wire, allow)

    def failed(
        self, error: Exception, incoming: Incoming, wire: Wire | None = None, allow: str = ""
    ) -> Answer:
        """The response to a request that cannot be answered otherwise."""
        error = (
            said_at(error, incoming)
            if isinstance(error, RegistryError)
            else unexpected(error, incoming)
        )
        base = incoming.base(self.settings)
        answer = problem_answer(error, base, wire or self.settings.wire, allow)
        return self._with_methods(answer, allow)

    def _with_methods(self, answer: Answer, allow: str) -> Answer:
        """The methods of the place, which pages of other origins are told (HT-03)."""
        return replace(answer, methods=allow.encode("ascii")) if self.settings.origins else answer

    def _run(
        self, incoming: Incoming, addressed: Addressed, query: Query, content: bytes, spoken: Spoken
    ) -> Answer:
        if self.settings.correlation and not incoming.reads:
            spoken = replace(spoken, correlation=str(uuid.uuid4()))
        limits = self.settings.limits
        request = read_request(incoming, addressed, query, content, limits, spoken)
        if incoming.method == "OPTIONS":
            return self._options(addressed, request.base)
        html = query.has("html")
        conditions = None if incoming.reads else Preconditions.of(incoming)
        if conditions is not None:
            shown = replace(incoming, accept_encoding=b"")
            precondition = partial(_check, conditions, request, shown, html)
            request = replace(request, precondition=precondition)
        return answer_of(self.offer.run(request), request, incoming, html=html)

    def _options(self, addressed: Addressed, base: str) -> Answer:
        """Which methods a place has; nothing is read but its types (HT-03)."""
        methods = addressed.allowed().encode("ascii")
        listed = [(b"allow", methods), (b"access-control-allow-methods", methods)]
        return completed(200, [root_link(base), *listed], place="options")


def _check(
    conditions: Preconditions, request: Request, incoming: Incoming, html: bool, reply: Reply | None
) -> None:
    """Compare the tag that a GET of the same address would have now."""
    etag = None
    if reply is not None:
        read = replace(request, action="get", correlation="")
        answer = answer_of(reply, read, incoming, html=html)
        answer.close()
        etag = answer.etag
    conditions.check(etag)


def conditional(answer: Answer, incoming: Incoming) -> Answer:
    """304 where the client has this answer already."""
    named = incoming.if_none_match
    if named and answer.status == 200 and is_current(answer.etag, named):
        answer.close()
        return answer.not_modified()
    return answer


def _key(incoming: Incoming) -> Key:
    return (
        incoming.scheme,
        incoming.mount,
        incoming.raw_path,
        incoming.query,
        incoming.host,
        bool(incoming.accept_encoding) and incoming.gzip(),
    )
