"""`supple simulate`, `inverse`, `linearize` and `compare` of reduced models, paths and scenarios."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple as api

SCENARIOS = """\
motions:
  swing: {coordinates: {crank: {from: -1, to: 1}}, duration: 1}
  far: {coordinates: {crank: {from: 0, to: 1.79}}, duration: 1}
scenarios:
  fall: {start: {crank: 0.5}, until: 0.3, step: 0.5 ms}
  pushed: {start: home, rates: {crank: -1}, inputs: {crank: [0, 2, 0]}, times: [0, 0.1, 0.2], until: 0.2}
  driven: {motion: swing}
"""
SIMULATED = {"time", "outputs", "energy", "coordinates", "rates", "inputs", "complete"}


@pytest.fixture
def moving(four_bar):
    four_bar.write_text(four_bar.read_text() + SCENARIOS)
    return four_bar


MADE: list[bytes] = []


@pytest.fixture
def rom(supple, moving, tmp_path):
    """Reduced once; each test has its own copy."""
    file = tmp_path / "x.rom"
    if not MADE:
        said = supple("reduce", moving, "--tolerance", "1e-5", "-o", file, "--no-store", "--json")
        assert said.status == 0, said.err
        MADE.append(file.read_bytes())
    file.write_bytes(MADE[0])
    return file


def test_a_saved_model_is_loaded_as_one(rom):
    assert isinstance(api.load(rom), api.ReducedModel)


@pytest.mark.parametrize("name", ["fall", "pushed", "driven"])
def test_a_scenario_of_the_mechanism_and_of_its_model_agree(supple, moving, rom, name):
    full = supple("simulate", moving, "--scenario", name, "--json").object
    reduced = supple("simulate", rom, "--scenario", name, "--json").object
    assert full.keys() >= SIMULATED
    assert reduced.keys() >= SIMULATED
    assert reduced["complete"]
    assert reduced["time"][-1] == pytest.approx(full["time"][-1])
    for key in ("outputs", "coordinates"):
        for signal, values in full[key].items():
            # the full one has an integrator of second order
            assert reduced[key][signal][-1] == pytest.approx(values[-1], abs=2e-4), signal
    if name == "driven":
        assert_allclose(
            np.interp(full["time"], reduced["time"], reduced["driving_forces"]["crank"]),
            full["driving_forces"]["crank"], atol=2e-3 * np.abs(full["driving_forces"]["crank"]).max(),
        )  # fmt: skip


def test_options_go_before_those_of_the_scenario(supple, moving, rom):
    for file in (moving, rom):
        found = supple("simulate", file, "--scenario", "fall", "--until", "0.1", "--step", "1ms", "--json").object
        assert found["time"][-1] == pytest.approx(0.1)
        assert len(found["time"]) == 101


def test_a_model_is_simulated_like_its_mechanism(supple, moving, rom, tmp_path):
    table = tmp_path / "push.csv"
    table.write_text("time,crank\n0,0\n0.1,1\n0.2,0\n")
    options = ("--until", "0.2", "--at", "crank=20deg", "--rates", "crank=1", "--inputs", table)
    full = supple("simulate", moving, *options, "--json").object
    said = supple("simulate", rom, *options, "-o", tmp_path / "run.csv", "--plot", tmp_path / "run.png", "--json")
    found = said.object
    assert found["coordinates"]["crank"][-1] == pytest.approx(full["coordinates"]["crank"][-1], abs=1e-4)
    assert_allclose(found["inputs"]["crank"], np.interp(found["time"], [0, 0.1, 0.2], [0, 1, 0]), atol=1e-12)
    assert (tmp_path / "run.csv").read_text().startswith("time,E.x,E.z,crank,crank.rate")
    assert (tmp_path / "run.png").stat().st_size > 1000
    text = supple("simulate", rom, "--until", "0.1", "--start", "home", "--tolerance", "1e-8").out
    assert "(reduced)" in text
    assert "energy" in text


def test_a_run_that_leaves_the_region_gives_what_it_has(supple, rom):
    said = supple("simulate", rom, "--until", "2", "--rates", "crank=20", "--json")
    assert said.status == 3
    assert not said.object["complete"]
    assert "leaves the region" in said.err


def test_the_forces_of_a_model_are_those_of_its_mechanism(supple, moving, rom):
    full = supple("inverse", moving, "--motion", "swing", "--json").object
    found = supple("inverse", rom, "--motion", "swing", "--json").object
    assert found.keys() >= {"time", "forces", "peak"}
    assert_allclose(found["forces"]["crank"], full["forces"]["crank"], atol=2e-4 * full["peak"]["crank"])
    assert found["peak"]["crank"] == pytest.approx(full["peak"]["crank"], rel=2e-4)
    assert "crank" in supple("inverse", rom, "--motion", "swing", "--minimize", "peak").out


def test_linear_models_of_both_agree(supple, moving, rom):
    full = supple("linearize", moving, "--at", "home", "--json").object
    found = supple("linearize", rom, "--at", "home", "--json").object
    assert found.keys() >= {"states", "inputs", "outputs", "A", "B", "C", "D", "eigenvalues"}
    assert full.keys() == found.keys()
    assert found["states"] == ["crank", "crank.rate"]
    for name in ("A", "B", "C", "D"):
        assert_allclose(found[name], full[name], atol=2e-3, err_msg=name)
    values = [complex(*pair) for pair in found["eigenvalues"]]
    assert_allclose(np.sort_complex(values), np.sort_complex(np.linalg.eigvals(found["A"])), atol=1e-9)
    state = ("--at", "home", "--rates", "crank=2", "--accelerations", "crank=1")
    moved = supple("linearize", rom, *state, "--json").object
    assert moved["at"]["accelerations"]["crank"] == pytest.approx(1.0)
    assert "eigenvalue" in supple("linearize", rom, "--at", "home").out


def test_a_path_is_a_region(supple, moving, tmp_path):
    file = tmp_path / "way.rom"
    said = supple("reduce", moving, "--region", "path:swing", "--tolerance", "1e-4", "-o", file, "--no-store", "--json")
    assert said.status == 0, said.err
    found = supple("evaluate", file, "--at", "arclength=1.3", "--json").object
    exact = api.local(api.load(moving), [0.3])
    assert found["M"][0][0] == pytest.approx(exact.M[0, 0], rel=1e-4)
    assert found["outputs"]["crank"]["value"] == pytest.approx(0.3, abs=1e-5)
    both = [supple("inverse", item, "--motion", "swing", "--json").object for item in (file, moving)]
    forces = [item["forces"]["crank"] for item in both]
    assert_allclose(*forces, atol=1e-3 * np.abs(forces[1]).max())
    assert supple("inverse", file, "--motion", "far").status == 1
    found = supple("simulate", file, "--until", "0.1", "--at", "arclength=1.5", "--json").object
    free = supple("simulate", moving, "--until", "0.1", "--at", "crank=0.5", "--json").object
    assert found["outputs"]["crank"][-1] == pytest.approx(free["coordinates"]["crank"][-1], abs=1e-4)
    compared = supple("compare", moving, file, "--json").object
    assert max(compared["coefficients"].values()) < 1.5e-4
    assert supple("compare", moving, file, "--scenario", "swing", "--json").object["force_error"] < 1e-3
    assert supple("linearize", file, "--at", "arclength=1", "--json").object["states"][0] == "arclength"
    assert supple("reduce", moving, "--region", "path:swing", "--dry-run", "--json").object["samples"] > 3


def test_a_model_is_compared_along_a_scenario(supple, moving, rom):
    found = supple("compare", moving, rom, "--scenario", "fall", "--json").object
    assert found["coordinate_error"]["crank"] < 1e-4
    assert max(found["coefficients"].values()) < 2e-5
    assert found["speedup"] > 1
    assert "largest difference" in supple("compare", moving, rom, "--scenario", "pushed").out
    assert supple("compare", moving, rom, "--scenario", "driven", "--json").object["force_error"] < 1e-4


def test_a_scenario_in_a_file_is_run_through_both(supple, moving, rom, tmp_path):
    file = tmp_path / "tap.yaml"
    file.write_text(
        "{start: home, inputs: {crank: {step: 1 N m, rise: 10 ms, until: 0.1 s}}, until: 0.2 s, step: 1 ms}"
    )
    said = supple("compare", moving, rom, "--scenario", file, "--json", "--plot", tmp_path / "both.png")
    assert said.object.keys() >= {"error", "coefficients", "frequencies_hz", "energy", "speedup", "reason"}
    assert set(said.object["frequencies_hz"]) == set(said.object["energy"]) == {"full", "reduced"}
    assert max(said.object["error"].values()) < 1e-3
    assert (tmp_path / "both.png").stat().st_size > 1000
    alone = [supple("simulate", item, "--scenario", file, "--json").object for item in (moving, rom)]
    assert alone[1]["coordinates"]["crank"][-1] == pytest.approx(alone[0]["coordinates"]["crank"][-1], abs=1e-4)


def test_a_comparison_that_leaves_the_region_tells_what_it_has(supple, moving, rom, tmp_path):
    file = tmp_path / "away.yaml"
    file.write_text("{start: home, rates: {crank: 8}, until: 1 s, step: 1 ms}")
    said = supple("compare", moving, rom, "--scenario", file, "--json")
    assert said.status == 3
    assert said.err.count("error:") == 1
    assert "the comparison ends at" in said.err
    assert not said.object["complete"]
    assert 0 < said.object["points"] < 1000


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("simulate", "ROM", "--until", "1", "--reactions", "A"), 1, "reactions"),
        (("simulate", "ROM", "--scenario", "fal"), 1, 'did you mean "fall"'),
        (("simulate", "FILE", "--scenario", "fal"), 1, 'did you mean "fall"'),
        (("simulate", "ROM", "--scenario", "fall", "--at", "crank=1"), 2, "--at: cannot be combined with --scenario"),
        (("simulate", "ROM"), 2, "no duration; give --until 2s, --motion NAME or --scenario NAME"),
        (("simulate", "ROM", "--until", "1", "--at", "crank=3"), 1, "outside"),
        (("simulate", "ROM", "--until", "1", "--set", "crank=1"), 1, "no variable parameters"),
        (("inverse", "ROM", "--motion", "swing", "--minimize", "multipliers"), 1, "reactions"),
        (("inverse", "ROM", "--motion", "swim"), 1, 'did you mean "swing"'),
        (("linearize", "ROM", "--at", "crank=3"), 1, "outside"),
        (("linearize", "ROM", "--rates", "cranck=3"), 1, 'did you mean "crank"'),
        (("linearize", "FILE", "--rates", "cranck=3"), 1, 'did you mean "crank"'),
        (("reduce", "FILE", "--region", "path:"), 2, "path:MOTION or path:FILE.csv"),
        (("reduce", "FILE", "--region", "path:swim"), 1, 'did you mean "swing"'),
    ],
)
def test_mistakes_are_told(supple, moving, rom, arguments, status, words):
    said = supple(*({"ROM": rom, "FILE": moving}.get(item, item) for item in arguments))
    assert said.status == status
    assert words in " ".join(said.err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("bad: {start: {crank: 1}}", "no duration; set until"),
        ("bad: {motion: swim}", 'did you mean "swing"'),
        ("bad: {start: hom, until: 1}", 'did you mean "home"'),
        ("bad: {start: {cranck: 1}, until: 1}", 'did you mean "crank"'),
        ("bad: {rates: {cranck: 1}, until: 1}", 'did you mean "crank"'),
        ("bad: {inputs: {cranck: 1}, until: 1}", 'did you mean "crank"'),
        ("bad: {motion: swing, inputs: {crank: 1}}", "either"),
        ("bad: {inputs: {crank: [1, 2]}, until: 1}", "no times"),
        ("bad: {inputs: {crank: [1, 2, 3]}, times: [0, 1], until: 1}", "crank has 3 values, but there are 2 times"),
        ("bad: {inputs: {crank: [1, 2]}, times: [1, 1], until: 1}", "times must increase"),
    ],
)
def test_wrong_scenarios_are_told_with_their_line(supple, moving, line, words):
    moving.write_text(moving.read_text() + f"  {line}\n")
    said = supple("check", moving)
    assert said.status == 1
    assert words in said.err
    assert f".yaml:{len(moving.read_text().splitlines())}:" in said.err
