"""`supple reduce`, `supple evaluate` and `supple compare`."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple as api

KEYS = {"samples", "checks", "boxes", "error", "truncation", "operations", "seconds", "file"}
EVALUATED = {
    "coordinates", "inputs", "M", "K", "damping", "christoffel", "dM", "force", "input_map", "outputs", "internal_hz",
}  # fmt: skip


@pytest.fixture
def rom(supple, four_bar, tmp_path):
    file = tmp_path / "four-bar.rom"
    said = supple("reduce", four_bar, "--tolerance", "1e-3", "-o", file, "--no-store", "--json")
    assert said.status == 0, said.err
    return file


def test_it_reduces_to_a_tolerance(supple, four_bar, tmp_path):
    said = supple("reduce", four_bar, "--region", "crank=-60deg:60deg", "-o", tmp_path / "x.rom", "--json")
    found = said.object
    assert found.keys() >= KEYS
    assert said.err == ""
    assert max(found["error"].values()) <= 1e-3
    assert set(found["error"]) >= {"M", "christoffel", "force", "outputs"}
    assert found["truncation"] == {}
    model = api.load(found["file"])
    assert_allclose(model.fitted.leaves[0].lower, -np.pi / 3)
    assert (tmp_path / "x.rom.samples").exists()


@pytest.mark.filterwarnings("always::supple.diagnostics.SuppleWarning")
def test_it_reduces_on_a_grid(supple, four_bar, tmp_path):
    store = tmp_path / "kept"
    arguments = ("--fit", "quadratic", "--boxes", "16", "-o", tmp_path / "x.rom", "--store", store, "--json")
    found = supple("reduce", four_bar, *arguments).object
    assert (found["samples"], found["boxes"]) == (33, 16)
    assert found["operations"] == 18
    assert store.exists()
    assert not (tmp_path / "x.rom.samples").exists()


def test_the_output_is_named_after_the_file(supple, four_bar, folder):
    said = supple("reduce", four_bar, "--no-store", "--tolerance", "1e-2")
    assert said.status == 0
    assert "written to four-bar.rom" in said.out
    assert {item.name for item in folder.iterdir()} == {"four-bar.yaml", "four-bar.rom"}


def test_a_dry_run_writes_nothing(supple, four_bar, folder):
    found = supple("reduce", four_bar, "--fit", "quadratic", "--boxes", "16", "--dry-run", "--json").object
    assert (found["samples"], found["boxes"]) == (33, 16)
    assert 0 < found["seconds"] < 60
    assert {item.name for item in folder.iterdir()} == {"four-bar.yaml"}
    refined = supple("reduce", four_bar, "--tolerance", "1e-3", "--dry-run", "--json").object
    assert 5 < refined["samples"] < 500
    assert refined["least"] < refined["samples"] + refined["checks"] < refined["most"]
    assert found["least"] == found["most"] == 33 + found["checks"]  # a grid is known
    assert found["checks"] > 2995


def test_a_tolerance_may_be_a_percentage(supple, four_bar, folder):
    found = supple("reduce", four_bar, "--region", "crank=-0.2:0.2", "--tolerance", "1%", "--dry-run", "--json").object
    same = supple("reduce", four_bar, "--region", "crank=-0.2:0.2", "--tolerance", "0.01", "--dry-run", "--json").object
    assert (found["samples"], found["boxes"]) == (same["samples"], same["boxes"])
    said = supple("reduce", four_bar, "--tolerance", "1%%")
    assert said.status == 2
    assert "1e-3 or 0.1%" in said.err


def test_a_dry_run_states_the_budget(supple, four_bar, folder):
    said = supple("reduce", four_bar, "--budget", "700", "--dry-run")
    assert "budget: 700 samples" in said.out


def test_what_is_stated_is_printed_with_its_norm_and_its_confidence(supple, four_bar, folder):
    said = supple("reduce", four_bar, "--region", "crank=-0.2:0.2", "--tolerance", "1%", "--no-store")
    assert "at most 0.1 % of the region, with 95 % confidence" in said.out
    assert "scale" in said.out
    assert "(median)" in said.out


def test_a_dry_run_says_when_it_cannot_know(supple, four_bar, folder):
    """The crank locks within the region: lines through it end where nothing can be assembled."""
    far = four_bar.with_name("far.yaml")
    far.write_text(re.sub("limits: [^}]*", "limits: [-2.5, 2.5]", four_bar.read_text()))
    found = supple("reduce", far, "--dry-run", "--json").object
    assert found["most"] is None
    assert "workspace" in found["doubt"]
    assert "uncertain" in supple("reduce", far, "--dry-run").out


@pytest.mark.filterwarnings("always::supple.diagnostics.SuppleWarning")
def test_a_missed_tolerance_is_status_3_and_no_model(supple, four_bar, folder):
    asked = ("reduce", four_bar, "--tolerance", "1e-6", "--budget", "20", "-o", folder / "x.rom", "--json")
    said = supple(*asked)
    assert said.status == 3
    assert not (folder / "x.rom").exists()
    assert said.object["met"] is False
    assert said.object["file"] is None
    assert "tolerance 1e-06" in said.err
    assert "--keep" in said.err
    kept = supple(*asked, "--keep")
    assert kept.status == 3
    assert kept.object["file"] == str(folder / "x.rom")
    assert (folder / "x.rom").exists()


@pytest.mark.parametrize(
    "option", [("--internal-modes", "2"), ("--constraint-modes", "E.z"), ("--tracking", "modes"), ("--germ", "home")]
)
def test_elastic_modes_of_a_rigid_mechanism_are_refused(supple, four_bar, option):
    said = supple("reduce", four_bar, *option)
    assert said.status == 1
    assert "elastic bodies" in said.err
    assert option[0] in said.err


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        (("--region", "crank"), 2, "NAME=LOWER:UPPER"),
        (("--region", "crank=:1"), 2, "NAME=LOWER:UPPER"),
        (("--region", "crank=0:1,crank=1:2"), 2, "twice"),
        (("--boxes", "many"), 2, "'many' is not a list of integers"),
        (("--boxes", "4", "--tolerance", "0.1"), 2, "--boxes exclude each other"),
        (("--store", "x", "--no-store"), 2, "--no-store exclude each other"),
        (("--fit", "cubic"), 2, "cubic"),
        (("--region", "cranck=0:1"), 1, 'did you mean "crank"'),
        (("--region", "crank=1:0"), 1, "1 to 0 is empty"),
        (("--region", "crank=1"), 1, "every coordinate is fixed"),
        (("--region", "crank=-60:60"), 1, "did you mean crank=-60deg:60deg"),
        (("--boxes", "4,4"), 1, "boxes"),
        (("--tolerance", "7"), 1, "between 0 and 1 (got 7)"),
        (("--tolerance", "0"), 1, "between 0 and 1 (got 0)"),
        (("-o", "nowhere/x.rom"), 1, "does not exist"),
        (("--fit", "quadratic", "--degree", "5"), 1, "degree 2"),
    ],
)
def test_mistakes_are_told(supple, four_bar, folder, options, status, words):
    said = supple("reduce", four_bar, *options)
    assert said.status == status
    assert words in " ".join(said.err.replace("│", " ").split())
    assert not list(folder.glob("*.rom"))


def test_a_coordinate_without_limits_is_named(supple, four_bar, folder):
    four_bar.write_text(four_bar.read_text().replace(", limits: [-1.75, 1.75]", ""))
    said = supple("reduce", four_bar)
    assert said.status == 1
    assert '"crank"' in said.err
    assert "crank=LOWER:UPPER" in said.err


def test_a_model_is_evaluated_like_the_mechanism(supple, four_bar, rom):
    found = supple("evaluate", rom, "--at", "home", "--json").object
    model = api.local(api.load(four_bar), "home")
    assert found.keys() >= EVALUATED
    assert "singularity" not in found
    assert found["at"] == {"crank": 0.3}
    for name in ("M", "damping", "christoffel", "dM", "force", "input_map"):
        assert_allclose(found[name], getattr(model, name), rtol=2e-3, atol=1e-9, err_msg=name)
    for name, output in model.outputs.items():
        assert_allclose(found["outputs"][name]["value"], output.value, rtol=1e-3)
        assert_allclose(found["outputs"][name]["rigid"], output.rigid, rtol=2e-2)
    said = supple("evaluate", rom, "--at", "crank=20deg")
    assert said.status == 0
    assert "∂/∂crank" in said.out


@pytest.mark.parametrize(
    ("at", "words"),
    [("crank=2", "outside"), ("cranck=1", 'did you mean "crank"'), ("away", 'unknown configuration "away"')],
)
def test_a_configuration_outside_is_refused(supple, rom, at, words):
    said = supple("evaluate", rom, "--at", at)
    assert said.status == 1
    assert words in said.err


def test_a_file_that_is_no_model_is_refused(supple, four_bar, tmp_path):
    for file in (four_bar, tmp_path / "missing.rom"):
        said = supple("evaluate", file, "--at", "crank=1")
        assert said.status == 1
        assert said.err.startswith("error:")


def test_a_model_is_compared_with_its_mechanism(supple, four_bar, rom):
    found = supple("compare", four_bar, rom, "--points", "3000", "--json").object
    assert found["points"] == 3000
    assert max(found["coefficients"].values()) < 1.5e-3
    assert found["speedup"] > 1
    assert "times as fast" in supple("compare", four_bar, rom).out


def test_a_model_is_compared_along_a_motion(supple, four_bar, rom):
    four_bar.write_text(
        four_bar.read_text()
        + "motions:\n  swing: {coordinates: {crank: {from: -1, to: 1}}, duration: 1}\n"
        + "  far: {coordinates: {crank: {from: 0, to: 1.79}}, duration: 1}\n"
    )
    found = supple("compare", four_bar, rom, "--scenario", "swing", "--json").object
    assert max(found["coefficients"].values()) < 1.5e-3
    assert 0 < found["force_error"] < 1e-2
    assert supple("compare", four_bar, rom, "--scenario", "far").status == 1


def test_another_mechanism_is_not_compared(supple, rom, folder):
    said = supple("compare", "orthoglide", rom)
    assert said.status == 1
    assert "coordinates" in said.err


def test_internal_modes_are_a_number_or_found(supple, four_bar, tmp_path):
    said = supple("reduce", four_bar, "--internal-modes", "some", "-o", tmp_path / "x.rom")
    assert said.status == 2
    assert "some" in said.err
    assert "auto" in said.err
    link = tmp_path / "link.yaml"
    link.write_text(ONE_LINK)
    found = supple("reduce", link, "--internal-modes", "auto", "-o", tmp_path / "x.rom", "--json").object
    assert found["modes"]["internal"] == 1  # the second frequency is eleven times the first
    assert found["modes"]["tracking"] == "subspace"
    assert found["store"] == str(tmp_path / "x.rom.samples")
    assert found["store_bytes"] == (tmp_path / "x.rom.samples").stat().st_size


ONE_LINK = """\
supple: 1
plane: xz
materials: {aluminium: {youngs_modulus: 70 GPa, density: 2700}}
sections: {bar: {rectangle: [20 mm, 10 mm]}}
points: {O: [0, 0], T: [0.8, 0]}
bodies: {link: {beam: [O, T], section: bar, material: aluminium}}
joints: {O: {revolute: [ground, link]}}
point_masses: {tip: {at: link.T, mass: 0.5}}
actuators: {motor: {joint: O, limits: [-1.5, 1.5]}}
sensors: {tip: {position: T}}
"""


def test_without_a_coordinate_the_way_on_is_told(supple, tmp_path):
    (tmp_path / "mast.yaml").write_text(
        "supple: 1\nmaterials: {steel: {youngs_modulus: 210 GPa, density: 7800}}\nsections: {bar: {circle: 50 mm}}\n"
        "points: {A: [0, 0, 0], B: [0, 0, 2]}\nbodies: {mast: {beam: [A, B], section: bar, material: steel}}\n"
        "joints: {A: {weld: [ground, mast]}}\n"
    )
    said = supple("reduce", tmp_path / "mast.yaml", "--internal-modes", "2", "-o", tmp_path / "mast.rom")
    assert said.status == 1
    assert "mobility 0 has no θ: use `modes`" in said.err
