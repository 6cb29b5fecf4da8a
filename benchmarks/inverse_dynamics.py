"""Inverse dynamics of the Orthoglide from its reduced model, beside Pinocchio's dynamics of the closed chain.

Pinocchio has the same machine: three sliders with universal legs and a tool that only translates, joined by three loop
constraints (12 coordinates, 9 constraints). It is timed at home, where its loops are closed, on a state that respects
them; closing them elsewhere would come on top. Two of its calls are shown: `constraintDynamics` (forward, one call),
and the inverse, which is `rnea` with the constraint forces from the Jacobian. The reduced model is evaluated anywhere.
Two of them are: the automatic one within 0.5 %, a single box with many terms, and the paper's 8 x 8 x 8 quadratics.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import supple

EXAMPLE = Path(__file__).parents[1] / "examples" / "orthoglide" / "mechanism.yaml"
LEG, LEG_MASS, SLIDER_MASS, TOOL_MASS = 0.70, 0.45, 0.80, 1.00  # as in the example
POINTS, ROUNDS = 10_000, 15


EXPORTED_LOOP = """
#include "orthoglide.h"
void inverse_loop(const double *x, const double *v, const double *a, double *f, long n)
{
    for (long p = 0; p < n; ++p) orthoglide_inverse(x + 3 * p, v + 3 * p, a + 3 * p, f + 3 * p);
}
"""


def exported(rom: supple.ReducedModel, folder: Path) -> ctypes.CDLL | None:
    """The model as C code, with a loop; None without a compiler."""
    names = [name for name in (os.environ.get("CC"), "gcc", "cc") if name]
    compiler = next(filter(None, map(shutil.which, names)), None)
    if compiler is None:
        return None
    supple.export(rom, folder, to="c", prefix="orthoglide")
    (folder / "loop.c").write_text(EXPORTED_LOOP)
    files = [str(folder / name) for name in ("loop.c", "orthoglide.c")]
    flags = ["-O3", "-march=native", "-fPIC", "-shared"]
    subprocess.run([compiler, *flags, *files, "-lm", "-o", str(folder / "exported.so")], check=True)
    return ctypes.CDLL(str(folder / "exported.so"))


class Closed:
    """The Orthoglide in Pinocchio, at home. Velocities: tool (3), then slider and hinge (1 + 2) of each leg."""

    active = (3, 6, 9)
    passive = (0, 1, 2, 4, 5, 7, 8, 10, 11)

    def __init__(self, pin: Any):
        self.pin, self.model = pin, pin.Model()
        self.model.gravity.linear = np.array([0.0, 0.0, -9.81])
        tool = self.model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), "tool")
        point = pin.Inertia(TOOL_MASS, np.zeros(3), np.zeros((3, 3)))
        self.model.appendBodyToJoint(tool, point, pin.SE3.Identity())
        self.constraints = pin.StdVec_RigidConstraintModel()
        for i in range(3):
            self._add_leg(i, tool)
        self.data = self.model.createData()
        self.constraint_data = pin.StdVec_RigidConstraintData()
        for item in self.constraints:
            self.constraint_data.append(item.createData())
        pin.initConstraintDynamics(self.model, self.data, self.constraints, self.constraint_data)
        self.q = pin.neutral(self.model)
        self.rows = self.jacobian()

    def _add_leg(self, i: int, tool: int) -> None:
        pin, axes = self.pin, np.eye(3)
        along = axes[i]
        start = pin.SE3(np.eye(3), LEG * along)
        slider = self.model.addJoint(0, pin.JointModelPrismaticUnaligned(along), start, f"slider {i}")
        self.model.appendBodyToJoint(
            slider, pin.Inertia(SLIDER_MASS, np.zeros(3), np.zeros((3, 3))), pin.SE3.Identity()
        )
        hinge = pin.JointModelUniversal(axes[(i + 1) % 3], axes[(i + 2) % 3])
        leg = self.model.addJoint(slider, hinge, pin.SE3.Identity(), f"hinge {i}")
        inertia = LEG_MASS * LEG**2 / 12 * (np.eye(3) - np.outer(along, along))
        self.model.appendBodyToJoint(leg, pin.Inertia(LEG_MASS, -0.5 * LEG * along, inertia), pin.SE3.Identity())
        end = pin.SE3(np.eye(3), -LEG * along)
        self.constraints.append(
            pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, self.model, leg, end, tool, pin.SE3.Identity())
        )

    def jacobian(self) -> np.ndarray:
        pin = self.pin
        pin.computeJointJacobians(self.model, self.data, self.q)
        return pin.getConstraintsJacobian(self.model, self.data, self.constraints, self.constraint_data)

    def consistent(self, rates: np.ndarray) -> np.ndarray:
        """Velocities of all joints for those of the sliders."""
        v = np.zeros(12)
        v[list(self.active)] = rates
        v[list(self.passive)] = np.linalg.solve(self.rows[:, self.passive], -self.rows[:, self.active] @ rates)
        return v

    def forward(self, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return self.pin.constraintDynamics(
            self.model, self.data, self.q, v, tau, self.constraints, self.constraint_data
        )

    def inverse(self, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Forces of the sliders for a motion that respects the loops."""
        tau = self.pin.rnea(self.model, self.data, self.q, v, a)
        J = self.jacobian()
        multipliers = np.linalg.solve(J[:, self.passive].T, tau[list(self.passive)])
        return tau[list(self.active)] - J[:, self.active].T @ multipliers


