"""Family of reduced models: parameters μ of the mechanism as coordinates of the region, beside θ, constant in time.

The fit is a function of x = (θ, μ). A model is always the exact slice of the fit at some values of μ, so that code that
uses a model does not depend on families (docs/theory/reduction.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from supple.approximation.piecewise.piecewise import Piecewise, PiecewiseArrays, sliced_fit
from supple.diagnostics import InputError, require_known
from supple.diagnostics.errors import quote

if TYPE_CHECKING:
    from supple.reduced.layout import CoefficientLayout
    from supple.reduced.model import ReducedModel


_SLACK = 1e-9  # of a range: allowed excess by rounding
FIXED = "written_for"  # key of the provenance with the texts of parameters that are fixed


class FamilyParameter(NamedTuple):
    """Parameter of the mechanism that varies over a family.

    Parameters
    ----------
    name : str
        Name of the parameter.
    lower, upper : float
        Range of the family.
    nominal : float
        Value in the mechanism file.
    unit : str, optional
        Unit of these values. Default: "" for none or unknown.
    """

    name: str
    lower: float
    upper: float
    nominal: float
    unit: str = ""

    @property
    def start(self) -> float:
        """Initial value of a family: the nominal value, or the middle of the range if that lies outside."""
        return self.nominal if self.lower <= self.nominal <= self.upper else 0.5 * (self.lower + self.upper)

    def format_value(self, value: float) -> str:
        """Return a value with name and unit, as in `payload=12 kg`."""
        return f"{self.name}={value:.6g} {self.unit}".rstrip()

    @property
    def range(self) -> str:
        """The range with its unit, as in `8 to 16 kg`."""
        return f"{self.lower:.6g} to {self.upper:.6g} {self.unit}".rstrip()


@dataclass(frozen=True, eq=False)
class Family:
    """Family of reduced models over varied parameters.

    Parameters
    ----------
    parameters : tuple of FamilyParameter
        Parameters μ, in the order of the last coordinates of the fitted function.
    values : tuple of float
        Values of μ of the model that carries the family.
    fitted : Piecewise
        Fitted function of (θ, μ), θ first, with the columns of the model.
    """

    parameters: tuple[FamilyParameter, ...]
    values: tuple[float, ...]
    fitted: Piecewise = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def named(self) -> dict[str, float]:
        """{parameter: value} of the model that carries the family."""
        return dict(zip(self.names, self.values, strict=True))

    def __str__(self) -> str:
        return ", ".join(
            f"{parameter.format_value(value)} (of {parameter.range})"
            for parameter, value in zip(self.parameters, self.values, strict=True)
        )

    def data(self) -> dict[str, dict[str, Any]]:
        """Return {parameter: value, range, nominal value and unit}, as `--json` prints them."""
        return {
            item.name: {"value": value, "range": [item.lower, item.upper], "nominal": item.nominal, "unit": item.unit}
            for item, value in zip(self.parameters, self.values, strict=True)
        }

    def slice(self) -> Piecewise:
        """Return the fitted function of θ alone, at the values of μ."""
        found = sliced_fit(self.fitted, np.array(self.values))
        if not len(found.arrays.leaves_i):
            raise InputError(
                f"the fit has no box at {self}", part="parameters", hint="choose other values, or reduce again"
            )
        return found

    def slope(self, name: str) -> Piecewise:
        """Return ∂/∂μ of the fitted columns along one parameter, as a function of θ alone."""
        return sliced_fit(self.fitted, np.array(self.values), self.names.index(name))

    def with_values(self, values: Mapping[str, float]) -> Family:
        """Return the family at other values; parameters that are not given keep theirs."""
        for name in values:
            require_known("parameter", name, self.names, part="parameters")
        found = [
            _inside(parameter, values[parameter.name]) if parameter.name in values else value
            for parameter, value in zip(self.parameters, self.values, strict=True)
        ]
        return replace(self, values=tuple(found))


def _inside(parameter: FamilyParameter, value: Any) -> float:
    part = f"parameter {quote(parameter.name)}"
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{quote(value)} is not a number", part=part, hint="give a number in SI units") from None
    slack = _SLACK * (parameter.upper - parameter.lower)
    if not (isfinite(found) and parameter.lower - slack <= found <= parameter.upper + slack):
        given = f"{found:.6g} {parameter.unit}".rstrip()
        raise InputError(
            f"{given} lies outside the range that the model was made for, {parameter.range}",
            part=part, hint="stay inside, or reduce over a larger range",
        )  # fmt: skip
    return min(max(found, parameter.lower), parameter.upper)


def at_values(model: ReducedModel, values: Mapping[str, float]) -> ReducedModel:
    """Return the model of the same family at other values of its parameters."""
    if model.family is None:
        raise InputError(
            "the model has no varied parameters",
            part=f'model "{model.name}"', hint="reduce the mechanism with the parameters in `vary`",
        )  # fmt: skip
    try:
        family = model.family.with_values(values)
        return replace(model, fitted=family.slice(), family=family)
    except InputError as error:
        raise InputError(f"{error.part}: {error.message}", part=f'model "{model.name}"', hint=error.hint) from None


def model_at_parameters(
    model: ReducedModel, values: Mapping[str, float] | None = None, *, others: bool = False
) -> ReducedModel:
    """Fix parameters of a family at values (default: the model's own) and record them in the provenance.

    others : True to keep parameters that are not named as parameters of the family
    """
    at = model.at(**(values or {}))
    assert at.family is not None
    fixed = [i for i, name in enumerate(at.family.names) if not others or name in (values or {})]
    texts = [
        f"{item.name} = {value:.6g} {item.unit}".rstrip()
        for item, value in ((at.family.parameters[i], at.family.values[i]) for i in fixed)
    ]
    family = _without(at.family, fixed, at.layout.theta) if len(fixed) < len(at.family.names) else None
    return replace(at, family=family, provenance={**at.provenance, FIXED: texts})


def _without(family: Family, fixed: list[int], theta: int) -> Family:
    """Return the family in the remaining parameters; the fixed ones stay at the values of the family."""
    kept = [i for i in range(len(family.names)) if i not in fixed]
    order = np.array([*range(theta), *(theta + i for i in (*kept, *fixed))])
    arrays = family.fitted.arrays
    nodes = arrays.nodes_i.copy()
    nodes[:, 0] = np.argsort(order)[nodes[:, 0]]
    permuted = arrays._replace(
        roots_f=arrays.roots_f[:, :, order], nodes_i=nodes, leaves_f=arrays.leaves_f[:, :, order],
        indices=arrays.indices[:, order],
    )  # fmt: skip
    values = [family.values[i] for i in fixed]
    return Family(
        tuple(family.parameters[i] for i in kept), tuple(family.values[i] for i in kept),
        sliced_fit(Piecewise(permuted), np.array(values)),
    )  # fmt: skip


def slope_model(model: ReducedModel, name: str) -> ReducedModel:
    """Return ∂/∂μ of all coefficients along one parameter, as a model whose coefficients are derivatives.

    Coefficients are linear in the fitted columns and their gradients along θ, so the slice of ∂f/∂μ replaces them; the
    derivatives of constants are zero.
    """
    assert model.family is not None
    constants = {key: np.zeros_like(value) for key, value in model.layout.constants.items()}
    layout = replace(model.layout, constants=constants)
    return replace(model, layout=layout, fitted=model.family.slope(name), family=None)


def with_columns(model: ReducedModel, layout: CoefficientLayout, change: Any) -> ReducedModel:
    """Return the model with other columns, and its family likewise.

    change : from PiecewiseArrays to coefficients (rows, t), linear in those, so that it is valid over θ and over (θ, μ)
    """

    def change_columns(fitted: Piecewise) -> Piecewise:
        arrays: PiecewiseArrays = fitted.arrays
        return Piecewise(arrays._replace(coefficients=np.ascontiguousarray(change(arrays))))

    family = None if model.family is None else replace(model.family, fitted=change_columns(model.family.fitted))
    return replace(model, layout=layout, fitted=change_columns(model.fitted), family=family)


def require_family(family: Family, coordinates: Sequence[str]) -> None:
    """Require distinct parameter names, non-empty ranges, and values inside."""
    names = family.names
    if not names or len(set(names)) < len(names) or set(names) & set(coordinates):
        raise InputError("the names of parameters and coordinates are not distinct", part="family", hint="reduce again")
    for parameter, value in zip(family.parameters, family.values, strict=True):
        numbers = (parameter.lower, parameter.upper, parameter.nominal, value)
        if not all(map(isfinite, numbers)) or not parameter.lower <= value <= parameter.upper:
            raise InputError(
                f"{parameter.format_value(value)} is not in {parameter.range}", part="family", hint="reduce again"
            )
