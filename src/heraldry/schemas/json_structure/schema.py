"""JSON Structure, core with validation, conditional composition and imports: offline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any, Final

from heraldry.errors import MessageError, SchemaError
from heraldry.model.problem import Problem
from heraldry.schemas.columns import Column
from heraldry.schemas.framing import unframed
from heraldry.schemas.json_structure.columns import columns_of
from heraldry.schemas.json_structure.document import read_document
from heraldry.schemas.json_structure.reading import Readers, Run
from heraldry.schemas.json_structure.rows import located, prepared
from heraldry.schemas.json_structure.sample import NONE, Sampler
from heraldry.schemas.json_structure.shapes import Structure
from heraldry.schemas.json_structure.structure import read_structure
from heraldry.schemas.json_structure.writing import Writers, not_json
from heraldry.schemas.located import PROBLEM_LIMIT, short
from heraldry.schemas.parse import DEPTH_LIMIT, encode, is_deep, parse
from heraldry.schemas.rows import Row, row_reader
from heraldry.schemas.sample_hints import hinted
from heraldry.schemas.source import Source

SAMPLE_TRIES: Final = 20
"""How many values are made up before a structure counts as one without samples."""

VARIANT_LIMIT: Final = 16
"""How many combinations of add-ins are kept compiled."""

# Names of extensions of the language may stand among those of add-ins.
_EXTENSIONS = ("JSONStructure", "JSONSchema")


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A structure with a combination of add-ins, ready to read and write."""

    structure: Structure
    readers: Readers
    writers: Writers


class JsonStructure:
    """A compiled JSON Structure; see PayloadSchema for what each method promises.

    A decoded value is what JSON holds, except that ``int64``, ``uint64``, ``int128`` and
    ``uint128`` are ``int``, ``decimal`` is ``Decimal`` and ``binary`` is ``bytes`` (not inflated).
    Dates and times stay text, so that nothing of them is lost. Where a union or a condition
    without a type leaves it open what a text means, the first type that fits decides.
    """

    media_type = "application/json"
    warnings: tuple[str, ...] = ()

    def __init__(self, source: Source) -> None:
        self.source = source
        self._document = read_document(source)
        self._variants: dict[frozenset[str], _Compiled] = {}
        self._plain = self._compiled(frozenset())
        self.structure = self._plain.structure
        self.columns: tuple[Column, ...] = columns_of(self.structure)

    def __reduce__(self) -> tuple[Callable[[Source], JsonStructure], tuple[Source]]:
        return load, (self.source,)

    def decode(self, payload: bytes, content_type: str | None = None) -> Any:
        """The valid value in the JSON of the payload, whatever the content type says."""
        return unframed(payload, self._decoded)

    def _decoded(self, payload: bytes) -> Any:
        native, problems = self._read(parse(payload))
        if problems:
            raise MessageError(problems)
        return native

    def encode(self, value: Any, content_type: str | None = None) -> bytes:
        """The JSON text of a valid value; typed values may also be given as JSON spells them."""
        written, _, problems = self._written(value)
        if problems:
            raise MessageError(problems)
        try:
            return encode(written)
        except (TypeError, ValueError):
            raise MessageError((_not_json(written),)) from None

    def is_valid(self, value: Any) -> bool:
        """Whether the structure accepts a value, as it is decoded or as JSON spells it."""
        return not self._written(value)[2]

    def check(self, value: Any) -> tuple[Problem, ...]:
        """The first PROBLEM_LIMIT problems of a value, in the order of its parts."""
        return self._written(value)[2]

    @cached_property
    def to_row(self) -> Callable[[Any], Row]:
        """The row of a valid value by column name, or the problems of its columns."""
        read, prepare = row_reader(self.columns), prepared(self.structure, self.columns)
        if prepare is None:
            return read

        def to_row(value: Any) -> Row:
            row = read(prepare(value))
            if isinstance(row, dict):
                return row
            return tuple(located(self.structure, problem) for problem in row)

        return to_row

    def sample(self, random: Random, hints: Mapping[str, Any]) -> Any:
        """A valid value, with the hints in its top-level properties where they are valid."""
        sampler = Sampler(self.structure, random)
        for _ in range(SAMPLE_TRIES):
            value = sampler.value()
            if value is not NONE and self.is_valid(value):
                return self._written(hinted(value, hints, self.is_valid))[1]
        reason = f"no sample found that is valid, in {SAMPLE_TRIES} tries"
        raise SchemaError(self.source.format, self.source.link, reason)

    def _read(self, value: Any) -> tuple[Any, tuple[Problem, ...]]:
        """The native value of a JSON value, and what is wrong with it."""
        compiled, run = self._for(value), Run()
        if compiled is None:
            told = "uses an add-in the schema does not offer"
            found = short(value["$uses"])
            return None, (Problem(path="/$uses", rule="$uses", message=told, found=found),)
        try:
            native = compiled.readers.root(value, (), run)
        except RecursionError:
            return None, (_too_deep(),)
        except MessageError as error:
            return None, error.problems
        return native, tuple(run.problems[:PROBLEM_LIMIT])

    def _written(self, value: Any) -> tuple[Any, Any, tuple[Problem, ...]]:
        """What JSON writes for a value, its native form, and what is wrong with it."""
        compiled = self._for(value) or self._plain
        try:
            write = compiled.writers.root
            written = value if write is None else write(value, Run())
        except RecursionError:
            return None, None, (_too_deep(),)
        except MessageError as error:
            return None, None, error.problems
        if is_deep(written):
            return None, None, (_too_deep(),)
        wrong = not_json(written)
        native, problems = self._read(written)
        if not problems and wrong is not None:
            problems = (wrong,)
        return written, native, problems

    def _for(self, value: Any) -> _Compiled | None:
        """What to read a payload with, by the add-ins it uses; None where one is not offered."""
        if type(value) is not dict or "$uses" not in value:
            return self._plain
        uses = value["$uses"]
        if type(uses) is not list or not all(type(one) is str for one in uses):
            return None
        names = frozenset(one for one in uses if not one.startswith(_EXTENSIONS))
        if not names <= self.structure.offers.keys():
            return None
        return self._compiled(names)

    def _compiled(self, uses: frozenset[str]) -> _Compiled:
        known = self._variants.get(uses)
        if known is None:
            structure = read_structure(self._document, self.source, uses)
            readers = Readers(structure)
            known = _Compiled(structure, readers, Writers(structure, readers))
            if len(self._variants) < VARIANT_LIMIT:
                self._variants[uses] = known
        return known


def load(source: Source) -> JsonStructure:
    """The structure in a JSON text, or the type a link names; SchemaError says what is wrong."""
    try:
        return JsonStructure(source)
    except RecursionError:
        reason = "its types are nested too deeply"
        raise SchemaError(source.format, source.link, reason) from None


def _too_deep() -> Problem:
    return Problem(path="/", rule="depth", message=f"is nested deeper than {DEPTH_LIMIT} levels")


def _not_json(value: Any) -> Problem:
    return Problem(path="/", rule="json", message="is not a value of JSON", found=short(value))
