"""The law of every linear and scheduled controller, sampled:

    x⁺ = A(σ) x + B(σ) z + b(σ),   u = C(σ) x + D(σ) z + d(σ),   x₀ = A₀(σ) z + a₀(σ)
    z = (y, θ_d, θ̇_d, θ̈_d, θ⃛_d, c₋, f, w)

y is what is measured at the sample, θ_d the motion at it, c₋ the commands of the sample before as drives applied them,
f commands computed beforehand, w products of the motion's rates, σ some of y, clamped into the region that the matrices
were fitted on. A law is data: makers of controllers fill it, one kernel steps it, one writer exports it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from supple.approximation.piecewise.piecewise import Piecewise
from supple.array_types import Array, Integers
from supple.control.laws.affine_matrices import AffineMatrices, Ports, from_row, step_width
from supple.control.laws.law_equilibrium import TOLERANCE, FittedRow, about
from supple.control.laws.law_kernel import LawSizes, clamped_between, law_array, law_vector
from supple.diagnostics import InputError
from supple.results.result import brief
from supple.results.text import listed

NOTHING = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class AffineLaw:
    """Matrices that are constant, or change over σ as fitted on a tree of boxes.

    ports        : names on both sides, sample time
    states       : n
    template     : the row of all matrices (`AffineMatrices.row`), with what does not change over σ
    varying      : places in it that do, in the order of the fitted columns
    fitted       : f̂(σ), or None where nothing changes
    scheduled_by : names of σ, among those measured
    error        : stated error of each matrix, relative to its size; empty where nothing is fitted
    said         : what else there is to know of it, in words
    equilibrium  : x_e, z_e, u_e over σ (`control.laws.law_equilibrium`): the matrices then act on deviations from it,
                   and b, d and a₀ of the template are zero. None of a law that is constant or keeps none
    commanded    : actuators whose drives it knows, so that it answers with commands of them; undriven : those that
                   have drives which it does not know, so that it answers with forces
    Made by `fixed` or `scheduled`.
    """

    name: str
    ports: Ports
    states: int
    template: Array
    varying: Integers = field(default_factory=NOTHING.copy)
    fitted: Piecewise | None = None
    scheduled_by: tuple[str, ...] = ()
    error: Mapping[str, float] = field(default_factory=dict)
    said: str = ""
    commanded: tuple[str, ...] = ()
    undriven: tuple[str, ...] = ()
    equilibrium: FittedRow | None = None

    def __repr__(self) -> str:
        return brief("AffineLaw", self.summary)

    @property
    def summary(self) -> str:
        """In words."""
        ports = self.ports
        motion = f" of {listed(ports.coordinates)}" if ports.coordinates else ""
        over = f", scheduled by {listed(self.scheduled_by)}" if self.scheduled_by else ""
        more = f", {self.said}" if self.said else ""
        if self.equilibrium is not None and self.equilibrium.error > TOLERANCE:
            more += f", its equilibrium fitted to {self.equilibrium.error:.2g}"
        return (
            f"{self.name}{motion}: {listed(ports.answered)} from {listed(ports.measured)} every "
            f"{1e3 * ports.sample_time:g} ms, {self.states} states{over}{more}"
        )

    @property
    def measured(self) -> tuple[str, ...]:
        return self.ports.measured

    @property
    def coordinates(self) -> tuple[str, ...]:
        return self.ports.coordinates

    @property
    def actuators(self) -> tuple[str, ...]:
        return self.ports.actuators

    @property
    def sample_time(self) -> float:
        return self.ports.sample_time

    @property
    def bounds(self) -> Array | None:
        """Between which σ is clamped: (2, s); None of a law that does not change."""
        return next((clamped_between(fitted) for fitted in self._fits if fitted is not None), None)

    @property
    def _fits(self) -> tuple[Piecewise | None, Piecewise | None]:
        """Fits of the matrices and of the equilibrium."""
        return self.fitted, None if self.equilibrium is None else self.equilibrium.fitted

    def at(self, sigma: ArrayLike | Mapping[str, float] | None = None) -> AffineMatrices:
        """The matrices at σ (s,), in order or by name, clamped into the region; b, d and a₀ keep the equilibrium."""
        bounds, here = self.bounds, self._sigma(sigma)
        if bounds is not None:
            here = np.clip(here, *bounds)
        row = FittedRow(self.template, self.varying, self.fitted).at(here)
        found = from_row(row, self.states, self.ports)
        return found if self.equilibrium is None else about(found, self.equilibrium.at(here))

    def _sigma(self, sigma: ArrayLike | Mapping[str, float] | None) -> Array:
        if isinstance(sigma, Mapping):
            missing = [name for name in self.scheduled_by if name not in sigma]
            if missing:
                raise InputError(f'"{missing[0]}" is missing', part=f'law "{self.name}"', hint="give every σ")
            sigma = [sigma[name] for name in self.scheduled_by]
        given = np.zeros(0) if sigma is None else np.asarray(sigma, dtype=float)
        if given.shape != (len(self.scheduled_by),):
            raise InputError(
                f"σ has the shape {given.shape}", part=f'law "{self.name}"',
                hint=f"give {', '.join(self.scheduled_by)}",
            )  # fmt: skip
        return given

    @property
    def step_width(self) -> int:
        """Numbers of the row that a step needs; those of a start follow."""
        return step_width(self.states, self.ports)

    @cached_property
    def memory(self) -> Array:
        """What the kernel takes: the part that a step needs, without a start's."""
        width = self.step_width
        varying = self.varying[self.varying < width]  # columns of a start come last
        fitted = None if self.fitted is None or not len(varying) else _first_columns(self.fitted, len(varying))
        return self._packed(FittedRow(self.template[:width], varying if fitted else NOTHING, fitted))

    @cached_property
    def rest_memory(self) -> Array:
        """The same of the equilibrium; without one a row of no numbers."""
        return self._packed(self.equilibrium or FittedRow(np.zeros(0), NOTHING, None))

    def _packed(self, row: FittedRow) -> Array:
        ports = self.ports
        swept = len(ports.coordinates) if ports.swept else 0
        sizes = LawSizes(
            self.states, ports.size, len(ports.answered), swept, ports.wanted(1).start, ports.products.start
        )
        places = [ports.place(name) for name in self.scheduled_by] if row.fitted is not None else []
        return law_array(sizes, row.template, row.varying, row.fitted, np.array(places, dtype=np.int64))

    def vector(self) -> Array:
        """What the kernel works on: x, z, u and workspace, before a first sample."""
        return law_vector(self.memory, self.rest_memory)


def _first_columns(fitted: Piecewise, count: int) -> Piecewise:
    coefficients = fitted.arrays.coefficients[:, :count]
    return Piecewise(fitted.arrays._replace(coefficients=np.ascontiguousarray(coefficients)))


def fixed(
    matrices: AffineMatrices, ports: Ports, *, name: str = "law", said: str = "", commanded: tuple[str, ...] = ()
) -> AffineLaw:
    """A law whose matrices do not change."""
    whole = matrices.checked(ports)
    return AffineLaw(name, ports, whole.states, whole.row(), said=said, commanded=commanded)
