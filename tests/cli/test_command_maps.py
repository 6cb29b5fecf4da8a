"""`--map` of every question with a short answer; over places, those out of reach end with their distance."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose


def test_frequencies_over_a_plane_of_tool_positions(supple, folder):
    grid = "tool.x=-0.3:0.3:3,tool.y=-300mm:300mm:3,tool.z=-1.1"
    said = supple("modes", "surgiscope", "--map", grid, "--count", 2, "-o", "map.png", "--json")
    found = said.object
    assert list(found["coordinates"]) == ["tool.x", "tool.y"]
    assert_allclose(found["coordinates"]["tool.y"], [-0.3, 0.0, 0.3], atol=1e-15)
    assert found["at"] == {"tool.z": -1.1}
    assert np.shape(found["frequencies_hz"]) == (3, 3, 2)
    assert np.shape(found["theta"]) == (3, 3, 3)
    at_first = supple("modes", "surgiscope", "--at", "first", "--count", 2, "--json").object
    assert_allclose(found["frequencies_hz"][1][1], at_first["frequencies_hz"], rtol=1e-9)
    assert (folder / "map.png").read_bytes().startswith(b"\x89PNG")


def test_compliance_over_a_line_of_tool_positions(supple, folder):
    said = supple("compliance", "surgiscope", "--places", "tool.z", "--map", "tool.x=0:1.6:3", "--at", "first",
                  "-o", "map.csv")  # fmt: skip
    assert re.search("1 of 3 configurations .*unreachable.* left empty", said.err)
    assert "outside their limits" in said.err  # x = 0.8 m: beyond the motors'
    assert "tool.z=-1.1" in said.out
    assert len((folder / "map.csv").read_text().splitlines()) == 4


@pytest.mark.parametrize(
    ("name", "at"),
    [
        ("orthoglide", "tool=[3, 2m, 9]"),
        ("surgiscope", "tool=[3, 2m, 9]"),
        ("ralf", "tip=[9, 2m]"),
        ("stewart", "platform=[0.4, 0.2, -2]"),  # its legs have no end, but stand all in one plane on the way
    ],
)
def test_a_place_out_of_reach_ends_with_its_distance(supple, name, at):
    said = supple("assemble", name, "--at", at)
    assert said.status == 1
    assert re.search(r"cannot reach .*nearest .*\[[-\d., ]+\]", said.err)
    assert " m away; " in said.err


@pytest.mark.parametrize(
    ("command", "names"),
    [
        (("linearize", "ralf", "--rigid"), ["frequency 1", "damping ratio 1"]),
        (("frf", "ralf", "--input", "lift", "--output", "tip.z", "--lines", 9), ["tip.z/lift", "tip.z/lift frequency"]),
        (("deflection", "ralf", "--places", "tip.z"), ["tip.z", "hold lift"]),
    ],
)
def test_a_question_with_a_short_answer_has_a_map(supple, folder, command, names):
    said = supple(*command, "--map", "lift=0.9:1.1:2", "-o", "map.csv", "--json").object
    assert said["names"][:2] == names
    assert said["coordinates"] == {"lift": [0.9, 1.1]}
    assert np.shape(said["values"])[0] == 2
    assert len((folder / "map.csv").read_text().splitlines()) == 3


def test_a_map_of_a_reduced_model_is_that_of_its_own_method(supple, folder):
    supple("new", "bars")
    supple("reduce", "bars.yaml", "--region", "crank=-0.2:0.2", "--boxes", 2, "--no-store", "-o", "bars.rom")
    said = supple("linearize", "bars.rom", "--map", "crank=-0.1:0.1:3", "--json").object
    alone = supple("linearize", "bars.rom", "--at", "crank=0.1", "--json").object
    size = np.abs(np.array(alone["eigenvalues"]) @ [1.0, 1j]) / (2.0 * np.pi)
    assert_allclose(np.array(said["values"])[2, 0], size[0], rtol=1e-6)


def test_a_map_of_a_linear_model_is_not_at_equilibrium(supple):
    assert supple("linearize", "ralf", "--map", "lift=0.9:1.1:2", "--at", "equilibrium").status == 2
    assert supple("linearize", "ralf", "--map", "lift=0.9:1.1:2", "--along", "payload").status == 2
