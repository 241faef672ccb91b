"""Problem documents: whatever goes wrong is answered with one (ER-01..ER-08)."""

from __future__ import annotations

import logging

from heraldry.dialects.xreg_1_0.error_catalogue import problem
from heraldry.dialects.xreg_1_0.wire import Wire
from heraldry.errors import RegistryError, StoreBusyError, StoreFullError
from heraldry.server.answer import Answer, completed
from heraldry.server.incoming import Incoming
from heraldry.server.replies import JSON, encode_json, root_link

_ABOUT_FLAGS = frozenset(
    (
        *("bad_defaultversionid", "bad_filter", "bad_ignore", "bad_inline", "bad_sort"),
        *("inline_noninlineable", "sort_noncollection"),
    )
)
_LOG = logging.getLogger("heraldry.server")


def problem_answer(error: Exception, base: str, wire: Wire, allow: str = "") -> Answer:
    """The response to a request that failed; a 405 lists what is allowed (HT-02)."""
    known = error if isinstance(error, RegistryError) else RegistryError("server_error")
    status, body = problem(known, wire)
    headers = [root_link(base), JSON]
    if status == 405:
        headers.append((b"allow", allow.encode("ascii")))
    elif status == 503:
        headers.append((b"retry-after", b"1"))
    return completed(status, headers, encode_json(body), place="problem")


def said_at(error: RegistryError, incoming: Incoming) -> RegistryError:
    """An error in the value of a flag is about path and query: the flag is in the query."""
    if error.name == "bad_request" and not error.subject:
        return RegistryError(error.name, incoming.subject, error.arguments, error.detail)
    if error.name not in _ABOUT_FLAGS or error.subject != incoming.subject or not incoming.query:
        return error
    subject = f"{incoming.path}?{incoming.query.decode('latin-1')}"
    return RegistryError(error.name, subject, error.arguments, error.detail)


def unexpected(error: Exception, incoming: Incoming) -> RegistryError:
    """What a client is told of an error that should not be: nothing but that there was one.

    Where the database is out of reach, it is told to come again; where its disk is full, that.
    """
    if isinstance(error, StoreFullError):  # the store says so once, not for every request
        return RegistryError("insufficient_storage", incoming.subject, detail=error.advice)
    if isinstance(error, StoreBusyError):
        _LOG.warning("%s %s failed: %s", incoming.method, incoming.subject, error)
        return RegistryError("server_busy", incoming.subject)
    _LOG.error("%s %s failed", incoming.method, incoming.subject, exc_info=error)
    return RegistryError("server_error", incoming.subject)
