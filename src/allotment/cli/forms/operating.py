"""What `allot operate` prints: one line a decision, for people or, with ``ALLOT_LOG=json``, for programs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

import click

from allotment.cli.shared import safe
from allotment.errors import AllotmentError
from allotment.kubernetes.operate.loop import holds
from allotment.kubernetes.operate.values import Decision, Verb
from allotment.running.logs import TIME, Where, json_line, wants_json

LOUD: Final = frozenset({Verb.LEFT, Verb.ASKS})
"""What is said also where nothing is done."""


class Lines:
    """Says what happens, a line each. ``is_whole``: also why Jobs stay as they are."""

    def __init__(self, environ: Mapping[str, str], *, is_whole: bool) -> None:
        self._is_json = wants_json(environ)
        self._is_whole = is_whole
        self._trouble = ""

    def decided(self, decision: Decision) -> None:
        """Nothing was written."""
        self._trouble = ""
        if self._is_whole or decision.verb in LOUD:
            self._say("warning" if decision.verb is Verb.ASKS else "info", decision.words, decision)

    def moved(self, decision: Decision) -> None:
        """A Job has its new width."""
        self._trouble = ""
        self._say("info", decision.words, decision, moved=True)

    def refused(self, decision: Decision, error: AllotmentError) -> None:
        """The server did not take it."""
        self._say("warning", f"{decision.words}; refused: {' '.join(str(error).split())}", decision)

    def troubled(self, error: AllotmentError) -> None:
        """Say it once, however long it lasts."""
        text = " ".join(str(error).split())
        if text != self._trouble:
            self._trouble = text
            self._say("info" if holds(error) else "error", text)

    def _say(self, level: str, text: str, decision: Decision | None = None, *, moved: bool = False) -> None:
        now = time.time()
        if self._is_json:
            click.echo(json_line(now, level, text, _where(decision), _data(decision, moved=moved)))
            return
        stamp = time.strftime(TIME, time.localtime(now))
        click.echo(f"{stamp} {level} {safe(text)}", err=level == "error")


def _where(decision: Decision | None) -> Where:
    return Where() if decision is None else Where(decision.team, decision.campaign)


def _data(decision: Decision | None, *, moved: bool) -> Mapping[str, object]:
    if decision is None:
        return {"kind": "operate"}
    data = {
        "namespace": decision.namespace,
        "job": decision.name,
        "verb": str(decision.verb),
        "from": decision.width,
        "to": decision.to,
        "moved": moved,
        "reason": decision.reason,
    }
    return {"kind": "operate", "data": data}
