"""The command ``heraldry``: finds its commands when they are called, and shows errors."""

from __future__ import annotations

import errno
import importlib
import os
import sys
import traceback
from pathlib import Path
from typing import Any

import click

from heraldry.cli.settings import find_config, option, read_config
from heraldry.errors import HeraldryError, MissingExtraError, UsageError

COMMANDS = (
    "check",
    "match",
    "build",
    "columns",
    "diff",
    "publish",
    "consume",
    "intake",
    "land",
    "status",
    "tables",
    "dead-letters",
    "replay",
    "maintain",
    "demo",
    "serve",
    "get",
    "create",
    "update",
    "upsert",
    "delete",
    "import",
    "export",
    "model",
    "unlock",
)
"""In the order a newcomer meets them; each is a module of this package."""

_MODULES = {"import": "import_catalog", "export": "export_catalog"}
"""Modules that cannot have the name of their command."""

INTERRUPTED, BROKEN_PIPE = 130, 141


class LazyGroup(click.Group):
    """A group whose commands are modules, imported one by one as they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, from its module."""
        if cmd_name not in COMMANDS:
            return None
        name = _MODULES.get(cmd_name, cmd_name.replace("-", "_"))
        module = importlib.import_module(f"heraldry.cli.{name}")
        command: click.Command = module.command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run, and end with one line and an exit code where an error comes up."""
        ctx.color = False if os.environ.get("NO_COLOR") else None
        try:
            result = super().invoke(ctx)
            # A reader that went away is noticed here, and not while the interpreter shuts down.
            sys.stdout.flush()
        except HeraldryError as error:
            _show(ctx, error)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            _drop_output()
            ctx.exit(BROKEN_PIPE)
        except OSError as error:
            _drop_output()
            failed = _failed(error)
            _show(ctx, failed)
            ctx.exit(failed.exit_code)
        except ModuleNotFoundError as error:
            if (missing := _extra(error)) is None:
                raise
            _show(ctx, missing)
            ctx.exit(missing.exit_code)
        return result


_EXTRAS = {
    "pyspark": "spark",
    "pyarrow": "spark",
    "deltalake": "spark",
    "avro": "avro",
    "fastavro": "avro",
    "apsw": "server",
    "starlette": "server",
    "uvicorn": "server",
    "psycopg": "postgres",
    "psycopg_pool": "postgres",
}


def _extra(error: ModuleNotFoundError) -> MissingExtraError | None:
    module = (error.name or "").partition(".")[0]
    return MissingExtraError(_EXTRAS[module], module) if module in _EXTRAS else None


def _failed(error: OSError) -> UsageError:
    """What the system says of an error; Arrow tells of a file that is gone by its path alone."""
    if isinstance(error, FileNotFoundError) and not error.strerror:
        return UsageError(os.strerror(errno.ENOENT), str(error))
    return UsageError(error.strerror or str(error), str(error.filename or ""))


def _drop_output() -> None:
    """What cannot be written is dropped, else the interpreter tries again while it shuts down."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show(ctx: click.Context, error: HeraldryError) -> None:
    if ctx.params.get("debug"):
        click.echo(traceback.format_exc().rstrip(), err=True)
    click.echo(f"heraldry: {error}", err=True)


def options_by_command(
    group: click.Group, ctx: click.Context
) -> dict[str, dict[str, click.Option]]:
    """Every command's options by their long names.

    A command with commands of its own has the options of all of them.
    """
    found: dict[str, dict[str, click.Option]] = {}
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        found[name] = _options(command)
        if isinstance(command, click.Group):
            for options in options_by_command(command, ctx).values():
                found[name] |= options
    return found


def _options(command: click.Command) -> dict[str, click.Option]:
    return {
        flag.removeprefix("--"): parameter
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for flag in parameter.opts
        if flag.startswith("--")
    }


def _defaults(group: click.Group, ctx: click.Context, file: Path) -> dict[str, Any]:
    """The defaults of a file as click wants them: commands of a command one level deeper."""
    defaults = read_config(file, options_by_command(group, ctx))
    for name in defaults:
        command = group.get_command(ctx, name)
        if isinstance(command, click.Group):
            inner = [*command.list_commands(ctx)]
            defaults[name] = dict.fromkeys(inner, defaults[name])
    return defaults


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Begin with: heraldry demo",
)
@click.version_option(package_name="heraldry", message="heraldry %(version)s")
@option("config")
@option("debug")
@click.pass_context
def main(ctx: click.Context, config: str | None, debug: bool) -> None:
    """Describe messages once; then check, build, recognise and land them.

    A catalog is a CNCF xRegistry document (JSON or YAML), a folder of them, or a registry's URL.
    Results go to standard output, progress to standard error. The exit code is 0 when all is
    done, 1 when something was found (errors in a catalog, a message that matches nothing, a
    breaking change, a request that a registry refuses), and 2 when the command could not be
    carried out.
    """
    assert isinstance(ctx.command, click.Group)
    if (file := find_config(config)) is not None:
        ctx.default_map = _defaults(ctx.command, ctx, file)
