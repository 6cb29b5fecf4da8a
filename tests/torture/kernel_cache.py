"""A cache of compiled kernels that is spoilt, full, or written by two at once: results are the same, nothing crashes.

    python tests/torture/kernel_cache.py [--cases N] [--seed N]

Kernels of a script of its own, so that nothing large is compiled.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = """
import numpy as np
from supple.compilation.kernel import compiled, kernel

@kernel
def inner(x, y):
    return x * y + 0.5

@kernel
def summed(values):
    total = 0.0
    for i in range(len(values)):
        total = inner(total, 0.9) + values[i]
    return total

@kernel
def grown(values, count):
    for i in range(count):
        values[i % len(values)] = inner(values[i % len(values)], 1.01)
    return values.sum()

print(repr(compiled(summed)(np.arange(50.0))), repr(compiled(grown)(np.ones(7), 99)))
"""


def started(cache: Path, limit: int | None = None) -> subprocess.Popen:
    path = os.pathsep.join(item for item in sys.path if item)
    room = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
    script = SCRIPT if limit is None else room + SCRIPT
    environment = {**os.environ, "SUPPLE_CACHE_DIR": str(cache), "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", script], env=environment, text=True, **pipes)


def spoil(file: Path, rng: random.Random) -> str:
    content = bytearray(file.read_bytes())
    how = rng.choice(["bit", "noise", "short", "empty", "folder", "gone"])
    if how == "bit" and content:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        file.write_bytes(content)
    elif how == "noise":
        at = rng.randrange(len(content) or 1)
        content[at : at + 400] = rng.randbytes(400)
        file.write_bytes(content)
    elif how == "short":
        file.write_bytes(content[: rng.randrange(len(content) or 1)])
    elif how == "empty":
        file.write_bytes(b"")
    else:
        file.unlink()
        if how == "folder":
            file.mkdir()
    return how


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rng, wrong, hows = random.Random(asked.seed), [], []
    with tempfile.TemporaryDirectory() as made:
        cache = Path(made) / "cache"
        expected, said = started(cache).communicate()
        assert expected, said

        def judge(what: str, process: subprocess.Popen) -> str:
            out, err = process.communicate()
            if process.returncode or out != expected or "Traceback" in err:
                wrong.append(f"{what}: status {process.returncode}, {out.strip()}, {err[-300:]}")
            return err

        for _ in range(asked.cases):
            for folder in [path for path in cache.rglob("*.code") if path.is_dir()]:
                folder.rmdir()
                judge("mended", started(cache))
            files = [path for path in cache.rglob("*.code" if rng.random() < 0.8 else "*") if path.is_file()]
            hows.append(spoil(rng.choice(files), rng))
            judge(hows[-1], started(cache))
        two = [started(Path(made) / "new") for _ in range(2)]
        for process in two:
            judge("two at once", process)
        for limit in (0, 100, 5000):
            said = judge(f"room for {limit} bytes", started(Path(made) / f"full{limit}", limit))
            if "cannot be written" not in said:
                wrong.append(f"room for {limit} bytes: not told: {said}")
    print(f"{asked.cases} spoilt files, seed {asked.seed} ({', '.join(hows)}), two at once, three full disks: ", end="")
    print(f"{len(wrong)} went wrong")
    for line in wrong:
        print(f"WRONG: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
