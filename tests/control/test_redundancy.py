"""More actuators than coordinates in the loop: forces are divided as in inverse dynamics, and strain the mechanism."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple import control
from supple.control.controller import Measurement
from supple.diagnostics import SuppleNote

EXAMPLES = Path(__file__).parents[2] / "examples"
PRELOAD = {"A": 20.0, "B": -35.0, "D": 15.0}


@pytest.fixture(scope="module")
def linkage():
    return supple.load(EXAMPLES / "four-bar-redundant" / "mechanism.yaml")


def torques(linkage, instants, **options):
    """What computed torque asks for where the motion is met exactly: (N, actuators)."""
    controller = control.computed_torque(linkage, "turn", 10.0, **options)
    path = supple.trajectory(linkage, "turn", times=instants)
    seen = [Measurement(("A",), *state) for state in zip(path.theta, path.rates, strict=True)]
    return np.array([controller.step(t, y) for t, y in zip(instants, seen, strict=True)])


@pytest.mark.parametrize("minimize", ["torque", "peak", "multipliers"])
def test_division_at_a_sample_is_that_of_inverse_dynamics(linkage, minimize):
    instants = np.linspace(0.0, 0.96, 7)
    options = {"minimize": minimize, "weights": {"B": 2.0}, "bounds": {"C": 30.0}}
    expected = supple.inverse(linkage, "turn", times=instants, **options)
    assert_allclose(
        torques(linkage, instants, **options), np.stack([*expected.forces.values()], axis=1), rtol=1e-7, atol=1e-6
    )


@pytest.mark.parametrize("minimize", ["torque", "multipliers"])
def test_preload_does_no_work(linkage, minimize):
    """What a preload changes is in the null space of B; where only forces count, it is the projection there."""
    instants = np.linspace(0.0, 0.9, 5)
    plain = torques(linkage, instants, minimize=minimize)
    loaded = torques(linkage, instants, minimize=minimize, preload=lambda t: PRELOAD)
    strain = control.antagonism(linkage, supple.trajectory(linkage, "turn", times=instants).theta)
    change = loaded - plain
    assert_allclose(np.einsum("nsa,na->ns", strain.B, change), 0.0, atol=1e-9)
    assert np.abs(change).max() > 1.0
    if minimize == "torque":
        given = np.array([PRELOAD.get(name, 0.0) for name in strain.actuators])
        assert_allclose(change, strain.internal(np.tile(given, (5, 1))), atol=1e-9)


def test_stiffness_is_how_held_forces_change(linkage):
    """K = -∂(B u_i)/∂θ by differences of B, and what linearization finds that the forces add; then back to forces."""
    h, theta = 1e-5, np.array([0.8])
    strain = control.antagonism(linkage, theta)
    u = strain.internal(PRELOAD)
    B = [supple.local(linkage, theta + d).input_map for d in (h, -h)]
    assert_allclose(strain.stiffness(PRELOAD), -(B[0] - B[1]) @ u[:, None] / (2 * h), rtol=1e-7)
    P2 = [supple.linearize(linkage, theta, inputs=forces).second_order.P2 for forces in (u, 0.0 * u)]
    assert_allclose(strain.stiffness(PRELOAD), P2[1] - P2[0], rtol=1e-9)
    resting = supple.linearize(linkage, theta)  # under the forces that hold it
    assert_allclose(strain.compute_total_stiffness(resting.at["inputs"]), -resting.second_order.P2, rtol=1e-9)
    asked = strain.preload(50.0)
    assert_allclose(strain.stiffness(asked), [[50.0]], rtol=1e-9)
    assert_allclose(strain.B @ [*asked.values()], 0.0, atol=1e-9)


def test_held_forces_are_a_spring(linkage):
    """Without feedback: the crank swings about where it stands with the frequency of its stiffness and inertia."""
    theta = np.array([0.8])
    strain, here = control.antagonism(linkage, theta), supple.local(linkage, theta)
    stiffness = 400.0 - strain.compute_total_stiffness(np.linalg.pinv(here.input_map) @ -here.force)
    u = np.linalg.pinv(here.input_map) @ -here.force + [*strain.preload(stiffness).values()]
    omega = np.sqrt(400.0 / here.M[0, 0])
    period = 2 * np.pi / omega

    class Held:
        def step(self, t, measurement):
            return u

    loop = control.closed_loop(linkage, Held(), until=period, sample_time=period / 40, start=theta + 1e-4)
    assert_allclose(loop.coordinates["A"] - theta, 1e-4 * np.cos(omega * loop.time), atol=1e-6)


def test_bounds_that_do_not_suffice_are_met_as_well_as_can_be(linkage):
    """The nearest accelerations, not cut-off forces; said once. Bounded rates are kept from step to step."""
    instants = np.linspace(0.83, 0.85, 3)
    with pytest.warns(SuppleNote, match=r"at 0\.83 s no forces within the bounds") as said:
        u = torques(linkage, instants, bounds=50.0)
    assert len(said) == 1
    B = supple.local(linkage, supple.trajectory(linkage, "turn", times=instants).theta).input_map[:, 0]
    assert_allclose(np.abs(u), 50.0)  # one coordinate: each as hard as it may, the way that helps
    assert len(np.unique(np.sign(u * B))) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        slow = torques(linkage, np.linspace(0.6, 0.7, 51), minimize="peak", rate_bounds=2000.0)
    assert np.abs(np.diff(slow, axis=0)).max() <= 2000.0 * 2e-3 * (1 + 1e-9)


@pytest.mark.slow
def test_two_actuators_pass_where_one_cannot(linkage):
    """The rocker's torque has no hold on the crank where crank and coupler are in line, at 28.1 degrees; the torque at
    C has some there."""
    back = supple.Motion(coordinates={"A": {"from": np.pi / 3, "to": -5 * np.pi / 3}}, duration=4.0)
    path = supple.trajectory(linkage, back)
    missed = []
    for actuators in ("D", "C, D"):
        controller = control.computed_torque(linkage, path, 20.0, actuators=actuators, bounds=250.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SuppleNote)
            loop = control.closed_loop(linkage, controller, until=1.5, sample_time=4e-3, start="start")
        missed.append(np.abs(loop.coordinates["A"] - np.interp(loop.time, path.time, path.theta[:, 0])).max())
        assert (controller.short > 0) == (actuators == "D")
    assert missed[1] < 1e-3
    assert missed[0] > 50 * missed[1]


def test_refusals(linkage, arm):
    with pytest.raises(supple.InputError, match=r"frequencies: .*number.* \(got nan\)"):
        control.computed_torque(linkage, "turn", np.nan)
    with pytest.raises(supple.InputError, match='unknown actuator "E"'):
        control.computed_torque(linkage, "turn", 10.0, actuators="A, E")
    with pytest.raises(supple.InputError, match="not redundant"):
        control.computed_torque(linkage, "turn", 10.0, actuators="A", preload={"A": 1.0})
    with pytest.raises(supple.InputError, match="not redundant"):
        control.antagonism(arm)
    in_line = np.array([np.arccos((1.4**2 + 1.0 - 0.7**2) / 2.8)])  # crank and coupler
    controller = control.computed_torque(linkage, lambda t: (in_line, [0.0], [0.0]), 10.0, actuators="D")
    controller.step(0.0, Measurement(("A",), in_line + 0.5, np.zeros(1)))
    with pytest.raises(supple.InputError, match="the actuators cannot accelerate every coordinate"):
        controller.step(0.1, Measurement(("A",), in_line, np.zeros(1)))
