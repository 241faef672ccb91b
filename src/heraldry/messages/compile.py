"""Compiling: a message definition as the list of rules a message is judged by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from heraldry.errors import SchemaError, TemplateError
from heraldry.messages.constraint import Constraint, Kind, Place
from heraldry.messages.envelopes import cloudevents
from heraldry.messages.extract import envelope_columns
from heraldry.messages.fields import Field
from heraldry.messages.plan import Plan, plan
from heraldry.messages.protocol_table import fields, supported
from heraldry.messages.template import Template
from heraldry.messages.values import canonical_text
from heraldry.model.catalog import Catalog
from heraldry.model.definition import NOW, Definition, PropertyDefinition
from heraldry.model.formats import family, fold, is_cloudevents, protocol_family
from heraldry.model.inherit import materialize
from heraldry.model.rules_properties import IN_AMQP, IN_PROTOCOL
from heraldry.model.schema_reference import Resolved, resolve_schema
from heraldry.model.xid import Xid
from heraldry.schemas import formats as schema_formats
from heraldry.schemas.columns import Column
from heraldry.schemas.payload_schema import PayloadSchema
from heraldry.schemas.references import gather

SchemaState = Literal[
    "usable", "none", "dangling", "external", "conflict", "unsupported", "invalid"
]

TEXT_TYPES = frozenset(("string", "uritemplate"))
SENTINELS = frozenset((NOW, "01-01-0000T00:00:00Z"))
"""Both spellings of the current time (M41, C20)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaOutcome:
    """The payload schema of a definition, or why there is none to use."""

    state: SchemaState
    schema: PayloadSchema | None = None
    detail: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class CompiledDefinition:
    """A definition with its constraints; the payload schema is compiled when first asked for.

    ``unusable`` says why no message can ever be one of these (rule and reason), or is None.
    """

    catalog: Catalog
    definition: Definition
    constraints: tuple[Constraint, ...]
    unusable: tuple[str, str] | None = None

    @cached_property
    def xid(self) -> str:
        """The xid as text."""
        return str(self.definition.xid)

    @cached_property
    def cloudevents(self) -> bool:
        """Whether the envelope is CloudEvents."""
        return is_cloudevents(self.definition.envelope)

    @cached_property
    def protocol(self) -> tuple[str, str] | None:
        """The family and version of the protocol, or None."""
        text = self.definition.protocol
        return protocol_family(text) if text else None

    @cached_property
    def outcome(self) -> SchemaOutcome:
        """The payload schema, compiled once, or why there is none."""
        return compile_schema(self.catalog, self.definition)

    @property
    def schema(self) -> PayloadSchema | None:
        """The payload schema where it can be used."""
        return self.outcome.schema

    @property
    def schema_state(self) -> SchemaState:
        """``usable``, or why the payload is carried raw."""
        return self.outcome.state

    @cached_property
    def discriminators(self) -> tuple[tuple[str, str], ...]:
        """The constants a message must carry: path and text."""
        rules = self.constraints
        return tuple((c.path, c.text) for c in rules if c.kind == "constant" and not c.implied)

    @cached_property
    def plan(self) -> Plan:
        """The constraints, sorted by what tells at once that a plain value obeys them."""
        return plan(self.constraints)

    @cached_property
    def envelope_columns(self) -> tuple[Column, ...]:
        """The columns that the envelope gives the table."""
        return envelope_columns(self.definition)

    @cached_property
    def placeholders(self) -> tuple[str, ...]:
        """The names of all placeholders, in the order in which the definition uses them (M39)."""
        rules = (rule.template for rule in self.constraints if rule.template is not None)
        return tuple(dict.fromkeys(name for rule in rules for name in rule.placeholders))


def compile_definition(catalog: Catalog, xid: Xid) -> CompiledDefinition:
    """Merge a definition with its bases and compile it (M4, M65)."""
    return compile_merged(catalog, materialize(catalog, xid))


def compile_merged(catalog: Catalog, definition: Definition) -> CompiledDefinition:
    """Compile a definition that has all it inherits."""
    unusable = why_unusable(definition)
    constraints: tuple[Constraint, ...] = ()
    try:
        constraints = _bound(list(_constraints(definition)))
    except TemplateError as error:
        unusable = unusable or ("template-invalid", str(error))
    return CompiledDefinition(
        catalog=catalog, definition=definition, constraints=constraints, unusable=unusable
    )


