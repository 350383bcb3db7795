"""A runner that was brought does a campaign with the Python and the packages of a team's own image.

The image is played by a virtual environment without Allotment, the init container by its program, the pod by
the command and the files that are rendered for it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from allotment.kubernetes.images.verdict import CONTRACT, LEAST_PYTHON
from allotment.kubernetes.render import render
from allotment.kubernetes.render.bringing import FOLDER
from allotment.kubernetes.render.documents import WORKDIR
from allotment.kubernetes.render.pods import ASSIGNMENT
from allotment.platform.model import Platform, PodRunner, Team
from allotment.repository import load_repository
from tests.kubernetes.images.brought import injected, made_folder

BRINGER = "registry.example.org/inject@sha256:" + "ab" * 32
STEP = """
import os, sys, time
import PIL

def create(settings, context):
    def step(page, earlier):
        with open("calls", "a") as file:
            file.write(page.name + "\\n")
        while os.path.exists("gate") and len(open("calls").readlines()) > 1:
            time.sleep(0.01)
        return {"txt": (PIL.__version__ + " " + sys.prefix).encode()}
    return step
"""
PATIENCE = 30


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runner") / "folder"
    made_folder(out, "--installed")
    return out


@dataclass(frozen=True)
class Pod:
    """A team's image with its step, what is brought, and the pod's files, all below one folder."""

    root: Path
    python: Path
    command: tuple[str, ...]

    def start(self, **environ: str) -> subprocess.Popen[str]:
        clean = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))
        }
        return subprocess.Popen(
            [str(self.python), *self.command],
            cwd=self.root,
            env={**clean, **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, **environ: str) -> tuple[int, str]:
        with self.start(**environ) as process:
            try:
                said, _ = process.communicate(timeout=PATIENCE)
            finally:
                process.kill()
        return process.returncode, said

    @property
    def packages(self) -> Path:
        (found,) = self.root.glob("image/lib/python3*/site-packages")
        return found

    def results(self, pattern: str) -> list[Path]:
        return sorted((self.root / "results").glob(pattern))


@pytest.fixture
def pod(tmp_path: Path, folder: Path) -> Iterator[Pod]:
    base = getattr(sys, "_base_executable", sys.executable)
    subprocess.run([base, "-m", "venv", "--without-pip", str(tmp_path / "image")], check=True)
    target = tmp_path / "brought"
    target.mkdir()
    assert injected(folder, target).returncode == 0
    for place, folders, _ in os.walk(target):
        for name in folders:
            (Path(place) / name).chmod(0o555)
    found = Pod(tmp_path, tmp_path / "image/bin/python3", _rendered(tmp_path, target))
    (found.packages / "team_steps.py").write_text(STEP)
    yield found
    for place, folders, _ in os.walk(target):
        for name in folders:
            (Path(place) / name).chmod(0o755)


def _rendered(root: Path, target: Path) -> tuple[str, ...]:
    """The pod's command, with the pod's folders in another place."""
    for name in ("pipelines", "campaigns", "scans/a", "pod", "results"):
        (root / name).mkdir(parents=True)
    (root / "pipelines/read.yaml").write_text("steps: [{step: 'team_steps:create'}]\n")
    (root / "campaigns/all.yaml").write_text("pipeline: read\nvolumes: [{id: a, folder: scans/a}]\n")
    for number in (1, 2, 3):
        Image.new("L", (8, 8)).save(root / f"scans/a/{number:04}.png")
    platform = Platform(bucket=str(root / "results"), runner=PodRunner(BRINGER))
    rendered = render(load_repository(root, platform).checked(), platform, Team("library"))
    for value in rendered.objects:
        for name, text in value.get("data", {}).items():
            (root / "pod" / name).write_text(text.replace(f'"{WORKDIR}"', json.dumps(str(root))))
    (job,) = [value for value in rendered.objects if value["kind"] == "Job"]
    python, *words = job["spec"]["template"]["spec"]["containers"][0]["command"]
    assert python == "python3"
    places = {ASSIGNMENT: str(root / "pod"), FOLDER: str(target), "$(JOB_COMPLETION_INDEX)": "0"}
    for place, here in places.items():
        words = [word.replace(place, here) for word in words]
    return tuple(words)


def until_there(pod: Pod, pattern: str) -> None:
    end = time.monotonic() + PATIENCE
    while not pod.results(pattern):
        assert time.monotonic() < end, "nothing came"
        time.sleep(0.02)


def test_it_does_a_volume_is_killed_and_goes_on_where_it_was(pod: Pod) -> None:
    (pod.root / "gate").touch()
    with pod.start() as process:
        try:
            until_there(pod, "**/a/pages/????.json")
        finally:
            process.kill()
        process.communicate(timeout=PATIENCE)
    (first,) = {path.stem for path in pod.results("**/a/pages/????.json")}
    assert not pod.results("**/manifest.json")
    (pod.root / "gate").unlink()
    code, said = pod.run()
    assert code == 0, said
    assert len(pod.results("**/manifest.json")) == 1
    calls = (pod.root / "calls").read_text().split()
    assert calls.count(first) == 1
    assert set(calls) == {"0001", "0002", "0003"}
    (text,) = {path.read_text() for path in pod.results("**/a/pages/*.txt")}
    assert text.endswith(str(pod.root / "image"))


def put_package(pod: Pod, name: str, version: str) -> None:
    info = pod.packages / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def test_a_package_of_the_image_is_used_before_the_one_that_is_brought(pod: Pod) -> None:
    put_package(pod, "nvidia_ml_py", "13.1.0")
    (pod.packages / "pynvml.py").write_text("OURS = True\n")
    (pod.packages / "team_steps.py").write_text(
        STEP.replace("import PIL\n", "import PIL\nimport pynvml\nassert pynvml.OURS\n")
    )
    code, said = pod.run()
    assert code == 0, said


def test_a_package_of_the_image_that_is_too_old_is_refused(pod: Pod) -> None:
    put_package(pod, "pillow", "9.5.0")
    code, said = pod.run()
    assert code == 126
    assert said.count("\n") == 1
    assert "the image has pillow 9.5.0, and it needs pillow>=" in said


def test_another_allotment_in_the_image_is_not_asked(pod: Pod) -> None:
    put_package(pod, "allotment", "0.0.1")
    (pod.packages / "allotment").mkdir()
    (pod.packages / "allotment/__init__.py").write_text("raise SystemExit('another')\n")
    code, said = pod.run()
    assert code == 0, said


def test_what_a_step_does_in_a_process_of_its_own_finds_the_same_packages(pod: Pod) -> None:
    """As the workers of a data loader do: a new process that imports what started the first."""
    (pod.packages / "team_steps.py").write_text(
        "import multiprocessing\n\ndef inner(_):\n    import PIL, allotment\n    return PIL.__version__\n\n"
        "def create(settings, context):\n    def step(page, earlier):\n"
        "        with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "            return {'txt': pool.map(inner, [1])[0].encode()}\n    return step\n"
    )
    code, said = pod.run()
    assert code == 0, said
    assert {path.read_text() for path in pod.results("**/a/pages/*.txt")}


def test_a_wrong_call_ends_as_the_runners_own_does(pod: Pod) -> None:
    wrong = Pod(pod.root, pod.python, (*pod.command, "--nonsense"))
    code, said = wrong.run()
    assert (code, "--nonsense" in said) == (13, True)


def test_the_copy_is_made_anew_where_one_was_cut(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "runner.json").write_text("half")
    (tmp_path / "runner.json").chmod(0o444)
    for _ in range(2):
        assert injected(folder, tmp_path).returncode == 0
    assert (tmp_path / "runner.json").read_bytes() == (folder / "runner.json").read_bytes()
    assert {path.stat().st_mode & 0o777 for path in tmp_path.rglob("*") if path.is_file()} == {0o444}


@pytest.mark.parametrize(("source", "target", "code"), [("folder", "missing", 13), ("empty", "there", 13)])
def test_a_copy_that_cannot_be_made_says_why(tmp_path: Path, source: str, target: str, code: int) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "there").mkdir()
    done = injected(tmp_path / source, tmp_path / target)
    assert (done.returncode, done.stderr.count("\n")) == (code, 1)


def test_the_folder_is_the_same_bytes_every_time_and_says_what_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    said = made_folder(folder, "--installed")
    made_folder(tmp_path / "again", "--installed")
    known = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    again = {
        path.relative_to(tmp_path / "again") for path in (tmp_path / "again").rglob("*") if path.is_file()
    }
    assert known.keys() == again
    for name, path in known.items():
        assert path.read_bytes() == (tmp_path / "again" / name).read_bytes(), name
        assert path.stat().st_mtime == (tmp_path / "again" / name).stat().st_mtime
    assert re.search(r"[0-9]+ MiB for Python 3\.\d+, sha256:[0-9a-f]{64}", said)
    about = json.loads((folder / "runner.json").read_text())
    assert (about["contract"], tuple(about["python"])) == (CONTRACT, LEAST_PYTHON)
    assert not list(folder.glob("own/allotment/cli"))


@pytest.mark.network
def test_the_folder_for_every_python_is_of_pinned_wheels(tmp_path: Path) -> None:
    made_folder(tmp_path / "folder", "--machine", "x86_64")
    pythons = ["cp311", "cp312", "cp313", "cp314"]
    assert sorted(path.name for path in (tmp_path / "folder").glob("cp*")) == pythons
    for name in pythons:
        assert [path.name for path in (tmp_path / "folder" / name).glob("PIL/_imaging.*so")] == [
            f"_imaging.cpython-{name[2:]}-x86_64-linux-gnu.so"
        ]
    assert (tmp_path / "folder/any/obstore").is_dir()
