"""Every analysis has the same damping: responses line by line and from modes, local, linear and reduced models."""

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

sys.path.insert(0, str(Path(__file__).parents[1] / "formulations" / "elastic_rest"))
from driven_mechanisms import five_bar

MODES = 8
LINES = np.linspace(3.0, 60.0, 24)
OUTPUTS = ["tool.x", "tool.z"]
BY_FREQUENCY = "{modal: [{frequency: 20 Hz, ratio: 0.01}, {frequency: 30 Hz, ratio: 0.05}]}"

LAWS = {
    "one ratio": ("{modal: 0.015}", ""),
    "by number": ("{modal: [0.01, 0.03]}", ""),
    "by name": ("{modal: {mode2: 0.02, mode1: 0.01, others: 0.05}}", ""),
    "by frequency": (BY_FREQUENCY, ""),
    "Rayleigh": ("{rayleigh: [2.0, 1e-4]}", ""),
    "material": ("{modal: 0.01}", "{modal: 0.1}"),
    "Rayleigh of a material": ("{modal: 0.001}", "{rayleigh: [2.0, 1e-4]}"),
}


def damped(law: str, steel: str = "", *, hubs: bool = False) -> supple.Mechanism:
    """A five-bar with drives, two arms of aluminium and a rod of steel; nothing is damped but by these laws."""
    text = five_bar(hubs=hubs).replace("c_gear: 5", "c_gear: 0").replace(", viscous: 0.5", "")
    material = f"  steel: {{youngs_modulus: 210 GPa, density: 7800{', damping: ' + steel if steel else ''}}}\nsections:"
    text = text.replace("sections:", material)
    text = text.replace(
        "{rod: [B, T], length: dist, mass: 0.35}", "{beam: [B, T], length: dist, section: arm, material: steel}"
    )
    return supple.loads(text.replace("damping: {modal: 0.015}", f"damping: {law}" if law else ""))


def poles(model, s):
    """Of the deformation, θ locked: by rising frequency."""
    M, K, D = (x[s:, s:] for x in (model.M, model.K, model.damping))
    zero, one = np.zeros_like(M), np.eye(len(M))
    found = np.linalg.eigvals(np.block([[zero, one], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]]))
    found = found[found.imag > 0.0]
    return found[np.argsort(np.abs(found))]


def responses(model, *, free):
    """Of the outputs to a force at the tool and one of the left motor, or its led acceleration: (L, outputs, 2)."""
    w = 2.0 * np.pi * LINES[:, None, None]
    A = model.K + 1j * w * model.damping - w**2 * model.M
    C = np.array([np.concatenate([model.outputs[name].rigid, model.outputs[name].modes]) for name in OUTPUTS])
    if free:
        return C @ np.linalg.solve(A, np.column_stack([C[0], model.input_map[:, 0]]))
    held = A[:, 2:, 2:]
    pushed = C[:, 2:] @ np.linalg.solve(held, C[0, 2:, None])
    led = (C[:, 2:] @ np.linalg.solve(held, -A[:, 2:, :1]) + C[:, :1]) / (1j * w) ** 2
    return np.concatenate([pushed, led], axis=2)


@pytest.mark.parametrize(
    ("free", "preload"), [(False, True), (False, False), (True, False)], ids=["loaded", "locked", "free"]
)
@pytest.mark.parametrize("name", LAWS)
def test_responses_are_those_of_the_local_model(name, free, preload):
    """Eight modes reach 2.4 kHz, lines 60 Hz: what the others add is (60/2400)² of their small static part."""
    made = damped(*LAWS[name])
    local = supple.local(made, "side", internal_modes=MODES, preload=preload)
    expected = responses(local, free=free)
    inputs = ["tool.x", "left" if free else "left.acceleration"]
    for method in ("direct", "modal"):
        found = supple.frf(
            made, "side", inputs, OUTPUTS, LINES, free_actuators=free, method=method, preload=preload
        ).values
        size = np.abs(expected).max(axis=(0, 1))
        # From modes, those above 180 Hz follow undamped: a material with ζ = 0.1 there is missed by 60/400 of 1e-4.
        assert (np.abs(found - expected).max(axis=(0, 1)) / size).max() < (1e-5 if method == "direct" else 2e-4)


