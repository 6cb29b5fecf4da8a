"""A drive that yields is what a hub with an elastic weld about the axis is, without the hub."""

import numpy as np
import pytest
from driven_mechanisms import BEAMS, RIGID, five_bar, spatial_arm
from numpy.testing import assert_allclose
from scipy.linalg import eigh

import supple
from supple.diagnostics import SuppleWarning

# A deflection has 1e-8 of the inertia that moves with it (`drives.DEFLECTION`): an error of ω² of as much.
CLOSE = 1e-7


@pytest.fixture(scope="module")
def both():
    """The five-bar with drives, and with hubs of the motors' inertia."""
    return tuple(supple.loads(five_bar(hubs=hubs)) for hubs in (False, True))


@pytest.mark.parametrize("at", ["home", "side"])
def test_frequencies_with_locked_and_free_actuators(both, at):
    driven, hub = (supple.modes(made, at, count=6) for made in both)
    assert_allclose(driven.frequencies_hz, hub.frequencies_hz, rtol=CLOSE)
    driven, hub = (supple.modes(made, at, count=6, free_actuators=True) for made in both)
    # Two motions that gravity alone holds: what rounds in dense matrices with axial modes of 1e11 /s² is 1e-5 of them.
    assert_allclose(driven.frequencies_hz[:2], hub.frequencies_hz[:2], rtol=1e-4)
    assert_allclose(driven.frequencies_hz[2:], hub.frequencies_hz[2:], rtol=CLOSE)


def test_energy_of_a_mode_is_in_the_drives(both):
    """Half the deformation each in the lowest modes of a hub's gear and of a drive, and words say so."""
    driven, hub = (supple.modes(made, "home", count=2, preload=False).energy for made in both)
    for side in ("left", "right"):
        assert_allclose(driven.joints[side], hub.joints[f"{side}_gear"], rtol=1e-6)
    assert_allclose(driven.elastic, 1.0, rtol=1e-6)
    assert 'joint "left"' in driven.words()[0]


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("method", ["direct", "modal"])
def test_responses(both, free, method):
    inputs = ["tool.x", "left" if free else "left.acceleration"]
    lines = [5.0, 20.0, 21.2, 25.0, 60.0, 400.0]
    for damping in (None, {"structural": 0.02}, {"rayleigh": (1.0, 1e-5)}):
        driven, hub = (
            supple.frf(made, "side", inputs, ["tool.x", "tool.z", "encoder"], lines, free_actuators=free,
                       method=method, damping=damping).values for made in both
        )  # fmt: skip
        size = np.abs(hub).max(axis=(1, 2), keepdims=True)
        assert np.abs((driven - hub) / size).max() < 1e-6  # rounding of free motions as above


def test_local_models(both):
    driven, hub = (supple.local(made, "side", internal_modes=2, tracking="subspace", germ="home") for made in both)
    # The largest displacement of a mode is positive: hubs do not change which that is.
    for name in ("M", "K", "christoffel", "damping", "force", "dforce", "input_map"):
        expected = getattr(hub, name)
        assert_allclose(getattr(driven, name), expected, rtol=0, atol=CLOSE * np.abs(expected).max(), err_msg=name)
    for name, output in hub.outputs.items():
        assert_allclose(driven.outputs[name].modes, output.modes, rtol=0, atol=CLOSE, err_msg=name)


def test_the_motor_is_on_the_motors_side(both):
    """θ is the motor's angle: its actuator, encoder, inertia and friction see nothing of the deflection."""
    model = supple.local(both[0], "side", internal_modes=2)
    assert_allclose(model.input_map, np.eye(4)[:, :2], atol=1e-10)
    assert_allclose(model.outputs["encoder"].modes, 0.0, atol=1e-10)
    heavier = supple.loads(five_bar(hubs=False), parameters={"motor": 1.25})
    other = supple.local(heavier, "side", internal_modes=2)
    assert_allclose(other.M - model.M, np.diag([1.0, 1.0, 0.0, 0.0]), atol=1e-9)


def test_linear_models(both):
    models = (supple.linearize(made, "side", internal_modes=2) for made in both)
    driven, hub = (np.sort_complex(np.linalg.eigvals(model.A)) for model in models)
    assert_allclose(driven, hub, rtol=0, atol=CLOSE * np.abs(hub).max())


def test_static_answers(both):
    driven, hub = (supple.compliance(made, "side", ["tool"]).values for made in both)
    assert_allclose(driven, hub, rtol=1e-10)
    driven, hub = (supple.deflection(made, "side") for made in both)
    assert_allclose(driven.of("tool.z"), hub.of("tool.z"), rtol=1e-10)
    assert_allclose(driven.of("encoder"), 0.0, atol=1e-15)
    assert driven.holding_forces == pytest.approx(hub.holding_forces, rel=1e-10)


@pytest.mark.slow
def test_reduced_models(both):
    region = {"left": (1.9, 2.1), "right": (1.0, 1.15)}
    driven, hub = (
        supple.reduce(
            made, region=region, checks=200, internal_modes=2, germ="home", fit="chebyshev", degree=3, boxes=1
        )
        for made in both
    )
    at = [2.03, 1.08]
    one, two = driven.evaluate(at), hub.evaluate(at)
    for name in ("M", "K", "damping", "force", "input_map"):
        expected = getattr(two, name)
        assert_allclose(getattr(one, name), expected, rtol=0, atol=CLOSE * np.abs(expected).max(), err_msg=name)


