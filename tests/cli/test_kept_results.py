"""Every answer that is a table can be kept: -o FILE writes it, --plot FILE draws it."""

import csv

import numpy as np
import pytest
from scipy.io import loadmat

from supple import deflection, frf, linearize, load

BEAM = """
supple: 1
plane: xz
gravity: [0, -9.81]
materials: {steel: {youngs_modulus: 210e9, density: 7800}}
sections: {bar: {rectangle: [20 mm, 10 mm]}}
points: {O: [0, 0], T: [1, 0]}
bodies: {arm: {beam: [O, T], section: bar, material: steel}}
joints: {O: {revolute: [ground, arm]}}
actuators: {motor: {joint: O, limits: [-1, 1]}}
sensors: {tip: {position: T}}
"""


@pytest.fixture
def beam(folder):
    (folder / "beam.yaml").write_text(BEAM)
    return folder / "beam.yaml"


def test_a_frequency_response_is_written_and_drawn(supple, beam, folder):
    options = ("--input", "motor.acceleration", "--output", "tip.z", "--from", "2", "--to", "20", "--lines", "7")
    said = supple("frf", beam, *options, "-o", "tip.csv", "--plot", "tip.png", "--json")
    assert said.status == 0, said.err
    with (folder / "tip.csv").open() as stream:
        rows = list(csv.reader(stream))
    assert len(rows) == 8
    assert [float(row[0]) for row in rows[1:]] == pytest.approx(said.object["frequencies_hz"])
    assert (folder / "tip.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("command", ["deflection", "compliance", "linearize", "local"])
@pytest.mark.parametrize("suffix", ["csv", "npz", "mat"])
def test_tables_of_other_answers_are_written(supple, beam, folder, command, suffix):
    modes = ["--internal-modes", "1"] if command in ("linearize", "local") else []
    said = supple(command, beam, "--at", "motor=0.1", *modes, "-o", f"kept.{suffix}")
    assert said.status == 0, said.err
    kept = folder / f"kept.{suffix}"
    if suffix == "csv":
        assert len(kept.read_text().splitlines()) > 1
    else:
        assert len(np.load(kept).files if suffix == "npz" else loadmat(kept)) > 1


def test_a_file_that_cannot_be_written_is_named(supple, beam):
    said = supple("deflection", beam, "-o", "nowhere/kept.csv")
    assert said.status == 1
    assert "nowhere/kept.csv" in said.err
    said = supple("deflection", beam, "-o", "kept.docx")
    assert said.status == 1
    assert ".csv, .npz, .mat" in said.err


def test_the_terminal_shows_what_print_shows(supple, beam):
    arm = load(beam)
    model = linearize(arm, {"motor": 0.1}, internal_modes=1)
    assert str(model.text(arm.name)) in supple("linearize", beam, "--at", "motor=0.1", "--internal-modes", 1).out
    assert str(deflection(arm, {"motor": 0.1})) in supple("deflection", beam, "--at", "motor=0.1").out
    response = frf(arm, None, "motor.acceleration", "tip.z", np.linspace(2.0, 20.0, 7))
    said = supple("frf", beam, "--input", "motor.acceleration", "--output", "tip.z", "--from", 2, "--to", 20,
                  "--lines", 7)  # fmt: skip
    assert str(response) in said.out
    several = frf(arm, None, ["motor.acceleration", "T.z"], "tip.z", np.linspace(2.0, 20.0, 7))
    assert np.shape(several.data()["real"]) == (7, 1, 2)
    assert str(several).count("receptance tip.z / ") == 2
