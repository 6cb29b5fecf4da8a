"""`supple check`: the parts, loops and mobility of a mechanism, or the line of a mistake."""

from __future__ import annotations

from dataclasses import asdict

from supple.cli.answer import open_answer
from supple.cli.options import File, Json, Settings, read_mechanism


def check(file: File, settings: Settings = None, as_json: Json = False) -> None:
    """List bodies, joints, loops and mobility; locate mistakes."""
    with open_answer(as_json) as answer:
        from supple.checking.check import check as understand

        found = understand(read_mechanism(answer, file, settings))
        answer.give(asdict(found), lambda: print(found.summary()))
