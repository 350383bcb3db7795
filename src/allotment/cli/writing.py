"""Files that commands write: whole, or not at all.

A page or a plan may have taken minutes, and what stood in its place may be all that somebody has of an
earlier one. So a file is written beside its place and then put there: whoever reads it meanwhile has the old
one, and so has everybody where the disk is full. Whether it can be written is asked before the work begins.
"""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path
from typing import NoReturn

from allotment.errors import WorldError


def hold_writable(out: Path | None) -> None:
    """Raise WorldError for a file that could not be written, or into whose folder nothing could be put."""
    if out is None or _is_stream(out):
        return
    target = out.resolve()
    if target.is_dir():
        _refuse(out, "it is a folder")
    if not target.parent.is_dir():
        _refuse(out, f"there is no folder {target.parent}")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        _refuse(out, os.strerror(13))


def write_whole(out: Path, data: bytes) -> None:
    """Put the data into the file, with the rights that it has; into a pipe or a device it is just written."""
    hold_writable(out)
    try:
        if _is_stream(out) or not os.access(out.resolve().parent, os.W_OK):
            out.write_bytes(data)
        else:
            _replace(out.resolve(), data)
    except OSError as error:
        _refuse(out, error.strerror or str(error))


def _is_stream(out: Path) -> bool:
    """Whether it is there and is no plain file: a pipe, a terminal, ``/dev/null``."""
    return out.exists() and not out.is_file() and not out.is_dir()


def _replace(target: Path, data: bytes) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".allot-") as folder:
        made = Path(folder) / "made"
        made.write_bytes(data)
        if target.exists():
            made.chmod(stat.S_IMODE(target.stat().st_mode))
        made.replace(target)


def _refuse(out: Path, why: str) -> NoReturn:
    raise WorldError(f"the file cannot be written: {why}", where=str(out)) from None
