"""Flexible mechanisms over their region: the paper's comparison, exchanges of modes, stated errors, nothing lost.

Sources: Brüls 2007 (docs/notation.md), section 6.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple.comparison.comparison import compare, compared_families, families
from supple.diagnostics import SuppleWarning
from supple.reduction import sampling as sampling_module
from supple.reduction.exact_coefficients import modes_of, scatter_in_boxes

EXAMPLES = Path(__file__).parents[2] / "examples"
WHOLE = {"crank": (-1.75, 1.75)}
# With three internal modes a partner from outside the set comes in near 0.70 rad.
AWAY = [{"crank": (-1.75, 0.64)}, {"crank": (0.76, 1.75)}]
PAPERS = {"fit": "lagrange", "constraint_modes": ["E.z"]}


@pytest.fixture(scope="module")
def bars() -> supple.Mechanism:
    return supple.load(EXAMPLES / "flexible-four-bar" / "mechanism.yaml")


@pytest.fixture(scope="module")
def ralf() -> supple.Mechanism:
    return supple.load(EXAMPLES / "ralf" / "mechanism.yaml")


@pytest.fixture(scope="module")
def reduced_ralf(ralf) -> supple.ReducedModel:
    return supple.reduce(ralf, internal_modes=2, tolerance=1e-4)


def warned(*given, **options):
    """A reduction, and what it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = supple.reduce(*given, **options)
    return model, [str(item.message) for item in caught if issubclass(item.category, SuppleWarning)]


@pytest.mark.slow
def test_three_internal_modes_exchange_twice_with_a_fourth(bars):
    model, said = warned(bars, region=WHOLE, internal_modes=3, boxes=4, **PAPERS)
    found = model.provenance["exchanges"]
    assert_allclose([item["theta"][0] for item in found], [0.665, 0.739], atol=1e-3)  # as the reference has them
    for item in found:
        assert item["cure"] == 4
        assert abs(item["hz"][0] - item["hz"][1]) < 2.0  # within 2 Hz of the one that drops
        assert 0.5 < item["overlap"] < 0.9
    assert sum("exchanges with one outside it" in text for text in said) == 2
    assert all("keep 4 internal modes" in text for text in said[:2])
    assert model.provenance["truncation"]["missing"]["hz"] < 30.0  # the mode that drops, while it is outside


@pytest.mark.slow
def test_four_internal_modes_exchange_with_none(bars):
    model, said = warned(bars, region=WHOLE, internal_modes=4, boxes=4, **PAPERS)
    assert model.provenance["exchanges"] == []
    assert all("model is unusable" in text for text in said)  # four boxes are far too few


@pytest.mark.slow
def test_a_mode_represented_above_the_band_is_not_missing(bars):
    """In the plane the reduced mode for 53.9 Hz lies at 56, above the highest internal mode: an error, not a gap."""
    model, said = warned(bars, region=AWAY, internal_modes=3, boxes=4, **PAPERS)
    assert model.provenance["truncation"]["missing"] is None
    assert 0.03 < model.provenance["truncation"]["frequencies"] < 0.05
    assert all("model is unusable" in text for text in said)  # four boxes are far too few


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the model is unusable")  # that is the paper's point about equal boxes
@pytest.mark.parametrize(
    ("count", "region", "equal", "tolerance", "most"), [(3, AWAY, 16, 0.05, 37), (4, WHOLE, 32, 0.3, 44)]
)
def test_adaptive_boxes_against_equal_ones(bars, count, region, equal, tolerance, most):
    """The paper's comparison: Lagrange interpolation on 32 equal boxes, and on at most 37 where they are needed (a few
    more for four modes, whose M_δδ on 32 has no positive eigenvalues in places, and so no frequencies)."""
    regular = supple.reduce(bars, region=region, internal_modes=count, boxes=equal, checks=1000, **PAPERS)
    adaptive = supple.reduce(bars, region=region, internal_modes=count, tolerance=tolerance, checks=1000, **PAPERS)
    auto = supple.reduce(bars, region=region, internal_modes=count, constraint_modes=["E.z"], tolerance=0.05,
                         checks=1000)  # fmt: skip
    for name, model in (("regular", regular), ("adaptive", adaptive), ("auto", auto)):
        made = model.provenance
        worst = max(model.error, key=model.error.__getitem__)
        print(f"{count} internal modes, {name}: {made['boxes']} boxes, {made['samples']} samples, {made['checks']} "
              f"checks, largest error {model.error[worst]:.2g} ({worst})")  # fmt: skip
    assert regular.provenance["boxes"] == 32
    assert adaptive.provenance["boxes"] <= most
    assert max(adaptive.error.values()) <= tolerance
    assert max(regular.error.values()) > 20.0 * max(adaptive.error.values())
    assert max(auto.error.values()) <= 0.05
    assert auto.provenance["boxes"] < adaptive.provenance["boxes"]
    # Everywhere, measured afresh: stiffness and inertia, by which the paper judges.
    off = {name: compare(bars, model, points=2000).error for name, model in (("r", regular), ("a", adaptive))}
    for family in ("M_θθ", "K_γγ"):
        assert off["a"][family] < off["r"][family]


