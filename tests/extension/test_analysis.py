"""An analysis from one file: how high a place is, with its command, its result, its map and its picture."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import supple
from supple.cli import main
from supple.cli.analysis import Analysis, command_of

FOUR_BAR = str(Path(__file__).parents[2] / "examples" / "four-bar" / "mechanism.yaml")
HEIGHT = '''
from dataclasses import dataclass

import numpy as np

import supple
from supple.results.result import Entries, Result
from supple.results.table import Table


@dataclass(frozen=True, eq=False, repr=False)
class Height(Result):
    """Height of places above the ground, m."""

    places: tuple[str, ...]
    values: np.ndarray

    def summary(self):
        return f"heights of {len(self.places)} places, the highest {self.values.max():.4g} m"

    def plot(self):
        if len(self.places) == 1:
            return None
        from matplotlib.figure import Figure

        figure = Figure()
        figure.subplots().bar(self.places, self.values)
        return figure

    def table(self):
        return Table({"place": np.array(self.places), "height": self.values}, {"height": "m"}, index="place")

    def map_entries(self):
        return Entries("height", self.places, ("m",) * len(self.places), self.values)


def heights(mechanism, at, *, over: float = 0.0, place: str = ""):
    if place == "fail":
        raise KeyError("fail")
    if place == "number":
        return 3.0
    names = tuple(name for name in at.frames if place in ("", name))
    return Height(names, np.array([at.frames[name].position[-1] - over for name in names]))


HEIGHT = supple.Analysis("height", "Compute the heights of all frames.", heights)
'''


@pytest.fixture
def height(installed):
    return installed(HEIGHT, "HEIGHT")


def test_an_analysis_is_a_command(height):
    at = supple.assemble(supple.load(FOUR_BAR), {"crank": 0.4})
    found = height.supple("height", FOUR_BAR, "--at", "crank=0.4", "-o", "heights.csv")
    expected = {name: pose.position[-1] for name, pose in at.frames.items()}
    assert dict(zip(found["columns"]["place"], found["columns"]["height"], strict=True)) == pytest.approx(expected)
    assert found["units"] == {"height": "m"}
    assert (height.folder / "heights.csv").read_text(encoding="utf-8").startswith("place,height")
    height.supple("height", FOUR_BAR, "-o", "heights.png")
    assert (height.folder / "heights.png").read_bytes().startswith(b"\x89PNG")
    lower = height.supple("height", FOUR_BAR, "--at", "crank=0.4", "--over", "0.25")
    assert np.array(lower["columns"]["height"]) == pytest.approx(np.array(found["columns"]["height"]) - 0.25)
    said = height.run("-m", "supple", "height", FOUR_BAR).stdout
    assert f"heights of {len(expected)} places" in said
    assert "height [m]" in said


def test_an_analysis_has_help_and_is_mapped(height):
    said = height.run("-m", "supple", "--help").stdout
    assert "Compute the heights of all frames." in said
    assert "virtual-test" in said
    said = height.run("-m", "supple", "height", "--help").stdout
    for option in ("--at", "--map", "--set", "--json", "--over", "--place"):
        assert option in said
    mapped = height.supple("height", FOUR_BAR, "--map", "crank=0:1:3", "--over", "0.1")
    at = supple.assemble(supple.load(FOUR_BAR), {"crank": 0.5})
    expected = [at.frames[name].position[-1] - 0.1 for name in mapped["names"]]
    assert mapped["values"][1] == pytest.approx(expected)
    assert set(mapped["units"]) == {"m"}


def test_its_faults_name_it(height):
    failed = height.supple("height", FOUR_BAR, "--place", "fail", status=3)
    assert re.search(r'analysis "height": .*KeyError: \'fail\'.*SUPPLE_DEBUG=1', failed)
    returned = height.supple("height", FOUR_BAR, "--place", "number", status=3)
    assert re.search(r'analysis "height": .*type float; return a supple\.results\.result\.Result', returned)
    said = height.run("-m", "supple", "height", FOUR_BAR, "--place", "nowhere")  # its summary asks for the highest
    assert said.returncode == 3
    assert re.search(r'analysis "height": .*ValueError', said.stderr)
    undrawn = height.supple("height", FOUR_BAR, "--place", "A", "-o", "x.png", status=3)
    assert re.search(r'analysis "height": .*AttributeError', undrawn)
    assert "No such command 'heigt'" in height.supple("heigt", FOUR_BAR, status=2)


def test_a_result_without_a_plot_is_not_drawn(installed):
    plain = installed(HEIGHT.replace("def plot", "def drawing"), "HEIGHT")
    said = plain.supple("height", FOUR_BAR, "-o", "x.png", status=1)
    assert re.search(r'analysis "height": .*no plot.*"x\.png".*\.csv, \.npz, \.mat', said)


def test_a_package_that_cannot_be_loaded_leaves_the_help(installed):
    broken = installed("import no_such_module", "HEIGHT")
    said = broken.run("-m", "supple", "--help")
    assert said.returncode == 0
    assert "virtual-test" in said.stdout
    assert "addition:HEIGHT" in said.stderr


def compute(mechanism, at, *, file: str = ""):
    return supple.modes(mechanism, at)


def needy(mechanism, at, *, places: list[str]):
    return supple.modes(mechanism, at)


@pytest.mark.parametrize(
    ("name", "question", "said"),
    [
        ("modes", supple.modes, r'analysis "modes": .*already.*command.*another name'),
        (
            "Height",
            supple.modes,
            r'analysis "Height": .*name of a command; use lower-case letters, digits and single hyphens',
        ),
        ("height", compute, r'analysis "height": every command.*already.*"file"; rename the argument'),
        ("height", needy, r'analysis "height": .*argument "places".*option; .*default.*bool, int, float or str'),
    ],
)
def test_a_name_that_is_taken_is_refused(name, question, said):
    with pytest.raises(supple.InputError, match=said):
        Analysis(name, "", question)


def test_a_command_takes_the_options_of_its_question():
    def question(mechanism, at, *, count: int = 2, scale: float = 1.0, rigid: bool = False):
        return supple.modes(mechanism, at, count=count)

    command = command_of(Analysis("some-modes", "Compute some modes.", question))
    assert command.params[0].name == "file"
    given = command.make_context("some-modes", ["x.yaml", "--scale", "2.5", "--rigid"]).params
    assert (given["file"], given["count"], given["scale"], given["rigid"]) == ("x.yaml", 2, 2.5, True)


def test_a_script_registers_one(height):
    script = """
import json, supple
from supple.cli.main import app
from typer.main import get_command

supple.register(supple.Analysis("first-modes", "Compute the first modes.", supple.modes))
group = get_command(app)
print(json.dumps([group.list_commands(None)[-2:], group.get_command(None, "first-modes").help]))
"""
    assert height.python(script) == [["first-modes", "height"], "Compute the first modes."]


def test_own_commands_ask_no_package(monkeypatch):
    def refused(*_, **__):
        raise AssertionError("packages were asked")

    monkeypatch.setattr("supple.kinds.registry.entry_points", refused)
    from typer.main import get_command

    group = get_command(main.app)
    assert group.get_command(None, "modes").name == "modes"
