"""Maps over where a place is: each posture the one that `assemble` gives, what is out of reach left empty."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple

X, Y = np.linspace(-0.3, 0.3, 3), np.linspace(-0.2, 0.3, 2)


@pytest.fixture(scope="module")
def surgiscope(example):
    return example("surgiscope")


@pytest.fixture(scope="module")
def plane(surgiscope):
    return supple.frequency_map(surgiscope, {"tool.x": X, "tool.y": Y, "tool.z": -1.1}, count=3)


@pytest.mark.slow
def test_a_map_is_the_modes_at_each_position(surgiscope, plane):
    assert plane.at == {"tool.z": -1.1}
    for i, x in enumerate(X):
        for j, y in enumerate(Y):
            here = supple.assemble(surgiscope, {"tool": [x, y, -1.1]})
            assert_allclose(plane.theta[i, j], here.theta, atol=1e-12)
            alone = supple.modes(surgiscope, here, count=3).frequencies_hz
            assert_allclose(plane.frequencies_hz[i, j], alone, rtol=1e-9)  # shapes to 1e-8, frequencies to its square


def test_the_postures_of_a_map_put_the_tool_there(surgiscope, plane):
    """Two ways: θ of the map, assembled by itself, and looked at."""
    found = supple.assemble(surgiscope, plane.theta.reshape(-1, 3)).frame("platform")
    grid = np.stack(np.meshgrid(X, Y, [-1.1], indexing="ij"), axis=-1).reshape(-1, 3)
    assert_allclose(found.position, grid, atol=1e-10)


@pytest.mark.slow
def test_a_delta_looks_alike_after_a_third_of_a_turn(surgiscope):
    """Its legs are copies by 120°, so frequencies and the compliance along z are the same at turned positions."""
    seen = []
    for angle in 0.3 + np.arange(3) * 2.0 * np.pi / 3.0:
        grid = {"tool.x": [0.25 * np.cos(angle)], "tool.y": 0.25 * np.sin(angle), "tool.z": -1.1}
        hertz = supple.frequency_map(surgiscope, grid, count=4).frequencies_hz[0]
        seen.append([*hertz, supple.compliance_map(surgiscope, grid, "tool.z").own[0, 0]])
    assert_allclose(seen, [seen[0]] * 3, rtol=1e-9)


def test_what_stays_may_come_from_a_configuration(surgiscope, plane):
    found = supple.frequency_map(surgiscope, {"tool.x": X, "tool.y": Y}, at="first", count=3)
    assert found.at == {"tool.z": -1.1}
    assert_allclose(found.frequencies_hz, plane.frequencies_hz, rtol=1e-12)
    text = supple.frequency_map(surgiscope, {"tool.x": X[:1], "tool.y": Y[0], "tool.z": "-110 cm"}, count=3)
    assert_allclose(text.frequencies_hz[0], plane.frequencies_hz[0, 0], rtol=1e-9)


@pytest.mark.slow
def test_places_out_of_reach_stay_empty_and_are_counted(surgiscope, tmp_path):
    found = supple.compliance_map(surgiscope, {"tool.x": [0.0, 0.2, 2.0], "tool.z": -1.1}, ["tool.x", "tool.z"])
    assert_array_equal(found.assembled, [True, True, False])
    assert np.isnan(found.values[2]).all()
    assert np.isnan(found.theta[2]).all()
    alone = supple.compliance(surgiscope, {"tool": [0.2, 0.0, -1.1]}, ["tool.x", "tool.z"])
    assert_allclose(found.values[1], alone.values, rtol=1e-9)
    assert_allclose(found.of("tool.z")[1], alone.values[1, 1], rtol=1e-9)
    assert_allclose(found.stiffness[1] * found.own[1], 1.0)
    lines = found.save(tmp_path / "map.csv").read_text("utf-8").splitlines()
    assert lines[0] == "tool.x,arm1,arm2,arm3,tool.x/tool.x,tool.x/tool.z,tool.z/tool.x,tool.z/tool.z"
    assert lines[3].startswith("2.0,nan,nan,nan")


def test_a_map_that_reaches_nothing_tells_how_far_it_is(surgiscope):
    with pytest.raises(supple.InputError, match=r'"tool" cannot reach .* m away'):
        supple.frequency_map(surgiscope, {"tool.x": [0.0, 0.1], "tool.z": -3.0})


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"tool.x": 0.1}, "a map needs a coordinate to vary"),
        ({"tool.x": [0.1], "arm1": 0.1, "arm2": 0.1, "arm3": 0.1}, "4 values.*mobility of 3.*1 fewer"),
        ({"tool.w": [0.1]}, 'did you mean "tool.'),
        ({"tool.x": [[0.1]]}, "tool.x.* list of finite numbers"),
        ({"tool.x": [0.1], "platform.z": -1.1}, "several points, tool and platform; .*one point"),
    ],
)
def test_a_grid_that_is_no_posture_is_refused(surgiscope, grid, message):
    with pytest.raises(supple.InputError, match=message):
        supple.frequency_map(surgiscope, grid)


def test_planes_are_drawn_with_lengths_on_their_axes(surgiscope, plane):
    figure = plane.plot().figure
    labels = {one.get_ylabel() for axes in figure.axes for one in (axes, *axes.child_axes)}
    assert labels == {"tool.y / m", "frequency / Hz"}
    assert "tool.z = -1.1 m" in figure.get_suptitle()
    found = supple.compliance_map(surgiscope, {"tool.x": [0.0, 2.0], "tool.y": [0.0, 0.1], "tool.z": -1.1}, "tool.z")
    assert "2 of 4 postures out of reach" in found.plot(stiffness=True).figure.get_suptitle()
    line = supple.compliance_map(surgiscope, {"tool.z": [-1.2, -1.1]}, "tool").plot(units={"tool.z": "mm"})
    assert line.axes[-1].get_xlabel() == "tool.z / mm"
    assert_allclose(line.axes[0].lines[0].get_xdata(), [-1200.0, -1100.0])