@pytest.mark.parametrize(("law", "expected"), [
    ("{modal: 0.015}", [0.015, 0.015, 0.015]),
    ("{modal: [0.01, 0.03]}", [0.01, 0.03, 0.03]),
    ("{modal: {mode1: 0.01, mode3: 0.02}}", [0.01, 0.0, 0.02]),
    (BY_FREQUENCY, [0.01, 0.01 + 0.004 * (25.8999308 - 20.0), 0.05]),
    ("{structural: 0.02}", [0.01, 0.01, 0.01]),
])  # fmt: skip
def test_poles_have_the_ratios_that_were_measured(law, expected):
    """Of the modes without loads, which do not damp."""
    found = poles(supple.local(damped(law), "side", internal_modes=MODES, preload=False), 2)[:3]
    assert_allclose(-found.real / np.abs(found), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("law", ["{structural: 0.06}", "{modal: 0.03}"])
def test_a_material_damps_a_mode_as_far_as_its_deformation_is_in_it(law):
    """ζ_r = Σ ζ_m U_m / U: the modal strain energy method, to first order in ζ."""
    made = damped("", law)
    found = poles(supple.local(made, "side", internal_modes=MODES), 2)[:4]
    share = supple.modes(made, "side", count=4).energy.strain["left_rod"]
    assert_allclose(-found.real / np.abs(found), 0.03 * share, rtol=0, atol=2e-3 * 0.03)


def lossy(eta: float, joints: float, *, hubs: bool = False) -> supple.Mechanism:
    """The five-bar, all its materials and its joints that give way (or their drives) with a loss factor."""
    made = damped("", f"{{structural: {eta}}}" if eta else "", hubs=hubs)
    parts = {name: part.model_copy(update={"elastic_loss": joints}) for name, part in made.joints.items()
             if part.yields}  # fmt: skip
    assert len(parts) == 2
    alu = made.materials["alu"].model_copy(update={"damping": supple.Damping(structural=eta) if eta else None})
    return made.replace(joints={**made.joints, **parts}, materials={**made.materials, "alu": alu}, gravity=None)


@pytest.mark.parametrize("hubs", [False, True], ids=["drives", "welds"])
def test_loss_factors_of_all_joints_and_materials_are_that_of_the_whole(hubs):
    """H = ηK either way: line by line, of the local model, and of the full equations in time."""
    whole, parts = (lossy(eta, eta, hubs=hubs) for eta in (0.0, 0.04))
    whole = whole.replace(damping={"structural": 0.04})
    one, two = (supple.frf(made, "side", "tool.x", OUTPUTS, LINES).values for made in (whole, parts))
    assert_allclose(one, two, rtol=0, atol=1e-9 * np.abs(one).max())
    one, two = (supple.local(made, "side", internal_modes=3).damping for made in (whole, parts))
    assert_allclose(one, two, rtol=0, atol=1e-9 * np.abs(one).max())
    one, two = (supple.small_motions(made, count=2).damping_ratios for made in (whole, parts))
    assert_allclose(one, two, rtol=1e-6)


def test_a_joint_damps_a_mode_as_far_as_its_deformation_is_in_it():
    found = poles(supple.local(lossy(0.0, 0.06, hubs=True), "side", internal_modes=MODES), 2)[:4]
    share = sum(supple.modes(lossy(0.0, 0.06, hubs=True), "side", count=4).energy.joints.values())
    assert share.max() > 0.3
    assert_allclose(-found.real / np.abs(found), 0.03 * share, rtol=0, atol=2e-3 * 0.03)


def test_a_body_of_two_materials():
    """Half of a clamped beam lossy, half not: its loss is that of the half, by energy of the modes' own shapes."""
    text = """
supple: 1
plane: xz
points: {O: [0, 0], P: [0.5, 0], Q: [1, 0]}
materials:
  quiet: {youngs_modulus: 70 GPa, density: 2700, damping: {structural: 0.04}}
  loud:  {youngs_modulus: 70 GPa, density: 2700}
sections: {bar: {rectangle: [20 mm, 10 mm]}}
bodies:
  bar:
    beams:
      - {from: O, to: P, section: bar, material: FIRST, theory: timoshenko}
      - {from: P, to: Q, section: bar, material: SECOND, theory: timoshenko}
joints: {O: {revolute: [ground, bar]}}
actuators: {O: {joint: O}}
sensors: {tip: {position: bar.Q}}
"""

    def ratio(first, second):
        made = supple.loads(text.replace("FIRST", first).replace("SECOND", second))
        found = poles(supple.local(made, internal_modes=4), 1)[:3]
        return -found.real / np.abs(found)

    both, inner, outer = ratio("quiet", "quiet"), ratio("quiet", "loud"), ratio("loud", "quiet")
    assert_allclose(both, 0.02, rtol=1e-9)
    assert_allclose(inner + outer, both, rtol=1e-4)  # coupling by damping is of second order in ζ
    # Static-like first mode of a cantilever: ∫(1-x)² over the inner half is 7/8 of it; the mode itself is a little off.
    assert 0.9 < inner[0] / both[0] < 0.98


@pytest.mark.parametrize("name", ["by number", "by frequency", "material"])
def test_reduced_and_linear_models_have_it_too(name):
    made = damped(*LAWS[name]).replace(gravity=None)  # nothing sags, so that both have the same M
    rom = supple.reduce(made, region={"left": (1.7, 1.8), "right": (0.85, 0.9)}, internal_modes=2, fit="chebyshev",
                        degree=4, boxes=1, germ="side", checks=200)  # fmt: skip
    at = [1.75, 0.88]
    here = supple.local(made, at, internal_modes=2, tracking="subspace", germ="side")
    size = np.abs(here.damping).max()
    assert_allclose(rom.evaluate(at).damping, here.damping, rtol=0, atol=1e-5 * size)  # the fit's error
    # How fast vibrations decay, actuators free; where they lie is told by laws of linear models.
    one, two = (vibrating(model) for model in (rom.linearize(at), supple.linearize(made, at, internal_modes=2)))
    assert_allclose(one.real, two.real, rtol=1e-4)


def vibrating(model):
    """Poles of a linear model above 5 Hz, by rising frequency."""
    found = np.linalg.eigvals(model.A)
    found = found[found.imag > 10.0 * np.pi]
    return found[np.argsort(found.imag)]


def test_equal_frequencies_share_their_ratios():
    law = supple.Damping(modal=(0.01, 0.03, 0.02))
    assert_allclose(law.ratios([10.0, 10.0, 50.0]), [0.02, 0.02, 0.02], rtol=1e-12)
    assert_allclose(law.ratios([[10.0, 20.0, 50.0, 90.0]]), [[0.01, 0.03, 0.02, 0.02]], rtol=1e-12)
    near = [law.ratios([10.0, 10.0 * (1 + d), 50.0])[0] for d in (0.0, 0.01, 0.02, 0.04, 0.08)]
    assert near == sorted(near, reverse=True)


@pytest.mark.parametrize(("law", "said"), [
    ("{modal: []}", "at least one ratio"),
    ("{modal: [0.01, -0.02]}", "-0.02"),
    ("{modal: {first: 0.01}}", '"first" is not a mode: .*mode1'),
    ("{modal: [{frequency: 30, ratio: 0.01}, {frequency: 20, ratio: 0.01}]}", "20 Hz follows 30 Hz"),
    ("{modal: [{frequency: 30, ration: 0.01}]}", "ratio"),
    ("{modal: 0.01, structural: 0.02}", "exactly one model: modal, structural or rayleigh"),
])  # fmt: skip
def test_wrong_laws(law, said):
    with pytest.raises(supple.InputError, match=said) as refused:
        damped(law)
    assert "damping" in str(refused.value)


def test_a_materials_ratio_is_one_number():
    with pytest.raises(supple.InputError, match="material must be one number"):
        damped("", "{modal: [0.01, 0.02]}")
