"""Scenarios in files of their own, and what is wrong with them."""

import pytest

import supple
from supple.description.scenario import Scenario
from supple.formats.scenario_file import load_scenario, scenario_in

ARM = supple.loads("""\
supple: 1
plane: xz
parameters: {push: 3 N}
materials: {steel: {youngs_modulus: 210 GPa, density: 7800}}
sections: {bar: {rectangle: [20 mm, 10 mm]}}
points: {O: [0, 0], P: [1, 0]}
bodies: {link: {beam: [O, P], section: bar, material: steel, elements: 2}}
joints: {O: {revolute: [ground, link]}}
actuators: {motor: {joint: O}}
sensors: {tip: {position: link.P}, encoder: {joint: O}}
configurations: {home: {motor: 0.1}}
scenarios: {fall: {until: 1}}
""")
ROD = ARM.replace(bodies={"link": {"rod": ("O", "P"), "mass": 1.0}}, materials={}, sections={})


def test_a_file_says_what_an_entry_of_the_mechanism_does(tmp_path):
    file = tmp_path / "tap.yaml"
    file.write_text("""\
start: home
rates: {motor: 10 deg/s}
deflection: {tip.z: -push}
inputs: {motor: {chirp: 2 N m, from: 1 Hz, to: 20 Hz, phase: 90 deg}}
damping: {ratio: 0.01}
until: 500 ms
""")
    found = load_scenario(file, ARM)
    assert found.deflection == {"tip.z": -3.0}
    assert found.inputs["motor"].size == 2.0
    assert found.damping.ratio == 0.01
    assert scenario_in(ARM, str(file)) == found
    assert scenario_in(ARM, found) == found
    assert scenario_in(ARM, "fall").until == 1.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("until: 1\ninputs: {motr: 1}", 'tap.yaml:2: scenario "tap": unknown actuator "motr"; did you mean "motor"'),
        ("until: 1\ndeflection: {tip.y: 1}", 'unknown output "tip.y" of a sensor; did you mean'),
        ("until: 1\ndeflection: {tip.z: 1 N m}", "torque.* force .* is expected"),
        ("until: 1\ndeflection: {encoder: 1 N}", "force.*torque.* is expected"),
        ("until: 1\ninputs: {motor: {step: 1 N}}", "force.*torque.* is expected"),
        ("until: 1\ninputs: {motor: {step: 1, sine: 1}}", "one of step, sine, chirp"),
        ("until: 1\ninputs: {motor: {chirp: 1, from: 1}}", "a chirp needs to"),
        ("until: 1\ninputs: {motor: {step: 1, frequency: 2}}", "a step has no frequency"),
        ("until: 1\ninputs: {motor: {step: 1, at: 0.5, until: 0.2}}", r"until .0\.2 s. must be after at .0\.5 s."),
        ("until: 1\ninputs: {motor: {stepp: 1}}", '.* did you mean "step"'),
        ("until: 1\ndamping: {ratio: 0.01, rayleigh: [0, 1]}", "one of rayleigh and ratio"),
        ("until: 1\ndamping: {rayleigh: [0, 1], frequency: 3}", "frequency .* with ratio"),
        ("start: equilibrium\nuntil: 1\ndeflection: {tip.z: 1}", "not both"),
        ("until: 1\nmotion: swing", 'unknown motion "swing"'),
        ("untill: 1", 'unknown key "untill"; did you mean "until"'),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path, text, words):
    file = tmp_path / "tap.yaml"
    file.write_text(text)
    with pytest.raises(supple.InputError, match=words) as caught:
        load_scenario(file, ARM)
    assert f"{file}:" in str(caught.value)


def test_what_is_rigid_is_neither_deflected_nor_damped():
    for given in ({"deflection": {"tip.z": 1.0}}, {"damping": {"ratio": 0.01}}):
        with pytest.raises(
            supple.InputError, match=r"(deflection|damping) .*no elastic part; remove (deflection|damping)"
        ):
            scenario_in(ROD, Scenario(until=1.0, **given))


def test_a_name_that_is_not_there():
    with pytest.raises(supple.InputError, match=r'scenario "fal".*did you mean "fall"'):
        scenario_in(ARM, "fal")
