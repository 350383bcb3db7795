"""Lays out the folder with the runner that is brought into pods: the same bytes every time.

    .venv/bin/python scripts/runner_folder.py OUT                   # Python 3.11 to 3.14, from the index
    .venv/bin/python scripts/runner_folder.py OUT --installed       # this Python, from what is installed here

The packages are those that a worker needs, pinned with hashes in constraints.txt. Wheels that are the same
for every Python go into ``any/``, those of one Python into ``cp311/`` and the like, and our own package
without what no worker needs into ``own/``.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path

ROOT = Path(__file__).parent.parent
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
GLIBC = "2.28"
CONTRACT = 1
NEEDED = ("nvidia-ml-py", "obstore", "pillow", "pypdfium2", "urllib3")
NEEDED_BY_THOSE = ("typing-extensions",)
NOT_OF_WORKERS = frozenset({"cli", "kubernetes", "planning", "starter"})
LEFT_OUT = frozenset({"INSTALLER", "RECORD", "REQUESTED", "direct_url.json", "uv_cache.json"})
STRAY = frozenset({"example.py"})  # a file of nvidia-ml-py beside its module
TIME = 315_532_800  # 1980, before which archives have no time


def main() -> int:
    """Returns 0 when the folder is there; prints its size and its digest."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--python", action="append", metavar="3.N", help="which Pythons (3.11 to 3.14)")
    arguments.add_argument("--machine", default=os.uname().machine, choices=["x86_64", "aarch64"])
    arguments.add_argument(
        "--installed", action="store_true", help="this Python's packages, as they are here"
    )
    asked = arguments.parse_args()
    if asked.out.exists():
        sys.exit(f"{asked.out} is there already: name a folder that is not")
    present = f"{sys.version_info[0]}.{sys.version_info[1]}"
    pythons = (present,) if asked.installed else tuple(asked.python or PYTHONS)
    with tempfile.TemporaryDirectory() as work:
        trees = {}
        for python in pythons:
            trees[python] = Path(work) / python
            if asked.installed:
                copy_installed(trees[python])
            else:
                install(trees[python], python, asked.machine)
        merge(trees, asked.out)
    own(asked.out / "own")
    (asked.out / "runner.json").write_text(json.dumps(about(pythons, asked.machine), indent=2) + "\n")
    shutil.copyfile(ROOT / "images" / "runner" / "launch.py", asked.out / "launch.py")
    settle(asked.out)
    size = sum(path.stat().st_size for path in asked.out.rglob("*") if path.is_file())
    print(f"{asked.out}: {size / 2**20:.0f} MiB for Python {', '.join(pythons)}, sha256:{digest(asked.out)}")
    return 0


def install(tree: Path, python: str, machine: str) -> None:
    """The pinned wheels of one Python, with their hashes looked at."""
    requirements = tree.with_suffix(".txt")
    requirements.write_text("".join(pinned((ROOT / "constraints.txt").read_text())))
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if uv is None:
        sys.exit("there is no uv: set up .venv with `make test`, or install it")
    platform = f"{machine}-manylinux_{GLIBC.replace('.', '_')}"
    subprocess.run(
        [
            *(uv, "pip", "install", "--quiet", "--no-config", "--no-deps", "--require-hashes"),
            *("--only-binary", ":all:", "--python-version", python, "--python-platform", platform),
            *("--link-mode", "copy", "--target", str(tree), "-r", str(requirements)),
        ],
        check=True,
    )


def pinned(constraints: str) -> Iterator[str]:
    """The lines of constraints.txt about what workers need."""
    for block in re.split(r"^(?=[A-Za-z0-9])", constraints, flags=re.MULTILINE):
        if re.match(r"[A-Za-z0-9._-]+", block) and plain(block.partition("==")[0]) in WANTED:
            yield block


def copy_installed(tree: Path) -> None:
    """What is installed for this Python, file by file."""
    for name in sorted(WANTED):
        try:
            found = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        for file in found.files or ():
            source = Path(str(found.locate_file(file)))
            if ".." not in file.parts and source.is_file():
                (tree / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, tree / file)


def merge(trees: Mapping[str, Path], out: Path) -> None:
    """One folder of all trees: what is the same wheel for every Python once, the rest by its Python."""
    tags = {python: dict(wheels(tree)) for python, tree in trees.items()}
    for python, tree in trees.items():
        short = f"cp{python.replace('.', '')}"
        look_closed(tree, tags[python])
        for name, (wheel, record) in tags[python].items():
            shared = all(others.get(name, (wheel, ()))[0] == wheel for others in tags.values())
            folder = out / ("any" if shared and not is_of(wheel, short) else short)
            for file in filter(is_kept, record):
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(tree / file, folder / file)


