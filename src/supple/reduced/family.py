"""A family of reduced models: parameters μ of the mechanism as coordinates of the region, beside θ, constant in time.

What is fitted is a function of x = (θ, μ). A model is always that at some values of μ, the exact slice of the fit, so
that whoever takes a model need not know of families (docs/theory/reduction.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from supple.approximation.piecewise.piecewise import Piecewise, PiecewiseArrays, sliced_fit
from supple.diagnostics import InputError, nearest
from supple.diagnostics.errors import quoted

if TYPE_CHECKING:
    from supple.reduced.layout import CoefficientLayout
    from supple.reduced.model import ReducedModel


_SLACK = 1e-9  # of a range: what rounding may take a value outside


class FamilyParameter(NamedTuple):
    """A number of the mechanism that may change from one model of a family to the next.

    lower, upper : between which the family holds; nominal : the mechanism's own value; unit : of all three, "" if it
    has none or is not known
    """

    name: str
    lower: float
    upper: float
    nominal: float
    unit: str = ""

    @property
    def start(self) -> float:
        """The value a family begins at: the mechanism's own, or the middle if that lies outside the range."""
        return self.nominal if self.lower <= self.nominal <= self.upper else 0.5 * (self.lower + self.upper)

    def said(self, value: float) -> str:
        """`payload=12 kg`."""
        return f"{self.name}={value:.6g} {self.unit}".rstrip()

    @property
    def range(self) -> str:
        """`8 to 16 kg`."""
        return f"{self.lower:.6g} to {self.upper:.6g} {self.unit}".rstrip()


@dataclass(frozen=True, eq=False)
class Family:
    """parameters : μ, in the order of the last coordinates of the fitted function

    values : μ of the model that carries it; fitted : over (θ, μ), θ first, its columns those of the model
    """

    parameters: tuple[FamilyParameter, ...]
    values: tuple[float, ...]
    fitted: Piecewise = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def named(self) -> dict[str, float]:
        """{parameter: value} of the model that carries it."""
        return dict(zip(self.names, self.values, strict=True))

    def __str__(self) -> str:
        return ", ".join(
            f"{parameter.said(value)} (of {parameter.range})"
            for parameter, value in zip(self.parameters, self.values, strict=True)
        )

    def data(self) -> dict[str, dict[str, Any]]:
        """{parameter: its value in the model, its range, the file's value and its unit}, as `--json` prints them."""
        return {
            item.name: {"value": value, "range": [item.lower, item.upper], "nominal": item.nominal, "unit": item.unit}
            for item, value in zip(self.parameters, self.values, strict=True)
        }

    def slice(self) -> Piecewise:
        """The fitted function of θ alone, μ being `values`."""
        found = sliced_fit(self.fitted, np.array(self.values))
        if not len(found.arrays.leaves_i):
            raise InputError(
                f"nothing was fitted at {self}", part="parameters", hint="choose other values, or reduce again"
            )
        return found

    def slope(self, name: str) -> Piecewise:
        """∂/∂μ of the fitted columns along one parameter, a function of θ alone."""
        return sliced_fit(self.fitted, np.array(self.values), self.names.index(name))

    def moved(self, values: Mapping[str, float]) -> Family:
        """The family at other values; parameters that are not named keep theirs. Outside its range: InputError."""
        for name in values:
            if name not in self.names:
                raise InputError(
                    f"there is no parameter {quoted(name)} to set", part="parameters", hint=nearest(name, self.names)
                )
        found = [
            _inside(parameter, values[parameter.name]) if parameter.name in values else value
            for parameter, value in zip(self.parameters, self.values, strict=True)
        ]
        return replace(self, values=tuple(found))


def _inside(parameter: FamilyParameter, value: Any) -> float:
    part = f"parameter {quoted(parameter.name)}"
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{quoted(value)} is no number", part=part, hint="give one, in SI units") from None
    slack = _SLACK * (parameter.upper - parameter.lower)
    if not (isfinite(found) and parameter.lower - slack <= found <= parameter.upper + slack):
        said = f"{found:.6g} {parameter.unit}".rstrip()
        raise InputError(
            f"{said} lies outside the range the model was made for, {parameter.range}",
            part=part, hint="stay inside, or reduce over a larger range",
        )  # fmt: skip
    return min(max(found, parameter.lower), parameter.upper)


def at_values(model: ReducedModel, values: Mapping[str, float]) -> ReducedModel:
    """The model of the same family at other values of its parameters."""
    if model.family is None:
        raise InputError(
            "it has no parameters any more",
            part=f'model "{model.name}"', hint="reduce the mechanism with them in `vary`",
        )  # fmt: skip
    try:
        family = model.family.moved(values)
        return replace(model, fitted=family.slice(), family=family)
    except InputError as error:
        raise InputError(f"{error.part}: {error.message}", part=f'model "{model.name}"', hint=error.hint) from None


def slope_model(model: ReducedModel, name: str) -> ReducedModel:
    """∂/∂μ of all coefficients along one parameter, as a model to be evaluated (it moves nothing).

    Coefficients are linear in the fitted columns and their gradients along θ, so that the slice of ∂f/∂μ stands for
    them; what is constant does not change.
    """
    assert model.family is not None
    constants = {key: np.zeros_like(value) for key, value in model.layout.constants.items()}
    layout = replace(model.layout, constants=constants)
    return replace(model, layout=layout, fitted=model.family.slope(name), family=None)


def with_columns(model: ReducedModel, layout: CoefficientLayout, change: Any) -> ReducedModel:
    """The model with other columns, and its family with it.

    change : from PiecewiseArrays to coefficients (rows, t), linear in those, so that it holds over θ and over (θ, μ)
    """

    def changed(fitted: Piecewise) -> Piecewise:
        arrays: PiecewiseArrays = fitted.arrays
        return Piecewise(arrays._replace(coefficients=np.ascontiguousarray(change(arrays))))

    family = None if model.family is None else replace(model.family, fitted=changed(model.family.fitted))
    return replace(model, layout=layout, fitted=changed(model.fitted), family=family)


def require_family(family: Family, coordinates: Sequence[str]) -> None:
    """Parameters have names of their own and ranges with something in them, and the values lie inside."""
    names = family.names
    if not names or len(set(names)) < len(names) or set(names) & set(coordinates):
        raise InputError("parameters are not named each by itself", part="family", hint="reduce again")
    for parameter, value in zip(family.parameters, family.values, strict=True):
        numbers = (parameter.lower, parameter.upper, parameter.nominal, value)
        if not all(map(isfinite, numbers)) or not parameter.lower <= value <= parameter.upper:
            raise InputError(f"{parameter.said(value)} is not in {parameter.range}", part="family", hint="reduce again")
