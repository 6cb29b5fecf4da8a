"""Slopes of the data of a mechanism (rows, inertia, loads, force models) with respect to a parameter of its file.

The data are explicit functions of the parameter (expressions, drawn positions, axes of bodies, mass integrals), and
analytic except for min, max and abs. Their slopes follow from the arrays at four values around the parameter's own
value, by polynomial interpolation (`approximation.analytic_slope`), with an error of about 1e-12 of an array's size.
Arrays that are not smooth are refused.                              (docs/theory/parameters.md, eqs. 1 and 2)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from supple.approximation.analytic_slope import NEAR, NOISE, WIDE, Reach, Stencil, smooth, stencil, stencil_slope
from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.errors import quote
from supple.formats.varied_mechanism import changed_parameters, depends, first_of, require_parameters, vary_mechanism
from supple.formulations.coefficients import collect_coefficients
from supple.formulations.elastic_rest.body_coordinates import own_band
from supple.kinematics.numbering import numbering
from supple.kinematics.primitives import SCALE, ZERO
from supple.kinematics.rest import rest

_SAME = 1e-9  # relative size of rounding errors in an array of slopes
_TERMS, _CELL = 10, 0.05  # terms of the polynomials, and half of their interval relative to the parameter
_FALLEN = 1e-12  # largest last coefficients of a smooth array, relative to its largest coefficient


class DataSlopes(NamedTuple):
    """Slopes ∂/∂μ of the arrays of the rigid mechanism, as in RowArrays and CoefficientArrays."""

    rows_f: Array
    inertia: Array
    loads_f: Array
    uses_f: Array


class Neighbours(NamedTuple):
    """Mechanisms at the points of a stencil around the value of a parameter."""

    name: str
    stencil: Stencil
    mechanisms: tuple[Mechanism, ...]

    def slopes(
        self, arrays: Callable[[Mechanism], Mapping[str, NDArray[Any]]], judged: Collection[str] | None = None
    ) -> dict[str, Array]:
        """Return ∂/∂μ of arrays of a mechanism, by name; integer arrays must not change.

        judged : names of the arrays that decide about smoothness, default all; arrays of rounding errors cannot
        """
        values = [arrays(mechanism) for mechanism in self.mechanisms]
        found = {}
        for name in values[0]:
            each = [np.asarray(item[name]) for item in values]
            same = all(array.shape == each[0].shape for array in each)
            whole = each[0].dtype.kind in "iub"
            if not same or (whole and not all(np.array_equal(array, each[0]) for array in each)):
                raise self.rough("the structure of the mechanism changes at this value")
            if not whole:
                if (judged is None or name in judged) and not smooth(each, 0.0 if judged is None else NOISE):
                    raise self.rough(f"{name.replace('_', ' ')} has a kink at this value")
                found[name] = stencil_slope(self.stencil, each)
        return found

    def rough(self, why: str) -> InputError:
        """Return the error for a parameter without a slope."""
        middle = float(np.mean(self.stencil.points))
        return InputError(
            f"no derivative exists at {middle:.6g}: {why}", part=f"parameter {quote(self.name)}",
            hint="choose another value, or write the expressions that use it without min, max and abs",
        )  # fmt: skip


def neighbours(mechanism: Mechanism, name: str, reach: Reach = WIDE) -> Neighbours:
    """Return the mechanism at a few values around that of a parameter, created once.

    Their elastic bodies are condensed for the same bands, which depend on a frequency of the mechanism itself.
    """

    def make() -> Neighbours:
        require_parameters(mechanism, (name,))
        around = stencil(float(mechanism.parameters[name]), reach=reach)
        found = tuple(vary_mechanism(mechanism, {name: value}) for value in around.points)
        if not any(depends(mechanism, item) for item in found):
            raise InputError(
                "the mechanism does not depend on it", part=f"parameter {quote(name)}",
                hint="use it in expressions of the file; a mechanism that was changed in Python contains only numbers",
            )  # fmt: skip
        if mechanism.elastic:
            unit = own_band(mechanism)
            for item in found:
                item.compute_once("own band", lambda: unit)
        return Neighbours(name, around, found)

    return mechanism.compute_once(f"{reach.number} neighbours along {name}", make)


def data_slopes(mechanism: Mechanism, name: str) -> DataSlopes:
    """Return ∂/∂μ of rows, inertia, loads and force models with respect to a parameter.

    For a family of mechanisms (`first_of`) whose other parameters do not enter, the arrays are polynomials of degree
    nine over a tenth of the parameter, computed once for all members; otherwise they are computed once per mechanism.
    """
    require_parameters(mechanism, (name,))
    first = first_of(mechanism) or mechanism
    known: dict[Any, Any] = first.compute_once(f"data slopes along {name}", dict)
    moved = {} if first is mechanism else changed_parameters(first, mechanism)
    kept = {other: value for other, value in moved.items() if _follows(first, name, other)}
    value = float(mechanism.parameters[name])
    if set(kept) == {name} and value != 0.0:
        cell = int(np.round(np.log(abs(value)) / np.log(1.1)))
        key = (cell, value > 0.0)
        if key not in known:
            known[key] = _over_cell(first, name, np.copysign(1.1**cell, value))
        if known[key] is not None:
            return _in_cell(known[key], value)
    place = tuple(sorted(kept.items()))
    if place not in known:
        there = first if not kept else mechanism if len(kept) == len(moved) else vary_mechanism(first, kept)
        known[place] = _slopes(there, name)
    return known[place]


class _Cell(NamedTuple):
    """Chebyshev polynomials of arrays around a value of a parameter, with coefficients (n, ...) for each array."""

    middle: float
    half_width: float
    arrays: tuple[Array, ...]


def _over_cell(first: Mechanism, name: str, middle: float) -> _Cell | None:
    """Return the polynomials, or None if the arrays are not smooth or a mechanism does not exist."""
    coordinates, half = rest(first).numbering.coordinates, _CELL * abs(middle)
    points = chebyshev.chebpts1(_TERMS)
    try:
        values = [_arrays(vary_mechanism(first, {name: middle + half * at}), coordinates) for at in points]
    except InputError:
        return None
    inverse = np.linalg.inv(chebyshev.chebvander(points, _TERMS - 1))
    found = []
    for field in values[0]:
        each = [item[field] for item in values]
        if any(array.shape != each[0].shape for array in each):
            return None
        if each[0].dtype.kind in "iub":
            if not all(np.array_equal(array, each[0]) for array in each):
                return None
        elif field in DataSlopes._fields:
            whole = np.array(each)
            coefficients = np.tensordot(inverse, whole - whole[0], axes=1)  # exactly zero for constants
            last = np.abs(coefficients[-2:]).reshape(2, -1).max(axis=1, initial=0.0)
            if (last > np.array([10.0, 1.0]) * _FALLEN * np.abs(whole).max(initial=0.0)).any():
                return None
            found.append(coefficients)
    return _Cell(middle, half, tuple(found))


def _in_cell(cell: _Cell, value: float) -> DataSlopes:
    at = (value - cell.middle) / cell.half_width
    rates = np.array([chebyshev.chebval(at, chebyshev.chebder(item)) for item in np.eye(_TERMS)]) / cell.half_width
    return DataSlopes(*(np.tensordot(rates, array, axes=1) for array in cell.arrays))


def _slopes(mechanism: Mechanism, name: str) -> DataSlopes:
    coordinates = rest(mechanism).numbering.coordinates
    found = neighbours(mechanism, name, NEAR).slopes(lambda item: _arrays(item, coordinates))
    return DataSlopes(*(found[field] for field in DataSlopes._fields))


def _follows(mechanism: Mechanism, name: str, other: str) -> bool:
    """Return whether slopes with respect to a parameter depend on another one, or on itself; True if unknown."""

    def compare_slopes() -> bool:
        here, there = float(mechanism.parameters[name]), float(mechanism.parameters[other])
        try:
            for value in (here,) if other == name else (here, _off(here, 0.07)):
                found = [
                    _slopes(vary_mechanism(mechanism, {name: value, other: at}), name)
                    for at in (there, _off(there, 0.05), _off(there, -0.03))
                ]
                for arrays in zip(*found, strict=True):
                    size = max(float(np.abs(array).max(initial=0.0)) for array in arrays)
                    if any(np.abs(array - arrays[0]).max(initial=0.0) > _SAME * size for array in arrays):
                        return True
        except InputError:
            return True
        return False

    return mechanism.compute_once(f"slopes along {name} follow {other}", compare_slopes)


def _off(value: float, share: float) -> float:
    return value + share * (abs(value) or 1.0)


def _arrays(mechanism: Mechanism, coordinates: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    found = numbering(mechanism, coordinates)  # the drawing: nothing has to be closed
    rows, load = found.arrays, collect_coefficients(found).arrays
    rows_f = rows.rows_f.copy()
    rows_f[:, [SCALE, ZERO]] = 0.0  # what values are counted in, and turns
    return {
        "rows_f": rows_f, "inertia": load.inertia, "loads_f": load.loads_f, "uses_f": load.uses_f,
        "rows_i": rows.rows_i, "tree": rows.tree, "loads_i": load.loads_i, "uses_i": load.uses_i,
        "uses_start": load.uses_start,
    }  # fmt: skip
