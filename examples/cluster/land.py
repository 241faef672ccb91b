"""Heraldry's command line as a file, which spark-submit wants: its arguments are those after it.

spark-submit --master yarn examples/cluster/land.py land --catalog CATALOG --from SOURCE --to LAKE
"""

from heraldry.cli import main

if __name__ == "__main__":
    main(prog_name="heraldry")
