"""The equivalent rigid link system against the other formulations: the same modes, the same motion in time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.diagnostics import InputError
from supple.formats.mechanism_file import loads
from supple.formulations.elastic_rest.dense import dense_modes
from supple.formulations.elastic_rest.elastic_rest import elastic_rest
from supple.formulations.rigid_link_system.link_march import motion_at_start
from supple.formulations.rigid_link_system.small_link_motions import UNCONDENSED
from supple.modal_analysis.mode_set import mac

EXAMPLES = Path(__file__).parents[2] / "examples"
CONDENSED = 1e-6
"""Of a frequency: bodies are condensed to 1e-6 of ω², and modes that are close share what is left out."""
COUNT = 8


def example(name):
    found = supple.load(EXAMPLES / name / "mechanism.yaml")
    return found.replace(gravity=None) if found.gravity is not None else found


def postures(machine, count, spread):
    """Around rest, those that can be assembled."""
    rest = supple.assemble(machine).theta
    random = np.random.default_rng(7)
    found = supple.assemble(machine, rest + spread * random.uniform(-1.0, 1.0, (2 * count, len(rest))), failures="mark")
    chosen = np.flatnonzero(found.assembled)[:count]
    assert len(chosen) == count
    return supple.assemble(machine, found.theta[chosen])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "spread"), [("surgiscope", 0.3), ("serial-flexible", 0.8)])
def test_locked_modes_are_those_of_the_elastic_mechanism_at_ten_postures(name, spread):
    machine = example(name)
    here = postures(machine, 10, spread)
    ours = supple.modes(machine, here, count=COUNT, formulation="erls")
    condensed = supple.modes(machine, here, count=COUNT, preload=False)
    whole = elastic_rest(machine, UNCONDENSED)
    assert whole.whole
    held = whole.list_held_rows(actuators=True)
    for n, one in enumerate(here.each()):
        squares, Z = dense_modes(whole, one, held, preload=False)
        hertz = np.sqrt(squares[: COUNT + 1]) / (2.0 * np.pi)
        assert_allclose(ours.frequencies_hz[n], hertz[:COUNT], rtol=1e-8)
        assert_allclose(ours.frequencies_hz[n], condensed.frequencies_hz[n], rtol=CONDENSED)
        # Shapes, of modes that are close together as what they span.
        likeness = mac(ours.shapes[n], Z[: COUNT + 1])
        for i, group in enumerate(np.abs(hertz[:COUNT, None] / hertz[None] - 1.0) < 1e-4):
            if not group[COUNT]:
                assert likeness[i, group].sum() == pytest.approx(1.0, abs=1e-8), (n, i)


# Stiffness couples directions with the deflection of the drive; joints are ideal in part.
COUPLED = """
supple: 1
name: coupled
gravity: [0, 0, -9.81]
points: {O: [0, 0, 0], P: [0.5, 0.1, 0], T: [0.8, 0.1, 0.2]}
materials: {alu: {youngs_modulus: 70e9, poisson: 0.3, density: 2700}}
sections: {bar: {rectangle: [0.03, 0.02]}}
bodies:
  upper: {beam: [O, P], section: bar, material: alu, elements: 3}
  fore: {beam: [P, T], section: bar, material: alu, elements: 2}
  load: {mass: 0.5, center: [0.85, 0.1, 0.2], inertia: [1e-3, 2e-3, 2e-3], at: T}
joints:
  O: {revolute: [ground, upper], axis: z, stiffness: {x: 1e7, y: 1e7, rx: 3e4, ry: 2e4, rz: 8e3, ry.rz: 3e3, x.ry: 1e5}}
  P: {revolute: [fore, upper], axis: y}
  T: {weld: [fore, load]}
