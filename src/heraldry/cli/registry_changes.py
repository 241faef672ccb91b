"""What `create`, `update` and `upsert` share: they differ in what must be there before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote

import click

from heraldry.cli.output import write_json
from heraldry.cli.registry_paths import EntityPath, connect, server_option
from heraldry.cli.registry_values import changed, read_data, read_object
from heraldry.cli.settings import option
from heraldry.errors import ClientError, UsageError

if TYPE_CHECKING:
    from heraldry.client.registry import RegistryClient
    from heraldry.client.registry_answer import Answer

Before = Literal["absent", "present", "either"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is to be sent, as the command line has it."""

    path: str
    before: Before
    data: str | None
    given: tuple[str, ...]
    dropped: tuple[str, ...]
    details: bool
    replace: bool
    force: bool
    content_type: str | None
    ignore: tuple[str, ...]
    confirm: tuple[str, ...]


def change_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say what is sent, and how."""
    for decorate in (
        option("format"),
        click.option("--ignore", multiple=True, metavar="WHAT", help="Skip a check; repeatable."),
        click.option(
            "--confirm",
            multiple=True,
            metavar="WHAT",
            help="Confirm a change: immutable, for capabilities that no request can change back.",
        ),
        click.option("--force", "-f", is_flag=True, help="Do not look first whether it is there."),
        click.option("--replace", "-r", is_flag=True, help="Replace all attributes, not some."),
        click.option(
            "--content-type", metavar="TYPE", help="Of the document. [default: by FILE's suffix]"
        ),
        click.option("--details", "-m", is_flag=True, help="The data is metadata, no document."),
        click.option(
            "--del", "dropped", multiple=True, metavar="NAME", help="Drop an attribute; repeatable."
        ),
        click.option(
            "--set",
            "given",
            multiple=True,
            metavar="NAME=VALUE",
            help="Set an attribute, or a part of one (labels.stage); repeatable.",
        ),
        click.option(
            "--data", "-d", metavar="DATA|@FILE|@-", help="What to send; @- is standard input."
        ),
        server_option,
        click.argument("path", metavar="PATH"),
    ):
        command = decorate(command)
    return command


def carry_out(server: str, output: str, change: Change) -> None:
    """Send a change, and say what became of it."""
    with connect(server) as client:
        path = EntityPath.parse(change.path, client.server)
        if not change.force:
            _look_first(client, path, change)
        answer = _sent(client, path, change)
    if output == "json":
        write_json(_shown(answer))
        return
    done = "created" if answer.code == 201 or change.before == "absent" else "updated"
    for xid in _changed_xids(answer, path):
        click.echo(f"{done} {xid}")


def _look_first(client: RegistryClient, path: EntityPath, change: Change) -> None:
    """The entities that must be there are, and those that must not be are not."""
    if change.before == "either":
        return
    xids = [path]
    if path.is_collection:
        entries = read_object(read_data(change.data)) if change.data else {}
        if change.data == "@-":
            raise UsageError("standard input can be read only once", "use upsert, or --force")
        xids = [EntityPath(parts=(*path.parts, id_)) for id_ in entries]
    for one in xids:
        found = client.find(one.asked(details=True))
        if found and change.before == "absent":
            told = {"title": f"{one.xid} exists already; use update or upsert"}
            raise ClientError(client.url(one.xid), 400, told)
        if not found and change.before == "present":
            told = {"title": f"{one.xid} does not exist; use create or upsert"}
            raise ClientError(client.url(one.xid), 404, told)


def _sent(client: RegistryClient, path: EntityPath, change: Change) -> Answer:
    flags = {"ignore": change.ignore, "confirm": change.confirm}
    query = {name: ",".join(values) for name, values in flags.items() if values}
    content = read_data(change.data) if change.data is not None else b""
    edits = bool(change.given or change.dropped)
    metadata = edits or change.details or path.details or not path.may_be_document
    if not metadata and _has_document(client, path):
        media = change.content_type or _media_type(change.data)
        headers = {"Content-Type": media} if media else {}
        return client.send("PUT", path.asked(), content, query=query, headers=headers)
    if change.content_type:
        raise UsageError("--content-type is of documents", "set contenttype in metadata")
    body = read_object(content) if content else {}
    if edits:
        found = client.find(path.asked(details=True))
        body = changed(body, found.json() if found else {}, change.dropped, change.given)
    elif path.is_collection and not content:
        raise UsageError(f"{path.xid} is a collection", "give --data with entities by id")
    method = "PATCH"
    if change.replace:
        method = "POST" if path.is_collection else "PUT"
    return client.send(method, path.asked(details=True), body, query=query)


def _media_type(data: str | None) -> str | None:
    from heraldry.dialects.document_suffix import media_type_of

    return media_type_of(data[1:]) if data and data.startswith("@") else None


def _has_document(client: RegistryClient, path: EntityPath) -> bool:
    from heraldry.dialects.folder_writing import shapes_of

    groups, _, resources, *_ = path.parts
    shape = shapes_of(client.get("/model").json()).get(groups, {}).get(resources)
    return shape is None or shape.has_document


def _shown(answer: Answer) -> Any:
    if not answer.is_document:
        return answer.json()
    prefix = "xregistry-"
    return {
        name.removeprefix(prefix): unquote(value)
        for name, value in answer.headers.items()
        if name.startswith(prefix)
    }


def _changed_xids(answer: Answer, path: EntityPath) -> list[str]:
    if path.is_collection and not answer.is_document:
        return [f"{path.xid}/{id_}" for id_ in answer.json()]
    return [path.xid]
