"""Load factors of buckling against Euler's columns and a portal frame, and one geometric stiffness in all analyses."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq

import supple
from supple.diagnostics import InputError

E, SIDE, LENGTH, FORCE = 210e9, 0.02, 2.0, 1500.0
EULER = np.pi**2 * E * SIDE**4 / 12.0 / LENGTH**2
COLUMN = f"""
supple: 1
name: column
gravity: [0, 0, 0]
points: {{A: [0, 0, 0], B: [0, 0, {LENGTH}]}}
materials: {{steel: {{youngs_modulus: {E}, density: 7850, poisson: 0.3}}}}
sections: {{bar: {{rectangle: [{SIDE}, {SIDE}]}}}}
bodies: {{column: {{beam: [A, B], section: bar, material: steel, elements: 8, up: x}}}}
joints: {{JOINTS}}
actuators: {{push: {{joint: FOOT}}}}
forces: {{top: {{at: column.B, force: [0, 0, -{FORCE}]}}}}
"""
CLAMPED = "A: {prismatic: [ground, column], axis: y}"


def column(joints: str = CLAMPED, foot: str = "A", more: str = "") -> supple.Mechanism:
    return supple.loads(COLUMN.replace("JOINTS", joints).replace("FOOT", foot) + more)


PLANAR = """
supple: 1
name: column
plane: xz
points: {A: [0, 0], B: [0, 2]}
materials: {steel: {youngs_modulus: 210e9, density: 7850}}
sections: {bar: {rectangle: [0.02, 0.02]}}
bodies: {column: {beam: [A, B], section: bar, material: steel, elements: 8, theory: euler-bernoulli}}
joints: {JOINTS}
actuators: {slide: {joint: B}}
forces: {top: {at: column.B, force: [0, -1500]}}
"""


@pytest.mark.parametrize(("foot", "head", "times"), [
    ("prismatic: [ground, column], axis: [0, 1]", None, 0.25),
    ("revolute: [ground, column]", "cylinder", 1.0),
    ("weld: [ground, column]", "cylinder", 2.0457),
    ("weld: [ground, column]", "prismatic: [ground, column], axis: [0, 1]", 4.0),
], ids=["free", "hinged", "clamped and hinged", "clamped"])  # fmt: skip
def test_euler_columns(foot, head, times):
    """P = c π² EI / L²; a head that is guided along the column is a hinge on a light slide, or a slide that is free."""
    text = PLANAR
    if head is None:
        text = text.replace("JOINTS", f"A: {{{foot}}}").replace("joint: B", "joint: A")
    elif head == "cylinder":
        text = text.replace("JOINTS", f"A: {{{foot}}}, B: {{revolute: [guide, column]}}, "
                            "S: {prismatic: [ground, guide], axis: [0, 1], at: B}")  # fmt: skip
        text = text.replace("bodies: {", "bodies: {guide: {mass: 1e-3, center: B}, ").replace("joint: B", "joint: S")
        text = text.replace("actuators: {slide: {joint: S}}\n", "coordinates: []\n")
    else:
        text = text.replace("JOINTS", f"A: {{{foot}}}, B: {{{head}}}")
        text = text.replace("actuators: {slide: {joint: B}}\n", "coordinates: []\n")
    found = supple.buckling(supple.loads(text), count=1)
    assert found.load_factors[0] * FORCE == pytest.approx(times * EULER, rel=1e-3)


def test_a_portal_that_sways():
    """k h cot(k h) = -6 (I_b/b)/(I/h), both feet clamped [Timoshenko, Theory of Elastic Stability, 2.4]."""
    height, width = 1.2, 1.8
    text = f"""
supple: 1
name: portal
plane: xz
points: {{A: [0, 0], B: [0, {height}], C: [{width}, {height}], D: [{width}, 0]}}
materials: {{steel: {{youngs_modulus: 210e9, density: 7850}}}}
sections: {{bar: {{rectangle: [0.02, 0.02]}}}}
bodies:
  portal:
    beams:
      - {{from: A, to: B, section: bar, material: steel, elements: 6, theory: euler-bernoulli}}
      - {{from: B, to: C, section: bar, material: steel, elements: 6, theory: euler-bernoulli}}
      - {{from: C, to: D, section: bar, material: steel, elements: 6, theory: euler-bernoulli}}
