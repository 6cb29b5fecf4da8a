"""The time driver: events in order, and runs that are the same however many events divide them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple.hardware.pieces import Pieces
from supple.integration.input_course import followed_course
from supple.integration.time_steps import StepOptions
from supple.simulation.driver import Known, drive
from supple.simulation.mechanism_run import Continuous, MechanismRun, begin
from supple.simulation.model_run import FreeRun
from supple.simulation.prescribed import prescribe_motion
from supple.simulation.simulation import LinkRun
from supple.time_functions.function_of_time import linear_between

EXAMPLES = Path(__file__).parents[2] / "examples"
TIMES = np.linspace(0.0, 0.05, 26)
STEP = 1e-3


class Counter:
    """A system that counts, and cannot go beyond a number."""

    def __init__(self, most):
        self.most, self.calls = most, []

    def advance(self, acting, until):
        self.calls.append((acting, until))
        return until <= self.most


class Doubling:
    """A source that answers with twice the number of the event."""

    def __init__(self, events):
        self.events, self.seen = events, []

    def give_inputs(self, event):
        return 2 * event

    def record_advance(self, event):
        self.seen.append(event)


def held_pieces(duration, forces):
    """Forces (a,) that stay as they are, and nothing led."""
    cubics = np.zeros((1, 4, len(forces)))
    cubics[0, 0] = forces
    return Pieces(np.array([0.0, duration]), cubics, np.zeros((1, 4, 0)), np.zeros((1, 2, 0)))


def test_the_source_is_asked_at_every_event_until_the_system_cannot_go_on():
    system, source = Counter(5), Doubling([2, 5, 6, 9])
    drive(system, source)
    assert system.calls == [(0, 2), (2, 5), (4, 6)]
    assert source.seen == [0, 1, 2]  # it is told of the event at which the run ended as well


def test_what_is_known_beforehand_is_one_event():
    system = Counter(9)
    drive(system, Known("forces", 7))
    assert system.calls == [("forces", 7)]


class Repeated:
    """The same acts from event to event."""

    def __init__(self, acting, events):
        self._acting, self.events = acting, events

    def give_inputs(self, event):
        return self._acting

    def record_advance(self, event):
        pass


@pytest.fixture(scope="module")
def two_link():
    return supple.load(EXAMPLES / "two-link" / "mechanism.yaml")


def forces_of(mechanism):
    inputs = {name: (lambda t: 500.0 * np.sin(20.0 * t)) for name in mechanism.actuators}
    course = followed_course(tuple(mechanism.actuators), inputs, None, TIMES, STEP, fixed=True)
    return course, course.at(course.breaks)


def test_a_mechanism_moves_alike_in_one_event_and_in_several(two_link):
    here = supple.assemble(two_link)
    course, values = forces_of(two_link)
    acting = Continuous(
        linear_between(tuple(here.mechanism.actuators), course.breaks, values, 0.0, TIMES[-1]),
        prescribe_motion(here, None, 0.0, TIMES[-1], STEP),
    )
    rates = np.zeros(len(here.theta))
    found = []
    for events in ([25], [3, 11, 12, 25]):
        run = MechanismRun(begin(here, TIMES, rates, StepOptions(STEP), inputs=values[0]), None)
        drive(run, Repeated(acting, events))
        found.append(run.result())
    whole, parts = found
    assert whole.complete
    assert whole.steps == parts.steps == 50
    for name in whole.coordinates:
        assert np.ptp(whole.coordinates[name]) > 1e-3
        assert_allclose(parts.coordinates[name], whole.coordinates[name], rtol=0, atol=1e-12)
    assert_allclose(parts.energy["balance"], whole.energy["balance"], rtol=0, atol=1e-9)


def test_pieces_over_several_results_record_them_all(two_link):
    """Held forces until an event far away are held forces from result to result."""
    here, forces = supple.assemble(two_link), np.linspace(0.5, 1.0, len(two_link.actuators))
    found = []
    for events in ([25], range(1, 26)):
        run = MechanismRun(begin(here, TIMES, np.zeros(len(here.theta)), StepOptions(STEP)), None)
        done = 0
        for until in events:
            assert run.advance(held_pieces(TIMES[until] - TIMES[done], forces), until)
            done = until
        found.append(run.result())
    once, often = found
    assert len(once.time) == len(often.time) == 26
    for name in once.coordinates:
        assert_allclose(once.coordinates[name], often.coordinates[name], rtol=0, atol=1e-12)
    for name in once.inputs:
        assert_array_equal(once.inputs[name], often.inputs[name])


@pytest.mark.parametrize("implicit", [False, True])
def test_a_reduced_model_moves_alike_in_one_event_and_in_several(two_link, implicit):
    theta = supple.assemble(two_link).theta
    region = {name: (x - 0.4, x + 0.4) for name, x in zip(supple.assemble(two_link).coordinates, theta, strict=True)}
    model = supple.reduce(two_link, region=region, tolerance=1e-3, checks=50, store=False)
    course, _ = forces_of(two_link)
    found = []
    for events in ([25], [3, 11, 12, 25]):
        options = StepOptions(STEP / 4.0)
        run = FreeRun(model, TIMES, (theta.copy(), np.zeros(len(theta))), options, implicit=implicit)
        drive(run, Repeated(course, events))
        found.append(run.result(course.at(TIMES)))
    whole, parts = found
    assert whole.complete
    assert whole.steps == parts.steps == 200
    moved = np.ptp(whole.record.eta, axis=0)
    assert (moved > 1e-3).all()
    # Implicit steps begin anew with the accelerations of an event, which costs a little of their own error.
    assert_allclose(parts.record.eta, whole.record.eta, rtol=0, atol=(1e-4 if implicit else 1e-13) * moved.max())


def test_rigid_links_move_alike_in_one_event_and_in_several():
    machine = supple.load(EXAMPLES / "serial-flexible" / "mechanism.yaml")
    here, times = supple.assemble(machine, "home"), np.linspace(0.0, 2e-3, 5)
    still, none = np.zeros(len(here.theta)), np.zeros((2, len(machine.actuators)))
    acting = Continuous(
        linear_between(tuple(machine.actuators), times[[0, -1]], none, 0.0, 2e-3),
        prescribe_motion(here, None, 0.0, 2e-3, 1e-4),
    )
    found = []
    for events in ([4], [1, 4]):
        run = LinkRun(here, times, still, StepOptions(1e-4))
        drive(run, Repeated(acting, events))
        found.append(run.result())
    whole, parts = found
    assert whole.steps == parts.steps == 20
    assert_array_equal(parts.time, whole.time)
    for name in whole.coordinates:
        moved = np.ptp(whole.coordinates[name])
        assert_allclose(parts.coordinates[name], whole.coordinates[name], rtol=0, atol=1e-2 * moved + 1e-12)
