"""``python -m heraldry``: the command line."""

from heraldry.cli import main

if __name__ == "__main__":
    main(prog_name="heraldry")
