"""Dimensions: an algebra that scales as the values do, and numbers that stand only where they belong."""

from __future__ import annotations

import copy
import math
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import supple
from supple.description.quantities.arithmetic import parse
from supple.description.quantities.dimension import (
    ANGLE,
    CURRENT,
    FORCE,
    FREQUENCY,
    LENGTH,
    MASS,
    RATE,
    RATIO,
    STIFFNESS,
    TIME,
    TORQUE,
    TORSIONAL_STIFFNESS,
    Dimension,
    Measured,
    fits,
)
from supple.description.quantities.expression import dimension_of, evaluate_expression, quantity, resolve_parameters
from supple.diagnostics import InputError
from supple.formats.mechanism_file import loads, mechanism_of
from supple.formats.yaml_tree import read_tree

# ------------------------------------------------------------------------------------------------ the algebra

_products = st.recursive(
    st.sampled_from(["l", "m", "t", "i"]),
    lambda inner: st.one_of(
        st.builds("({} * {})".format, inner, inner),
        st.builds("({} / {})".format, inner, inner),
        st.builds("sqrt({})".format, inner),
        st.builds("({})**{}".format, inner, st.sampled_from([-2, -1, 2, 3])),
        st.builds("({0} + 2*{0})".format, inner),
        st.builds("hypot({0}, max({0}, {0}/3))".format, inner),
    ),
    max_leaves=5,
)


@given(_products)
def test_exponents_say_how_a_value_changes_with_the_units(text):
    """In other units of length, mass, time and current a value is λ^a μ^b τ^c ι^d times as large."""
    scales = (1.7, 0.6, 1.2, 0.9)

    def names(*factors):
        bases = {"l": (1.3, LENGTH), "m": (0.7, MASS), "t": (1.1, TIME), "i": (0.8, CURRENT)}
        return {
            name: Measured(value * factor, dimension, name)
            for factor, (name, (value, dimension)) in zip(factors, bases.items(), strict=True)
        }

    try:
        dimension = dimension_of(parse(text), names(1, 1, 1, 1), text)
        here, there = evaluate_expression(text, names(1, 1, 1, 1)), evaluate_expression(text, names(*scales))
    except InputError:  # a tower of powers
        return
    if not 1e-200 < abs(here) < 1e200 or not 1e-200 < abs(there) < 1e200:
        return
    expected = math.prod(scale ** float(power) for scale, power in zip(scales, dimension.exponents, strict=True))
    # Each of some tens of roundings is a relative 1e-16, and powers multiply it by at most 3^5.
    assert math.isclose(there / here, expected, rel_tol=1e-11)


_plain = st.recursive(
    st.sampled_from(["a", "b", "2", "0.3", "pi"]),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*/"), inner),
        st.builds("sin({})".format, inner),
        st.builds("atan2({}, {})".format, inner, inner),
        st.builds("sqrt({})".format, inner),
    ),
    max_leaves=6,
)


@given(_plain)
def test_plain_numbers_are_never_refused(text):
    """A file without units means what it always did, whatever its numbers stand for."""
    found = dimension_of(parse(text), {"a": 1.3, "b": 0.4}, text)
    assert found is None or found.plain
    assert all(fits(found, wanted) for wanted in (LENGTH, ANGLE, RATIO, TORQUE, FREQUENCY))


@pytest.mark.parametrize(
    ("text", "dimension"),
    [
        ("40 deg", ANGLE),
        ("2*l", LENGTH),
        ("l + 0.1", LENGTH),
        ("0.1 - l", LENGTH),
        ("l*plain", None),  # plain may be anything
        ("l/l2", RATIO),
        ("sin(40 deg)*l", LENGTH),
        ("5 N/mm", STIFFNESS),
        ("5 Nm/deg", TORSIONAL_STIFFNESS),
        ("60 rpm", RATE),
        ("3 Hz", FREQUENCY),
        ("sqrt(5 N/mm/(2 kg))", Dimension(0, 0, -1)),
        ("pi/4*l**2", Dimension(2, 0, 0, "angle or cycle")),
        ("l**1.5", Dimension(length=pytest.approx(1.5))),
        ("min(l, 3)", LENGTH),
        ("atan2(l, l2)", RATIO),
    ],
)
def test_dimensions_of_expressions(text, dimension):
    names = {"l": Measured(0.3, LENGTH, "300 mm"), "l2": Measured(0.4, LENGTH, "400 mm"), "plain": 0.5}
    assert dimension_of(parse(text), names, text) == dimension


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("0.3*40 deg*200 mm", LENGTH),  # an arc
        ("8 Nm/rad", TORQUE),
        ("8 Nm", TORSIONAL_STIFFNESS),
        ("3/s", RATE),
        ("3/s", FREQUENCY),
        ("2*pi*5 Hz", RATE),
        ("2*pi*5*Hz", RATE),
        ("1.2", MASS),
        ("pi/2", ANGLE),
        ("180 deg/s", RATE),
        ("2 kg*9.81 m/s**2", FORCE),
        ("2 kg * 9.81 m/s²", FORCE),
    ],
)
def test_what_fits(text, wanted):
    assert quantity(text, wanted) == quantity(text)


