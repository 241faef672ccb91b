"""Write the reference pages from the code: ``python docs/generate.py [--check]``."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click

from heraldry import errors, model
from heraldry.cli.main import main, options_by_command
from heraldry.cli.setting import Setting
from heraldry.cli.setting_table import CONFIG_FILE, PROCESS, SETTINGS
from heraldry.messages.lint_rules import RUN_TIME_RULES

FOLDER = Path(__file__).parent / "reference"
NOTE = "<!-- Written by docs/generate.py: change the code, then run `make docs`. -->\n"

EXAMPLE_CONFIG = """\
[check]
strict = true

[match]
catalog = ["catalog/"]

[land]
catalog = ["catalog/"]
from = "files:inbox"
to = "lake"
max-per-batch = 100000

[tables]
warehouse = "lake"

[dead-letters]
warehouse = "lake"
format = "json"

[serve]
db = "sqlite:catalog.db"
import = ["catalog/"]
"""


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    cells = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in row) + " |" for row in cells)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _commands() -> Iterator[tuple[str, click.Command, click.Context]]:
    yield from _of_group(main, click.Context(main, info_name="heraldry"), "")


def _of_group(
    group: click.Group, ctx: click.Context, path: str
) -> Iterator[tuple[str, click.Command, click.Context]]:
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=ctx)
        yield f"{path}{name}", command, inner
        if isinstance(command, click.Group):
            yield from _of_group(command, inner, f"{path}{name} ")


def _default(parameter: click.Option) -> str:
    if parameter.required:
        return "required"
    if parameter.is_flag or parameter.multiple or parameter.default in (None, (), ""):
        return ""
    default = parameter.default
    return "" if not isinstance(default, str | int | float | Path) else f"`{default}`"


def _options(command: click.Command) -> str:
    rows = []
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            metavar = "" if parameter.is_flag else f" {parameter.metavar or _choices(parameter)}"
            names = ", ".join(sorted(parameter.opts, key=len, reverse=True))
            named = parameter.envvar or ()
            env = ", ".join(f"`{one}`" for one in ([named] if isinstance(named, str) else named))
            rows.append((f"`{names}{metavar}`", parameter.help or "", _default(parameter), env))
    return _table(("option", "meaning", "default", "environment"), rows)


def _choices(parameter: click.Option) -> str:
    if isinstance(parameter.type, click.Choice):
        return "|".join(map(str, parameter.type.choices))
    return parameter.type.name.upper()


def cli_page() -> str:
    """Every command with its options and its example."""
    parts = ["# The command line\n", inspect.cleandoc(main.help or ""), "", _options(main)]
    for name, command, ctx in _commands():
        usage = command.get_usage(ctx).removeprefix("Usage: ")
        example = (command.epilog or "").rpartition("\n")[2].strip()
        parts += [f"\n## heraldry {name}\n", inspect.cleandoc(command.help or ""), ""]
        parts += [f"```text\n{usage}\n```\n"]
        parts += [_options(command), ""] if command.params else []
        parts += ["For example:\n", f"```text\n{example}\n```"]
    return "\n".join(parts) + "\n"


def settings_page() -> str:
    """Every setting with its flag, variable, default and the commands that know it."""
    ctx = click.Context(main, info_name="heraldry")
    known = options_by_command(main, ctx)

    def row(setting: Setting, users: str) -> tuple[str, ...]:
        default = "" if setting.default in (None, ()) else f"`{setting.default}`".lower()
        env = f"`{setting.env}`" + (f", `{setting.also}`" if setting.also else "")
        return f"`{setting.name}`", env, default, users, setting.help

    rows = [row(setting, "before the command") for setting in PROCESS]
    for setting in SETTINGS:
        users = ", ".join(name for name, flags in known.items() if setting.name in flags)
        rows.append(row(setting, users))
    return "\n".join(
        [
            "# Settings\n",
            "A setting is looked for in this order: the flag, the environment variable, the TOML",
            f"file. The file is `{CONFIG_FILE}` in the working directory, or the one that",
            "`--config` or `HERALDRY_CONFIG` names; it has one table per command. Where a setting",
            "takes several paths, the environment variable separates them as `PATH` does.\n",
            _table(("setting", "environment", "default", "commands", "meaning"), rows),
            "\nColours appear on a terminal only, and never when `NO_COLOR` is set.\n",
            "A file that sets something for every command it names:\n",
            f"```toml\n{EXAMPLE_CONFIG}```\n",
        ]
    )


def errors_page() -> str:
    """Every error with its exit code and its xRegistry type."""
    rows = []
    for name, kind in vars(errors).items():
        if inspect.isclass(kind) and issubclass(kind, errors.HeraldryError):
            meaning = inspect.cleandoc(kind.__doc__ or "").replace("``", "`")
            meaning = meaning.replace(":class:", "")
            rows.append((f"`{name}`", meaning, str(kind.exit_code), f"`{kind.type}`"))
    return "\n".join(
        [
            "# Errors\n",
            "All errors are in `heraldry.errors` and derive from `HeraldryError`. The command line",
            "writes one line, `heraldry: what, where, what would be right`, and ends with the exit",
            "code; `--debug` adds the traceback. `type` is the xRegistry error type.\n",
            _table(("error", "meaning", "exit code", "type"), rows),
            "",
        ]
    )


_IDS = re.compile(r"((?:[A-Z]+-?\d+(?:\.\.[A-Z]+\d+)?|[a-z]+(?:-[a-z]+)+)(?:, (?=\S+[,:]))?)+:")
_TOLD = re.compile(r"\.(?:error|warning|info)\(\s*\"([A-Za-z0-9-]+)\"")


def _rule_functions() -> Iterator[Callable[..., object]]:
    """Every function of the model whose docstring begins with the rules it checks."""
    for module in pkgutil.iter_modules(model.__path__, f"{model.__name__}."):
        if module.name.rpartition(".")[2].startswith("rules"):
            for function in vars(importlib.import_module(module.name)).values():
                if inspect.isfunction(function) and function.__module__ == module.name:
                    yield function


def _rule_ids(text: str) -> Iterator[str]:
    """The rules of a list such as ``M5, M9, R68..R91``."""
    for name in text.split(", "):
        first, _, last = name.partition("..")
        if not last:
            yield name
            continue
        yield from (f"{first[0]}{number}" for number in range(int(first[1:]), int(last[1:]) + 1))


def check_rules_page() -> str:
    """Every rule of ``heraldry check`` with what holds where it finds nothing."""
    told: dict[str, list[str]] = {}
    for function in _rule_functions():
        given = " ".join(inspect.cleandoc(function.__doc__ or "").partition("\n\n")[0].split())
        if named := _IDS.match(given):
            ids = [*_rule_ids(named[0][:-1]), *_TOLD.findall(inspect.getsource(function))]
            sentence = given[named.end() :].strip()
            for one in dict.fromkeys(ids):
                told.setdefault(one, []).append(sentence)
    for one, sentence in RUN_TIME_RULES.items():
        told.setdefault(one, []).append(sentence)

    def place(rule: str) -> tuple[bool, str, int]:
        numbered = re.fullmatch(r"([A-Z]+)-?(\d+)", rule)
        return (False, numbered[1], int(numbered[2])) if numbered else (True, rule, 0)

    rows = [(f"`{one}`", " ".join(dict.fromkeys(told[one]))) for one in sorted(told, key=place)]
    return "\n".join(
        [
            "# The rules of check\n",
            "What `heraldry check` looks at, by the id that a finding names. Each sentence says",
            "what holds where nothing is found. Rules M1 and following are those of message",
            "definitions, R those of endpoints, C says how tolerant reading is where texts and",
            "real catalogs contradict each other; the others are our own.\n",
            _table(("rule", "what holds"), rows),
            "",
        ]
    )


PAGES: dict[str, Callable[[], str]] = {
    "check-rules.md": check_rules_page,
    "cli.md": cli_page,
    "settings.md": settings_page,
    "errors.md": errors_page,
}


def stale() -> list[str]:
    """The pages that are not as the code says."""
    return [
        name
        for name, page in PAGES.items()
        if not (FOLDER / name).is_file()
        or (FOLDER / name).read_text(encoding="utf-8") != NOTE + page()
    ]


def write() -> None:
    """Write every page."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(NOTE + page(), encoding="utf-8")


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        if names := stale():
            sys.exit(f"stale: {', '.join(f'docs/reference/{n}' for n in names)}; run `make docs`")
    else:
        write()
