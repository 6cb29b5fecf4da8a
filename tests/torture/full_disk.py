"""Disks that fill up at any byte: one line, status 1, old files as they were, and the same command goes on.

    python tests/torture/full_disk.py [--cases N] [--seed N]

A limit on the size of files stands for the full disk, so that nobody has to own one; where a small file system in
memory can be mounted, it is filled for good as well.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

from same_models import same

import supple
from supple.cli.main import run

EXAMPLE = Path(__file__).parents[2] / "examples" / "four-bar" / "mechanism.yaml"
REDUCE = ("reduce", str(EXAMPLE), "--tolerance", "1e-3", "-o", "model.rom")
COMMANDS: dict[str, tuple[str, ...]] = {
    "reduce": REDUCE,
    "export": ("export", "model.rom", "--to", "c", "-o", "made"),
    "simulate": ("simulate", str(EXAMPLE), "--until", "0.1", "-o", "run.csv", "--plot", "run.png"),
    "evaluate": ("evaluate", "model.rom", "--at", "crank=0.3"),
    "new": ("new", "machine", "-o", "machine.yaml", "--force"),
}


def command(folder: Path, arguments: tuple[str, ...], before: Callable[[], None] = lambda: None) -> tuple[int, str]:
    """Run in a process of its own: status, what it said on standard error."""
    handle, file = tempfile.mkstemp()
    os.close(handle)
    said = Path(file)

    def child() -> None:
        with said.open("w") as err, open(os.devnull, "w") as out:
            os.dup2(err.fileno(), 2)
            os.dup2(out.fileno(), 1)
            os.chdir(folder)
            before()
            run(list(arguments))

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()
    text = said.read_text()
    said.unlink()
    return int(process.exitcode or 0), text


def limited(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def contents(folder: Path) -> dict[str, bytes]:
    """Of all files but the store, which may grow."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".samples" not in path.name
    }


def judged(name: str, status: int, said: str, before: dict[str, bytes], folder: Path) -> list[str]:
    """What is wrong with how a command ended."""
    errors = [line for line in said.splitlines() if line.startswith("error")]
    wrong = [] if status in (0, 1) else [f"{name}: status {status}: {said[-300:]}"]
    if "defect" in said or "Traceback" in said:
        wrong.append(f"{name}: {said[-300:]}")
    if status == 1:
        wrong += [] if len(errors) == 1 else [f"{name}: {len(errors)} lines of error"]
        changed = {key for key, value in contents(folder).items() if before.get(key) != value}
        if name == "simulate":  # a table and a picture are two files, each whole
            changed -= {"run.csv", "run.png"}
        wrong += [f"{name}: {', '.join(sorted(changed))} changed"] if changed else []
    left = [path.name for path in folder.rglob("*") if ".part" in path.name or path.name.startswith(".")]
    return wrong + ([f"{name}: left {left}"] if left else [])


def on_a_small_disk(folder: Path) -> list[str] | None:
    """A file system in memory that is filled to the last page; None where it cannot be mounted."""
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "none", str(disk)]
    mounted = subprocess.run(mount, capture_output=True, check=False)
    if mounted.returncode:
        return None
    try:
        wrong = []
        for room in (0, 20, 60, 120, 250):  # kB
            work = disk / "work"
            shutil.rmtree(work, ignore_errors=True)
            (disk / "fill").unlink(missing_ok=True)
            work.mkdir()
            (disk / "fill").write_bytes(bytes((6144 - room) * 1024 - 8192))
            status, said = command(work, REDUCE)
            wrong += judged("reduce on a small disk", status, said, {}, work)
            print(f"  {room:4} kB left: {said.splitlines()[-1] if status else 'enough'}")
            (disk / "fill").unlink()
            status, said = command(work, REDUCE)
            wrong += [] if status == 0 else [f"reduce did not go on: {said}"]
        return wrong
    finally:
        subprocess.run(["umount", str(disk)], check=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rng, wrong, full = random.Random(asked.seed), [], 0
    with tempfile.TemporaryDirectory() as made, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(made) / "work"
        folder.mkdir()
        undisturbed = supple.reduce(supple.load(EXAMPLE), tolerance=1e-3, progress=False)
        for arguments in COMMANDS.values():
            status, said = command(folder, arguments)
            assert status == 0, said
        for case in range(asked.cases):
            name = rng.choice(list(COMMANDS))
            if name == "reduce":
                with contextlib.suppress(FileNotFoundError):
                    (folder / "model.rom.samples").unlink()
            before = contents(folder)
            status, said = command(folder, COMMANDS[name], limited(int(10 ** rng.uniform(1.0, 5.2))))
            full += status == 1
            wrong += [f"case {case}: {line}" for line in judged(name, status, said, before, folder)]
            status, said = command(folder, COMMANDS[name])
            wrong += [] if status == 0 else [f"case {case}: {name} did not go on: {said[-300:]}"]
            if name == "reduce" and not same(supple.load(folder / "model.rom"), undisturbed):
                wrong.append(f"case {case}: the model is ANOTHER")
        print(f"{asked.cases} commands with little room, seed {asked.seed}: {full} ended for want of it")
        small = on_a_small_disk(Path(made))
        print("a small disk: " + ("cannot be mounted here, left out" if small is None else "filled and freed"))
        wrong += small or []
    for line in wrong:
        print(f"WRONG: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
