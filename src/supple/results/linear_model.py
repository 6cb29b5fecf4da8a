"""Linear models ẋ = A x + B u, y = C x + D u, with names: their modes, and how they change with a parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eig

from supple.array_types import Array, Complex
from supple.diagnostics import InputError, optional_package, require_known
from supple.diagnostics.arguments import require_arguments
from supple.results.basis import CoordinateBasis
from supple.results.frequency_response import FrequencyResponse, response_unit
from supple.results.result import Entries, Result, arrays_repr, eigenvalue_entries, picture
from supple.results.table import Table, matrix_table
from supple.results.text import Text, listed, number_text, undotted
from supple.results.units import UNKNOWN, Units

_SINGLE = 1e-6  # |lᴴr| of unit vectors: below it the eigenvalue is one of several that share a vector


class LinearSlopes(NamedTuple):
    """Slopes of the four matrices of a linear model along a parameter: ∂A/∂μ, ∂B/∂μ, ∂C/∂μ and ∂D/∂μ.

    The operating point follows.
    """

    A: Array
    B: Array
    C: Array
    D: Array

    def __repr__(self) -> str:
        return arrays_repr(self)


def by_magnitude(values: Complex) -> NDArray[np.int64]:
    """The order of eigenvalues by rising magnitude, which is not one of rounding errors."""
    digits = values / max(float(np.abs(values).max(initial=0.0)), 1e-300)
    return np.lexsort(tuple(np.round(part, 10) for part in (digits.imag, digits.real, np.abs(digits))))


def eigenvalue_slopes(A: Array, slopes: Array) -> Complex:
    """∂λ/∂μ of the eigenvalues of A, by rising magnitude.

        ∂λ/∂μ = lᴴ (∂A/∂μ) r / lᴴr,    A r = λ r,  lᴴA = λ lᴴ                                    (parameters, 13)

    No number where several share one vector (a motion that nothing holds has position and rate in one), for these
    have none.
    """
    values, left, right = (np.asarray(item, dtype=complex) for item in eig(A, left=True, right=True))
    share = np.einsum("ik,ik->k", left.conj(), right)
    single = np.abs(share) > _SINGLE
    found: Any = np.einsum("ik,ij,jk->k", left.conj(), slopes, right)
    found = np.where(single, found / np.where(single, share, 1.0), np.nan)
    return np.asarray(found[by_magnitude(values)])


# Linear models: matrices with names.


_METHODS = ("zoh", "foh", "bilinear", "euler", "backward_diff", "impulse")
_ROUNDING = 1e-15  # of the largest eigenvalue: less is zero


class SecondOrder(NamedTuple):
    """M δθ̈ = P₂ δθ + P₁ δθ̇ + P₃ δu about the same state: (n, n) three times, (n, inputs)             [Lin, eq. 39]

    -P₂ is the stiffness of small motions and -P₁ their damping, with what the motion itself contributes.
    """

    M: Array
    P2: Array
    P1: Array
    P3: Array

    def __repr__(self) -> str:
        return arrays_repr(self)


@dataclass(frozen=True, eq=False, repr=False)
class LinearModel(Result):
    """Small motions about a state: x, u and y are the departures from it.

    A (x, x), B (x, u), C (y, x), D (y, u); states, inputs, outputs : their names
    at : the state, the inputs, the outputs and the accelerations that it was linearized about, by name
    second_order : the same as equations of forces, where the states are coordinates and their rates
    step : s, of a model in discrete time x(k + 1) = A x(k) + B u(k); None in continuous time
    rigid : names of the elastic parts of the mechanism that are taken as rigid
    basis : what elastic states are counted in; None without them
    units : of the coordinates among the states, the inputs and the outputs
    delays : s, of commands and outputs, by name, that are Padé's approximants of the order `pade` in it
    undriven : inputs that are forces here, though the machine has drives there (drives=False)
    slopes : by parameter that was asked for (`along`), ∂A/∂μ, ∂B/∂μ, ∂C/∂μ and ∂D/∂μ: θ is held, sag and what holds it
             follow; at an equilibrium θ follows too
    """

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    at: dict[str, dict[str, float]]
    second_order: SecondOrder | None = None
    step: float | None = None
    rigid: tuple[str, ...] = ()
    basis: CoordinateBasis | None = None
    units: Units = UNKNOWN
    delays: Mapping[str, float] = field(default_factory=dict)
    pade: int | None = None
    undriven: tuple[str, ...] = ()
    slopes: Mapping[str, LinearSlopes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        x, u, y = len(self.states), len(self.inputs), len(self.outputs)
        shapes = {"A": (x, x), "B": (x, u), "C": (y, x), "D": (y, u)}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise InputError(f"has the shape {getattr(self, name).shape}", part=name, hint=f"give {shape}")

    def summary(self) -> str:
        when = "" if self.step is None else f", steps of {self.step:g} s"
        when += "" if self.pade is None else f", delays of {listed(self.delays)} as Padé of order {self.pade}"
        sizes = f"{len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        return f"{sizes} ({listed(self.states)}){when}"

    def table(self) -> Table:
        """[A B; C D], a row for each state and then each output; columns of inputs are `NAME.input`."""
        rows = (*(f"d/dt {name}" if self.step is None else name for name in self.states), *self.outputs)
        names = (*self.states, *(f"{name}.input" for name in self.inputs))
        return matrix_table("row", rows, names, np.block([[self.A, self.B], [self.C, self.D]]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        names = {key: np.array(getattr(self, key), dtype=str) for key in ("states", "inputs", "outputs")}
        step = {} if self.step is None else {"step": np.array(self.step)}
        slopes = {
            f"{matrix} per {name}": values
            for name, each in self.slopes.items()
            for matrix, values in each._asdict().items()
        }
        return {**self.matrices, **names, "eigenvalues": self.eigenvalues, **step, **slopes}

    def data(self) -> dict[str, Any]:
        """The keys and values that `--json` prints; complex numbers as pairs."""
        found: dict[str, Any] = {
            "states": self.states, "inputs": self.inputs, "outputs": self.outputs, **self.matrices,
            "eigenvalues": _pairs(self.eigenvalues), "at": self.at, "rigid": self.rigid,
            "basis": None if self.basis is None else self.basis.data(),
            "delays": dict(self.delays), "pade": self.pade,
        }  # fmt: skip
        if self.slopes:
            found["slopes"] = {key: each._asdict() for key, each in self.slopes.items()}
            found["eigenvalue_slopes"] = {key: _pairs(values) for key, values in self.eigenvalue_slopes.items()}
        return found

    def text(self, name: str = "") -> Text:
        """The state it is about, its matrices, and its eigenvalues; name : of the mechanism or model."""
        ahead = "ẋ" if self.step is None else f"x after {number_text(self.step, 's')}"
        out = Text(f"{name}: {ahead} = A x + B u, y = C x + D u about".removeprefix(": "))
        if self.basis is not None:
            out.line(f"elastic states are {self.basis}")
        if self.pade is not None:
            delays = ", ".join(f"{key} {number_text(value, 's')}" for key, value in self.delays.items())
            out.line(f"delays ({delays}) are Padé's approximants of order {self.pade}")
        about = [(key, number_text(x)) for part in ("states", "inputs") for key, x in self.at.get(part, {}).items()]
        out.table(("state or input", "value"), about)
        out.matrix("A", self.states, self.states, self.A)
        out.matrix("B", self.states, self.inputs, self.B)
        if self.outputs:
            out.matrix("C", self.outputs, self.states, self.C)
        if self.D.any():
            out.matrix("D", self.outputs, self.inputs, self.D)
        if self.step is None:
            out.table(*self._eigenvalue_rows())
        else:
            rows = [(_complex_text(value), number_text(abs(value))) for value in self.eigenvalues.tolist()]
            out.table(("eigenvalue", "magnitude"), rows)
        return out

    def _eigenvalue_rows(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Titles and rows of a table of the eigenvalues, with their slopes."""
        rows, slopes = [], self.eigenvalue_slopes
        largest = max(map(abs, self.eigenvalues.tolist()), default=0.0)
        for i, value in enumerate(self.eigenvalues.tolist()):
            size = abs(value)
            damping = "" if size <= _ROUNDING * largest else number_text(-value.real / size)
            changes = [complex(each[i]) for each in slopes.values()]
            told = ("-" if z != z else _complex_text(z) for z in changes)
            rows.append((_complex_text(value), number_text(size / (2.0 * np.pi)), damping, *told))
        return ("eigenvalue / s⁻¹", "Hz", "damping ratio", *(f"per {key}" for key in slopes)), rows

    def map_entries(self) -> Entries:
        """|λ|/2π and the damping ratio of each eigenvalue by rising magnitude, of a conjugate pair once."""
        if self.step is not None:
            return super().map_entries()
        return eigenvalue_entries(self.eigenvalues)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The states that are coordinates, the first n, with their rates behind them; other states follow."""
        half = len(self.states) // 2
        for n in range(half, 0, -1):
            if self.states[n : 2 * n] == tuple(f"{name}.rate" for name in self.states[:n]):
                return self.states[:n]
        return self.states[:half]

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """Of A, by rising magnitude, 1/s (in discrete time without unit)."""
        found = np.linalg.eigvals(self.A).astype(complex)
        return found[by_magnitude(found)]

    @property
    def eigenvalue_slopes(self) -> dict[str, NDArray[np.complex128]]:
        """∂λ/∂μ of the `eigenvalues` along each parameter of `slopes`, by left and right vectors; no number where
        several eigenvalues share a vector."""
        return {name: eigenvalue_slopes(self.A, each.A) for name, each in self.slopes.items()}

    @property
    def matrices(self) -> dict[str, Array]:
        """A, B, C and D by name."""
        return {"A": self.A, "B": self.B, "C": self.C, "D": self.D}

    def response(self, frequencies_hz: ArrayLike, output: str, inlet: str) -> NDArray[np.complex128]:
        """C (z - A)⁻¹ B + D from one input to one output at each frequency; z = iω, in discrete time exp(iω step)."""
        require_arguments(LinearModel.response, locals())
        for name, known, what in ((output, self.outputs, "output"), (inlet, self.inputs, "input")):
            require_known(what, name, known)
        row, column = self.C[self.outputs.index(output)], self.inputs.index(inlet)
        shift = 2j * np.pi * np.asarray(frequencies_hz, float)[..., None, None]
        if self.step is not None:
            shift = np.exp(shift * self.step)
        x = np.linalg.solve(shift * np.eye(len(self.A)) - self.A, self.B[:, column, None].astype(complex))[..., 0]
        return np.asarray(x @ row + self.D[self.outputs.index(output), column])

    def frequency_response(
        self, frequencies_hz: ArrayLike, outputs: Sequence[str] | None = None, inputs: Sequence[str] | None = None
    ) -> FrequencyResponse:
        """All responses, or of some outputs to some inputs, with names and units; its `plot` is a Bode diagram."""
        require_arguments(LinearModel.frequency_response, locals())
        lines = np.atleast_1d(np.asarray(frequencies_hz, float))
        rows, columns = tuple(outputs or self.outputs), tuple(inputs or self.inputs)
        values = np.array([[self.response(lines, row, column) for column in columns] for row in rows])
        known = (self.units.outputs, self.units.inputs)
        units = tuple(
            tuple(
                response_unit("receptance", known[0][row], known[1][column])
                if row in known[0] and column in known[1]
                else ""
                for column in columns
            )
            for row in rows
        )
        return FrequencyResponse(
            lines, values.reshape(len(rows), len(columns), -1).transpose(2, 0, 1), columns, rows, units
        )

    def plot(self, *, axes: Any = None) -> Any:
        """Draw the eigenvalues in the complex plane (matplotlib); returns the panels.

        `frequency_response(...).plot()` is a Bode diagram.
        """
        return picture("linearization.plot.pole_plot")({"eigenvalues": self.eigenvalues}, self.step, axes)

    def modes(self) -> LinearModes:
        """Frequencies, damping ratios, and which coordinates (and states of drives) take part in each mode."""
        if self.step is not None:
            raise InputError(
                "it is a model in discrete time", part="modes", hint="ask the continuous model for its modes"
            )
        n = len(self.coordinates)
        if len(self.states) % 2 and f"{self.states[0]}.rate" not in self.states:
            raise InputError(
                f"{len(self.states)} states are not coordinates and their rates",
                part="modes",
                hint="look at eigenvalues",
            )
        return linear_modes(self.A, (*self.coordinates, *self.states[2 * n :]), n)

    def discretized(self, step: float, method: str = "zoh") -> LinearModel:
        """The model in discrete time.

        step   : s
        method : "zoh" holds the inputs over a step (exact then), "foh" joins them by straight lines; "bilinear"
                 (Tustin), "euler", "backward_diff", "impulse"
        """
        require_arguments(LinearModel.discretized, locals())
        from scipy.signal import cont2discrete

        if self.step is not None:
            raise InputError(f"it has steps of {self.step:g} s already", part="step", hint="take the continuous model")
        if not (np.isfinite(step) and step > 0.0):
            raise InputError(f"{step} s is not a step", part="step", hint="give a time longer than zero")
        require_known("method", method, _METHODS, part="method")
        A, B, C, D, _ = cont2discrete((self.A, self.B, self.C, self.D), step, method)
        return replace(self, A=A, B=B, C=C, D=D, second_order=None, step=float(step), slopes={})

    def to_control(self) -> Any:
        """A StateSpace of python-control (the extra `control`), with the same names but tool_x for tool.x.

        A dot stands between a system and its signal there.
        """
        control = optional_package("control", "python-control", "'supple[control]'")
        return control.ss(
            self.A,
            self.B,
            self.C,
            self.D,
            states=undotted(self.states),
            inputs=undotted(self.inputs),
            outputs=undotted(self.outputs),
            dt=0 if self.step is None else self.step,
        )

    def to_scipy(self) -> Any:
        """A StateSpace of scipy.signal."""
        from scipy.signal import StateSpace

        if self.step is None:
            return StateSpace(self.A, self.B, self.C, self.D)
        return StateSpace(self.A, self.B, self.C, self.D, dt=self.step)


def _pairs(values: NDArray[np.complex128]) -> list[list[float]]:
    """Complex numbers as lists of their real and imaginary part."""
    return [[value.real, value.imag] for value in values.tolist()]


def _complex_text(value: complex) -> str:
    return f"{number_text(value.real)} {value.imag:+.6g}i"


# Modes of a linear model: how fast each decays and turns, and which coordinates take part.


_REAL = 1e-9  # imaginary over absolute value, below which an eigenvalue counts as real


class LinearModes(NamedTuple):
    """Of ẋ = A x, one of each conjugate pair, by rising magnitude.

    eigenvalues    : (k,) λ, 1/s
    frequencies_hz : (k,) |λ| / 2π
    damping        : (k,) -Re λ / |λ|; 1 decays without turning, below 0 it grows, 0 where λ is zero
    shapes         : (k, x) the modes' states, the largest entry 1
    participation  : (k, coordinates) share of each coordinate with its rate, and of each other state; rows add up to 1
    coordinates    : their names
    """

    eigenvalues: NDArray[np.complex128]
    frequencies_hz: Array
    damping: Array
    shapes: NDArray[np.complex128]
    participation: Array
    coordinates: tuple[str, ...]

    def __repr__(self) -> str:
        return arrays_repr(self)

    def leading(self, mode: int) -> dict[str, float]:
        """Coordinates of a mode by falling participation."""
        order = np.argsort(-self.participation[mode], kind="stable")
        return {self.coordinates[i]: float(self.participation[mode, i]) for i in order}


def linear_modes(A: Array, names: tuple[str, ...], n: int) -> LinearModes:
    """Modes of A, whose states are n coordinates, then their rates, then others.

    names : of the coordinates and of the other states

    A state's share in a mode is |l_i r_i| / Σ_k |l_k r_k| with left and right eigenvectors l, r: it does not change
    with the units of the states. Where one vector stands for several equal eigenvalues the sum vanishes, and |r_i|²
    stands in.
    """
    values, left, right = eig(A, left=True, right=True)
    size = np.abs(values)
    kept = np.flatnonzero(values.imag >= -_REAL * size)
    digits = values[kept] / max(float(size.max(initial=0.0)), 1e-300)  # the order is not one of rounding errors
    kept = kept[np.lexsort((np.round(digits.real, 10), np.round(np.abs(digits), 10)))]
    values, left, right, size = values[kept], left[:, kept], right[:, kept], size[kept]
    share = np.abs(left * right)
    total = share.sum(axis=0)
    alone = total < 1e-6
    share[:, alone] = np.abs(right[:, alone]) ** 2
    share /= share.sum(axis=0)
    largest = np.argmax(np.abs(right), axis=0)
    shapes = right / right[largest, np.arange(len(values))]
    still = size == 0.0
    damping = np.where(still, 0.0, -values.real / np.where(still, 1.0, size))
    by_name = np.vstack([share[:n] + share[n : 2 * n], share[2 * n :]]).T
    return LinearModes(values, size / (2.0 * np.pi), damping, shapes.T, by_name, names)
