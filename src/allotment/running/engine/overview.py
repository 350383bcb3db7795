"""How a campaign stands, from its events and from the bucket, for whoever asks from outside.

Events are quick and may be incomplete (an engine that was killed could not tell its end); the bucket is
the record. So events come first; then come marks, one list of which tells of every volume that is complete
or has failed for good; and what neither of them has settled is looked at in the bucket, if it has a folder
there at all. Ten thousand volumes cost some dozens of requests this way, and those that are under way a few
more each.
"""

from __future__ import annotations

from dataclasses import replace

from allotment.buckets.bucket import Bucket
from allotment.buckets.event_log import read_events
from allotment.buckets.keys import RecipeKeys
from allotment.events.model import CampaignReader, CampaignState, CampaignView, VolumeState, VolumeView
from allotment.running.engine.standing import Standing, VolumeStanding, volume_standing
from allotment.running.engine.work import Work
from allotment.running.legacy import LEGACY, legacy_results
from allotment.running.marks import Marks, Pages, read_marks

INTERRUPTED = "its engine ended before the campaign did; `allot run` goes on where it was"
STATES = {
    Standing.COMPLETE: VolumeState.COMPLETE,
    Standing.FAILED: VolumeState.FAILED,
    Standing.HELD: VolumeState.RUNNING,
}


def overview(bucket: Bucket, work: Work, now: float, *, engine_lives: bool) -> CampaignView:
    """The campaign as it stands at ``now`` (Unix seconds); volumes keep the order of its file.

    ``engine_lives`` says whether an engine on this machine runs it; one elsewhere shows by its leases.
    """
    reader = CampaignReader(work.campaign)
    for event in read_events(bucket, work.team, work.campaign):
        reader.add(event)
    told = reader.view(now)
    keys = RecipeKeys(work.team, work.pipeline, work.recipe)
    marks = read_marks(bucket, keys)
    present = set(bucket.list_folders(keys.prefix))
    ids = [volume.id for volume in work.volumes if volume.id not in marks.complete]
    legacy = legacy_results(bucket, work.namespace or work.team, work.pipeline, ids)
    volumes, somebody_works = {}, engine_lives
    for volume in work.volumes:
        view = _settled(volume.id, told.volumes.get(volume.id), marks)
        if view is None and volume.id in legacy:
            view = VolumeView(volume.id, VolumeState.COMPLETE, reason=LEGACY)
        if view is None:
            if volume.id not in present:
                continue
            standing = volume_standing(bucket, work, volume.id, now)
            view = _seen(told.volumes.get(volume.id) or VolumeView(volume.id), standing)
            somebody_works = somebody_works or standing.standing is Standing.HELD
        volumes[volume.id] = view
    shown = replace(told, team=work.team, volumes=volumes, volumes_total=len(work.volumes))
    return _with_state(shown, work, somebody_works=somebody_works)


def _settled(volume: str, view: VolumeView | None, marks: Marks) -> VolumeView | None:
    """A volume of which nothing more needs to be known: complete, or failed for good and told why."""
    pages = marks.complete.get(volume)
    if pages is not None:
        return _complete(view or VolumeView(volume), pages)
    if view is not None and view.state is VolumeState.COMPLETE:
        return view
    told_why = view is not None and view.state is VolumeState.FAILED
    return view if told_why and volume in marks.failed else None


def _complete(view: VolumeView, pages: Pages) -> VolumeView:
    return replace(
        view,
        state=VolumeState.COMPLETE,
        pages_total=pages.total,
        pages_done=pages.total - pages.failed,
        pages_failed=pages.failed,
        reason=None,
        message=None,
    )


def _seen(view: VolumeView, standing: VolumeStanding) -> VolumeView:
    """What events told of a volume, put right by what the bucket says."""
    state = STATES.get(standing.standing)
    if state is None:
        stale = view.state in {VolumeState.RUNNING, VolumeState.FAILED, VolumeState.HELD}
        state = VolumeState.WAITING if stale else view.state
    return replace(
        view,
        state=state,
        pages_done=max(view.pages_done, standing.pages_done),
        pages_failed=max(view.pages_failed, standing.pages_failed),
        reason=standing.reason or view.reason,
        message=standing.message or view.message,
    )


def _with_state(view: CampaignView, work: Work, *, somebody_works: bool) -> CampaignView:
    ended = view.number(VolumeState.COMPLETE) + view.number(VolumeState.FAILED)
    if ended == len(work.volumes):
        return replace(view, state=CampaignState.FINISHED, expected_end=None)
    if view.state is CampaignState.FINISHED:  # volumes were added, or failed ones are to be tried again
        return replace(view, state=CampaignState.WAITING, expected_end=None)
    if view.state in {CampaignState.RUNNING, CampaignState.PREPARING} and not somebody_works:
        return replace(view, state=CampaignState.STOPPED, message=INTERRUPTED, expected_end=None, rate=None)
    if view.state is CampaignState.WAITING and somebody_works:
        return replace(view, state=CampaignState.RUNNING)
    return view
