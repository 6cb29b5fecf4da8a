"""Count the files of supple that a question runs through, and the modules that a command imports.

    python tests/house/files_touched.py [--json FILE]

A file is touched where a function of it is called during the question; calls made by an import do not count. The first
question of a process also builds tables that the next one finds; the second asks the same again. Compiled kernels are
not traced, interpreted ones are.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import supple

EXAMPLE = Path(__file__).parents[2] / "examples" / "ralf" / "mechanism.yaml"
SOURCE = str(Path(supple.__file__).parent) + os.sep

QUESTIONS: dict[str, Callable[[supple.Mechanism], Any]] = {
    "modes": lambda machine: supple.modes(machine),
    "frf": lambda machine: supple.frf(machine, None, "lift", "tip.z", [5.0, 10.0]),
    "simulate": lambda machine: supple.simulate(machine, until=0.01),
    "reduce": lambda machine: supple.reduce(machine, rigid=True, tolerance=0.05, workers=1),
}
COMMANDS = {
    "supple modes ralf": ["modes", "ralf"],
    "supple export --to c": ["export", "{folder}/ralf.rom", "--to", "c", "--folder", "{folder}/c"],
}
# Runs a command in this process, then prints the names of all imported modules to the file it was given.
OBSERVED = """
import sys
target, sys.argv = sys.argv[1], ["supple", *sys.argv[2:]]
from supple.cli.main import run
try:
    run()
except SystemExit as end:
    assert not end.code, end.code
open(target, "w").write("\\n".join(sys.modules))
"""


def touched(question: Callable[[], Any]) -> set[str]:
    """The files of supple, relative to its folder, with a function that was called during a question."""
    codes: set[str] = set()
    importing = threading.local()  # how many modules are being imported, one by the other

    def observe(frame: FrameType, event: str, _: Any) -> None:
        if frame.f_code.co_name == "<module>" and event in ("call", "return"):
            importing.depth = getattr(importing, "depth", 0) + (1 if event == "call" else -1)
        elif event == "call" and not getattr(importing, "depth", 0):
            codes.add(frame.f_code.co_filename)

    threading.setprofile(observe)
    sys.setprofile(observe)
    try:
        question()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return {file.removeprefix(SOURCE) for file in codes if file.startswith(SOURCE)}


def first_and_repeated(name: str) -> tuple[set[str], set[str]]:
    """Files touched by the first and by the second question of a name, in this process."""
    machine = supple.load_mechanism(EXAMPLE)
    first = touched(lambda: QUESTIONS[name](machine))
    return first, touched(lambda: QUESTIONS[name](machine))


def in_a_new_process(name: str) -> tuple[set[str], set[str]]:
    """The same in a process that has asked nothing before."""
    run = subprocess.run(
        [sys.executable, __file__, "--question", name], capture_output=True, text=True, check=True, env=environment()
    )
    first, repeated = json.loads(run.stdout)
    return set(first), set(repeated)


def imported(arguments: list[str], folder: Path) -> set[str]:
    """The modules of supple that are imported when a command ends."""
    target = folder / "modules.txt"
    words = [word.format(folder=folder) for word in arguments]
    subprocess.run(
        [sys.executable, "-c", OBSERVED, str(target), *words], capture_output=True, check=True, env=environment()
    )
    return {name for name in target.read_text().splitlines() if name.split(".")[0] == "supple"}


def environment() -> dict[str, str]:
    return {**os.environ, "SUPPLE_KERNELS": "compiled"}


def table(folder: Path) -> dict[str, int]:
    """Every count, by what is counted."""
    counts = {}
    for name in QUESTIONS:
        first, repeated = in_a_new_process(name)
        counts[f"files touched by the first supple.{name}"] = len(first)
        counts[f"files touched by a repeated supple.{name}"] = len(repeated)
    QUESTIONS["reduce"](supple.load_mechanism(EXAMPLE)).save(folder / "ralf.rom")
    for title, arguments in COMMANDS.items():
        counts[f"modules imported by `{title}`"] = len(imported(arguments, folder))
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the counts to FILE as well")
    parser.add_argument("--list", choices=QUESTIONS, metavar="NAME", help="print the files of one question instead")
    parser.add_argument("--question", choices=QUESTIONS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.question:
        print(json.dumps([sorted(files) for files in first_and_repeated(given.question)]))
        return
    if given.list:
        for title, files in zip(("first", "repeated"), in_a_new_process(given.list), strict=True):
            print(f"{title}: {len(files)} files", *sorted(files), sep="\n  ")
        return
    with tempfile.TemporaryDirectory() as folder:
        counts = table(Path(folder))
    for title, count in counts.items():
        print(f"{count:5d}  {title}")
    if given.json:
        given.json.write_text(json.dumps(counts, indent=2) + "\n")


if __name__ == "__main__":
    main()