def seconds(work: Callable[[], object], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        work()
    return (time.perf_counter() - start) / calls


def main() -> None:
    machine = supple.load(EXAMPLE)
    rom = supple.reduce(machine, tolerance=5e-3)
    paper = supple.reduce(machine, fit="quadratic", boxes=8)
    rng = np.random.default_rng(2)
    theta = rng.uniform(-0.2, 0.05, (POINTS, 3))
    rates, accelerations = rng.uniform(-1, 1, (2, POINTS, 3))
    one = theta[0].copy(), rates[0].copy(), accelerations[0].copy()
    work: dict[str, tuple[Callable[[], object], int]] = {
        "auto 0.5 %, inverse, one call": (lambda: rom.inverse(*one), 500),
        "auto 0.5 %, forward, one call": (lambda: rom.forward(*one), 500),
        "auto 0.5 %, coefficients, one call": (lambda: rom.evaluate(one[0]), 500),
        "8 x 8 x 8 quadratics, inverse, one call": (lambda: paper.inverse(*one), 500),
        "8 x 8 x 8 quadratics, forward, one call": (lambda: paper.forward(*one), 500),
        "8 x 8 x 8 quadratics, coefficients, one call": (lambda: paper.evaluate(one[0]), 500),
        "auto 0.5 %, inverse, each in a batch": (lambda: rom.inverse(theta, rates, accelerations), 1),
        "8 x 8 x 8 quadratics, inverse, each in a batch": (lambda: paper.inverse(theta, rates, accelerations), 1),
    }
    with tempfile.TemporaryDirectory() as name:
        library = exported(rom, Path(name))
    if library is None:
        print("no C compiler was found: the exported model is left out")
    else:
        forces, n = np.empty((POINTS, 3)), ctypes.c_long(POINTS)
        given = [ctypes.c_void_p(item.ctypes.data) for item in (theta, rates, accelerations, forces)]
        library.inverse_loop(*given, n)
        np.testing.assert_allclose(forces, rom.inverse(theta, rates, accelerations), rtol=1e-9, atol=1e-9)
        work["auto 0.5 %, exported C, each in a batch"] = (lambda: library.inverse_loop(*given, n), 1)
    try:
        import pinocchio
    except ImportError as error:
        print(f"Pinocchio is missing ({error}): pip install 'supple[bench]'; the reduced model alone:")
    else:
        closed = Closed(pinocchio)
        v, tau = closed.consistent(rates[0]), np.zeros(12)
        tau[list(closed.active)] = accelerations[0]
        a = closed.forward(v, tau).copy()
        np.testing.assert_allclose(closed.inverse(v, a), accelerations[0], atol=1e-8)  # its inverse undoes its forward
        reduced = rom.forward(np.zeros(3), rates[0], accelerations[0])
        difference = np.abs(reduced - a[list(closed.active)]).max() / np.abs(a[list(closed.active)]).max()
        print(f"accelerations at home, reduced against Pinocchio: {difference:.1e} apart")
        work["Pinocchio, inverse, one call"] = (lambda: closed.inverse(v, a), 500)
        work["Pinocchio, constraintDynamics, one call"] = (lambda: closed.forward(v, tau), 500)
    for task, _ in work.values():  # compile, warm up
        task()
    # Interleaved, so that a busy spell of the machine falls on all of them alike.
    times: dict[str, list[float]] = {item: [] for item in work}
    for _ in range(ROUNDS):
        for item, (task, calls) in work.items():
            times[item].append(seconds(task, calls))
    took = {item: median(found) / (POINTS if "batch" in item else 1) for item, found in times.items()}
    for name, model in (("auto 0.5 %", rom), ("8 x 8 x 8 quadratics", paper)):
        boxes, terms = len(model.fitted.leaves), int(model.fitted.arrays.leaves_i[:, 1].max())
        print(f"{name}: boxes {boxes}, terms at most {terms}, columns {model.fitted.outputs}")
    one_call = took["auto 0.5 %, inverse, one call"]
    for item, value in took.items():
        print(f"{item:48} {value * 1e6:9.2f} µs   {value / one_call:8.2f} of one inverse with the automatic model")


if __name__ == "__main__":
    main()
