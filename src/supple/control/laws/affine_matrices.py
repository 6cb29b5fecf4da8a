"""Ports and matrices of an affine law at one σ, also as a row of numbers.

The inputs of a law are ordered z = (y, θ_d, θ̇_d, θ̈_d, θ⃛_d, c₋, f, w), see `Ports`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.results.result import brief

# Signals that a law is connected to, and the order of its inputs at a sample.


ORDERS = 4  # θ_d and three rates of it


@dataclass(frozen=True)
class Ports:
    """Names of the inputs and outputs of a law; its inputs at a sample are z = (y, θ_d, θ̇_d, θ̈_d, θ⃛_d, c₋, f, w).

    Attributes
    ----------
    measured : tuple of str
        Measurements y: sensor outputs, coordinates, or rates as "lift.rate".
    coordinates : tuple of str
        Coordinates of the reference motion; empty for laws that only regulate.
    actuators : tuple of str
        Actuators that the law drives; c₋ are their commands of the previous sample as they were applied.
    sample_time : float
        Sample time T, s.
    previews : tuple of float
        Preview times, s: the motion is evaluated at t + preview, one after another in z. Default: (0,).
    fed : bool
        Whether z contains f, precomputed commands, one for each actuator. Default: False.
    swept : bool
        Whether z ends with w, the products θ̇_i θ̇_j (i <= j) of the motion's rates, as in centrifugal forces.
        Default: False.
    answers : tuple of str
        Names of u if these are not commands of the actuators, such as the estimates of an observer. Default: ().
    """

    measured: tuple[str, ...]
    coordinates: tuple[str, ...]
    actuators: tuple[str, ...]
    sample_time: float
    previews: tuple[float, ...] = (0.0,)
    fed: bool = False
    swept: bool = False
    answers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        T = self.sample_time
        if not (np.isfinite(T) and T > 0.0):
            raise InputError(f"must be positive (got {T:g} s)", part="sample time of the law", hint="give sample_time=")
        if not self.actuators:
            raise InputError("no actuator is given", part="law", hint="name at least one")
        if not all(np.isfinite(self.previews)):
            raise InputError(f"not finite: {self.previews}", part="previews of the law", hint="give finite times in s")

    @property
    def size(self) -> int:
        """Number of entries of z."""
        return self.products.stop

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of u."""
        return self.answers or self.actuators

    @property
    def y(self) -> slice:
        """Slice of the measurements in z."""
        return slice(0, len(self.measured))

    def wanted(self, order: int, preview: int = 0) -> slice:
        """Return the slice in z of the derivative of order `order` (0: θ_d) of the motion at preview `preview`."""
        s = len(self.coordinates)
        first = len(self.measured) + (ORDERS * preview + order) * s
        return slice(first, first + s)

    @property
    def wanted_all(self) -> slice:
        """Slice in z of the motion with all derivatives at all previews."""
        first = len(self.measured)
        return slice(first, first + ORDERS * len(self.coordinates) * len(self.previews))

    @property
    def applied_commands(self) -> slice:
        """Slice in z of the commands of the previous sample as they were applied."""
        first = self.wanted_all.stop
        return slice(first, first + len(self.actuators))

    @property
    def fed_forward(self) -> slice:
        """Slice in z of the precomputed commands; empty if there are none."""
        first = self.applied_commands.stop
        return slice(first, first + len(self.actuators) * self.fed)

    @property
    def products(self) -> slice:
        """Slice in z of the products of the motion's rates at t; empty if there are none."""
        first, s = self.fed_forward.stop, len(self.coordinates)
        return slice(first, first + s * (s + 1) // 2 * self.swept)

    @property
    def factors(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Indices i and j of the products, in order."""
        return np.triu_indices(len(self.coordinates))

    def place(self, name: str) -> int:
        """Return the position of a measurement in y."""
        if name not in self.measured:
            raise InputError(
                f'the law does not measure "{name}"',
                part="law",
                hint=f"it measures {', '.join(self.measured) or 'nothing'}",
            )
        return self.measured.index(name)


# The matrices.


class AffineMatrices(NamedTuple):
    """Matrices of an affine law at one σ.

    Attributes
    ----------
    A, B, b : ndarray of shape (n, n), (n, m), (n,)
        State update x⁺ = A x + B z + b.
    C, D, d : ndarray of shape (a, n), (a, m), (a,)
        Output u = C x + D z + d.
    A0, a0 : ndarray of shape (n, m), (n,)
        Initial state x₀ = A0 z + a0.
    """

    A: Array
    B: Array
    b: Array
    C: Array
    D: Array
    d: Array
    A0: Array
    a0: Array

    def __repr__(self) -> str:
        sizes = f"{self.states} states, {self.D.shape[1]} inputs, {len(self.d)} outputs"
        return brief("AffineMatrices", sizes)

    @property
    def states(self) -> int:
        """Number n of states."""
        return len(self.b)

    def row(self) -> Array:
        """Return all numbers in the order of the fields, those of the initial state last."""
        return np.concatenate([np.ravel(part) for part in self])

    def check_shapes(self, ports: Ports, where: str = "") -> AffineMatrices:
        """Return the matrices as arrays of numbers; refuse shapes that do not fit the ports."""
        parts = [np.asarray(part, dtype=float) for part in self]
        expected = shapes(len(np.atleast_1d(parts[2])), ports)
        for name, part, shape in zip(self._fields, parts, expected, strict=True):
            if part.shape != shape:
                raise InputError(
                    f"{name} has the shape {part.shape}, not {shape}", part=f"law{where}",
                    hint="z contains the measurements, the motion with three derivatives, and the previous commands",
                )  # fmt: skip
            if not np.isfinite(part).all():
                raise InputError(f"{name} is not finite", part=f"law{where}", hint="check the design there")
        return AffineMatrices(*parts)


def shapes(n: int, ports: Ports) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of A, B, b, C, D, d, A0, a0."""
    m, a = ports.size, len(ports.outputs)
    return (n, n), (n, m), (n,), (a, n), (a, m), (a,), (n, m), (n,)


def empty(n: int, ports: Ports) -> AffineMatrices:
    """Return matrices of zeros, to be filled."""
    return AffineMatrices(*(np.zeros(shape) for shape in shapes(n, ports)))


def from_row(row: Array, n: int, ports: Ports) -> AffineMatrices:
    """Return the matrices of a row, as views of it."""
    found, at = [], 0
    for shape in shapes(n, ports):
        size = int(np.prod(shape))
        found.append(row[at : at + size].reshape(shape))
        at += size
    return AffineMatrices(*found)


def step_width(n: int, ports: Ports) -> int:
    """Return the number of entries of a row that a step needs: all except those of the initial state."""
    return sum(int(np.prod(shape)) for shape in shapes(n, ports)[:-2])