def point_errors(mechanism, model, theta):
    """The error of each stated family at each θ."""

    def parts(item):
        return compared_families(model, families(item))

    exact = parts(supple.local(mechanism, theta, **modes_of(model)))
    found, typical = parts(model.evaluate(theta)), parts(model.evaluate(scatter_in_boxes(model, 2000, seed=11)))
    stated = model.provenance["error"]
    median = {
        name: max(np.median(np.linalg.norm(family, axis=1)), stated[name]["floor"]) for name, family in typical.items()
    }
    return {
        name: np.linalg.norm(found[name] - family, axis=1) / np.maximum(np.linalg.norm(family, axis=1), median[name])
        for name, family in exact.items()
    }


def assert_true(mechanism, model):
    found = point_errors(mechanism, model, scatter_in_boxes(model, 2000, seed=3))
    assert len(found) > 8
    for family, error in found.items():
        stated = max(model.error[family], 1e-9)  # what the local model itself is known to
        assert (error > 1.1 * stated).mean() <= 1e-3, (family, stated, error.max())


@pytest.mark.slow
def test_stated_errors_hold_for_ralf(ralf, reduced_ralf):
    assert max(reduced_ralf.error.values()) <= 1e-4
    made = reduced_ralf.provenance
    # 365 when last written; halving its box for the sake of rounding took 791.
    assert made["samples"] + made["held_out"] < 550
    assert_true(ralf, reduced_ralf)


@pytest.mark.slow
def test_stated_errors_hold_for_the_four_bar(bars):
    model = supple.reduce(bars, region=WHOLE, constraint_modes=["E.z"], internal_modes=4, tolerance=1e-2)
    assert max(model.error.values()) <= 1e-2
    assert_true(bars, model)


@pytest.mark.slow
def test_boxes_are_divided_where_the_error_is(ralf):
    """Entries of Γ that are zero but for rounding have no say in the direction: a few boxes do, as equal ones show."""
    adaptive = supple.reduce(ralf, internal_modes=2, fit="lagrange", tolerance=1e-2)
    equal = supple.reduce(ralf, internal_modes=2, fit="lagrange", boxes=8)
    assert max(adaptive.error.values()) <= 1e-2
    assert max(equal.error.values()) <= 1e-2
    assert adaptive.provenance["boxes"] < 0.5 * equal.provenance["boxes"]


def test_modes_left_out_of_ralf_are_told(reduced_ralf):
    lost = reduced_ralf.provenance["truncation"]
    assert lost["missing"] is None
    assert lost["frequencies"] < 2e-4  # truncation alone
    assert 36.0 < lost["next_hz"] < 37.0
    assert max(lost["compliance"].values()) < 0.01


def assert_same(model, other):
    left, right = ({k: v for k, v in item.provenance.items() if k != "made"} for item in (model, other))
    assert left == right
    assert (model.error, model.layout.columns, model.layout.internal) == (
        other.error,
        other.layout.columns,
        other.layout.internal,
    )
    for array, same in zip(model.fitted.arrays, other.fitted.arrays, strict=True):
        assert_array_equal(array, same)


@pytest.mark.slow
def test_file_store_and_processes(tmp_path, bars, monkeypatch):
    """What is read is what was written, bit for bit; a second run computes nothing; processes change nothing."""
    options = {"region": {"crank": (-1.0, 0.5)}, "constraint_modes": ["E.z"], "internal_modes": 3, "boxes": 40,
               "fit": "lagrange", "checks": 200}  # fmt: skip
    monkeypatch.setattr(sampling_module, "_SLOW", 0.0)  # checks are kept as well
    model = supple.reduce(bars, output=tmp_path / "bars.rom", **options)
    assert_same(supple.load(tmp_path / "bars.rom"), model)
    assert_same(supple.reduce(bars, workers=2, **options), model)

    def nothing(*_):
        raise AssertionError("a stored sample is computed again")

    monkeypatch.setattr(sampling_module, "sampled_rows", nothing)
    assert_same(supple.reduce(bars, store=tmp_path / "bars.rom.samples", **options), model)


def test_samples_of_another_choice_of_modes_are_others(tmp_path, bars):
    from supple.parameterization.mode_choice import ModeChoice
    from supple.reduction.sampling import samples_name

    choices = [ModeChoice(), *(ModeChoice(("E.z",), n, t, g) for n in (2, 3) for t in ("subspace", "modes")
                               for g in (None, (0.3,)))]  # fmt: skip
    assert len({samples_name(bars, choice) for choice in choices}) == len(choices)
