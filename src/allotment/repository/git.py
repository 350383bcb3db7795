"""Files of a repository as an earlier commit has them, asked of git without trusting what it finds.

A repository may be anybody's. Git is only asked to read (``rev-parse``, ``merge-base``, ``ls-tree``,
``cat-file``, ``remote get-url``), which runs no hook, filter, pager or diff program; what its configuration
could still start (a file system monitor, a fetch of missing objects, a repository hidden in a folder) is
turned off by options and variables that go before it. Variables ``GIT_*`` of whoever calls are left out,
answers are bounded in size and time, and nothing is written. The user's own configuration counts, for it says
which folders are safe.
"""

from __future__ import annotations

import hashlib
import os
import signal
import stat
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryFile
from typing import Final

from allotment.documents.checking import shown
from allotment.documents.source import Limits

MAIN: Final = (
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
)
KEPT: Final = frozenset({"GIT_CEILING_DIRECTORIES"})
ENVIRONMENT: Final = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ASKPASS": "true",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
OPTIONS: Final = (
    "--no-pager",
    "--literal-pathspecs",
    "-c", "core.fsmonitor=false",
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.quotePath=false",
    "-c", "protocol.allow=never",
    "-c", "safe.bareRepository=explicit",
)  # fmt: skip
REGULAR: Final = frozenset({"100644", "100755"})
LINK: Final = "120000"
SECONDS: Final = 30.0
MOST_BYTES: Final = 256 * 1024 * 1024
DIGITS: Final = 10
WHOLE_HISTORY: Final = "fetch the whole history (`fetch-depth: 0`, or `git fetch --unshallow`)"


@dataclass(eq=False)
class NotComparedError(Exception):
    """Nothing can be said about what was before. ``expected`` tells that this is usual, as outside git."""

    reason: str
    hint: str = ""
    expected: bool = True


