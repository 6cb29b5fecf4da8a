"""A full standard output ends a command with one line, a closed one in silence; standard error may be anything."""

from __future__ import annotations

import io
import json
import os
import sys
import warnings
from pathlib import Path

import pytest

from supple.cli.answer import open_answer
from supple.cli.main import run
from supple.diagnostics import SuppleNote

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full on this system")


def status_of(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        run(list(arguments))
    return int(ended.value.code or 0)


@needs_full
@pytest.mark.parametrize(
    "arguments",
    [("check", "four-bar"), ("check", "four-bar", "--json"), ("schema",), ("--help",), ("examples",), ("--version",)],
    ids=" ".join,
)
def test_a_full_disk_behind_standard_output(arguments, monkeypatch):
    said = io.StringIO()
    with FULL.open("w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        monkeypatch.setattr(sys, "stderr", said)
        assert status_of(*arguments) == 1
        assert sys.stdout is full
    (line,) = (line for line in said.getvalue().splitlines() if not line.startswith("note: using the bundled "))
    assert line == "error: standard output cannot be written (No space left on device)"


def test_a_reader_who_has_gone(monkeypatch):
    read, write = os.pipe()
    os.close(read)
    said = io.StringIO()
    with os.fdopen(write, "w", encoding="utf-8") as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        monkeypatch.setattr(sys, "stderr", said)
        assert status_of("schema") == 141
    assert said.getvalue() == ""  # `supple schema | head` is no error


@needs_full
def test_an_answer_needs_no_standard_error(monkeypatch):
    with FULL.open("w", encoding="utf-8", buffering=1) as full:
        for stream in (full, None):
            answer = io.StringIO()
            monkeypatch.setattr(sys, "stdout", answer)
            monkeypatch.setattr(sys, "stderr", stream)
            assert status_of("check", "four-bar", "--json") == 0
            assert json.loads(answer.getvalue())["name"] == "four-bar"
            assert status_of("check", "no-such-file.yaml") == 1


def test_a_note_is_printed_once_in_a_command(capsys):
    """`compare --scenario` runs the mechanism several times, each time with the same notes."""
    with open_answer(as_json=False) as answer:
        for _ in range(3):
            warnings.warn("damping acts otherwise in time", SuppleNote, stacklevel=1)
            answer.warn("the tolerance is not met")
        answer.note("another note")
    assert capsys.readouterr().err.splitlines() == [
        "note: damping acts otherwise in time", "warning: the tolerance is not met", "note: another note"
    ]  # fmt: skip
