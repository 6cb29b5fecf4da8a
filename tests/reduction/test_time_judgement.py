"""The judge: a mechanism and its reduced model through the same scenario."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.description.scenario import Scenario

DAMPED = {"ratio": 0.01}


@cache
def arm(**sensors):
    return supple.Mechanism(
        name="arm", plane="xz", materials={"metal": {"youngs_modulus": 7e10, "density": 2700}},
        sections={"bar": {"rectangle": [0.02, 0.006]}}, points={"O": [0, 0], "P": [0.8, 0]},
        bodies={"link": {"beam": ["O", "P"], "section": "bar", "material": "metal", "elements": 2}},
        joints={"O": {"revolute": ["ground", "link"]}}, point_masses={"load": {"at": "link.P", "mass": 0.2}},
        actuators={"motor": {"joint": "O"}}, sensors={"tip": {"position": "link.P"}},
        motions={"swing": {"coordinates": {"motor": {"from": 0.0, "to": 0.2}}, "duration": 0.8}},
        scenarios={
            "turn": {"inputs": {"motor": {"step": 0.4, "rise": 0.02}}, "damping": DAMPED, "until": 0.3, "step": 5e-4},
            "swing": {"motion": "swing", "damping": DAMPED, "step": 2e-3},
            "away": {"rates": {"motor": 3.0}, "until": 0.5, "step": 1e-3},
        },
    )  # fmt: skip


@cache
def model(modes=2):
    return supple.reduce(
        arm(), region={"motor": (-0.2, 1.0)}, tolerance=1e-4, internal_modes=modes, store=False, progress=False
    )


@cache
def judged(name, modes=2):
    return supple.compare(arm(), model(modes), scenario=name)


def test_a_turn_is_predicted_to_a_small_part_of_what_bends():
    found = judged("turn")
    assert found.complete
    e = np.hypot(*(found.elastic["full"][name] for name in ("tip.x", "tip.z")))
    assert found.scales["tip.z"] == found.scales["tip.x"] == e.max()
    assert 1e-4 < found.scales["tip.z"] < 0.1  # it bends, and the motion is larger
    assert found.elastic_error["tip.z"] < 0.01
    assert found.error["tip.z"] < 0.03
    assert found.rms_error["tip.z"] <= found.error["tip.z"]
    assert max(found.coefficients.values()) < 1e-3
    assert found.coordinate_error["motor"] < 1e-4


def test_fewer_modes_are_told_by_the_same_judge():
    assert judged("turn", 1).elastic_error["tip.z"] > 3.0 * judged("turn").elastic_error["tip.z"]


def test_resonances_are_those_with_the_actuator_free():
    found = judged("turn").frequencies_hz
    exact = supple.modes(arm(), count=3, free_actuators=True).frequencies_hz
    exact = exact[exact > 1.0]
    assert_allclose(found["full"][0], exact[0], rtol=5e-3)  # of the integrator at this step
    assert_allclose(found["reduced"][0], found["full"][0], rtol=5e-3)


def test_both_accounts_of_energy_are_the_same():
    energy = judged("turn").energy
    for name in ("kinetic", "actuators"):
        assert energy["reduced"][name] == pytest.approx(energy["full"][name], rel=2e-3)
    assert energy["reduced"]["lost"] == pytest.approx(energy["full"]["lost"], rel=0.05)
    assert abs(energy["reduced"]["balance"]) < 0.01 * energy["reduced"]["kinetic"]


def test_a_prescribed_motion_is_led_in_both():
    found = judged("swing")
    assert found.coordinate_error["motor"] < 1e-9
    assert found.elastic_error["tip.z"] < 0.01
    assert found.force_error < 0.01


def test_a_rigid_model_misses_all_that_bends():
    rigid = supple.reduce(arm(), region={"motor": (-0.2, 1.0)}, rigid=True, store=False, progress=False)
    found = supple.compare(arm(), rigid, scenario="turn")
    assert found.elastic_error["tip.z"] == pytest.approx(1.0, abs=1e-3)
    together = supple.compare(arm(), rigid, scenario="turn", rigid=True)
    assert together.rigid == ("link",)
    assert together.error["tip.z"] < 1e-3  # of how far it moves


def test_a_run_that_leaves_the_region_is_compared_as_far_as_it_goes():
    found = supple.compare(arm(), model(), scenario="away")
    assert not found.complete
    assert "the reduced model: " in found.reason
    assert "leaves the region" in found.reason
    assert 0.3 < found.time[-1] < 0.4
    assert found.coordinate_error["motor"] < 1e-3


def test_outputs_that_the_model_lacks_are_named():
    more = arm().replace(sensors={**arm().sensors, "encoder": {"joint": "O"}})
    found = supple.compare(more, model(), scenario="turn")
    assert found.missing == ("encoder",)
    assert set(found.error) == {"tip.x", "tip.z"}


def test_rates_and_accelerations_have_elastic_parts_too():
    """What undeformed bodies have of them, with the same θ, θ̇ and θ̈, is taken off."""
    sensed = arm().replace(sensors={"tip": {"velocity": "link.P"}, "felt": {"acceleration": "link.P"}})
    fewer = supple.reduce(
        sensed, region={"motor": (-0.2, 1.0)}, tolerance=1e-4, internal_modes=2, store=False, progress=False
    )
    found = supple.compare(sensed, fewer, scenario="turn")
    assert found.elastic_error["tip.z"] < 0.1
    assert found.error["felt.z"] < 1.0  # two modes have little of the first accelerations, and rightly say so
    position = judged("turn").elastic["full"]["tip.z"]
    rate = np.gradient(position, found.time)
    assert_allclose(found.elastic["full"]["tip.z"], rate, atol=0.03 * np.abs(rate).max())


def test_a_scenario_in_a_file_and_one_at_hand_are_one(tmp_path):
    file = tmp_path / "turn.yaml"
    file.write_text("{inputs: {motor: {step: 0.1, rise: 10 ms}}, damping: {ratio: 0.01}, until: 20 ms, step: 1 ms}")
    first = supple.compare(arm(), model(), scenario=file)
    asked = Scenario(inputs={"motor": {"step": 0.1, "rise": 0.01}}, damping=DAMPED, until=0.02, step=1e-3)
    again = supple.compare(arm(), model(), scenario=asked)
    assert first.error == again.error


def test_components_are_judged_as_a_vector():
    """A bar that vibrates along x: its tip deforms along z by rounding alone, which measures nothing."""
    mast = supple.Mechanism(
        name="mast", plane="xz", materials={"metal": {"youngs_modulus": 7e10, "density": 2700}},
        sections={"bar": {"rectangle": [0.02, 0.006]}}, points={"O": [0, 0], "P": [0, 0.8]},
        bodies={
            "sledge": {"mass": 1.0, "center": "O", "inertia": 0.01},
            "link": {"beam": ["O", "P"], "section": "bar", "material": "metal", "elements": 2},
        },
        joints={"rail": {"prismatic": ["ground", "sledge"], "at": "O", "axis": "x"}, "O": {"weld": ["sledge", "link"]}},
        actuators={"motor": {"joint": "rail"}},
        sensors={"tip": {"position": "link.P"}, "imu": {"acceleration": "link.P"}},
        scenarios={"push": {"inputs": {"motor": {"step": 0.5, "rise": 0.02}}, "damping": DAMPED, "until": 0.2,
                            "step": 5e-4}},
    )  # fmt: skip
    small = supple.reduce(mast, region={"motor": (-0.5, 0.5)}, internal_modes=2, store=False, progress=False)
    found = supple.compare(mast, small, scenario="push")
    assert set(found.vectors) == {"tip", "imu"}
    for label in ("tip", "imu"):
        judged = found.vectors[label]
        assert judged.measured_by == "deformation"
        assert (
            judged.scale
            > judged.floor
            == pytest.approx(
                1e-5
                * np.max(
                    np.hypot(
                        *(found.get_output("full", name) - found.get_output("full", name)[0] for name in judged.outputs)
                    )
                )
            )
        )
        assert max(found.error[name] for name in judged.outputs) <= judged.error < 1.0
        assert found.error[f"{label}.z"] < 0.1  # over its own deformation, some 1e-7 m or m/s², it would be millions
    assert found.elastic_error["tip.x"] < 0.05
    assert "of its elastic part" in found.summary()
