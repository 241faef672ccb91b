"""The text of a ``.proto`` document, as far as it is read without a compiler."""

from __future__ import annotations

import re
from collections.abc import Callable

# Possessive throughout, so that no text is read twice.
_STRING = rb'"(?:[^"\\\n]++|\\.)*+"?|\'(?:[^\'\\\n]++|\\.)*+\'?'
_COMMENT = rb"//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?"
_COMMENTS_OR_STRING = re.compile(rb"(" + _COMMENT + rb")|" + _STRING, re.DOTALL)
_IMPORT = re.compile(
    _STRING
    + rb"|(?<![\w.])import\s*+(?:(?:public|weak|option)\b\s*+)?"
    + rb'("[^"\n]*+"|\'[^\'\n]*+\')\s*+;',
    re.DOTALL,
)
_SYNTAX = re.compile(rb"\s*+(?:syntax|edition)\s*+=")
_EDITION = re.compile(r"20\d\d")


class Document:
    """One document; ``imports`` are the names of others as it writes them, each once."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        # Comments become blanks of the same length, so that places stay what they are.
        plain = _COMMENTS_OR_STRING.sub(_blank, content)
        self._imports = [
            (found[1][1:-1].decode("utf-8", "replace"), *found.span(1))
            for found in _IMPORT.finditer(plain)
            if found[1] is not None
        ]
        self._has_syntax = _SYNTAX.match(plain) is not None
        self.imports = tuple(dict.fromkeys(name for name, _, _ in self._imports))

    def with_imports(self, rename: Callable[[str], str]) -> bytes:
        """The text with other names in its import statements."""
        parts: list[bytes] = []
        end = 0
        for name, start, stop in self._imports:
            parts += self.content[end:start], f'"{rename(name)}"'.encode()
            end = stop
        return b"".join(parts) + self.content[end:]

    def statement(self, version: str) -> bytes:
        """The statement that a document of this version lacks at its beginning; else nothing.

        The document's own ``syntax`` or ``edition`` decides; without any it is of proto2.
        """
        if self._has_syntax:
            return b""
        if version == "3":
            return b'syntax = "proto3"; '
        return f'edition = "{version}"; '.encode() if _EDITION.fullmatch(version) else b""


def _blank(found: re.Match[bytes]) -> bytes:
    return found[0] if found[1] is None else b" " * len(found[1])
