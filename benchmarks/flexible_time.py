"""The flexible four-bar in time: Exudyn with beams, our full model, and the reduced one, in one run.

0.1 N m at the crank from rest for 1 s, in steps of 1 ms by generalized-α with the same spectral radius; nothing is
written, and all are timed in turn. Exudyn moves it in two ways, each with the element that serves it best:

- in space with geometrically exact beams (Lie-group nodes), eight to a bar since they are linear and four are too
  coarse, hinges as generic joints; with a Jacobian for every iteration and with one that it keeps, by its sparse
  solver, the fastest of its three here
- in the plane with cables in absolute nodal coordinates (cubic, Euler-Bernoulli), four to a bar, by all three solvers

Ours has four Euler-Bernoulli elements to a bar in both. That all of them are the same machine is checked: where the
crank ends, and how E is displaced beyond the motion of undeformed bars, at steps of 0.25 ms with 1 % of damping.
"""

from __future__ import annotations

import sys
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from modes import exu, timed

import supple
from supple.description.scenario import Scenario

items = exu.itemInterface
warnings.filterwarnings("ignore", category=DeprecationWarning)  # of the names of Exudyn's parameters

LARGEST_RATIO, LEAST_OF_EXUDYN, LEAST_OF_OURS = 0.3, 100.0, 200.0  # what a release must reach
LARGEST_ANGLE, LARGEST_ELASTIC = 1e-4, 0.01  # rad; of the largest elastic displacement of E
TORQUE, LASTS, STEP, RADIUS = 0.1, 1.0, 1e-3, 0.9
SHORT = 2.5e-4  # s, of steps where motions are compared
DAMPING = 3.1e-4  # s: 1 % at 10.3 Hz, the first mode with the crank held
LENGTHS = {"crank": 0.5, "coupler": 0.5218, "follower": 0.6936}
BARS = {"crank": ("A", "B"), "coupler": ("B", "E"), "follower": ("D", "E")}
WIDTH, HEIGHT, YOUNG, POISSON, DENSITY = 0.020, 0.010, 70e9, 0.3, 2700.0
AREA, BENDING, ACROSS = WIDTH * HEIGHT, WIDTH * HEIGHT**3 / 12.0, HEIGHT * WIDTH**3 / 12.0
TORSION = WIDTH * HEIGHT**3 * (1.0 / 3.0 - 0.21 * (HEIGHT / WIDTH) * (1.0 - (HEIGHT / WIDTH) ** 4 / 12.0))
REGION, MODES = {"crank": (-0.3, 0.6)}, {"constraint_modes": ["E.z"], "internal_modes": 3}
FILE = Path(__file__).parents[1] / "examples" / "flexible-four-bar" / "mechanism.yaml"


def corners() -> dict[str, np.ndarray]:
    """Hinges in the plane with the crank along the first axis, the upper branch."""
    crank, coupler, follower = LENGTHS.values()
    base = 1.0 - crank
    x = (coupler**2 - follower**2 + base**2) / (2.0 * base)
    E = np.array([crank + x, np.sqrt(coupler**2 - x**2)])
    return {"A": np.zeros(2), "B": np.array([crank, 0.0]), "E": E, "D": np.array([1.0, 0.0])}


class InExudyn:
    """A model of Exudyn's that can be run again and again from its start."""

    mbs: Any

    def __init__(self) -> None:
        self.settings = exu.SimulationSettings()
        self.settings.timeIntegration.endTime = LASTS
        self.settings.timeIntegration.verboseMode = 0
        self.settings.timeIntegration.generalizedAlpha.spectralRadius = RADIUS
        # Its default of 1e-8 is below what stiff beams leave of the residual; this is in its favour.
        self.settings.timeIntegration.newton.relativeTolerance = 1e-6
        self.settings.solution.file.write = False
        self.settings.show.computationTime = False

    def run(
        self, solver: str = "EigenSparse", *, modified: bool = True, step: float = STEP, keep: bool = False
    ) -> None:
        settings, integration = self.settings, self.settings.timeIntegration
        integration.numberOfSteps = round(LASTS / step)
        integration.newton.useModifiedNewton = modified
        settings.linearSolver.solverType = getattr(exu.LinearSolverType, solver)
        settings.solution.sensors.active, settings.solution.sensors.writePeriod = keep, step
        self.mbs.SolveDynamic(settings, updateInitialValues=False)


