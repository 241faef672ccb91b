"""Replies kept for the next one who asks, as long as nothing in the registry has changed."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from heraldry.server.answer import Answer

Key = tuple[str, str, bytes, bytes, bytes, bool]
"""Whatever a reply depends on: scheme, mount, path, query, host, whether it may be compressed."""

_OVERHEAD = 1000
"""What an entry costs beside its body, roughly: headers, key and the map's own part."""


class ResponseCache:
    """Replies of one revision of the registry; those used longest ago make room for new ones."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._used = 0
        self._revision = -1
        self._answers: OrderedDict[Key, Answer] = OrderedDict()
        self._lock = Lock()
        self.hits = 0

    def find(self, key: Key, revision: int) -> Answer | None:
        """The reply to a request, if it was made from this revision."""
        with self._lock:
            if revision != self._revision:
                self._answers.clear()
                self._used, self._revision = 0, revision
                return None
            answer = self._answers.get(key)
            if answer is not None:
                self._answers.move_to_end(key)
                self.hits += 1
            return answer

    def keep(self, key: Key, revision: int, answer: Answer) -> None:
        """Keep a reply that was made from ``revision`` or a later one.

        The revision must be read before the reply is made: a reply that is newer than its
        revision is never found again, one that is older would be wrong.
        """
        size = len(answer.body) + _OVERHEAD
        if size > self._size // 4:
            return
        with self._lock:
            if revision != self._revision or key in self._answers:
                return
            self._answers[key] = answer
            self._used += size
            while self._used > self._size:
                _, dropped = self._answers.popitem(last=False)
                self._used -= len(dropped.body) + _OVERHEAD
