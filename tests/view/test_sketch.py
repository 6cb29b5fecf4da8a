"""The sketch: right axes, right letters, no window, names that do not cover one another."""

import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import proj3d
from numpy.testing import assert_allclose

import supple
from supple.view.sketch_places import body_kinds, convex_outline, convex_triangles, sketch_places, zigzag

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(folder.name for folder in EXAMPLES.iterdir() if (folder / "mechanism.yaml").is_file())


def at_rest(name: str) -> supple.Configuration:
    return supple.assemble(supple.load(EXAMPLES / name / "mechanism.yaml"))


@pytest.mark.parametrize("name", NAMES)
def test_axes_carry_the_letters_of_the_drawing(name):
    configuration = at_rest(name)
    plane = configuration.mechanism.plane
    (axes,) = configuration.plot().axes
    assert axes.name == ("rectilinear" if plane else "3d")
    assert [axes.get_xlabel(), axes.get_ylabel()] == [f"{letter} / m" for letter in (plane or "xy")]


@pytest.mark.parametrize("name", NAMES)
def test_names_do_not_cover_one_another(name):
    (axes,) = at_rest(name).plot().axes
    axes.figure.draw_without_rendering()
    if axes.name == "3d":  # a text in space knows its place on the page only while it is drawn
        for text in axes.texts:
            x, y, _ = proj3d.proj_transform(*text.get_position_3d(), axes.get_proj())
            text.set_position((x, y))
    boxes = [text.get_window_extent().shrunk(0.9, 0.9) for text in axes.texts]
    assert boxes
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i]), axes.texts[i].get_text()


def test_no_window_manager_is_used(monkeypatch):
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    at_rest("four-bar").plot()
    assert "matplotlib.pyplot" not in sys.modules


def test_a_batch_is_drawn_one_over_the_other():
    four_bar = at_rest("four-bar").mechanism
    one = supple.assemble(four_bar, [[0.3]]).plot(labels=False)
    three = supple.assemble(four_bar, [[0.1], [0.2], [0.3]]).plot(labels=False)
    assert len(three.axes[0].lines) - len(one.axes[0].lines) == 2 * len(four_bar.bodies)
    assert not three.axes[0].texts


def test_configurations_that_do_not_exist_are_left_out():
    four_bar = at_rest("four-bar").mechanism
    some = supple.assemble(four_bar, [[0.1], [2.5]], failures="mark").plot(labels=False)
    alone = supple.assemble(four_bar, [0.1]).plot(labels=False)
    assert len(some.axes[0].lines) == len(alone.axes[0].lines)
    with pytest.raises(supple.InputError, match="none of these"):
        supple.assemble(four_bar, [[2.5]], failures="mark").plot()


@pytest.mark.parametrize(("name", "projection"), [("four-bar", "3d"), ("orthoglide", None)])
def test_axes_of_the_wrong_dimension_are_refused(name, projection):
    axes = Figure().add_subplot(projection=projection)
    with pytest.raises(supple.InputError, match="needs"):
        at_rest(name).plot(axes=axes)


def test_guides_run_over_the_limits():
    configuration = at_rest("orthoglide")
    assert sketch_places(configuration.rest.numbering).guides == dict.fromkeys("xyz", (-0.26, 0.06))


def test_outlines():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.5, 0.5]])
    assert sorted(map(tuple, convex_outline(square))) == sorted(map(tuple, square[:4]))
    line = np.array([[0.0, 0.0, 0.0], [2.0, 2.0, 2.0], [1.0, 1.0, 1.0]])
    assert sorted(map(tuple, convex_outline(line))) == [(0.0, 0.0, 0.0), (2.0, 2.0, 2.0)]
    assert len(convex_triangles(np.vstack([np.zeros(3), np.eye(3)]))) == 4
    assert convex_triangles(line) == []


def test_a_spring_leads_from_end_to_end():
    a, b = np.array([0.0, 1.0, 2.0]), np.array([3.0, 1.0, 1.0])
    path = zigzag(a, b, 0.1)
    assert_allclose(path[[0, -1]], [a, b])
    across = path - a - np.outer((path - a) @ (b - a), b - a) / ((b - a) @ (b - a))
    assert_allclose(np.linalg.norm(across, axis=1).max(), 0.1)


def test_bodies_of_a_kind():
    assert set(body_kinds(("leg_x", "leg_y", "rod_x2", "tool")).values()) == {"leg", "rod", "tool"}
    assert list(body_kinds(("K1", "K2")).values()) == ["K1", "K2"]
