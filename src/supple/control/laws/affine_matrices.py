"""The matrices of an affine law at one σ, and as a row of numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.control.laws.law_ports import Ports
from supple.diagnostics import InputError
from supple.results.result import brief


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
    """Of A, B, b, C, D, d, A0, a0."""
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
