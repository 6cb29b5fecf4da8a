"""Laws of beams in large motion: forces are gradients, inertia is Lagrange's, nothing depends on the observer."""

import numpy as np
import pytest
from moving_beams import beams_through, bent_pair, turned
from numpy.testing import assert_allclose

from supple.compilation import compile_kernel
from supple.formulations.absolute.beams.beam_forces import beam_forces, beam_kinetic
from supple.formulations.absolute.step_work import LOST, STRAIN
from supple.formulations.absolute.tangent import beam_derivatives, complex_steps
from supple.geometry.rotation import exponential

GRAVITY = np.array([1.0, -9.0, 3.0])
STEP = 1e-5
DIFFERENCE = 1e-7  # of the largest entry: what central differences with STEP leave, and their rounding


@pytest.fixture(params=[True, False], ids=["plane", "space"])
def beams(request):
    return bent_pair(request.param)


def close(found, expected, tolerance=DIFFERENCE):
    assert_allclose(found, expected, atol=tolerance * np.abs(expected).max())


def slope(function, step=STEP):
    return (function(step) - function(-step)) / (2.0 * step)


def test_static_forces_are_the_gradient_of_the_energy(beams):
    X, _, _ = beams.anyhow()
    gradient = [
        slope(lambda s, e=e: beams.forces(beams.displaced(X, s * e), gravity=GRAVITY).potential)
        for e in beams.unit_steps()
    ]
    close(beams.forces(X, gravity=GRAVITY).Q.ravel(), -np.array(gradient))


def test_inertia_is_lagranges_of_the_kinetic_energy(beams):
    X, V, A = beams.anyhow()
    arrays, units = beams.arrays, beams.unit_steps()

    def momenta(t):
        Y, W = beams.displaced(X, t * V + 0.5 * t * t * A), V + t * A
        return np.array([slope(lambda s, e=e: beam_kinetic(arrays, Y, W + s * e), 0.5) for e in units])

    along = np.array([slope(lambda s, e=e: beam_kinetic(arrays, beams.displaced(X, s * e), V)) for e in units])
    expected = (slope(momenta) - along).reshape(V.shape)
    if not beams.planar:  # rates of rotation are components in axes that turn: [Poincaré]
        expected[:, 3:] += np.cross(V[:, 3:], momenta(0.0).reshape(V.shape)[:, 3:])
    close(beams.forces(X).Q - beams.forces(X, V, A).Q, expected)


def test_inertia_takes_the_power_that_kinetic_energy_gains(beams):
    X, V, A = beams.anyhow(seed=6)

    def course(t):
        return beam_kinetic(beams.arrays, beams.displaced(X, t * V + 0.5 * t * t * A), V + t * A)

    taken = beams.forces(X).Q - beams.forces(X, V, A).Q
    assert (taken * V).sum() == pytest.approx(slope(course), rel=1e-7)


def test_damping_takes_power_and_says_how_much(beams):
    X, V, A = beams.anyhow(seed=7)
    plain, damped = beams.forces(X, V, A), beams.damped(0.3, 0.02).forces(X, V, A)
    power = ((damped.Q - plain.Q) * V).sum()
    assert power < 0.0
    assert damped.account[LOST] == pytest.approx(power, rel=1e-12)
    assert plain.account[LOST] == 0.0
    assert damped.account[STRAIN] == plain.account[STRAIN] > 0.0


def test_nothing_depends_on_who_looks(beams):
    beams = beams.damped(0.0, 0.02)
    X, V, A = beams.anyhow()
    turn = exponential([0.0, 0.0, 2.0] if beams.planar else [0.7, -1.9, 0.4])
    Y, W, B = turned(X, beams.in_space(V), beams.in_space(A), [3.0, -2.0, 0.0 if beams.planar else 5.0], turn)
    kept = [0, 1, 5] if beams.planar else slice(None)
    one, other = beams.forces(X, V, A), beams.forces(Y, W[:, kept], B[:, kept])
    seen = beams.in_space(one.Q)
    seen[:, :3] = seen[:, :3] @ turn.T
    close(beams.in_space(other.Q), seen, 1e-12)
    assert other.potential == pytest.approx(one.potential, rel=1e-12)
    assert other.account[LOST] == pytest.approx(one.account[LOST], rel=1e-11)
    kinetic = [beam_kinetic(beams.arrays, X, V), beam_kinetic(beams.arrays, Y, W[:, kept])]
    assert kinetic[1] == pytest.approx(kinetic[0], rel=1e-12)


