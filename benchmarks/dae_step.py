"""Steps of the full DAE: a rigid four-bar in space against Exudyn, and how the time grows with the number of loops.

The four-bar (three bodies, 20 constraint rows, three of them redundant) falls from rest for 1 s in steps of 1 ms, flat
as drawn and tilted with gravity out of its plane. Both codes integrate by the generalized-α method with index-3
constraints and the same spectral radius, write nothing, and are timed in turn. Exudyn is asked in three ways and the
fastest counts: all 20 rows with its switch for singular Jacobians, and the 17 independent rows, chosen by hand, with
its two dense solvers.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np

import supple

sys.exudynFast = True  # type: ignore[attr-defined]  # Exudyn's build without range checks
import exudyn as exu  # noqa: E402
from exudyn.utilities import RigidBodyInertia  # noqa: E402

LARGEST_RATIO = 0.5  # what a release must stay below
LARGEST_DIFFERENCE = 1e-4  # m: two codes at this step
STEP, UNTIL, RADIUS, ROUNDS = 1e-3, 1.0, 0.9, 9
WIDTH, HEIGHT, LINE_MASS, GRAVITY = 0.02, 0.01, 0.54, 9.81
LENGTHS = {"crank": 0.5, "coupler": 0.5218, "follower": 0.6936}


def drawing() -> dict[str, np.ndarray]:
    """Hinges in the plane x-z with the crank along x: coupler and follower meet above."""
    crank, coupler, follower = LENGTHS.values()
    base = 1.0 - crank
    x = (coupler**2 - follower**2 + base**2) / (2.0 * base)
    E = np.array([crank + x, 0.0, np.sqrt(coupler**2 - x**2)])
    return {"A": np.zeros(3), "B": np.array([crank, 0.0, 0.0]), "E": E, "D": np.array([1.0, 0.0, 0.0])}


def tilt() -> np.ndarray:
    """A rotation about no axis in particular."""
    Q, _ = np.linalg.qr(np.random.default_rng(4).standard_normal((3, 3)))
    return Q * np.sign(np.linalg.det(Q))


BARS = {"crank": ("A", "B"), "coupler": ("B", "E"), "follower": ("D", "E")}
HINGES = {"A": (None, "crank"), "B": ("crank", "coupler"), "E": ("coupler", "follower"), "D": (None, "follower")}


def in_supple(R: np.ndarray, gravity: np.ndarray) -> supple.Mechanism:
    return supple.Mechanism(
        name="four-bar in space",
        gravity=gravity.tolist(),
        points={name: (R @ at).tolist() for name, at in drawing().items()},
        bodies={
            name: {"rod": ends, "solid": {"box": [LENGTHS[name], WIDTH, HEIGHT], "mass": LINE_MASS * LENGTHS[name]}}
            for name, ends in BARS.items()
        },
        joints={
            name: {"revolute": [first or "ground", second], "axis": (-R[:, 1]).tolist()}
            for name, (first, second) in HINGES.items()
        },
        frames={"middle": {"on": "coupler", "local": [LENGTHS["coupler"] / 2, 0, 0]}},
        coordinates=["A"],
    )


class InExudyn:
    """The same in Exudyn: rigid bodies with Euler parameters and generic joints that leave the turn about y.

    rows : of each hinge, which of three displacements and three rotations are held
    """

    def __init__(self, R: np.ndarray, gravity: np.ndarray, rows: dict[str, list[int]], solver: str):
        self.mbs = exu.SystemContainer().AddSystem()
        points, bodies = drawing(), {None: self.mbs.CreateGround()}
        for name, (start, end) in BARS.items():
            along = (points[end] - points[start]) / LENGTHS[name]
            axes = np.column_stack([along, [0.0, 1.0, 0.0], np.cross(along, [0.0, 1.0, 0.0])])
            mass, length = LINE_MASS * LENGTHS[name], LENGTHS[name]
            sides = np.array([length, WIDTH, HEIGHT]) ** 2
            tensor = mass / 12.0 * np.diag(sides.sum() - sides)
            bodies[name] = self.mbs.CreateRigidBody(
                inertia=RigidBodyInertia(mass=mass, inertiaTensor=tensor),
                referencePosition=R @ (0.5 * (points[start] + points[end])),
                referenceRotationMatrix=R @ axes,
                gravity=list(gravity),
            )
        for name, (first, second) in HINGES.items():
            self.mbs.CreateGenericJoint(
                itemNumbers=[bodies[first], bodies[second]], position=R @ points[name], rotationMatrixAxes=R,
                useGlobalFrame=True, constrainedAxes=rows[name],
            )  # fmt: skip
        self.mbs.Assemble()
        self.coupler = bodies["coupler"]
        self.settings = exu.SimulationSettings()
        integration = self.settings.timeIntegration
        integration.numberOfSteps, integration.endTime = round(UNTIL / STEP), UNTIL
        integration.generalizedAlpha.spectralRadius = RADIUS
        integration.newton.useModifiedNewton = True  # faster than Newton's method itself
        integration.verboseMode = 0
        self.settings.solution.file.write = False
        self.settings.solution.sensors.active = False
        self.settings.linearSolver.solverType = getattr(exu.LinearSolverType, solver)
        self.settings.linearSolver.ignoreSingularJacobian = (
            solver == "EigenDense" and sum(map(sum, rows.values())) == 20
        )

    def run(self) -> None:
        self.mbs.SolveDynamic(self.settings, updateInitialValues=False)

    def centre(self) -> np.ndarray:
        """Of the coupler at the end."""
        return np.array(self.mbs.GetObjectOutputBody(self.coupler, exu.OutputVariableType.Position))


ALL_ROWS = {name: [1, 1, 1, 1, 0, 1] for name in HINGES}
# Three hinges hold all bars in the plane: the fourth has to bring two points together within it, and no more.
INDEPENDENT_ROWS = ALL_ROWS | {"E": [1, 0, 1, 0, 0, 0]}
WAYS = {
    "all rows, singular Jacobian allowed": (ALL_ROWS, "EigenDense"),
    "17 rows, Eigen": (INDEPENDENT_ROWS, "EigenDense"),
    "17 rows, its own solver": (INDEPENDENT_ROWS, "EXUdense"),
}


def compare(label: str, R: np.ndarray, gravity: np.ndarray) -> None:
    mechanism = in_supple(R, gravity)
    models = {way: InExudyn(R, gravity, *how) for way, how in WAYS.items()}

    def ours() -> supple.Simulation:
        return supple.simulate(mechanism, until=UNTIL, step=STEP, spectral_radius=RADIUS, output_step=UNTIL)

    work: dict[str, Callable[[], object]] = {"supple": ours} | {way: model.run for way, model in models.items()}
    for task in work.values():  # compile, warm up
        task()
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(ROUNDS):  # in turn, so that a busy spell of the machine falls on all of them alike
        for name, task in work.items():
            start = time.perf_counter()
            task()
            times[name].append(time.perf_counter() - start)
    found = ours()
    end = found.frame("middle").position[-1]
    print(f"{label}: {found.steps} steps, {found.iterations / found.steps:.2f} iterations a step")
    print(f"  supple, all 20 rows                             {median(times['supple']) * 1e3:8.2f} ms")
    for way, model in models.items():
        apart = np.abs(model.centre() - end).max()
        fair = "" if apart < LARGEST_DIFFERENCE else "   ANOTHER MOTION"
        print(f"  Exudyn, {way:38}  {median(times[way]) * 1e3:8.2f} ms   ends {apart:.1e} m apart{fair}")
    ratio = median(times["supple"]) / min(median(times[way]) for way in models)
    verdict = "met" if ratio <= LARGEST_RATIO else "MISSED"
    print(f"  ratio to the fastest {ratio:.3f}   (at most {LARGEST_RATIO:g}: {verdict})")


def chain(loops: int) -> supple.Mechanism:
    """Parallelograms side by side that share their bars: benchmark A02 of the IFToMM library, upright."""
    points = {f"{letter}{i}": [float(i), y] for i in range(loops + 1) for letter, y in (("A", 0.0), ("B", 1.0))}
    bodies = {f"bar{i}": {"rod": [f"A{i}", f"B{i}"], "mass": 1.0} for i in range(loops + 1)}
    bodies |= {f"coupler{i}": {"rod": [f"B{i}", f"B{i + 1}"], "mass": 1.0} for i in range(loops)}
    joints: dict[str, dict[str, object]] = {f"A{i}": {"revolute": ["ground", f"bar{i}"]} for i in range(loops + 1)}
    for i in range(loops):
        joints[f"left{i}"] = {"revolute": [f"bar{i}", f"coupler{i}"], "at": f"B{i}"}
        joints[f"right{i}"] = {"revolute": [f"bar{i + 1}", f"coupler{i}"], "at": f"B{i + 1}"}
    return supple.Mechanism(
        name=f"{loops} four-bars", plane="xy", gravity=[0, -GRAVITY], points=points, bodies=bodies, joints=joints,
        coordinates=["A0"],
    )  # fmt: skip


def seconds(mechanism: supple.Mechanism, here: supple.Configuration, steps: int) -> float:
    until = steps * STEP
    start = time.perf_counter()
    supple.simulate(mechanism, until=until, step=STEP, start=here, rates=[-1.0], output_step=until)
    return time.perf_counter() - start


def growth() -> None:
    counts, each = (1, 10, 100), []
    print("four-bars in a row, in the plane")
    for loops in counts:
        mechanism = chain(loops)
        here = supple.assemble(mechanism)
        seconds(mechanism, here, 100)
        # The start has its own cost: what 400 further steps take is that of steps alone.
        long, short = (median(seconds(mechanism, here, steps) for _ in range(5)) for steps in (500, 100))
        each.append((long - short) / 400)
        velocities, rows = 3 * len(mechanism.bodies), 2 * len(mechanism.joints)
        print(f"  {loops:4} loops, {velocities:4} velocities, {rows:4} rows {each[-1] * 1e6:9.1f} µs a step")
    exponent = np.log(each[2] / each[1]) / np.log(counts[2] / counts[1])
    print(f"  from 10 to 100 loops the time grows as their number to the power {exponent:.2f}")


def main() -> None:
    down = np.array([0.0, 0.0, -GRAVITY])
    compare("four-bar in the plane x-z", np.eye(3), down)
    compare("four-bar tilted, gravity out of its plane", tilt(), down)
    growth()


if __name__ == "__main__":
    main()