def why_unusable(definition: Definition) -> tuple[str, str] | None:
    """Why a definition is never matched: unknown envelope or protocol, or nothing declared."""
    envelope, protocol = definition.envelope, definition.protocol
    if envelope and not is_cloudevents(envelope):
        return "envelope-unknown", f"the envelope {envelope!r} is not known"
    if protocol and not supported(protocol):
        return "protocol-unsupported", f"the protocol {protocol!r} is not known"
    if not envelope and not protocol and not declares_payload(definition):
        return "empty", "nothing is declared that a message could be told by"
    return None


def declares_payload(definition: Definition) -> bool:
    """Whether a definition says anything about the payload."""
    return bool(
        definition.datacontenttype
        or definition.dataschema is not None
        or definition.dataschemauri
        or definition.dataschemaxid
    )


def compile_schema(catalog: Catalog, definition: Definition) -> SchemaOutcome:
    """Find and compile the payload schema; nothing is fetched, nothing guessed."""
    found = resolve_schema(catalog, definition)
    if not isinstance(found, Resolved):
        return SchemaOutcome(state=found.reason, detail=found.detail)
    if not schema_formats.supported(found.format):
        return SchemaOutcome(state="unsupported", detail=found.format)
    try:
        return SchemaOutcome(state="usable", schema=compile_resolved(catalog, found))
    except SchemaError as error:
        return SchemaOutcome(state="invalid", detail=str(error))


def compile_resolved(catalog: Catalog, found: Resolved) -> PayloadSchema:
    """Compile a schema of the catalog with the documents it refers to; SchemaError."""
    return schema_formats.compile(
        found.format,
        found.document,
        found.link,
        name=Xid.parse(found.xid).resource or "" if found.xid else "",
        references=gather(catalog, found),
    )


def _constraints(definition: Definition) -> Iterator[Constraint]:
    if is_cloudevents(definition.envelope):
        yield from _attribute_constraints(definition)
    if definition.protocol and supported(definition.protocol):
        rules = list(_metadata_constraints(definition, definition.protocol))
        # A name may repeat in a collection: single values bind the placeholders first.
        yield from (rule for rule in rules if rule.place.member is None)
        yield from (rule for rule in rules if rule.place.member is not None)
    yield from _content_type(definition)


def _attribute_constraints(definition: Definition) -> Iterator[Constraint]:
    for name, pd in cloudevents.properties(definition).items():
        declared = definition.envelopemetadata.get(name)
        given = PropertyDefinition.of(name, declared) if declared is not None else None
        # what is only inferred (M46) is for building
        if name in ("datacontenttype", "dataschema") and not (given and given.has_value):
            pd = replace(pd, value=None, has_value=False)
        if declared is None and not (pd.has_value or pd.required or name in ("time", "source")):
            continue
        templated = given is None or given.type is None or given.type in TEXT_TYPES
        place = Place(section="attributes", name=name)
        required = pd.required or name in cloudevents.REQUIRED
        rule = constrain(place, replace(pd, required=required), pd.type or "string", templated)
        if rule is not None:
            yield replace(rule, implied=declared is None)


def _metadata_constraints(definition: Definition, protocol: str) -> Iterator[Constraint]:
    kind = protocol_family(protocol)[0]
    options = {fold(name): value for name, value in definition.protocoloptions.items()}
    for field in fields(protocol).values():
        declared = options.get(fold(field.name))
        if declared is None:
            continue
        if field.collection:
            yield from _member_constraints(field, declared)
            continue
        pd = PropertyDefinition.of(field.name, declared)
        type_ = pd.type or field.type
        templated = type_ in (TEXT_TYPES if kind == "HTTP" else IN_PROTOCOL)
        place = Place(section="metadata", name=field.name)
        rule = constrain(place, pd, type_, templated, field.separator)
        if rule is not None:
            yield rule


def _member_constraints(field: Field, declared: Any) -> Iterator[Constraint]:
    for name, member in members(declared):
        pd = PropertyDefinition.of(name, member)
        known = field.member(pd.name)
        place = Place(section="metadata", name=field.name, member=known, fold_case=field.fold_case)
        type_ = pd.type or field.member_type(known)
        # M67: headers hold texts, whatever their type; an id of any type may be a template (M57)
        templated = not field.typed or type_ in IN_AMQP or (type_ == "any" and pd.type is None)
        rule = constrain(place, pd, type_, templated)
        if rule is not None:
            yield rule


