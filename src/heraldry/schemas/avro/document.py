"""An Avro document as a Schema: names resolved, references replaced, nothing fetched."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from heraldry.errors import MessageError, SchemaError
from heraldry.schemas.avro.logical import PRECISION_LIMIT, logical_of
from heraldry.schemas.avro.nodes import (
    PRIMITIVES,
    Array,
    Enum,
    Field,
    FixedBytes,
    Map,
    Named,
    Primitive,
    Record,
    Ref,
    Schema,
    Type,
    Union,
    simple,
)
from heraldry.schemas.avro.references import candidates, qualified
from heraldry.schemas.parse import parse
from heraldry.schemas.source import Source

DOCUMENT_LIMIT: Final = 4 * 1024 * 1024
"""How many bytes a document may have, together with those it refers to."""

TYPE_LIMIT: Final = 5_000
"""How many types a schema may be written with."""

BRANCH_LIMIT: Final = 500
"""How many types a union may have."""

SYMBOL_LIMIT: Final = 50_000
"""How many symbols all enums of a schema may have."""

SIZE_LIMIT: Final = 1024 * 1024
"""How many bytes a fixed type may have."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_FULL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*", re.ASCII)
_ORDERS = ("ascending", "descending", "ignore")


def read(source: Source) -> Schema:
    """The schema of a source: the type its link names, or else the document's own."""
    content = {reference.name: reference.content for reference in source.references}
    size = len(source.content) + sum(len(text) for text in content.values())
    if size > DOCUMENT_LIMIT:
        reason = f"it has more than {DOCUMENT_LIMIT} bytes, with the documents it refers to"
        raise SchemaError(source.format, "", reason)
    reader = _Reader(source.format, content)
    try:
        top = reader.document(source.content, "")
    except RecursionError:
        raise SchemaError(source.format, "", "its types are nested too deeply") from None
    name = source.link.lstrip("#:/")
    if name:
        top = reader.linked(name, source.link)
    return Schema(top, reader.named)


