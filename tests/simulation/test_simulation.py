"""What a simulation is asked for, and what becomes of runs that are special: massless parts, gears, dead ends."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

SLIDER_CRANK = {
    "gravity": [0, 0, -9.81],
    "points": {"O": [0, 0.1, 0.12], "P": [0, 0.148, 0.184], "S": [0.03424**0.5, 0, 0]},
    "bodies": {
        "crank": {"rod": ["O", "P"], "mass": 0.12},
        "rod": {"rod": ["P", "S"], "length": 0.3, "mass": 0.5},
        "slider": {"mass": 2, "center": "S", "inertia": [1e-4, 1e-4, 1e-4]},
    },
    "joints": {
        "O": {"revolute": ["ground", "crank"], "axis": "x"},
        "P": {"spherical": ["crank", "rod"]},
        "S": {"prismatic": ["ground", "slider"], "axis": "x"},
    },
}


def with_joint(joint, **more):
    return supple.Mechanism(**SLIDER_CRANK | {"joints": SLIDER_CRANK["joints"] | {"Q": joint}} | more)


def test_a_rod_that_may_spin_without_inertia_moves_as_one_that_may_not():
    """The spin of a slender rod between two balls is determined by nothing and felt by nobody."""
    held = with_joint({"universal": ["slider", "rod"], "at": "S", "axes": ["x", [0, 0.184, -0.148]]}, coordinates=["O"])
    free = with_joint({"spherical": ["slider", "rod"], "at": "S"})
    first, second = (supple.simulate(mechanism, until=1.0, step=1e-3) for mechanism in (held, free))
    assert len(second.coordinates) == 0
    slider = first.frame("slider").position
    assert np.ptp(slider[:, 0]) > 0.05
    # the method turns the one rod with its spin, the other without: the same motion to its second order
    assert_allclose(second.frame("slider").position, slider, atol=1e-5)
    assert np.abs(second.energy["balance"]).max() < 1.1 * np.abs(first.energy["balance"]).max()


def test_massless_bars_carry_as_the_machine_without_them(example):
    """An Orthoglide whose parallelograms have massless cross-bars and redundant constraints falls as a plain one."""
    plain, full = (
        supple.simulate(example(name), until=0.1, step=1e-3, output_step=0.01)
        for name in ("orthoglide", "orthoglide-parallelogram")
    )
    for name, values in plain.coordinates.items():
        assert_allclose(full.coordinates[name], values, atol=1e-8)
    assert np.abs(plain.coordinates["z"][-1]) > 0.01


def test_a_massless_coupler_in_the_plane_and_in_space():
    """The coupler without mass is a distance: crank and follower alone have all the energy."""
    runs = []
    for plane in ("xz", None):
        places = {"A": (0, 0), "B": (0.1, 0.5), "C": (0.9, 0.7), "D": (1, 0)}
        points = {name: [x, z] if plane else [x, 0, z] for name, (x, z) in places.items()}
        axis = {} if plane else {"axis": "-y"}
        four_bar = supple.Mechanism(
            plane=plane, gravity=[0, -9.81] if plane else [0, 0, -9.81], points=points,
            bodies={
                "crank": {"rod": ["A", "B"], "mass": 1}, "coupler": {"rod": ["B", "C"], "mass": 0},
                "follower": {"rod": ["D", "C"], "mass": 2},
            },
            joints={
                "A": {"revolute": ["ground", "crank"]} | axis, "B": {"revolute": ["crank", "coupler"]} | axis,
                "C": {"revolute": ["coupler", "follower"]} | axis, "D": {"revolute": ["ground", "follower"]} | axis,
            },
            coordinates=["A"],
        )  # fmt: skip
        runs.append(supple.simulate(four_bar, until=0.5, step=1e-3))
        assert runs[-1].complete
        assert np.abs(runs[-1].energy["balance"]).max() < 1e-4
    turned = [run.coordinates["A"] - run.coordinates["A"][0] for run in runs]
    assert_allclose(turned[1], turned[0], atol=1e-9)


def wheel(**joint):
    return supple.Mechanism(
        plane="xy",
        points={"O": [0, 0]},
        bodies={"wheel": {"mass": 1.0, "center": "O", "inertia": 0.02}},
        joints={"O": {"revolute": ["ground", "wheel"]} | joint},
        actuators={"drive": {"joint": "O"}},
    )


def test_a_motor_behind_a_gear_weighs_with_the_square_of_the_gear():
    found = supple.simulate(wheel(motor={"inertia": 1e-4, "gear": 20}), until=1.0, step=1e-2, inputs={"drive": 0.3})
    acceleration = 0.3 / (0.02 + 1e-4 * 20**2)
    assert_allclose(found.coordinates["drive"], 0.5 * acceleration * found.time**2, atol=1e-12)
    assert_allclose(found.rates["drive"], acceleration * found.time, atol=1e-12)
    assert_allclose(found.energy["kinetic"], 0.3 * found.coordinates["drive"], atol=1e-12)


def test_viscous_friction_is_accounted_for():
    found = supple.simulate(wheel(viscous=0.05), until=1.0, step=1e-4, rates={"drive": 10.0})
    expected = 10.0 * np.exp(-0.05 / 0.02 * found.time)
    assert_allclose(found.rates["drive"], expected, atol=1e-6)
    assert_allclose(found.energy["lost"], 0.5 * 0.02 * (100.0 - expected**2), atol=1e-6)


def test_dry_friction_stops_a_wheel_and_holds_it():
    found = supple.simulate(wheel(dry=0.1), until=4.0, step=1e-3, rates={"drive": 10.0}, friction_speed=1e-3)
    stop = 10.0 / (0.1 / 0.02)
    assert_allclose(found.rates["drive"], np.maximum(10.0 - 5.0 * found.time, 0.0), atol=2e-2)
    assert np.abs(found.rates["drive"][found.time > stop + 0.1]).max() < 1e-6
    assert_allclose(found.coordinates["drive"][-1], 10.0 * stop / 2, rtol=1e-3)
    held = supple.simulate(wheel(dry=0.1), until=1.0, step=1e-3, inputs={"drive": 0.05}, friction_speed=1e-3)
    # below its force it creeps: 0.05 = 0.1 tanh(speed / 1e-3)
    assert_allclose(held.rates["drive"][-1], 1e-3 * np.arctanh(0.5), rtol=1e-4)


def test_a_run_into_a_dead_end_returns_what_it_has(example):
    """The four-bar's crank cannot be led beyond 1.80 rad."""
    with pytest.warns(supple.SuppleWarning, match="results end at 0.299 s"):
        found = supple.simulate(
            example("four-bar"), until=1.0, step=1e-3, motion={"crank": lambda t: 1.5 + t}, start=[1.5]
        )
    assert not found.complete
    assert "0.29999" in found.reason
    assert "dead point" in found.reason
    assert_allclose(found.coordinates["crank"], 1.5 + found.time, atol=1e-10)
    assert 0.29 < found.time[-1] < 0.3
    for values in (found.bodies.X, found.bodies.V, found.bodies.acceleration, found.bodies.w, found.bodies.energies):
        assert np.isfinite(values).all()


