"""Materials of elastic bodies, and damping of what is elastic."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from supple.description.quantities.dimension import DENSITY, FREQUENCY, PER_TIME, PRESSURE, RATIO, TIME, require
from supple.description.quantities.expression import number
from supple.description.quantities.quantity import NotNegative, Part, Positive, of
from supple.diagnostics import InputError

# Damping of what is elastic, for the mechanism as a whole or for one material.


Share = Annotated[NotNegative, of(RATIO)]
OTHERS = "others"
_MODE = re.compile(r"mode([1-9]\d{0,3})")


BRAKES = (
    "its damping in proportion to mass, {:.3g} 1/s, brakes the motion of the whole as well when the mechanism is "
    "simulated: without coordinates nothing tells that motion from deformation; list coordinates:"
)


class RatioAt(Part):
    """A measured damping ratio."""

    frequency: Annotated[Positive, of(FREQUENCY)]
    """Hz, of the mode."""
    ratio: Share
    """ζ: 0.01 is one per cent of critical."""


def _one_kind(value: Any) -> Any:
    """Refuses lists and names with ratios that cannot be, before the alternatives of the field are tried one by one."""
    if isinstance(value, list | tuple):
        tables = [isinstance(item, Mapping | RatioAt) for item in value]
        if any(tables) and not all(tables):
            raise ValueError("it lists either ratios, mode by mode, or {frequency: ..., ratio: ...}, not both")
        if not any(tables):
            return tuple(_ratio(f"ratio {i}", item) for i, item in enumerate(value, 1))
    if isinstance(value, Mapping):
        return {str(name): _ratio(f'ratio of "{name}"', item) for name, item in value.items()}
    return value


def _ratio(what: str, value: Any) -> float:
    try:
        found = float(require(number(value), RATIO))
    except InputError as error:
        raise ValueError(f"{what}: {error}") from error
    if not found >= 0.0:
        raise ValueError(f"{what} is {found:g}, and must be 0 or more")
    return found


class Damping(Part):
    """One law of damping: of each mode, of the material, or proportional to mass and stiffness."""

    modal: Annotated[
        Share | tuple[Share, ...] | tuple[RatioAt, ...] | dict[str, Share] | None,
        BeforeValidator(_one_kind),
    ] = None
    """Damping ratio ζ of the modes with locked actuators: one for all (0.01 is one per cent of critical); one after the
    other by rising frequency, the last for all further modes; by name, `{mode1: 0.01, mode3: 0.02, others: 0.015}`; or
    by frequency, `[{frequency: 38 Hz, ratio: 0.01}, ...]`, linear between those and constant beyond them."""
    structural: Share | None = None
    """Loss factor η: the stiffness becomes K (1 + i η)."""
    rayleigh: tuple[Annotated[NotNegative, of(PER_TIME)], Annotated[NotNegative, of(TIME)]] | None = None
    """α (1/s) and β (s): D = α M + β K."""

    @model_validator(mode="after")
    def _one_model(self) -> Self:
        if len(self.chosen("modal", "structural", "rayleigh")) != 1:
            raise ValueError("damping has exactly one law: modal, structural or rayleigh")
        if isinstance(self.modal, tuple) and not self.modal:
            raise ValueError("modal: lists at least one ratio")
        for name in self.modal if isinstance(self.modal, dict) else ():
            if name != OTHERS and not _MODE.fullmatch(name):
                raise ValueError(
                    f'"{name}" is not a mode: name them mode1, mode2, ..., by rising frequency, and {OTHERS}'
                )
        table = self.table
        for before, after in pairwise(table):
            if after.frequency <= before.frequency:
                raise ValueError(f"frequencies rise, and {after.frequency:g} Hz comes after {before.frequency:g} Hz")
        return self

    @property
    def table(self) -> tuple[RatioAt, ...]:
        """Ratios by frequency, or none."""
        given = self.modal if isinstance(self.modal, tuple) else ()
        return tuple(item for item in given if isinstance(item, RatioAt))

    def ratios(self, frequencies_hz: ArrayLike) -> NDArray[np.float64]:
        """ζ (..., r) of the modes with these frequencies (..., r), which rise along the last axis.

        By number or name, modes closer than some per cent share their ratios, ζ_k = Σ_j w_kj ζ_j / Σ_j w_kj with
        w = exp(-(ln(f_k/f_j)/0.02)²): where modes cross the law is smooth, and where they coincide it has a meaning.
        """
        f = np.asarray(frequencies_hz, dtype=np.float64)
        if self.modal is None or isinstance(self.modal, float):
            return np.full(f.shape, self.modal or 0.0)
        table = self.table
        if table:
            return np.interp(f, [item.frequency for item in table], [item.ratio for item in table])
        count = f.shape[-1]
        if isinstance(self.modal, dict):
            own = np.array([self.modal.get(f"mode{k + 1}", self.modal.get(OTHERS, 0.0)) for k in range(count)])
        else:
            listed = np.array(self.modal, dtype=np.float64)
            own = listed[np.minimum(np.arange(count), len(listed) - 1)]
        place = np.log(np.maximum(f, np.finfo(float).tiny))
        weight = np.exp(-np.square((place[..., :, None] - place[..., None, :]) / _SHARED))
        return (weight @ own) / weight.sum(axis=-1)


_SHARED = 0.02  # of a frequency: modes this close are as good as one


# Materials.


# An isotropic solid is stable for -1 < ν < 1/2; incompressible rubber is at the end.
PoissonRatio = Annotated[
    float,
    of(RATIO),
    Field(gt=-1.0, le=0.5),
    WithJsonSchema(
        {"anyOf": [{"type": "number", "exclusiveMinimum": -1.0, "maximum": 0.5}, {"type": "string"}]},
    ),
]


class Material(Part):
    """A linear elastic material."""

    youngs_modulus: Annotated[Positive, of(PRESSURE)]
    """E, Pa."""
    density: Annotated[NotNegative, of(DENSITY)]
    """ρ, kg/m³."""
    poisson: PoissonRatio = 0.3
    """ν; 0.3 if left out, as of most metals. It only enters the shear modulus."""
    shear_modulus: Annotated[Positive, of(PRESSURE)] | None = None
    """G, Pa; E / (2 (1 + ν)) if left out."""

    damping: Damping | None = None
    """Of what is made of it: `{structural: η}`, `{modal: ζ}` as far as a mode's deformation is in it, or
    `{rayleigh: [α, β]}`; beside the mechanism's own damping. None if left out."""

    @model_validator(mode="after")
    def _one_ratio(self) -> Self:
        if self.damping is not None and not isinstance(self.damping.modal, float | None):
            raise ValueError("of a material, modal damping is one number: modes belong to the mechanism")
        return self

    @property
    def G(self) -> float:
        """The shear modulus, Pa."""
        return self.shear_modulus or self.youngs_modulus / (2.0 * (1.0 + self.poisson))
