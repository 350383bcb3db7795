"""`python -m benchmarks [NAME…]`: each budget beside its rival, in one run, as ratios.

Never a timed test: a machine that is busy makes both sides slow, and the ratio stays. Exits 1 when a
budget is missed.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys

import benchmarks

HELPERS = {"__main__", "ratio"}


def main() -> int:
    """Run the named benchmarks, or all of them."""
    modules = sorted(
        module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name not in HELPERS
    )
    arguments = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    arguments.add_argument("names", nargs="*", help=f"which ones: {', '.join(modules)}")
    chosen = arguments.parse_args().names or modules
    missed = 0
    for name in chosen:
        for ratio in importlib.import_module(f"benchmarks.{name}").run():
            verdict = "ok" if ratio.value <= ratio.budget else "MISSED"
            missed += ratio.value > ratio.budget
            print(
                f"{verdict:7} {ratio.name}: {ratio.value:.3f} (budget {ratio.budget:g}) {ratio.explanation}",
                flush=True,
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
