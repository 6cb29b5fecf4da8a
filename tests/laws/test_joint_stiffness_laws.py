"""Stiffness matrices of joints: what must hold whatever the numbers are, and against the same by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as la

import supple
from supple.geometry.rotation import axes_from_z, tilde

PLACE = np.array([0.3, 0.0, 0.0])
MASS, CENTER, INERTIA = 2.0, np.array([0.05, 0.03, 0.02]), np.diag([0.01, 0.02, 0.025])  # from the joint's place
E, G, AREA, IY, IZ, TORSION, LENGTH = 70e9, 26e9, 2e-4, 1.5e-9, 6e-9, 4e-9, PLACE[0]
BLOCK = {"mass": MASS, "center": (PLACE + CENTER).tolist(), "inertia": np.diag(INERTIA).tolist()}
ROUNDING = 1e-11  # of frequencies: eigenvalues over a ratio of stiffnesses of 1e5


def beam_end() -> np.ndarray:
    """K (6, 6) at the end of a beam along x that is clamped at its start, by Euler and Bernoulli."""
    K = np.diag([E * AREA / LENGTH, 0.0, 0.0, G * TORSION / LENGTH, 0.0, 0.0])
    for way, about, sign, moment in ((1, 5, -1.0, IZ), (2, 4, 1.0, IY)):
        K[way, way], K[about, about] = 12 * E * moment / LENGTH**3, 4 * E * moment / LENGTH
        K[way, about] = K[about, way] = sign * 6 * E * moment / LENGTH**2
    return K


def spatial_mass() -> np.ndarray:
    """M (6, 6) of the body at the joint's place."""
    S = MASS * tilde(CENTER)
    return np.block([[MASS * np.eye(3), -S], [S, INERTIA - S @ tilde(CENTER)]])


def on_a_weld(K: np.ndarray, axis: np.ndarray | None = None, **more) -> supple.Mechanism:
    """A body on a weld at (LENGTH, 0, 0) with this stiffness, in the drawing's axes or in those about `axis`."""
    weld = {"weld": ["ground", "block"], "at": PLACE.tolist(), "stiffness": K.tolist(), **more}
    if axis is not None:
        weld["axis"] = axis.tolist()
    return supple.Mechanism(name="welded", gravity=[0, 0, -9.81], bodies={"block": BLOCK}, joints={"J": weld})


def random_stiffness(seed: int, size: int = 6) -> np.ndarray:
    """Positive, lengths of a decimetre."""
    rng = np.random.default_rng(seed)
    unit = np.array([1.0, 1.0, 1.0, 0.1, 0.1, 0.1])[:size]
    X = rng.normal(size=(size, size))
    return 1e6 * unit[:, None] * (X @ X.T + 0.5 * np.eye(size)) * unit


@pytest.mark.parametrize("seed", range(3))
def test_frequencies_are_those_of_the_matrix(seed):
    K = random_stiffness(seed)
    found = supple.modes(on_a_weld(K), count=6, preload=False).frequencies_hz
    wanted = np.sqrt(la.eigh(K, spatial_mass(), eigvals_only=True)) / (2 * np.pi)
    assert found == pytest.approx(wanted, rel=ROUNDING)


def test_turning_the_frame_and_the_matrix_with_it_changes_nothing():
    K, axis = random_stiffness(5), np.array([0.3, -0.5, 0.8])
    T = np.kron(np.eye(2), axes_from_z(axis / np.linalg.norm(axis)).T)
    plain, turned = on_a_weld(K), on_a_weld(T @ K @ T.T, axis)
    assert supple.modes(turned, count=6, preload=False).frequencies_hz == pytest.approx(
        supple.modes(plain, count=6, preload=False).frequencies_hz, rel=ROUNDING
    )


