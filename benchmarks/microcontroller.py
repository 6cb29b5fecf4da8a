"""Exported models in single precision on a microcontroller: instructions, flash, RAM and stack of six machines.

    python benchmarks/microcontroller.py [MACHINE ...] [--forms] [--board cortex-m7] [--points 60] [--models FOLDER]

Instructions are counted by QEMU at a point near a corner of every box, or of as many random boxes as there are points;
the largest count is printed. QEMU counts no cycles: a Cortex-M7 executes between one and two instructions a cycle if
code and tables are in fast memory, a Cortex-M4 or M33 less than one. Flash is code and constants of the model alone.
The stack is that of the deepest of the functions. `--forms` takes the run-time forms of `run_time_forms.py` in place of
the reduced models, both within the tolerances of that script.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import supple

EXAMPLES = Path(__file__).parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES / "embedded"))

from device import BOARDS, Board, Cost, Size, compare, missing, model_code, size_of  # noqa: E402
from run_time_forms import MACHINES, form, reduced  # noqa: E402

COLUMNS = ("inverse", "forward", "jacobian", "outputs", "step_explicit", "step_implicit")


def cost_on_board(
    rom: supple.ReducedModel,
    board: Board,
    *,
    points: int = 60,
    functions: Sequence[str] = COLUMNS,
    write: Callable[..., list[Path]] = supple.export,
) -> tuple[dict[str, Cost], Size, bool]:
    """Return the costs of functions, the memory, and whether the results equal those of this computer."""
    with tempfile.TemporaryDirectory() as folder:
        code = model_code(rom, Path(folder), points=points, write=write)
        code = replace(code, functions=[item for item in code.functions if item.name in functions])
        found, expected, costs = compare(code, Path(folder), board)
        size = size_of(code.sources, Path(folder), board)
    return costs, size, all((found[item] == expected[item]).all() for item in expected)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("machines", nargs="*", metavar="MACHINE", help=f"of {', '.join(MACHINES)}. Default: all.")
    parser.add_argument("--forms", action="store_true", help="run-time forms instead of reduced models")
    parser.add_argument("--board", choices=BOARDS, default="cortex-m7")
    parser.add_argument("--points", type=int, default=60)
    parser.add_argument("--models", type=Path, default=Path("build/models"), help="folder of reduced models")
    given = parser.parse_args()
    if missing():
        raise SystemExit(missing())
    print(f"{given.board}, single precision, -O3; instructions of a call, largest over the boxes")
    print(f"{'machine':18} {'boxes':>5} {'flash':>9} {'RAM':>5} {'stack':>7} ", *(f"{name:>13}" for name in COLUMNS))
    for name in given.machines or MACHINES:
        tolerance = MACHINES[name].tolerance
        rom = form(name, given.models) if given.forms else reduced(name, tolerance, given.models)
        if rom is None:
            continue
        costs, size, equal = cost_on_board(rom, BOARDS[given.board], points=given.points)
        stack = max(cost.stack for cost in costs.values())
        row = (f"{costs[item].most:13.0f}" if item in costs else f"{'-':>13}" for item in COLUMNS)
        print(f"{name:18} {len(rom.fitted.arrays.leaves_f):5} {size.flash:9} {size.ram:5} {stack:7} ", *row,
              "" if equal else " (differs from this computer in the last digits)", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
