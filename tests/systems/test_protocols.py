"""Mechanisms, reduced models and linear models as systems: one protocol, one driver, and answers that agree."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.control.plants.plants import PlantOptions, drives_of, plant_in
from supple.diagnostics import InputError
from supple.hardware.hardware import NO_HARDWARE
from supple.hardware.pieces import Pieces
from supple.integration.time_steps import StepOptions
from supple.simulation.driver import Known, drive
from supple.systems.protocols import system_of

ARM = """
supple: 1
name: arm
plane: xy
gravity: [0, -9.81]
points: {O: [0, 0], E: [0.5, 0], T: [0.9, 0]}
bodies:
  upper: {rod: [O, E], mass: 2}
  fore:  {rod: [E, T], mass: 1}
joints:
  shoulder: {revolute: [ground, upper], at: O, viscous: 0.5}
  elbow:    {revolute: [upper, fore], at: E, viscous: 0.5, GEARBOX}
actuators:
  shoulder: {joint: shoulder}
  elbow: {joint: elbow}
sensors:
  tip: {position: fore.T}
"""
GEARBOX = "motor: {inertia: 1e-4, gear: 100}, drive: {stiffness: 4000, damping: 2}"
PLACE = {"shoulder": -0.9, "elbow": 0.4}  # it hangs: the inputs that hold it there hold it stably
REGION = {"shoulder": (-1.2, -0.6), "elbow": (0.2, 0.6)}
FIT = 1e-6  # relative, to which the models are fitted
TIMES = np.linspace(0.0, 0.02, 21)
SYSTEMS = ["mechanism", "model", "elastic mechanism", "flexible model", "linear model"]


@cache
def system(kind):
    if kind == "linear model":
        return supple.linearize(system("flexible model"), PLACE)
    if kind.endswith("mechanism"):
        return supple.loads(ARM.replace(", GEARBOX", f", {GEARBOX}" if kind.startswith("elastic") else ""))
    flexible = kind.startswith("flexible")
    described, modes = (
        system("elastic mechanism" if flexible else "mechanism"),
        {"internal_modes": 1} if flexible else {},
    )
    return supple.reduce(described, region=REGION, tolerance=FIT, checks=50, store=False, progress=False, **modes)


def plant(kind):
    """The system at rest at its place, with no drives."""
    start = None if kind == "linear model" else PLACE
    options = PlantOptions(TIMES, start, None, StepOptions())
    drives = drives_of(system(kind), NO_HARDWARE, 0.0)
    return plant_in(system(kind), drives, options)


def held_forces(kind):
    """Forces that hold the system at its place, by actuator."""
    found = system(kind)
    if kind == "linear model":
        return found.at["inputs"]
    return supple.linearize(found, PLACE, rigid=kind.endswith("mechanism")).at["inputs"]


@pytest.mark.parametrize("kind", SYSTEMS)
def test_every_system_has_names_and_units(kind):
    found = system_of(system(kind))
    assert found.rigid_coordinates[:2] == ("shoulder", "elbow")
    assert found.inputs == ("shoulder", "elbow")
    assert found.outputs == ("tip.x", "tip.y")
    for names, units in zip((found.coordinates, found.inputs, found.outputs), found.units, strict=True):
        assert set(names) <= set(units)
    assert (found.basis is None) == (found.theta == len(found.coordinates) and kind != "linear model")


@pytest.mark.parametrize("kind", SYSTEMS)
def test_every_plant_is_the_system_that_it_was_made_of(kind):
    made, described = plant(kind), system_of(system(kind))
    assert made.system._replace(equations=None) == described._replace(equations=None)
    assert [len(part) for part in made.state] == [len(described.coordinates)] * 2
    assert made.present_outputs.shape == (len(described.outputs),)
    assert made.reason == ""


class Holding:
    """A source with an event at every result time: the forces that hold a system at its place."""

    def __init__(self, kind):
        self.forces, self.events = np.array(list(held_forces(kind).values())), range(1, len(TIMES))

    def give_inputs(self, event):
        return pieces_of(self.forces, TIMES[event : event + 2])

    def record_advance(self, event):
        pass


def pieces_of(forces, times):
    """Forces (a,) that stay as they are, in pieces between times, and nothing led."""
    pieces = len(times) - 1
    coefficients = np.zeros((pieces, 4, len(forces)))
    coefficients[:, 0] = forces
    return Pieces(times - times[0], coefficients, np.zeros((pieces, 4, 0)), np.zeros((pieces, 2, 0)))


@pytest.mark.parametrize("kind", SYSTEMS)
def test_the_driver_advances_every_plant_from_event_to_event(kind):
    """Under the forces that hold it the plant stays where it is, through all result times."""
    made, source = plant(kind), Holding(kind)
    place, rates = (part.copy() for part in made.state)
    drive(made, source)
    assert_allclose(made.state[0], place, atol=1e-6)  # the gearbox begins relaxed to the tolerance of a step
    assert_allclose(made.state[1], rates, atol=1e-4)
    run = made.result(np.tile(source.forces, (len(TIMES), 1)))
    assert run.complete
    assert tuple(run.coordinates) == made.system.coordinates
    assert tuple(run.outputs) == made.system.outputs
    assert_allclose(run.time, TIMES)


@pytest.mark.parametrize("kind", SYSTEMS[:4])
def test_coefficients_of_a_model_are_those_of_its_mechanism(kind):
    theta = np.array(list(PLACE.values()))
    own = system_of(system(kind)).equations(theta)
    of = "mechanism" if kind in ("mechanism", "model") else "elastic mechanism"
    rigid = system_of(system(of)).equations(theta)
    assert_allclose(own.M[:2, :2], rigid.M, rtol=1e-4)
    assert_allclose(own.force[:2], rigid.force, rtol=1e-4)


def test_a_linear_model_has_no_coefficients_elsewhere():
    with pytest.raises(InputError, match="coefficients of one state only; give a mechanism"):
        system_of(system("linear model")).equations(np.zeros(2))


@pytest.mark.parametrize("kind", ["mechanism", "model"])
def test_what_holds_a_system_is_the_same_to_every_question(kind):
    """Inputs of its linear model, its inverse dynamics, its equilibrium and a simulation tell of one rest."""
    machine, theta = system(kind), np.array(list(PLACE.values()))
    forces = np.array(list(held_forces(kind).values()))
    still = np.zeros((3, 2))
    course = supple.Trajectory(("shoulder", "elbow"), np.array([0.0, 0.1, 0.2]), theta + still, still, still)
    needed = np.stack(list(supple.inverse(machine, course).forces.values()), axis=1)
    assert_allclose(needed, forces + still, rtol=1e-9)
    beside = PLACE | {"elbow": 0.45}
    found = supple.equilibrium(machine, beside, inputs=forces)
    assert_allclose(getattr(found, "theta", found), theta, atol=1e-6)
    run = supple.simulate(machine, TIMES, dict(zip(PLACE, forces, strict=True)), PLACE)
    for name, value in PLACE.items():
        assert_allclose(run.coordinates[name], value, atol=1e-8)


@pytest.mark.parametrize("kind", SYSTEMS)
def test_responses_are_those_of_the_linear_model(kind):
    """Small motions with free actuators, whichever question gives them."""
    machine, lines = system(kind), np.array([0.7, 3.0, 9.0])
    if kind == "linear model":
        linear, found = machine, supple.frf(machine, None, "shoulder", "tip.y", lines)
    else:
        modes = {"internal_modes": 1} if kind == "elastic mechanism" else {}
        linear = supple.linearize(machine, PLACE, **modes)
        found = supple.frf(machine, PLACE, "shoulder", "tip.y", lines, free_actuators=True)
    exact = linear.frequency_response(lines, ["tip.y"], ["shoulder"]).values
    # A linear model is about the sagging rest, and responses of what deforms are about the undeformed place.
    assert_allclose(found.values, exact, rtol=1e-3 if kind in ("elastic mechanism", "flexible model") else 1e-6)


def test_models_answer_as_their_mechanism():
    lines = np.array([0.7, 3.0, 9.0])
    full, model = (
        supple.frf(system(kind), PLACE, "shoulder", "tip.y", lines, free_actuators=True).values
        for kind in ("mechanism", "model")
    )
    assert_allclose(model, full, rtol=1e-4)
    full, model = (np.array(list(held_forces(kind).values())) for kind in ("mechanism", "model"))
    assert_allclose(model, full, rtol=1e-4)


def test_one_event_takes_a_plant_through_all_result_times():
    """A mechanism and its model fall alike where the forces are more than what holds them."""
    more, found = np.array([1.0, 0.0]), []
    forces = np.array(list(held_forces("mechanism").values())) + more
    for kind in ("mechanism", "model"):
        made = plant(kind)
        drive(made, Known(pieces_of(forces, TIMES), len(TIMES) - 1))
        found.append(made.state[0])
    assert abs(found[0] - list(PLACE.values())).max() > 1e-5
    assert_allclose(found[1], found[0], atol=1e-6)
