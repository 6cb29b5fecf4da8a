"""`over`: any question with a short answer over a grid."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple


@pytest.fixture(scope="module")
def ralf(example):
    return example("ralf")


GRID = {"lift": [0.9, 1.0, 1.1]}


def test_a_public_question_is_asked_with_its_options(ralf):
    found = supple.over(ralf, GRID, supple.modes, count=2)
    assert (found.names, found.units, found.quantity) == (("mode 1", "mode 2"), ("Hz", "Hz"), "frequency")
    assert_array_equal(found.values, supple.frequency_map(ralf, GRID, count=2).frequencies_hz)
    assert_allclose(found.bounds[0], [found.of("mode 1").min(), found.of("mode 1").max()])


def test_numbers_of_a_question_of_ones_own_are_named_and_have_units(ralf, tmp_path):
    found = supple.over(ralf, GRID, lambda mechanism, at: {"height": at.frame("T").position[1]}, units="m")
    alone = [supple.assemble(ralf, {"lift": x}).frame("T").position[1] for x in GRID["lift"]]
    assert_allclose(found.of("height"), alone, rtol=1e-9)
    assert found.table().units == {"lift": "m", "height": "m"}
    with np.load(found.save(tmp_path / "map.npz")) as saved:
        assert_array_equal(saved["values"], found.values)
    assert found.plot()[0].get_ylabel() == "value / m"


def test_an_answer_that_is_not_short_is_refused(ralf):
    with pytest.raises(supple.InputError, match="cannot be reduced to a few numbers"):
        supple.over(ralf, GRID, supple.local, rigid=True)
    with pytest.raises(supple.InputError, match=r"returns .*soft.*; return numbers"):
        supple.over(ralf, GRID, lambda mechanism, at: "soft")


def test_poles_of_linear_models_are_a_short_answer(ralf):
    """Frequency and damping ratio of each eigenvalue, of a conjugate pair once."""
    found = supple.over(ralf, GRID, supple.linearize, drives=False, internal_modes=1)
    alone = supple.linearize(ralf, {"lift": 1.0}, drives=False, internal_modes=1)
    kept = alone.eigenvalues[alone.eigenvalues.imag >= 0.0]
    assert (found.quantity, found.units[:2]) == ("eigenvalue", ("Hz", "1"))
    assert_allclose(found.values[1, ::2], np.abs(kept) / (2.0 * np.pi), rtol=1e-6, atol=1e-9)


def test_a_response_comes_down_to_its_largest_magnitude_and_where_it_is(ralf):
    lines = np.linspace(2.0, 20.0, 40)
    found = supple.over(ralf, GRID, supple.frf, inputs="lift", outputs="tip.z",
                        frequencies_hz=lines)  # fmt: skip
    size = np.abs(supple.frf(ralf, {"lift": 1.1}, "lift", "tip.z", lines).values[:, 0, 0])
    assert found.names == ("tip.z/lift", "tip.z/lift frequency")
    assert_allclose(found.values[2], [size.max(), lines[size.argmax()]], rtol=1e-9)


def test_small_and_large_deflections_have_the_same_names(ralf):
    small, large = (supple.over(ralf, GRID, supple.deflection, large=large) for large in (False, True))
    assert (small.names, small.units) == (large.names, large.units)
    assert_allclose(small.of("tip.z"), large.of("tip.z"), rtol=0.01)  # of some mm on some m


def test_axes_name_what_they_show(ralf):
    found = supple.over(ralf, GRID, supple.linearize, drives=False, internal_modes=1)
    assert found.quantity == "eigenvalue"
    assert [axes.get_ylabel() for axes in found.plot()] == ["frequency / Hz", "damping ratio / 1"]
    held = supple.over(ralf, GRID, supple.deflection)
    assert {"deflection", "holding force"} == set(held.each)


def test_a_posture_is_never_cut_where_a_map_has_many_columns(ralf):
    found = supple.over(ralf, {"lift": [0.912345, 1.012345]}, supple.linearize, drives=False, internal_modes=8)
    shown = str(found.text())
    assert shown.count("0.912345") > 1  # once in each block of columns
    assert "…" not in shown
