"""What can be set, in one table: by flag, then ``HERALDRY_*``, then a TOML file.

The commands make their options from this table and the reference page is written from it, so a
setting has one name, one default and one explanation everywhere.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from heraldry.errors import UsageError

CONFIG_FILE = "heraldry.toml"
"""Read from the working directory when no other file is named."""


class CatalogPlace(click.Path):
    """A path that exists, or the address of a registry or document."""

    _PLACES = re.compile(r"https?://(?:\[[^]]*\]|[^:/]+)(?::\d+)?[^:]*|[^:]+")

    def __init__(self) -> None:
        super().__init__(exists=True)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """The place as it was given."""
        if isinstance(value, str) and value.startswith(("http://", "https://")):
            return value
        return super().convert(value, param, ctx)

    def split_envvar_value(self, rv: str) -> Sequence[str]:
        """The places of a variable, which separates them as ``PATH`` does."""
        return self._PLACES.findall(rv) if os.pathsep == ":" else rv.split(os.pathsep)


CATALOG = CatalogPlace()


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting: ``name`` is the long flag without dashes and the key in the TOML file."""

    name: str
    help: str
    env: str
    default: Any = None
    type: Any = str
    metavar: str | None = None
    is_flag: bool = False
    multiple: bool = False
    short: str | None = None
    also: str = ""
    """A variable of another tool that is looked at after our own."""

    @property
    def key(self) -> str:
        """The name as a Python identifier."""
        return self.name.replace("-", "_")


SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="format",
        short="-o",
        env="HERALDRY_FORMAT",
        default="text",
        type=click.Choice(["text", "json"]),
        help="Text for people, or JSON: one object per input, one array for a listing.",
    ),
    Setting(
        name="catalog",
        env="HERALDRY_CATALOG",
        type=CATALOG,
        metavar="PATH|URL",
        multiple=True,
        help="A catalog document, a folder of them or a registry's URL; repeatable: merged.",
    ),
    Setting(
        name="catalog-cache",
        env="HERALDRY_CATALOG_CACHE",
        type=click.Path(file_okay=False),
        metavar="DIR",
        help="Where copies of fetched catalogs are kept. [default: heraldry in the user's cache]",
    ),
    Setting(
        name="allow",
        env="HERALDRY_ALLOW",
        metavar="URL",
        multiple=True,
        help="Fetch base messages kept elsewhere, at addresses that begin so; repeatable.",
    ),
    Setting(
        name="strict",
        env="HERALDRY_STRICT",
        default=False,
        is_flag=True,
        help="Warnings too make the exit code 1.",
    ),
    Setting(
        name="from",
        env="HERALDRY_FROM",
        metavar="SOURCE",
        help="Where the messages are: files:DIR with *.jsonl or *.jsonl.gz, one message a line.",
    ),
    Setting(
        name="to",
        env="HERALDRY_WAREHOUSE",
        metavar="WAREHOUSE",
        help="The folder of the tables; it is made when it is not there.",
    ),
    Setting(
        name="warehouse",
        env="HERALDRY_WAREHOUSE",
        metavar="WAREHOUSE",
        help="The folder that `heraldry land` wrote its tables to.",
    ),
    Setting(
        name="checkpoint",
        env="HERALDRY_CHECKPOINT",
        metavar="DIR",
        help="Where progress is kept. [default: WAREHOUSE/_checkpoint]",
    ),
    Setting(
        name="database",
        env="HERALDRY_DATABASE",
        metavar="NAME",
        help='First part of the table names. [default: "default"]',
    ),
    Setting(
        name="master",
        env="HERALDRY_MASTER",
        default="local[*]",
        metavar="URL",
        help="The Spark master.",
    ),
    Setting(
        name="max-per-batch",
        env="HERALDRY_MAX_PER_BATCH",
        type=click.IntRange(min=1),
        metavar="N",
        help="About so many messages in one batch, in whole files.",
    ),
    Setting(
        name="keep-payload",
        env="HERALDRY_KEEP_PAYLOAD",
        default=False,
        is_flag=True,
        help="Also land the payload as it came, in the column _payload.",
    ),
    Setting(
        name="interval",
        env="HERALDRY_INTERVAL",
        default=1.0,
        type=click.FloatRange(min=0.05),
        metavar="SECONDS",
        help="With --stream: how long to wait between looks at the source.",
    ),
    Setting(
        name="endpoint",
        env="HERALDRY_ENDPOINT",
        metavar="XID",
        help="The endpoint: /endpoints/ID, or its bare id.",
    ),
    Setting(
        name="address",
        env="HERALDRY_ADDRESS",
        metavar="URL",
        help="Where the server is, instead of the endpoint's own address.",
    ),
    Setting(
        name="server",
        short="-s",
        env="HERALDRY_SERVER",
        also="XR_SERVER",
        default="http://127.0.0.1:8080",
        metavar="URL",
        help="The registry to talk to.",
    ),
    Setting(
        name="db",
        env="HERALDRY_DB",
        default="sqlite:heraldry.db",
        metavar="DATABASE",
        help="Where the registry is kept: sqlite:FILE or postgresql://...; made when new.",
    ),
    Setting(
        name="host",
        env="HERALDRY_HOST",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="The address to listen at; 0.0.0.0 is all of them.",
    ),
    Setting(
        name="port",
        env="HERALDRY_PORT",
        default=8080,
        type=click.IntRange(0, 65535),
        metavar="PORT",
        help="The port to listen at; 0 takes a free one.",
    ),
    Setting(
        name="registry-id",
        env="HERALDRY_REGISTRY_ID",
        metavar="ID",
        help='The id of a new registry. [default: "heraldry"]',
    ),
    Setting(
        name="model",
        env="HERALDRY_MODEL",
        metavar="messaging|none|FILE",
        help='The model of a new registry; FILE is JSON or YAML. [default: "messaging"]',
    ),
    Setting(
        name="specversion",
        env="HERALDRY_SPECVERSION",
        default="1.0-rc2",
        type=click.Choice(["1.0-rc2", "1.0-rc4"]),
        help="The version that is spoken where a request asks for none.",
    ),
    Setting(
        name="base-url",
        env="HERALDRY_BASE_URL",
        metavar="URL",
        help="The address that clients see. [default: as each request has it]",
    ),
    Setting(
        name="allow-include",
        env="HERALDRY_ALLOW_INCLUDE",
        metavar="URL",
        multiple=True,
        help="Let models include and proxyurl read what is at addresses that begin so; repeatable.",
    ),
    Setting(
        name="import",
        env="HERALDRY_IMPORT",
        type=click.Path(exists=True),
        metavar="PATH",
        multiple=True,
        help="Add a catalog document or a folder of them at the start; repeatable.",
    ),
)

