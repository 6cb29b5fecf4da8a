"""Linear models ẋ = A x + B u, y = C x + D u with names: their modes, and their sensitivities to parameters."""

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
from supple.results.text import Text, list_names, number_text, remove_dots
from supple.results.units import UNKNOWN, Units

_SINGLE = 1e-6  # |lᴴr| of unit vectors; below it the eigenvalue shares its eigenvector with others (defective)


class LinearSlopes(NamedTuple):
    """Derivatives of the matrices of a linear model by a parameter: ∂A/∂μ, ∂B/∂μ, ∂C/∂μ and ∂D/∂μ.

    They include the change of the operating point.
    """

    A: Array
    B: Array
    C: Array
    D: Array

    def __repr__(self) -> str:
        return arrays_repr(self)


def by_magnitude(values: Complex) -> NDArray[np.int64]:
    """Return the order of eigenvalues by increasing magnitude, insensitive to rounding errors."""
    digits = values / max(float(np.abs(values).max(initial=0.0)), 1e-300)
    return np.lexsort(tuple(np.round(part, 10) for part in (digits.imag, digits.real, np.abs(digits))))


def eigenvalue_slopes(A: Array, slopes: Array) -> Complex:
    """Return ∂λ/∂μ of the eigenvalues of A, by increasing magnitude.

        ∂λ/∂μ = lᴴ (∂A/∂μ) r / lᴴr,    A r = λ r,  lᴴA = λ lᴴ                                    (parameters, 13)

    It is NaN if several eigenvalues share one eigenvector, as position and rate of an unconstrained motion do: they
    have no derivative.
    """
    values, left, right = (np.asarray(item, dtype=complex) for item in eig(A, left=True, right=True))
    share = np.einsum("ik,ik->k", left.conj(), right)
    single = np.abs(share) > _SINGLE
    found: Any = np.einsum("ik,ij,jk->k", left.conj(), slopes, right)
    found = np.where(single, found / np.where(single, share, 1.0), np.nan)
    return np.asarray(found[by_magnitude(values)])


# Linear models: matrices with names.


_METHODS = ("zoh", "foh", "bilinear", "euler", "backward_diff", "impulse")
_ROUNDING = 1e-15  # relative to the largest eigenvalue; smaller ones are zero


class SecondOrder(NamedTuple):
    """Second-order form M δθ̈ = P₂ δθ + P₁ δθ̇ + P₃ δu at the same state [Lin, eq. 39].

    The matrices are (n, n) three times, and (n, inputs).

    -P₂ is the stiffness of small motions and -P₁ their damping, including effects of the nominal motion.
    """

    M: Array
    P2: Array
    P1: Array
    P3: Array

    def __repr__(self) -> str:
        return arrays_repr(self)


