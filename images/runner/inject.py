"""Copies the runner's folder to where the one argument says: all that the image `inject` does.

    python3 inject.py /opt/allotment/runner

The folder is a volume of the pod. What starts the runner is copied last, so that half a copy is never
started, and a copy that was cut is made anew.
"""

import os
import shutil
import sys

SOURCE = os.environ.get("ALLOTMENT_RUNNER_FOLDER", "/usr/share/allotment/runner")
LAST = "launch.py"


def files_below(folder):
    """The files, what starts the runner last."""
    found = []
    for place, _, names in os.walk(folder):
        found += [os.path.relpath(os.path.join(place, name), folder) for name in names]
    return sorted(found, key=lambda name: (name == LAST, name))


def copy(source, target):
    """Copy every file; those that are there are made anew."""
    names = files_below(source)
    for name in names:
        place = os.path.join(target, name)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if os.path.lexists(place):
            os.unlink(place)
        shutil.copyfile(os.path.join(source, name), place)
        os.chmod(place, 0o444)
    return len(names)


def main(arguments):
    """The exit code."""
    if len(arguments) != 1 or not os.path.isdir(arguments[0]):
        sys.stderr.write("name the folder that the runner is to be copied into, which must be there\n")
        return 13
    try:
        copied = copy(SOURCE, arguments[0])
    except OSError as error:
        sys.stderr.write("the runner cannot be copied into %s: %s\n" % (arguments[0], error))
        return 1
    if not copied:
        sys.stderr.write("there is no runner in this image\n")
        return 13
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
