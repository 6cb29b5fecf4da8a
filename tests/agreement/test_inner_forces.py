"""Reactions, section forces and stresses that sensors see: by statics, in full, reduced and linear models."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.description.body import Frame
from supple.description.sensor import Sensor
from supple.equations.row import effort_places
from supple.reduced.observed import observed_motion
from supple.simulation.body_motion import FullMotion, inner_forces
from supple.statics.deformed_rest import deformed_rest

EXAMPLE = Path(__file__).parents[2] / "examples" / "flexible-four-bar" / "mechanism.yaml"
LENGTHS = (0.5, 0.5218, 0.6936)
MASS = 2e-4 * 2700.0  # kg/m
RIGID = """
supple: 1
name: four-bar
plane: xz
points: {A: [0, 0], B: [0.2, 0.3], C: [0.9, 0.5], D: [0.8, 0]}
gravity: [0, -9.81]
bodies:
  crank: {rod: [A, B], mass: 1}
  coupler: {rod: [B, C], mass: 2}
  rocker: {rod: [D, C], mass: 1.5}
joints:
  A: {revolute: [ground, crank], viscous: 0.1, dry: 0.2}
  B: {revolute: [crank, coupler]}
  C: {revolute: [coupler, rocker], viscous: 0.05}
  D: {revolute: [rocker, ground]}
