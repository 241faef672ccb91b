"""The options of commands, made from the table of settings; the TOML file with their defaults."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from heraldry.cli.setting_table import CONFIG_FILE, PROCESS, SETTINGS
from heraldry.errors import UsageError

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


class _WholeText(click.types.StringParamType):
    """A text that a variable holds once, whatever characters it has."""

    def split_envvar_value(self, rv: str) -> Sequence[str]:
        """The one value."""
        return (rv,)


def checkpoints() -> Decorator:
    """The option of a command that looks at all jobs of a warehouse."""
    told = "Where a job keeps its progress, if not in the warehouse; repeatable."
    return option("checkpoint", multiple=True, default=(), type=_WholeText(), help=told)


def example(line: str) -> str:
    """The end of a command's help: an example, kept on its line."""
    return f"\b\nExample:\n  {line}"


def find_config(file: str | None) -> Path | None:
    """The file that was named, else the one in the working directory, if there is one."""
    path = Path(file or CONFIG_FILE)
    return path if file or path.is_file() else None


def read_config(path: Path, options: Mapping[str, Mapping[str, click.Option]]) -> dict[str, Any]:
    """The defaults of a TOML file by command; ``options`` has the options of each by their key."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise UsageError(f"{path} cannot be read as TOML", str(error)) from None
    return {command: _table(path, command, table, options) for command, table in document.items()}


def _table(
    path: Path, command: str, table: Any, options: Mapping[str, Mapping[str, click.Option]]
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
        one = known_keys[name]
        values[one.name or ""] = [value] if one.multiple and isinstance(value, str) else value
    return values
