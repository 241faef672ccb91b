"""The command line: one module per command, each loading its layer when it is called."""

from heraldry.cli.main import main

__all__ = ["main"]