actuators: {crank: {joint: A}, extra: {joint: D}}
coordinates: [crank]
springs: {s: {between: [A, C], stiffness: 100, length: 0.5}}
sensors: {C: {position: C}, B: {reaction: B}, D: {reaction: D}, own: {reaction: C, axes: body}}
"""


@cache
def flexible(gravity: bool):
    """The example with sensors of forces inside; M is halfway along the coupler."""
    sensors = {
        "E": Sensor(position="E"), "A": Sensor(reaction="A"), "D": Sensor(reaction="D"),
        "root": Sensor(section="crank.A"), "tip": Sensor(section="crank.B"), "mid": Sensor(section="M"),
        "gauge": Sensor(stress="M", at=[0.0, 0.005]), "strain": Sensor(strain="M", at=[0.01, 0.005]),
    }  # fmt: skip
    frames = {"M": Frame(on="coupler", local=[0.5 * LENGTHS[1], 0.0, 0.0])}
    one = supple.load(EXAMPLE).replace(sensors=sensors, frames=frames)
    return one.replace(gravity=[0.0, 0.0, -9.81]) if gravity else one


def resting(machine, theta, modes, preload=True):
    """Forces inside at rest, θ held, by name."""
    model = supple.local(machine, [theta], internal_modes=modes, rigid=not modes, preload=preload)
    rows = model.row.part(model.rows, "efforts")
    delta = np.linalg.solve(model.K[1:, 1:], model.force[1:]) if modes else np.zeros(0)
    return dict(zip(model.labels.output_composition.efforts, rows[:, 0] + rows[:, 1 : 1 + modes] @ delta, strict=True))


def test_at_rest_they_balance_the_weight_whatever_modes_are_kept():
    """To first order in the load; what it changes by its own deformation, which is of second order, is left out."""
    machine = flexible(True)
    found = {modes: resting(machine, 0.3, modes, preload=False) for modes in (0, 1, 4)}
    assert_allclose(found[4]["A.z"] + found[4]["D.z"], 9.81 * MASS * sum(LENGTHS), rtol=1e-9)
    assert_allclose(found[4]["A.x"], -found[4]["D.x"], rtol=1e-9)
    frame = supple.assemble(machine, [0.3]).frame("coupler").rotation
    across = 9.81 * MASS * np.hypot(*frame[:2, 0])  # the coupler is uniform, and hinged at both ends
    assert_allclose(abs(found[4]["mid.My"]), across * LENGTHS[1] ** 2 / 8.0, rtol=1e-9)
    assert_allclose(found[4]["tip.My"], 0.0, atol=1e-9)
    for modes in (0, 1):
        assert_allclose(list(found[modes].values()), list(found[4].values()), atol=1e-8)


def test_a_static_load_gives_those_of_the_full_model_within_a_percent():
    machine = flexible(True)
    here = supple.assemble(machine, [0.3])
    full = deformed_rest(here, np.zeros(1))
    state, still = full.state, np.zeros_like(full.state.V)
    one = FullMotion(*(part[None] for part in (state.X, still, still, full.multipliers, state.w, full.inputs)))
    expected = inner_forces(full.problem, one)[0]
    found = np.array(list(resting(machine, 0.3, 4).values()))
    for place in (range(0, 3), range(6, 9), range(12, 15), range(15, 18), range(24, 27), range(27, 30)):
        some = list(place)  # a force or a moment of one sensor
        assert np.linalg.norm(found[some] - expected[some]) <= 0.01 * np.linalg.norm(expected[some])


@pytest.mark.slow
def test_in_a_step_of_the_torque_they_are_those_of_the_full_model_within_three_percent():
    machine = flexible(False)
    times = np.arange(0.0, 0.3001, 1e-3)
    model = supple.reduce(
        machine, region={"crank": (0.1, 0.35)}, internal_modes=6, tolerance=1e-3, progress=False
    )  # fmt: skip
    full = supple.simulate(machine, "step", until=0.3)
    small = model.simulate("step", until=0.3)
    assert_allclose(small.time, times, atol=1e-12)
    for names in (("A.x", "A.z"), ("D.x", "D.z"), ("root.My",), ("root.N", "root.Qz"), ("tip.N", "tip.Qz")):
        exact, found = (np.stack([run.outputs[name] for name in names], axis=1) for run in (full, small))
        off = np.linalg.norm(found - exact, axis=1).max() / np.linalg.norm(exact, axis=1).max()
        assert off < 0.03, (names, off)
    assert small.outputs.units["gauge"] == "Pa"


def test_stress_and_strain_follow_from_the_section_forces():
    found = flexible(True)
    run = supple.simulate(found, until=0.02, step=2e-3)
    area, Iy, Iz = 2e-4, 20e-3 * 10e-3**3 / 12.0, 10e-3 * 20e-3**3 / 12.0
    N, My, Mz = (run.outputs[f"mid.{name}"] for name in ("N", "My", "Mz"))
    assert_allclose(run.outputs["gauge"], N / area + My * 0.005 / Iy, rtol=1e-9)
    assert_allclose(run.outputs["strain"], (N / area + My * 0.005 / Iy - Mz * 0.01 / Iz) / 70e9, rtol=1e-9)


@pytest.mark.slow
def test_reactions_of_a_rigid_mechanism_are_the_same_in_every_model():
    machine = supple.loads(RIGID)
    inputs = {"crank": 2.0, "extra": -1.0}
    here = float(supple.assemble(machine).theta[0])
    run = supple.simulate(machine, np.linspace(0.0, 0.06, 4), inputs, rates={"crank": 2.0}, tolerance=1e-10)
    model = supple.reduce(machine, region={"crank": (here - 0.1, here + 0.3)}, tolerance=1e-6, progress=False)
    small = model.simulate(run.time, inputs, {"crank": here}, rates={"crank": 2.0})
    for name, values in run.outputs.items():
        size = max(np.abs(values).max(), 1.0)
        assert_allclose(small.outputs[name], values, atol=1e-4 * size)
    linear, of_model = (
        supple.linearize(machine, [here], rates=[1.0], inputs=[2.0, -1.0]),
        model.linearize([here], rates=[1.0], inputs=[2.0, -1.0]),
    )
    assert_allclose(of_model.C, linear.C, atol=1e-4 * np.abs(linear.C).max())
    assert_allclose(of_model.D, linear.D, atol=1e-5 * np.abs(linear.D).max())
    assert_allclose(list(linear.at["outputs"].values()), list(of_model.at["outputs"].values()), atol=1e-4)


@pytest.mark.slow
def test_the_response_of_a_reaction_is_that_of_its_coefficients():
    machine = supple.loads(RIGID.replace(", dry: 0.2", ""))
    here = float(supple.assemble(machine).theta[0])
    model = supple.reduce(machine, region={"crank": (here - 0.1, here + 0.1)}, tolerance=1e-6, progress=False)
    lines = np.array([0.5, 2.0, 7.0])
    found = model.frf([here], "crank", ["B.x", "D.z"], lines, free_actuators=True, preload=False).values[..., 0]
    rows, at_once = [], []
    moving = observed_motion(model, np.array([here]), np.zeros(1), np.zeros(1), np.zeros(2), 1e-3)
    for name in ("B.x", "D.z"):
        k = len(model.layout.measures) + model.layout.efforts.index(name)
        rows.append([moving.by_eta[0, k, 0], moving.by_rates[0, k, 0], moving.by_accelerations[0, k, 0]])
        at_once.append(moving.by_inputs[0, k, 0])
    w = 2j * np.pi * lines
    c = model.evaluate([here])
    eta = c.input_map[0, 0] / (c.K[0, 0] + w * c.damping[0, 0] + w**2 * c.M[0, 0])
    expected = np.stack([(r[0] + w * r[1] + w**2 * r[2]) * eta + d for r, d in zip(rows, at_once, strict=True)], axis=1)
    assert_allclose(found, expected, rtol=1e-9)


def test_rows_of_efforts_have_one_entry_for_everything_they_depend_on():
    places = effort_places(3, 1, 2, 1)
    assert places.pairs == ((0, 0), (0, 1), (0, 2))
    assert places.width == 1 + 2 + 2 + 3 + 3 + 3 + 1


@pytest.mark.parametrize(
    ("sensor", "message"),
    [
        ("{reaction: Q}", 'sensor "s": unknown joint "Q"; known: "A"'),
        ("{section: crank.A}", 'is on "crank", which has no beams'),
        ("{stress: crank.A}", '"at" is missing'),
        ("{section: A, axis: z}", "a section sensor has no axis"),
    ],
)
def test_what_is_wrong_is_said(sensor, message):
    text = RIGID[: RIGID.index("sensors:")] + f"sensors: {{s: {sensor}}}\n"
    with pytest.raises(supple.InputError, match=message):
        supple.local(supple.loads(text))