@pytest.mark.parametrize(
    ("text", "wanted", "message"),
    [
        ("1000 mm", MASS, r'"1000 mm" is a length \(m\), but a mass \(kg\) is expected'),
        ("40deg", LENGTH, r"is an angle \(rad\), but a length"),
        ("12mm", ANGLE, "is a length"),
        ("40deg", RATIO, "but a plain number is expected"),
        ("5 Hz", RATE, r"is a frequency \(Hz\), but an angular velocity \(rad/s\)"),
        ("60 rpm", FREQUENCY, r"is an angular velocity \(rad/s\), but a frequency \(Hz\)"),
        ("1e-9 kg m s", LENGTH, "is in kg m s, but"),
        ("9.81*2 kg", FORCE, r"9\.81\*2 kg.*add its unit"),
        ("1 m + 1 s", LENGTH, r'a length \(m\) and a time \(s\) cannot be added or compared in "1 m \+ 1 s"'),
        ("5 Hz + 3 rpm", RATE, "cannot be added"),
        ("max(1 m, 2 kg)", LENGTH, "cannot be added or compared"),
        ("sin(3 mm)", RATIO, r"argument of sin is a length"),
        ("exp(1 s)", RATIO, "argument of exp is a time"),
        ("2**(1 m)", RATIO, "an exponent is a length"),
        ("(1 m)**21", LENGTH, "power 21 .*at most 20"),
    ],
)
def test_what_does_not_fit_says_what_was_expected(text, wanted, message):
    with pytest.raises(InputError, match=message):
        quantity(text, wanted)


def test_a_measured_number_is_the_number():
    found = resolve_parameters({"a": "300 mm"})["a"]
    assert found == 0.3
    assert hash(found) == hash(0.3)
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):  # noqa: S301 - our own bytes
        assert (again, again.dimension, again.text) == (0.3, LENGTH, "300 mm")
    assert type(2 * found) is float


# ------------------------------------------------------------------------------------------------ in the file

MACHINE = """
supple: 1
name: everything
gravity: [0, 0, -9.81 m/s²]
parameters: {reach: 400 mm, half: reach/2, ratio: 0.5, payload: 2 kg}
points: {O: [0, 0, 0], P: [reach, 0, 0], Q: [reach + half, 0, 0], R: [1, 0, 0.3]}
materials: {steel: {youngs_modulus: 210 GPa, density: 7.8 g/cm**3, poisson: 0.3, shear_modulus: 80 GPa}}
sections:
  flat: {rectangle: [20 mm, 10 mm], shear_y: 0.8}
  table: {area: 200 mm**2, Iy: 1000 mm**4, Iz: 2000 mm**4, torsion: 3000 mm**4}
  tube: {tube: [30 mm, 26 mm]}
bodies:
  arm: {rod: [O, P], length: reach, mass: payload, center: half, inertia: [0.1 kg m², 0.1, 0.01]}
  link: {beam: [P, Q], section: flat, material: steel, elements: 3}
  frame:
    beams: [{from: Q, to: R, section: table, material: steel, offset: [1 mm, 2 mm]}]
  ram: {solid: {cylinder: [10 mm, 0.2], density: 7800 kg/m**3, center: [1, 0, 300 mm]}, at: R,
        rotation: {about: y, angle: 3 deg}}
frames: {tip: {on: ram, local: [0, 0, 50 mm]}}
joints:
  O: {revolute: [ground, arm], axis: y, limits: [-90 deg, 90 deg], rest: 2 deg, viscous: 0.1 Nm*s/rad, dry: 0.2 Nm,
      motor: {inertia: 3 kg*cm**2, gear: 100}, drive: {stiffness: 8 kNm/rad, damping: 5 Nm*s/rad}}
  P: {revolute: [arm, link], axis: y, elastic: {x: 1e7 N/m, rx: 1e4 Nm/rad}, elastic_damping: {x: 2 N*s/m, rx: 1}}
  Q: {weld: [link, frame]}
  R: {cylindrical: [frame, ram], axis: z, limits: {slide: [0, 300 mm], angle: [0, 1 rev]}, viscous: {slide: 3 N*s/m},
      motor: {slide: {inertia: 1e-4, gear: 2*pi/(5 mm)}}}
point_masses: {load: {at: tip, mass: 300 g, inertia: 1 kg*cm**2}}
damping: {rayleigh: [0.1/s, 2 us]}
springs:
  hinge: {joint: P, stiffness: 3 Nm/deg, rest: 10 deg}
  cable: {between: [tip, ground.O], stiffness: 5 N/mm, length: 800 mm}
dampers: {oil: {joint: R.slide, damping: 3 N*s/m}}
forces:
  weight: {at: tip, force: [0, 0, -3 N], moment: [1 Nm, 0, 0]}
  push: {joint: R.slide, force: 2 kN}
actuators:
  lift: {joint: O, limits: [-80 deg, 80 deg], force_limits: [-100 Nm, 100 Nm]}
  elbow: {joint: P}
  out: {joint: R.slide, limits: [0, 200 mm], force_limits: [-5 kN, 5 kN]}
  spin: {joint: R.angle}
rest: {lift: 1 deg, out: 5 mm}
configurations: {home: {lift: 10 deg, out: 50 mm}}
motions:
  go:
    coordinates:
      lift: {from: 1 deg, to: 20 deg, velocity: 10 rpm, acceleration: 2 rad/s², jerk: 30 rad/s³}
      out: {from: 5 mm, to: 20 mm, velocity: 0.3 m/s}
  shake: {coordinates: {lift: {amplitude: 1 deg, frequency: 3 Hz}, out: {rate: 1 mm/s}}, duration: 2 s}
scenarios:
  run: {start: {lift: 1 deg}, rates: {out: 1 mm/s}, inputs: {lift: [1 Nm, 2 Nm], out: 3 N}, times: [0 s, 1 s],
        until: 1 s, step: 1 ms}
"""


