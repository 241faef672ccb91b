"""No secrets in catalogs: who reads a catalog must not learn how to log in.

A finding names the place of a secret and never shows its value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from heraldry.model.endpoint_options import COMMON
from heraldry.model.problem import Finding
from heraldry.model.rules_subject import Path, Subject

_PROSE = frozenset(("messages", "name", "description", "documentation", "xid", "self"))
"""Members that are not looked into: texts for people, and other entities."""

_NAMES = re.compile(
    r"(passwo?r?d|passphrase|pwd|secret|token|credentials?|connectionstring|jaasconfig|"
    r"(api|access|account|private|secret|auth|function|subscription)key|"
    r"username|^user|authorization|^cookie|signature|^sig)$"
)
"""Names of members, headers and parameters that hold a secret, without case and separators."""

_USER = re.compile(r"(?:[A-Za-z][\w+.-]*:)?//[^/?#\s]*@|[^/?#\s@:]+:[^/?#\s@]*@[^\s@]+:\d+$")
_ASSIGNED = re.compile(r"(?:^|[?&;\s])([\w.-]+)=([^&;\s]+)")
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY")
_SEPARATORS = re.compile(r"[^a-z0-9]")
_PLACEHOLDER = re.compile(r"\$?\{[A-Za-z0-9_]+\}")
_SCHEME = re.compile(r"(?:Basic|Bearer|Digest|ApiKey|Token)?\s*", re.IGNORECASE)


def credentials(subject: Subject) -> Iterator[Finding]:
    """endpoint-credential: an endpoint holds no user, password, token or key."""
    own = {name: value for name, value in subject.attributes.items() if name not in _PROSE}
    for path, told in _secrets((), own):
        advice = "remove it and change it: credentials come from the environment or a callback"
        yield subject.error("endpoint-credential", path, told, advice)


def _secrets(path: Path, value: Any) -> Iterator[tuple[Path, str]]:
    """The places of secrets, and what stands there."""
    if isinstance(value, Mapping):
        named = value.get("name")
        for name, inner in value.items():
            label = named if name == "value" and isinstance(named, str) else str(name)
            is_option = path == ("protocoloptions",) and name in COMMON
            if _is_name(label) and _is_secret(inner) and not is_option:
                yield (*path, name), f"{label!r} looks like a credential"
            else:
                yield from _secrets((*path, name), inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _secrets((*path, index), inner)
    elif isinstance(value, str):
        told = _in_text(value)
        if told is not None:
            yield path, told


def _in_text(text: str) -> str | None:
    if _USER.match(text):
        return "the address holds a user or password"
    if _PRIVATE_KEY.search(text):
        return "the text holds a private key"
    for name, value in _ASSIGNED.findall(text):
        if _is_name(name) and _is_secret(value):
            return f"{name!r} in the text looks like a credential"
    return None


def _is_name(name: str) -> bool:
    return _NAMES.search(_SEPARATORS.sub("", name.lower())) is not None


def _is_secret(value: Any) -> bool:
    """Whether a value can be a secret itself: a text or number that is no mere placeholder."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return False
    rest = _PLACEHOLDER.sub("", str(value))
    return bool(str(value).strip()) and _SCHEME.fullmatch(rest) is None
