"""Commands on the reduced model of a flexible mechanism."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple as library

RALF = Path(__file__).parents[2] / "examples" / "ralf" / "mechanism.yaml"


@pytest.fixture(scope="module")
def rom(tmp_path_factory) -> str:
    """Its cylinders as forces: what is asked here is not about drives."""
    path, ralf = tmp_path_factory.mktemp("rom") / "ralf.rom", library.load(RALF)
    forces = {name: item.model_copy(update={"drive": None}) for name, item in ralf.actuators.items()}
    library.reduce(
        ralf.replace(actuators=forces), checks=200, internal_modes=2, tolerance=1e-3, output=path, store=False
    )
    return str(path)


LINES = ("--from", "2", "--to", "12", "--lines", "41")


def test_responses_are_those_of_the_file(supple, rom):
    asked = (
        "--at",
        "home",
        "--input",
        "lift.acceleration",
        "--output",
        "tip.z",
        "--kind",
        "accelerance",
        *LINES,
        "--json",
    )
    ours, full = (supple("frf", file, *asked).object for file in (rom, str(RALF)))
    assert ours["unit"] == full["unit"] == "(m/s²)/(m/s²)"
    assert ours["frequencies_hz"] == full["frequencies_hz"]
    assert ours.keys() == full.keys()
    left, right = (np.array(item["real"]) + 1j * np.array(item["imag"]) for item in (ours, full))
    assert_allclose(left, right, atol=5e-3 * np.abs(right).max())


def test_an_evaluation_shows_all_that_stands_in_the_equations(supple, rom):
    said = supple("evaluate", rom, "--at", "home")
    assert said.status == 0, said.err
    tables = {block.split()[0]: block.splitlines() for block in said.out.split("\n\n")[1:]}
    assert {"M", "K", "D", "B", "Γ,", "coordinate", "output"} <= tables.keys()
    found = library.load(rom).evaluate([1.15, 1.0])
    forces = {line.split()[0]: line for line in tables["coordinate"][2:]}
    assert forces["mode1"].endswith(f"{found.force[2]:.6g} N/√kg")
    assert forces["lift"].split()[1:3] == ["1.15", "m"]
    stiffness = next(line for line in tables["K"] if line.startswith("mode1 [√kg m]"))
    assert f"{found.K[2, 2]:.6g}" in stiffness
    row = next(line.split() for line in tables["Γ,"] if line.startswith("lift'·mode1'"))
    assert row[1] == f"{2 * found.christoffel[0, 0, 2]:.6g}"
    for lines in tables.values():  # no column is left blank: each line reaches as far as its heading
        if lines[1:2] and set(lines[1]) == {"─"}:
            assert all(len(line.rstrip()) == len(lines[1]) for line in lines[2:] if not line.startswith("largest"))


def test_an_evaluation_takes_the_deformation(supple, rom):
    """M and Γ are those there, everything else is a matter of θ."""
    asked = ("evaluate", rom, "--at", "home", "--json")
    plain, bent = supple(*asked).object, supple(*asked, "--delta", "mode1=0.01").object
    found = library.load(rom).evaluate([1.15, 1.0], delta=[0.01, 0.0])
    assert_allclose(bent["M"], found.M, rtol=1e-12)
    assert_allclose(bent["christoffel"], found.christoffel, rtol=1e-12)
    assert np.abs(np.subtract(bent["M"], plain["M"])).max() > 0.0
    assert bent["K"] == plain["K"]
    assert bent["at"]["mode1"] == 0.01
    said = supple("evaluate", rom, "--at", "home", "--delta", "mode1=0.01")
    assert "0.01 (" in next(line for line in said.out.splitlines() if line.startswith("mode1"))
    said = supple("evaluate", rom, "--delta", "mode7=0.01")
    assert said.status != 0
    assert "mode7" in said.err


def test_what_a_model_cannot_answer(supple, rom):
    said = supple("frf", rom, "--input", "tip.z", "--output", "tip.z", "--damping", "0.02")
    assert said.status != 0
    assert "damping it was reduced with" in said.err
    said = supple("frf", rom, "--input", "lift", "--output", "tip.z")
    assert said.status != 0
    assert "--free-actuators" in said.err


def test_a_motion_leads_theta_and_leaves_deformation_free(supple, rom):
    run = supple("simulate", rom, "--motion", "reach", "--until", "0.5", "--json").object
    needed = supple("inverse", rom, "--motion", "reach", "--json")
    assert "quasi-static" in needed.err
    found = needed.object
    assert found["deformation"].keys() == {"mode1", "mode2"}
    assert run["coordinates"].keys() == {"lift", "elbow", "mode1", "mode2"}
    # At the start both rest: the same deformation, the same forces.
    for name, values in found["deformation"].items():
        assert_allclose(run["coordinates"][name][0], values[0], rtol=2e-2)  # the motion starts with an acceleration
    for name, values in found["forces"].items():
        assert_allclose(run["driving_forces"][name][0], values[0], rtol=2e-2)


def test_a_run_from_the_deflected_rest(supple, rom):
    held = library.load(rom).linearize([1.15, 1.0]).at["inputs"]
    inputs = ",".join(f"{name}={value!r}" for name, value in held.items())
    run = supple("simulate", rom, "--until", "0.2", "--step", "1ms", "--start", "equilibrium", "--at", "home",
                 "--inputs", inputs, "--json")  # fmt: skip
    assert run.status == 0, run.err
    found = run.object
    assert abs(found["coordinates"]["mode1"][0]) > 0.02
    for values in found["coordinates"].values():
        assert np.ptp(values) < 1e-6


def test_compare_says_how_far_off_it_is(supple, rom):
    found = supple("compare", str(RALF), rom, "--points", "300", "--json").object
    assert found["coefficients"].keys() >= {"M_θθ", "M_θι", "K_ιι", "Γ_θθθ", "Γ_ιθθ", "p_ι", "outputs_ι"}
    assert max(found["coefficients"].values()) < 1.1e-3
    assert max(found["error"].values()) < 1.1e-3
    assert found["error"].keys() == set(library.load(rom).layout.measures)


@pytest.mark.filterwarnings("default::supple.diagnostics.SuppleWarning")
def test_reduce_tells_of_exchanges_and_of_what_is_left_out(supple, tmp_path):
    bars = RALF.parents[1] / "flexible-four-bar" / "mechanism.yaml"
    target = str(tmp_path / "x.rom")
    said = supple("reduce", str(bars), "--constraint-modes", "E.z", "--internal-modes", "3", "--fit", "lagrange",
                  "--boxes", "4", "-o", target, "--json")  # fmt: skip
    assert said.status == 0, said.err
    found = said.object
    assert_allclose([item["theta"][0] for item in found["exchanges"]], [0.665, 0.739], atol=1e-3)
    assert found["truncation"]["missing"]["hz"] < 30.0
    assert said.err.count("exchanges with one outside it") == 2
