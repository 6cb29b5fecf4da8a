"""Linear models ẋ = A x + B u, y = C x + D u, with names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.diagnostics import InputError, nearest

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Small motions about a state: x, u and y are the departures from it.

    A (x, x), B (x, u), C (y, x), D (y, u); states, inputs, outputs : their names
    at : the state, the inputs and the outputs that it was linearized about, by name
    """

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    at: dict[str, dict[str, float]]

    def __post_init__(self) -> None:
        x, u, y = len(self.states), len(self.inputs), len(self.outputs)
        shapes = {"A": (x, x), "B": (x, u), "C": (y, x), "D": (y, u)}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise InputError(f"has the shape {getattr(self, name).shape}", part=name, hint=f"give {shape}")

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """Of A, by rising magnitude, 1/s."""
        found = np.linalg.eigvals(self.A).astype(complex)
        return found[np.lexsort((found.imag, np.round(np.abs(found), 12)))]

    def response(self, frequencies_hz: ArrayLike, output: str, inlet: str) -> NDArray[np.complex128]:
        """C (iω - A)⁻¹ B + D from one input to one output at each frequency."""
        for name, known, what in ((output, self.outputs, "output"), (inlet, self.inputs, "input")):
            if name not in known:
                raise InputError(f'there is no {what} "{name}"', hint=nearest(name, known))
        row, column = self.C[self.outputs.index(output)], self.inputs.index(inlet)
        shift = 2j * np.pi * np.asarray(frequencies_hz, float)[..., None, None]
        x = np.linalg.solve(shift * np.eye(len(self.A)) - self.A, self.B[:, column, None].astype(complex))[..., 0]
        return np.asarray(x @ row + self.D[self.outputs.index(output), column])

    def to_control(self) -> Any:
        """A StateSpace of python-control (the extra `control`), with the same names but tool_x for tool.x.

        A dot stands between a system and its signal there.
        """
        try:
            import control
        except ImportError:
            raise InputError(
                "python-control is not installed", hint="install it with: pip install 'supple[control]'"
            ) from None
        return control.ss(
            self.A,
            self.B,
            self.C,
            self.D,
            states=_without_dots(self.states),
            inputs=_without_dots(self.inputs),
            outputs=_without_dots(self.outputs),
        )

    def to_scipy(self) -> Any:
        """A StateSpace of scipy.signal."""
        from scipy.signal import StateSpace

        return StateSpace(self.A, self.B, self.C, self.D)


def _without_dots(names: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for name in names:
        plain = name.replace(".", "_")
        while plain in found:
            plain += "_"
        found.append(plain)
    return found