def members(declared: Any) -> Iterator[tuple[str, Any]]:
    """The members of a collection, declared as a map or as a list of named values (C9, C26)."""
    if isinstance(declared, Mapping):
        yield from ((str(name), member) for name, member in declared.items())
    elif isinstance(declared, list | tuple):
        for member in declared:
            if isinstance(member, Mapping) and member.get("name") is not None:
                yield str(member["name"]), member


def constrain(
    place: Place,
    pd: PropertyDefinition,
    type_: str,
    templated: bool,
    separator: str | None = None,
) -> Constraint | None:
    """The rule a property definition makes for one place, or None where it makes none."""
    if not pd.has_value or _is_now(type_, pd.value):
        return _without_value(place, pd, type_)
    text = pd.value if isinstance(pd.value, str) else canonical_text(pd.value)
    kind: Kind = "constant"
    template = _template(text, type_, separator) if templated and "{" in text else None
    if template is not None:
        kind = "constant" if template.literal else "template"
    elif is_media_type(place) and "{" not in text:
        kind = "media-type"
    return Constraint(
        place=place,
        path=place.path,
        kind=kind,
        type=type_,
        value=pd.value,
        text=text,
        template=template,
        required=True,
    )


def _template(text: str, type_: str, separator: str | None) -> Template | None:
    """The template of a value; what need not be one is then taken literally (M38)."""
    try:
        return Template.parse(text, separator)
    except TemplateError:
        if type_ == "uritemplate":
            raise
        return None


def _is_now(type_: str, value: Any) -> bool:
    """Whether a value stands for the current time, which only that of a timestamp can (M41)."""
    return type_ in ("timestamp", "datetime") and isinstance(value, str) and value in SENTINELS


def _without_value(place: Place, pd: PropertyDefinition, type_: str) -> Constraint | None:
    if type_ == "any" or is_media_type(place):
        if not pd.required:
            return None
        return Constraint(place=place, path=place.path, kind="required", required=True)
    return Constraint(
        place=place,
        path=place.path,
        kind="type",
        type=type_,
        required=pd.required,
        now=pd.has_value,
    )


def is_media_type(place: Place) -> bool:
    """Whether a place holds a content type, which compares as one (M31, C7)."""
    return is_media_type_name(place.member or place.name)


def is_media_type_name(name: str) -> bool:
    """Whether a property of this name holds a content type."""
    return name.lower() in ("datacontenttype", "content_type", "content-type")


def _content_type(definition: Definition) -> Iterator[Constraint]:
    place = Place(section="content_type")
    declared = definition.datacontenttype
    if declared and not states_envelope(definition) and "{" not in declared:
        yield Constraint(place=place, path=place.path, kind="media-type", text=declared)
    elif infers_json(definition):
        yield Constraint(
            place=place, path=place.path, kind="media-type", text="application/json", inferred=True
        )


def states_envelope(definition: Definition) -> bool:
    """Whether datacontenttype is the envelope's own media type (M30, C39)."""
    text = (definition.datacontenttype or "").lower()
    mode = str(definition.envelopeoptions.get("mode", "")).lower()
    return text.startswith("application/cloudevents") or (bool(text) and mode == "structured")


def infers_json(definition: Definition) -> bool:
    """Whether JSON Schema implies a JSON payload, as nothing else states its type (M46)."""
    if not definition.dataschemaformat or family(definition.dataschemaformat)[0] != "jsonschema":
        return False
    declared = PropertyDefinition.of("", definition.envelopemetadata.get("datacontenttype"))
    return not declared.has_value


def _bound(rules: list[Constraint]) -> tuple[Constraint, ...]:
    """Tell every template where its placeholders were used first (M39)."""
    first: dict[str, str] = {}
    done = []
    for rule in rules:
        if rule.template is not None:
            for name in rule.template.placeholders:
                first.setdefault(name, rule.path)
            bound = {name: first[name] for name in rule.template.placeholders}
            done.append(replace(rule, bound=bound))
        else:
            done.append(rule)
    return tuple(done)