joints: {{A: {{weld: [ground, portal]}}, D: {{weld: [ground, portal]}}}}
coordinates: []
forces: {{left: {{at: portal.B, force: [0, -1]}}, right: {{at: portal.C, force: [0, -1]}}}}
"""
    kh = brentq(lambda x: x / np.tan(x) + 6.0 * height / width, 0.5 * np.pi + 1e-6, np.pi - 1e-6)
    expected = kh**2 * E * SIDE**4 / 12.0 / height**2
    assert supple.buckling(supple.loads(text), count=1).load_factors[0] == pytest.approx(expected, rel=2e-3)


def test_one_geometric_stiffness_in_all_analyses():
    """A steel column at 87 % of its buckling load: 1.5693 Hz exactly, 4.18 Hz without load."""
    made = column()
    expected = supple.small_motions(made, count=2).frequencies_hz[0]
    assert supple.modes(made, count=2).frequencies_hz[0] == pytest.approx(expected, rel=1e-3)
    free = supple.modes(made, count=3, free_actuators=True).frequencies_hz
    assert free[1] == pytest.approx(expected, rel=1e-3)
    lines = np.linspace(1.5, 1.65, 301)
    response = supple.frf(made, None, "column.B.x", "column.B.x", lines, damping=1e-4)
    assert lines[np.abs(response.values[:, 0, 0]).argmax()] == pytest.approx(expected, rel=1e-3)
    linear = supple.linearize(made, internal_modes=12)
    hertz = np.sort(np.abs(linear.eigenvalues.imag)) / (2.0 * np.pi)
    assert hertz[hertz > 0.5][0] == pytest.approx(expected, rel=2e-3)  # over twelve modes without load
    local = supple.local(made, internal_modes=12)
    stiff = supple.local(made, internal_modes=12, stiffening=True)
    assert_allclose(local.K, stiff.K, atol=1e-9 * local.K.max())
    assert_allclose(local.stiffness_slope, stiff.stiffness_slope, atol=1e-7 * local.K.max())
    squares = np.linalg.eigvals(np.linalg.solve(local.M[1:, 1:], local.K[1:, 1:])).real
    assert np.sqrt(squares.min()) / (2.0 * np.pi) == pytest.approx(expected, rel=2e-3)
    assert supple.modes(made, count=1, preload=False).frequencies_hz[0] == pytest.approx(4.1776, rel=1e-4)


def test_near_buckling_more_modes_are_needed():
    """Modes without load represent the column at 87 % of its buckling load slowly (docs/theory/stiffening.md)."""
    made = column()
    for count, in_docs in ((4, 1.594), (8, 1.573), (12, 1.570)):
        local = supple.local(made, internal_modes=count, preload=True)
        squares = np.linalg.eigvals(np.linalg.solve(local.M[1:, 1:], local.K[1:, 1:])).real
        assert np.sqrt(squares.min()) / (2.0 * np.pi) == pytest.approx(in_docs, abs=6e-4)


def test_past_buckling_it_is_told():
    made = column().replace(forces={"top": {"at": "column.B", "force": [0, 0, -2000.0]}})
    with pytest.warns(supple.SuppleWarning, match=r"buckles under 0\.863\d* times its loads"):
        found = supple.modes(made, count=2)
    assert found.frequencies_hz[0] < 0.0


def test_what_is_scaled_and_what_stays():
    """A weight beside the force: factors of the force alone are less by what the weight takes."""
    made = column(more="").replace(gravity=[0.0, 0.0, -9.81])
    alone = supple.buckling(column(), scale="forces", count=1).load_factors[0]
    beside = supple.buckling(made, scale="forces", count=1).load_factors[0]
    weight = supple.buckling(column().replace(gravity=[0.0, 0.0, -9.81], forces={}), scale="gravity", count=1)
    assert beside == pytest.approx(alone * (1.0 - 1.0 / weight.load_factors[0]), rel=1e-3)  # Dunkerley, nearly exact
    hanging = column().replace(forces={"top": {"at": "column.B", "force": [0, 0, 100.0]}})
    assert len(supple.buckling(hanging)) == 0
    with pytest.raises(InputError, match="no load to scale"):
        supple.buckling(column(), scale="gravity")


def test_the_command(capsys, tmp_path):
    from supple.cli.main import app

    path = tmp_path / "column.yaml"
    path.write_text(COLUMN.replace("JOINTS", CLAMPED).replace("FOOT", "A"), "utf-8")
    for more in (
        ["--json"],
        ["-o", str(tmp_path / "shapes.png")],
        ["--scale", "forces", "-o", str(tmp_path / "t.csv")],
    ):
        with pytest.raises(SystemExit) as end:
            app(["buckling", str(path), "--count", "2", *more])
        assert end.value.code == 0
        said = capsys.readouterr().out
        if more == ["--json"]:
            assert json.loads(said)["load_factors"][0] == pytest.approx(0.25 * EULER / FORCE, rel=1e-3)
    assert (tmp_path / "shapes.png").exists()
    assert "1.15" in (tmp_path / "t.csv").read_text()
