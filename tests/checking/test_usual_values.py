"""Numbers that are allowed and unusual are questioned by `check`, each with what is usual; usual ones are not."""

from __future__ import annotations

import pytest

import supple
from supple.checking.check import unusual_values

ARM = """
supple: 1
name: arm
plane: xz
gravity: [0, -9.81]
points: {O: [0, 0], P: [0.5, 0], Q: [1, 0]}
materials: {steel: {youngs_modulus: 210 GPa, density: 7850}}
sections: {bar: {tube: [20 mm, 16 mm]}}
bodies:
  upper: {solid: {tube: [20 mm, 15 mm, 500 mm], density: 2700, axis: x}, at: O}
  fore: {beam: [P, Q], section: bar, material: steel}
joints:
  O: {revolute: [ground, upper], motor: {inertia: 1e-4, gear: 50}}
  P: {revolute: [upper, fore]}
damping: {modal: 0.02}
actuators:
  shoulder: {joint: O, limits: [-90 deg, 90 deg], force_limits: [-20, 20]}
  elbow: {joint: P}
configurations: {home: {shoulder: 30 deg, elbow: 0}}
motions: {lift: {coordinates: {shoulder: {to: 1}}, duration: 2 s}}
scenarios:
  drop: {until: 1 s, step: 1 ms, inputs: {shoulder: {step: 2, at: 0.5 s}}}
  led: {motion: lift, step: 1 ms}
"""
CASES = [
    ("gear: 50", "gear: 0", 'joint "O": the gear ratio of its motor is 0', "usually 3 to 300"),
    ("density: 7850", "density: 0", 'material "steel": density is 0', "7850 kg/m³ (steel)"),
    ("density: 7850", "density: 7.85", 'material "steel": density is 7.85 kg/m³', "write the unit: 7.85 g/cm**3"),
    ("density: 7850", "density: 7.85e6", "more than that of any material", "7850 kg/m³ (steel)"),
    ("density: 2700", "density: 2.7", 'body "upper": density is 2.7 kg/m³', "write the unit: 2.7 g/cm**3"),
    ("210 GPa", "210", 'material "steel": youngs_modulus is 210 Pa', "210 GPa"),
    ("modal: 0.02", "modal: 5", "damping: a modal ratio of 5 is more than critical damping", "5 % is 0.05"),
    ("modal: 0.02", "modal: [0.01, 0.4]", "damping: a modal ratio of 0.4 is unusually high", "0.002 to 0.1"),
    ("modal: 0.02", "modal: {mode1: 5, others: 0.01}", "a modal ratio of 5", "5 % is 0.05"),
    ("modal: 0.02", "modal: [{frequency: 9, ratio: 5}]", "a modal ratio of 5", "5 % is 0.05"),
    ("modal: 0.02", "structural: 2", "damping: a loss factor of 2", "0.002 to 0.2 is usual"),
    ("[-20, 20]", "[5, 10]", 'actuator "shoulder": force_limits [5, 10] exclude 0', "[-10, 10] is usual"),
    ("[-20, 20]", "[-10, -5]", "exclude 0, so that it always pulls", "[-10, 10] is usual"),
    ("shoulder: 30 deg", "shoulder: 100 deg", 'in configuration "home" actuator "shoulder" is at', "outside its"),
    ("1 s, step: 1 ms", "1 s, step: 2 s", 'scenario "drop": step 2 s is longer than the run of 1 s', "usual are 1 ms"),
    ("lift, step: 1 ms", "lift, step: 3 s", 'scenario "led": step 3 s is longer than the run of 2 s', "usual are 1 ms"),
    ("at: 0.5 s", "at: 5 s", 'the force of "shoulder" begins at 5 s', "the run ends at 1 s"),
    ("-9.81]", "-9810]", "gravity is 9810 m/s²; 9.81 m/s² is usual", "write the unit: 9810 mm/s**2"),
    ("[20 mm, 16 mm]", "[20 mm, 2 mm]", 'section "bar": inner 2 mm is less than a third of outer 20 mm', "wall"),
    ("[20 mm, 15 mm,", "[20 mm, 5 mm,", 'body "upper": tube radii: inner 5 mm is less than a third', "wall"),
]  # fmt: skip


