"""Linearizing a seven-joint arm: A and B of one state, and of a thousand in one call.

Yardsticks, all in the same run and for the same arm: Pinocchio's computeABADerivatives called from Python, central
differences of supple's forward dynamics (compiled, in a batch) and of Pinocchio's (from Python), and the finite
differences of MuJoCo (mjd_transitionFD, centred, from Python). Everything runs on one core unless it says otherwise.
At last the growth with the number of joints.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from supple.compilation import compile_kernel
from supple.formulations.recursive import (
    BatchLinearizer,
    StateLinearizer,
    TreeArrays,
    inverse_variation,
    mass_matrix,
    rigid_tree,
)  # fmt: skip
from supple.formulations.recursive.batch import Results, batch, memory_size
from supple.formulations.recursive.dynamics import SIDE_BY_SIDE, memory
from supple.formulations.recursive.gather import States
from supple.formulations.recursive.recursion import FORWARD

STATES, CALLS, ROUNDS, STEP = 1000, 200, 60, 1e-6
LENGTHS = (7, 14, 28, 56)


class Arm:
    """Roll and pitch in turn, links of 0.25 m: shoulder, elbow, wrist, tool, and so on for longer ones."""

    def __init__(self, joints: int):
        self.joints = joints
        self.axis = np.array([[0.0, 0.0, 1.0] if i % 2 == 0 else [0.0, 1.0, 0.0] for i in range(joints)])
        self.position = np.array([[0.0, 0.0, 0.3]] + [[0.02, 0.01, 0.25]] * (joints - 1))
        self.mass = np.linspace(4.0, 1.0, joints)
        self.center = np.array([[0.01, -0.02, 0.12]] * joints)
        self.inertia = np.array([m * np.diag([0.010, 0.009, 0.004]) for m in self.mass])

    def tree(self) -> TreeArrays:
        return rigid_tree(
            np.arange(-1, self.joints - 1), ["revolute"] * self.joints, mass=self.mass, center=self.center,
            inertia=self.inertia, position=self.position, axis=self.axis,
        )  # fmt: skip

    def pinocchio(self, pin: Any) -> Any:
        model, parent = pin.Model(), 0
        for i in range(self.joints):
            joint = pin.JointModelRZ() if self.axis[i, 2] == 1.0 else pin.JointModelRY()
            parent = model.addJoint(parent, joint, pin.SE3(np.eye(3), self.position[i]), f"joint {i}")
            body = pin.Inertia(self.mass[i], self.center[i], self.inertia[i])
            model.appendBodyToJoint(parent, body, pin.SE3.Identity())
        return model

    def mujoco(self, mujoco: Any) -> Any:
        text = ""
        for i in range(self.joints):
            place, axis, center = (
                " ".join(map(repr, row.tolist())) for row in (self.position[i], self.axis[i], self.center[i])
            )
            moments = " ".join(repr(float(value)) for value in np.diag(self.inertia[i]))
            text += f'<body pos="{place}"><joint name="j{i}" axis="{axis}"/>'
            text += f'<inertial pos="{center}" mass="{float(self.mass[i])!r}" diaginertia="{moments}"/>'
        text += "</body>" * self.joints
        motors = "".join(f'<motor joint="j{i}"/>' for i in range(self.joints))
        option = '<option gravity="0 0 -9.81" timestep="1e-4" integrator="Euler"/>'
        return mujoco.MjModel.from_xml_string(
            f"<mujoco>{option}<worldbody>{text}</worldbody><actuator>{motors}</actuator></mujoco>"
        )


class BatchForward:
    """Accelerations of N states into the same array."""

    def __init__(self, tree: TreeArrays, count: int):
        self.tree, self.count, self.accelerations = tree, count, np.empty((count, tree.n))
        self._run, self._side = compile_kernel(batch, fused=True), (0,) * SIDE_BY_SIDE
        self._memory, self._none = memory(int(memory_size(tree.packed.integers, SIDE_BY_SIDE))), np.empty(0)

    def __call__(self, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        states = States(*(item.reshape(-1) for item in (q, v, self.accelerations, u)))
        none = Results(self._none, self._none, self._none)
        self._run(self._side, 1, FORWARD, self.tree.packed, self._memory, self.count, states, none)
        return self.accelerations


def perturbed(state: np.ndarray) -> np.ndarray:
    """(6n, 3n): q, q̇, u with each number a step up, then each a step down."""
    steps = STEP * np.eye(len(state))
    return np.vstack([state + steps, state - steps])


def differences_of_supple(forward: BatchForward, states: np.ndarray) -> Callable[[], np.ndarray]:
    """∂q̈/∂(q, q̇, u) of each state from 6n accelerations, all states' perturbations in one batch."""
    n = states.shape[1] // 3
    all_states = np.vstack([perturbed(state) for state in states])
    q, v, u = (np.ascontiguousarray(all_states[:, i * n : (i + 1) * n]) for i in range(3))

    def work() -> np.ndarray:
        found = forward(q, v, u).reshape(len(states), 2, 3 * n, n)
        return (found[:, 0] - found[:, 1]) / (2 * STEP)

    return work


