"""Sag and compliance on the command line; `rest` and `equilibrium` as places of every command."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple as library

RALF = "ralf"


@pytest.fixture(scope="module")
def ralf():
    from supple.cli import bundled

    return library.load(bundled.example_folder(RALF) / "mechanism.yaml")


def test_sag_is_that_of_the_library(supple, ralf):
    found = supple("deflection", RALF, "--at", "home", "--places", "tip,E.z", "--json").object
    exact = library.deflection(ralf, "home")
    assert list(found["displacements"]) == ["tip.x", "tip.z", "tip.angle", "E.z"]
    assert found["units"] == {"tip.x": "m", "tip.z": "m", "tip.angle": "rad", "E.z": "m"}
    for name, value in found["displacements"].items():
        assert value == exact.of(name)
    assert found["holding_forces"] == exact.holding_forces
    assert "tip.z" in supple("deflection", RALF).out


def test_compliance_and_its_inverse(supple, ralf):
    found = supple("compliance", RALF, "--at", "home", "--places", "T", "--json").object
    exact = library.compliance(ralf, "home", "T")
    assert found["names"] == list(exact.names)
    assert_allclose(found["compliance"], exact.values, rtol=1e-12)
    # the inverse of a matrix of condition 30
    assert_allclose(np.array(found["stiffness"]) @ found["compliance"], np.eye(3), atol=1e-12)
    assert "stiffness" in supple("compliance", RALF, "--places", "tip").out


def test_nothing_to_look_at_is_said(supple, four_bar):
    assert supple("deflection", four_bar).status == 1
    said = supple("compliance", RALF, "--places", "tipp.z")
    assert said.status == 1
    assert '"tipp"' in said.err


PENDULUM = "pendulum"  # hangs straight down, at -90°, wherever it is drawn


@pytest.mark.parametrize("command", [("assemble",), ("local",), ("linearize",)], ids=lambda item: item[0])
def test_rest_and_equilibrium_are_places(supple, command):
    hanging = supple(*command, PENDULUM, "--at", "equilibrium", "--json").object
    where = hanging.get("coordinates") if command[0] == "assemble" else hanging["at"]
    angle = where["O"] if "O" in where else where["states"]["O"]
    assert_allclose(angle, -np.pi / 2, atol=1e-9)  # what Newton's method leaves
    drawn = supple(*command, PENDULUM, "--at", "rest", "--json").object
    assert drawn == supple(*command, PENDULUM, "--json").object


def test_equilibrium_goes_on_from_the_others(supple):
    said = supple("simulate", PENDULUM, "--at", "O=1.6,equilibrium", "--until", "1ms", "--json").object
    assert_allclose(abs(said["coordinates"]["O"][0] % (2 * np.pi)), 1.5 * np.pi, atol=1e-9)
