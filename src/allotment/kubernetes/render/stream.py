"""Rendered things as one YAML stream: notes and settings in comments, objects as documents, always the same
bytes.

Texts of several lines are written as they are, which is what makes a ConfigMap readable; libyaml writes where
it is there, since a campaign has very many volumes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import yaml

from allotment.kubernetes.render.rendered import Object, Rendered

WIDE: Final = 10_000
_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_Base):  # type: ignore[misc]  # which of the two it is, is known when it runs
    """Writes texts of several lines as they are, and nothing by reference."""

    def ignore_aliases(self, data: Any) -> bool:
        """Equal values are written twice: a reader need not look them up."""
        return True


def _text(dumper: Any, value: str) -> Any:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def to_yaml(objects: Iterable[Object]) -> str:
    """Objects as YAML documents."""
    return "---\n".join(
        yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDE) for value in objects
    )


def to_stream(rendered: Rendered) -> str:
    """Everything: what there is to say first, in comments, then the objects."""
    comments = "".join(f"# {line}".rstrip() + "\n" for line in _said(rendered))
    documents = to_yaml(rendered.objects)
    return comments + ("---\n" if comments and documents else "") + documents


def _said(rendered: Rendered) -> Iterator[str]:
    for note in rendered.notes:
        yield f"{note.kind}: {_plain(str(note))}"
    for setting in rendered.settings:
        yield f"for the administrator: {_plain(setting.title)}"
        text = yaml.dump(setting.value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDE)
        yield from (f"    {_plain(line)}" for line in text.splitlines())


def _plain(text: str) -> str:
    """A text that stays in its line, whatever it was made of."""
    return "".join(char if char.isprintable() else " " for char in text)
