"""Margins are where the loop turns unstable: at the margin a pole stands on the axis, and not before."""

from dataclasses import replace

import control as reference
import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.control import Ports, constant_law, decoupled_gains, lqr, margin_map, margins
from supple.control.laws.affine_matrices import empty
from supple.control.margins.margins import Sensitivity
from supple.control.margins.open_loop import open_loop


def loop_of(A, B, C, D=None, step=None):
    m = np.shape(B)[1]
    names = tuple(f"u{k + 1}" for k in range(m))
    states = tuple(f"x{i + 1}" for i in range(len(A)))
    D = np.zeros((m, m)) if D is None else np.asarray(D, float)
    return supple.LinearModel(*(np.asarray(x, float) for x in (A, B, C)), D, states, names, names, {}, step=step)


def with_factor(loop, factor, k=0):
    f = np.ones(len(loop.inputs))
    f[k] = factor
    return replace(loop, C=f[:, None] * loop.C, D=f[:, None] * loop.D)


def require_stable_between(loop, low, high):
    for factor in np.geomspace(max(low, 1e-3), min(high, 1e3), 40)[1:-1]:
        assert Sensitivity(with_factor(loop, factor)).stable
    for end in (low, high):
        if 0.0 < end < np.inf:
            poles = Sensitivity(with_factor(loop, end)).poles
            assert abs(poles.real.max()) < 1e-6 * np.abs(poles).max()


def test_an_integrator_has_a_right_angle_and_a_delay_of_its_own():
    found = margins(loop_of([[0.0]], [[1.0]], [[4.0]]))
    assert_allclose(found.phase, np.pi / 2)
    assert_allclose(found.delay, np.pi / 2 / 4.0)
    assert_allclose(found.gain, [[0.0, np.inf]])
    assert_allclose(found.disk, 2.0)  # |S - ½| is one half throughout


def test_gains_of_an_unstable_plant_have_two_ends():
    # 6/((s - 1)(s/10 + 1)²): closed it is s³ + 19 s² + 80 s + 100(6 g - 1), stable for 1/6 < g < (19*80/100 + 1)/6
    poles = np.poly([1.0, -10.0, -10.0])
    companion = np.vstack([-poles[1:], np.eye(2, 3)])
    found = margins(loop_of(companion, [[1.0], [0.0], [0.0]], [[0.0, 0.0, 600.0]]))
    assert_allclose(found.gain, [[1.0 / 6.0, 16.2 / 6.0]])


@pytest.mark.parametrize("step", [None, 0.3])
def test_random_loops_agree_with_python_control(step):
    drawn = np.random.default_rng(3)
    compared = 0
    for _ in range(12):
        A = drawn.normal(size=(4, 4)) - 1.5 * np.eye(4)
        loop = loop_of(A, drawn.normal(size=(4, 1)), drawn.normal(size=(1, 4)))
        loop = loop if step is None else loop.discretize(step)
        if not Sensitivity(loop).stable:
            assert not margins(loop).stable
            continue
        theirs = loop.to_control()
        found = margins(loop)
        every, turns, *_ = reference.stability_margins(theirs, returnall=True)
        if step is None:  # of sampled loops they leave out the ends of the frequencies
            assert_allclose(found.gain[0, 1], min([np.inf, *every[every > 1.0]]), rtol=1e-6)
            assert_allclose(found.gain[0, 0], max([0.0, *every[every < 1.0]]), rtol=1e-6)
        assert_allclose(np.degrees(found.phase[0]), np.abs(turns).min(initial=180.0), rtol=1e-6)
        require_stable_between(loop, *found.gain[0])
        top = 1e3 if step is None else np.pi / step
        lines = np.unique(np.append(np.geomspace(1e-6, top, 501), 2.0 * np.pi * found.worst_hz))
        disk = reference.disk_margins(theirs, lines[(lines > 0.0) & np.isfinite(lines)])[0]
        assert_allclose(found.disk[0], disk, rtol=1e-6 if 0.0 < found.worst_hz[0] < np.inf else 1e-3)
        assert found.disk[0] <= disk * (1.0 + 1e-9)  # theirs is at these frequencies only
        compared += 1
    assert compared > 3


def test_a_quadratic_regulator_has_the_margins_that_it_is_known_for(linear):
    found = margins(linear, lqr(linear, np.ones(4), np.ones(2)))
    assert (found.gain[:, 0] <= 0.5).all()
    assert np.isinf(found.gain[:, 1]).all()
    assert (found.phase >= np.radians(60.0)).all()


@pytest.mark.parametrize("sample_time", [None, 0.02])
def test_at_a_margin_of_gain_a_pole_stands_on_the_axis(linear, sample_time):
    gain = lqr(linear, np.ones(4), np.ones(2), sample_time=sample_time)
    loop = open_loop(linear, gain)
    found = margins(linear, gain)
    for k in range(2):
        for factor in found.gain[k][np.isfinite(found.gain[k]) & (found.gain[k] > 0.0)]:
            poles = Sensitivity(with_factor(loop, factor, k)).poles
            assert abs(poles.real.max()) < 1e-6 * np.abs(poles).max()


def test_a_delay_within_the_margin_is_stood_and_one_beyond_is_not(linear):
    gain = decoupled_gains(linear, frequencies=6.0, damping_ratios=0.7)
    step = 2e-3
    loop = open_loop(linear, replace(gain, sample_time=step))
    found = margins(loop)
    stood = int(found.delay[0] / step)
    for samples, stable in ((stood, True), (stood + 1, False)):
        assert Sensitivity(_delayed(loop, samples)).stable is stable