def test_usual_numbers_are_not_questioned():
    assert unusual_values(supple.loads(ARM)) == ()


@pytest.mark.parametrize(("usual", "unusual", "said", "advice"), CASES, ids=[case[1] for case in CASES])
def test_an_unusual_number_is_questioned(usual, unusual, said, advice):
    assert usual in ARM
    notes = supple.check(supple.loads(ARM.replace(usual, unusual))).notes
    (note,) = (item for item in notes if said in item)
    assert advice in note


def test_the_advice_can_be_followed():
    """Units as the notes write them are understood, and questions end."""
    text = ARM.replace("density: 7850", "density: 7.85 g/cm**3").replace("-9.81]", "-9810 mm/s**2]")
    made = supple.loads(text.replace("tube: [20 mm, 16 mm]", "tube: {outer: 20 mm, wall: 8 mm}"))
    assert unusual_values(made) == ()
    assert made.materials["steel"].density == pytest.approx(7850.0)
    assert made.gravity == pytest.approx((0.0, -9.81))


def test_limits_of_joints_and_actuators_hold_for_the_same_coordinate():
    """By the actuator's name or the joint's, of either's limits, lengths too; a place is not a coordinate."""
    text = """
supple: 1
plane: xz
points: {O: [0, 0]}
bodies: {cart: {mass: 1, center: [0, 0]}}
joints: {rail: {prismatic: [ground, cart], at: O, axis: x, limits: [0, 0.3]}}
actuators: {push: {joint: rail, limits: [0, 0.2]}}
configurations: {near: {push: 0.2}, far: {push: 0.25}, there: {cart.x: 0.1}, out: {push: -1 mm}}
"""
    notes = supple.check(supple.loads(text)).notes
    assert notes == (
        'in configuration "far" actuator "push" is at 0.25 m, outside its limits [0, 0.2]',
        'in configuration "out" actuator "push" is at -0.001 m, outside its limits [0, 0.2]',
        'in configuration "out" joint "rail" is at -0.001 m, outside its limits [0, 0.3]',
    )


def test_sections_are_reported_with_area_and_mass_per_metre():
    """π (20² - 16²)/4 mm² of steel, 7850 kg/m³."""
    found = supple.check(supple.loads(ARM))
    (section,) = found.sections
    assert section.area == pytest.approx(113.0973e-6, rel=1e-6)
    assert section.line_mass == {"steel": pytest.approx(0.887814, rel=1e-6)}
    assert "bar: tube, outer 20 mm, inner 16 mm: 113.1 mm², 0.8878 kg/m of steel" in found.summary()


def test_a_configuration_of_a_machine_without_coordinates_is_refused_when_it_is_asked_for():
    """Three actuators for a mobility of two: θ is not known."""
    machine = supple.loads(ARM.replace("elbow: {joint: P}", "elbow: {joint: P}\n  third: {joint: P}"))
    with pytest.raises(supple.InputError, match=r"no coordinates: .*actuators, 3, .*mobility; list .* coordinates:"):
        supple.assemble(machine, "home")


@pytest.mark.parametrize(("law", "said"), [
    ("{modal: 0.02}", ["Simulating the mechanism uses stiffness-proportional damping"]),
    ("{structural: 0.02}", ["Simulating the mechanism uses stiffness-proportional damping"]),
    ("{rayleigh: [0.4, 1e-5]}", []),
    ("{rayleigh: [0, 1e-5]}", []),
])  # fmt: skip
def test_damping_that_differs_in_time_is_noted(law, said):
    """One meaning is β alone; everything else is said before anything is computed."""
    found = [note for note in supple.check(supple.loads(ARM.replace("{modal: 0.02}", law))).notes if "damping" in note]
    assert len(found) == len(said)
    assert all(words in note for words, note in zip(said, found, strict=True))