def test_forces_that_are_too_large_are_told_with_the_time():
    with pytest.warns(supple.SuppleWarning, match="results end at 0.5 s"):
        kick = supple.simulate(wheel(), until=1.0, step=1e-2, inputs={"drive": lambda t: 1e20 if t > 0.5 else 0.0})
    assert not kick.complete
    assert kick.time[-1] <= 0.5
    assert "forces or speeds" in kick.reason


def ringing():
    """A pendulum whose tip rings at 160 Hz for a tenth of a second, and then just follows."""
    return supple.Mechanism(
        plane="xz", gravity=[0, -9.81], points={"O": [0, 0], "P": [1, 0], "Q": [1.1, 0]},
        bodies={"rod": {"rod": ["O", "P"], "mass": 1}, "tip": {"rod": ["P", "Q"], "mass": 0.03}},
        joints={"O": {"revolute": ["ground", "rod"]}, "P": {"revolute": ["rod", "tip"], "viscous": 0.01}},
        springs={"stiff": {"joint": "P", "stiffness": 100.0, "rest": 0.05}}, coordinates=["O", "P"],
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four-bar", "ringing"])
def test_adaptive_steps_meet_their_tolerance_with_fewer_steps(example, name):
    """Each step errs by no more than the tolerance, which adds up; the same accuracy takes far more equal steps."""
    mechanism = ringing() if name == "ringing" else example(name)
    options = {"until": 2.0, "output_step": 0.1, "start": None if name == "ringing" else [0.5]}
    exact = supple.simulate(mechanism, step=2e-5, **options)

    def error(**more):
        found = supple.simulate(mechanism, **options, **more)
        assert found.complete
        return np.abs(found.bodies.w - exact.bodies.w).max(), found.steps

    rough, fine = error(step=0.1, tolerance=1e-5), error(step=0.1, tolerance=1e-7)
    assert fine[0] < 3e-7 * fine[1]  # the errors of all steps together, which grow a little on the way
    assert fine[0] < rough[0] / 5.0
    assert error(step=0.5 * 2.0 / fine[1])[0] > fine[0]  # twice as many equal ones do not do


@pytest.mark.slow
def test_changing_the_step_does_not_stir_the_motion(example):
    """Long and short steps in turn are as accurate as equal ones, though velocities break the constraints by h²."""
    four_bar = example("four-bar")

    def error(lengths):
        grid = np.concatenate([[0.0], np.cumsum(lengths) / np.sum(lengths)])
        found = supple.simulate(four_bar, grid, step=2e-3, start=[0.5])
        assert found.steps == len(lengths)
        return np.abs(found.bodies.w[-1] - exact.bodies.w[-1]).max()

    exact = supple.simulate(four_bar, until=1.0, step=1e-5, start=[0.5], output_step=1.0)
    equal, in_turn = error(np.ones(4000)), error(np.tile([2.0, 1.0], 2000))
    assert in_turn < 2.0 * equal  # a thousand times as much if velocities were left as they are


def test_inputs_may_be_numbers_callables_or_samples():
    options = {"until": 1.0, "step": 1e-3}
    ramp = supple.simulate(wheel(), inputs={"drive": lambda t: 0.2 * t}, **options)
    samples = supple.simulate(wheel(), inputs={"drive": [0.0, 0.2]}, input_times=[0.0, 1.0], **options)
    assert_allclose(ramp.coordinates["drive"], samples.coordinates["drive"], atol=1e-12)
    assert_allclose(ramp.coordinates["drive"], 0.2 / 0.02 * ramp.time**3 / 6, atol=1e-5)
    assert_allclose(ramp.inputs["drive"], 0.2 * ramp.time, atol=1e-12)


def test_samples_hold_before_their_first_and_after_their_last_time():
    found = supple.simulate(wheel(), until=1.0, step=1e-2, inputs={"drive": [0.1, 0.1]}, input_times=[0.4, 0.5])
    assert_allclose(found.inputs["drive"], 0.1)
    assert_allclose(found.coordinates["drive"], 0.5 * 5.0 * found.time**2, atol=1e-12)
    later = supple.simulate(wheel(), until=1.0, step=1e-2, inputs={"drive": [0.0, 0.1]}, input_times=[-1.0, 1.0])
    assert_allclose(later.inputs["drive"], 0.05 + 0.05 * later.time)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"until": 0.0}, r"until must be positive \(got 0 s\); give a duration"),
        ({"until": np.nan}, r"until: .*number \(got nan\)"),
        ({"step": 0.0}, r"step must be above 0 s .*got 0 s"),
        ({"step": 2.0}, r"step .*at most 1 s, the duration \(got 2 s\)"),
        ({"tolerance": -1e-6}, r"tolerance: .*positive \(got -1e-06\)"),
        ({"output_step": 0.0}, r"output step: .*positive \(got 0\)"),
        ({"spectral_radius": 1.5}, "from 0 to 1"),
        ({"rates": {"dirve": 1.0}}, 'did you mean "drive"'),
        ({"rates": [1.0, 2.0]}, "rates: .*shape"),
        ({"rates": [np.inf]}, "not finite"),
        ({"inputs": {"dirve": 1.0}}, 'unknown actuator "dirve"; did you mean "drive"'),
        ({"inputs": {"drive": [1.0, 2.0, 3.0]}}, r'input "drive": .*\(3,\) for 11 times'),
        ({"inputs": {"drive": [1.0, 2.0]}, "input_times": [1.0, 0.0]}, "input_times: .*ascending"),
        ({"inputs": {"drive": np.nan}}, 'input "drive": must be finite .*remove'),
        ({"motion": {"dirve": lambda t: t}}, 'unknown coordinate "dirve"'),
        ({"motion": {"drive": lambda t: np.nan}}, "not finite"),
        ({"start": "nowhere"}, 'unknown configuration "nowhere"'),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    with pytest.raises(supple.InputError, match=message):
        supple.simulate(wheel(), **{"until": 1.0, "step": 0.1} | options)


def test_signals_have_names_and_units(example):
    found = supple.simulate(example("orthoglide"), until=0.01, step=1e-3)
    assert found.coordinates.units == {"x": "m", "y": "m", "z": "m"}
    assert found.rates.units["x"] == "m/s"
    assert found.outputs.units["tool.z"] == "m"
    with pytest.raises(supple.InputError, match=r'unknown signal "tool\.w"; did you mean "tool\.z"'):
        found.outputs["tool.w"]
    with pytest.raises(supple.InputError, match='unknown joint "slyde"; known: "x"'):
        found.reaction("slyde")
    assert found.plot().axes[-1].get_xlabel() == "time / s"