def _delayed(loop, samples):
    """The first input comes so many samples later."""
    n, m = loop.B.shape
    chain = np.eye(samples, k=-1)
    A = np.zeros((n + samples, n + samples))
    A[:n, :n], A[n:, n:] = loop.A, chain
    A[:n, -1] = loop.B[:, 0]
    B = np.zeros((n + samples, m))
    B[:n, 1:], B[n, 0] = loop.B[:, 1:], 1.0
    C = np.hstack([loop.C, np.zeros((m, samples))])
    return loop_of(A, B, C, step=loop.step)


def test_a_disk_of_all_inputs_is_stood_inside_and_touched_on_its_rim():
    drawn = np.random.default_rng(1)
    A = drawn.normal(size=(5, 5)) - 3.0 * np.eye(5)
    loop = loop_of(A, drawn.normal(size=(5, 3)), drawn.normal(size=(3, 5)))
    found = margins(loop)
    assert found.stable
    assert found.together <= found.disk.min() * (1.0 + 1e-9)

    def poles(delta):
        f = (1.0 + 0.5 * delta) / (1.0 - 0.5 * delta)
        return np.linalg.eigvals(loop.A - loop.B @ (f[:, None] * loop.C))

    for _ in range(300):
        turned = np.exp(2j * np.pi * drawn.uniform(size=3))
        assert poles(0.999 * found.together * turned).real.max() < 0.0
    worst = _worst(loop, found)
    assert_allclose(np.abs(worst), found.together, rtol=1e-3)
    assert abs(poles(worst).real.max()) < 1e-3 * np.abs(A).max()


def _worst(loop, found):
    """δ with 1 - (S - ½) δ singular at the worst frequency, by the power method for μ [Packard, Fan, Doyle 1988]."""
    N = Sensitivity(loop).at(2.0 * np.pi * found.together_hz) - 0.5 * np.eye(3)
    best = np.full(3, np.inf + 0j)
    for seed in range(20):
        b = np.random.default_rng(seed).normal(size=3) + 0j
        w = b
        for _ in range(300):
            a = N @ b
            a /= np.linalg.norm(a)
            z = np.abs(w) * a / np.abs(a)
            w = N.conj().T @ z
            w /= np.linalg.norm(w)
            b = np.abs(a) * w / np.abs(w)
        beta = np.linalg.norm(N @ b) / np.linalg.norm(b)
        delta = b / (N @ b)
        if np.abs(delta).max() < np.abs(best).max():
            best = delta
    assert beta > 0.0
    return best


def test_an_output_seen_at_once_is_seen_a_sample_late():
    # y = u with a sampled gain k is a delay of one sample: stable for |k| < 1 only
    plant = loop_of([[-1.0]], [[0.0]], [[0.0]], [[1.0]])
    law = supple.LinearModel(np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), np.array([[-0.5]]), (), ("u1",),
                             ("u1",), {}, step=0.1)  # fmt: skip
    found = margins(plant, law)
    assert_allclose(found.gain, [[0.0, 2.0]])


def test_what_is_not_measured_is_named(linear):
    law = supple.LinearModel(np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), np.eye(1), (), ("elbw",),
                             (linear.inputs[0],), {})  # fmt: skip
    with pytest.raises(supple.InputError, match='unknown output or state "elbw" of the plant; did you mean'):
        margins(linear, law)


SLIDE = """
supple: 1
name: slide
gravity: [0, 0, -9.81]
points: {O: [0, 0, 0]}
bodies: {block: {at: O, mass: 3, inertia: [1, 1, 1]}}
joints: {rail: {prismatic: [ground, block], at: O, axis: z}}
actuators: {rail: {joint: rail, limits: [-1, 1], drive: {velocity: {frequency: 20 Hz, damping: 0.7, delay: 2 ms}}}}
sensors: {place: {joint: rail}}
"""


@pytest.fixture(scope="module")
def servo_loop():
    """A slide that a velocity servo leads, and u = -100 (y - y_d) at 1 kHz."""
    model = supple.reduce(supple.loads(SLIDE), store=False)
    ports = Ports(("rail",), (), ("rail",), 1e-3)
    matrices = empty(0, ports)
    matrices.D[:, ports.y] = -100.0
    return model, constant_law(matrices, ports)


def test_a_sampled_law_on_a_delayed_servo_has_the_margins_of_its_pulse_transfer_function(servo_loop):
    model, law = servo_loop
    w = 2.0 * np.pi * 20.0
    held = reference.c2d(reference.tf([100.0 * w**2], [1.0, 1.4 * w, w**2, 0.0]), 1e-3)
    theirs = held * reference.tf([1.0], [1.0, 0.0, 0.0], 1e-3)  # two samples
    above, turn, *_ = reference.stability_margins(theirs, method="frd")
    found = margins(model, law, at={"rail": 0.3})
    assert_allclose(found.gain[0, 1], above, rtol=1e-6)
    assert_allclose(np.degrees(found.phase[0]), turn, rtol=1e-6)


def test_what_is_led_has_the_same_margins_everywhere(servo_loop):
    model, law = servo_loop
    found = margin_map(model, law, {"rail": [-0.5, 0.0, 0.5]}, computation_delay=1e-3)
    alone = margins(model, law, at={"rail": 0.0}, computation_delay=1e-3)
    assert found.stable.all()
    assert_allclose(found.gain[:, 0, 1], alone.gain[0, 1])
    assert_allclose(found.delay[:, 0] + 1e-3, margins(model, law, at={"rail": 0.0}).delay[0], rtol=1e-3)
    assert found.worst["rail"] in (-0.5, 0.0, 0.5)
