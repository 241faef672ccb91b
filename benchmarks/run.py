"""``make bench``: every hot path against a baseline in the same run; exit 1 for a missed goal."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import landing
import matching
import payloads
import registry


def main() -> int:
    """Run the benchmarks and say which goals are reached."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--to", type=Path, default=Path("build/bench"))
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    schemas = payloads.run()
    matches = matching.run()
    catalogs = registry.run_all(options.to / "registry")
    results = landing.run(options.to, options.messages, options.rounds)
    results |= {"payloads": schemas, "matching": matches, "registry": catalogs}
    results["goals"] |= schemas.pop("goals") | matches.pop("goals") | catalogs.pop("goals")
    (options.to / "results.json").write_text(json.dumps(results, indent=2) + "\n")
    print(json.dumps(results, indent=2))
    for goal, reached in results["goals"].items():
        print(f"{'reached' if reached else 'MISSED '}  {goal}")
    return 0 if all(results["goals"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
