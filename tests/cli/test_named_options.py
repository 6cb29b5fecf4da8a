"""Errors of commands: they name the option as it is typed, the value, the limit and the kind of file that is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

import supple as api
from supple.cli.doctor import _seconds_by_purpose


@pytest.fixture
def rom(four_bar, tmp_path) -> Path:
    file = tmp_path / "four-bar.rom"
    api.reduce(api.load(four_bar), region={"crank": (-0.5, 0.5)}, tolerance=1e-1).save(file)
    return file


def test_an_unknown_start_is_one_of_start(supple, four_bar, rom):
    for file in (four_bar, rom):
        said = supple("simulate", file, "--start", "nope", "--until", "1")
        assert (said.status, said.err.startswith('error: --start: unknown configuration "nope"')) == (1, True), said.err
    said = supple("simulate", four_bar, "--start", "nope", "--at", "crank=0.1", "--until", "1")
    assert said.err.startswith("error: --start: ")
    assert supple("export", rom, "--start", "nope").err.startswith("error: --start: ")
    said = supple("simulate", four_bar, "--start", "home", "--at", "nope", "--until", "1")
    assert said.err.startswith("error: --at: ")


def test_a_wrong_limit_names_the_option_or_the_variable(supple, four_bar, monkeypatch):
    assert supple("--limit", "foo=1", "check", four_bar).err.startswith('error: --limit: unknown limit "foo"')
    monkeypatch.setenv("SUPPLE_LIMITS", "bar=1")
    assert supple("--limit", "steps=1e3", "check", four_bar).err.startswith('error: SUPPLE_LIMITS: unknown limit "bar"')


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("virtual-test", "ralf", "--hammer", "tip.-z", "--sensors", "tip", "--sampling", "-1"), "--sampling"),
        (("reduce", "four-bar", "--vary", "foo=1:2"), "--vary"),
    ],
)
def test_arguments_of_functions_are_named_as_options(supple, arguments, option):
    last = supple(*arguments).err.splitlines()[-1]
    assert last.startswith(f"error: {option}: ")


def test_a_part_of_the_file_is_no_option(supple, tmp_path):
    file = tmp_path / "wrong.yaml"
    file.write_text("supple: 1\nname: wrong\nparameters: 3\n")
    assert "--parameters" not in supple("identify", file, "--parameters", "a").err


@pytest.mark.parametrize("command", [("evaluate", "ralf"), ("export", "ralf"), ("compare", "ralf", "ralf")])
def test_an_example_in_place_of_a_reduced_model_says_how_to_make_one(supple, command):
    said = supple(*command)
    assert said.status == 1
    assert "supple reduce ralf" in said.err


def test_other_files_in_place_of_a_mechanism_are_recognized(supple, rom, tmp_path):
    said = supple("check", rom)
    assert (said.status, "is a reduced model" in said.err) == (1, True)
    data = tmp_path / "test.csv"
    data.write_text("a,b\n1,2\n")
    said = supple("check", data)
    assert (said.status, "check-measurement" in said.err, "modal" in said.err) == (1, True, True)


def test_a_wrong_suffix_of_a_picture_is_refused_before_the_computation(supple, four_bar):
    said = supple("simulate", four_bar, "--until", "1", "--plot", "x.xyz")
    assert (said.status, said.err) == (1, "error: x.xyz: not a picture format; use .png, .svg or .pdf\n")
    said = supple("modes", "missing.yaml", "-o", "x.xyz")  # the file is not even read
    assert said.err.startswith("error: x.xyz: ")
    assert all(suffix in said.err for suffix in (".png", ".svg", ".pdf", ".csv", ".npz", ".mat"))


@pytest.mark.parametrize(
    ("value", "message"), [("99", "must be at most 8 (got 99)"), ("0", "at least 1 (got 0)"), ("xx", "'xx' is not an")]
)
def test_a_wrong_number_is_reported_with_its_value(supple, four_bar, value, message):
    found = supple("linearize", four_bar, "--pade", value, "--json").object["error"]
    assert (found["part"], message in found["text"]) == ("--pade", True), found


def test_a_wrong_choice_is_reported_with_the_choices(supple):
    found = supple("modal", "x.uff", "--method", "xx", "--json").object["error"]
    assert "Value error" not in found["text"]
    assert all(word in found["text"] for word in ("xx", "plscf", "ptd"))


def test_written_files_are_reported(supple, rom, tmp_path):
    said = supple("export", rom, "--to", "json", "-o", tmp_path)
    assert said.out.splitlines()[0] == f"written to {tmp_path / 'four_bar.json'}"
    file = tmp_path / "test.uff"
    said = supple(
        "virtual-test",
        "ralf",
        "--at",
        "home",
        "--hammer",
        "tip.-z",
        "--sensors",
        "tip",
        "--sampling",
        "256",
        "-o",
        file,
    )
    assert said.out.splitlines()[-1] == f"written to {file}"


def test_the_comparison_has_a_title(supple, four_bar, rom):
    said = supple("compare", four_bar, rom, "--points", "20")
    assert said.out.splitlines()[0] == "reduced model compared with its mechanism at 20 points"


def test_rounding_is_zero_in_the_entries_to_copy(supple):
    said = supple("assemble", "four-bar", "--branches", "--starts", "50")
    assert "rest: {crank: 0, B: " in said.out


def test_doctor_sums_kernels_of_one_purpose():
    kernels = [{"purpose": "a", "seconds": 2.0}, {"purpose": "b", "seconds": 3.0}, {"purpose": "a", "seconds": 2.5}]
    assert _seconds_by_purpose(kernels) == [("a", 4.5), ("b", 3.0)]


def test_a_test_plan_without_candidates_names_the_option(supple):
    said = supple("plan-test", "ralf", "--parameters", "aluminium.E")
    assert said.status == 1
    assert "--candidates: no candidate test is given; name at least one: home:tip.z" in said.err
