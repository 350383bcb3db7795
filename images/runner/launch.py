"""Starts the runner that was brought into this container, with the Python of its image.

    python3 FOLDER/launch.py --assignment FILE…

The folder has the runner in ``own/``, the packages that it needs in ``any/``, and in ``cp312/`` and the like
those that are built for one Python. What the image has of those packages is taken first, so that a team's own
versions win; the folders come last on Python's path. Where image and runner do not go together this ends with
126, in one sentence: no other start would mend it, and a Job fails such an index at once.

Any Python 3 must be able to read this file, or it could not say that it is too old.
"""

import json
import os
import re
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
CANNOT = 126
MISSING = 127


class RefusedError(Exception):
    """The runner cannot be started here."""

    def __init__(self, sentence, code=CANNOT):
        super().__init__(sentence)
        self.code = code


def about_folder(folder):
    """What the folder says of itself."""
    try:
        with open(os.path.join(folder, "runner.json"), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        raise RefusedError("nothing was brought into %s: %s" % (folder, error), MISSING) from None


def look_at_python(about, version, name="cpython", flags=""):
    """Refuse a Python that is too old, or of another kind than packages are built for."""
    least = about["python"]
    if tuple(version[:2]) < tuple(least):
        found = ".".join(map(str, version[:3]))
        said = "it needs Python %s or newer, and `python3` is Python %s (%s)"
        raise RefusedError(said % (dotted(least), found, sys.executable))
    if name != "cpython" or "t" in flags:
        kind = "a free-threaded build" if "t" in flags else name
        raise RefusedError("it needs CPython as it is usually built, and `python3` is %s" % kind)


def look_at_machine(about, machine, libc):
    """Refuse another processor, and a C library that the packages' libraries cannot be loaded with."""
    if machine != about["machine"]:
        raise RefusedError("it was brought for %s, and this is %s" % (about["machine"], machine))
    if libc is None:
        raise RefusedError(
            "it needs the GNU C library, and this image has another (as Alpine has): use Debian"
        )
    if release(libc) < release(about["glibc"]):
        raise RefusedError("it needs the GNU C library %s, and this image has %s" % (about["glibc"], libc))


def libc_here():
    """The version of the GNU C library; None for another one."""
    try:
        found = os.confstr("CS_GNU_LIBC_VERSION")
    except (OSError, ValueError):
        return None
    return found.split()[-1] if found else None


def enter(path, folder, version, workdir):
    """Put the runner first on Python's path, as `python -m` does with where it starts, and the rest last."""
    if path and os.path.abspath(path[0]) == folder:
        path[0] = workdir
    path.insert(0, os.path.join(folder, "own"))
    path.append(os.path.join(folder, "cp%d%d" % tuple(version[:2])))
    path.append(os.path.join(folder, "any"))


def look_at_packages(about, found):
    """Refuse packages of the image that the runner does not go with, and one that is nowhere."""
    for name, wanted in sorted(about["packages"].items()):
        version = found(name)
        if version is None:
            said = "%s is neither in the image nor brought for this Python (it was for %s)"
            raise RefusedError(said % (name, ", ".join(about["pythons"])))
        if not fits(version, wanted):
            raise RefusedError("the image has %s %s, and it needs %s%s" % (name, version, name, wanted))


def version_of(name):
    """The version of a package that Python would import now; None where there is none."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None


def fits(version, wanted):
    """Whether a version is within bounds such as ``>=11.3,<14``."""
    bounds = [each.strip() for each in wanted.split(",") if each.strip()]
    have = release(version)
    above = all(have >= release(each[2:]) for each in bounds if each.startswith(">="))
    return above and all(have < release(each[1:]) for each in bounds if each.startswith("<"))


def release(version):
    """The numbers of a version, without zeros at its end."""
    numbers = re.match(r"\s*(?:\d+!)?(\d+(?:\.\d+)*)", str(version))
    found = [int(each) for each in numbers.group(1).split(".")] if numbers else [0]
    while found and not found[-1]:
        found.pop()
    return tuple(found)


def dotted(numbers):
    """Numbers of a version as text."""
    return ".".join(map(str, numbers))


def main():
    """Look at all of it, then become the runner; returns only where that cannot be."""
    try:
        about = about_folder(FOLDER)
        look_at_python(about, sys.version_info, sys.implementation.name, getattr(sys, "abiflags", ""))
        look_at_machine(about, os.uname().machine, libc_here())
        enter(sys.path, FOLDER, sys.version_info, os.getcwd())
        look_at_packages(about, version_of)
    except RefusedError as error:
        sys.stderr.write("the runner cannot be started in this image: %s\n" % error)
        return error.code
    import runpy

    runpy.run_module("allotment.running", run_name="__main__", alter_sys=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
