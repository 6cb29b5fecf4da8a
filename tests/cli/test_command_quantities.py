"""Values with units on the command line: of the dimension that is asked for, or refused with what was expected."""

from __future__ import annotations

import pytest

from supple.cli.options import parse_damping
from supple.diagnostics import InputError
from supple.frequency_response.command import frequency_lines

FOUR_BAR = """
supple: 1
name: four-bar
plane: xz
gravity: [0, -9.81]
parameters: {crank: 500 mm, coupler: 0.5218}
points: {A: [0, 0], B: [crank, 0], E: [0.54, 0.52], D: [1, 0]}
bodies:
  crank:    {rod: [A, B], length: crank,   line_mass: 0.54 kg/m}
  coupler:  {rod: [B, E], length: coupler, line_mass: 0.54}
  follower: {rod: [D, E], length: 0.6936,  line_mass: 0.54}
joints:
  A: {revolute: [ground, crank]}
  B: {revolute: [crank, coupler]}
  E: {revolute: [coupler, follower]}
  D: {revolute: [follower, ground]}
actuators: {crank: {joint: A, limits: [-1.75, 1.75]}}
motions: {turn: {coordinates: {crank: {from: 10 deg, rate: 60 rpm}}, duration: 0.1}}
"""


@pytest.fixture
def four_bar(tmp_path):
    file = tmp_path / "four-bar.yaml"
    file.write_text(FOUR_BAR)
    return str(file)


ANGLE, RATE = "an angle (rad) is expected", "an angular velocity (rad/s) is expected"
TIME, FREQUENCY = "a time (s) is expected", "a frequency (Hz) is expected"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("simulate FILE --until 1m", f'--until: "1m" is a length (m), but {TIME}'),
        ("simulate FILE --until 1kg", f'--until: "1kg" is a mass (kg), but {TIME}'),
        ("simulate FILE --until 1s --step 1Hz", f'--step: "1Hz" is a frequency (Hz), but {TIME}'),
        ("simulate FILE --until 1s --output-step 1mm", f'--output-step: "1mm" is a length (m), but {TIME}'),
        ("simulate FILE --until 1s --rates crank=3Hz", f'--rates crank: "3Hz" is a frequency (Hz), but {RATE}'),
        ("simulate FILE --until 1s --inputs crank=3N", "a torque (N m) is expected"),
        ("assemble FILE --at crank=12mm", f'--at crank: "12mm" is a length (m), but {ANGLE}'),
        ("check FILE --set crank=3kg", "a length (m) is expected"),
        ("check FILE --set coupler=3deg", 'body "coupler": "length": "coupler" is an angle'),
        ("modes FILE --map crank=0:3s", f'--map crank: "3s" is a time (s), but {ANGLE}'),
        ("reduce FILE -o x.rom --region crank=0:3mm", f'--region crank: "3mm" is a length (m), but {ANGLE}'),
        ("inverse FILE --motion turn --bounds 60N", "a torque (N m) is expected"),
        ("inverse FILE --motion turn --bounds crank=60N", "a torque (N m) is expected"),
        ("inverse FILE --motion turn --rate-bounds 60Nm", "is expected"),
        ("inverse FILE --motion turn --step 1mm", TIME),
        ("linearize FILE --rates crank=1m/s", RATE),
        ("linearize FILE --accelerations crank=1rad/s", "an angular acceleration (rad/s²) is expected"),
    ],
)
def test_a_wrong_unit_is_refused_with_what_was_expected(supple, four_bar, arguments, message):
    found = supple(*(four_bar if word == "FILE" else word for word in arguments.split()))
    assert found.status == 1
    assert message in " ".join(found.err.split())


def test_frequencies_are_in_hertz_and_damping_is_a_ratio():
    assert list(frequency_lines("1 kHz", "2000", 2)) == [1000.0, 2000.0]
    with pytest.raises(InputError, match=r'--from: "3rpm" is an angular velocity'):
        frequency_lines("3rpm", "4Hz", 2)
    with pytest.raises(InputError, match=r'--to: "4s" is a time'):
        frequency_lines("3Hz", "4s", 2)
    assert parse_damping("rayleigh=0.1/s,2us") == {"rayleigh": (0.1, 2e-6)}
    for text in ("modal=1deg", "1mm", "rayleigh=0.1s,2us"):
        with pytest.raises(InputError, match="is expected"):
            parse_damping(text)


@pytest.mark.parametrize("at", ["crank=12deg", "crank=0.2094395102", "crank=209.4395102mrad", "crank=12°"])
def test_units_and_plain_numbers_mean_the_same(supple, four_bar, at):
    found = supple("assemble", four_bar, "--at", at, "--json")
    assert found.object["coordinates"]["crank"] == pytest.approx(0.2094395102, rel=1e-9)  # digits of the text


@pytest.mark.parametrize("value", ["0.45", "450mm", "45 cm"])
def test_a_parameter_is_set_in_any_unit_of_its_dimension(supple, four_bar, value):
    found = supple("check", four_bar, "--set", f"crank={value}", "--json")
    assert found.status == 0
