"""The client of other catalogs: fetches what it is allowed to, and nothing else."""
