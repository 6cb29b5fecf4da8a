"""Stiffness matrices of joints: what must hold whatever the numbers are, and against the same by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as la

import supple
from supple.geometry.rotation import axes_from_z, skew

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
    S = MASS * skew(CENTER)
    return np.block([[MASS * np.eye(3), -S], [S, INERTIA - S @ skew(CENTER)]])


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
    found = supple.modes(on_a_weld(K), count=6).frequencies_hz
    wanted = np.sqrt(la.eigh(K, spatial_mass(), eigvals_only=True)) / (2 * np.pi)
    assert found == pytest.approx(wanted, rel=ROUNDING)


def test_turning_the_frame_and_the_matrix_with_it_changes_nothing():
    K, axis = random_stiffness(5), np.array([0.3, -0.5, 0.8])
    T = np.kron(np.eye(2), axes_from_z(axis / np.linalg.norm(axis)).T)
    plain, turned = on_a_weld(K), on_a_weld(T @ K @ T.T, axis)
    assert supple.modes(turned, count=6).frequencies_hz == pytest.approx(
        supple.modes(plain, count=6).frequencies_hz, rel=ROUNDING
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
    bent, welded = supple.modes(beam, count=6), supple.modes(joint, count=6)
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
