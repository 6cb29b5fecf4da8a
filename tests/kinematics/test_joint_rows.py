"""Every joint kind: its rows take away exactly the motions they should, and its coordinates measure the others."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.description.joints.joint_kinds import JOINT_KINDS
from supple.geometry.rotation import rotation_about
from supple.kinematics.joint_frames import JointFrames
from supple.kinematics.primitives import FACTOR, OFFSET, PA, PB, ROW_WIDTH, SCALE, U, V, W, gradient

Z = np.array([0.0, 0.0, 1.0])
PITCH = 0.7  # m
LEAD = PITCH / (2.0 * np.pi)  # for every radian


def rotation(rng):
    Q, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    return Q * np.sign(np.linalg.det(Q))


def measured(row, Xa, Xb):
    """Of a sum of measures: value, and gradients."""
    terms = [_measured(primitive, Xa, Xb) for _, primitive in row]
    return tuple(sum(factor * term[i] for (factor, _), term in zip(row, terms, strict=True)) for i in range(3))


def _measured(primitive, Xa, Xb):
    """Value, and gradient with respect to the twists of the first and the second body of the joint."""
    rows_f = np.zeros((1, ROW_WIDTH))
    for at, vector in ((U, primitive.u), (V, primitive.v), (W, primitive.w), (PA, primitive.pa), (PB, primitive.pb)):
        rows_f[0, at : at + 3] = vector
    rows_f[0, OFFSET], rows_f[0, SCALE], rows_f[0, FACTOR] = 0.0, 1.0, 1.0
    g = np.empty(13)
    first, second = (1, 0) if primitive.swapped else (0, 1)
    gradient(np.array([[primitive.kind, first, second]]), rows_f, 0, np.array([Xa, Xb]), g)
    return (g[0], g[7:], g[1:7]) if primitive.swapped else (g[0], g[1:7], g[7:])


def pose(x, R):
    return np.concatenate([x, R.ravel()])


def closed_joint(rng, kind, planar=False):
    """Frames of a joint, poses of its bodies with the joint closed at random coordinates, and the allowed motions.

    Motions are (v, ω) in the world of the joint's point on the second body, one for each freedom, in the order of
    the coordinates where it has them.
    """
    if planar:
        Ea, Eb, Ra = (rotation_about(Z, angle) for angle in rng.uniform(-3.0, 3.0, 3))
        flat = np.array([1.0, 1.0, 0.0])
    else:
        Ea, Eb, Ra = rotation(rng), rotation(rng), rotation(rng)
        flat = np.ones(3)
    pa, pb, xa = (flat * rng.standard_normal(3) for _ in range(3))
    A = Ra @ Ea  # the joint's axes on the first body, in the world
    a, b, c = rng.uniform(-1.2, 1.2, 3)
    shift, relative, allowed = np.zeros(3), np.eye(3), []

    def slide(axis):
        return np.concatenate([A[:, axis], np.zeros(3)])

    def spin(axis):
        return np.concatenate([np.zeros(3), axis])

    if planar:
        turn, (x, y) = rotation_about(Z, c), (a, b)
        choices = {
            "revolute": (0 * Z, turn, [spin(Z)]),
            "prismatic": (np.array([x, 0, 0]), np.eye(3), [slide(0)]),
            "planar": (np.array([x, y, 0]), turn, [slide(0), slide(1), spin(Z)]),
            "translation": (np.array([x, y, 0]), np.eye(3), [slide(0), slide(1)]),
            "weld": (0 * Z, np.eye(3), []),
            "free": (np.array([x, y, 0]), turn, [slide(0), slide(1), spin(Z)]),
        }
        shift, relative, allowed = choices[kind]
        coordinates = {
            "revolute": [c], "prismatic": [x], "planar": [x, y, c], "translation": [x, y], "weld": [],
            "free": [x, y, c],
        }[kind]  # fmt: skip
    else:
        turn, any_turn = rotation_about(Z, c), rotation(rng)
        second = turn @ rotation_about([1, 0, 0], b)
        places = [slide(0), slide(1), slide(2)]
        balls = [spin(axis) for axis in np.eye(3)]
        choices = {
            "revolute": (0 * Z, turn, [spin(A[:, 2])], [c]),
            "prismatic": (a * Z, np.eye(3), [slide(2)], [a]),
            "cylindrical": (a * Z, turn, [slide(2), spin(A[:, 2])], [a, c]),
            "screw": (c * LEAD * Z, turn, [spin(A[:, 2]) + LEAD * slide(2)], [c]),
            "universal": (0 * Z, second, [spin(A[:, 2]), spin(A @ second[:, 0])], [c, b]),
            "spherical": (0 * Z, any_turn, balls, []),
            "planar": (np.array([a, b, 0]), turn, [slide(0), slide(1), spin(A[:, 2])], [a, b, c]),
            "translation": (np.array([a, b, c]), np.eye(3), places, [a, b, c]),
            "weld": (0 * Z, np.eye(3), [], []),
            "free": (np.array([a, b, c]), any_turn, [*places, *balls], [a, b, c]),
        }
        shift, relative, allowed, coordinates = choices[kind]
    Rb = A @ relative @ Eb.T
    xb = xa + Ra @ pa + A @ shift - Rb @ pb
    frames = JointFrames(pa, Ea, pb, Eb)
    point = Rb @ pb
    motions = [np.concatenate([Rb.T @ (m[:3] - np.cross(m[3:], point)), Rb.T @ m[3:]]) for m in allowed]
    return frames, pose(xa, Ra), pose(xb, Rb), motions, coordinates


CASES = [(name, False) for name in JOINT_KINDS] + [(name, True) for name, kind in JOINT_KINDS.items() if kind.plane]


def rows_of(kind, planar, frames):
    form = JOINT_KINDS[kind].plane if planar else JOINT_KINDS[kind].space
    own = {"pitch": PITCH}
    return [
        [[(term.weight(own), frames.measure(term)) for term in row] for row in rows]
        for rows in (form.rows, form.measures.values())
    ]


@pytest.mark.parametrize(("kind", "planar"), CASES, ids=lambda value: str(value))
@pytest.mark.parametrize("seed", range(4))
def test_rows_vanish_on_the_motions_allowed_and_on_no_others(kind, planar, seed):
    rng = np.random.default_rng([seed, len(kind), planar])
    frames, Xa, Xb, motions, _ = closed_joint(rng, kind, planar)
    constraints, _ = rows_of(kind, planar, frames)
    moving = [0, 1, 5] if planar else list(range(6))
    rows = np.zeros((0, 6))
    for row in constraints:
        value, on_a, on_b = measured(row, Xa, Xb)
        assert_allclose(value, 0.0, atol=1e-14)  # closed by construction, to rounding
        for motion in motions:
            assert_allclose(on_b @ motion, 0.0, atol=1e-13)  # rounding of products of a few metres
        common = np.zeros(6)
        common[moving] = rng.standard_normal(len(moving))
        v, w = common[:3], common[3:]
        parts = []
        for X in (Xa, Xb):
            R = X[3:].reshape(3, 3)
            parts.append(np.concatenate([R.T @ (v + np.cross(w, X[:3])), R.T @ w]))
        assert_allclose(on_a @ parts[0] + on_b @ parts[1], 0.0, atol=1e-13)  # and on moving as one
        rows = np.vstack([rows, on_b])
    rows = rows[:, moving]
    assert len(rows) == len(moving) - len(motions)
    if len(rows):
        singular = np.linalg.svd(rows, compute_uv=False)
        assert singular[-1] > 0.05 * singular[0]  # far from dependent: axes at right angles, arms of a metre or two


@pytest.mark.parametrize(("kind", "planar"), CASES, ids=lambda value: str(value))
@pytest.mark.parametrize("seed", range(4))
def test_coordinates_have_their_values_and_grow_with_their_own_motion_alone(kind, planar, seed):
    rng = np.random.default_rng([seed, len(kind), planar, 1])
    frames, Xa, Xb, motions, expected = closed_joint(rng, kind, planar)
    _, coordinates = rows_of(kind, planar, frames)
    assert len(coordinates) == len(expected)
    for i, (row, value) in enumerate(zip(coordinates, expected, strict=True)):
        found, _, on_b = measured(row, Xa, Xb)
        assert_allclose(found, value, atol=1e-13)
        slopes = [on_b @ motion for motion in motions]
        if kind == "free" and not planar:
            slopes = slopes[:3]  # turning about the joint's own point leaves its place alone
        assert_allclose(slopes, np.eye(len(slopes))[i], atol=1e-13)
