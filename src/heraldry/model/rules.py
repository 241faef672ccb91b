"""Rules that a catalog can be checked for without any message: M1..M69, R56..R93."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from heraldry.errors import CircularBaseError
from heraldry.model.catalog import Catalog
from heraldry.model.definition import Definition
from heraldry.model.entities import Group, Resource
from heraldry.model.inherit import MESSAGE_GROUPS, materialize
from heraldry.model.problem import Finding
from heraldry.model.rules_amqp import AMQP_RULES
from heraldry.model.rules_endpoint import ENDPOINT_RULES
from heraldry.model.rules_envelope import ENVELOPE_RULES
from heraldry.model.rules_group import (
    GROUP_RULES,
    RESOURCE_RULES,
    SCHEMA_RULES,
    id_charset,
    subject_of_group,
    subject_of_resource,
)
from heraldry.model.rules_message import MESSAGE_RULES, group_names
from heraldry.model.rules_options import OPTION_RULES
from heraldry.model.rules_subject import Subject

Rule = Callable[[Subject], Iterator[Finding]]

RULES: dict[str, tuple[Rule, ...]] = {
    "group": GROUP_RULES,
    "endpoint": ENDPOINT_RULES,
    "resource": RESOURCE_RULES,
    "schema": SCHEMA_RULES,
    "message": (*MESSAGE_RULES, *ENVELOPE_RULES, *OPTION_RULES, *AMQP_RULES),
}
"""Every rule by what it looks at; the docstring of each names its requirement."""


def check(catalog: Catalog) -> tuple[Finding, ...]:
    """All findings about a catalog's groups and messages, in the order of the documents.

    A schema that is not there or does not compile is no finding here.
    """
    return tuple(_findings(catalog))


def _findings(catalog: Catalog) -> Iterator[Finding]:
    for plural, groups in catalog.groups.items():
        for group in groups.values():
            yield from check_group(catalog, group)
            for resources in group.resources.values():
                for resource in resources.values():
                    whole = subject_of_resource(catalog, group, resource)
                    yield from _run("resource", whole)
                    if plural in MESSAGE_GROUPS:
                        yield from _message(whole, resource)
                    else:
                        yield from _run("schema", whole)


def check_group(catalog: Catalog, group: Group) -> Iterator[Finding]:
    """The findings about a group itself, without its resources."""
    subject = subject_of_group(catalog, group)
    yield from _run("group", subject)
    if group.xid.groups == "endpoints":
        yield from _run("endpoint", subject)


def check_message(catalog: Catalog, group: Group, message: Resource) -> Iterator[Finding]:
    """The findings about each version of a message; its bases are looked up in the catalog."""
    yield from _message(subject_of_resource(catalog, group, message), message)


def _message(whole: Subject, resource: Resource) -> Iterator[Finding]:
    """The rules of a message on each of its versions; a borrowed one has none of its own."""
    if "xref" in resource.meta:
        yield from group_names(whole)
        return
    definition, cycle = _materialized(whole.catalog, resource)
    nested = isinstance(whole.source.get("versions"), dict) and bool(whole.source["versions"])
    for id_, version in resource.versions.items():
        is_default = id_ == resource.default
        subject = replace(
            whole,
            steps=(*whole.steps, "versions", id_) if nested else whole.steps,
            source=version.source or version.attributes,
            attributes=version.attributes,
            definition=definition if is_default else None,
            cycle=cycle if is_default else (),
        )
        if nested:
            yield from id_charset(subject)
        yield from _run("message", subject)


def _materialized(
    catalog: Catalog, resource: Resource
) -> tuple[Definition | None, tuple[str, ...]]:
    try:
        return materialize(catalog, resource.xid), ()
    except CircularBaseError as error:
        return None, error.chain


def _run(kind: str, subject: Subject) -> Iterator[Finding]:
    for rule in RULES[kind]:
        yield from rule(subject)
