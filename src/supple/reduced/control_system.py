"""Conversion of a reduced model to a nonlinear system of python-control, and to symbolic expressions of sympy."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.approximation.piecewise.piecewise import NOWHERE
from supple.diagnostics import InputError, SuppleNote, optional_package, require_known
from supple.equations.forces import FRICTION_SPEED
from supple.reduced.observed import ObservedMotion, outputs_along
from supple.reduced.repertoire import named_theta
from supple.reduced.row_map import row_map
from supple.reduced.state_arguments import Values, theta_points
from supple.results.text import remove_dots

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


def control_system(model: ReducedModel, *, friction_speed: float = FRICTION_SPEED) -> Any:
    """Return a model as a NonlinearIOSystem of python-control (the extra `control`).

    The system is ẋ = (η̇, η̈(η, η̇, u)) with all outputs y. Inputs are the forces of the actuators; drives and
    instruments are left out. Names have _ for dots, which separate a system and its signal there. Simulate it with
    `control.input_output_response`.

    Parameters
    ----------
    model : ReducedModel
        Model to convert.
    friction_speed : float, optional
        Speed v₀ over which dry friction changes its sign. Default: 1e-3.

    Returns
    -------
    control.NonlinearIOSystem
        The system.
    """
    control = optional_package("control", "python-control", "'supple[control]'")
    if model.hardware:
        note = "inputs are forces and outputs are exact: drives and instruments of the model are left out"
        warnings.warn(SuppleNote(note), stacklevel=3)
    layout = model.layout
    n, s = layout.size, layout.theta

    def update(t: float, x: Any, u: Any, params: Any) -> Any:
        found = model.forward(x[:s], x[n:], u, delta=x[s:n], friction_speed=friction_speed)
        return np.concatenate([x[n:], found])

    def output(t: float, x: Any, u: Any, params: Any) -> Any:
        a = update(t, x, u, params)[n:]
        eta, v, push = (np.atleast_2d(item) for item in (x[:n], x[n:], u))
        moving = ObservedMotion(eta, v, np.atleast_2d(a), push, friction_speed)
        return outputs_along(model, moving)[0]

    names = layout.coordinates
    return control.nlsys(
        update, output, name=remove_dots((model.name,))[0], inputs=remove_dots(layout.inputs),
        outputs=remove_dots(layout.outputs), states=remove_dots((*names, *(f"{name}.rate" for name in names))),
    )  # fmt: skip


def symbolic(model: ReducedModel, theta: Values | str, coefficients: Sequence[str] = ("M", "force")) -> dict[str, Any]:
    """Return coefficients in the box of θ at δ = 0 as arrays of sympy expressions (the package sympy).

    Symbols are the coordinates, with _ for dots. The polynomials continue outside the box, but the model does not.

    coefficients : names of coefficients, as `evaluate` returns them
    """
    sympy = optional_package("sympy", "sympy", "sympy")
    layout, row, arrays = model.layout, model.row, model.fitted.arrays
    for name in coefficients:
        require_known("coefficient", name, row.shapes)
    points, _ = theta_points(layout, named_theta(model, theta))
    (leaf,) = model.fitted.locate(points[:1])
    if leaf == NOWHERE:
        raise InputError("lies outside the region of the model", part="θ", hint="choose another θ")
    x = sympy.symbols(remove_dots(layout.coordinates[: layout.theta]))
    center, scale = arrays.leaves_f[leaf]
    first, terms, _ = arrays.leaves_i[leaf]
    xi = [(symbol - float(c)) * float(h) for symbol, c, h in zip(x, center, scale, strict=True)]
    basis = [
        sympy.prod([sympy.chebyshevt_poly(int(n), t) for n, t in zip(index, xi, strict=True)])
        for index in arrays.indices[:terms]
    ]
    columns = arrays.coefficients[first : first + terms].T
    places, t = row_map(layout, row), len(columns)
    ranges = {name: range(row.start(name), row.start(name) + int(np.prod(row.shapes[name]))) for name in coefficients}
    required = {place for places_of in ranges.values() for place in places_of}
    required |= {int(source) for source, to in zip(places.copies_from, places.copies_to, strict=True) if to in required}
    found: dict[int, Any] = {
        place: sympy.nan if np.isnan(places.template[place]) else sympy.Float(places.template[place])
        for place in required
    }

    @cache
    def sum_terms(k: int) -> Any:  # not expanded: sums of high powers of θ lose digits, unlike those of ξ
        return sympy.Add(*(float(c) * b for c, b in zip(columns[k], basis, strict=True)))

    for source, to in zip(places.values_from, places.values_to, strict=True):
        if to in required:
            found[to] = sum_terms(source)
    for sources, to, factors in zip(places.slopes_from, places.slopes_to, places.slopes_factor, strict=True):
        if to in required:
            parts = [(source, float(factor)) for source, factor in zip(sources, factors, strict=True) if factor]
            found[to] = sympy.Add(*(factor * sympy.diff(sum_terms(k % t), x[k // t]) for k, factor in parts))
    for source, to in zip(places.copies_from, places.copies_to, strict=True):
        if to in required:
            found[to] = found[int(source)]
    return {name: sympy.Array([found[k] for k in there], row.shapes[name]) for name, there in ranges.items()}
