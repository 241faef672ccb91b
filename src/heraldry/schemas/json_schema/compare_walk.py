"""Two versions side by side: every pair of sub-schemas that apply to the same values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from heraldry.errors import UnreadableError
from heraldry.schemas.changes import Effect
from heraldry.schemas.json_schema.compare_found import Direction, Found, worst
from heraldry.schemas.json_schema.compare_reading import Node, Part, Version
from heraldry.schemas.json_schema.containment import covers
from heraldry.schemas.located import short

STEP_LIMIT: Final = 10_000
"""How many pairs of sub-schemas one comparison visits."""

DEPTH_LIMIT: Final = 60
"""How deep in one another the sub-schemas of a comparison may be."""

TRIAL_LIMIT: Final = 6_000
"""How many pairs are compared only for what they would mean; one that is walked counts thrice."""

ASK_LIMIT: Final = 100
"""How many pairs of sub-schemas are decided as sets of values."""

_PATH_LIMIT: Final = 120

# Keywords whose single changes say little about what they accept together.
_TOGETHER: Final = frozenset(
    (
        "$ref", "allOf", "anyOf", "oneOf", "not", "if", "patternProperties", "propertyNames",
        "contains", "enum", "const", "dependencies", "dependentSchemas", "dependentRequired",
        "additionalProperties", "prefixItems", "additionalItems", "multipleOf", "pattern",
        "unevaluatedProperties", "unevaluatedItems",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Context:
    """How a pair bears on the whole.

    ``flipped`` inside ``not``; ``fragile`` are the directions in which accepting more may still
    refuse a value, as where exactly one alternative must match.
    """

    flipped: bool = False
    fragile: frozenset[str] = frozenset()

    def flip(self) -> Context:
        """The context one ``not`` further in."""
        return replace(self, flipped=not self.flipped)

    def frail(self, *directions: str) -> Context:
        """The context with more fragile directions, named as they are outside of any ``not``."""
        return replace(self, fragile=self.fragile | set(directions))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two sub-schemas for the same values; ``path`` names these values in sentences."""

    old: Part
    new: Part
    path: str = ""
    context: Context = Context()

    def to(self, old: Part, new: Part, path: str | None = None) -> Pair:
        """Another pair in the same context."""
        return replace(self, old=old, new=new, path=self.path if path is None else path)

    def member(self, name: str) -> str:
        """The path of a member of these values."""
        path = f"{self.path}.{label(name)}" if self.path else label(name)
        return path if len(path) <= _PATH_LIMIT else f"…{path[1 - _PATH_LIMIT :]}"

    @property
    def subject(self) -> str:
        """What sentences call these values."""
        subject = f"'{self.path}'" if self.path else "the payload"
        return f"what {subject} must not be" if self.context.flipped else subject


def label(name: str) -> str:
    """The name of a member as sentences show it: in one line, and not too long."""
    return short(name).strip('"')


Unit = Callable[["Walk", Pair, Node, Node], None]


