"""An affine law at one σ: what it is connected to, and its matrices, also as a row of numbers.

Its known numbers stand in the order z = (y, θ_d, θ̇_d, θ̈_d, θ⃛_d, c₋, f, w), see `Ports`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.results.result import brief

# What a law is connected to, and the order of what it knows at a sample.


ORDERS = 4  # θ_d and three rates of it


@dataclass(frozen=True)
class Ports:
    """Names on both sides of a law; z = (y, θ_d, θ̇_d, θ̈_d, θ⃛_d, c₋, f, w) is what it knows at a sample.

    measured    : y, what it is told: outputs of sensors, coordinates, or rates as "lift.rate"
    coordinates : of the motion that it follows; none where it only regulates
    actuators   : that it drives, c₋ being their commands of the sample before, as they were applied
    sample_time : T, s
    previews    : s, instants t + preview at which the motion is taken, one after another in z
    fed         : whether z has f, commands that were computed beforehand, one for each actuator
    swept       : whether z ends with w, the products θ̇_i θ̇_j (i <= j) of the motion now, as centrifugal forces have
    answers     : what u is, where it is not the commands of the actuators: an observer answers with its estimates
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
            raise InputError(f"it is {T:g} s", part="sample time of the law", hint="give a number above 0")
        if not self.actuators:
            raise InputError("it drives no actuator", part="law", hint="name at least one")
        if not all(np.isfinite(self.previews)):
            raise InputError(f"they are {self.previews}", part="previews of the law", hint="give finite times in s")

    @property
    def size(self) -> int:
        """Numbers in z."""
        return self.products.stop

    @property
    def answered(self) -> tuple[str, ...]:
        """Names of u."""
        return self.answers or self.actuators

    @property
    def y(self) -> slice:
        """What is measured, in z."""
        return slice(0, len(self.measured))

    def wanted(self, order: int, preview: int = 0) -> slice:
        """The motion's derivative of this order (0: θ_d) at preview number `preview`, in z."""
        s = len(self.coordinates)
        first = len(self.measured) + (ORDERS * preview + order) * s
        return slice(first, first + s)

    @property
    def wanted_all(self) -> slice:
        """The motion with all its derivatives at all previews, in z."""
        first = len(self.measured)
        return slice(first, first + ORDERS * len(self.coordinates) * len(self.previews))

    @property
    def applied(self) -> slice:
        """The commands of the sample before, as they were applied, in z."""
        first = self.wanted_all.stop
        return slice(first, first + len(self.actuators))

    @property
    def fed_forward(self) -> slice:
        """The commands that were computed beforehand, in z; empty where there are none."""
        first = self.applied.stop
        return slice(first, first + len(self.actuators) * self.fed)

    @property
    def products(self) -> slice:
        """The products of the motion's rates now, in z; empty where there are none."""
        first, s = self.fed_forward.stop, len(self.coordinates)
        return slice(first, first + s * (s + 1) // 2 * self.swept)

    @property
    def factors(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """i and j of the products, in order."""
        return np.triu_indices(len(self.coordinates))

    def place(self, name: str) -> int:
        """Where a measured value stands in y."""
        if name not in self.measured:
            raise InputError(
                f'the law is not told "{name}"', part="law", hint=f"it is told {', '.join(self.measured) or 'nothing'}"
            )
        return self.measured.index(name)


# The matrices.


class AffineMatrices(NamedTuple):
    """x⁺ = A x + B z + b,   u = C x + D z + d,   x₀ = A₀ z + a₀, with n states, z (m,) and u (a,).

    A (n, n), B (n, m), b (n,); C (a, n), D (a, m), d (a,); A0 (n, m), a0 (n,)
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
        sizes = f"{self.states} states, {self.D.shape[1]} numbers told, {len(self.d)} answers"
        return brief("AffineMatrices", sizes)

    @property
    def states(self) -> int:
        return len(self.b)

    def row(self) -> Array:
        """All numbers in the order of the fields, those of a start last."""
        return np.concatenate([np.ravel(part) for part in self])

    def checked(self, ports: Ports, where: str = "") -> AffineMatrices:
        """The same as arrays of numbers; what does not fit the ports is refused."""
        parts = [np.asarray(part, dtype=float) for part in self]
        wanted = shapes(len(np.atleast_1d(parts[2])), ports)
        for name, part, shape in zip(self._fields, parts, wanted, strict=True):
            if part.shape != shape:
                raise InputError(
                    f"{name} has the shape {part.shape}, not {shape}", part=f"law{where}",
                    hint="z is what is measured, the motion with three rates, and the commands of the sample before",
                )  # fmt: skip
            if not np.isfinite(part).all():
                raise InputError(f"{name} is not finite", part=f"law{where}", hint="look at its design there")
        return AffineMatrices(*parts)


def shapes(n: int, ports: Ports) -> tuple[tuple[int, ...], ...]:
    """Shapes of A, B, b, C, D, d, A0, a0."""
    m, a = ports.size, len(ports.answered)
    return (n, n), (n, m), (n,), (a, n), (a, m), (a,), (n, m), (n,)


def empty(n: int, ports: Ports) -> AffineMatrices:
    """All of them zero, to be filled."""
    return AffineMatrices(*(np.zeros(shape) for shape in shapes(n, ports)))


def from_row(row: Array, n: int, ports: Ports) -> AffineMatrices:
    """The matrices of a row, as views of it."""
    found, at = [], 0
    for shape in shapes(n, ports):
        size = int(np.prod(shape))
        found.append(row[at : at + size].reshape(shape))
        at += size
    return AffineMatrices(*found)


def step_width(n: int, ports: Ports) -> int:
    """Numbers of a row that a step needs: all but those of a start."""
    return sum(int(np.prod(shape)) for shape in shapes(n, ports)[:-2])
