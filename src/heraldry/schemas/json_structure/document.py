"""A JSON Structure document with its imports put in place: read, bounded, never fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

from heraldry.errors import MessageError, SchemaError
from heraldry.schemas.parse import parse
from heraldry.schemas.source import Source

SIZE_LIMIT: Final = 4 * 1024 * 1024
"""How many bytes a document may have."""

NODE_LIMIT: Final = 20_000
"""How many arrays and objects a document may have, with all that it imports."""

IMPORTS: Final = ("$import", "$importdefs")
_BY_NAME = frozenset(("properties", "choices", "patternProperties", "patternKeys"))
_DATA = frozenset(("const", "enum", "default", "examples"))
_OWN = frozenset(("definitions", "$id", "$schema", "$root", "$offers", "$uses", *IMPORTS))


def escaped(name: str) -> str:
    """A name as a step of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def read_document(source: Source) -> dict[str, Any]:
    """The document of a source, with what it imports from the other documents of the source."""
    return _Importer(source).document(source.content, ())


class _Importer:
    """Puts imported definitions where they are imported to; shares one budget for all of them."""

    def __init__(self, source: Source) -> None:
        self._format = source.format
        self._others = {one.name: one.content for one in source.references}
        self._left = NODE_LIMIT

    def document(self, content: bytes, chain: tuple[str, ...]) -> dict[str, Any]:
        root = self._parsed(content, chain)
        self._spend(root)
        definitions = root.get("definitions")
        if any(key in root for key in IMPORTS):
            if definitions is not None and not isinstance(definitions, dict):
                raise self.error("/definitions", "definitions are an object")
            definitions = root.setdefault("definitions", {})
            self._namespace(root, definitions, "/definitions", "", chain)
        if isinstance(definitions, dict):
            self._namespaces(definitions, "/definitions", chain)
        return root

    def _parsed(self, content: bytes, chain: tuple[str, ...]) -> dict[str, Any]:
        what = f"the document {chain[-1]!r}" if chain else "the document"
        if len(content) > SIZE_LIMIT:
            raise self.error("", f"{what} has more than {SIZE_LIMIT} bytes")
        try:
            root = parse(content)
        except MessageError as error:
            raise self.error("", f"{what} {error.problems[0].message}") from None
        if not isinstance(root, dict):
            raise self.error("", f"{what} is not an object")
        return root

    def _spend(self, value: Any) -> None:
        waiting = [value]
        while waiting:
            one = waiting.pop()
            if isinstance(one, dict):
                waiting.extend(one.values())
            elif isinstance(one, list):
                waiting.extend(one)
            else:
                continue
            self._left -= 1
            if self._left < 0:
                reason = f"it has more than {NODE_LIMIT} arrays and objects, with its imports"
                raise self.error("", reason)

    def _namespaces(self, space: dict[str, Any], where: str, chain: tuple[str, ...]) -> None:
        waiting = [(space, where)]
        while waiting:
            space, where = waiting.pop()
            if any(key in space for key in IMPORTS):
                self._namespace(space, space, where, where, chain)
            waiting.extend(
                (inner, f"{where}/{escaped(name)}")
                for name, inner in space.items()
                if isinstance(inner, dict) and "type" not in inner
            )

    def _namespace(
        self,
        holder: dict[str, Any],
        into: dict[str, Any],
        place: str,
        at: str,
        chain: tuple[str, ...],
    ) -> None:
        for key in IMPORTS:
            if key not in holder:
                continue
            name = holder.pop(key)
            where = f"{at}/{key}"
            for one, definition in self._imported(name, key, place, where, chain).items():
                into.setdefault(one, definition)

    def _imported(
        self, name: Any, key: str, place: str, where: str, chain: tuple[str, ...]
    ) -> dict[str, Any]:
        if not isinstance(name, str):
            raise self.error(where, f"{key} names a document by a URI")
        plain = name.partition("#")[0]
        content = self._others.get(name, self._others.get(plain))
        if content is None:
            raise self.error(where, f"{plain!r} is not in the catalog, and nothing is fetched")
        if plain in chain:
            raise self.error(where, f"the import of {plain!r} comes back to itself")
        other = self.document(content, (*chain, plain))
        own = other.get("name")
        found: dict[str, Any] = {}
        if key == "$import" and "type" in other and isinstance(own, str):
            root = {word: part for word, part in other.items() if word not in _OWN}
            found[own] = _moved(root, place, own)
        definitions = other.get("definitions")
        for one, part in (definitions if isinstance(definitions, dict) else {}).items():
            found.setdefault(one, _moved_names(part, place, own))
        self._spend(found)
        return found

    def error(self, where: str, reason: str) -> SchemaError:
        return SchemaError(self._format, where, reason)


def _moved_names(value: Any, place: str, own: Any) -> Any:
    if not isinstance(value, dict) or "type" in value:
        return _moved(value, place, own)
    return {name: _moved_names(part, place, own) for name, part in value.items()}


def _moved(value: Any, place: str, own: Any) -> Any:
    """A part of an imported document, whose references lead to where it is imported to."""
    if isinstance(value, list):
        return [_moved(part, place, own) for part in value]
    if not isinstance(value, dict):
        return value
    moved: dict[str, Any] = {}
    for key, part in value.items():
        if key in ("$ref", "$extends"):
            moved[key] = _redirected(part, place, own)
        elif key in _BY_NAME and isinstance(part, dict):
            moved[key] = {name: _moved(one, place, own) for name, one in part.items()}
        else:
            moved[key] = part if key in _DATA else _moved(part, place, own)
    return moved


def _redirected(target: Any, place: str, own: Any) -> Any:
    if isinstance(target, list):
        return [_redirected(one, place, own) for one in target]
    if not isinstance(target, str):
        return target
    if target == "#" and isinstance(own, str):
        return f"#{place}/{escaped(own)}"
    if target.startswith("#/definitions/"):
        return f"#{place}/{target.removeprefix('#/definitions/')}"
    return target


def definitions_of(
    space: Mapping[str, Any], where: str = "/definitions"
) -> Iterator[tuple[str, Any]]:
    """Every type of a namespace and of those in it, by its place; also what is neither."""
    waiting: list[tuple[str, Any]] = [(where, space)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, Mapping) and (place == where or not is_type(value)):
            children = [(f"{place}/{escaped(name)}", part) for name, part in value.items()]
            waiting.extend(reversed(children))
        else:
            yield place, value


def is_type(value: Mapping[str, Any]) -> bool:
    """Whether an object under ``definitions`` is a type, not a namespace."""
    words = ("$ref", "$extends", "allOf", "anyOf", "oneOf", "not", "if")
    kind = value.get("type")
    if isinstance(kind, (str, list)) or (isinstance(kind, Mapping) and len(kind) > 0):
        return True
    return any(isinstance(value.get(word), (str, list)) for word in words[:5]) or any(
        isinstance(value.get(word), Mapping) and is_type(value[word]) for word in words[5:]
    )


def places_of(link: str) -> Iterator[str]:
    """The places that a deep link may mean: a pointer, a fragment, or the name of a type."""
    text = link.removeprefix("#")
    for one in dict.fromkeys((text, unquote(text))):
        if one.startswith("/"):
            yield one
        else:
            yield f"/{one}"
            yield f"/definitions/{one}"
            yield f"/definitions/{one.replace('.', '/')}"