@dataclass(frozen=True, eq=False, repr=False)
class LinearModel(Result):
    """Linear model of small motions about a state; x, u and y are deviations from it.

    Attributes
    ----------
    A, B, C, D : ndarray, shape (x, x), (x, u), (y, x), (y, u)
        State-space matrices.
    states, inputs, outputs : tuple of str
        Names.
    at : dict
        State, inputs, outputs and accelerations of the operating point, by name.
    second_order : SecondOrder or None
        Second-order form, if the states are coordinates and their rates.
    step : float or None
        Sample time of a model x(k + 1) = A x(k) + B u(k), s; None in continuous time.
    rigid : tuple of str
        Names of elastic parts of the mechanism that are treated as rigid.
    basis : CoordinateBasis or None
        Basis of the elastic states.
    units : Units
        Units of the coordinates among the states, of inputs and of outputs.
    delays : dict of str to float
        Delays of commands and outputs, s, approximated in the model by Padé approximants of order `pade`.
    pade : int or None
        Order of the Padé approximants.
    undriven : tuple of str
        Inputs that are forces although the mechanism has drives there (drives=False).
    slopes : dict of str to LinearSlopes
        Derivatives of the matrices by each parameter of `along`. θ is held; static deflection and holding forces change
        with the parameter. At an equilibrium θ changes too.

    Examples
    --------
    >>> import supple
    >>> linear = supple.linearize(supple.load("four-bar"))
    >>> len(linear.states), linear.A.shape
    (2, (2, 2))
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
                raise InputError(f"has the shape {getattr(self, name).shape}", part=name, hint=f"give shape {shape}")

    def summary(self) -> str:
        when = "" if self.step is None else f", sample time {self.step:g} s"
        when += (
            ""
            if self.pade is None
            else f", delays of {list_names(self.delays)} as Padé approximants of order {self.pade}"
        )
        sizes = f"{len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        return f"{sizes} ({list_names(self.states)}){when}"

    def table(self) -> Table:
        """Return the table [A B; C D] with a row for each state and output; columns of inputs are `NAME.input`."""
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
        """Return the data that `--json` prints; complex numbers are pairs."""
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
        """Return a text with the operating point, the matrices and the eigenvalues.

        name : of the mechanism or model
        """
        ahead = "ẋ" if self.step is None else f"x after {number_text(self.step, 's')}"
        out = Text(f"{name}: {ahead} = A x + B u, y = C x + D u about this operating point".removeprefix(": "))
        if self.basis is not None:
            out.line(f"basis of the elastic states: {self.basis}")
        if self.pade is not None:
            delays = ", ".join(f"{key} {number_text(value, 's')}" for key, value in self.delays.items())
            out.line(f"delays ({delays}) are approximated by Padé approximants of order {self.pade}")
        about = [(key, number_text(x)) for part in ("states", "inputs") for key, x in self.at.get(part, {}).items()]
        out.table(("state or input", "value [SI]"), about)
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
        """Return titles and rows of a table of the eigenvalues and their slopes."""
        rows, slopes = [], self.eigenvalue_slopes
        largest = max(map(abs, self.eigenvalues.tolist()), default=0.0)
        for i, value in enumerate(self.eigenvalues.tolist()):
            size = abs(value)
            damping = "" if size <= _ROUNDING * largest else number_text(-value.real / size)
            changes = [complex(each[i]) for each in slopes.values()]
            message = ("-" if z != z else _complex_text(z) for z in changes)
            rows.append((_complex_text(value), number_text(size / (2.0 * np.pi)), damping, *message))
        return ("eigenvalue / s⁻¹", "Hz", "damping ratio", *(f"per {key}" for key in slopes)), rows

    def map_entries(self) -> Entries:
        """Return |λ|/2π and the damping ratio of eigenvalues by increasing magnitude, once for each conjugate pair."""
        if self.step is not None:
            return super().map_entries()
        return eigenvalue_entries(self.eigenvalues)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """States that are coordinates: the first n; their rates follow, then other states."""
        half = len(self.states) // 2
        for n in range(half, 0, -1):
            if self.states[n : 2 * n] == tuple(f"{name}.rate" for name in self.states[:n]):
                return self.states[:n]
        return self.states[:half]

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """Return the eigenvalues of A by increasing magnitude, 1/s (dimensionless in discrete time)."""
        found = np.linalg.eigvals(self.A).astype(complex)
        return found[by_magnitude(found)]

    @property
    def eigenvalue_slopes(self) -> dict[str, NDArray[np.complex128]]:
        """Return ∂λ/∂μ of the `eigenvalues` by each parameter of `slopes`; NaN if eigenvalues share an eigenvector."""
        return {name: eigenvalue_slopes(self.A, each.A) for name, each in self.slopes.items()}

    @property
    def matrices(self) -> dict[str, Array]:
        """Return A, B, C and D by name."""
        return {"A": self.A, "B": self.B, "C": self.C, "D": self.D}

    def response(self, frequencies_hz: ArrayLike, output: str, inlet: str) -> NDArray[np.complex128]:
        """Return C (z - A)⁻¹ B + D from one input to one output at each frequency.

        z is iω in continuous time, and exp(iω step) in discrete time.
        """
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
        """Return frequency responses with names and units; their `plot` is a Bode diagram.

        Parameters
        ----------
        frequencies_hz : array_like
            Frequencies, Hz.
        outputs : sequence of str, optional
            Names of the outputs. Default: all.
        inputs : sequence of str, optional
            Names of the inputs. Default: all.

        Returns
        -------
        FrequencyResponse
            Responses of these outputs to these inputs.
        """
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
        """Plot the eigenvalues in the complex plane (matplotlib) and return the panels.

        `frequency_response(...).plot()` is a Bode diagram.
        """
        return picture("linearization.plot.pole_plot")({"eigenvalues": self.eigenvalues}, self.step, axes)

    def modes(self) -> LinearModes:
        """Return frequencies, damping ratios, and participation of coordinates and drive states in each mode.

        Returns
        -------
        LinearModes
            One mode for each real eigenvalue and each conjugate pair.

        Raises
        ------
        InputError
            If the model is in discrete time, or its states are not coordinates with their rates.
        """
        if self.step is not None:
            raise InputError(
                "the model is in discrete time", part="modes", hint="call modes() on the continuous-time model"
            )
        n = len(self.coordinates)
        if len(self.states) % 2 and f"{self.states[0]}.rate" not in self.states:
            raise InputError(
                f"{len(self.states)} states are not coordinates with their rates",
                part="modes",
                hint="use eigenvalues()",
            )
        return linear_modes(self.A, (*self.coordinates, *self.states[2 * n :]), n)

    def discretize(self, step: float, method: str = "zoh") -> LinearModel:
        """Return the model in discrete time.

        Parameters
        ----------
        step : float
            Sample time, s.
        method : str, optional
            Method of discretization. Default: "zoh".

            "zoh" holds the inputs during a step, which is exact for such inputs; "foh" interpolates them linearly.
            Others are "bilinear" (Tustin), "euler", "backward_diff" and "impulse".

        Returns
        -------
        LinearModel
            Model x(k + 1) = A x(k) + B u(k).

        Raises
        ------
        InputError
            If the model is already in discrete time, or the sample time is not positive.
        """
        require_arguments(LinearModel.discretize, locals())
        from scipy.signal import cont2discrete

        if self.step is not None:
            raise InputError(
                f"the model already has a sample time of {self.step:g} s",
                part="step",
                hint="discretize the continuous-time model",
            )
        if not (np.isfinite(step) and step > 0.0):
            raise InputError(f"must be positive (got {step} s)", part="step", hint="give the sample time in s")
        require_known("method", method, _METHODS, part="method")
        A, B, C, D, _ = cont2discrete((self.A, self.B, self.C, self.D), step, method)
        return replace(self, A=A, B=B, C=C, D=D, second_order=None, step=float(step), slopes={})

    def to_control(self) -> Any:
        """Return a python-control StateSpace (extra `control`) with the same names, but tool_x for tool.x.

        python-control uses a dot to separate the names of a system and its signal.
        """
        control = optional_package("control", "python-control", "'supple[control]'")
        return control.ss(
            self.A,
            self.B,
            self.C,
            self.D,
            states=remove_dots(self.states),
            inputs=remove_dots(self.inputs),
            outputs=remove_dots(self.outputs),
            dt=0 if self.step is None else self.step,
        )

    def to_scipy(self) -> Any:
        """Return a scipy.signal StateSpace."""
        from scipy.signal import StateSpace

        if self.step is None:
            return StateSpace(self.A, self.B, self.C, self.D)
        return StateSpace(self.A, self.B, self.C, self.D, dt=self.step)


def _pairs(values: NDArray[np.complex128]) -> list[list[float]]:
    """Return complex numbers as lists of their real and imaginary parts."""
    return [[value.real, value.imag] for value in values.tolist()]


def _complex_text(value: complex) -> str:
    return f"{number_text(value.real)} {value.imag:+.6g}i"


# Modes of a linear model: decay, frequency and participation of coordinates.


_REAL = 1e-9  # imaginary part over magnitude, below which an eigenvalue counts as real


class LinearModes(NamedTuple):
    """Modes of ẋ = A x, one of each conjugate pair, by increasing magnitude.

    Attributes
    ----------
    eigenvalues : ndarray of complex, shape (k,)
        Eigenvalues λ, 1/s.
    frequencies_hz : ndarray, shape (k,)
        Natural frequencies |λ| / 2π, Hz.
    damping : ndarray, shape (k,)
        Damping ratios -Re λ / |λ|: 1 without oscillation, negative for unstable modes, 0 if λ is zero.
    shapes : ndarray of complex, shape (k, x)
        States of the modes, with the largest entry 1.
    participation : ndarray, shape (k, coordinates)
        Share of each coordinate with its rate, and of each other state; rows add up to 1.
    coordinates : tuple of str
        Names of the columns of `participation`.
    """

    eigenvalues: NDArray[np.complex128]
    frequencies_hz: Array
    damping: Array
    shapes: NDArray[np.complex128]
    participation: Array
    coordinates: tuple[str, ...]

    def __repr__(self) -> str:
        return arrays_repr(self)

    def rank_coordinates(self, mode: int) -> dict[str, float]:
        """Return the coordinates of a mode by decreasing participation."""
        order = np.argsort(-self.participation[mode], kind="stable")
        return {self.coordinates[i]: float(self.participation[mode, i]) for i in order}


def linear_modes(A: Array, names: tuple[str, ...], n: int) -> LinearModes:
    """Return the modes of A, whose states are n coordinates, then their rates, then others.

    names : of the coordinates and of the other states

    The participation of a state in a mode is |l_i r_i| / Σ_k |l_k r_k| with left and right eigenvectors l, r: it does
    not depend on the units of the states. If several equal eigenvalues share an eigenvector, the sum vanishes, and
    |r_i|² is used.
    """
    values, left, right = eig(A, left=True, right=True)
    size = np.abs(values)
    kept = np.flatnonzero(values.imag >= -_REAL * size)
    digits = values[kept] / max(float(size.max(initial=0.0)), 1e-300)  # rounded, so that the order is reproducible
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
