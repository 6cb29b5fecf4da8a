"""Design functions judge the loop that they make on the model they were given, and loops are measured to their goal."""

import re
import warnings

import numpy as np
import pytest
from elastic_arm import elastic_arm, model
from numpy.testing import assert_allclose

import supple
from supple import control
from supple.control.plants.plants import goal_of
from supple.diagnostics import UnstableLoop
from supple.reduced.time.begin import quasi_static
from supple.time_functions.function_of_time import Trajectory

T = 1e-3
HOME = {"shoulder": np.radians(40.0), "elbow": np.radians(-60.0)}


def standing(at=HOME):
    return control.Reference(tuple(at), np.array([0.0, T]), np.array([[list(at.values())]]))


@pytest.mark.parametrize("of", [elastic_arm, model])
def test_an_unstable_joint_loop_is_told_with_a_remedy_that_works(of):
    with pytest.warns(
        UnstableLoop, match=r"joint PD: the loop is unstable, with a pole at \+.* Hz\) at shoulder="
    ) as told:
        control.joint_pd(of(), "pick", sample_time=T, frequencies=10.0, at="home")
    found = re.search(r"filtered at (\S*) Hz.*rate_filter=(\S*) ", str(told[0].message))
    assert found is not None
    assert float(found[1]) == pytest.approx(10.0 * 10.0 / (2.0 * np.pi), rel=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        control.joint_pd(of(), "pick", sample_time=T, frequencies=10.0, at="home", rate_filter=float(found[2]))


@pytest.mark.slow
def test_the_pole_that_is_told_is_that_of_the_run():
    """A loop that starts beside its goal leaves it as fast as the warning says."""
    with pytest.warns(UnstableLoop, match="unstable") as told:
        controller = control.joint_pd(
            model(), standing(), sample_time=T, frequencies=14.0, at="home", feedforward="gravity", hardware=True
        )
    pole = float(re.search(r"pole at \+(\S+) ", str(told[0].message))[1])
    start = HOME | {"shoulder": HOME["shoulder"] + 1e-5}
    run = control.closed_loop(model(), controller, until=1.0, start=start)
    swings = np.abs(run.errors["elbow"] - run.errors["elbow"].mean())
    early, late = swings[300:500].max(), swings[700:900].max()
    assert np.log(late / early) / 0.4 == pytest.approx(pole, rel=0.15)


UNSTABLE = {
    "joint PID": lambda: control.joint_pid(model(), standing(), sample_time=T, frequencies=10.0, at="home"),
    "computed torque": lambda: control.computed_torque(model(), standing(), 10.0, rate_filter=3.0),
    "disturbance observer": lambda: control.disturbance_observer(
        model(), standing(), sample_time=T, frequencies=10.0, observer_frequencies=30.0, tolerance=1e-2
    ),
    "gain scheduling": lambda: control.gain_scheduled(
        model(), standing(), lambda linear: control.lqr(linear, 1.0, 1e-5, sample_time=T), sample_time=T, tolerance=1e-2
    ),
    "successive linearization": lambda: control.successive_linearization(
        elastic_arm(), standing(), lambda linear: control.decoupled_gains(linear, 60.0), rigid=True
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSTABLE)
def test_every_design_tells_of_an_unstable_loop(name):
    with pytest.warns(UnstableLoop, match=f"{name}: the loop is unstable"):
        UNSTABLE[name]()


def test_an_elastic_machine_starts_at_rest_under_its_weight():
    """Forces hold it before the first sample, so that nothing moves as long as the command does not change."""
    with pytest.warns(UnstableLoop):
        controller = control.joint_pd(
            model(), standing(), sample_time=T, frequencies=10.0, at="home", feedforward="gravity"
        )
    run = control.closed_loop(model(), controller, until=0.05)
    theta, still = np.array([list(HOME.values())]), np.zeros((1, 2))
    modes = model().layout.coordinates[2:]
    assert_allclose([run.coordinates[name][0] for name in modes], quasi_static(model(), theta, still, still)[0])
    sag = [run.outputs[name][0] - model().evaluate(theta[0]).outputs[name].value for name in ("tip.x", "tip.z")]
    assert np.hypot(*sag) > 5e-3
    assert_allclose(
        [run.outputs[name][0] for name in ("tip.x", "tip.z")], [run.goal["tip.x"], run.goal["tip.z"]], atol=1e-12
    )
    early = run.time < 1e-3 + 0.5 * T  # the delay of the drives
    assert max(np.abs(run.accelerations[name][early]).max() for name in HOME) < 1e-6
    told = control.closed_loop(model(), controller, until=0.01, start={**HOME, **dict.fromkeys(modes, 0.0)})
    assert all(told.coordinates[name][0] == 0.0 for name in modes)


def test_settling_is_measured_to_the_goal():
    """A loop without feedforward sags: it comes to rest, but not where it shall be."""
    controller = control.joint_pd(
        model(), standing(), sample_time=T, frequencies=10.0, at="home", rate_filter=100.0
    )  # fmt: skip
    run = control.closed_loop(model(), controller, until=3.0)
    off = np.array([run.outputs[name][-1] - run.goal[name] for name in ("tip.x", "tip.z")])
    assert np.linalg.norm(off) > 5e-3
    assert run.settling("tip.x", "tip.z", within=5e-4) == np.inf
    own = [run.outputs[name][-100:].mean() for name in ("tip.x", "tip.z")]
    assert run.settling("tip.x", "tip.z", within=5e-4, to=own) < 3.0
    rested = quasi_static(model(), np.array([list(HOME.values())]), np.zeros((1, 2)), np.zeros((1, 2)))[0]
    assert_allclose([run.goal[name] for name in model().layout.coordinates], [*HOME.values(), *rested], rtol=1e-9)


def test_the_goal_of_a_mechanism_is_where_it_rests():
    found = goal_of(elastic_arm(), standing(), rigid=False)()
    small = goal_of(model(), standing(), rigid=False)()
    stiff = goal_of(elastic_arm(), standing(), rigid=True)()
    linear = goal_of(elastic_arm_linear(), standing(), rigid=False)
    assert linear is None  # modes are left open by the motion
    tip = np.array([[goal[name] for name in ("tip.x", "tip.z")] for goal in (found, small, stiff)])
    assert np.linalg.norm(tip[0] - tip[1]) < 0.02 * np.linalg.norm(tip[0] - tip[2])  # of second order in the sag


def elastic_arm_linear():
    return supple.linearize(elastic_arm(), "home", internal_modes=2)


def test_a_planned_deformation_ends_as_the_static_one():
    t = np.linspace(0.0, 0.35, 351)
    x = t / t[-1]
    way = np.array([0.2, -0.15])
    shape = [10 * x**3 - 15 * x**4 + 6 * x**5, (30 * x**2 - 60 * x**3 + 30 * x**4) / t[-1],
             (60 * x - 180 * x**2 + 120 * x**3) / t[-1] ** 2]  # fmt: skip
    theta, rates, accelerations = (np.outer(part, way) for part in shape)
    motion = Trajectory(tuple(HOME), t, theta + list(HOME.values()), rates, accelerations)
    planned = control.add_deformation(control.shape_motion(control.reference(motion, model()), model()), model())
    end = planned.reference.end
    goal = planned.reference.at(end)[0]
    static = quasi_static(model(), goal[None], np.zeros((1, 2)), np.zeros((1, 2)))[0]
    before = planned.whole.at(end - 1e-9)[0][2:]
    assert np.abs(before - static).max() > 1e-4 * np.abs(static).max()  # it still vibrates there
    for later in (0.0, 1e-4, 5e-4, 0.1, 10.0):
        found = planned.whole.at(end + later)
        assert_allclose(found[0], [*goal, *static], rtol=1e-12)
        assert not found[1:].any()
