"""`supple local`."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple as api

KEYS = {
    "coordinates", "inputs", "M", "K", "damping", "christoffel", "dM", "force", "input_map", "outputs", "internal_hz",
    "singularity", "potential",
}  # fmt: skip


def test_it_prints_the_coefficients_of_the_local_model(supple, four_bar):
    found = supple("local", four_bar, "--at", "home", "--json").object
    model = api.local(api.load(four_bar), "home")
    assert found.keys() >= KEYS
    for name in ("M", "K", "damping", "christoffel", "dM", "force", "input_map", "singularity", "potential"):
        assert_allclose(found[name], getattr(model, name), rtol=1e-12, err_msg=name)
    assert (found["coordinates"], found["inputs"], found["internal_hz"]) == (["crank"], ["crank"], [])
    assert found["at"] == {"crank": 0.3}


def test_shapes_are_those_of_the_coordinates(supple, folder):
    found = supple("local", "orthoglide", "--json").object
    for name, shape in {
        "M": (3, 3), "K": (3, 3), "damping": (3, 3), "christoffel": (3, 3, 3), "dM": (3, 3, 3), "force": (3,),
        "input_map": (3, 3),
    }.items():  # fmt: skip
        assert np.shape(found[name]) == shape, name
    for output in found["outputs"].values():
        assert np.shape(output["rigid"]) == (3,)
        assert output["modes"] == []


@pytest.mark.parametrize("option", [("--internal-modes", "2"), ("--constraint-modes", "E.z")])
def test_elastic_modes_of_a_rigid_mechanism_are_refused(supple, four_bar, option):
    said = supple("local", four_bar, *option)
    assert said.status == 1
    assert "elastic bodies" in said.err
    assert option[0] in said.err


def test_no_internal_modes_are_what_a_rigid_mechanism_has(supple, four_bar):
    assert supple("local", four_bar, "--internal-modes", "0", "--json").object["internal_hz"] == []


def test_a_mechanism_without_coordinates_is_refused_with_its_line(supple, four_bar):
    text = four_bar.read_text().replace("configurations:\n  home: {crank: 0.3}\n", "").replace("sensors", "springs")
    text = text.replace("  E: {position: E}", "  E: {joint: E, stiffness: 1}").replace("actuators:", "dampers:")
    four_bar.write_text(text.replace("limits: [-1.75, 1.75]", "damping: 1"))
    said = supple("local", four_bar)
    assert said.status == 1
    assert said.err.startswith(f"error: {four_bar}:")
    assert "list as many coordinates:" in said.err


def test_it_is_readable(supple, four_bar):
    said = supple("local", four_bar, "--at", "crank=0")
    assert "0.172774" in said.out  # the mass matrix of the published four-bar
    assert "N m" in said.out
    assert "∂/∂crank" in said.out


def test_stiffening_is_an_option_of_flexible_models(supple, folder):
    plain, stiff = (
        supple("local", "flexible-four-bar", "--internal-modes", "2", *option, "--json").object
        for option in ((), ("--stiffening",))
    )
    assert (plain["stiffening"], stiff["stiffening"]) == (False, True)
    assert_allclose(stiff["M"], plain["M"])
    assert np.abs(np.subtract(stiff["dM"], plain["dM"]))[..., 1:].max() > 0.1
    alone = supple("local", "flexible-four-bar", "--stiffening")
    assert alone.status == 1
    assert "none are kept" in alone.err
