"""``make bench``: every hot path against a baseline in the same run; exit 1 for a missed goal."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jobs
import landing
import landing_growth
import landing_memory
import matching
import naive
import payloads
import registry

Run = Callable[[Path, int, int], dict[str, Any]]
"""A benchmark: a folder for its data, how many messages, how many rounds."""

BENCHMARKS: dict[str, Run] = {
    "payloads": lambda folder, messages, rounds: payloads.run(),
    "matching": lambda folder, messages, rounds: matching.run(),
    "registry": lambda folder, messages, rounds: registry.run_all(folder / "registry"),
    "memory": landing_memory.run,  # first, as workers live on with what other jobs made of them
    "landing": landing.run,
    "definitions": landing_growth.definitions,
    "tables": landing_growth.tables,
    "naive": naive.run,
}


def main() -> int:
    """Run the benchmarks and say which goals are reached."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--to", type=Path, default=Path("build/bench"))
    parser.add_argument("--only", action="append", choices=BENCHMARKS, metavar="NAME")
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = {}
    goals: dict[str, bool] = {}
    for name in options.only or BENCHMARKS:
        shutil.rmtree(options.to / jobs.RUNS, ignore_errors=True)
        results[name] = BENCHMARKS[name](options.to, options.messages, options.rounds)
        goals |= results[name].pop("goals")
    results["goals"] = goals
    (options.to / "results.json").write_text(json.dumps(results, indent=2) + "\n")
    print(json.dumps(results, indent=2))
    for goal, reached in goals.items():
        print(f"{'reached' if reached else 'MISSED '}  {goal}")
    return 0 if all(goals.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
