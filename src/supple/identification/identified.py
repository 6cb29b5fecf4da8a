"""What was found from logged runs, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from supple.array_types import Array
from supple.diagnostics import InputError, nearest
from supple.hardware.hardware import Hardware
from supple.identification.logged_runs import LoggedRun
from supple.reduced.model import ReducedModel
from supple.results.picture import picture
from supple.results.result import Result
from supple.results.table import Table

_WHITE = 0.2  # correlation from one sample to the next, from which on what is left over is no noise alone


@dataclass(frozen=True, eq=False, repr=False)
class Identified(Result):
    """names (k,), values (k,) and their covariance (k, k), from first guesses (k,).

    outputs, noise : that were compared, and RMS of what is left over of each
    whiteness      : of each output, how that is correlated from one sample to the next; far from 0, the model lacks
                     something, and deviations are too small
    at_bounds      : names of those that ended at a bound
    model, hardware: with what was found
    runs, left     : that were used, and y - ŷ of each (N, outputs)
    """

    names: tuple[str, ...]
    values: Array
    covariance: Array
    guesses: Array
    outputs: tuple[str, ...]
    noise: Array
    whiteness: Array
    at_bounds: tuple[str, ...]
    model: ReducedModel
    hardware: Hardware
    runs: tuple[LoggedRun, ...]
    left: tuple[Array, ...]
    evaluations: int = 0

    def __getitem__(self, name: str) -> float:
        if name not in self.names:
            raise InputError(f'"{name}" was not looked for', part="identified", hint=nearest(name, self.names))
        return float(self.values[self.names.index(name)])

    @property
    def deviations(self) -> dict[str, float]:
        """Standard deviation of each."""
        return dict(zip(self.names, np.sqrt(np.diag(self.covariance)).tolist(), strict=True))

    @property
    def correlation(self) -> Array:
        """(k, k), -1 to 1: near the ends two of them cannot be told apart in these runs."""
        size = np.sqrt(np.diag(self.covariance))
        return np.asarray(self.covariance / np.outer(size, size))

    def damping_ratios(self, theta: Mapping[str, float] | Array) -> Array:
        """Of the modes of deformation at θ, θ locked, rising with their frequency."""
        c, s = self.model.evaluate(theta), self.model.layout.theta
        squares, modes = eigh(c.K[s:, s:], c.M[s:, s:])
        return np.asarray(np.einsum("ji,jk,ki->i", modes, c.damping[s:, s:], modes) / (2.0 * np.sqrt(squares)))

    def summary(self) -> str:
        found = ", ".join(
            f"{name} {value:.4g} ± {deviation:.2g}"
            for name, value, deviation in zip(self.names, self.values, self.deviations.values(), strict=True)
        )
        doubts = [f"at a bound: {', '.join(self.at_bounds)}"] if self.at_bounds else []
        coloured = [name for name, c in zip(self.outputs, self.whiteness, strict=True) if abs(c) > _WHITE]
        doubts += [f"not noise alone is left over of {', '.join(coloured)}"] if coloured else []
        return "; ".join([found, *doubts])

    def table(self) -> Table:
        """A row for each number: its value, deviation and first guess."""
        columns: dict[str, NDArray[Any]] = {
            "name": np.array(self.names), "value": self.values,
            "deviation": np.array(list(self.deviations.values())), "guess": self.guesses,
        }  # fmt: skip
        return Table(columns, index="name")

    def plot(self, run: int = 0, *, axes: Any = None) -> Any:
        """What was logged in a run, the model's answer and what is left over, of every output (matplotlib)."""
        return picture("identification.plot.identified_plot")(self, run, axes)

    def with_noise(self) -> Hardware:
        """The drives and instruments found, with the noise that was left over as that of the instruments."""
        loud = dict(zip(self.outputs, self.noise.tolist(), strict=True))
        items = tuple(replace(item, noise=loud.get(item.output, item.noise)) for item in self.hardware.instruments)
        return replace(self.hardware, instruments=items)
