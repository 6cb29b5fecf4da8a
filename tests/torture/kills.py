"""`supple reduce` killed at random moments and started again until it ends; two at once with one store.

    python tests/torture/kills.py [--kills N] [--seed N]

The model is that of a run that nobody disturbed, bit for bit, and nothing is left beside it.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from same_models import same

import supple

RUN = """
import sys, time
from supple.cli.main import run
from supple.reduction import sampling
compute, log = sampling.sampled_rows, open(sys.argv[1], "ab", buffering=0)
sampling.BATCH = 16  # small and slow, so that a kill has something to hit
def noted(*given):
    log.write(b".")
    time.sleep(float(sys.argv[2]))
    return compute(*given)
sampling.sampled_rows = noted
run(sys.argv[3:])
"""
EXAMPLE = Path(__file__).parents[2] / "examples" / "orthoglide" / "mechanism.yaml"
TASK = ("--fit", "quadratic", "--boxes", "6,6,6")


def started(rom: Path, log: Path, wait: float, *more: str) -> subprocess.Popen:
    path = os.pathsep.join(item for item in sys.path if item)
    command = [sys.executable, "-c", RUN, str(log), str(wait), "reduce", str(EXAMPLE), *TASK, "-o", str(rom), *more]
    return subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def ended(process: subprocess.Popen) -> None:
    _, said = process.communicate()
    bad = [line for line in said.splitlines() if line.startswith(("error", "Traceback")) or "damaged" in line]
    assert process.returncode == 0, said
    assert not bad, bad


def killed_often(folder: Path, logs: Path, kills: int, seed: int) -> Path:
    """Kills at any moment: while Python still starts, or after some batches; what they have left is told."""
    rng = random.Random(seed)
    rom, found = folder / "killed.rom", []
    for k in range(kills):
        log = logs / f"{k}"
        log.touch()
        process = started(rom, log, 0.02)
        batches = rng.randint(-1, 6)
        until = time.monotonic() + (rng.uniform(0.0, 2.0) if batches < 0 else 120.0)
        while process.poll() is None and time.monotonic() < until and not 0 <= batches <= log.stat().st_size:
            time.sleep(0.002)
        time.sleep(rng.uniform(0.0, 0.05))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()
        found.append(str(_samples(rom.with_name("killed.rom.samples"))))
    print(f"  samples in the store after each kill: {', '.join(found)}")
    ended(started(rom, logs / "last", 0.0))
    return rom


def _samples(store: Path) -> int:
    """Read as another process would, without mending anything."""
    if not store.exists():
        return 0
    with contextlib.closing(sqlite3.connect(store)) as database:
        try:
            return database.execute("SELECT COUNT(*) FROM samples").fetchone()[0]
        except sqlite3.OperationalError:  # killed before it had a table
            return 0


def together(folder: Path, logs: Path) -> list[Path]:
    """Two at once, with one store: each takes what the other has computed."""
    store = str(folder / "shared.samples")
    roms = [folder / f"shared{k}.rom" for k in (1, 2)]
    for process in [started(rom, logs / "two", 0.02, "--store", store) for rom in roms]:
        ended(process)
    return roms


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", "--cases", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as made, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder, logs = Path(made) / "made", Path(made) / "logs"
        folder.mkdir()
        logs.mkdir()
        undisturbed = supple.reduce(supple.load(EXAMPLE), fit="quadratic", boxes=6, progress=False)
        wrong = []
        for name, roms in (
            (f"{asked.kills} kills, seed {asked.seed}", [killed_often(folder, logs, asked.kills, asked.seed)]),
            ("two at once with one store", together(folder, logs)),
        ):
            good = all(same(supple.load(rom), undisturbed) for rom in roms)
            print(f"{name}: the model is {'the same, bit for bit' if good else 'ANOTHER'}")
            wrong += [] if good else [name]
        left = sorted(path.name for path in folder.iterdir())
        expected = ["killed.rom", "killed.rom.samples", "shared.samples", "shared1.rom", "shared2.rom"]
        print(f"left on the disk: {', '.join(left)}")
    return 1 if wrong or left != expected else 0


if __name__ == "__main__":
    sys.exit(main())