def test_rigid_analyses_take_a_drive_as_stiff(both):
    plain = supple.loads("\n".join(
        line.replace(", viscous: 0.5,", ", viscous: 0.5}") for line in five_bar(hubs=False).splitlines()
        if "drive:" not in line))  # fmt: skip
    driven, ideal = (supple.local(made, "side", rigid=True) for made in (both[0], plain))
    assert driven.rigid == ("left_arm", "right_arm", "left", "right")
    assert_allclose(driven.M, ideal.M, rtol=1e-14)
    assert supple.check(both[0]).bodies == supple.check(plain).bodies
    assert supple.check(both[0]).elastic_joints == {"left": ("drive",), "right": ("drive",)}
    assert both[0].elastic


# Hubs of 1e-6 kg m² turn with links of 0.02 and more, and carry 1e-5 kg of 3: an error of ω² of about 1e-4.
SMALL = 2e-4


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("first", ["revolute", "prismatic"])
@pytest.mark.parametrize("bodies", [RIGID, BEAMS, (RIGID[0], BEAMS[1])], ids=["rigid", "beams", "mixed"])
def test_arms_in_space(bodies, first, turned):
    """Locked, free under gravity (the forces at rest act on motors' sides), and at rest."""
    driven, hub = (supple.loads(spatial_arm(bodies, first=first, turned=turned, hubs=hubs)) for hubs in (False, True))
    for at in (None, "bent"):
        one, two = (supple.modes(made, at, count=2).frequencies_hz for made in (driven, hub))
        assert_allclose(one, two, rtol=SMALL)
        one, two = (supple.modes(made, at, count=2, free_actuators=True).frequencies_hz for made in (driven, hub))
        assert_allclose(one, two, rtol=SMALL, atol=5e-3)  # a slide across gravity has no frequency but rounding
        one, two = (supple.deflection(made, at).of("tip.z") for made in (driven, hub))
        assert_allclose(one, two, rtol=SMALL)


def test_two_hinges_by_hand():
    """Rigid links on drives, locked, without loads: ω² of (diag(k), M(θ)), M the rigid arm's."""
    made = supple.loads(spatial_arm(RIGID, first="revolute", turned=False, hubs=False))
    M = supple.local(made, "bent", rigid=True).M
    expected = np.sqrt(eigh(np.diag([3000.0, 2000.0]), M, eigvals_only=True)) / (2.0 * np.pi)
    assert_allclose(supple.modes(made, "bent", count=2, preload=False).frequencies_hz, expected, rtol=1e-7)


def test_damping_of_a_drive():
    """With c = βk in both drives, and nothing else elastic, D is β K without loads; motors feel none of it, and have no
    inertia."""
    made = supple.loads(spatial_arm(RIGID, first="revolute", turned=True, hubs=False, damped=True))
    with pytest.warns(SuppleWarning, match="has no inertia"):
        model = supple.local(made, "bent", internal_modes=2, preload=False)
    assert_allclose(model.damping[2:, 2:], 1e-3 * model.K[2:, 2:], atol=1e-7 * model.K.max())
    assert_allclose(model.damping[:2], 0.0, atol=1e-9)


def test_a_drive_without_a_motor_transmits_only_what_its_actuator_does():
    """Free, without rotor inertia and gravity: the links move as if rigid, the motors' angle less by force over k."""
    made = supple.loads(spatial_arm(RIGID, first="revolute", turned=False, hubs=False)).replace(gravity=None)
    lines = [3.0, 40.0]
    H = supple.frf(made, "bent", ["one", "two"], ["one", "two"], lines, free_actuators=True, damping=0).values
    omega = 2.0 * np.pi * np.array(lines)
    rigid = -np.linalg.inv(supple.local(made, "bent", rigid=True).M) / omega[:, None, None] ** 2
    assert_allclose(H, rigid + np.diag([1 / 3000.0, 1 / 2000.0]), rtol=0, atol=1e-6 * np.abs(rigid[1]).max())


@pytest.mark.parametrize(("wrong", "said"), [
    ("drive: {stiffness: 0}", "cannot be 0"),
    ("drive: {stiffness: 10, dampnig: 1}", "dampnig"),
    ("drive: {slide: {stiffness: 10}}", "slide"),
])  # fmt: skip
def test_wrong_drives(wrong, said):
    text = five_bar(hubs=False).replace("drive: {stiffness: k_gear, damping: c_gear}", wrong, 1)
    with pytest.raises(supple.InputError, match=said):
        supple.check(supple.loads(text))


def test_a_drive_has_one_axis():
    text = five_bar(hubs=False).replace("T: {revolute: [left_rod, right_rod]}",
                                        "T: {free: [left_rod, right_rod], drive: {stiffness: 3}}")  # fmt: skip
    with pytest.raises(supple.InputError, match=r"a free joint cannot have a drive.*revolute, prismatic, cylindrical"):
        supple.loads(text)
