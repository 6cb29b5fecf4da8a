"""Everything shows itself in a notebook, and gives its numbers to pandas and xarray, with units."""

from html.parser import HTMLParser

import numpy as np
import pytest
from every_result import RESULTS, five_bar, model, result
from numpy.testing import assert_array_equal

import supple
from supple.diagnostics import InputError
from supple.results.result import facts_html, result_html
from supple.results.table import Table

OTHERS = {
    "Mechanism": five_bar, "ReducedModel": model, "Inspection": lambda: supple.check(five_bar()),
    "Configuration": lambda: supple.assemble(five_bar(), "home"),
    "Configurations": lambda: supple.assemble(five_bar(), [[2.05, 1.12], [2.1, 1.1]]),
}  # fmt: skip
HOSTILE = '<script>alert("x")</script>&'


class Reader(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words = [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.slow
def test_every_result_shows_itself_with_units():
    for name in RESULTS:
        found = result(name)
        read = Reader(found._repr_html_())
        assert read.words[0] == type(found).__name__
        try:
            units = found.table().units
        except InputError:  # of a batch that is no table
            continue
        assert "table" in read.tags, name
        heads = " ".join(read.words)
        shown = list(found.table().columns)[:10]
        assert all(f"{column} / " in heads for column in shown if units.get(column)), name


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_result_shows_itself_too(name):
    words = Reader(OTHERS[name]()._repr_html_()).words
    assert words[0] == name
    assert "five-bar" in words[1]
    if name == "Configuration":
        assert "A / rad" in words
    if name == "ReducedModel":
        assert any(f"M_θθ {model().error['M_θθ']:.2g}" in word for word in words)
    if name == "Inspection":
        assert words[words.index("mobility") + 1].startswith("2 ")


def test_a_long_table_is_cut_and_texts_are_shown_as_they_are():
    wide = {f"{HOSTILE}{k}": np.arange(30) * (1.0 + 2.0j) for k in range(12)}
    read = Reader(result_html(HOSTILE, HOSTILE, Table(wide, {f"{HOSTILE}0": "m/s"})))
    assert "script" not in read.tags
    assert read.tags.count("tr") == 13
    assert f"{HOSTILE}0 / (m/s)" in read.words
    assert "1 + 2i" in read.words
    assert any("18 more rows; 2 more columns" in word for word in read.words)
    assert "script" not in Reader(facts_html(HOSTILE, HOSTILE, [(HOSTILE, HOSTILE)])).tags


def test_maps_and_responses_are_labelled_arrays():
    pytest.importorskip("xarray", reason="the extra xarray is not installed")
    found, grid = result("FrequencyMap"), result("FrequencyMap").to_xarray()
    assert grid.frequency.dims == ("A", "E", "mode")
    assert grid.frequency.attrs == {"units": "Hz"}
    assert grid.A.attrs == {"units": "rad"}
    assert_array_equal(grid.frequency, found.frequencies_hz)
    assert_array_equal(grid.frequency.sel(A=2.1, mode=2), found.frequencies_hz[1, :, 1])
    response = result("FrequencyResponse").to_xarray()
    assert_array_equal(
        response.response.sel(output="tool.x", input="tool.z"), result("FrequencyResponse").values[:, 0, 1]
    )
    assert str(response.unit.sel(output="tool.x", input="tool.z").item()) == "m/N"
    yielding = result("ComplianceMap").to_xarray()
    assert yielding.compliance.dims == ("A", "E", "displacement", "force")


def test_tables_are_datasets_over_their_index():
    pytest.importorskip("xarray", reason="the extra xarray is not installed")
    run = result("Simulation")
    data = run.to_xarray()
    assert data["tip.x"].dims == ("time",)
    assert data["tip.x"].attrs == {"units": "m"}
    assert_array_equal(data["tip.x"], run.outputs["tip.x"])
    assert result("Study").to_xarray().sizes == {"row": 3}


def test_batches_and_maps_have_units_in_their_tables():
    assert result("ModeSet of a batch").table().units == {
        "A": "rad", "E": "rad", "mode 1": "Hz", "mode 2": "Hz", "mode 3": "Hz",
    }  # fmt: skip
    assert result("ComplianceMap").table().units == {"A": "rad", "E": "rad", "tool.x/tool.x": "m/N"}
    assert result("Compliance").table().units == {"tool.x": "m/N", "tool.z": "m/N"}
    assert result("SmallMotions").table().units["damping_ratio"] == "1"
