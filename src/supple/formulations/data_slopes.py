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
from numpy.typing import NDArray

from supple.approximation.analytic_slope import NEAR, WIDE, Reach, Stencil, slope, smooth, stencil
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.quoting import quoted
from supple.formats.varied import require_parameters, varied
from supple.formulations.coefficients import collected
from supple.formulations.elastic_rest.body_coordinates import own_band
from supple.kinematics.numbering import numbering
from supple.kinematics.primitives import SCALE, ZERO
from supple.kinematics.rest import rest

Array = NDArray[np.float64]


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
                if (judged is None or name in judged) and not smooth(each):
                    raise self.rough(f"its {name.replace('_', ' ')} has a kink there")
                found[name] = slope(self.stencil, each)
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
        if mechanism.elastic:
            unit = own_band(mechanism)
            for item in found:
                item.remembered("own band", lambda: unit)
        return Neighbours(name, around, found)

    return mechanism.remembered(f"{reach.number} neighbours along {name}", made)


def data_slopes(mechanism: Mechanism, name: str) -> DataSlopes:
    """∂/∂μ of rows, inertia, loads and laws along a parameter; computed once."""

    def made() -> DataSlopes:
        coordinates = rest(mechanism).numbering.coordinates
        found = neighbours(mechanism, name, NEAR).slopes(lambda item: _arrays(item, coordinates))
        return DataSlopes(*(found[field] for field in DataSlopes._fields))

    return mechanism.remembered(f"data slopes along {name}", made)


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