def numbers(data, path=()):
    """Paths of all values that may carry a unit."""
    free = ("supple", "name", "parameters", "axis", "about")  # a direction's components have the same unit, any
    if path and path[-1] in free:
        return
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from numbers(value, (*path, key))
        return
    names = {"reach": 0.4, "half": 0.2, "payload": 2.0}
    try:
        evaluate_expression(data, names) if isinstance(data, str) else float(data)
    except InputError:
        return
    yield path


PLACES = [path for path in numbers(read_tree(MACHINE, "machine").data) if path[-1] not in ("O", "P", "Q", "R")]


def test_quantities_of_the_right_dimension_are_read():
    mechanism = loads(MACHINE)
    assert mechanism.parameters["half"] == 0.2
    assert mechanism.joints["R"].motor["slide"].gear == pytest.approx(400 * math.pi)
    assert loads(supple.to_yaml(mechanism)) == mechanism  # SI, without units
    assert len(PLACES) > 110


@pytest.mark.parametrize("path", PLACES, ids=lambda path: ".".join(map(str, path)))
def test_every_number_refuses_a_wrong_unit(path):
    """One after another is replaced by what measures nothing; the error names its line."""
    tree = read_tree(MACHINE, "machine")
    here = tree.data
    for key in path[:-1]:
        here = here[key]
    here[path[-1]] = "1e-9 kg m s"
    with pytest.raises(InputError, match=r'"1e-9 kg m s" is in kg m s, but .* is expected') as raised:
        mechanism_of(tree)
    assert raised.value.line == tree.line(path)


def refusal(old: str, new: str) -> str:
    assert MACHINE.count(old) == 1
    with pytest.raises(InputError) as raised:
        loads(MACHINE.replace(old, new))
    line = MACHINE[: MACHINE.index(old)].count("\n") + 1
    assert raised.value.line == line
    return str(raised.value)


def test_refusals_in_the_file():
    assert '"mass": "half" is a length (m), but a mass (kg) is expected' in refusal("mass: payload", "mass: half")
    assert 'joint "O": "limits": "90 mm" is a length (m), but an angle (rad)' in refusal("-90 deg, 90 deg", "0, 90 mm")
    assert 'configuration "home": "out": "50 deg" is an angle' in refusal("out: 50 mm}}", "out: 50 deg}}")
    assert '"motor.slide.gear": "2*kg" is a mass' in refusal("2*pi/(5 mm)", "2*kg")
    assert 'lift.frequency": "3 rpm" is an angular velocity' in refusal("3 Hz", "3 rpm")
    assert 'parameter "half": a length (m) and a mass (kg) cannot be added' in refusal(
        "half: reach/2", "half: reach + kg"
    )


def test_parameters_keep_their_dimension_when_they_are_set():
    text = MACHINE
    assert loads(text, parameters={"payload": 3}).bodies["arm"].mass == 3.0
    assert loads(text, parameters={"payload": "300 g"}).bodies["arm"].mass == 0.3
    assert loads(text, parameters={"reach": 0.5}).parameters["half"] == 0.25
    with pytest.raises(InputError, match=r'parameter "payload": "3 mm" is a length .*the file has "2 kg"'):
        loads(text, parameters={"payload": "3 mm"})
    with pytest.raises(InputError, match=r'"payload": "reach" is a length'):
        loads(text, parameters={"payload": "reach"})


def test_parts_made_in_python_are_checked_as_well():
    pendulum = supple.Mechanism(
        name="pendulum", plane="xz", gravity=[0, -9.81], points={"O": [0, 0], "P": [1, 0]},
        bodies={"bar": supple.Body(rod=("O", "P"), mass="1 kg")},
        joints={"O": supple.Joint(revolute=("ground", "bar"), limits=("-10 mm", "10 mm"))},
    )  # fmt: skip
    with pytest.raises(InputError, match="is a length"):
        supple.assemble(pendulum)


def test_bundled_examples_without_units_in_the_way():
    """Plain numbers and units beside one another: all that we ship is still read."""
    folder = Path(supple.__file__).parent
    assert [loads(file.read_text("utf-8"), folder=file.parent) for file in folder.glob("**/starters/*.yaml")]
