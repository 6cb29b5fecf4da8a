"""What is stated of a model: the error of each family, and whether it is what was asked for."""

from __future__ import annotations

from typing import Any

from supple.approximation.approximation import Approximation
from supple.approximation.samples import FamilyError
from supple.reduction.families import FREQUENCIES
from supple.reduction.fitted_coefficients import Columns

ROUNDING = 1e-9
"""No error is stated below: closure ends at 1e-12 of the mechanism's extent, and coefficients, which are its
derivatives, keep three digits less. What is constant but for that differs by it from sample to sample."""


def stated_errors(columns: Columns, approximation: Approximation, names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Stated error of each family, as `worst`, where the largest one was found, `at`, the largest one of the uniform
    check points, `seen`, and what errors are measured against: `scale`, the larger of `median_norm`, the median of ‖f‖
    over the region, and `floor`; JSON.

    Frequencies are one family, whose error is that of the worst of them; `each` says that of every one, lowest first.
    names : of what is fitted over
    """
    single = {name: item for name, item in approximation.error.items() if name not in columns.frequencies}
    stated = {name: _stated(names, item) | _norm(item) for name, item in single.items()}
    for name, drift in columns.drifted.items():
        if columns.layout.constants[name].size:
            stated[name] = {"worst": max(drift, ROUNDING), "at": {}}
    each = [_stated(names, approximation.error[name]) for name in columns.frequencies]
    if each:
        stated[FREQUENCIES] = max(each, key=lambda item: item["worst"]) | {"each": [item["worst"] for item in each]}
    return stated


def _stated(names: tuple[str, ...], item: FamilyError) -> dict[str, Any]:
    return {"worst": max(item.worst, ROUNDING), "at": dict(zip(names, item.at.tolist(), strict=True))}


def _norm(item: FamilyError) -> dict[str, float]:
    return {"median_norm": item.median_norm, "floor": item.floor, "scale": item.scale, "seen": item.seen}
