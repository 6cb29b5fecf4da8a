"""Materials of elastic bodies, and damping of elastic parts."""

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

# Damping of elastic parts, for the whole mechanism or for one material.


Share = Annotated[NotNegative, of(RATIO)]
OTHERS = "others"
_MODE = re.compile(r"mode([1-9]\d{0,3})")


BRAKES = (
    "its mass-proportional damping, {:.3g} 1/s, also damps the rigid-body motion when the mechanism is "
    "simulated: without coordinates that motion is not separated from the deformation; add coordinates:"
)


class RatioAt(Part):
    """Damping ratio at a frequency."""

    frequency: Annotated[Positive, of(FREQUENCY)]
    """Natural frequency of the mode, Hz."""
    ratio: Share
    """Damping ratio ζ: 0.01 is one per cent of critical."""


def _one_kind(value: Any) -> Any:
    """Refuse impossible lists and names of ratios, before pydantic tries the alternatives of the field."""
    if isinstance(value, list | tuple):
        tables = [isinstance(item, Mapping | RatioAt) for item in value]
        if any(tables) and not all(tables):
            raise ValueError("a list contains either ratios, mode by mode, or {frequency: ..., ratio: ...}, not both")
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
        raise ValueError(f"{what} must be 0 or more (got {found:g})")
    return found


class Damping(Part):
    """Damping model of the elastic parts: modal, structural, or proportional to mass and stiffness (Rayleigh).

    Examples
    --------
    >>> import supple
    >>> supple.Damping(modal=[0.01, 0.02]).ratios([5.0, 9.0, 20.0])
    array([0.01, 0.02, 0.02])
    """

    modal: Annotated[
        Share | tuple[Share, ...] | tuple[RatioAt, ...] | dict[str, Share] | None,
        BeforeValidator(_one_kind),
    ] = None
    """Damping ratio ζ of the modes with locked actuators (0.01 is one per cent of critical). Forms: one for all modes;
    a list by rising frequency, whose last entry is for all further modes; by name, `{mode1: 0.01, mode3: 0.02, others:
    0.015}`; or by frequency, `[{frequency: 38 Hz, ratio: 0.01}, ...]`, linear between the entries and constant outside.
    """
    structural: Share | None = None
    """Loss factor η: the stiffness becomes K (1 + i η)."""
    rayleigh: tuple[Annotated[NotNegative, of(PER_TIME)], Annotated[NotNegative, of(TIME)]] | None = None
    """Rayleigh coefficients α (1/s) and β (s): D = α M + β K."""

    @model_validator(mode="after")
    def _one_model(self) -> Self:
        if len(self.chosen("modal", "structural", "rayleigh")) != 1:
            raise ValueError("damping needs exactly one model: modal, structural or rayleigh")
        if isinstance(self.modal, tuple) and not self.modal:
            raise ValueError("modal: needs at least one ratio")
        for name in self.modal if isinstance(self.modal, dict) else ():
            if name != OTHERS and not _MODE.fullmatch(name):
                raise ValueError(f'"{name}" is not a mode: use mode1, mode2, ..., by rising frequency, and {OTHERS}')
        table = self.table
        for before, after in pairwise(table):
            if after.frequency <= before.frequency:
                raise ValueError(
                    f"frequencies must increase, but {after.frequency:g} Hz follows {before.frequency:g} Hz"
                )
        return self

    @property
    def table(self) -> tuple[RatioAt, ...]:
        """Ratios by frequency; empty for the other forms."""
        given = self.modal if isinstance(self.modal, tuple) else ()
        return tuple(item for item in given if isinstance(item, RatioAt))

    def ratios(self, frequencies_hz: ArrayLike) -> NDArray[np.float64]:
        """Return the damping ratios ζ (..., r) of modes with the frequencies (..., r), increasing along the last axis.

        Parameters
        ----------
        frequencies_hz : array_like, shape (..., r)
            Natural frequencies, Hz.

        Returns
        -------
        numpy.ndarray, shape (..., r)
            Damping ratios.

        Notes
        -----
        For ratios by number or name, modes that are only a few per cent apart share their ratios,
        ζ_k = Σ_j w_kj ζ_j / Σ_j w_kj with w = exp(-(ln(f_k/f_j)/0.02)²). The ratios are then smooth where modes cross,
        and well
        defined where they coincide.
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


_SHARED = 0.02  # relative distance of frequencies below which modes share their ratios


# Materials.


# An isotropic solid is stable for -1 < ν < 1/2; incompressible rubber has ν = 1/2.
PoissonRatio = Annotated[
    float,
    of(RATIO),
    Field(gt=-1.0, le=0.5),
    WithJsonSchema(
        {"anyOf": [{"type": "number", "exclusiveMinimum": -1.0, "maximum": 0.5}, {"type": "string"}]},
    ),
]


class Material(Part):
    """Linear elastic material.

    Examples
    --------
    >>> import supple
    >>> steel = supple.Material(youngs_modulus="210 GPa", density=7850)
    >>> round(steel.G / 1e9, 1)  # shear modulus, GPa
    80.8
    """

    youngs_modulus: Annotated[Positive, of(PRESSURE)]
    """Young's modulus E, Pa."""
    density: Annotated[NotNegative, of(DENSITY)]
    """Density ρ, kg/m³."""
    poisson: PoissonRatio = 0.3
    """Poisson's ratio ν, used only for the shear modulus. Default: 0.3, as for most metals."""
    shear_modulus: Annotated[Positive, of(PRESSURE)] | None = None
    """Shear modulus G, Pa. Default: E / (2 (1 + ν))."""

    damping: Damping | None = None
    """Damping of the parts made of it, in addition to the mechanism's own: `{structural: η}`, `{modal: ζ}` in
    proportion to a mode's energy in the material, or `{rayleigh: [α, β]}`. Default: none."""

    @model_validator(mode="after")
    def _one_ratio(self) -> Self:
        if self.damping is not None and not isinstance(self.damping.modal, float | None):
            raise ValueError("modal damping of a material must be one number, since modes belong to the mechanism")
        return self

    @property
    def G(self) -> float:
        """Shear modulus, Pa."""
        return self.shear_modulus or self.youngs_modulus / (2.0 * (1.0 + self.poisson))
