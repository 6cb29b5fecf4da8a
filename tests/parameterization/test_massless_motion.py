"""A mode that only a motor without inertia would keep apart from θ leaves M singular, and that is said."""

import pytest

import supple
from supple.diagnostics import SuppleWarning

ARM = """
supple: 1
name: two
plane: xz
points: {{O: [0, 0], A: [1, 0], B: [2, 0]}}
bodies: {{a: {{rod: [O, A], mass: 2}}, b: {{rod: [A, B], mass: 1}}}}
joints: {{O: {{revolute: [ground, a]}}, A: {{revolute: [a, b], drive: {{stiffness: 1e4}}{motor}}}}}
actuators: {{q1: {{joint: O, limits: [-1, 1]}}, q2: {{joint: A, limits: [-1, 1]}}}}
"""
MESSAGE = r"q2, mode1.*no inertia .*motors of A.*inertia"


def arm(motor=""):
    return supple.loads(ARM.format(motor=motor))


@pytest.mark.parametrize("at", [[0.1, 0.2], [[0.1, 0.2], [0.3, 0.2]]])
def test_a_drive_without_a_motor_is_named(at):
    with pytest.warns(SuppleWarning, match=MESSAGE):
        supple.local(arm(), at, internal_modes=1)


def test_a_reduced_model_says_it_too():
    with pytest.warns(SuppleWarning, match="no inertia"):
        supple.reduce(arm(), checks=200, internal_modes=1, fit="quadratic", boxes=[1, 1], progress=False)


def test_with_a_motor_nothing_is_said():
    supple.local(arm(", motor: {inertia: 1e-4, gear: 50}"), [0.1, 0.2], internal_modes=1)
