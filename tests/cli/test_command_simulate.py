"""`supple simulate`."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple as api

KEYS = {"time", "outputs", "energy", "coordinates", "complete", "reason", "steps"}


@pytest.fixture
def four_bar(four_bar):
    """Without limits, which a free crank leaves, and with all kernels compiled, which is told on standard error."""
    four_bar.write_text(four_bar.read_text().replace(", limits: [-1.75, 1.75]", ""))
    assert api.simulate(api.load(four_bar), until=1e-3, step=1e-3).reaction("A").force.shape == (2, 3)
    return four_bar


def test_it_prints_what_the_simulation_gives(supple, four_bar):
    said = supple(
        "simulate", four_bar, "--until", "0.2s", "--step", "2ms", "--at", "home", "--rates", "crank=2", "--json"
    )
    assert (said.status, said.err) == (0, "")
    found = said.object
    run = api.simulate(api.load(four_bar), until=0.2, step=2e-3, start="home", rates={"crank": 2.0})
    assert found.keys() >= KEYS
    assert_allclose(found["time"], run.time)
    assert set(found["outputs"]) == {"E.x", "E.z"}
    for name in ("outputs", "coordinates", "rates", "energy", "inputs"):
        for signal, values in getattr(run, name).items():
            assert_allclose(found[name][signal], values, rtol=1e-12, atol=1e-15, err_msg=f"{name} {signal}")
    assert (found["complete"], found["reason"], found["steps"]) == (True, "", 100)
    assert found["units"] == {"crank": "rad", "E.x": "m", "E.z": "m"}


def test_it_is_readable(supple, four_bar):
    said = supple("simulate", four_bar, "--until", "100ms", "--reactions", "A,B")
    assert said.status == 0
    for text in ("four-bar: 0.1 s in 100 steps", "coordinate", "rad/s", "E.z", "largest force", "balance"):
        assert text in said.out


def test_without_a_sensor_the_coordinates_are_the_outputs(supple, four_bar):
    text = four_bar.read_text().replace("sensors:\n  E: {position: E}\n", "")
    four_bar.write_text(text)
    found = supple("simulate", four_bar, "--until", "10ms", "--json").object
    assert found["outputs"] == found["coordinates"]
    assert set(found["outputs"]) == {"crank"}


def test_without_coordinates_the_joints_are(supple, four_bar):
    text = four_bar.read_text().replace("sensors:\n  E: {position: E}\n", "")
    text = text.replace("actuators:\n  crank: {joint: A}\n", "").replace("configurations:\n  home: {crank: 0.3}\n", "")
    four_bar.write_text(text)
    found = supple("simulate", four_bar, "--until", "10ms", "--json").object
    assert found["coordinates"] == {}
    assert set(found["outputs"]) == {"A", "B", "D", "E"}
    assert "output" in supple("simulate", four_bar, "--until", "10ms").out


@pytest.mark.parametrize(
    ("options", "start"),
    [((), None), (("--start", "rest"), None), (("--start", "home"), 0.3), (("--at", "crank=20deg"), np.radians(20)),
     (("--start", "home", "--at", "crank=0.5"), 0.5)],
)  # fmt: skip
def test_it_starts_where_it_is_told(supple, four_bar, options, start):
    found = supple("simulate", four_bar, "--until", "2ms", *options, "--json").object
    expected = api.assemble(api.load(four_bar)).theta[0] if start is None else start
    assert_allclose(found["coordinates"]["crank"][0], expected, atol=1e-12)


def test_from_equilibrium_it_does_not_move(supple, four_bar):
    four_bar.write_text(four_bar.read_text() + "springs:\n  hold: {joint: A, stiffness: 5, rest: 0.3}\n")
    found = supple(
        "simulate", four_bar, "--until", "0.3s", "--start", "equilibrium", "--inputs", "crank=0.4", "--json"
    ).object
    angle = np.array(found["coordinates"]["crank"])
    assert_allclose(angle, angle[0], atol=1e-10)
    assert abs(angle[0] - 0.3) > 0.01


def test_inputs_are_numbers_or_a_table(supple, four_bar, tmp_path):
    constant = supple("simulate", four_bar, "--until", "0.1", "--inputs", "crank=2*1.5", "--json").object
    assert_allclose(constant["inputs"]["crank"], 3.0)
    table = tmp_path / "torque.csv"
    table.write_text("time,crank\n0,3\n0.05,3\n\n0.1,3\n")
    sampled = supple("simulate", four_bar, "--until", "0.1", "--inputs", table, "--json").object
    assert_allclose(sampled["coordinates"]["crank"], constant["coordinates"]["crank"], atol=1e-12)
    table.write_text("time,crank\n0,0\n0.1,3\n")
    ramp = supple("simulate", four_bar, "--until", "0.1", "--inputs", table, "--json").object
    assert_allclose(ramp["inputs"]["crank"], 30.0 * np.array(ramp["time"]), atol=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ':1: the first column must be time (got "")'),
        ("time,cranc\n0,1\n1,1\n", ':1: unknown actuator "cranc"; did you mean "crank"'),
        ("time,crank\n0,1\n0,2\n", ":3: time: times must increase, but 0 s follows 0 s"),
        ("time,crank\n0,1\n1,inf\n", ':3: column "crank": "inf" is not a number'),
        ("time,crank\n0,1\n1,__import__('os').getcwd()\n", ':3: column "crank": "__import__(\'os\').getcwd()" is not'),
        ("time,crank\n0,1\n1\n", ":3: expected 2 values in the row (got 1)"),
        ("time,crank\n0,1\n", "the table has 1 row of numbers, but "),
    ],
)
def test_a_wrong_table_is_told_with_its_line(supple, four_bar, tmp_path, text, message):
    table = tmp_path / "torque.csv"
    table.write_text(text)
    said = supple("simulate", four_bar, "--until", "0.1", "--inputs", table)
    assert said.status == 1
    assert message in said.err
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        ((), 2, "--until"),
        (("--until", "soon"), 1, "--until"),
        (("--until", "-1s"), 1, "must be positive (got -1 s); give a duration"),
        (("--until", "1", "--step", "0"), 1, "above 0 s and at most 1 s, the duration (got 0 s)"),
        (("--until", "1", "--rates", "cranc=2"), 1, 'did you mean "crank"'),
        (("--until", "1", "--rates", "2"), 2, "NAME=VALUE"),
        (("--until", "1", "--inputs", "cranc=2"), 1, 'unknown actuator "cranc"'),
        (("--until", "1", "--inputs", "nowhere.csv"), 1, "nowhere.csv: the file does not exist"),
        (("--until", "1", "--start", "hoem"), 1, 'unknown configuration "hoem"'),
        (("--until", "1", "--reactions", "Q"), 1, 'unknown joint "Q"'),
        (("--until", "1", "--motion", "swing"), 1, 'unknown motion "swing"'),
        (("--until", "1", "--spectral-radius", "2"), 1, "from 0 to 1"),
        (("--until", "1", "--tolerance", "-1"), 1, "give a number above 0"),
        (("--until", "0.01", "-o", "no/such/folder/x.csv"), 1, "cannot be written"),
        (("--until", "0.01", "--plot", "x.nonsense"), 1, "x.nonsense: not a picture format; use .png"),
    ],
)
def test_what_makes_no_sense_is_refused(supple, four_bar, folder, options, status, message):
    said = supple("simulate", four_bar, *options)
    assert said.status == status
    assert message in said.err
    assert "Traceback" not in said.err


def test_a_prescribed_motion_is_followed(supple, four_bar):
    text = "motions:\n  swing: {coordinates: {crank: {from: 0.3, amplitude: 0.4, frequency: 2}}, duration: 0.5}\n"
    four_bar.write_text(four_bar.read_text() + text)
    found = supple("simulate", four_bar, "--motion", "swing", "--json").object
    t = np.array(found["time"])
    assert_allclose(t[-1], 0.5)  # as long as the motion lasts
    assert_allclose(found["coordinates"]["crank"], 0.3 + 0.4 * np.sin(4 * np.pi * t), atol=1e-10)
    assert np.abs(found["driving_forces"]["crank"]).max() > 0.1


def test_driving_forces_have_a_least_and_a_largest_value(supple, four_bar):
    text = "motions:\n  swing: {coordinates: {crank: {from: 0.3, amplitude: 0.4, frequency: 2}}, duration: 0.5}\n"
    four_bar.write_text(four_bar.read_text() + text)
    run = api.simulate(api.load(four_bar), motion="swing", until=0.5)
    said = supple("simulate", four_bar, "--motion", "swing").out.splitlines()
    head = next(k for k, line in enumerate(said) if line.startswith("driving force"))
    assert said[head].split() == ["driving", "force", "minimum", "maximum"]
    name, least, _, _, largest, _, _ = said[head + 2].split()
    assert name == "crank"
    forces = run.driving_forces["crank"]
    assert_allclose([float(least), float(largest)], [forces.min(), forces.max()], rtol=1e-5)


def test_a_run_into_a_dead_end_gives_what_it_has(supple, four_bar):
    text = "motions:\n  too-far: {coordinates: {crank: {from: 1.5, rate: 1}}, duration: 1}\n"
    four_bar.write_text(four_bar.read_text() + text)
    said = supple("simulate", four_bar, "--motion", "too-far", "--json")
    assert said.status == 3
    found = said.object
    assert found["complete"] is False
    assert "dead point" in found["reason"]
    assert_allclose(found["coordinates"]["crank"], 1.5 + np.array(found["time"]), atol=1e-10)
    assert 0.29 < found["time"][-1] < 0.3
    assert said.err.startswith("error: results end at 0.299 s: ")
    for_people = supple("simulate", four_bar, "--motion", "too-far")
    assert for_people.status == 3
    assert "coordinate" in for_people.out


def test_results_go_to_a_table_and_a_picture(supple, four_bar, tmp_path):
    table, picture = tmp_path / "results.csv", tmp_path / "results.png"
    said = supple(
        "simulate",
        four_bar,
        "--until",
        "0.05",
        "--output-step",
        "10ms",
        "--reactions",
        "B",
        "-o",
        table,
        "--plot",
        picture,
    )
    assert said.status == 0
    with table.open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 6
    for column in ("time", "E.x", "crank", "crank.rate", "crank.input", "B.force.x", "B.moment.y", "energy.balance"):
        assert np.isfinite([float(row[column]) for row in rows]).all()
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_tolerance_chooses_the_steps(supple, four_bar):
    options = ("--until", "1s", "--step", "20ms", "--output-step", "0.1s", "--json")
    rough, fine = (supple("simulate", four_bar, *options, "--tolerance", text).object for text in ("1e-5", "1e-7"))
    assert rough["steps"] < fine["steps"]


def test_leaving_the_limits_is_warned_of(supple, four_bar):
    four_bar.write_text(four_bar.read_text().replace("{joint: A}", "{joint: A, limits: [-0.1, 1.75]}"))
    said = supple("simulate", four_bar, "--until", "0.3", "--at", "crank=0", "--json")
    assert said.status == 0
    assert 'warning: actuator "crank" is at' in said.err
    assert said.object["complete"]


@pytest.mark.filterwarnings("always::supple.diagnostics.SuppleWarning")
def test_a_step_too_long_for_the_motion_is_told_everywhere(supple, tmp_path):
    """1 kg on 1e8 N/m: on standard error, in the lines for people and in the object for scripts."""
    file = tmp_path / "stiff.yaml"
    file.write_text(
        "supple: 1\npoints: {slide: [0, 0, 0]}\nbodies: {mass: {mass: 1, inertia: [1e-3, 1e-3, 1e-3]}}\n"
        "joints: {slide: {prismatic: [ground, mass], axis: x}}\n"
        "springs: {spring: {joint: slide, stiffness: 1e8}}\ncoordinates: [slide]\n"
    )
    options = ("simulate", file, "--until", "20ms", "--at", "slide=1mm")
    said = supple(*options, "--step", "1ms", "--json")
    assert said.status == 0
    assert said.err.startswith("warning: the energy balance has an error of 45 %")
    assert (said.object["balanced"], said.object["tolerance"]) == (False, None)
    assert said.object["energy_defect"] == pytest.approx(0.45, abs=0.01)
    assert "45 % of the energy exchanged" in supple(*options, "--step", "1ms").out
    quiet = supple(*options, "--json")
    assert (quiet.err, quiet.object["balanced"]) == ("", True)
