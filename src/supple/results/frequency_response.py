"""Frequency responses: complex ratios of outputs to inputs, by name and with units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array, Complex
from supple.diagnostics import optional_package, require_known
from supple.results.result import Entries, Result, picture
from supple.results.table import Table, Variable, dataset
from supple.results.text import Text, list_names, number_text

Kind = Literal["receptance", "mobility", "accelerance"]
KINDS: dict[str, int] = {"receptance": 0, "mobility": 1, "accelerance": 2}
"""Order of the time derivative of the output displacement."""
_PEAKS = 12  # largest number of peaks of a response that its text lists


def response_unit(kind: str, output: str, inlet: str) -> str:
    """Return the unit of a response: `m/N`, `(m/s²)/N`, `rad/(N m)`."""
    top = f"({output})" if "/" in output and KINDS[kind] else output
    top += ("", "/s", "/s²")[KINDS[kind]]
    top, bottom = (f"({unit})" if any(mark in unit for mark in "/ ") else unit for unit in (top, inlet))
    return f"{top}/{bottom}"


@dataclass(frozen=True, eq=False, repr=False)
class FrequencyResponse(Result):
    """Frequency responses of all outputs to all inputs; ``response["tip.z", "lift"]`` is (lines,).

    Attributes
    ----------
    kind : {"receptance", "mobility", "accelerance"}
        Kind of response: displacement, velocity or acceleration per input.
    frequencies_hz : ndarray, shape (lines,)
        Frequencies, Hz.
    values : ndarray of complex, shape (lines, outputs, inputs)
        Responses for the time dependence exp(+iωt): a positive phase leads.
    outputs, inputs : tuple of str
        Names of the outputs and inputs.
    units : tuple of tuple of str
        Unit of each output per input.

    Examples
    --------
    >>> import supple
    >>> response = supple.frf(supple.load("ralf"), "home", ["tip.z"], ["tip.z"], [5.0, 10.0])
    >>> response.unit("tip.z", "tip.z"), response["tip.z", "tip.z"].shape
    ('m/N', (2,))
    """

    frequencies_hz: Array
    values: Complex
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    units: tuple[tuple[str, ...], ...]
    kind: Kind = "receptance"
    name: str = ""

    def __getitem__(self, pair: tuple[str, str]) -> Complex:
        """Return one output per one input, (lines,)."""
        output, inlet = self._index(pair)
        return self.values[:, output, inlet]

    def unit(self, output: str, inlet: str) -> str:
        """Return the unit of one output per one input."""
        row, column = self._index((output, inlet))
        return self.units[row][column]

    def _index(self, pair: tuple[str, str]) -> tuple[int, int]:
        for name, known, what in zip(pair, (self.outputs, self.inputs), ("output", "input"), strict=True):
            require_known(what, name, known)
        return self.outputs.index(pair[0]), self.inputs.index(pair[1])

    def summary(self) -> str:
        lines = self.frequencies_hz
        over = f"{len(lines)} lines from {lines.min():.6g} to {lines.max():.6g} Hz" if len(lines) else "no lines"
        of = f' of "{self.name}"' if self.name else ""
        return f"{self.kind} of {list_names(self.outputs)} to {list_names(self.inputs)}{of}, {over}"

    def table(self) -> Table:
        """Return a table of frequencies and one complex column `output/input` for each pair."""
        columns: dict[str, Any] = {"frequency_hz": self.frequencies_hz}
        units = {"frequency_hz": "Hz"}
        for i, output in enumerate(self.outputs):
            for j, inlet in enumerate(self.inputs):
                columns[f"{output}/{inlet}"] = self.values[:, i, j]
                units[f"{output}/{inlet}"] = self.units[i][j]
        return Table(columns, units, index="frequency_hz")

    def data(self) -> dict[str, Any]:
        """Return the data that `--json` prints: one output per one input, or (outputs, inputs) of several."""
        found: dict[str, Any] = {
            "frequencies_hz": self.frequencies_hz, "real": self.values.real, "imag": self.values.imag,
            "input": self.inputs, "output": self.outputs, "kind": self.kind, "unit": self.units,
        }  # fmt: skip
        if self.values.shape[1:] != (1, 1):
            return found
        value, names = self.values[:, 0, 0], {"input": self.inputs[0], "output": self.outputs[0]}
        return found | {"real": value.real, "imag": value.imag, **names, "unit": self.units[0][0]}

    def text(self) -> Text:
        """Return a text with both ends and the highest peaks of each response."""
        out, hertz = Text(), self.frequencies_hz
        name = f"{self.name}: " if self.name else ""
        over = f"{len(hertz)} lines from {hertz[0]:g} to {hertz[-1]:g} Hz" if len(hertz) else "no lines"
        for i, output in enumerate(self.outputs):
            for j, inlet in enumerate(self.inputs):
                out.line(f"{name}{self.kind} {output} / {inlet} in {self.units[i][j]}, {over}")
                out.table(("frequency", "magnitude", "phase"), _highest(hertz, self.values[:, i, j]))
        return out

    def map_entries(self) -> Entries:
        """Return the largest magnitude of each response and its frequency."""
        largest = np.abs(self.values).argmax(axis=0)
        found: list[tuple[str, str, float]] = []
        for i, output in enumerate(self.outputs):
            for j, inlet in enumerate(self.inputs):
                peak, pair = largest[i, j], f"{output}/{inlet}"
                found.append((pair, self.units[i][j], abs(self.values[peak, i, j])))
                found.append((f"{pair} frequency", "Hz", self.frequencies_hz[peak]))
        names, units, values = zip(*found, strict=True)
        quantity = f"largest {self.kind}"
        each = (quantity, "frequency of the maximum") * (len(names) // 2)
        return Entries(quantity, names, units, np.array(values, dtype=float), each)

    def to_xarray(self) -> Any:
        """Return an xarray Dataset (extra `xarray`): `response` over frequency, output and input; `unit` of each."""
        pair = ("output", "input")
        texts = {"output": np.array(self.outputs, dtype=str), "input": np.array(self.inputs, dtype=str)}
        found: dict[str, Variable] = {
            "response": (("frequency", *pair), self.values, ""), "unit": (pair, np.array(self.units, dtype=str), ""),
        }  # fmt: skip
        return dataset(found, {"frequency": (self.frequencies_hz, "Hz")} | {key: (texts[key], "") for key in pair})

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "frequencies_hz": self.frequencies_hz, "values": self.values,
            "inputs": np.array(self.inputs, dtype=str), "outputs": np.array(self.outputs, dtype=str),
            "units": np.array(self.units, dtype=str),
        }  # fmt: skip

    def plot(self, *, axes: Any = None) -> Any:
        """Plot a Bode diagram (matplotlib) and return the panels.

        Parameters
        ----------
        axes : sequence of matplotlib.axes.Axes, optional
            Two axes, for magnitudes and for unwrapped phases. Default: a new figure.
        """
        return picture("frequency_response.plot.bode_plot")(self, axes)

    def to_control(self) -> Any:
        """Return a python-control FrequencyResponseData (extra `control`), sorted by frequency."""
        control = optional_package("control", "python-control", "'supple[control]'")
        order = np.argsort(self.frequencies_hz)
        return control.FrequencyResponseData(
            self.values[order].transpose(1, 2, 0), 2.0 * np.pi * self.frequencies_hz[order]
        )


def _highest(hertz: Array, values: Complex) -> list[tuple[str, str, str]]:
    """Return frequency, magnitude and phase of both ends of a response and of its highest peaks."""
    size = np.abs(values)
    inner = np.flatnonzero((size[1:-1] > size[:-2]) & (size[1:-1] >= size[2:])) + 1
    peaks = np.sort(inner[np.argsort(size[inner])[::-1]][:_PEAKS])
    shown = sorted({0, len(size) - 1, *peaks.tolist()}) if len(size) else []
    return [
        (
            f"{hertz[i]:.6g} Hz" + (" (peak)" if i in peaks else ""),
            number_text(size[i]),
            f"{np.degrees(np.angle(values[i])):.4g}°",
        )
        for i in shown
    ]
