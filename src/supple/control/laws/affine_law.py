"""Affine law, the sampled form of every linear and scheduled controller.

    x⁺ = A(σ) x + B(σ) z + b(σ),   u = C(σ) x + D(σ) z + d(σ),   x₀ = A₀(σ) z + a₀(σ)
    z = (y, θ_d, θ̇_d, θ̈_d, θ⃛_d, c₋, f, w)

y are the measurements at the sample, θ_d is the reference motion, c₋ are the commands of the previous sample as drives
applied them, f are precomputed commands, and w are products of the motion's rates. σ are some of y, clamped to the
region on which the matrices were fitted. A law is data: design functions create it, one kernel evaluates it, and one
writer exports it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from supple.approximation.piecewise.piecewise import Piecewise
from supple.array_types import Array
from supple.control.laws.affine_matrices import AffineMatrices, Ports, from_row, step_width
from supple.control.laws.fitted_row import FittedRow
from supple.control.laws.law_cost import LawCost, law_cost
from supple.control.laws.law_equilibrium import TOLERANCE, keep_equilibrium
from supple.control.laws.law_kernel import LawSizes, find_clamp_bounds, law_array, law_vector
from supple.diagnostics import InputError
from supple.results.result import brief
from supple.results.text import list_names


@dataclass(frozen=True, eq=False, repr=False)
class AffineLaw:
    """Affine law with matrices that are constant, or functions of σ fitted on a tree of boxes.

    Create laws with `constant_law` or `scheduled_law`, or with the functions that design controllers.

    Attributes
    ----------
    name : str
        Name of the law.
    ports : Ports
        Names of inputs and outputs, and the sample time.
    states : int
        Number n of states.
    matrices : FittedRow
        Row of all matrices (`AffineMatrices.row`) as a function of σ.
    scheduled_by : tuple of str
        Names of σ among the measurements.
    error : mapping of str to float
        Error of the fit: "closed loop" is the largest change of the closed loop, relative to the peaks of its responses
        (`control.laws.loop_error`); if its plant was not known, the error of each matrix relative to its size. Empty if
        nothing is fitted.
    remark : str
        Further remarks for the summary.
    commanded_actuators : tuple of str
        Actuators whose drives the law accounts for, so that u are their commands.
    undriven : tuple of str
        Actuators with drives that the law does not account for, so that u are forces.
    standing : mapping of str to float
        Largest distance from the goal at rest that the fit of the equilibrium causes on the model, in every coordinate
        and its unit, by name; empty if it is not known.
    equilibrium : FittedRow, optional
        x_e, z_e, u_e over σ (`control.laws.law_equilibrium`): the matrices act on deviations from it, and b, d and a₀
        are zero. None for laws that are constant or keep no equilibrium.
    """

    name: str
    ports: Ports
    states: int
    matrices: FittedRow
    scheduled_by: tuple[str, ...] = ()
    error: Mapping[str, float] = field(default_factory=dict)
    remark: str = ""
    commanded_actuators: tuple[str, ...] = ()
    undriven: tuple[str, ...] = ()
    standing: Mapping[str, float] = field(default_factory=dict)
    equilibrium: FittedRow | None = None

    def __repr__(self) -> str:
        return brief("AffineLaw", self.summary)

    @property
    def summary(self) -> str:
        """Summary of the law in one line."""
        ports = self.ports
        motion = f" of {list_names(ports.coordinates)}" if ports.coordinates else ""
        over = f", scheduled by {list_names(self.scheduled_by)}" if self.scheduled_by else ""
        more = f", {self.remark}" if self.remark else ""
        if self.equilibrium is not None and self.equilibrium.error > TOLERANCE:
            more += f", equilibrium fitted with an error of {self.equilibrium.error:.2g}"
        return (
            f"{self.name}{motion}: {list_names(ports.outputs)} from {list_names(ports.measured)} every "
            f"{1e3 * ports.sample_time:g} ms, {self.states} states{over}{more}"
        )

    @property
    def measurements(self) -> tuple[str, ...]:
        """Names of the measurements y."""
        return self.ports.measured

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates of the reference motion."""
        return self.ports.coordinates

    @property
    def actuators(self) -> tuple[str, ...]:
        """Names of the actuators."""
        return self.ports.actuators

    @property
    def sample_time(self) -> float:
        """Sample time, s."""
        return self.ports.sample_time

    @property
    def bounds(self) -> Array | None:
        """Bounds (2, s) to which σ is clamped; None for a constant law."""
        return next((find_clamp_bounds(fitted) for fitted in self._fits if fitted is not None), None)

    @property
    def _fits(self) -> tuple[Piecewise | None, Piecewise | None]:
        """Fits of the matrices and of the equilibrium."""
        return self.matrices.fitted, None if self.equilibrium is None else self.equilibrium.fitted

    def at(self, sigma: ArrayLike | Mapping[str, float] | None = None) -> AffineMatrices:
        """Return the matrices at σ.

        Parameters
        ----------
        sigma : array_like of shape (s,), or mapping of str to float, optional
            Scheduling variables σ, in order or by name; clamped to the region. Not needed for a constant law.

        Returns
        -------
        AffineMatrices
            Matrices at σ. Their b, d and a₀ include the equilibrium of the law.

        Raises
        ------
        InputError
            If a value of σ is missing, or their number is wrong.
        """
        bounds, here = self.bounds, self._sigma(sigma)
        if bounds is not None:
            here = np.clip(here, *bounds)
        found = from_row(self.matrices.at(here), self.states, self.ports)
        return found if self.equilibrium is None else keep_equilibrium(found, self.equilibrium.at(here))

    def save(self, path: str | Path) -> Path:
        """Write the law to a file.

        Parameters
        ----------
        path : str or path-like
            File, such as "fast.law". An existing file is replaced when the new one is complete.

        Returns
        -------
        pathlib.Path
            The file written.

        Raises
        ------
        InputError
            If the file cannot be written.

        See Also
        --------
        load_law : Read the file back, bit for bit.
        """
        from supple.control.laws.law_file import save_law

        return save_law(self, path)

    def _sigma(self, sigma: ArrayLike | Mapping[str, float] | None) -> Array:
        if isinstance(sigma, Mapping):
            missing = [name for name in self.scheduled_by if name not in sigma]
            if missing:
                raise InputError(f'"{missing[0]}" is missing in σ', part=f'law "{self.name}"', hint="give every σ")
            sigma = [sigma[name] for name in self.scheduled_by]
        given = np.zeros(0) if sigma is None else np.asarray(sigma, dtype=float)
        if given.shape != (len(self.scheduled_by),):
            raise InputError(
                f"σ has the shape {given.shape}, not ({len(self.scheduled_by)},)", part=f'law "{self.name}"',
                hint=f"give {', '.join(self.scheduled_by)}",
            )  # fmt: skip
        return given

    @property
    def step_width(self) -> int:
        """Number of entries of the row that a step needs; those of the initial state follow."""
        return step_width(self.states, self.ports)

    @cached_property
    def cost(self) -> LawCost:
        """Cost of a step in C: operations, worst-case path, memory, and what would reduce it."""
        return law_cost(self)

    @cached_property
    def memory(self) -> Array:
        """Array of the law for the kernel, without the matrices of the initial state."""
        return self._pack_row(self.matrices.first(self.step_width))

    @cached_property
    def rest_memory(self) -> Array:
        """Array of the equilibrium for the kernel; without an equilibrium its row is empty."""
        return self._pack_row(self.equilibrium or FittedRow(np.zeros(0)))

    def _pack_row(self, row: FittedRow) -> Array:
        ports = self.ports
        products = len(ports.coordinates) if ports.swept else 0
        sizes = LawSizes(
            self.states, ports.size, len(ports.outputs), products, ports.wanted(1).start, ports.products.start
        )
        places = [ports.place(name) for name in self.scheduled_by] if row.fitted is not None else []
        return law_array(sizes, row, np.array(places, dtype=np.int64))

    def vector(self) -> Array:
        """Return the work array of the kernel before the first sample: x, z, u and workspace."""
        return law_vector(self.memory, self.rest_memory)


def constant_law(
    matrices: AffineMatrices,
    ports: Ports,
    *,
    name: str = "law",
    remark: str = "",
    commanded_actuators: tuple[str, ...] = (),
) -> AffineLaw:
    """Return a law with constant matrices.

    Parameters
    ----------
    matrices : AffineMatrices
        Matrices of the law.
    ports : Ports
        Names of inputs and outputs, and the sample time.
    name : str, optional
        Name of the law. Default: "law".
    remark : str, optional
        Further remarks for the summary. Default: none.
    commanded_actuators : tuple of str, optional
        Actuators whose drives the law accounts for. Default: none.

    Returns
    -------
    AffineLaw
        The law.

    Raises
    ------
    InputError
        If a matrix has the wrong shape or is not finite.

    See Also
    --------
    scheduled : Law whose matrices change over θ.
    """
    whole = matrices.check_shapes(ports)
    row = FittedRow(whole.row())
    return AffineLaw(name, ports, whole.states, row, remark=remark, commanded_actuators=commanded_actuators)
