"""Writers of files and of sets of files, killed at random moments: a file is whole, a set is of one kind.

    python tests/torture/killed_writers.py [--cases N] [--seed N]

A set may be half new after a kill; the next one who writes into its folder finishes it.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from supple.export.export import write_together
from supple.files.whole import write_beside

NAMES = [f"file{k}" for k in range(12)]


def _write(folder: Path, generation: int) -> None:
    """Again and again, each time with another content."""
    for k in itertools.count(generation):
        write_together(folder / "set", dict.fromkeys(NAMES, f"{k} " * 400))
        with write_beside(folder / "single.txt") as beside:
            beside.write_text(f"{k} " * 4000)


def killed(folder: Path, seconds: float, generation: int) -> list[str]:
    """Kill a writer after a while; what is wrong with what it left, once somebody else has written there."""
    process = multiprocessing.get_context("fork").Process(target=_write, args=(folder, generation), daemon=True)
    process.start()
    time.sleep(seconds)
    os.kill(int(process.pid or 0), signal.SIGKILL)
    process.join()
    if not (folder / "set").exists():
        return []
    write_together(folder / "set", {"next": "x"})
    found = {(folder / "set" / name).read_text() for name in NAMES}
    wrong = [] if len(found) == 1 else [f"the set is of {len(found)} kinds"]
    left = {path.name for path in (folder / "set").iterdir()} - {*NAMES, "next"}
    single = folder / "single.txt"
    if single.exists():
        with write_beside(folder / "single.txt") as beside:  # clears what was left
            beside.write_text(single.read_text())
        words = single.read_text().split()
        wrong += [] if len(words) == 4000 and len(set(words)) == 1 else ["a file is not whole"]
        left |= {path.name for path in folder.iterdir()} - {"set", "single.txt"}
    return wrong + ([f"left: {', '.join(sorted(left))}"] if left else [])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rng, wrong = random.Random(asked.seed), []
    with tempfile.TemporaryDirectory() as made:
        for case in range(asked.cases):
            wrong += [f"case {case}: {line}" for line in killed(Path(made), rng.uniform(0.0, 0.25), 100 * case)]
    print(f"{asked.cases} killed writers, seed {asked.seed}: {len(wrong)} left something wrong")
    for line in wrong:
        print(f"WRONG: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