class _Reader:
    """Reads one document and those it refers to; all their named types get into ``named``."""

    def __init__(self, format: str, content: Mapping[str, bytes]) -> None:  # noqa: A002
        self._format = format
        self._content = content
        self._written: dict[str, tuple[str, Any]] = {}  # full name: document and definition
        self._documents: dict[str, Type] = {}
        self._types = self._symbols = 0
        self._document = ""
        self.named: dict[str, Named] = {}

    def document(self, content: bytes, name: str) -> Type:
        """The type at the top of a document; ``name`` is what it is referred to by."""
        at = f"{name}#" if name else ""
        # A bare name is no JSON, but the text of a catalog that has a string for a schema.
        bare = content.strip().decode("latin-1") if len(content) < 20 else ""
        try:
            value = bare if bare in PRIMITIVES else parse(content)
        except MessageError as error:
            reason = f"the document {error.problems[0].message}"
            raise SchemaError(self._format, at, reason) from None
        before, self._document = self._document, name
        top = self._type(value, "", at)
        self._document = before
        return top

    def linked(self, name: str, link: str) -> Ref:
        """The named type that a link means, by its full name or by the last part of it."""
        if name in self.named:
            return Ref(name=name)
        found = [full for full in self.named if simple(full) == name]
        if len(found) == 1:
            return Ref(name=found[0])
        many = "several types" if found else "no type"
        raise SchemaError(self._format, link, f"the document has {many} of this name")

    def _wrong(self, at: str, reason: str) -> SchemaError:
        return SchemaError(self._format, at, reason)

    def _type(self, value: Any, space: str, at: str) -> Type:
        self._types += 1
        if self._types > TYPE_LIMIT:
            raise self._wrong("", f"it is written with more than {TYPE_LIMIT} types")
        if isinstance(value, str):
            if value in PRIMITIVES:
                return Primitive(kind=value, at=at)
            return self._reference(value, space, at)
        if isinstance(value, list):
            return self._union(value, space, at)
        if not isinstance(value, dict):
            raise self._wrong(at, "a type is a name, a list or an object")
        kind = value.get("type")
        if isinstance(kind, (dict, list)):
            return self._type(kind, space, f"{at}/type")
        if not isinstance(kind, str):
            raise self._wrong(at, "the type has no 'type'")
        return self._complex(value, kind, space, at)

    def _complex(self, value: dict[str, Any], kind: str, space: str, at: str) -> Type:
        if kind in PRIMITIVES:
            logical = logical_of(value, kind)
            self._check_precision(logical, at)
            return Primitive(kind=kind, at=at, logical=logical)
        if kind == "array":
            return Array(items=self._part(value, "items", space, at), at=at)
        if kind == "map":
            return Map(values=self._part(value, "values", space, at), at=at)
        if kind in ("record", "error", "enum", "fixed"):
            return self._definition(value, kind, space, at)
        return self._reference(kind, space, at)

    def _check_precision(self, logical: Any, at: str) -> None:
        if logical is not None and logical.precision > PRECISION_LIMIT:
            raise self._wrong(at, f"a decimal has at most {PRECISION_LIMIT} digits")

    def _part(self, value: dict[str, Any], key: str, space: str, at: str) -> Type:
        if key not in value:
            raise self._wrong(at, f"the {value['type']} has no {key!r}")
        return self._type(value[key], space, f"{at}/{key}")

    def _union(self, value: list[Any], space: str, at: str) -> Union:
        if len(value) > BRANCH_LIMIT:
            raise self._wrong(at, f"the union has more than {BRANCH_LIMIT} types")
        branches: list[Type] = []
        seen: set[str] = set()
        for index, item in enumerate(value):
            branch = self._type(item, space, f"{at}/{index}")
            name = branch.name if isinstance(branch, (Ref, Named)) else branch.kind
            if isinstance(branch, Union):
                raise self._wrong(f"{at}/{index}", "a union holds no other union directly")
            if name in seen:
                raise self._wrong(f"{at}/{index}", f"the union has {name!r} twice")
            seen.add(name)
            branches.append(branch)
        return Union(branches=tuple(branches), at=at)

    def _definition(self, value: dict[str, Any], kind: str, space: str, at: str) -> Type:
        name, space = self._name(value, space, at)
        if name in self._written:
            document, written = self._written[name]
            # Two documents may both bring the same type: it counts once.
            if document != self._document and written == value:
                return Ref(name=name)
            raise self._wrong(at, f"the type {name!r} is defined twice")
        self._written[name] = (self._document, value)
        aliases = frozenset(
            qualified(alias, space) for alias in self._aliases(value, at, _FULL_NAME)
        )
        made: Named
        if kind == "fixed":
            made = self._fixed(value, name, aliases, at)
        elif kind == "enum":
            made = self._enum(value, name, aliases, at)
        else:
            fields = self._fields(value, space, at)
            made = Record(name=name, aliases=aliases, fields=fields, at=at)
        self.named[name] = made
        return made

    def _name(self, value: dict[str, Any], space: str, at: str) -> tuple[str, str]:
        """The full name of a definition, and the namespace inside it."""
        name, own = value.get("name"), value.get("namespace")
        if not isinstance(name, str) or not _FULL_NAME.fullmatch(name):
            raise self._wrong(at, f"the {value['type']} has no valid name")
        if own is not None and not (isinstance(own, str) and (not own or _FULL_NAME.match(own))):
            raise self._wrong(at, "the namespace is not valid")
        if "." in name:
            space = name.rpartition(".")[0]
        elif isinstance(own, str):
            space, name = own, qualified(name, own)
        else:
            name = qualified(name, space)
        if not _FULL_NAME.fullmatch(name):
            raise self._wrong(at, "the namespace is not valid")
        if name in PRIMITIVES:
            raise self._wrong(at, f"{name!r} is the name of a primitive type")
        return name, space

    def _aliases(self, value: dict[str, Any], at: str, form: re.Pattern[str]) -> list[str]:
        aliases = value.get("aliases")
        if aliases is None:
            return []
        if not isinstance(aliases, list) or not all(
            isinstance(alias, str) and form.fullmatch(alias) for alias in aliases
        ):
            raise self._wrong(at, "the aliases are not a list of names")
        return aliases

    def _fixed(self, value: dict[str, Any], name: str, aliases: Any, at: str) -> FixedBytes:
        size = value.get("size")
        if type(size) is not int or size < 0:
            raise self._wrong(at, "the size of a fixed type is a number of bytes")
        if size > SIZE_LIMIT:
            raise self._wrong(at, f"a fixed type has at most {SIZE_LIMIT} bytes")
        logical = logical_of(value, "fixed", size)
        self._check_precision(logical, at)
        return FixedBytes(name=name, aliases=aliases, size=size, at=at, logical=logical)

    def _enum(self, value: dict[str, Any], name: str, aliases: Any, at: str) -> Enum:
        symbols, default = value.get("symbols"), value.get("default")
        if not isinstance(symbols, list) or not all(
            isinstance(symbol, str) and _NAME.fullmatch(symbol) for symbol in symbols
        ):
            raise self._wrong(at, "the symbols of an enum are a list of names")
        self._symbols += len(symbols)
        if self._symbols > SYMBOL_LIMIT:
            raise self._wrong(at, f"its enums have more than {SYMBOL_LIMIT} symbols")
        if not symbols or len(set(symbols)) < len(symbols):
            raise self._wrong(at, "the symbols of an enum are none, or one of them is there twice")
        if default is not None and default not in symbols:
            raise self._wrong(f"{at}/default", "the default is not one of the symbols")
        return Enum(name=name, aliases=aliases, symbols=tuple(symbols), default=default, at=at)

    def _fields(self, value: dict[str, Any], space: str, at: str) -> tuple[Field, ...]:
        fields = value.get("fields")
        if not isinstance(fields, list):
            raise self._wrong(at, "the record has no list of fields")
        made: dict[str, Field] = {}
        for index, field in enumerate(fields):
            where = f"{at}/fields/{index}"
            one = self._field(field, space, where)
            if one.name in made:
                raise self._wrong(where, f"the record has the field {one.name!r} twice")
            made[one.name] = one
        return tuple(made.values())

    def _field(self, value: Any, space: str, at: str) -> Field:
        if not isinstance(value, dict):
            raise self._wrong(at, "a field is an object")
        name = value.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise self._wrong(at, "the field has no valid name")
        if "type" not in value:
            raise self._wrong(at, f"the field {name!r} has no type")
        if value.get("order", "ascending") not in _ORDERS:
            raise self._wrong(at, f"the order of the field {name!r} is not one of {_ORDERS}")
        return Field(
            name=name,
            aliases=tuple(self._aliases(value, at, _NAME)),
            type=self._type(value["type"], space, f"{at}/type"),
            has_default="default" in value,
            default=value.get("default"),
            at=at,
        )

    def _reference(self, text: str, space: str, at: str) -> Type:
        full = qualified(text, space)
        if full in self._written:
            return Ref(name=full)
        for document, name in candidates(text, full):
            if document in self._content:
                return self._referred(document, name or full, required=bool(name), at=at)
        if _FULL_NAME.fullmatch(text):
            reason = (
                f"the type {text!r} is not defined, nor is a schema of that name in the catalog"
            )
        else:
            reason = f"{text!r} is not in the catalog, and nothing is fetched"
        raise self._wrong(at, reason)

    def _referred(self, document: str, name: str, *, required: bool, at: str) -> Type:
        """A type of another document: the one of this name, or the one at the top."""
        if document not in self._documents:
            top = self.document(self._content[document], document)
            self._documents[document] = Ref(name=top.name) if isinstance(top, Named) else top
        found = [full for full in self._written if name in (full, simple(full))]
        if name in self._written:
            return Ref(name=name)
        if required and len(found) == 1:
            return Ref(name=found[0])
        if required:
            raise self._wrong(at, f"{document!r} has no type {name!r}")
        return self._documents[document]
