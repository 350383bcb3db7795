"""Runs suites, each in as many shares as it is worth, in as many processes as there are processors.

What comes back from a process are texts: what a suite finds may be anything, and only differences are shown.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.outcomes import BrokenFile, Outcome, Share
from tests.conformance.suites import Suite


@dataclass(frozen=True)
class Compared:
    """An outcome as it is told: what was expected and found only where they differ."""

    case: str
    feature: str
    agrees: bool
    expected: str = ""
    found: str = ""


Progress = Callable[[Suite, int, int], None]


def compare(data: Path, suites: Sequence[Suite], progress: Progress) -> dict[Suite, list[Compared]]:
    """Every comparison of the suites, in the order of their shares.

    ``progress`` is told of each share that is done: its suite, how many are done, of how many. BrokenFile
    where a suite could not be run to its end.
    """
    tasks = [(suite, Share(number, suite.parts)) for suite in suites for number in range(suite.parts)]
    done: dict[tuple[Suite, Share], list[Compared]] = {}
    for task, found in _in_processes(data, tasks):
        done[task] = found
        progress(task[0], len(done), len(tasks))
    return {suite: [each for task in tasks if task[0] is suite for each in done[task]] for suite in suites}


Task = tuple[Suite, Share]


def _in_processes(data: Path, tasks: Sequence[Task]) -> Iterator[tuple[Task, list[Compared]]]:
    workers = min(len(tasks), os.cpu_count() or 1)
    if workers <= 1:
        yield from ((task, compare_share(data, *task)) for task in tasks)
        return
    with ProcessPoolExecutor(workers) as pool:
        longest_first = sorted(tasks, key=lambda task: -task[0].parts)
        waited: dict[Future[list[Compared]], Task] = {
            pool.submit(compare_share, data, *task): task for task in longest_first
        }
        try:
            for future in as_completed(waited):
                yield waited[future], future.result()
        except BrokenProcessPool as error:
            raise BrokenFile("a process that compared was killed; too little memory?") from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def compare_share(data: Path, suite: Suite, share: Share) -> list[Compared]:
    """One share of one suite."""
    path = data / suite.path
    try:
        return [_told(outcome) for outcome in suite.load()(path, share)]
    except BrokenFile:
        raise
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        raise BrokenFile(
            f"{path} is not what the suite {suite.name} reads: {type(error).__name__}: {error} ({place})"
        ) from error


def _told(outcome: Outcome) -> Compared:
    if outcome.agrees:
        return Compared(outcome.case, outcome.feature, agrees=True)
    return Compared(
        outcome.case,
        outcome.feature,
        agrees=False,
        expected=repr(outcome.expected),
        found=repr(outcome.found),
    )
