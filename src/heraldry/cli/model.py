"""``heraldry model``: the types of a registry, and models in files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click
import msgspec

from heraldry.cli.model_files import read_source, resolved
from heraldry.cli.output import table, wrap, write_json
from heraldry.cli.registry_paths import connect, server_option
from heraldry.cli.registry_values import read_data, read_object
from heraldry.cli.settings import example, option
from heraldry.dialects.xreg_1_0.wire import WIRES
from heraldry.errors import UsageError
from heraldry.model.spec_attributes import (
    Form,
    group_form,
    meta_form,
    registry_form,
    version_form,
)

_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True)


@click.group(
    "model",
    short_help="The types of a registry, and models in files.",
    epilog=example("heraldry model get --server http://localhost:8080"),
)
def command() -> None:
    """Show and change the model of a registry; check models in files.

    A model says which types of groups and resources a registry has, and with which attributes.
    """


@command.command("get", epilog=example("heraldry model get --source --format json"))
@server_option
@click.option("--source", is_flag=True, help="As it was given, with its includes.")
@click.option("--all", "everything", is_flag=True, help="Also the attributes of the specification.")
@option("format")
def get(server: str, source: bool, everything: bool, output: str) -> None:
    """Show the model of a registry: its types with their attributes."""
    with connect(server) as client:
        answer = client.get("/modelsource" if source else "/model")
    if output == "json":
        click.echo(msgspec.json.format(answer.content, indent=2).decode())
        return
    for line in _told(answer.json(), everything):
        click.echo(line)


@command.command("update", epilog=example("heraldry model update model.json"))
@click.argument("file", required=False, metavar="[FILE|-]", type=_FILE)
@server_option
@click.option("--data", "-d", metavar="DATA|@FILE|@-", help="The model, instead of FILE.")
@option("allow", help="Let it include documents at addresses that begin so; repeatable.")
@option("format")
def update(
    file: str | None, server: str, data: str | None, allow: tuple[str, ...], output: str
) -> None:
    """Replace the model of a registry by the one in FILE, in JSON or YAML.

    What FILE includes is put in place before it is sent: files of its folder and below, and
    addresses that --allow permits.
    """
    if (file is None) == (data is None):
        raise UsageError("one model is needed", "name a FILE, or give --data")
    if file is None:
        assert data is not None
        name = "-" if data == "@-" or not data.startswith("@") else data[1:]
        source = read_object(read_data(data)) if name == "-" else read_source(name)
    else:
        name, source = file, read_source(file)
    source = resolved(source, name, allow)
    with connect(server) as client:
        client.send("PUT", "/modelsource", source)
    if output == "json":
        write_json(source)
    else:
        groups = ", ".join(source.get("groups") or {}) or "no groups"
        click.echo(f"the model has {groups}")


@command.command("normalize", epilog=example("heraldry model normalize model.yaml"))
@click.argument("file", default="-", metavar="[FILE|-]", type=_FILE)
@option("allow", help="Let it include documents at addresses that begin so; repeatable.")
def normalize(file: str, allow: tuple[str, ...]) -> None:
    """Write a model as JSON, with everything it includes in place."""
    source = resolved(read_source(file), file, allow)
    click.echo(msgspec.json.format(msgspec.json.encode(source), indent=2).decode())


@command.command("verify", epilog=example("heraldry model verify model.json"))
@click.argument("files", nargs=-1, required=True, metavar="FILE|-...", type=_FILE)
@click.option("--full", is_flag=True, help="Show the complete model that it makes, as JSON.")
@option("specversion", help="The version it is written in.")
@option("allow", help="Let it include documents at addresses that begin so; repeatable.")
@option("format")
def verify(
    files: tuple[str, ...], full: bool, specversion: str, allow: tuple[str, ...], output: str
) -> None:
    """Check models in files, as a registry does before it takes one.

    The exit code is 1 where one has a fault, which is told.
    """
    from heraldry.dialects.xreg_1_0.model_names import canonical_source, wire_model
    from heraldry.model.model_reading import read_model
    from heraldry.model.model_showing import show_model

    wire = next(one for one in WIRES if one.specversion == specversion)
    for file in files:
        source = resolved(read_source(file), file, allow)
        model = read_model(canonical_source(source, wire))
        if full:
            shown = msgspec.json.encode(wire_model(show_model(model), wire))
            click.echo(msgspec.json.format(shown, indent=2).decode())
        elif output == "json":
            write_json({"file": file, "groups": list(model.groups)})
        else:
            click.echo(f"{file}: a model of {', '.join(model.groups) or 'no groups'}")


def _told(model: Mapping[str, Any], everything: bool) -> Iterator[str]:
    """The types of a model, each with its aspects and the attributes it adds."""
    groups = model.get("groups") or {}
    hidden = frozenset() if everything else _known(registry_form(groups))
    yield from _attributes(model.get("attributes"), hidden, "registry")
    for plural, group in groups.items():
        resources = group.get("resources") or {}
        yield f"{plural} ({group.get('singular')})"
        if group.get("description"):
            yield wrap(str(group["description"]), "  ")
        hidden = frozenset() if everything else _known(group_form(group["singular"], resources))
        yield from _attributes(group.get("attributes"), hidden, "  attributes")
        for name, resource in resources.items():
            yield f"  {name} ({resource.get('singular')}): {_aspects(resource)}"
            yield from _resource(resource, everything)


def _resource(resource: Mapping[str, Any], everything: bool) -> Iterator[str]:
    singular, has_document = resource["singular"], resource.get("hasdocument") is not False
    hidden = of_meta = frozenset[str]()
    if not everything:
        hidden = _known(version_form(singular, hasdocument=has_document))
        of_meta = _known(meta_form(singular))
    yield from _attributes(resource.get("attributes"), hidden, "    attributes")
    yield from _attributes(resource.get("metaattributes"), of_meta, "    attributes of meta")


def _known(form: Form) -> frozenset[str]:
    """The names the specification defines, in both versions of it."""
    return frozenset(wire.outside(name) for name in form.all for wire in WIRES)


def _attributes(found: Any, hidden: frozenset[str], label: str) -> Iterator[str]:
    shown = {name: one for name, one in (found or {}).items() if name not in hidden}
    if shown:
        yield label
        indent = " " * (len(label) - len(label.lstrip()) + 2)
        rows = [
            (name, str(one.get("type", "")), "required" if one.get("required") else "")
            for name, one in shown.items()
        ]
        yield from table(rows, indent=indent)


def _aspects(resource: Mapping[str, Any]) -> str:
    most = resource.get("maxversions") or 0
    told = [f"{most or 'any number of'} version{'' if most == 1 else 's'}"]
    told.append("no document" if resource.get("hasdocument") is False else "with a document")
    told += [name for name in ("validateformat", "validatecompatibility") if resource.get(name)]
    return ", ".join(told)
