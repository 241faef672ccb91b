"""One HTTP request, from what arrived to what is sent back; runs on any thread."""

from __future__ import annotations

import uuid
from dataclasses import replace

from heraldry.dialects.xreg_1_0.wire import Wire
from heraldry.errors import IncompleteError, RegistryError
from heraldry.server.answer import Answer, completed
from heraldry.server.flags import Query, choose_wire
from heraldry.server.incoming import Incoming
from heraldry.server.metrics import Metrics
from heraldry.server.offer import Offer
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
                return service_answer(incoming, self.offer, root, self.metrics, hits)
            addressed = Addressed(incoming, self.offer, revision)
            allow = addressed.allowed()
            query = Query(incoming.query, addressed.path)
            wire = choose_wire(query, addressed.path, addressed.capabilities, wire)
            return self._run(incoming, addressed, query, content, Spoken(base, wire))
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
        return problem_answer(error, base, wire or self.settings.wire, allow)

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
        return answer_of(self.offer.run(request), request, incoming, html=html)

    def _options(self, addressed: Addressed, base: str) -> Answer:
        """Which methods a place has; nothing is read but its types (HT-03)."""
        if not addressed.known:
            raise RegistryError("not_found", addressed.path)
        methods = addressed.allowed().encode("ascii")
        listed = [(b"allow", methods), (b"access-control-allow-methods", methods)]
        return completed(200, [root_link(base), *listed], place="options")


def conditional(answer: Answer, incoming: Incoming) -> Answer:
    """304 where the client has this answer already."""
    if incoming.if_none_match and answer.status == 200 and answer.known(incoming.if_none_match):
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
