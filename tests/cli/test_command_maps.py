"""`--map` over where a place is, for `modes` and `compliance`; places out of reach end with their distance."""

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
    assert "1 of 3 configurations are out of reach; they are left empty" in said.err
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
    assert "does not reach it: the nearest point found is [" in said.err
    assert " m away; " in said.err
