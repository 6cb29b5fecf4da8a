"""One call of exported dynamics in CasADi: compiled C through `casadi.external`, beside an expression graph.

Times are processor time of a call through CasADi's buffers, as an optimizer makes it, without Python's conversion of
arrays; the graph has compiled fitted columns at its leaves and the equations as expressions around them.
"""

from __future__ import annotations

import importlib.util
import tempfile
import time
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from exported_speed import models

import supple
from supple.export.c.target import reference_states

LIMIT = 10.0  # µs: what a call with its Jacobian may take through `external`
LASTS = 0.3  # s


def imported(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def called(function: ca.Function, *given: np.ndarray) -> float:
    """µs a call, the least of three runs."""
    buffer, evaluate = function.buffer()
    taken = [np.ascontiguousarray(values, dtype=float) for values in given]
    found = [np.zeros(max(1, function.nnz_out(i))) for i in range(function.n_out())]
    for i, values in enumerate(taken):
        buffer.set_arg(i, memoryview(values))
    for i, values in enumerate(found):
        buffer.set_res(i, memoryview(values))
    evaluate()
    spent = []
    for _ in range(3):
        calls, start = 0, time.process_time()
        while time.process_time() - start < LASTS / 3:
            for _ in range(20):
                evaluate()
            calls += 20
        spent.append((time.process_time() - start) / calls)
    return 1e6 * min(spent)


def derived(dynamics: ca.Function) -> tuple[ca.Function, ca.Function]:
    """ẋ with both Jacobians; the Hessian of λᵀẋ by x and u, as IPOPT asks for it."""
    x, u, weights = (ca.MX.sym(name, size) for name, size in (("x", dynamics.size1_in(0)), ("u", dynamics.size1_in(1)),
                                                              ("l", dynamics.size1_out(0))))  # fmt: skip
    rate = dynamics(x, u)
    jacobian = ca.Function("jacobian", [x, u], [rate, *dynamics.jacobian()(x, u, rate)])
    z = ca.vertcat(x, u)
    return jacobian, ca.Function("hessian", [x, u, weights], [ca.hessian(ca.dot(weights, rate), z)[0]])


def main() -> None:
    for name, rom in models().items():
        found = reference_states(rom, 1)
        assert found is not None
        x, u = found.states[0], found.inputs[0]
        print(f"{name}: {rom.layout.size} coordinates, {len(rom.fitted.arrays.leaves_i)} boxes")
        with tempfile.TemporaryDirectory() as folder:
            module = imported(supple.export(rom, folder, to="casadi", prefix="code")[0])
            if module.library() is None:
                return
            graph = module.functions(module.DATA, ca.external("code_columns", module.library()))
            for kind, functions in (("external", module.FUNCTIONS), ("graph", graph)):
                dynamics = functions["dynamics"]
                jacobian, hessian = derived(dynamics)
                plain, first = called(dynamics, x, u), called(jacobian, x, u)
                second = called(hessian, x, u, np.ones(len(x)))
                told = f" (limit {LIMIT:g})" if kind == "external" else ""
                print(f"    {kind:8}  dx/dt {plain:7.2f} µs, with its Jacobians {first:7.2f} µs{told}, "
                      f"Hessian of a sum {second:7.2f} µs")  # fmt: skip


if __name__ == "__main__":
    main()
