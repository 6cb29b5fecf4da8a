"""Speed of precompiled kernels against those compiled for this processor: `python benchmarks/kernel_levels.py`.

Each level runs the same workloads in a process of its own, in turns, and the ratio of the best times is printed. The
results are compared too: v3, v4 and native bit for bit, v2 to 1e-12. It takes the kernels in build/precompiled, which
`make wheel` compiles.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 3
WORK = """
import hashlib, json, sys, time, warnings
from pathlib import Path
import numpy as np
from supple.compilation import precompiled
precompiled.FOLDER = Path(sys.argv[1])
import supple
warnings.simplefilter("ignore")
numbers, best = {}, {}

def measure(name, run, repeat=5):
    found = run()
    numbers[name] = [float(x).hex() for x in np.ravel(np.asarray(found, dtype=float))[:2000]]
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        best[name] = min(best.get(name, 1e9), time.perf_counter() - start)

arm, machine, loop = supple.load("ralf"), supple.load("orthoglide"), supple.load("four-bar")
rng = np.random.default_rng(1)
low, high = np.array(list(arm.actuators["lift"].limits)), np.array(list(arm.actuators["elbow"].limits))
theta = np.stack([rng.uniform(*low, 400), rng.uniform(*high, 400)], axis=1)
here = supple.assemble(arm, theta)
measure("assemble, 400 configurations", lambda: supple.assemble(arm, theta).X)
measure("local with 2 modes, 400", lambda: supple.local(arm, here, internal_modes=2).M)
measure("modes, 400", lambda: supple.modes(arm, here, count=4).frequencies_hz)
one = supple.assemble(arm, [1.0, 0.9])
measure("modes, one", lambda: [supple.modes(arm, one, count=4).frequencies_hz for _ in range(50)])
measure("linearize, one", lambda: [supple.linearize(loop, {"crank": 0.1}).A for _ in range(50)])
values = lambda run: list(run.coordinates.values())
measure("simulate, flexible", lambda: values(supple.simulate(arm, start="home", until=0.05)))
measure("simulate, rigid", lambda: values(supple.simulate(arm, start="home", until=0.5, rigid=True)))
model = supple.reduce(arm, internal_modes=2, boxes=2, store=False)
x = theta[:, :]
measure("model, 400 states", lambda: [model.evaluate(x).M for _ in range(20)][0])
measure("model, one state", lambda: [model.evaluate(x[0]).M for _ in range(500)][0])
times = np.linspace(0.0, 0.5, 500)
measure("model in time", lambda: values(model.simulate(times, None, "home")))
print(json.dumps({"best": best, "numbers": numbers, "level": precompiled.choice().level}))
"""


def main() -> None:
    folder = ROOT / "build" / "precompiled"
    if not (folder / "index.json").is_file():
        sys.exit("no kernels in build/precompiled: run `make wheel`")
    levels = [*json.loads((folder / "index.json").read_text("utf-8"))["levels"], "native"]
    best: dict[str, dict[str, float]] = {}
    numbers: dict[str, dict[str, list[str]]] = {}
    for _ in range(ROUNDS):
        for level in levels:
            environment = os.environ | {"SUPPLE_KERNEL_LEVEL": level, "OPENBLAS_NUM_THREADS": "1"}
            done = subprocess.run(
                [sys.executable, "-c", WORK, str(folder)], env=environment, capture_output=True, text=True, check=True
            )
            found = json.loads(done.stdout.splitlines()[-1])
            assert found["level"] == (None if level == "native" else level), found["level"]
            numbers[level] = found["numbers"]
            for name, seconds in found["best"].items():
                known = best.setdefault(name, {})
                known[level] = min(known.get(level, seconds), seconds)
    print(f"{'ratio to native':<32}" + "".join(f"{level:>12}" for level in levels))
    for name, times in best.items():
        print(f"{name:<32}" + "".join(f"{times[level] / times['native']:12.3f}" for level in levels[:-1])
              + f"{times['native'] * 1e3:9.2f} ms")  # fmt: skip
    for level in levels[:-1]:
        worst, same = 0.0, True
        for name, values in numbers[level].items():
            a, b = ([float.fromhex(x) for x in texts] for texts in (values, numbers["native"][name]))
            same &= values == numbers["native"][name]
            worst = max(worst, max(abs(p - q) for p, q in zip(a, b, strict=True)) / max(map(abs, b)))
        print(f"{level}: {'the same bit for bit' if same else f'differs by {worst:.1e} of the largest number'}")


if __name__ == "__main__":
    main()
