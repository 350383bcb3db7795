"""What is to be in one rack is so in a scene of each scheduler that keeps it, by what is rendered for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from allotment.planning.scenes.scene import scene_for
from tests.planning.scene_files import ARCHIVE, CAMPAIGN, IMAGE, PIPELINE, described, platform, repository

LABEL = "example.org/rack"
GANG = f"image: {IMAGE}\ncommand: [train]\nworkers: 2\ngpu: {{memory: 20Gi}}\n"


@pytest.mark.parametrize("rule", ["require", "prefer"])
@pytest.mark.parametrize("scheduler", ["default", "kueue", "kai", "both"])
def test_what_keeps_pods_near_each_other(tmp_path: Path, scheduler: str, rule: str) -> None:
    level = f"topology: {{{rule}: rack}}\n"
    found = repository(
        tmp_path,
        pipelines_read=f"{PIPELINE}gpu: {{memory: 20Gi}}\n{level}",
        gangs_train=GANG + level,
        campaigns_letters=CAMPAIGN,
    )
    scene = scene_for(found, platform(), ARCHIVE, described(), scheduler=scheduler)
    for work in scene.works:
        by_pods = scheduler == "default" and rule == "require"
        assert work.ask.near == (LABEL if by_pods else "")
        by_kai = scheduler in {"kai", "both"}
        assert (work.together is not None) == by_kai
        if work.together is not None:
            told = work.together.required if rule == "require" else work.together.preferred
            assert told == LABEL
