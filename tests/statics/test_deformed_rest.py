"""Rest of a mechanism with all its deformation: runs start from it without a jolt; loads of any size."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.diagnostics import InputError, NumericalError, SuppleWarning

ARM = supple.loads("""\
supple: 1
name: arm
plane: xz
gravity: [0, -9.81]
points: {O: [0, 0], P: [1, 0], Q: [1.5, 0]}
materials: {steel: {youngs_modulus: 210e9, density: 7800, poisson: 0.3}}
sections: {bar: {rectangle: [20 mm, 6 mm]}}
bodies:
  link: {beam: [O, P], section: bar, material: steel, elements: 4}
  fork: {rod: [P, Q], mass: 0.5}
joints:
  O: {revolute: [ground, link]}
  P: {weld: [link, fork], elastic: {angle: 200}}
actuators: {O: {joint: O, limits: [-3, 1]}}
springs: {coil: {joint: O, stiffness: 40}}
sensors: {Q: {position: fork.Q}}
scenarios:
  stay: {start: equilibrium, inputs: {O: 3}, until: 20 ms}
  twang: {deflection: {Q.z: 5}, until: 20 ms}
""")
WEIGHT = 9.81 * (1.0 * 0.02 * 0.006 * 7800 + 0.5)


def test_an_arm_on_a_coil_rests_where_moments_balance():
    here = supple.equilibrium(ARM)
    assert here.rigid == ()
    assert supple.equilibrium(ARM, rigid=True).rigid == ("link", "P")
    run = supple.simulate(ARM, start=here, until=0.02)
    assert run.rigid == ()
    # Nothing moves: speeds are rounding of where it rests, kinetic energy of what its weight could do.
    assert np.abs(run.outputs["Q.z"] - here.frame("fork.Q").position[2]).max() < 1e-12
    assert run.energy["kinetic"].max() < 1e-18 * WEIGHT
    # The pin carries the weight, and the coil the moment of all of it about the pin.
    hung = supple.deflection(ARM, {"O": float(here.theta[0])}, large=True)
    assert_allclose(hung.holding_forces["O"], 0.0, atol=1e-9 * WEIGHT)
    assert_allclose(hung.reactions["O"].force, [0.0, 0.0, WEIGHT], atol=1e-9 * WEIGHT)


def test_scenarios_start_at_rest_or_from_a_deflection_under_loads():
    assert supple.simulate(ARM, "stay").energy["kinetic"].max() < 1e-18 * WEIGHT
    let_go = supple.simulate(ARM, "twang", motion={"O": lambda t: 0.0})
    down = supple.deflection(ARM, large=True)
    stiffness = 5.0 / (let_go.outputs["Q.z"][0] - down.of("Q.z"))
    assert_allclose(stiffness, 5.0 / _tip_compliance(5.0), rtol=0.02)  # softer by what the weight pulls in
    assert let_go.energy["kinetic"].max() > 1e-3  # it swings


def _tip_compliance(force):
    """Small deflection of Q for a force there: the beam under force and moment at its end, and the elastic weld."""
    EI, length, arm, k = 210e9 * 0.02 * 0.006**3 / 12.0, 1.0, 0.5, 200.0
    moment = force * arm
    end = force * length**3 / (3 * EI) + moment * length**2 / (2 * EI)
    slope = force * length**2 / (2 * EI) + moment * length / EI
    return end + arm * (slope + moment / k)


def test_prescribed_coordinates_are_held_and_the_rest_settles():
    run = supple.simulate(ARM, start="equilibrium", until=0.02, motion={"O": lambda t: -0.5})
    assert run.energy["kinetic"].max() < 1e-18 * WEIGHT
    held = supple.deflection(ARM, {"O": -0.5}, large=True)
    assert_allclose(run.driving_forces["O"], held.holding_forces["O"], rtol=1e-9)
    kept = supple.equilibrium(ARM, {"O": -0.5}, held=["O"])
    assert_allclose(kept.frame("fork.Q").position, held.deformed_configuration.frame("fork.Q").position, atol=1e-12)
    with pytest.raises(InputError, match='unknown coordinate "P"'):
        supple.equilibrium(ARM, held=["P"])


def test_small_loads_deflect_as_the_linear_model_says():
    light = ARM.replace(gravity=(0.0, -1e-4))
    small, large = (supple.deflection(light, large=large) for large in (False, True))
    assert_allclose(large.of("Q.z"), small.of("Q.z"), rtol=1e-5)
    assert_allclose(large.holding_forces["O"], small.holding_forces["O"], rtol=1e-5)
    for body in ("link", "fork"):
        scale = np.abs(small.displacements(body)).max()
        assert_allclose(large.displacements(body), small.displacements(body), atol=1e-4 * scale)
    for joint in ("O", "P"):
        assert_allclose(large.reactions[joint].force, small.reactions[joint].force, atol=1e-6 * 1e-5 * WEIGHT)
    assert set(large.table().columns) == set(small.table().columns)


def test_loads_that_no_step_can_reach_end_in_one_message():
    crushed = ARM.replace(forces={"push": supple.Force(at="link.P", force=(-3e9, 1e9))})
    with pytest.raises(
        NumericalError,
        match=r'"arm": no equilibrium was found: .* \d\S* % of the loads, .* step of \d\S* % .*reduce the loads',
    ):
        supple.deflection(crushed, large=True)


def test_elements_bent_too_far_are_told():
    coarse = ARM.replace(
        bodies={**ARM.bodies, "link": ARM.bodies["link"].model_copy(update={"elements": 1})},
        joints={**ARM.joints, "O": supple.Joint(weld=("ground", "link"))}, actuators={}, springs={}, scenarios={},
        forces={"push": supple.Force(at="fork.Q", force=(0.0, -150.0))},
    )  # fmt: skip
    with pytest.warns(SuppleWarning, match=r"bent by .* rad .*limit .* rad.* more elements"):
        supple.deflection(coarse, large=True)
