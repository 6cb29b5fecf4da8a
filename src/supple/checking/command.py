"""`supple check`: what supple understands of a mechanism, or what is wrong and where."""

from __future__ import annotations

from dataclasses import asdict

from supple.cli.answer import answering
from supple.cli.options import File, Json, Settings, read_mechanism


def check(file: File, settings: Settings = None, as_json: Json = False) -> None:
    """Say what a mechanism consists of, or what is wrong and where."""
    with answering(as_json) as answer:
        from supple.checking.check import check as understand

        found = understand(read_mechanism(answer, file, settings))
        answer.give(asdict(found), lambda: print(found.summary()))