@dataclass(frozen=True, slots=True)
class Earlier:
    """Files of an earlier commit by their paths from the repository's folder.

    ``changed`` holds the bytes of those that differ from the files on the disk, ``unchanged`` the others.
    ``name`` is what to call the commit, and ``doubt`` says why comparing with it tells little, if so.
    """

    name: str
    changed: Mapping[str, bytes]
    unchanged: frozenset[str] = frozenset()
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Git:
    """Git in the folder of a repository, with the variables of whoever calls."""

    root: Path
    environ: Mapping[str, str]
    program: str = "git"
    seconds: float = SECONDS
    most_bytes: int = MOST_BYTES

    def earlier(self, folders: Sequence[str], base: str | None = None) -> Earlier:
        """The files right in these folders where this branch left the main branch, or the named one.

        Raises `NotComparedError` when git cannot say.
        """
        shallow, prefix = self._where()
        head = self._commit("HEAD")
        if head is None:
            raise self._no_head()
        name, commit = self._named(base) if base is not None else self._main()
        code, common, _ = self._ask("merge-base", head, commit)
        if code != 0:
            hint = WHOLE_HISTORY if shallow else ""
            raise NotComparedError(f"`{shown(name)}` and this branch have no common commit here", hint)
        commit = common.decode("ascii").strip()
        found = self._files(f"{name} at {commit[:DIGITS]}", commit, prefix, folders)
        if shallow and commit == head:
            doubt = f"history was cut off here, and {found.name} is this very commit; {WHOLE_HISTORY}"
            return replace(found, doubt=doubt)
        if prefix and not found.changed and not found.unchanged:
            doubt = f"nothing of this folder is in {found.name} of the git repository {self._top()}"
            return replace(found, doubt=doubt)
        return found

    def _no_head(self) -> NotComparedError:
        """Why the newest commit cannot be had: there is none yet, or git cannot read it."""
        code, _, _ = self._ask("rev-parse", "--verify", "--quiet", "HEAD")
        if code != 0:
            return NotComparedError("there is no commit yet")
        code, _, said = self._ask("cat-file", "-t", "HEAD")
        hint = "its objects are damaged: `git fsck` says which, and another clone has them"
        return NotComparedError(
            f"git cannot read its newest commit: {_first_line(said, code)}", hint, expected=False
        )

    def _top(self) -> str:
        """The folder of the git repository, which is one around this one."""
        _, out, _ = self._ask("rev-parse", "--show-toplevel")
        return os.fsdecode(out).strip()

    def remote(self) -> str | None:
        """The address of the remote that a clone has of itself, if there is one and git may say."""
        try:
            code, out, _ = self._ask("remote", "get-url", "origin")
        except NotComparedError:
            return None
        return (out.decode("utf-8", "replace").strip() or None) if code == 0 else None

    def _where(self) -> tuple[bool, str]:
        """Whether history was cut off, and the repository's folder within git's."""
        code, out, said = self._ask("rev-parse", "--is-shallow-repository", "--show-prefix")
        if code != 0:
            if "dubious ownership" in said:
                hint = f"if it is, say `git config --global --add safe.directory {self.root.resolve()}`"
                raise NotComparedError("git does not take this folder for yours", hint)
            if "not a git repository" in said:
                raise NotComparedError("this folder is in no git repository")
            raise NotComparedError(f"git failed: {_first_line(said, code)}", expected=False)
        shallow, _, prefix = os.fsdecode(out).partition("\n")
        prefix = prefix.removesuffix("\n")
        if "\n" in prefix:
            raise NotComparedError("a folder's name has a line end", expected=False)
        return shallow == "true", prefix

    def _main(self) -> tuple[str, str]:
        for ref in MAIN:
            commit = self._commit(ref)
            if commit is not None:
                return ref.removeprefix("refs/remotes/").removeprefix("refs/heads/"), commit
        hint = "name the branch that this one goes into with --base"
        raise NotComparedError("there is no main branch here (origin/HEAD, main or master)", hint)

    def _named(self, base: str) -> tuple[str, str]:
        commit = None if base.startswith("-") or not base.isprintable() else self._commit(base)
        if commit is None:
            raise NotComparedError(f"git knows no `{shown(base)}` here", "fetch it, or name another")
        return base, commit

    def _commit(self, ref: str) -> str | None:
        """The commit that a word names, if it names one."""
        code, out, _ = self._ask("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        return out.decode("ascii").strip() if code == 0 else None

    def _files(self, name: str, commit: str, prefix: str, folders: Sequence[str]) -> Earlier:
        paths, unchanged = [], set()
        for mode, digest, path in self._listed(commit, folders):
            if mode in REGULAR and _has_digest(self.root / path, digest):
                unchanged.add(path)
            elif mode in REGULAR or mode == LINK:
                paths.append(path)
        return Earlier(name, dict(self._contents(commit, prefix, paths)), frozenset(unchanged))

    def _listed(self, commit: str, folders: Sequence[str]) -> Iterable[tuple[str, str, str]]:
        """Mode, digest and path of what lies right in the folders; names with line ends are left out."""
        words = ("ls-tree", "-z", commit, "--", *(f"{folder}/" for folder in folders))
        _, out, _ = self._ask(*words, must=True)
        for entry in out.split(b"\0"):
            about, tab, path = entry.partition(b"\t")
            mode, _, rest = about.decode("ascii").partition(" ")
            if tab and b"\n" not in path:
                yield mode, rest.partition(" ")[2], os.fsdecode(path)

    def _contents(self, commit: str, prefix: str, paths: Sequence[str]) -> Iterable[tuple[str, bytes]]:
        """The bytes of files, links within the repository followed; what is none of these is left out."""
        if not paths:
            return
        asked = b"".join(os.fsencode(f"{commit}:{prefix}{path}\n") for path in paths)
        _, out, _ = self._ask("cat-file", "--batch", "--follow-symlinks", asked=asked, must=True)
        at = 0
        for path in paths:
            line_end = out.index(b"\n", at)
            words = out[at:line_end].split(b" ")
            at = line_end + 1
            if not words[-1].isdigit():
                raise NotComparedError(f"git lacks `{shown(path)}` of then", "fetch it", expected=False)
            size = int(words[-1])
            if len(words) == 3 and words[1] == b"blob":
                yield path, out[at : at + size]
            at += size + 1

    def _ask(self, *words: str, asked: bytes = b"", must: bool = False) -> tuple[int, bytes, str]:
        """Exit code, output and the beginning of what was said beside it."""
        with TemporaryFile() as questions, TemporaryFile() as beside:
            questions.write(asked)
            questions.seek(0)
            command = [self.program, *OPTIONS, "-C", str(self.root.resolve()), *words]
            try:
                process = Popen(
                    command,
                    stdin=questions,
                    stdout=PIPE,
                    stderr=beside,
                    env=_sanitized(self.environ),
                    start_new_session=True,
                )
            except OSError:
                raise NotComparedError("git is not installed here") from None
            out = self._bounded(process)
            beside.seek(0)
            said = beside.read(4096).decode("utf-8", "replace")
        if must and process.returncode != 0:
            first = _first_line(said, process.returncode)
            raise NotComparedError(f"git failed: {first}", expected=False)
        return process.returncode, out, said

    def _bounded(self, process: Popen[bytes]) -> bytes:
        """All that a process prints; it is ended when that is too much, or takes too long."""
        late = threading.Event()

        def end_late() -> None:
            late.set()
            _end(process)

        timer = threading.Timer(self.seconds, end_late)
        timer.start()
        try:
            assert process.stdout is not None  # noqa: S101  (asked for with PIPE)
            with process.stdout as stream:
                out = stream.read(self.most_bytes + 1)
            if len(out) > self.most_bytes:
                _end(process)
            process.wait()
        finally:
            timer.cancel()
            timer.join()
        if late.is_set():
            raise NotComparedError(f"git took longer than {self.seconds:g} s", expected=False)
        if len(out) > self.most_bytes:
            raise NotComparedError(f"git had more than {self.most_bytes:,} bytes to say", expected=False)
        return out


def _first_line(said: str, code: int) -> str:
    """The beginning of what git said."""
    return shown(said.strip().partition("\n")[0] or f"exit code {code}")


def _end(process: Popen[bytes]) -> None:
    """End a process and whatever it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _sanitized(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables for git: none that changes what it reads, writes, runs or asks."""
    others = {name: value for name, value in environ.items() if not name.startswith("GIT_") or name in KEPT}
    return {**others, **ENVIRONMENT}


def _has_digest(path: Path, digest: str) -> bool:
    """Whether a file on the disk is the object of that name, as far as it is a plain file of a sane size."""
    limit = Limits().bytes
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or about.st_size > limit:
                return False
            data = file.read(limit + 1)
    except OSError:
        return False
    kind = "sha1" if len(digest) == 40 else "sha256"
    return hashlib.new(kind, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() == digest
