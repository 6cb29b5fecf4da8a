"""How the numbers that a mechanism is made of change with a parameter of its file: rows, inertia, loads and laws.

The way from a parameter to these arrays is explicit (expressions, places in the drawing, axes of bodies, integrals of
masses), and analytic but for min, max and abs. So their slopes are taken from the arrays themselves at four values
around the parameter's own, by the polynomial through them (`approximation.analytic_slope`): known to about 1e-12 of an
array's size, and refused where an array is not smooth there.             (docs/theory/parameters.md, eqs. 1 and 2)
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
from supple.diagnostics.errors import quoted
from supple.formats.varied_mechanism import changed_parameters, depends, first_of, require_parameters, varied
from supple.formulations.coefficients import collected
from supple.formulations.elastic_rest.body_coordinates import own_band
from supple.kinematics.numbering import numbering
from supple.kinematics.primitives import SCALE, ZERO
from supple.kinematics.rest import rest

_SAME = 1e-9  # of an array of slopes: less is rounding
_TERMS, _CELL = 10, 0.05  # of polynomials over a tenth of a parameter, half of it to either side
_FALLEN = 1e-12  # of the largest coefficient: what the last ones of a smooth array are below


class DataSlopes(NamedTuple):
    """∂/∂μ of the arrays of the rigid mechanism, as RowArrays and CoefficientArrays have them."""

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
        """∂/∂μ of arrays that a mechanism has, by name. Those whose numbers are whole must not change.

        judged : those that say whether all are smooth, all if left out; of what is zero but for rounding nothing tells
        """
        values = [arrays(mechanism) for mechanism in self.mechanisms]
        found = {}
        for name in values[0]:
            each = [np.asarray(item[name]) for item in values]
            same = all(array.shape == each[0].shape for array in each)
            whole = each[0].dtype.kind in "iub"
            if not same or (whole and not all(np.array_equal(array, each[0]) for array in each)):
                raise self.rough("the mechanism is put together in another way on either side of it")
            if not whole:
                if (judged is None or name in judged) and not smooth(each, 0.0 if judged is None else NOISE):
                    raise self.rough(f"its {name.replace('_', ' ')} has a kink there")
                found[name] = stencil_slope(self.stencil, each)
        return found

    def rough(self, why: str) -> InputError:
        """What is said where there is no slope."""
        middle = float(np.mean(self.stencil.points))
        return InputError(
            f"nothing has a slope along it at {middle:.6g}: {why}", part=f"parameter {quoted(self.name)}",
            hint="choose another value of it, or write what uses it without min, max and abs",
        )  # fmt: skip


def neighbours(mechanism: Mechanism, name: str, reach: Reach = WIDE) -> Neighbours:
    """The mechanism at a few values around that of one of its parameters; made once.

    Their elastic bodies are condensed for the same bands, which go by a frequency of the mechanism's own.
    """

    def made() -> Neighbours:
        require_parameters(mechanism, (name,))
        around = stencil(float(mechanism.parameters[name]), reach=reach)
        found = tuple(varied(mechanism, {name: value}) for value in around.points)
        if not any(depends(mechanism, item) for item in found):
            raise InputError(
                "nothing in the mechanism depends on it", part=f"parameter {quoted(name)}",
                hint="write numbers as expressions in it; a mechanism that was changed in Python keeps numbers alone",
            )  # fmt: skip
        if mechanism.elastic:
            unit = own_band(mechanism)
            for item in found:
                item.remembered("own band", lambda: unit)
        return Neighbours(name, around, found)

    return mechanism.remembered(f"{reach.number} neighbours along {name}", made)


def data_slopes(mechanism: Mechanism, name: str) -> DataSlopes:
    """∂/∂μ of rows, inertia, loads and laws along a parameter.

    Of a family of mechanisms (`first_of`) that other parameters do not enter, the arrays are polynomials of degree nine
    over a tenth of the parameter, known once for all members there; else computed once for each.
    """
    require_parameters(mechanism, (name,))
    first = first_of(mechanism) or mechanism
    known: dict[Any, Any] = first.remembered(f"data slopes along {name}", dict)
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
        there = first if not kept else mechanism if len(kept) == len(moved) else varied(first, kept)
        known[place] = _slopes(there, name)
    return known[place]


class _Cell(NamedTuple):
    """Arrays as polynomials of Chebyshev's around a value of a parameter, coefficients (n, ...) of each."""

    middle: float
    half_width: float
    arrays: tuple[Array, ...]


def _over_cell(first: Mechanism, name: str, middle: float) -> _Cell | None:
    """None where they are not smooth, or there is no mechanism."""
    coordinates, half = rest(first).numbering.coordinates, _CELL * abs(middle)
    points = chebyshev.chebpts1(_TERMS)
    try:
        values = [_arrays(varied(first, {name: middle + half * at}), coordinates) for at in points]
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
            coefficients = np.tensordot(inverse, whole - whole[0], axes=1)  # what is constant has no slope at all
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
    """Whether slopes along a parameter change with another one, or with itself; where that cannot be told, they do."""

    def tried() -> bool:
        here, there = float(mechanism.parameters[name]), float(mechanism.parameters[other])
        try:
            for value in (here,) if other == name else (here, _off(here, 0.07)):
                found = [
                    _slopes(varied(mechanism, {name: value, other: at}), name)
                    for at in (there, _off(there, 0.05), _off(there, -0.03))
                ]
                for arrays in zip(*found, strict=True):
                    size = max(float(np.abs(array).max(initial=0.0)) for array in arrays)
                    if any(np.abs(array - arrays[0]).max(initial=0.0) > _SAME * size for array in arrays):
                        return True
        except InputError:
            return True
        return False

    return mechanism.remembered(f"slopes along {name} follow {other}", tried)


def _off(value: float, share: float) -> float:
    return value + share * (abs(value) or 1.0)


def _arrays(mechanism: Mechanism, coordinates: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    found = numbering(mechanism, coordinates)  # the drawing: nothing has to be closed
    rows, load = found.arrays, collected(found).arrays
    rows_f = rows.rows_f.copy()
    rows_f[:, [SCALE, ZERO]] = 0.0  # what values are counted in, and turns
    return {
        "rows_f": rows_f, "inertia": load.inertia, "loads_f": load.loads_f, "uses_f": load.uses_f,
        "rows_i": rows.rows_i, "tree": rows.tree, "loads_i": load.loads_i, "uses_i": load.uses_i,
        "uses_start": load.uses_start,
    }  # fmt: skip
