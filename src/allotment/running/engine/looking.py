"""How volumes stand, for the engine that is to start them: by marks where there are some, else by a look.

A campaign of ten thousand volumes that is started again has most of them complete already. One list of
marks, at the first look at a recipe, says so for all of them, and another which ones an earlier platform has
completed; the others are looked at one by one, as their turn comes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from allotment.buckets.bucket import Bucket
from allotment.buckets.keys import RecipeKeys
from allotment.buckets.once import NO_PATIENCE, PatientBucket
from allotment.running.engine.completed import read_completed
from allotment.running.engine.standing import Standing, VolumeStanding, volume_standing
from allotment.running.engine.work import Work
from allotment.running.legacy import LEGACY, legacy_results
from allotment.running.marks import Marks, mark_complete, read_marks


@dataclass(slots=True)
class MarkedLook:
    """Looks at one volume of a work; what is complete stays so, and is asked for once."""

    bucket: Bucket
    wall: Callable[[], float]
    _marks: dict[RecipeKeys, Marks] = field(default_factory=dict)
    _legacy: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)

    def __call__(self, work: Work, volume: str) -> VolumeStanding:
        """How the volume stands now."""
        pages = self._of(work).complete.get(volume)
        if pages is None and volume in self._legacy_of(work):
            return VolumeStanding(volume, Standing.COMPLETE, reason=LEGACY)
        if pages is None:
            standing = volume_standing(self.bucket, work, volume, self.wall())
            return self._marked(work, standing) if standing.standing is Standing.COMPLETE else standing
        return VolumeStanding(
            volume, Standing.COMPLETE, pages_done=pages.total - pages.failed, pages_failed=pages.failed
        )

    def _marked(self, work: Work, standing: VolumeStanding) -> VolumeStanding:
        """A complete volume without a mark, which gets one, so that nobody has to look at it again."""
        keys = RecipeKeys(work.team, work.pipeline, work.recipe).volume(standing.volume)
        found = read_completed(self.bucket, keys, work.root, None)
        if not found.pages_total:
            return standing
        failed = len(found.faults)
        patient = PatientBucket(self.bucket, sleep=time.sleep, patience=NO_PATIENCE)
        mark_complete(patient, keys, pages=found.pages_total, failed=failed)
        return replace(standing, pages_done=found.pages_done, pages_failed=failed)

    def _of(self, work: Work) -> Marks:
        keys = RecipeKeys(work.team, work.pipeline, work.recipe)
        if keys not in self._marks:
            self._marks[keys] = read_marks(self.bucket, keys)
        return self._marks[keys]

    def _legacy_of(self, work: Work) -> frozenset[str]:
        """The work's volumes that an earlier platform has completed."""
        of = (work.campaign, work.pipeline)
        if of not in self._legacy:
            ids = [volume.id for volume in work.volumes]
            namespace = work.namespace or work.team
            self._legacy[of] = legacy_results(self.bucket, namespace, work.pipeline, ids)
        return self._legacy[of]
