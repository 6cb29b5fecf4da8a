"""Joint stiffnesses that depend on the load: those under what the joints carry at rest."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator
from scipy.optimize import fsolve

import supple
from supple.diagnostics import InputError, SuppleNote, SuppleWarning

ARM = """
supple: 1
gravity: [0, 0, -9.81]
points: {O: [0, 0, 0], P: [0.6, 0, 0]}
bodies: {arm: {rod: [O, P], mass: 3, inertia: [0.001, 0.1, 0.1]}}
joints: {O: {revolute: [ground, arm], axis: x, stiffness: {rx: ABOUT, ry: ABOUT}}}
actuators: {turn: {joint: O}}
sensors: {tip: {position: P}}
"""
ABOUT = "{over: load, at: [0, 5, 10 N m, 20], values: [1e3, 2e3, 2.5e3, 4e3]}"
CURVE = PchipInterpolator([0, 5, 10, 20], [1e3, 2e3, 2.5e3, 4e3])
MOMENT = 3 * 9.81 * 0.3
NOTE = pytest.mark.filterwarnings("ignore::supple.diagnostics.SuppleNote")


def arm(stiffness: str = ABOUT) -> supple.Mechanism:
    return supple.loads(ARM.replace("ABOUT", stiffness))


@NOTE
def test_where_statics_tells_the_load_the_table_tells_the_stiffness():
    """The axes of the hinge along x are others of y and z: one of them takes the moment, the other nothing."""
    with pytest.warns(SuppleNote, match=r'joint "O": stiffness "r[xy]" .* N m/rad, under 8.829 N m at rest'):
        sag = supple.deflection(arm(), [0.0])
    assert sag.of("tip.z") == pytest.approx(-0.6 * MOMENT / float(CURVE(MOMENT)), rel=1e-8)


@NOTE
def test_modes_responses_and_compliance_have_that_stiffness():
    loaded, unloaded = float(CURVE(MOMENT)), 1e3
    inertia = 0.1 + 3 * 0.3**2
    wanted = np.sort(np.sqrt([loaded / inertia, unloaded / inertia])) / (2 * np.pi)
    assert supple.modes(arm(), [0.0], count=2).frequencies_hz == pytest.approx(wanted, rel=1e-8)
    assert supple.compliance(arm(), [0.0], "tip.z").values[0, 0] == pytest.approx(0.36 / loaded, rel=1e-8)
    at = supple.frf(arm(), [0.0], "tip.z", "tip.z", [1.0]).values[0, 0, 0]
    assert at == pytest.approx(0.36 / (loaded - (2 * np.pi) ** 2 * inertia), rel=1e-8)


THREE = """
supple: 1
plane: xz
gravity: [0, -9.81]
points: {A: [0, 0], B: [0.4, 0], C: [1, 0]}
bodies: {bar: {mass: 10, center: [0.45, 0], inertia: 1}}
joints:
  A: {revolute: [ground, bar], stiffness: {x: 1e5, z: {over: load, at: [0, 20, 60], values: [1e4, 3e4, 9e4]}}}
  B: {revolute: [ground, bar], stiffness: {x: 1e5, z: {over: load, at: [0, 100], values: [2e4, 2e5]}}}
  C: {revolute: [ground, bar], stiffness: {x: 1e5, z: 5e4}}
"""


@NOTE
def test_joints_that_share_a_load_agree_with_what_they_take():
    """Three springs under a bar, two of which stiffen: forces, sizes and stiffnesses solved together by hand."""
    bar = supple.loads(THREE)
    x, w = np.array([0.0, 0.4, 1.0]), 10 * 9.81
    curves = [PchipInterpolator([0, 20, 60], [1e4, 3e4, 9e4]), PchipInterpolator([0, 100], [2e4, 2e5])]

    def off(unknown: np.ndarray) -> list[float]:
        u, tilt, *k = unknown[0] * 1e-3, unknown[1] * 1e-3, unknown[2] * 1e4, unknown[3] * 1e4, 5e4
        forces = -np.array(k) * (u + tilt * x)
        told = [curve(abs(f)) for curve, f in zip(curves, forces, strict=False)]
        return [forces.sum() - w, forces @ x - 0.45 * w, told[0] / 1e4 - unknown[2], told[1] / 1e4 - unknown[3]]

    u, tilt, *_ = fsolve(off, [-1.0, 0.0, 3.0, 8.0], xtol=1e-13)
    sag = supple.deflection(bar)
    assert sag.of("bar.A.z") == pytest.approx(u * 1e-3, rel=1e-6)
    assert sag.of("bar.C.z") == pytest.approx((u + tilt) * 1e-3, rel=1e-6)


@NOTE
def test_beyond_the_table_and_for_many_postures_it_is_told():
    with pytest.warns(
        SuppleWarning, match=r'joint "O": stiffness "rx".* from 0 to 5 N m; 8\.829 N m is outside, the end value'
    ):
        supple.modes(arm("{over: load, at: [0, 5], values: [1e3, 2e3]}"), [0.0], count=2)
    with pytest.raises(InputError, match=r'joint "O": .*depends on the load.*; request one configuration'):
        supple.modes(arm(), [[0.0], [0.1]], count=2)
    with pytest.raises(InputError, match=r'"rx" depends on the load.*modes, frf, deflection or compliance at one'):
        supple.local(arm(), [0.0], internal_modes=1)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("{over: load, at: [-1, 5], values: [1e3, 2e3]}", r"load of -1.*start at 0 or above"),
        ("{over: load, at: [1 mm, 5], values: [1e3, 2e3]}", "a torque"),
        ("{over: laod, at: [1, 5], values: [1e3, 2e3]}", '"load"'),
    ],
)
def test_what_is_wrong_is_told(table, told):
    with pytest.raises(InputError, match=told):
        supple.check(arm(table))