def differences_of_pinocchio(pin: Any, model: Any, state: np.ndarray) -> Callable[[], np.ndarray]:
    data, n = model.createData(), model.nv
    rows = [(row[:n].copy(), row[n : 2 * n].copy(), row[2 * n :].copy()) for row in perturbed(state)]

    def work() -> np.ndarray:
        found = np.array([pin.aba(model, data, *row) for row in rows])
        return (found[: 3 * n] - found[3 * n :]) / (2 * STEP)

    return work


def best(work: dict[str, tuple[Callable[[], object], int, int]], rounds: int = ROUNDS) -> dict[str, float]:
    """Seconds for a state: the least of many rounds, in turn, so that a busy machine disturbs them alike."""
    for task, _, _ in work.values():  # compile, warm up
        task()
    found = dict.fromkeys(work, np.inf)
    for _ in range(rounds):
        for name, (task, calls, states) in work.items():
            start = time.perf_counter()
            for _ in range(calls):
                task()
            found[name] = min(found[name], (time.perf_counter() - start) / calls / states)
    return found


def verdict(what: str, ratio: float, limit: float, *, least: bool = False) -> None:
    met = ratio >= limit if least else ratio <= limit
    print(f"  {what:66} {ratio:8.2f}  ({'at least' if least else 'at most'} {limit:g}: {'met' if met else 'MISSED'})")


