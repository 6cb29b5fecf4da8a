"""`supple examples`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from supple.cli import bundled

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def example(tmp_path, monkeypatch):
    """One example of our own, so that these tests do not depend on what the bundled ones compute."""
    folder = tmp_path / "bundle" / "toy"
    folder.mkdir(parents=True)
    (folder / "mechanism.yaml").write_text("supple: 1\ndescription: A toy\n  on two lines.\n")
    (folder / "README.md").write_text("# Toy\n\nIt plays.\n")
    (folder / "study.py").write_text(
        "import pathlib, sys\n"
        "out = pathlib.Path(sys.argv[sys.argv.index('--output') + 1])\n"
        "out.mkdir(parents=True)\n"
        "(out / 'number.txt').write_text('42')\n"
        "print('studied')\n"
    )
    monkeypatch.setattr(bundled, "example_folders", lambda: {"toy": folder})
    return folder


def test_the_bundled_ones_are_found(supple):
    names = sorted(folder.parent.name for folder in EXAMPLES.glob("*/mechanism.yaml"))
    listed = supple("examples", "--json").object["examples"]
    assert [item["name"] for item in listed] == names
    assert all(item["description"] for item in listed)


def test_each_is_listed_on_a_line(supple, example):
    assert supple("examples").out == "toy  A toy on two lines.\n"


def test_a_name_shows_the_readme(supple, example):
    assert supple("examples", "toy").out == "# Toy\n\nIt plays.\n"
    found = supple("examples", "toy", "--json").object
    assert found["files"] == ["README.md", "mechanism.yaml", "study.py"]


def test_an_unknown_name_is_told(supple, example):
    said = supple("examples", "toi")
    assert (said.status, said.err) == (1, 'error: unknown example "toi"; did you mean "toy"?\n')


def test_it_is_copied_once(supple, example, folder):
    assert supple("examples", "toy", "--copy", "here", "--json").object["folder"] == "here/toy"
    assert (folder / "here/toy/study.py").read_text() == (example / "study.py").read_text()
    said = supple("examples", "toy", "--copy", "here")
    assert said.status == 1
    assert "here/toy: this folder already exists; copy into another folder" in said.err


def test_its_study_runs(supple, example, folder):
    said = supple("examples", "toy", "--run", "-o", "out", "--json")
    assert (said.object["output"], (folder / "out/number.txt").read_text()) == ("out", "42")
    assert said.err == "studied\n"  # not among the JSON
    assert re.fullmatch("studied\n.*results .*toy-results\n", supple("examples", "toy", "--run").out)


def test_a_study_that_fails_is_a_failure(supple, example, folder):
    (example / "study.py").write_text("raise SystemExit(7)\n")
    said = supple("examples", "toy", "--run")
    assert said.status == 3
    assert "exit status 7" in said.err


@pytest.mark.parametrize(
    "arguments", [("--run",), ("--copy", "here"), ("toy", "--folder", "x"), ("toy", "--run", "--copy", "here")]
)
def test_options_that_do_not_go_together_are_a_wrong_command_line(supple, example, arguments):
    assert supple("examples", *arguments).status == 2