class Walk:
    """Collects what is found in ``found``; ``units`` compare the keywords of one pair."""

    def __init__(
        self,
        old: Version,
        new: Version,
        units: tuple[Unit, ...],
        is_entangled: Callable[[Node], bool],
    ) -> None:
        self.old, self.new, self._units = old, new, units
        self._is_entangled = is_entangled
        self.found: list[Found] = []
        self._seen: set[tuple[int, int, Context]] = set()
        self._active: list[tuple[int, int, Context]] = []
        self._budget = {"steps": STEP_LIMIT, "trials": TRIAL_LIMIT, "asks": ASK_LIMIT}
        # Parts made up on the way are kept, so that no two of them share an identity.
        self._kept: list[Any] = []

    def add(self, pair: Pair, found: Found) -> None:
        """Note a difference, as seen from the context of its pair."""
        if pair.context.flipped:
            found = found.flipped()
        if "backward" in pair.context.fragile and found.backward == "safe":
            why = "the parts of the new version together refuse old messages"
            found = replace(found, backward="undecided", backward_why=why)
        if "forward" in pair.context.fragile and found.forward == "safe":
            why = "the parts of the old version together refuse new messages"
            found = replace(found, forward="undecided", forward_why=why)
        self.found.append(found)

    def walk(self, pair: Pair) -> None:
        """Compare two sub-schemas, and all that is in them."""
        try:
            old, new = self.old.followed(pair.old), self.new.followed(pair.new)
            pair = pair.to(old, new)
            if self._visited(pair):
                return
            nodes = self.old.node(old), self.new.node(new)
        except UnreadableError:
            self._unreadable(pair)
            return
        self._active.append(_key(pair))
        mark = len(self.found)
        inner = pair
        if any(map(self._is_entangled, nodes)):
            inner = replace(pair, context=pair.context.frail("backward", "forward"))
        for unit in (_never,) if nodes[0].never or nodes[1].never else self._units:
            unit(self, inner, *nodes)
        self._active.pop()
        self._reconsider(pair, nodes, mark)

    def effects(self, pair: Pair) -> tuple[Effect, Effect]:
        """What the differences of a pair would mean, without noting them: backward, forward."""
        self._budget["trials"] -= 1
        if self._budget["trials"] < 0:
            return "undecided", "undecided"
        try:
            old, new = self.old.node(pair.old), self.new.node(pair.new)
        except UnreadableError:
            return self._tried(pair)
        if old.never or new.never:
            return _breaks(not old.never), _breaks(not new.never)
        if old.free or new.free:
            return _breaks(not new.free), _breaks(not old.free)
        return self._tried(pair)

    def _tried(self, pair: Pair) -> tuple[Effect, Effect]:
        self._budget["trials"] -= 2
        trial = Walk(self.old, self.new, self._units, self._is_entangled)
        trial._seen, trial._active = set(self._active), list(self._active)
        trial._budget, trial._kept = self._budget, self._kept
        trial.walk(replace(pair, context=Context()))
        found = trial.found
        return worst(one.backward for one in found), worst(one.forward for one in found)

    def together(self, parts: list[Part]) -> Part:
        """One part for several that all apply."""
        if len(parts) == 1:
            return parts[0]
        made = {"allOf": [part.schema for part in parts]}
        self._kept.append(made)
        return Part(made, parts[0].at)

    def _visited(self, pair: Pair) -> bool:
        old, new = pair.old.schema, pair.new.schema
        if not isinstance(old, Mapping) and not isinstance(new, Mapping):
            return old is new
        key = _key(pair)
        if key in self._seen:
            return True
        self._seen.add(key)
        self._budget["steps"] -= 1
        if self._budget["steps"] < 0 or len(self._active) > DEPTH_LIMIT:
            self.add(pair, _unknown(pair, "too-large", "too large or too deep to be compared"))
            return True
        return False

    def _unreadable(self, pair: Pair) -> None:
        """A reference that is not followed: decided only where both versions write the same."""
        same = self.old.schema.source.references == self.new.schema.source.references
        equal = repr(pair.old.schema) == repr(pair.new.schema)
        if not (same and equal and not _local(pair.old.schema)):
            told = "behind a reference that is not followed here"
            self.add(pair, _unknown(pair, "reference-changed", told))

    def _reconsider(self, pair: Pair, nodes: tuple[Node, Node], mark: int) -> None:
        """Decide a pair as two sets of values where its single differences look bad."""
        rest = self.found[mark:]
        words = nodes[0].asked.keys() | nodes[1].asked.keys()
        if pair.context.fragile or not self._active or not words & _TOGETHER:
            return
        directions: tuple[Direction, Direction] = ("backward", "forward")
        for direction in directions:
            if all(getattr(one, direction) == "safe" for one in rest) or self._budget["asks"] <= 0:
                continue
            self._budget["asks"] -= 1
            if self._holds(pair, direction):
                self.found[mark:] = rest = [one.with_effect(direction, "safe") for one in rest]

    def _holds(self, pair: Pair, direction: str) -> bool:
        old = self.old.document, pair.old.schema
        new = self.new.document, pair.new.schema
        widens = (direction == "backward") != pair.context.flipped
        return covers(*(new + old if widens else old + new)) == "yes"


def _key(pair: Pair) -> tuple[int, int, Context]:
    return id(pair.old.schema), id(pair.new.schema), pair.context


def _breaks(refused: bool) -> Effect:
    return "breaking" if refused else "safe"


def _local(schema: Any) -> bool:
    """Whether a reference stays in its own document, which is another one in each version."""
    reference = schema.get("$ref") if isinstance(schema, Mapping) else None
    return not isinstance(reference, str) or reference.startswith("#")


def _never(walk: Walk, pair: Pair, old: Node, new: Node) -> None:
    if old.never and new.never:
        return
    word = "is refused now" if new.never else "is accepted now, after being refused"
    walk.add(
        pair,
        Found(
            rule="value-refused" if new.never else "value-accepted",
            old=pair.old.at,
            new=pair.new.at,
            fact=f"Any value of {pair.subject} {word}",
            backward="breaking" if new.never else "safe",
            forward="breaking" if old.never else "safe",
            backward_why="old messages that have one are refused",
            forward_why="the old version refuses new messages that have one",
        ),
    )


def _unknown(pair: Pair, rule: str, told: str) -> Found:
    return Found(
        rule=rule,
        old=pair.old.at,
        new=pair.new.at,
        fact=f"A part of the schema of {pair.subject} is {told}",
        backward="undecided",
        forward="undecided",
        backward_why="the new version refuses old messages",
        forward_why="the old version refuses new messages",
    )
