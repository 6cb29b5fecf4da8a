"""What the page computes by itself beyond postures: responses, reduced models, tables of stiffness, couplings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.reduced.damped import locked_frequencies
from supple.view.page.single_file import page_html
from supple.view.page.whole_page import whole_page

RALF = Path(__file__).parents[3] / "examples" / "ralf" / "mechanism.yaml"

FOLLOWING = """
supple: 1
points: {O: [0, 0, 0], P: [0.5, 0, 0], Q: [0.9, 0, 0.1]}
bodies:
  upper: {rod: [O, P], mass: 2, inertia: [0.002, 0.04, 0.04]}
  fore: {rod: [P, Q], mass: 1, inertia: [0.001, 0.02, 0.02]}
joints:
  O: {revolute: [ground, upper], axis: y, stiffness: {x: 1e6, y: 2e6, z: 1.5e6, rx: 3e3, rz: 2e3}}
  P: {revolute: [upper, fore], axis: y,
      stiffness: {rx: {over: b, at: [-1, 0, 0.5, 1.5], values: [1e3, 2e3, 2.5e3, 6e3]}, rz: 900}}
actuators: {a: {joint: O}, b: {joint: P}}
"""
GEARED = """
supple: 1
plane: xy
points: {O: [0, 0], P: [1, 0], Q: [1.5, 0.2]}
bodies: {wheel: {mass: 1, inertia: 0.1, at: O}, arm: {rod: [P, Q], mass: 2}}
joints: {O: {revolute: [ground, wheel]}, P: {revolute: [ground, arm]}}
couplings: {teeth: {coordinates: {O: 1, P: 2.5}}}
actuators: {drive: {joint: O}}
"""


@pytest.fixture
def opened(browser, tmp_path):
    """Opens pages of things, and closes them."""
    pages = []

    def open_page(thing):
        file = tmp_path / "page.html"
        file.write_text(page_html(whole_page(thing)), encoding="utf-8")
        pages.append(browser.new_page(viewport={"width": 900, "height": 620}))
        pages[-1].goto(file.as_uri())
        pages[-1].evaluate("async () => { await supple.ready; }")
        return pages[-1]

    yield open_page
    for page in pages:
        page.close()


def test_responses_and_a_reduced_model(opened):
    arm = supple.load(RALF)
    region = {"lift": (1.05, 1.2), "elbow": (0.9, 1.0)}
    model = supple.reduce(
        arm, region=region, checks=200, internal_modes=1, boxes=(2, 1), fit="quadratic", progress=False
    )
    page, theta = opened(model), [1.07, 0.95]
    page.evaluate("async (v) => { await supple.set(v); }", {"lift": 1.07, "elbow": 0.95})

    hertz = np.linspace(2.0, 60.0, 40)
    found = page.evaluate("(hertz) => supple.response('tip.z', 'tip.x', hertz)", hertz.tolist())
    exact = supple.frf(arm, theta, "tip.z", "tip.x", hertz, drives=False).values[:, 0, 0]
    got = np.array(found["real"]) + 1j * np.array(found["imag"])
    # Modes above the eighth, at 260 Hz, follow statically: they are off by (60/270)² of their own small part.
    assert_allclose(got, exact, atol=1e-5 * np.abs(exact).max())

    told, here = page.evaluate("supple.model()"), model.evaluate(theta)
    fitted, first = model.fitted.evaluate(theta), model.layout.columns
    wanted = [fitted[first[item["coefficient"]][0] + item["place"]] for item in told["columns"]]
    assert_allclose(told["values"], wanted, rtol=1e-12, atol=1e-12 * np.abs(fitted).max())
    own = locked_frequencies(here.K[None, 2:, 2:], here.M[None, 2:, 2:])[0] / (2.0 * np.pi)
    assert_allclose(told["frequencies"], own, rtol=1e-10)


def test_stiffness_that_follows_a_coordinate_and_a_gear(opened):
    following = supple.loads(FOLLOWING)
    page = opened(following)
    for b in (-0.7, 0.1, 0.9):
        page.evaluate("async (b) => { await supple.set({ a: 0.3, b }); }", b)
        wanted = supple.modes(following, [0.3, b], count=4).frequencies_hz
        assert_allclose(page.evaluate("supple.frequencies()")[:4], wanted, rtol=1e-8)
    geared = supple.loads(GEARED)
    page = opened(geared)
    page.evaluate("async () => { await supple.set({ drive: 0.8 }); }")
    pose = supple.assemble(geared, [0.8]).frame("Q")
    assert_allclose(page.evaluate("supple.frame('Q').position"), pose.position, atol=1e-12)