def wheels(tree: Path) -> Iterator[tuple[str, tuple[str, tuple[Path, ...]]]]:
    """Each package of a tree: its name, the tags of its wheel, and its files."""
    for info in sorted(tree.glob("*.dist-info")):
        name = plain(headers(info / "METADATA")["Name"])
        wheel = ",".join(sorted(headers(info / "WHEEL").get_all("Tag") or ()))
        rows = (info / "RECORD").read_text().splitlines()
        files = (Path(row.rsplit(",", 2)[0].strip('"')) for row in rows)
        yield name, (wheel, tuple(sorted(file for file in files if (tree / file).is_file())))


def is_of(wheel: str, short: str) -> bool:
    """Whether a wheel is built for one Python and its binary interface."""
    return f"{short}-{short}-" in wheel


def is_kept(file: Path) -> bool:
    """Whether a worker may want the file."""
    return (
        ".." not in file.parts
        and not file.is_absolute()
        and file.parts[0] != "bin"
        and "__pycache__" not in file.parts
        and str(file) not in STRAY
        and not (file.parts[0].endswith(".dist-info") and file.name in LEFT_OUT)
    )


def look_closed(tree: Path, found: Iterable[str]) -> None:
    """Refuse a folder that leaves out what one of its packages needs."""
    known = {*found, *NEEDED_BY_THOSE}
    for info in tree.glob("*.dist-info"):
        for needed in headers(info / "METADATA").get_all("Requires-Dist") or ():
            name = plain(re.split(r"[\s;<>=!~\[(]", needed)[0])
            if "extra ==" not in needed and name not in known:
                sys.exit(f"{info.name} needs {name}, which is not among what is brought: add it to NEEDED")
    for name in NEEDED:
        if name not in set(found):
            sys.exit(f"{name} is not there: set up the environment, or pin it anew")


def own(folder: Path) -> None:
    """Our own package, with what tells Python its steps and its version."""
    source = ROOT / "src" / "allotment"
    for path in sorted(source.rglob("*")):
        parts = path.relative_to(source).parts
        if path.is_file() and parts[0] not in NOT_OF_WORKERS and "__pycache__" not in parts:
            place = folder / "allotment" / Path(*parts)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
    project = PROJECT
    info = folder / f"allotment-{project['version']}.dist-info"
    info.mkdir()
    said = ("Metadata-Version: 2.4", "Name: allotment", f"Version: {project['version']}")
    (info / "METADATA").write_text("\n".join((*said, f"License-Expression: {project['license']}", "")))
    shutil.copyfile(ROOT / "LICENSE", info / "LICENSE")
    points = (
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in sorted(entries.items()))
        for group, entries in sorted(project["entry-points"].items())
    )
    (info / "entry_points.txt").write_text("\n".join(points))


def about(pythons: Iterable[str], machine: str) -> Mapping[str, object]:
    """What the folder says of itself to the launcher."""
    least = [int(each) for each in re.findall(r"\d+", PROJECT["requires-python"])]
    bounds = dict.fromkeys(NEEDED, "")
    for requirement in PROJECT["dependencies"]:
        name = re.split(r"[<>=\s]", requirement)[0]
        if plain(name) in bounds:
            bounds[plain(name)] = requirement.removeprefix(name).strip()
    return {
        "contract": CONTRACT,
        "version": PROJECT["version"],
        "python": least,
        "pythons": list(pythons),
        "machine": machine,
        "glibc": GLIBC,
        "packages": bounds,
    }


def settle(out: Path) -> None:
    """One mode and one time for all files."""
    for path in sorted(out.rglob("*"), reverse=True):
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.utime(path, (TIME, TIME))
    os.utime(out, (TIME, TIME))


def digest(out: Path) -> str:
    """A digest of all names and bytes."""
    whole = hashlib.sha256()
    for path in sorted(each for each in out.rglob("*") if each.is_file()):
        whole.update(f"{path.relative_to(out)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()


def plain(name: str) -> str:
    """A package's name as all write it alike."""
    return re.sub(r"[-_.]+", "-", name).strip().lower()


def headers(path: Path) -> Message:
    """The headers of a file of metadata."""
    return HeaderParser().parsestr(path.read_text(encoding="utf-8"))


WANTED = frozenset({*NEEDED, *NEEDED_BY_THOSE})
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

if __name__ == "__main__":
    sys.exit(main())
