"""Evaluating a reduced model of the Orthoglide: 8 x 8 x 8 boxes, quadratic, 27 numbers a point.

M (6, packed), Γ (18, packed) and p (3) are fitted to local models. Yardsticks, all in the same run: a loop in C written
by hand for this model, an empty compiled call with the same arguments, scipy's RegularGridInterpolator (linear, its
fastest) on a grid of the same samples, and the local model that the reduced one stands for.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
from scipy.interpolate import RegularGridInterpolator

import supple
from supple.approximation.fits.chebyshev_products import total_degree
from supple.approximation.fits.fits import fit, full_factorial
from supple.approximation.piecewise.piecewise_kernel import evaluate_batch
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import Forest, cut_box
from supple.compilation import compile_kernel, kernel
from supple.reduced.layout import CoefficientLayout, packed_triangles
from supple.reduced.model import ReducedModel

EXAMPLE = Path(__file__).parents[1] / "examples" / "orthoglide" / "mechanism.yaml"
LOWER, UPPER, BOXES, WIDTH = -0.26, 0.06, 8, 27
POINTS, CALLS, ROUNDS = 100_000, 2000, 15
OPTIMISED = ["-O3", "-march=native", "-fPIC", "-shared"]

# The layout of this one model by heart: no search, no tables of the basis, outputs innermost, one expression.
BY_HAND = """
void by_hand(const double *lower, const double *per_length, const double *table, const double *x, double *y, long n)
{
    for (long p = 0; p < n; ++p, x += 3, y += 27) {
        double u[3];
        long box = 0;
        for (int i = 0; i < 3; ++i) {
            const double g = (x[i] - lower[i]) * per_length[i];
            long k = (long)g;
            k = k > 7 ? 7 : k;
            box = 8 * box + k;
            u[i] = 2.0 * (g - (double)k) - 1.0;
        }
        const double a = u[0], b = u[1], c = u[2];
        const double aa = 2.0 * a * a - 1.0, bb = 2.0 * b * b - 1.0, cc = 2.0 * c * c - 1.0;
        const double ab = a * b, ac = a * c, bc = b * c;
        const double *restrict t = table + 270 * box;
        double *restrict v = y;
        for (int o = 0; o < 27; ++o)
            v[o] = t[o] + a * t[27 + o] + b * t[54 + o] + c * t[81 + o] + aa * t[108 + o] + ab * t[135 + o]
                 + ac * t[162 + o] + bb * t[189 + o] + bc * t[216 + o] + cc * t[243 + o];
    }
}
"""
EXPORTED_LOOP = """
#include "orthoglide.h"
void columns_loop(const double *x, double *y, long n)
{
    for (long p = 0; p < n; ++p) orthoglide_columns(x + 3 * p, y + 27 * p);
}
void coefficients_loop(const double *x, orthoglide_model *m, long n)
{
    for (long p = 0; p < n; ++p) orthoglide_coefficients(x + 3 * p, m);
}
"""


@kernel
def empty(model, theta, row):
    """What a compiled call with these arguments costs when it does nothing."""
    return 0


def model(machine: supple.Mechanism) -> ReducedModel:
    """Least squares of 27 samples a box."""
    root, xi, indices = cut_box(Box((LOWER,) * 3, (UPPER,) * 3), (3, 3, 3)), full_factorial(3), total_degree(3, 2)
    leaves = root.leaves()
    sampled = values(machine, np.vstack([leaf.box.from_unit(xi) for leaf in leaves])).reshape(len(leaves), len(xi), -1)
    for leaf, y in zip(leaves, sampled, strict=True):
        leaf.coefficients = fit(xi, y, indices)
    names = tuple(machine.actuators)
    layout = CoefficientLayout(
        names, 3, names, (), {"M": (0, 6), "christoffel": (6, 24), "force": (24, 27)}, {"input_map": np.eye(3).ravel()}
    )
    return ReducedModel("orthoglide", layout, Forest([root], indices).piecewise())


def values(machine: supple.Mechanism, theta: np.ndarray) -> np.ndarray:
    local = supple.local(machine, theta)
    return np.hstack(
        [packed_triangles(local.M), packed_triangles(local.christoffel).reshape(len(theta), -1), local.force]
    )


def interpolator(machine: supple.Mechanism) -> RegularGridInterpolator:
    """The corners and middles of the boxes as a grid."""
    axis = np.linspace(LOWER, UPPER, 2 * BOXES + 1)
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1)
    return RegularGridInterpolator((axis,) * 3, values(machine, grid.reshape(-1, 3)).reshape(*grid.shape[:3], WIDTH))


def native(rom: ReducedModel, folder: Path) -> ctypes.CDLL | None:
    """The loop by hand and the exported model in one library; None without a compiler."""
    names = [name for name in (os.environ.get("CC"), "gcc", "cc") if name]
    compiler = next(filter(None, map(shutil.which, names)), None)
    if compiler is None:
        return None
    supple.export(rom, folder, to="c", prefix="orthoglide")
    (folder / "by_hand.c").write_text(BY_HAND)
    (folder / "exported_loop.c").write_text(EXPORTED_LOOP)
    files = [str(folder / name) for name in ("by_hand.c", "exported_loop.c", "orthoglide.c")]
    subprocess.run([compiler, *OPTIMISED, *files, "-lm", "-o", str(folder / "native.so")], check=True)
    return ctypes.CDLL(str(folder / "native.so"))


def table_by_cell(rom: ReducedModel) -> np.ndarray:
    """Coefficients as the loop by hand wants them: boxes in the order of the grid, the last axis fastest."""
    arrays = rom.fitted.arrays
    cell = ((arrays.leaves_f[:, 0] - LOWER) * BOXES / (UPPER - LOWER)).astype(int) @ (BOXES * BOXES, BOXES, 1)
    found = np.empty((len(cell), 10, WIDTH))
    found[cell] = arrays.coefficients.reshape(len(cell), 10, WIDTH)
    return found


def address(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def seconds(work: Callable[[], object], calls: int) -> float:
    """Of the processor, all threads together: a machine that is busy with other things disturbs that least."""
    start = time.process_time()
    for _ in range(calls):
        work()
    return (time.process_time() - start) / calls


def verdict(what: str, ratio: float, limit: float, *, least: bool = False) -> None:
    met = ratio >= limit if least else ratio <= limit
    print(f"  {what:58} {ratio:9.2f}  ({'at least' if least else 'at most'} {limit:g}: {'met' if met else 'MISSED'})")


def main() -> None:
    machine = supple.load(EXAMPLE)
    rom = model(machine)
    x = np.random.default_rng(1).uniform(LOWER, UPPER, (POINTS, 3))
    y, inside = np.empty((POINTS, WIDTH)), np.empty(POINTS, dtype=np.int64)
    evaluate, packed_model = compile_kernel(evaluate_batch), rom.fitted.kernel_arrays
    in_place, linear = rom.kernel(), interpolator(machine)
    row, scattered = in_place.new_row(), [point.copy() for point in x[:CALLS]]  # a box of its own for each call
    # The same arguments, also those that the evaluator holds ready.
    idle = partial(compile_kernel(empty), *in_place.call.args)
    work: dict[str, tuple[Callable[[], object], int]] = {
        "batch": (lambda: evaluate(*packed_model, x, y, inside), 1),
        "in place": (lambda: [in_place.call(theta, row) for theta in scattered], 1),
        "empty": (lambda: [idle(theta, row) for theta in scattered], 1),
        "scipy": (lambda: linear(x[0]), 200),
        "local": (lambda: supple.local(machine, x[:CALLS]), 1),
    }
    with tempfile.TemporaryDirectory() as name:
        library = native(rom, Path(name))
        results = {item: np.empty((POINTS, WIDTH)) for item in ("by hand", "exported")}
        if library is None:
            print("no C compiler was found: the loop by hand and the exported model are left out")
        else:
            lower, per_length = np.full(3, LOWER), np.full(3, BOXES / (UPPER - LOWER))
            table, structure, n = table_by_cell(rom), np.empty(100), ctypes.c_long(POINTS)
            given = [address(item) for item in (lower, per_length, table, x, results["by hand"])]
            given_x, columns = address(x), address(results["exported"])
            work["by hand"] = (lambda: library.by_hand(*given, n), 1)
            work["exported"] = (lambda: library.columns_loop(given_x, columns, n), 1)
            work["exported, unpacked"] = (lambda: library.coefficients_loop(given_x, address(structure), n), 1)
        for task, _ in work.values():  # compile, warm up
            task()
        if library is not None:
            for item in results.values():  # the same model in three ways
                np.testing.assert_allclose(item, y, rtol=1e-11, atol=1e-11 * np.abs(y).max())
        # Interleaved, so that a busy spell of the machine falls on all of them alike.
        times: dict[str, list[float]] = {item: [] for item in work}
        for _ in range(ROUNDS):
            for item, (task, calls) in work.items():
                times[item].append(seconds(task, calls))
    took = {item: median(found) for item, found in times.items()}
    for item in ("batch", "by hand", "exported", "exported, unpacked"):
        if item in took:
            took[item] /= POINTS
            print(f"{item + ', a point':38} {took[item] * 1e9:10.1f} ns")
    for item in ("in place", "empty", "local"):
        took[item] /= CALLS
    for item in ("in place", "empty", "scipy", "local"):
        print(f"{item + (', a point in a batch' if item == 'local' else ', one call'):38} {took[item] * 1e6:10.2f} µs")
    print("ratios")
    if "by hand" in took:
        verdict("batch / loop in C by hand", took["batch"] / took["by hand"], 1.3)
        verdict("exported C / loop in C by hand", took["exported"] / took["by hand"], 1.2)
        ratio = took["exported, unpacked"] / took["by hand"]
        print(f"  {'exported C with full matrices / loop in C by hand':58} {ratio:9.2f}")
    verdict("one call in place, beyond an empty one [µs]", 1e6 * (took["in place"] - took["empty"]), 1.0)
    verdict("RegularGridInterpolator / one call in place", took["scipy"] / took["in place"], 50, least=True)
    verdict("local model in a batch / batch", took["local"] / took["batch"], 500, least=True)


if __name__ == "__main__":
    main()