def seven_joints() -> None:
    arm = Arm(7)
    tree, rng = arm.tree(), np.random.default_rng(3)
    states = rng.uniform(-1.0, 1.0, (STATES, 21))
    q, v, u = (np.ascontiguousarray(states[:, i * 7 : (i + 1) * 7]) for i in range(3))
    one = q[0].copy(), v[0].copy(), u[0].copy()
    single, single_special = StateLinearizer(tree), StateLinearizer(tree, special=True)
    many, special = BatchLinearizer(tree, STATES, threads=1), BatchLinearizer(tree, STATES, threads=1, special=True)
    cores = BatchLinearizer(tree, STATES, special=True)
    A, B = single(*one)
    few = 50
    differences = differences_of_supple(BatchForward(tree, 42 * few), states[:few])
    work: dict[str, tuple[Callable[[], object], int, int]] = {
        "supple, one call": (lambda: single(*one), CALLS, 1),
        "supple, one call, code for this arm": (lambda: single_special(*one), CALLS, 1),
        "supple, each of 1000": (lambda: many(q, v, u), 5, STATES),
        "supple, each of 1000, code for this arm": (lambda: special(q, v, u), 5, STATES),
        f"supple, each of 1000, code for this arm, {cores.threads} cores": (lambda: cores(q, v, u), 5, STATES),
        "central differences of supple's forward dynamics, batch": (differences, 3, few),
    }
    try:
        import pinocchio as pin
    except ImportError as error:
        print(f"Pinocchio is missing ({error}): pip install 'supple[bench]'")
        pin = None
    if pin is not None:
        model = arm.pinocchio(pin)
        data = model.createData()
        by_q, by_rate, by_input = pin.computeABADerivatives(model, data, *one)
        for ours, theirs in (
            (A[7:, :7], by_q),
            (A[7:, 7:], by_rate),
            (B[7:], np.triu(by_input) + np.triu(by_input, 1).T),
        ):
            np.testing.assert_allclose(ours, theirs, atol=1e-10 * np.abs(theirs).max())
        work["Pinocchio, computeABADerivatives, one call"] = (
            lambda: pin.computeABADerivatives(model, data, *one), CALLS, 1,
        )  # fmt: skip
        work["central differences of Pinocchio's aba"] = (differences_of_pinocchio(pin, model, states[0]), 5, 1)
    try:
        import mujoco
    except ImportError as error:
        print(f"MuJoCo is missing ({error}): pip install 'supple[bench]'")
    else:
        theirs = arm.mujoco(mujoco)
        state = mujoco.MjData(theirs)
        state.qpos[:], state.qvel[:], state.ctrl[:] = one
        mujoco.mj_forward(theirs, state)
        np.testing.assert_allclose(state.qacc, single.accelerations, rtol=1e-8)
        step_A, step_B = np.zeros((14, 14)), np.zeros((14, 7))
        work["MuJoCo, mjd_transitionFD, centred, one call"] = (
            lambda: mujoco.mjd_transitionFD(theirs, state, STEP, 1, step_A, step_B, None, None), CALLS, 1,
        )  # fmt: skip
    took = best(work)
    exact = np.concatenate([many.A[:few, 7:], many.B[:few, 7:]], axis=2)
    off = np.abs(differences().transpose(0, 2, 1) - exact).max() / np.abs(exact).max()
    print(f"seven joints; central differences differ from the exact derivatives by {off:.1e}")
    for name, seconds in took.items():
        print(f"  {name:66} {seconds * 1e6:8.2f} µs a state")
    batch_time, special_time = took["supple, each of 1000"], took["supple, each of 1000, code for this arm"]
    if pin is not None:
        call = took["Pinocchio, computeABADerivatives, one call"]
        verdict("one call against Pinocchio's", took["supple, one call"] / call, 0.7)
        verdict("Pinocchio's call against one of a batch", call / batch_time, 6.0, least=True)
        verdict("the same, code for this arm", call / special_time, 12.0, least=True)
        slow = took["central differences of Pinocchio's aba"]
        verdict("differences of Pinocchio's aba against one of a batch", slow / batch_time, 20.0, least=True)
    own = took["central differences of supple's forward dynamics, batch"]
    verdict("differences of supple's own forward dynamics against one of a batch", own / batch_time, 5.0, least=True)


def growth() -> None:
    """Time for a state against the number of joints, and the exponent between neighbours."""
    print("growth with the number of joints, each of 200 in a batch on one core:")
    before: tuple[int, float] | None = None
    for joints in LENGTHS:
        tree, rng = Arm(joints).tree(), np.random.default_rng(joints)
        q, v, u = rng.uniform(-1.0, 1.0, (3, 200, joints))
        many = BatchLinearizer(tree, 200, threads=1)
        seconds = best({"batch": (lambda many=many, q=q, v=v, u=u: many(q, v, u), 1, 200)}, rounds=20)["batch"]
        exponent = (
            "" if before is None else f"   exponent {np.log(seconds / before[1]) / np.log(joints / before[0]):.2f}"
        )
        M, found = mass_matrix(tree, q[0]), inverse_variation(tree, q[0], v[0], many.accelerations[0])
        residual = np.abs(M @ many.A[0, joints:, :joints] + found.by_q).max() / np.abs(found.by_q).max()
        print(f"  {joints:3d} joints {seconds * 1e6:10.2f} µs{exponent}   (M ∂q̈/∂q + ∂τ/∂q: {residual:.0e})")
        before = joints, seconds


def main() -> None:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    seven_joints()
    growth()


if __name__ == "__main__":
    main()
