"""`supple inverse`."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple as api

KEYS = {"time", "forces", "peak", "max", "min"}
TURN = ("inverse", "four-bar-redundant", "--motion", "turn")


@pytest.fixture
def swing(four_bar):
    four_bar.write_text(
        four_bar.read_text() + "motions:\n  swing: {coordinates: {crank: {from: -1, to: 1, velocity: 4, jerk: 900}}}\n"
    )
    return four_bar


def test_it_prints_what_python_computes(supple, swing):
    said = supple("inverse", swing, "--motion", "swing", "--json")
    found = api.inverse(api.load(swing), "swing")
    assert said.status == 0
    assert said.object.keys() >= KEYS
    assert_allclose(said.object["time"], found.time)
    assert_allclose(said.object["forces"]["crank"], found.forces["crank"], atol=1e-12)
    assert said.object["peak"] == {"crank": max(map(abs, said.object["forces"]["crank"]))}
    assert said.object["max"] == {"crank": max(said.object["forces"]["crank"])}
    assert said.object["min"] == {"crank": min(said.object["forces"]["crank"])}
    assert len(said.object["time"]) == 1001


def test_options_choose_actuators_objective_and_step(supple):
    said = supple(*TURN, "--actuators", "A, C", "--minimize", "peak", "--step", "2ms", "--json").object
    assert list(said["forces"]) == ["A", "C"]
    assert_allclose(np.abs(said["forces"]["A"]), np.abs(said["forces"]["C"]), rtol=1e-9)  # both work equally hard
    assert len(said["time"]) == 501
    assert max(supple(*TURN, "--minimize", "multipliers", "--json").object["peak"].values()) > 240


def test_bounds_by_name_with_units_and_intervals(supple):
    said = supple(*TURN, "--bounds", "A=60 Nm,B=-55:70", "--rate-bounds", "D=2 kNm/s", "--json").object
    assert said["peak"]["A"] <= 60 * (1 + 1e-9)
    assert said["min"]["B"] >= -55 * (1 + 1e-9)
    assert np.abs(np.diff(said["forces"]["D"])).max() <= 2.0 * (1 + 1e-7)  # in a millisecond


def test_bounds_that_cannot_be_met_exit_with_1(supple):
    said = supple(*TURN, "--bounds", "50", "--json")
    assert said.status == 1
    for part in ("0.839 s", " 8.5 N m", "A ±50"):
        assert part in said.object["error"]["text"]
    assert "raise the bounds" in said.err


def test_it_writes_a_table_that_is_read_back(supple, folder):
    assert supple(*TURN, "-o", "forces.csv", "--plot", "forces.png", "--step", "10ms").status == 0
    with (folder / "forces.csv").open() as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == ["time", "A", "B", "C", "D"]
    assert len(rows) == 102
    assert (folder / "forces.png").read_bytes().startswith(b"\x89PNG")
    assert not list(folder.glob("*.part"))


def test_a_table_is_a_motion(supple, swing, folder):
    t = np.linspace(0.0, 1.0, 51)
    table = "time,crank\n" + "".join(f"{float(a)!r},{float(0.3 * np.sin(4 * a))!r}\n" for a in t)
    (folder / "swing.csv").write_text(table)
    said = supple("inverse", swing, "--motion", "swing.csv", "--json").object
    exact = api.inverse(
        api.load(swing),
        lambda t: ([0.3 * np.sin(4 * t)], [1.2 * np.cos(4 * t)], [-4.8 * np.sin(4 * t)]),
        times=said["time"],
    )
    assert_allclose(said["forces"]["crank"], exact.forces["crank"], atol=1e-4)


def test_people_see_a_table_with_the_time_of_each_peak(supple):
    said = supple(*TURN)
    line = next(line for line in said.out.splitlines() if line.startswith("B"))
    assert line.split() == ["B", "79.5259", "N", "m", "-67.111", "N", "m", "79.5259", "N", "m", "0.841", "s"]
    assert "4 actuators for 1 coordinate, least torque" in said.out


def test_limits_that_the_motion_leaves_are_told(supple, swing):
    text = swing.read_text().replace("limits: [-1.75, 1.75]", "limits: [-0.5, 0.5], force_limits: [-0.1, 0.1]")
    swing.write_text(text)
    said = supple("inverse", swing, "--motion", "swing")
    assert said.status == 0
    assert 'warning: actuator "crank" is at' in said.err
    assert "outside its force_limits [-0.1, 0.1]" in said.err
    assert supple("inverse", swing, "--motion", "swing", "--bounds", "limits").status == 1


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        ((), 2, "--motion"),
        (("--motion", "swing", "--minimize", "heat"), 2, "heat"),
        (("--motion", "swing", "--bounds", "crank=1,2"), 2, "NAME=VALUE"),
        (("--motion", "swin"), 1, 'did you mean "swing"?'),
        (("--motion", "none.csv"), 1, "none.csv: the file does not exist"),
        (("--motion", "swing", "--actuators", "crnk"), 1, 'did you mean "crank"?'),
        (("--motion", "swing", "--bounds", "1/0"), 1, "--bounds"),
        (("--motion", "swing", "--step", "0"), 1, "step must be positive (got 0 s)"),
        (("--motion", "swing", "-o", "none/forces.csv"), 1, "cannot be written"),
        (("--motion", "swing", "--plot", "forces.abc"), 1, "not a picture format"),
    ],
)
def test_what_is_wrong_is_told_with_its_status(supple, swing, folder, options, status, message):
    said = supple("inverse", swing, *options)
    assert said.status == status
    assert message in said.err
    assert "Traceback" not in said.err
