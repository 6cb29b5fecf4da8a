"""The flexible four-bar: a local model against an eigenvalue problem of its full model, a reduced run against Exudyn.

Local model: 5 coordinates (crank, E.z, three internal modes) with Γ and all gradients, at a given configuration;
`scipy.linalg.eigh` is timed on the pencil of all 90 coordinates, and on that of 69 which its 21 rows leave.

Run in time: 1 s at steps of 1 ms under a constant torque at the crank. Exudyn has no Euler-Bernoulli beam in space that
turns by large angles, so its bars are made of what it has: 15 rigid segments with six coordinates each (Tait-Bryan
angles, 90 in all), five a bar, the outer ones of half the length, and between them springs with the stiffness of the
beam elements in their middle. Hinges are its revolute joints. Both of its linear solvers are timed, with a Jacobian
for every iteration, its default, and with one that it keeps as long as that will do; the faster solver counts. That it
is the same machine is checked: where the crank ends, and E.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import scipy.linalg

sys.path.insert(0, str(Path(__file__).parent))
from modes import exu, four_bar, full_model, timed

import supple

LARGEST_RATIO, LEAST_SPEEDUP = 1.0, 100.0  # what a release must reach
ANGLE, TORQUE, LASTS, STEP = 0.3, 0.1, 1.0, 1e-3
MODES = {"constraint_modes": ["E.z"], "internal_modes": 3}
REGION = {"crank": (-0.3, 0.6)}
LARGEST_ANGLE = 2e-3  # rad, between the two crank angles at the end


def local_model() -> None:
    mechanism = four_bar()
    here = supple.assemble(mechanism, [ANGLE])
    model = full_model(mechanism, here)
    N = scipy.linalg.null_space(model.C)
    K, M = N.T @ model.K @ N, N.T @ model.M @ N
    batch = supple.assemble(mechanism, np.linspace(-1.7, 0.6, 1000)[:, None])
    found = timed(
        {
            "eigh 90": (lambda: scipy.linalg.eigh(model.K, model.M), 5),
            "eigh 69": (lambda: scipy.linalg.eigh(K, M), 5),
            "local": (lambda: supple.local(mechanism, here, **MODES), 10),
            "batch": (lambda: supple.local(mechanism, batch, **MODES), 1),
        }
    )
    found["batch"] /= 1000
    labels = {
        "eigh 90": f"scipy.linalg.eigh, {len(model.K)} coordinates",
        "eigh 69": f"scipy.linalg.eigh, {len(K)} left by its rows",
        "local": "supple.local, one call",
        "batch": "supple.local, each of 1000 configurations",
    }
    print("one local model of the flexible four-bar, 5 coordinates with Γ")
    for name, label in labels.items():
        print(f"  {label:44} {found[name] * 1e6:9.1f} µs")
    for ours in ("local", "batch"):
        ratio = found[ours] / found["eigh 90"]
        verdict = "met" if ratio <= LARGEST_RATIO else "MISSED"
        print(f"  ratio {ours:5} to eigh of 90 {ratio:6.3f}   (at most {LARGEST_RATIO:g}: {verdict})")


class InExudyn:
    """The four-bar of springs and lumped masses, its crank at an angle."""

    def __init__(self, mechanism: supple.Mechanism, angle: float):
        self.mbs = exu.SystemContainer().AddSystem()
        self.ground = self.mbs.CreateGround()
        here = supple.assemble(mechanism, [angle])
        self.nodes: dict[str, list[int]] = {}
        at = {}
        for name in mechanism.bodies:
            b, length = here.rest.numbering.body_index(name), float(mechanism.parameters[name])
            origin, along = here.X[b, :3], here.X[b, [3, 6, 9]]
            across = np.array([0.0, 1.0, 0.0])  # the hinges' direction
            R_wb = np.stack([along, across, np.cross(along, across)], axis=1)
            self.nodes[name] = self._bar(Bar(length, 4), origin, R_wb)
            at[name] = origin, origin + along * length
        ends = {name: (bodies[0], bodies[-1]) for name, bodies in self.nodes.items()}
        hinges = [
            (at["crank"][0], self.ground, ends["crank"][0]), (at["coupler"][0], ends["crank"][1], ends["coupler"][0]),
            (at["coupler"][1], ends["coupler"][1], ends["follower"][1]),
            (at["follower"][0], self.ground, ends["follower"][0]),
        ]  # fmt: skip
        for place, first, second in hinges:
            self.mbs.CreateRevoluteJoint(
                itemNumbers=[first, second], position=place.tolist(), axis=[0, -1, 0], useGlobalFrame=True
            )
        self.mbs.CreateTorque(itemNumber=ends["crank"][0], loadVector=[0, -TORQUE, 0])
        self.mbs.Assemble()
        self.start = self.mbs.systemData.GetODE2Coordinates().copy(), self.mbs.systemData.GetODE2Coordinates_t().copy()
        self.settings = exu.SimulationSettings()
        time = self.settings.timeIntegration
        time.numberOfSteps, time.endTime, time.verboseMode = round(LASTS / STEP), LASTS, 0
        time.generalizedAlpha.spectralRadius = 0.9
        # Its default of 1e-8 is below what springs this stiff leave of the residual; this is in its favour.
        time.newton.relativeTolerance = 1e-6
        self.settings.solution.file.write = False
        self.settings.show.computationTime = False

    @property
    def coordinates(self) -> int:
        return len(self.start[0])

    def _bar(self, mesh: Bar, origin: np.ndarray, R_wb: np.ndarray) -> list[int]:
        from exudyn.utilities import RigidBodyInertia

        bodies = []
        for i, along in enumerate(mesh.places):
            toward = {0: 1.0, len(mesh.places) - 1: -1.0}.get(i, 0.0)  # end nodes carry half a segment, to one side
            length = mesh.length * (0.5 if toward else 1.0)
            mass = mesh.line_mass * length
            own = mass * length**2 / 12.0
            turning = np.diag([mesh.twist * length, own + mesh.twist * length, own + mesh.twist * length])
            inertia = RigidBodyInertia(mass=mass, inertiaTensor=turning).Translated([0.5 * toward * length, 0.0, 0.0])
            bodies.append(
                self.mbs.CreateRigidBody(
                    inertia=inertia, nodeType=exu.NodeType.RotationRxyz,
                    referencePosition=(origin + R_wb @ [along, 0.0, 0.0]).tolist(), referenceRotationMatrix=R_wb,
                )
            )  # fmt: skip
        half = 0.5 * mesh.length
        for first, second in pairwise(bodies):
            self.mbs.CreateRigidBodySpringDamper(
                itemNumbers=[first, second], localPosition0=[half, 0, 0], localPosition1=[-half, 0, 0],
                stiffness=mesh.stiffness, damping=np.zeros((6, 6)),
            )  # fmt: skip
        return bodies

    def run(self, solver: object, *, modified: bool) -> None:
        self.settings.linearSolver.solverType = solver
        self.settings.timeIntegration.newton.useModifiedNewton = modified
        data = self.mbs.systemData
        data.SetODE2Coordinates(self.start[0], exu.ConfigurationType.Initial)
        data.SetODE2Coordinates_t(self.start[1], exu.ConfigurationType.Initial)
        self.mbs.SolveDynamic(self.settings, solverType=exu.DynamicSolverType.GeneralizedAlpha)

    def ended(self) -> np.ndarray:
        """Places of B and E."""
        names = (self.nodes["crank"][-1], self.nodes["coupler"][-1])
        return np.array([self.mbs.GetObjectOutputBody(item, exu.OutputVariableType.Position) for item in names])


class Bar:
    """Nodes along a bar, and one element of it: middle stiffness of a beam, mass and twisting inertia a length."""

    def __init__(self, length: float, elements: int):
        width, height = 0.020, 0.010  # y (hinge), z (in the plane), in body axes x along the bar
        E, nu, rho = 70e9, 0.3, 2700.0
        area, I_y, I_z = width * height, width * height**3 / 12.0, height * width**3 / 12.0
        J = width * height**3 * (1.0 / 3.0 - 0.21 * (height / width) * (1.0 - (height / width) ** 4 / 12.0))
        self.places = np.linspace(0.0, length, elements + 1)
        self.length = length / elements
        self.line_mass, self.twist = rho * area, rho * (I_y + I_z)
        h = self.length
        self.stiffness = np.diag([
            E * area / h, 12.0 * E * I_z / h**3, 12.0 * E * I_y / h**3,
            E / (2.0 * (1.0 + nu)) * J / h, E * I_y / h, E * I_z / h,
        ])  # fmt: skip


def in_time() -> None:
    mechanism = four_bar()
    model = supple.reduce(mechanism, region=REGION, tolerance=1e-3, degree=4, **MODES)
    exudyn = InExudyn(mechanism, 0.0)
    times = np.linspace(0.0, LASTS, 101)
    solvers = {"dense": exu.LinearSolverType.EXUdense, "sparse": exu.LinearSolverType.EigenSparse}
    work = {
        f"Exudyn, {name}{', modified Newton' if modified else ''}": (
            lambda s=solver, m=modified: exudyn.run(s, modified=m),  # type: ignore[misc]
            1,
        )
        for modified in (False, True)
        for name, solver in solvers.items()
    }

    def ours() -> supple.Simulation:
        return model.simulate(times, {"crank": TORQUE}, [0.0], step=STEP)

    found = timed({**work, "supple": (ours, 3)}, 5)
    run = ours()
    B, E = exudyn.ended()
    angle = float(np.arctan2(B[2], B[0]))
    print(f"\n{LASTS:g} s at steps of {STEP * 1e3:g} ms, {TORQUE:g} N m at the crank")
    print(f"  Exudyn: {exudyn.coordinates} coordinates; supple: {model.layout.size}, {run.steps} steps")
    for name, seconds in found.items():
        print(f"  {name:32} {seconds * 1e3:9.3f} ms")
    off = abs(angle - run.coordinates["crank"][-1])
    place = np.hypot(E[0] - run.outputs["E.x"][-1], E[2] - run.outputs["E.z"][-1])
    fair = "" if off < LARGEST_ANGLE and run.complete else "   (NOT THE SAME MOTION)"
    print(
        f"  the crank ends at {angle:.5f} rad, reduced {run.coordinates['crank'][-1]:.5f}; E {place:.1e} m apart{fair}"
    )
    for label, modified in (("as it is set by default", False), ("with a Jacobian that is kept", True)):
        speedup = min(found[name] for name in work if ("modified" in name) == modified) / found["supple"]
        verdict = "met" if speedup >= LEAST_SPEEDUP else "MISSED"
        print(f"  {speedup:.0f} times faster than Exudyn {label}   (at least {LEAST_SPEEDUP:g}: {verdict})")


def main() -> None:
    local_model()
    in_time()


if __name__ == "__main__":
    main()