class InThePlane(InExudyn):
    """Cables in absolute nodal coordinates: position and slope at each node."""

    def __init__(self, damping: float = 0.0, elements: int = 4):
        super().__init__()
        self.mbs = mbs = exu.SystemContainer().AddSystem()
        at = corners()

        ground = mbs.AddObject(items.ObjectGround())
        self.nodes, cables = {}, {}
        for name, (start, end) in BARS.items():
            length = LENGTHS[name]
            along = (at[end] - at[start]) / length
            self.nodes[name] = [
                mbs.AddNode(items.NodePoint2DSlope1(referenceCoordinates=[*(at[start] + x * along), *along]))
                for x in np.linspace(0.0, length, elements + 1)
            ]
            cables[name] = [
                mbs.AddObject(
                    items.ObjectANCFCable2D(
                        physicsLength=length / elements,
                        physicsMassPerLength=DENSITY * AREA,
                        physicsBendingStiffness=YOUNG * BENDING,
                        physicsAxialStiffness=YOUNG * AREA,
                        physicsBendingDamping=damping * YOUNG * BENDING,
                        physicsAxialDamping=damping * YOUNG * AREA,
                        nodeNumbers=list(pair),
                    )
                )
                for pair in pairwise(self.nodes[name])
            ]

        def node(bar: str, end: int) -> int:
            return mbs.AddMarker(items.MarkerNodePosition(nodeNumber=self.nodes[bar][end]))

        def fixed(point: str) -> int:
            return mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=ground, localPosition=[*at[point], 0.0]))

        for pair in (
            (fixed("A"), node("crank", 0)), (node("crank", -1), node("coupler", 0)),
            (node("coupler", -1), node("follower", -1)), (fixed("D"), node("follower", 0)),
        ):  # fmt: skip
            mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=list(pair)))
        pushed = mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=cables["crank"][0], localPosition=[0, 0, 0]))
        mbs.AddLoad(items.LoadTorqueVector(markerNumber=pushed, loadVector=[0, 0, TORQUE]))
        out = exu.OutputVariableType
        self.slope = mbs.AddSensor(
            items.SensorNode(nodeNumber=self.nodes["crank"][0], storeInternal=True, outputVariableType=out.Coordinates)
        )
        self.place = mbs.AddSensor(
            items.SensorNode(nodeNumber=self.nodes["coupler"][-1], storeInternal=True, outputVariableType=out.Position)
        )
        mbs.Assemble()

    def angle(self) -> float:
        """Of the crank at A when the last run ended."""
        c = self.mbs.GetNodeOutput(self.nodes["crank"][0], exu.OutputVariableType.Coordinates)
        return float(np.arctan2(c[3], 1.0 + c[2]))

    def course(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times, angles of the crank at A and places (N, 2) of E in the last run, which was kept."""
        slope, place = (np.array(self.mbs.GetSensorStoredData(item)) for item in (self.slope, self.place))
        return slope[:, 0], np.arctan2(slope[:, 4], 1.0 + slope[:, 3]), place[:, 1:3]


class InSpace(InExudyn):
    """Geometrically exact beams between Lie-group nodes, hinges along y."""

    def __init__(self, elements: int = 8):
        super().__init__()
        self.settings.timeIntegration.newton.relativeTolerance = 1e-5
        self.mbs = mbs = exu.SystemContainer().AddSystem()
        shear = YOUNG / (2.0 * (1.0 + POISSON))
        section = exu.BeamSection()
        section.massPerLength = DENSITY * AREA
        section.inertia = DENSITY * np.diag([BENDING + ACROSS, BENDING, ACROSS])
        section.stiffnessMatrix = np.diag(
            [YOUNG * AREA, shear * AREA, shear * AREA, shear * TORSION, YOUNG * BENDING, YOUNG * ACROSS]
        )
        at = {name: np.array([x, 0.0, z]) for name, (x, z) in corners().items()}
        self.nodes, axes = {}, {}
        for name, (start, end) in BARS.items():
            along = (at[end] - at[start]) / LENGTHS[name]
            axes[name] = R = np.column_stack([along, [0.0, 1.0, 0.0], np.cross(along, [0.0, 1.0, 0.0])])
            turned = exu.rigidBodyUtilities.RotationMatrix2RotationVector(R)
            self.nodes[name] = [
                mbs.AddNode(
                    items.NodeRigidBodyRotVecLG(
                        referenceCoordinates=[*(at[start] + x * (at[end] - at[start])), *turned]
                    )
                )
                for x in np.linspace(0.0, 1.0, elements + 1)
            ]
            for pair in pairwise(self.nodes[name]):
                mbs.AddObject(
                    items.ObjectBeamGeometricallyExact(
                        nodeNumbers=list(pair), physicsLength=LENGTHS[name] / elements, sectionData=section
                    )
                )
        ground = mbs.CreateGround()

        def node(bar: str, end: int) -> tuple[int, np.ndarray]:
            return mbs.AddMarker(items.MarkerNodeRigid(nodeNumber=self.nodes[bar][end])), axes[bar]

        def fixed(point: str) -> tuple[int, np.ndarray]:
            return mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=ground, localPosition=at[point])), np.eye(3)

        crank = node("crank", 0)
        for (first, R), (second, S) in (
            (fixed("A"), crank), (node("crank", -1), node("coupler", 0)),
            (node("coupler", -1), node("follower", -1)), (fixed("D"), node("follower", 0)),
        ):  # fmt: skip
            mbs.AddObject(
                items.GenericJoint(
                    markerNumbers=[first, second],
                    constrainedAxes=[1, 1, 1, 1, 0, 1],
                    rotationMarker0=R.T,
                    rotationMarker1=S.T,
                )
            )
        mbs.AddLoad(items.LoadTorqueVector(markerNumber=crank[0], loadVector=[0, -TORQUE, 0]))
        mbs.Assemble()

    def angle(self) -> float:
        """Of the crank at A when the last run ended."""
        R = np.reshape(self.mbs.GetNodeOutput(self.nodes["crank"][0], exu.OutputVariableType.RotationMatrix), (3, 3))
        return float(np.arctan2(R[2, 0], R[0, 0]))


def planar() -> supple.Mechanism:
    """The mechanism of the file, in the plane."""
    at = corners()
    beam = {"section": "bar", "material": "aluminium", "elements": 4}
    return supple.Mechanism(
        name="four-bar in the plane", plane="xz",
        materials={"aluminium": {"youngs_modulus": YOUNG, "poisson": POISSON, "density": DENSITY}},
        sections={"bar": {"rectangle": [WIDTH, HEIGHT]}}, points={name: x.tolist() for name, x in at.items()},
        bodies={name: {"beam": list(ends), **beam} for name, ends in BARS.items()},
        joints={
            "A": {"revolute": ["ground", "crank"]}, "B": {"revolute": ["crank", "coupler"]},
            "E": {"revolute": ["coupler", "follower"]}, "D": {"revolute": ["ground", "follower"]},
        },
        actuators={"crank": {"joint": "A"}}, sensors={"E": {"position": "E"}},
    )  # fmt: skip


def compare(label: str, mechanism: supple.Mechanism, exudyn: Any, ways: dict[str, dict[str, Any]]) -> None:
    """Times of all, and where the crank ends."""
    model = supple.reduce(mechanism, region=REGION, tolerance=1e-3, progress=False, **MODES)
    grid = np.linspace(0.0, LASTS, 101)

    def full(step: float = STEP) -> supple.Simulation:
        return supple.simulate(
            mechanism, until=LASTS, step=step, inputs={"crank": TORQUE}, spectral_radius=RADIUS, output_step=LASTS / 100
        )

    def reduced(step: float = STEP) -> supple.Simulation:
        return model.simulate(grid, {"crank": TORQUE}, [0.0], step=step)

    work: dict[str, Any] = {f"Exudyn, {name}": (lambda how=how: exudyn.run(**how), 1) for name, how in ways.items()}
    found = timed({**work, "supple, full": (full, 1), "supple, reduced": (reduced, 3)}, 3)
    exudyn.run(modified=False, step=SHORT)
    ours, small = full(SHORT), reduced(SHORT)
    print(f"\n{label}: {LASTS:g} s at steps of {STEP * 1e3:g} ms, {TORQUE:g} N m at the crank, undamped")
    for name, seconds in found.items():
        print(f"  {name:44} {seconds * 1e3:10.3f} ms")
    fastest = min(seconds for name, seconds in found.items() if name.startswith("Exudyn"))
    told("ours full, of Exudyn's fastest", found["supple, full"] / fastest, at_most=LARGEST_RATIO)
    told("reduced, times faster than Exudyn's fastest", fastest / found["supple, reduced"], at_least=LEAST_OF_EXUDYN)
    ends = ours.coordinates["crank"][-1]
    theirs, fewer = exudyn.angle(), small.coordinates["crank"][-1]
    print(
        f"  in steps of {SHORT * 1e3:g} ms the crank ends at {ends:.6f} rad, Exudyn's {theirs:.6f}, reduced {fewer:.6f}"
    )
    told("rad between ours and Exudyn's", abs(theirs - ends), at_most=LARGEST_ANGLE)
    told("rad between full and reduced", abs(fewer - ends), at_most=LARGEST_ANGLE)


def told(what: str, value: float, *, at_most: float | None = None, at_least: float | None = None) -> None:
    met = value <= at_most if at_most is not None else value >= (at_least or 0.0)
    limit = f"at most {at_most:g}" if at_most is not None else f"at least {at_least:g}"
    print(f"  {what:44} {value:10.3g}   ({limit}: {'met' if met else 'MISSED'})")


def elastic(mechanism: supple.Mechanism, theta: np.ndarray, place: np.ndarray) -> np.ndarray:
    """E (N, 2) beyond where undeformed bars have it."""
    rigid = supple.local(mechanism, theta[:, None], rigid=True)
    return place - np.asarray(rigid.row.part(rigid.rows, "outputs"))


def agreement() -> None:
    """Elastic displacements of E in two codes, with damping and short steps."""
    mechanism = planar()
    exudyn = InThePlane(damping=DAMPING, elements=4)
    exudyn.run(modified=False, step=SHORT, keep=True)
    times, theta, place = exudyn.course()
    pushed = Scenario(inputs={"crank": TORQUE}, damping={"rayleigh": (0.0, DAMPING)}, until=LASTS, step=SHORT)
    run = supple.simulate(mechanism, pushed, output_step=SHORT * 2)
    theirs = elastic(mechanism, theta, place)
    ours = elastic(mechanism, run.coordinates["crank"], np.stack([run.outputs["E.x"], run.outputs["E.z"]], axis=1))
    theirs = np.stack([np.interp(run.time, times, column) for column in theirs.T], axis=1)
    size = np.linalg.norm(ours, axis=1).max()
    print(f"\nelastic displacement of E, 1 % of damping at the first mode, at most {size * 1e6:.1f} µm")
    told(
        "between ours and Exudyn's, of its peak", float(np.linalg.norm(ours - theirs, axis=1).max() / size),
        at_most=LARGEST_ELASTIC,
    )  # fmt: skip


def judged() -> None:
    """The bundled scenarios, as `supple compare` runs them: the reduced model in steps of its own."""
    mechanism = supple.load(FILE)
    model = supple.reduce(mechanism, region={"crank": (-0.3, 0.6)}, tolerance=1e-3, progress=False, **MODES)
    for name in ("step", "sweep"):
        found = supple.compare(mechanism, model, scenario=name)
        print(f"\nscenario {name}: ours full {found.full_seconds * 1e3:.1f} ms in {found.full.steps} steps, reduced "
              f"{found.reduced_seconds * 1e3:.3f} ms in {found.own.steps}")  # fmt: skip
        told("elastic displacement of E, off by", max(found.elastic_error[key] for key in ("E.x", "E.z")), at_most=0.02)
        told("E itself, off by", max(found.error[key] for key in ("E.x", "E.z")), at_most=0.02)
        told("added by longer steps", max(found.pace_error[key] for key in ("E.x", "E.z")), at_most=0.02)
        for full, reduced in zip(*found.frequencies_hz.values(), strict=True):
            if np.isfinite(reduced):
                told(f"resonance at {full:.2f} Hz, off by", abs(reduced / full - 1.0), at_most=0.005)
        told("reduced, times faster than ours full", found.speedup, at_least=LEAST_OF_OURS)


def main() -> None:
    kept = {"its Jacobian kept": {"modified": True}, "a Jacobian each iteration": {"modified": False}}
    compare("in space, against geometrically exact beams", supple.load(FILE), InSpace(), kept)
    solvers = {
        f"{name}, {how}": {"solver": name, **option}
        for name in ("EigenSparse", "EigenDense", "EXUdense")
        for how, option in kept.items()
    }
    compare("in the plane, against cables", planar(), InThePlane(), solvers)
    agreement()
    judged()


if __name__ == "__main__":
    main()
