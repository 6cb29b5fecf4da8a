"""Exported models in single precision on a microcontroller: instructions, flash, RAM and stack of each bundled model.

    python benchmarks/microcontroller.py [MODEL ...] [--board cortex-m7] [--points 60]

Instructions are counted by QEMU at a point near a corner of every box, or of as many random boxes as there are points;
the largest count is printed. QEMU counts no cycles: a Cortex-M7 executes between one and two instructions a cycle if
code and tables are in fast memory, a Cortex-M4 or M33 less than one. Flash is code and constants of the model alone.
The stack is that of the deepest of the functions.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import supple

EXAMPLES = Path(__file__).parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES / "embedded"))

from device import BOARDS, compare, missing, model_code, size_of  # noqa: E402

MODELS = {
    "ralf": {"internal_modes": 2, "tolerance": 1e-2},
    "orthoglide": {"tolerance": 5e-3},
    "five-bar-gearbox": {
        "internal_modes": 2,
        "tolerance": 1e-2,
        "region": {"left": (1.7, 2.13), "right": (0.75, 1.08)},
    },
    "surgiscope": {"tolerance": 1e-2},
    "stewart": {"tolerance": 1e-2},
}
COLUMNS = ("inverse", "forward", "jacobian", "outputs", "step_explicit", "step_implicit")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"of {', '.join(MODELS)}. Default: all but stewart.")
    parser.add_argument("--board", choices=BOARDS, default="cortex-m7")
    parser.add_argument("--points", type=int, default=60)
    given = parser.parse_args()
    if missing():
        raise SystemExit(missing())
    board = BOARDS[given.board]
    print(f"{given.board}, single precision, -O3; instructions of a call, largest over the boxes")
    print(
        f"{'model':18} {'boxes':>5} {'points':>6} {'flash':>9} {'RAM':>5} {'stack':>7} ",
        *(f"{name:>13}" for name in COLUMNS),
    )
    for name in given.models or [name for name in MODELS if name != "stewart"]:
        rom = supple.reduce(supple.load(EXAMPLES / name / "mechanism.yaml"), progress=False, **MODELS[name])
        with tempfile.TemporaryDirectory() as folder:
            code = model_code(rom, Path(folder), points=given.points)
            found, expected, costs = compare(code, Path(folder), board)
            size = size_of(code.sources, Path(folder), board)
            equal = all((found[item] == expected[item]).all() for item in expected)
        stack = max(cost.stack for cost in costs.values())
        row = (f"{costs[item].most:13.0f}" if item in costs else f"{'-':>13}" for item in COLUMNS)
        boxes = len(rom.fitted.arrays.leaves_f)
        print(f"{name:18} {boxes:5} {code.points:6} {size.flash:9} {size.ram:5} {stack:7} ", *row,
              "" if equal else " (differs from this computer in the last digits)", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
