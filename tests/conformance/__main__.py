"""``python -m tests.conformance --data FOLDER``: how far Allotment agrees with the systems that it stands in
for.

The folder holds cases with the answers of the real thing; files that are not there are left out. One table of
suites, then every case that disagrees. Exit 1 where the folder has no file that is known, or, with
``--floor``, where a suite agrees less often.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.conformance import cel, slices
from tests.conformance.outcomes import Outcome

Suite = Callable[[Path], Iterator[Outcome]]
SUITES: dict[str, tuple[tuple[str, Suite], ...]] = {
    "cel": (
        ("cel/cel_cases.json", cel.run_cases),
        ("cel/cel_cases_extra.json", cel.run_extra),
    ),
    "slices": (("slices", slices.run_slices),),
}


def main() -> int:
    """Runs the suites whose data are there."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance")
    parser.add_argument("--data", type=Path, required=True, help="the folder with the cases")
    parser.add_argument("--only", choices=sorted(SUITES), help="one group of suites")
    parser.add_argument("--floor", type=float, default=0.0, help="the least rate of each suite, in per cent")
    options = parser.parse_args()
    groups = [options.only] if options.only else list(SUITES)
    failing: list[Outcome] = []
    agreed = total = 0
    below = False
    print(f"{'file':<28}{'what':<16}{'pass':>7}{'of':>7}{'rate':>9}")
    for name, suite in (entry for group in groups for entry in SUITES[group]):
        path = options.data / name
        if not path.exists():
            continue
        outcomes = list(suite(path))
        for what in dict.fromkeys(outcome.what for outcome in outcomes):
            found = [outcome for outcome in outcomes if outcome.what == what]
            passed = sum(outcome.agrees for outcome in found)
            rate = 100 * passed / len(found)
            below = below or rate < options.floor
            print(f"{name:<28}{what:<16}{passed:>7}{len(found):>7}{rate:>8.1f}%")
            agreed, total = agreed + passed, total + len(found)
        failing += [outcome for outcome in outcomes if not outcome.agrees]
    for outcome in failing:
        print(
            f"\n{outcome.what}: {outcome.case}\n  expected {outcome.expected!r}\n  found    {outcome.found!r}"
        )
    print(f"{agreed} of {total} agree")
    return 1 if below or not total else 0


if __name__ == "__main__":
    sys.exit(main())
