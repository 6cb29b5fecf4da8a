"""A drive that yields moves as a hub with the motor's inertia does that is welded elastically to the arm."""

import sys
from pathlib import Path

import numpy as np
import pytest

import supple

sys.path.insert(0, str(Path(__file__).parents[1] / "elastic_rest"))  # the mechanisms stand beside the tests there

from driven_mechanisms import RIGID, five_bar, spatial_arm


@pytest.mark.slow
def test_a_drive_is_a_hub_on_an_elastic_weld():
    """Of the motion 1e-6: a deflection has 1e-8 of the inertia that moves with it, and steps end where they may."""
    pair = [supple.loads(five_bar(hubs=hubs).replace("damping: {modal: 0.015}\n", "")) for hubs in (False, True)]
    torques = {"left": lambda t: 30.0 * np.sin(60.0 * t), "right": -5.0}
    driven, hub = (supple.simulate(made, None, torques, "home", until=0.04, step=4e-4) for made in pair)
    assert driven.rigid == hub.rigid == ()
    for name in ("tool.x", "tool.z", "encoder"):
        np.testing.assert_allclose(driven.outputs[name], hub.outputs[name], atol=1e-6 * np.ptp(hub.outputs[name]))
    for run, joints in ((driven, ("left", "right")), (hub, ("left_gear", "right_gear"))):
        shares = run.strain_energy
        assert set(shares) == {"left_arm", "right_arm", *joints}
        np.testing.assert_allclose(sum(shares.values()), run.energy["strain"], atol=1e-9 * run.energy["strain"].max())
    for part in ("kinetic", "potential", "lost", "actuators"):
        size = np.abs(hub.energy["kinetic"]).max()
        np.testing.assert_allclose(driven.energy[part], hub.energy[part], atol=1e-5 * size)


@pytest.mark.parametrize("turned", [False, True])
def test_a_motor_without_inertia_gives_way_at_once(turned):
    """Such a motor is where its force balances the spring, from the start: energy balances. A hub of 1e-6 kg m² in its
    place rings instead, which the tip hardly sees."""
    texts = [spatial_arm(RIGID, first="revolute", turned=turned, hubs=hubs, damped=True) for hubs in (False, True)]
    pair = [supple.loads(text) for text in texts]
    torques = {"one": 3.0, "two": -1.0}
    driven = supple.simulate(pair[0], None, torques, "bent", until=0.04, step=1e-3)
    assert driven.energy_defect < 1e-5
    with pytest.warns(supple.SuppleWarning, match="energy balance"):
        hub = supple.simulate(pair[1], None, torques, "bent", until=0.04, step=1e-3)
    for name in ("tip.x", "tip.y", "tip.z"):
        assert np.abs(driven.outputs[name] - hub.outputs[name]).max() < 1e-4 * np.ptp(hub.outputs["tip.z"])
