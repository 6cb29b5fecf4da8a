"""`supple linearize` of a mechanism: at rest, at its equilibrium, in motion, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple as api


def test_in_motion_with_named_states(supple, four_bar):
    state = ("--at", "home", "--rates", "crank=2", "--accelerations", "crank=-1")
    found = supple("linearize", four_bar, *state, "--json").object
    assert [*found][:8] == ["states", "inputs", "outputs", "A", "B", "C", "D", "eigenvalues"]
    assert found["states"] == ["crank", "crank.rate"]
    assert found["inputs"] == ["crank"]
    assert found["outputs"] == ["E.x", "E.z"]
    exact = api.linearize(api.load(four_bar), [0.3], rates=[2.0], accelerations=[-1.0])
    for name in ("A", "B", "C", "D"):
        assert_allclose(found[name], getattr(exact, name), atol=1e-12)
    assert np.abs(exact.A[1, 1]) > 1e-3  # it moves: velocities have forces
    assert found["at"]["accelerations"]["crank"] == pytest.approx(-1.0)
    force = found["at"]["inputs"]["crank"]
    given = supple("linearize", four_bar, *state[:4], "--inputs", f"crank={force!r}", "--json").object
    assert_allclose(given["A"], found["A"], atol=1e-9)
    assert "eigenvalue" in supple("linearize", four_bar, *state).out


@pytest.fixture
def pendulum(tmp_path):
    file = tmp_path / "pendulum.yaml"
    file.write_text(
        "supple: 1\nname: pendulum\nplane: xz\ngravity: [0, -9.81]\npoints: {O: [0, 0], P: [1, 0]}\n"
        "bodies: {rod: {rod: [O, P], mass: 2}}\njoints: {O: {revolute: [ground, rod]}}\ncoordinates: [O]\n"
    )
    return file


def test_at_its_equilibrium(supple, pendulum):
    found = supple("linearize", pendulum, "--at", "equilibrium", "--json").object
    assert found["at"]["states"]["O"] == pytest.approx(-np.pi / 2)
    size = abs(complex(*found["eigenvalues"][0])) / (2 * np.pi)
    assert size == pytest.approx(0.6105, abs=5e-5)
    near = supple("linearize", pendulum, "--at", "equilibrium,O=-1", "--json").object
    assert_allclose(near["A"], found["A"], atol=1e-9)
    loose = supple("linearize", pendulum, "--inputs", "none", "--rates", "O=3", "--json").object
    assert loose["at"]["accelerations"]["O"] == pytest.approx(-1.5 * 9.81)


def test_what_it_refuses(supple, pendulum, four_bar):
    for arguments, words in (
        ((pendulum,), "no actuators"),
        ((pendulum, "--at", "equilibrium", "--rates", "O=1"), "omit --rates"),
        ((four_bar, "--rates", "cranck=1"), 'did you mean "crank"'),
        ((four_bar, "--inputs", "A=1"), 'unknown input "A"'),
        ((four_bar, "--at", "crank=1.9"), "dead point"),
        ((four_bar, "--inputs", "crank=1", "--accelerations", "crank=1"), "accelerations: cannot be combined"),
    ):
        said = supple("linearize", *arguments)
        assert said.status == 1, arguments
        assert words in " ".join(said.err.replace("│", " ").split())