def test_a_short_beam_as_a_joint_is_the_beam():
    beam = supple.Mechanism(
        name="beam", gravity=[0, 0, -9.81],
        materials={"light": {"youngs_modulus": E, "shear_modulus": G, "density": 1e-4}},
        sections={"s": {"area": AREA, "Iy": IY, "Iz": IZ, "torsion": TORSION}},
        points={"O": [0, 0, 0], "T": [LENGTH, 0, 0]},
        bodies={"beam": {"beam": ["O", "T"], "section": "s", "material": "light", "elements": 1,
                         "theory": "euler-bernoulli"}, "block": BLOCK},
        joints={"O": {"weld": ["ground", "beam"]}, "T": {"weld": ["beam", "block"]}},
    )  # fmt: skip
    joint = on_a_weld(beam_end())
    bent, welded = supple.modes(beam, count=6, preload=False), supple.modes(joint, count=6, preload=False)
    # the beam's mass, 6e-9 kg, is left: 3e-9 of the block's
    assert welded.frequencies_hz == pytest.approx(bent.frequencies_hz, rel=1e-8)
    sag, sagged = supple.deflection(joint), supple.deflection(beam)
    w = MASS * 9.81
    by_hand = np.linalg.solve(beam_end(), [0, 0, -w, -w * CENTER[1], w * CENTER[0], 0])
    assert sagged.of("T.z") == pytest.approx(by_hand[2], rel=1e-8)
    assert sag.displacements("block")[3:] == pytest.approx(by_hand[3:], rel=1e-9)
    assert sag.displacements("block") == pytest.approx(sagged.displacements("block"), rel=1e-8, abs=1e-15)
    assert sag.reactions["J"].force == pytest.approx([0, 0, w], abs=1e-9 * w)
    assert sag.reactions["J"].moment == pytest.approx([w * CENTER[1], -w * CENTER[0], 0], abs=1e-9 * w)


def test_a_diagonal_matrix_is_what_directions_say():
    K = np.diag([1e6, 2e6, 3e6, 1e3, 2e3, 3e3])
    names = ("x", "y", "z", "rx", "ry", "rz")
    by_matrix = on_a_weld(K)
    frequencies = supple.modes(by_matrix, count=6).frequencies_hz
    for written in (
        {"stiffness": np.diag(K).tolist()},
        {"stiffness": dict(zip(names, np.diag(K), strict=True))},
        {"elastic": dict(zip(names, np.diag(K), strict=True))},
    ):
        joint = {"weld": ("ground", "block"), "at": PLACE.tolist(), **written}
        other = by_matrix.replace(joints={"J": joint})
        assert supple.modes(other, count=6).frequencies_hz.tolist() == frequencies.tolist()


def test_a_joint_tells_its_matrix():
    K = np.diag([1e6, 1e6, 1e6, 1e3, 1e3, 50.0])
    K[0, 4] = K[4, 0] = 1e4
    hinge = supple.Joint(revolute=("ground", "arm"), axis="z", stiffness=K.tolist())
    assert hinge.stiffness_matrix().tolist() == K.tolist()
    slide = supple.Joint(prismatic=("ground", "arm"), axis="z", elastic={"x": 1e6}, drive={"stiffness": 3e5})
    assert np.diag(slide.stiffness_matrix()).tolist() == [1e6, np.inf, 3e5, np.inf, np.inf, np.inf]
    planar = supple.Joint(revolute=("ground", "arm"), stiffness={"x": 2e6, "z": 3e6, "x.z": 1e6})
    assert planar.stiffness_matrix("xz").tolist() == [[2e6, 1e6, 0], [1e6, 3e6, 0], [0, 0, 0]]