def test_a_rigid_motion_strains_nothing_and_has_the_inertia_of_a_rigid_body(beams):
    beams = beams.damped(0.0, 0.02)
    spin = np.array([0.0, 0.0, 1.3]) if beams.planar else np.array([0.8, -0.5, 1.3])
    kept, shown = ([0, 1, 5], 2) if beams.planar else (slice(None), 3)
    v, a = np.zeros((2, len(beams.nodes), 6))
    v[:, :3], v[:, 3:] = np.cross(spin, beams.nodes), spin
    a[:, :3] = np.cross(spin, v[:, :3])
    found = beams.forces(beams.at_rest, v[:, kept], a[:, kept])
    # Steadily about the origin the whole needs ω × (its momentum), which M gives.
    momentum = np.zeros(3)
    momentum[:shown] = (beams.M @ v[:, kept].ravel()).reshape(v[:, kept].shape)[:, :shown].sum(axis=0)
    close(-found.Q.sum(axis=0)[:shown], np.cross(spin, momentum)[:shown], 1e-9)
    assert abs(found.account[STRAIN]) < 1e-20
    assert abs(found.account[LOST]) < 1e-20


def test_derivatives_in_motion_are_those_of_the_forces(beams):
    beams = beams.damped(0.3, 0.02)
    X, V, A = beams.anyhow()
    count = len(beams.arrays.frames)
    found = np.zeros((3, count, 2 * beams.d, 2 * beams.d))
    complex_steps(beams.arrays, GRAVITY, X, V, A, found)
    moved = (  # in velocities forces are quadratic, in accelerations linear: differences over any step are exact
        (lambda s, e: beams.forces(beams.displaced(X, s * e), V, A, GRAVITY).Q, STEP),
        (lambda s, e: beams.forces(X, V + s * e, A, GRAVITY).Q, 1.0),
        (lambda s, e: beams.forces(X, V, A + s * e, GRAVITY).Q, 1.0),
    )
    for blocks, (force, step) in zip(found, moved, strict=True):
        expected = [slope(lambda s, e=e, force=force: force(s, e), step).ravel() for e in beams.unit_steps()]
        close(beams.whole(blocks), np.array(expected).T)


def test_the_plane_is_a_part_of_space():
    plane, space = (
        beams_through([(0, 0, 0), (1, 0.5, 0), (2, 0, 0)], planar=planar, shear=True) for planar in (True, False)
    )
    X, V, A = plane.anyhow()
    one = plane.forces(X, V, A, (2.0, -9.0, 0.0))
    other = space.forces(X, plane.in_space(V), plane.in_space(A), (2.0, -9.0, 0.0))
    close(other.Q, plane.in_space(one.Q), 1e-12)
    assert other.potential == pytest.approx(one.potential, rel=1e-12)


def test_native_kernels_agree_with_interpreted_ones(beams):
    beams = beams.damped(0.3, 0.02)
    X, V, A = beams.anyhow()
    close(beams.forces(X, V, A, GRAVITY, compile_kernel(beam_forces)).Q, beams.forces(X, V, A, GRAVITY).Q, 1e-13)
    found = np.zeros((3, len(beams.arrays.frames), 2 * beams.d, 2 * beams.d))
    complex_steps(beams.arrays, GRAVITY, X, V, A, found)
    for native, interpreted in zip(beam_derivatives(beams.arrays, GRAVITY, X, V, A), found, strict=True):
        close(native, interpreted, 1e-13)
