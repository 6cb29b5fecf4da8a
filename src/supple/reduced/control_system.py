"""A reduced model as a nonlinear system of python-control, and its equations in one box as expressions of sympy."""

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
from supple.results.text import undotted

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


def control_system(model: ReducedModel, *, friction_speed: float = FRICTION_SPEED) -> Any:
    """ẋ = (η̇, η̈(η, η̇, u)), y of all outputs, as a NonlinearIOSystem (the extra `control`).

    Inputs are the forces of the actuators; drives and instruments are left out. Names have _ for dots, which stand
    between a system and its signal there. `control.input_output_response` runs it.
    """
    control = optional_package("control", "python-control", "'supple[control]'")
    if model.hardware:
        told = "its inputs are forces and its outputs exact: drives and instruments of the model are left out"
        warnings.warn(SuppleNote(told), stacklevel=3)
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
        update, output, name=undotted((model.name,))[0], inputs=undotted(layout.inputs),
        outputs=undotted(layout.outputs), states=undotted((*names, *(f"{name}.rate" for name in names))),
    )  # fmt: skip


def symbolic(model: ReducedModel, theta: Values | str, coefficients: Sequence[str] = ("M", "force")) -> dict[str, Any]:
    """Coefficients in the box of θ at δ = 0 as arrays of sympy's expressions (the package sympy).

    coefficients : any that `evaluate` has; symbols are the coordinates, with _ for dots. Outside the box they go on as
    polynomials, but the model does not.
    """
    sympy = optional_package("sympy", "sympy", "sympy")
    layout, row, arrays = model.layout, model.row, model.fitted.arrays
    for name in coefficients:
        require_known("coefficient", name, row.shapes)
    points, _ = theta_points(layout, named_theta(model, theta))
    (leaf,) = model.fitted.locate(points[:1])
    if leaf == NOWHERE:
        raise InputError("it lies outside the region", part="θ", hint="choose another θ")
    x = sympy.symbols(undotted(layout.coordinates[: layout.theta]))
    center, scale = arrays.leaves_f[leaf]
    first, terms, _ = arrays.leaves_i[leaf]
    xi = [(symbol - float(c)) * float(h) for symbol, c, h in zip(x, center, scale, strict=True)]
    basis = [
        sympy.prod([sympy.chebyshevt_poly(int(n), t) for n, t in zip(index, xi, strict=True)])
        for index in arrays.indices[:terms]
    ]
    columns = arrays.coefficients[first : first + terms].T
    places, t = row_map(layout, row), len(columns)
    asked = {name: range(row.start(name), row.start(name) + int(np.prod(row.shapes[name]))) for name in coefficients}
    wanted = {place for places_of in asked.values() for place in places_of}
    wanted |= {int(source) for source, to in zip(places.copies_from, places.copies_to, strict=True) if to in wanted}
    found: dict[int, Any] = {
        place: sympy.nan if np.isnan(places.template[place]) else sympy.Float(places.template[place])
        for place in wanted
    }

    @cache
    def fitted(k: int) -> Any:  # not expanded: sums of high powers of θ lose digits that those of ξ keep
        return sympy.Add(*(float(c) * b for c, b in zip(columns[k], basis, strict=True)))

    for source, to in zip(places.values_from, places.values_to, strict=True):
        if to in wanted:
            found[to] = fitted(source)
    for sources, to, factors in zip(places.slopes_from, places.slopes_to, places.slopes_factor, strict=True):
        if to in wanted:
            parts = [(source, float(factor)) for source, factor in zip(sources, factors, strict=True) if factor]
            found[to] = sympy.Add(*(factor * sympy.diff(fitted(k % t), x[k // t]) for k, factor in parts))
    for source, to in zip(places.copies_from, places.copies_to, strict=True):
        if to in wanted:
            found[to] = found[int(source)]
    return {name: sympy.Array([found[k] for k in there], row.shapes[name]) for name, there in asked.items()}