def locked(kind: str, bodies: tuple[str, str], **more) -> supple.Mechanism:
    """The block on a joint whose coordinate is an actuator's, its axis askew."""
    joint = {kind: bodies, "at": PLACE.tolist(), "axis": [0.3, -0.5, 0.8], **more}
    coordinates = ["J.slide", "J.angle"] if kind == "cylindrical" else ["J"]
    return supple.Mechanism(
        name="locked", gravity=[0, 0, -9.81], bodies={"block": BLOCK}, joints={"J": joint},
        actuators={f"motor{i}": {"joint": name} for i, name in enumerate(coordinates)},
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize("bodies", [("ground", "block"), ("block", "ground")])
def test_behind_a_locked_actuator_the_whole_matrix_stays(kind, bodies):
    """Its own axis yields too, coupled with the others: a weld with the same matrix."""
    K = random_stiffness(7)
    joint, weld = locked(kind, bodies, stiffness=K.tolist()), locked("weld", bodies, stiffness=K.tolist())
    weld = weld.replace(actuators={})
    assert supple.modes(joint, count=6, preload=False).frequencies_hz == pytest.approx(
        supple.modes(weld, count=6, preload=False).frequencies_hz, rel=1e-7
    )  # a deflection has 1e-8 of the inertia
    sag, welded = supple.deflection(joint), supple.deflection(weld)
    assert sag.displacements("block") == pytest.approx(welded.displacements("block"), rel=1e-6)
    assert supple.modes(joint, count=6, preload=False).energy.joints["J"] == pytest.approx(np.ones(6), rel=1e-6)


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_about_its_own_axis_a_joint_yields_as_a_drive(kind):
    own = {"revolute": "rz", "prismatic": "z"}[kind]
    bodies = ("ground", "block")
    said = locked(kind, bodies, stiffness={own: 4e4}, elastic_damping={own: 3.0})
    drive = locked(kind, bodies, drive={"stiffness": 4e4, "damping": 3.0})
    assert said.joints["J"].drives(None) == drive.joints["J"].drives(None)
    assert supple.modes(said, count=1).frequencies_hz.tolist() == supple.modes(drive, count=1).frequencies_hz.tolist()


def test_two_drives_of_a_cylindrical_joint():
    K = random_stiffness(8)
    K[2, :2] = K[:2, 2] = K[2, 3:] = K[3:, 2] = 0.0  # the slide by itself; the angle behind its motor, coupled
    joint = locked("cylindrical", ("ground", "block"), stiffness=K.tolist())
    weld = locked("weld", ("ground", "block"), stiffness=K.tolist()).replace(actuators={})
    assert supple.modes(joint, count=6, preload=False).frequencies_hz == pytest.approx(
        supple.modes(weld, count=6, preload=False).frequencies_hz, rel=1e-7
    )


def released(K: np.ndarray, D: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Displacement (N, 6) of a body at the joint's place that its weight is put on at once, to first order."""
    M, w = spatial_mass(), MASS * 9.81
    force = np.array([0, 0, -w, -w * CENTER[1], w * CENTER[0], 0])
    A = np.block([[np.zeros((6, 6)), np.eye(6)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    sag = np.linalg.solve(K, force)
    start = np.concatenate([-sag, np.zeros(6)])
    return np.array([(la.expm(A * time) @ start)[:6] + sag for time in t])


STEPS = {"until": 0.02, "step": 1e-5, "spectral_radius": 1.0, "output_step": 1e-3}
IN_TIME = (
    5e-4  # of the largest: steps of 1/120 of the shortest period err with their square; the sag is 1e-5 of lengths
)


def moved(run: supple.Simulation) -> np.ndarray:
    return np.stack([run.outputs[f"P.{axis}"] for axis in "xyz"], axis=1) - PLACE


@pytest.mark.parametrize("damped", [False, True])
def test_in_time_a_matrix_with_any_damping_beside_it_is_the_linear_system(damped):
    """Stiffness and damping matrices that share no directions at all."""
    K, D = random_stiffness(11), (random_stiffness(12) * 1e-4 if damped else np.zeros((6, 6)))
    weld = on_a_weld(K, **({"elastic_damping": D.tolist()} if damped else {}))
    weld = weld.replace(sensors={"P": {"position": "block.J"}}, points={"J": PLACE.tolist()})
    run = supple.simulate(weld, **STEPS)
    wanted = released(K, D, run.time)[:, :3]
    assert moved(run) == pytest.approx(wanted, abs=IN_TIME * np.abs(wanted).max())


@pytest.mark.slow
def test_in_time_a_drive_coupled_with_other_directions_is_the_linear_system():
    """The actuator held where it is."""
    K, axis = random_stiffness(13), np.array([0.3, -0.5, 0.8])
    T = np.kron(np.eye(2), axes_from_z(axis / np.linalg.norm(axis)))
    hinge = locked("revolute", ("ground", "block"), stiffness=K.tolist())
    hinge = hinge.replace(sensors={"P": {"position": "block.J"}}, points={"J": PLACE.tolist()})
    run = supple.simulate(hinge, motion={"motor0": lambda t: 0.0}, **STEPS)
    wanted = released(T @ K @ T.T, np.zeros((6, 6)), run.time)[:, :3]
    assert moved(run) == pytest.approx(wanted, abs=IN_TIME * np.abs(wanted).max())


def test_frequency_responses_with_damping_beside_the_matrix():
    K, D = random_stiffness(11), random_stiffness(12) * 1e-4
    weld = on_a_weld(K, elastic_damping=D.tolist()).replace(points={"J": PLACE.tolist()})
    lines = np.array([20.0, 150.0, 400.0])
    found = supple.frf(weld, None, "block.J.z", ["block.J.x", "block.J.z"], lines, preload=False)
    omega = 2 * np.pi * lines[:, None, None]
    wanted = np.linalg.inv(K + 1j * omega * D - omega**2 * spatial_mass())[:, [0, 2], 2]
    assert np.abs(found.values[:, :, 0] - wanted).max() < 1e-9 * np.abs(wanted).max()


HANGING = """
supple: 1
gravity: [0, 0, -9.81]
points: {{A: [0, 0, 0], M: [0.35, 0, 0], B: [1, 0, 0]}}
materials: {{steel: {{youngs_modulus: 210 GPa, poisson: 0.3, density: 7850}}}}
sections: {{bar: {{rectangle: [30 mm, 12 mm]}}}}
bodies:
{beam}
  weight: {{mass: 2, center: [0.4, 0.05, -0.1], inertia: [0.01, 0.02, 0.015]}}
joints:
  A: {{weld: [ground, beam]}}
{parts}
  M: {{weld: [{carrier}, weight], stiffness: {K}}}
sensors: {{tip: {{position: B}}, weight: {{position: weight.M}}}}
"""


def test_in_the_middle_of_a_body_a_joint_yields_where_it_is():
    """A weight on a beam at a place between its ends, and the same with the beam cut there and welded again."""
    K = (1e-2 * random_stiffness(21)).tolist()
    beam = ", section: bar, material: steel, elements: {}, up: [0, 0, 1]}}"
    whole = HANGING.format(
        beam="  beam: {beams: [{from: A, to: M" + beam.format(7) + ", {from: M, to: B" + beam.format(13) + "]}",
        parts="", carrier="beam", K=K,
    )  # fmt: skip
    touched = HANGING.format(beam="  beam: {beam: [A, B]" + beam.format(20), parts="", carrier="beam", K=K)
    cut = HANGING.format(
        beam="  beam: {beam: [A, M]" + beam.format(7) + "\n  rest: {beam: [M, B]" + beam.format(13),
        parts="  cut: {weld: [beam, rest], at: M}", carrier="beam", K=K,
    )  # fmt: skip
    machines = [supple.loads(text) for text in (whole, touched, cut)]
    frequencies = [supple.modes(item, count=6).frequencies_hz for item in machines]
    sags = [[supple.deflection(item).of(name) for name in ("tip.z", "weight.z", "weight.y")] for item in machines]
    for other, sag in zip(frequencies[1:], sags[1:], strict=True):
        assert other == pytest.approx(frequencies[0], rel=2e-6)  # condensed apart
        assert sag == pytest.approx(sags[0], rel=1e-7)
    rigid = machines[0].replace(joints={**machines[0].joints, "M": {"weld": ("beam", "weight")}})
    assert frequencies[0][0] < 0.999 * supple.modes(rigid, count=1).frequencies_hz[0]


def test_a_file_gives_the_matrix_back():
    K = random_stiffness(3)
    machine = on_a_weld(K, elastic_damping=(1e-4 * K).tolist())
    again = supple.loads(supple.to_yaml(machine))
    assert again == machine
    assert again.joints["J"].stiffness_matrix().tolist() == machine.joints["J"].stiffness_matrix().tolist()