sensors: {tip: {position: load}}
actuators: {O: {joint: O}, P: {joint: P}}
"""


def test_stiffness_that_couples_a_drive_with_the_joint_and_ideal_joints():
    machine = loads(COUPLED)
    for asked in ({}, {"preload": False}):
        ours = supple.modes(machine, [0.3, -0.4], count=6, **asked, formulation="erls").frequencies_hz
        assert_allclose(ours, supple.modes(machine, [0.3, -0.4], count=6, **asked).frequencies_hz, rtol=CONDENSED)


def test_free_actuators():
    machine = loads(COUPLED)
    asked = {"count": 6, "free_actuators": True, "preload": False}
    ours = supple.modes(machine, [0.3, -0.4], **asked, formulation="erls").frequencies_hz
    assert np.abs(ours[:2]).max() < 1e-4  # nothing holds θ: rounding of the stiffest, under a root
    assert_allclose(ours[2:], supple.modes(machine, [0.3, -0.4], **asked).frequencies_hz[2:], rtol=CONDENSED)


def test_what_forces_at_rest_do_is_right_to_the_size_of_the_sag():
    """About a sag of 3 mm in 0.9 m: equations of first order in u have it to that fraction, and no better."""
    machine = loads(COUPLED)
    asked = {"count": 6, "free_actuators": True}
    error = []
    for weight in (1.0, 0.1):
        lighter = machine.replace(gravity=[0.0, 0.0, -9.81 * weight])
        ours, theirs = (
            supple.modes(lighter, [0.3, -0.4], **asked, formulation=name).frequencies_hz for name in ("erls", "auto")
        )
        error.append(np.abs(ours[2:] / theirs[2:] - 1.0).max())
        squares = [np.sign(hertz[:2]) * hertz[:2] ** 2 for hertz in (ours, theirs)]
        assert_allclose(*squares, atol=0.03 * weight * np.abs(squares[1]).max() + 1e-9)
    assert error[0] < 3e-3
    assert error[1] / error[0] == pytest.approx(0.1, rel=0.1)


@pytest.mark.parametrize("name", ["ralf", "flexible-four-bar", "five-bar-gearbox", "aluminium-four-bar"])
def test_planar_and_spatial_loops_with_ideal_joints(name):
    machine = example(name)
    ours = supple.modes(machine, count=4, formulation="erls").frequencies_hz
    assert_allclose(ours, supple.modes(machine, count=4).frequencies_hz, rtol=CONDENSED)


def test_a_superelement_and_an_unknown_formulation_are_refused():
    with pytest.raises(InputError, match='unknown formulation "erl"') as caught:
        supple.modes(loads(COUPLED), formulation="erl")
    assert "erls" in str(caught.value)


# ---------------------------------------------------------------------------- in time

AT = (0.3, -0.4)
UNTIL, STEP = 0.06, 5e-4


def turning(start, amount):
    """From rest to rest within UNTIL."""
    return lambda t: start + amount * 0.5 * (1.0 - np.cos(np.pi * min(max(t / UNTIL, 0.0), 1.0)))


def both(machine, **asked):
    """By rigid links with a step, and by the full equations with as many as they need."""
    ours = supple.simulate(machine, until=UNTIL, step=STEP, **asked, formulation="erls")
    return ours, supple.simulate(machine, ours.time, **asked)


def deflection(run):
    """Of the tip from where the rigid mechanism has it at the same θ, (N, 3)."""
    theta = np.column_stack(list(run.coordinates.values()))
    rigid = supple.assemble(run.configuration.mechanism, theta)
    return run.frame("load").position - rigid.frame("load").position


@pytest.mark.slow
def test_a_led_motion_deflects_as_in_the_full_equations():
    """Deflections of a few millimetres in 0.9 m: what the links leave out is of second order in them."""
    machine = loads(COUPLED)
    motion = {"O": turning(AT[0], 0.02), "P": turning(AT[1], -0.02)}
    ours, theirs = both(machine, start=list(AT), motion=motion)
    bent = np.abs(deflection(theirs)).max()
    assert 1e-3 < bent < 1e-2
    assert np.abs(deflection(ours) - deflection(theirs)).max() < 0.01 * bent
    for name, force in theirs.driving_forces.items():
        assert np.abs(ours.driving_forces[name] - force).max() < 0.02 * np.abs(force).max()
    for name, seen in theirs.outputs.items():
        assert np.abs(ours.outputs[name] - seen).max() < 0.01 * bent
    strain = theirs.energy["strain"]
    assert np.abs(ours.energy["strain"] - strain).max() < 0.03 * strain.max()  # a square of what is right to 1 %


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::supple.diagnostics.SuppleNote")  # how damping is taken in time, in both
def test_loops_in_motion_deflect_as_in_the_full_equations():
    """The Surgiscope, whose rigid loops are partitioned and whose nodes carry the elastic ones."""
    machine, until = supple.load(EXAMPLES / "surgiscope" / "mechanism.yaml"), 0.02
    names, theta = list(machine.actuators), supple.assemble(machine).theta
    motion = {
        name: lambda t, at=at, turn=turn: at + turn * 0.5 * (1.0 - np.cos(np.pi * min(t / until, 1.0)))
        for name, at, turn in zip(names, theta.tolist(), (2e-3, -2e-3, 1e-3), strict=True)
    }
    ours = supple.simulate(machine, until=until, step=STEP, motion=motion, formulation="erls")
    theirs = supple.simulate(machine, ours.time, motion=motion)
    rigid = supple.assemble(machine, np.column_stack(list(ours.coordinates.values()))).frame("platform").position
    bent, wanted = (run.frame("platform").position - rigid for run in (ours, theirs))
    assert np.abs(bent - wanted).max() < 0.01 * np.abs(wanted).max()
    for name, force in theirs.driving_forces.items():
        assert np.abs(ours.driving_forces[name] - force).max() < 0.02 * np.abs(force).max()


@pytest.mark.slow
def test_a_driven_motion_is_that_of_the_full_equations():
    """From rest under its weight, pushed by the motors: θ and deflection."""
    machine = loads(COUPLED)
    held = supple.equilibrium(machine, list(AT), held=["O", "P"])
    pushes = {"O": lambda t: 3.0 * np.sin(40.0 * t), "P": lambda t: 2.9 + 2.0 * np.sin(30.0 * t)}
    ours, theirs = both(machine, start=held, inputs=pushes)
    bent = np.abs(deflection(theirs)).max()
    assert np.abs(deflection(ours) - deflection(theirs)).max() < 0.01 * bent
    for name, theta in theirs.coordinates.items():
        moved = np.ptp(theta)
        assert moved > 0.004
        assert np.abs(ours.coordinates[name] - theta).max() < 0.01 * moved


@pytest.mark.parametrize("step", [1e-3, 2.5e-4])
def test_what_is_let_go_falls_with_gravity_at_once_whatever_the_step(step):
    """Undeformed at the start no elastic force acts: the tool, which nothing ideal holds, has the acceleration -g."""
    machine = supple.load(EXAMPLES / "serial-flexible" / "mechanism.yaml").replace(damping=None)
    found = supple.simulate(machine, until=2.0 * step, step=step, start="home", formulation="erls").outputs
    assert found["shake.z"][0] == pytest.approx(-9.81, rel=1e-4)
    assert abs(found["shake.x"][0]) < 1e-3 * 9.81


@pytest.mark.slow
@pytest.mark.parametrize("start", ["of a step", "exact"])
def test_steps_converge_with_second_order_from_either_start(start, monkeypatch):
    """Steps begin with (M + c h²K) a = F; M a = F in its place changes the motion by the order of the method itself."""
    if start == "exact":
        monkeypatch.setattr("supple.simulation.simulation.first_motion", motion_at_start)
    machine = supple.load(EXAMPLES / "serial-flexible" / "mechanism.yaml").replace(damping=None)
    runs = [
        supple.simulate(machine, until=2e-3, step=1e-4 / n, start="home", formulation="erls").outputs for n in (1, 2, 4)
    ]
    for sensor in ("tool", "shake"):
        coarse, middle, fine = (
            np.array([run[f"{sensor}.{axis}"][10 * n :: 10 * n] for axis in "xyz"])  # at 1 and 2 ms
            for run, n in zip(runs, (1, 2, 4), strict=True)
        )
        order = np.log2(np.abs(coarse - middle).max() / np.abs(middle - fine).max())
        assert order == pytest.approx(2.0, abs=0.15)


@pytest.mark.slow
def test_without_motors_or_weight_energy_stays():
    machine = loads(COUPLED).replace(gravity=None)
    run = supple.simulate(machine, until=0.015, step=2.5e-4, start=list(AT), rates=[8.0, -6.0], spectral_radius=1.0,
                          formulation="erls")  # fmt: skip
    total = run.energy["total"]
    assert np.ptp(total) < 0.02 * total[0]  # equations of first order lose what is of second: deflections over size
    assert run.energy["strain"].max() > 1e-4 * total[0]


# ---------------------------------------------------------------------------- responses and linear models


@pytest.mark.parametrize("asked", [
    {"inputs": "load.z", "damping": {"structural": 0.05}},
    {"inputs": "load.z", "damping": 0.02},
    {"inputs": "load.z", "damping": 0.02, "preload": True},
    {"inputs": ["O", "P"], "free_actuators": True, "preload": False, "damping": {"rayleigh": (0.0, 1e-5)}},
    {"inputs": "P.acceleration", "kind": "accelerance", "damping": 0.01},
    {"inputs": "P.acceleration", "kind": "accelerance", "damping": 0.01, "preload": True},
])  # fmt: skip
def test_responses_are_those_of_the_elastic_mechanism(asked):
    machine, lines = loads(COUPLED), np.linspace(5.0, 120.0, 7)
    asked = {"preload": False, **asked}  # with free actuators rigid links have it about the sag
    ours, theirs = (
        supple.frf(machine, list(AT), outputs=["tip.x", "tip.z"], frequencies_hz=lines, **asked, formulation=name)
        for name in ("erls", "auto")
    )
    assert_allclose(ours.values, theirs.values, atol=1e-5 * np.abs(theirs.values).max())  # of condensation


def test_a_linear_model_has_the_modes_and_the_outputs():
    with pytest.raises(InputError, match=r"without mass .*motor.*internal_modes"):
        supple.linearize(loads(COUPLED), list(AT), formulation="erls")
    motor = "axis: z, motor: {inertia: 2e-6, gear: 100}, stiffness"
    machine = loads(COUPLED.replace("axis: z, stiffness", motor)).replace(gravity=None)
    whole = supple.linearize(machine, list(AT), formulation="erls")
    few = supple.linearize(machine, list(AT), internal_modes=4, formulation="erls")
    known = supple.linearize(machine, list(AT), internal_modes=4)
    assert whole.states[:2] == few.states[:2] == ("O", "P")
    assert few.states[2:6] == ("mode1", "mode2", "mode3", "mode4")
    assert "fore.2.rx" in whole.states
    free = supple.modes(machine, list(AT), count=8, free_actuators=True, formulation="erls").frequencies_hz
    hertz = np.sort(np.abs(whole.eigenvalues.imag))[::2] / (2.0 * np.pi)
    assert_allclose(np.sort(hertz)[2:8], free[2:], rtol=1e-6)  # of eigenvalues of A over nine decades
    hertz, theirs = (np.sort(np.abs(model.eigenvalues.imag))[::2][2:6] for model in (few, known))
    assert_allclose(hertz, theirs, rtol=1e-5)
    assert_allclose(few.D, known.D, atol=1e-12)
    assert_allclose(few.C[:, :2], known.C[:, :2], atol=1e-9)
    assert few.outputs == known.outputs