PROCESS: tuple[Setting, ...] = (
    Setting(
        name="config",
        env="HERALDRY_CONFIG",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        help=f"Settings in TOML, one table per command. [default: {CONFIG_FILE}, if there is one]",
    ),
    Setting(
        name="debug",
        env="HERALDRY_DEBUG",
        default=False,
        is_flag=True,
        help="Show the traceback of an error.",
    ),
)
"""Settings of the command line itself, given before the command."""

_BY_NAME = {setting.name: setting for setting in SETTINGS + PROCESS}

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def option(name: str, **changes: Any) -> Decorator:
    """The click option of a setting; ``changes`` override what one command does differently."""
    setting = _BY_NAME[name]
    declared: dict[str, Any] = {
        "envvar": [setting.env, setting.also] if setting.also else setting.env,
        "default": setting.default,
        "help": setting.help,
        "show_default": setting.default is not None and not setting.is_flag,
    }
    if setting.is_flag:
        declared["is_flag"] = True
    else:
        declared |= {"type": setting.type, "metavar": setting.metavar}
    if setting.multiple:
        declared |= {"multiple": True, "default": ()}
    names = [f"--{name}", *([setting.short] if setting.short else [])]
    # "from" and "import" are no identifiers; click would hand them over under those very names.
    target = {"from": "source", "format": "output", "import": "imports"}.get(name, setting.key)
    return click.option(*names, target, **(declared | changes))


def example(line: str) -> str:
    """The end of a command's help: an example, kept on its line."""
    return f"\b\nExample:\n  {line}"


def find_config(file: str | None) -> Path | None:
    """The file that was named, else the one in the working directory, if there is one."""
    path = Path(file or CONFIG_FILE)
    return path if file or path.is_file() else None


def read_config(path: Path, options: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """The defaults of a TOML file by command; ``options`` maps command and key to parameter."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise UsageError(f"{path} cannot be read as TOML", str(error)) from None
    return {command: _table(path, command, table, options) for command, table in document.items()}


def _table(
    path: Path, command: str, table: Any, options: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    if command not in options or not isinstance(table, dict):
        known = ", ".join(f"[{name}]" for name in options)
        raise UsageError(f"{path} has {command!r}, which is no command", f"tables are {known}")
    known_keys = options[command]
    values = {}
    for key, value in table.items():
        name = key.replace("_", "-")
        if name not in known_keys:
            keys = ", ".join(sorted(known_keys))
            reason = f"{path} sets {key!r} in [{command}], which it does not have"
            raise UsageError(reason, f"settings there are {keys}")
        several = name in _BY_NAME and _BY_NAME[name].multiple
        values[known_keys[name]] = [value] if several and isinstance(value, str) else value
    return values
