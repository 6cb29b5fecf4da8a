"""Coefficients along parameters of the file, against differences of mechanisms that are read again."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.formats.mechanism_file import loads
from supple.formats.varied_mechanism import VariedMechanism, vary_mechanism
from supple.formulations.coefficients import get_coefficients
from supple.kinematics.closure import assemble
from supple.parameterization.parameter_slopes import KNOWN, parameter_slopes
from supple.parameterization.rigid_rows import rigid_layout, rigid_rows

EXAMPLES = Path(__file__).parents[2] / "examples"

LOADED = """
supple: 1
name: loaded
plane: xz
gravity: [0, -9.81]
parameters: {crank: 0.5, coupler: 0.5218, rate: 40, relaxed: 0.3, heavy: 0.7, push: 3, drag: 0.4, gear: 5,
  half: crank/2}
points: {A: [0, 0], B: [crank, 0], E: [0.54, 0.52], D: [1, 0], H: [half, 0]}
bodies:
  crank: {rod: [A, B], length: crank, line_mass: 0.54}
  coupler: {rod: [B, E], length: coupler, line_mass: 0.54}
  follower: {rod: [D, E], length: 0.6936, line_mass: 0.54}
frames: {hook: {on: ground, at: [0.2, 0.8]}, middle: {on: coupler, local: [coupler/2, 0.01]}}
joints:
  A: {revolute: [ground, crank], viscous: 0.3*drag, dry: 0.1, motor: {inertia: 1e-4, gear: gear}}
  B: {revolute: [crank, coupler]}
  E: {revolute: [coupler, follower]}
  D: {revolute: [ground, follower]}
point_masses: {load: {at: middle, mass: heavy, inertia: 0.01*heavy}}
springs: {s: {between: [hook, middle], stiffness: rate, length: relaxed}}
dampers: {d: {between: [hook, middle], damping: drag}}
forces: {f: {at: middle, force: [push, 1], follower: true}}
actuators: {crank: {joint: A, limits: [-1.75, 1.75]}}
rest: {crank: 0}
sensors: {E: {position: E}, far: {between: [hook, middle]}}
"""


def extrapolated(values, at, step):
    """∂/∂μ by central differences, twice extrapolated."""

    def central(h):
        return (values(at + h) - values(at - h)) / (2.0 * h)

    coarse, fine, finest = (central(step / k) for k in (1.0, 2.0, 4.0))
    first, second = (4.0 * fine - coarse) / 3.0, (4.0 * finest - fine) / 3.0
    return (16.0 * second - first) / 15.0


def compared(mechanism, name, theta):
    """Of each coefficient: the largest departure, of the largest slope or what would be one per mille of the value."""
    here = assemble(mechanism, theta)
    layout = rigid_layout(here.rest.numbering, get_coefficients(here.rest))
    found, at = parameter_slopes(here, name), mechanism.parameters[name]

    def rows(value):
        return rigid_rows(assemble(vary_mechanism(mechanism, {name: value}), theta), efforts=False)[0]

    expected, values = extrapolated(rows, at, 4e-3 * abs(at)), rows(at)
    worst = {}
    for part in KNOWN:
        mine, theirs, value = (np.abs(layout.part(item, part)) for item in (found - expected, expected, values))
        if mine.size:
            size = max(theirs.max(), 1e-3 * value.max() / abs(at), 1e-12)
            worst[part] = mine.max() / size
    return worst


@pytest.mark.parametrize("name", ["crank", "coupler", "rate", "relaxed", "heavy", "push", "drag", "gear"])
def test_every_coefficient_has_its_slope(name):
    worst = compared(loads(LOADED), name, np.array([[0.3], [-0.8]]))
    assert set(worst) == set(KNOWN)
    assert max(worst.values()) < 1e-9, worst


@pytest.mark.parametrize(("example", "name"), [("orthoglide", "leg"), ("stewart", "base")])
def test_slopes_of_machines(example, name):
    mechanism = supple.load(EXAMPLES / example / "mechanism.yaml")
    theta = assemble(mechanism).theta
    worst = compared(mechanism, name, theta + 0.02 * np.linspace(-1.0, 1.0, len(theta)))
    assert max(worst.values()) < 1e-8, worst


def test_members_of_a_family_share_what_they_have_in_common():
    loaded = VariedMechanism(loads(LOADED), ("coupler", "heavy"))
    member = loaded.at((0.55, 0.8))
    for name in ("coupler", "heavy"):
        theta = np.array([[0.3]])
        found = parameter_slopes(assemble(member, theta), name)
        alone = parameter_slopes(assemble(loaded.build((0.55, 0.8)), theta), name)
        known = np.isfinite(alone)
        assert_allclose(found[known], alone[known], rtol=1e-9, atol=1e-9 * np.abs(alone[known]).max())


def test_parameters_that_follow_from_others_follow():
    mechanism = loads(LOADED, parameters={"crank": 0.45})
    assert vary_mechanism(mechanism, {"heavy": 1.0}).parameters["half"] == 0.225
    assert_allclose(vary_mechanism(mechanism, {"crank": 0.4}).parameters["half"], 0.2)


def test_what_has_no_slope_is_refused():
    kinked = loads(LOADED.replace("mass: heavy,", "mass: 'max(heavy, 0.7)',"))
    with pytest.raises(
        supple.InputError, match=r'"heavy": no derivative exists at 0\.7: inertia .*without min, max and abs'
    ):
        parameter_slopes(assemble(kinked), "heavy")
    with pytest.raises(supple.InputError, match=r'unknown parameter "heavi".*heavy'):
        parameter_slopes(assemble(kinked), "heavi")
