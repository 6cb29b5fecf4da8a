"""Modes of the page under loads at rest, and where modes come in clusters: those of Python."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.formulations.elastic_rest.constrained_modes import constrained_modes, search_for
from supple.formulations.elastic_rest.loaded_modes import constrained_loaded_modes
from supple.kinematics.rest import rest
from supple.view.page.encoding import PRELOAD, encode_data, includes_preload
from supple.view.page.page_data import page_data, page_mechanism, sampled_postures
from supple.view.page.single_file import page_html
from supple.view.page.whole_page import whole_page

sys.path.insert(0, str(Path(__file__).parents[2] / "laws"))

from page_under_loads import TOLERANCE, difference, frequencies_on_page, loaded_machine, postures

ROOT = Path(__file__).parents[3]
DELTA = ROOT / "tests" / "reduction" / "carbon-delta.yaml"
SINGLE = 1e-6  # of a frequency: constants of loads are kept in single precision

COLUMN = """
supple: 1
name: column
gravity: [0, 0, 0]
points: {A: [0, 0, 0], B: [0, 0, 2]}
materials: {steel: {youngs_modulus: 210e9, density: 7850, poisson: 0.3}}
sections: {bar: {rectangle: [0.02, 0.02]}}
bodies: {column: {beam: [A, B], section: bar, material: steel, elements: 8, up: x}}
joints: {A: {prismatic: [ground, column], axis: y}}
actuators: {push: {joint: A}}
forces: {top: {at: column.B, force: [0, 0, -FORCE]}}
damping: DAMPING
"""
HANGING = """
supple: 1
gravity: [0, 0, -9.81]
points: {A: [0, 0, 0], B: [1, 0, 0]}
materials: {steel: {youngs_modulus: 210e9, density: 7850, poisson: 0.3}}
sections: {bar: {rectangle: [0.02, 0.02]}}
bodies: {bar: {beam: [A, B], section: bar, material: steel, elements: 4, up: z}}
joints: {A: {revolute: [ground, bar], axis: y}}
"""


def column(force: float = 1500.0, damping: str = "{modal: 0.02}") -> supple.Mechanism:
    """At 1500 N it bears 87 % of its buckling load."""
    return supple.loads(COLUMN.replace("FORCE", str(force)).replace("DAMPING", damping))


@pytest.fixture
def opened(browser, tmp_path):
    """Opens pages of things, and closes them."""
    pages = []

    def open_page(thing, **options):
        file = tmp_path / "page.html"
        file.write_text(page_html(whole_page(thing, **options)), encoding="utf-8")
        pages.append(browser.new_page(viewport={"width": 900, "height": 620}))
        pages[-1].goto(file.as_uri())
        pages[-1].evaluate("async () => { await supple.ready; }")
        return pages[-1]

    yield open_page
    for page in pages:
        page.close()


SEARCHES = """({ searches, thetas }) => {
    const { machine, data } = supple.page;
    return searches.map(([count, block]) => {
        const own = new machine.constructor({ ...data, vibration: { ...data.vibration, count, block } });
        return thetas.map((theta) => {
            const { frequencies, converged, passes, block } = own.modes(own.closure.close(theta));
            return { frequencies: Array.from(frequencies), converged, passes, block };
        });
    });
}"""


@pytest.mark.parametrize("preload", [False, True])
def test_any_number_of_modes_converges_where_twelve_are_nearly_equal(opened, preload):
    """Six equal tubes: modes 4 to 15 lie within 1 %. A block of fixed size needed up to forty passes."""
    delta = supple.load(DELTA)
    found = page_mechanism(rest(delta), preload=preload)
    places = sampled_postures(rest(delta), 2)
    page = opened(delta, preload=preload)
    counts = (4, 6, 8, 12) if preload else range(1, 13)
    chosen = [[count, len(search_for(found.rest, found.held, count).start)] for count in counts]
    thetas = places.theta[:2].tolist()
    shown = page.evaluate(SEARCHES, {"searches": chosen, "thetas": thetas})
    if preload:
        squares = constrained_loaded_modes(found.rest, found.held, places, max(counts))[0]
    else:
        squares = constrained_modes(found.rest, found.held, places.X, max(counts))[0]
    exact = np.sqrt(squares) / (2.0 * np.pi)
    for count, searched in zip(counts, shown, strict=True):
        for one, hertz in zip(searched, exact, strict=False):
            assert one["converged"], count
            assert one["passes"] <= 4, count
            assert_allclose(one["frequencies"], hertz[:count], rtol=SINGLE if preload else 1e-9)
    # A block that ends within the cluster grows until it converges.
    small = page.evaluate(SEARCHES, {"searches": [[6, 7]], "thetas": thetas})
    for one, hertz in zip(small[0], exact, strict=False):
        assert one["converged"]
        assert preload or one["block"] > 7  # loads spread the cluster
        assert_allclose(one["frequencies"], hertz[:6], rtol=SINGLE if preload else 1e-9)


def example(name: str) -> supple.Mechanism:
    if name == "column":
        return column()
    if name == "carbon-delta":
        return supple.load(DELTA)
    found = supple.load(ROOT / "examples" / name / "mechanism.yaml")
    return found.replace(gravity=(0.0, 0.0, -9.81)) if name == "flexible-four-bar" else found


@pytest.mark.parametrize("name", ["ralf", "flexible-four-bar", "column", "carbon-delta"])
def test_modes_under_loads_are_those_of_python(opened, name):
    mechanism = example(name)
    page, thetas = opened(mechanism, preload=True), sampled_postures(rest(mechanism), 8).theta[:4]
    found = frequencies_on_page(page, mechanism, thetas)
    exact = supple.modes(mechanism, thetas, count=8, preload=True).frequencies_hz
    bare = supple.modes(mechanism, thetas, count=8, preload=False).frequencies_hz
    assert_allclose(found, exact, rtol=SINGLE)
    assert np.abs(exact / bare - 1.0).max() > 1e2 * SINGLE  # loads matter here
    assert "with the stiffness of loads at rest" in page.evaluate("document.body.textContent")
    if name == "column":
        assert found[0, 0] == pytest.approx(1.5693, abs=5e-5)  # of the continuous column: 1.5693 Hz


@pytest.mark.parametrize("seed", [0, 3, 6, 9, 10])
def test_every_kind_of_load(opened, seed):
    """A slice of the law of `page_under_loads.py`: springs, followers, moments, gearboxes, pushed rows; 10 buckles."""
    mechanism = loaded_machine(seed)
    page, thetas = opened(mechanism, preload=True), postures(mechanism)
    assert difference(frequencies_on_page(page, mechanism, thetas), mechanism, thetas) < TOLERANCE


def test_above_the_buckling_load_the_page_says_so(opened):
    page = opened(column(2500.0), preload=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exact = supple.modes(column(2500.0), count=8, preload=True).frequencies_hz
    assert exact[0] < 0.0 < exact[2]
    assert_allclose(page.evaluate("supple.frequencies()"), exact, rtol=SINGLE)
    assert "exceed the buckling load" in page.locator("#vibration").inner_text()
    page.get_by_text("cannot be shown on the logarithmic axis").wait_for(timeout=20e3)  # filled by the worker


def test_loads_that_nothing_holds_are_left_out_and_named(opened):
    mechanism = supple.loads(HANGING)
    page = opened(mechanism, preload=True)
    assert page.evaluate("supple.search().unheld")
    exact = supple.modes(mechanism, count=8, preload=False).frequencies_hz
    assert_allclose(page.evaluate("supple.frequencies()")[1:], exact[1:], rtol=1e-6)  # the first is a free swing
    assert "their stiffness is omitted" in page.locator("#vibration").inner_text()


@pytest.mark.parametrize("damping", ["{modal: 0.02}", "{structural: 0.03}", "{rayleigh: [0.3, 2e-4]}"])
def test_responses_under_loads(opened, damping):
    made = column(damping=damping)
    page, hertz = opened(made, preload=True), np.linspace(0.5, 40.0, 60)
    found = page.evaluate("(hertz) => supple.response('B.y', 'B.y', hertz)", hertz.tolist())
    exact = supple.frf(made, None, "B.y", "B.y", hertz, preload=True, drives=False).values[:, 0, 0]
    got = np.array(found["real"]) + 1j * np.array(found["imag"])
    off = np.abs(got - exact).max() / np.abs(exact).max()
    assert off < 1e-4  # loads couple the eight modes with the others by damping, which the page leaves out


def test_left_out_loads_are_not_in_the_file():
    arm = supple.load(ROOT / "examples" / "ralf" / "mechanism.yaml")
    bare, loaded = page_data(arm, preload=False), page_data(arm, preload=True)
    assert bare["vibration"]["preload"] == "left out"
    assert bare["vibration"]["loads"] is None
    assert loaded["vibration"]["preload"] == "counted"
    assert 0 < len(encode_data(loaded)) - len(encode_data(bare)) < 40e3
    unloaded = page_data(supple.load(ROOT / "examples" / "flexible-four-bar" / "mechanism.yaml"), preload=True)
    assert unloaded["vibration"]["preload"] == "none"


def test_the_page_of_a_reduced_model_has_its_loads():
    arm = supple.load(ROOT / "examples" / "ralf" / "mechanism.yaml")
    assert includes_preload(arm, None) is PRELOAD
    region = {"lift": (1.05, 1.2), "elbow": (0.9, 1.0)}
    for preload in (False, True):
        model = supple.reduce(
            arm, region=region, checks=200, internal_modes=1, boxes=(1, 1), fit="quadratic", progress=False,
            preload=preload,
        )  # fmt: skip
        assert includes_preload(model, None) is preload
        assert includes_preload(model, not preload) is not preload
