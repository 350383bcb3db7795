"""Which files a person means by names, files and folders on a command line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from allotment.errors import UsageError, did_you_mean
from allotment.repository.files import KINDS, SUFFIX, files_of


def is_repository(root: Path) -> bool:
    """Whether a folder holds anything of ours."""
    return any((root / kind).is_dir() for kind in KINDS)


def selected_files(root: Path, words: Iterable[str]) -> list[Path]:
    """The files that the words mean, each once; raises `UsageError` for a word that means none."""
    return list(dict.fromkeys(path for word in words for path in _meant(root, word)))


def _meant(root: Path, word: str) -> Iterator[Path]:
    if "/" not in word and not word.endswith(SUFFIX):
        named = [root / kind / f"{word}{SUFFIX}" for kind in KINDS]
        if found := [path for path in named if path.exists() or path.is_symlink()]:
            yield from found
            return
    path = next((path for path in (Path(word), root / word) if path.exists() or path.is_symlink()), None)
    if path is None:
        raise UsageError(
            f"there is no pipeline, campaign, fleet, gang or file `{word}`", remedy=_like(root, word)
        )
    if path.is_dir():
        yield from _below(root, path)
    else:
        yield _in_repository(root, path)


def _below(root: Path, folder: Path) -> Iterator[Path]:
    """The files of one of our folders, or of the whole repository."""
    for kind in KINDS:
        if folder.resolve() in {root.resolve(), (root / kind).resolve()}:
            yield from files_of(root, kind).by_stem.values()


def _in_repository(root: Path, path: Path) -> Path:
    """A file's path as everything of its repository is named: below the root as it was given."""
    folder = path.parent.resolve()
    if folder == root.resolve():
        return root / path.name
    return root / folder.name / path.name if folder.parent == root.resolve() else path


def _like(root: Path, word: str) -> str:
    names = {stem for kind in KINDS for stem in files_of(root, kind).by_stem}
    return did_you_mean(Path(word).stem, names)
