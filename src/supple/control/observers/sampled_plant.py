"""Sampled model of a linear plant, with held commands and exact delays of commands and outputs.

For an input with the delay (m + f) T, 0 <= f < 1, the command of the sample k - m - 1 acts in the interval k until f T,
that of k - m afterwards,

    x_{k+1} = e^{AT} x_k + Σ_i ∫ e^{A(T-s)} B_i ds (c_{i,k-m-1}  or  c_{i,k-m})

and an output with such a delay at the sample k is that of (1 - f) T in the interval k - m - 1. Commands that have not
acted yet and outputs that have not been read yet are states of their own, so that

    X_{k+1} = F X_k + G c_k,   y_k = H X_k,   X = (x, commands of samples before, outputs of samples before)

holds without approximation. A measurement is taken just before the command of its sample is given. Inputs w that are
known rather than commanded have no delay and act on outputs at once: + E w_k, + Y w_k.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.linalg import expm

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.results.linear_model import LinearModel

# Linear systems between two samples, with their inputs held.
#
# x(t + T) = e^{AT} x(t) + ∫₀ᵀ e^{As} ds B u


def discretize(A: Array, B: Array, T: float) -> tuple[Array, Array]:
    """Return the exact transition over T and the effect of held inputs: (n, n) and (n, m)."""
    n, m = B.shape
    whole = expm(T * np.block([[A, B], [np.zeros((m, n + m))]]))
    return whole[:n, :n], whole[:n, n:]


def discretize_cost(A: Array, B: Array, Q: Array, R: Array, T: float) -> tuple[Array, Array, Array]:
    """Return the cost between samples with held u as xᵀQ_T x + 2 xᵀN_T u + uᵀR_T u [Van Loan 1978].

    It equals ∫₀ᵀ (xᵀQx + uᵀRu) dt.
    """
    n, m = B.shape
    k = n + m
    F = np.block([[A, B], [np.zeros((m, k))]])
    weight = np.block([[Q, np.zeros((n, m))], [np.zeros((m, n)), R]])
    whole = expm(T * np.block([[-F.T, weight], [np.zeros((k, k)), F]]))
    sum_ = whole[k:, k:].T @ whole[:k, k:]
    sum_ = 0.5 * (sum_ + sum_.T)
    return sum_[:n, :n], sum_[:n, n:], sum_[n:, n:]


def require_sample_time(T: float | None) -> None:
    """Refuse a sample time that is not positive."""
    if T is not None and not (np.isfinite(T) and T > 0.0):
        raise InputError(f"must be positive (got {T:g} s)", part="sample time", hint="give a number above 0")


# The plant, with its delays.


_LATEST = 1000  # largest delay in samples, each a state
_ROUNDING = 1e-12  # of the largest entry of D: smaller ones are zero
_WHOLE = 1e-9  # of a sample: rounding of delays to whole samples


class SampledPlant(NamedTuple):
    """Sampled plant X_{k+1} = X⁰ + F (X_k - X⁰) + G (c_k - c⁰) + E w_k, y_k = y⁰ + H (X_k - X⁰) + Y w_k.

    F (N, N), G (N, a), H (o, N), E (N, w), Y (o, w); state (N,) X⁰, command (a,) c⁰, output (o,) y⁰

    outputs  : names of y
    names    : of X: the model's states, then "lift.command1" (of one sample ago), then "tip.x.output1"
    commands : slice of X with commands of previous samples, known exactly
    model    : number of states of the linear model in X; they come first
    """

    F: Array
    G: Array
    H: Array
    E: Array
    Y: Array
    state: Array
    command: Array
    output: Array
    outputs: tuple[str, ...]
    names: tuple[str, ...]
    commands: slice
    model: int


class Delay(NamedTuple):
    """Delay of (whole + part) samples."""

    whole: int
    part: float


def delay_of(time: float, sample_time: float) -> Delay:
    """Return a delay in samples."""
    samples = max(time, 0.0) / sample_time
    if not samples <= _LATEST:
        raise InputError(
            f"{time:g} s are {samples:.3g} samples of {sample_time:g} s, more than the limit of {_LATEST}",
            part="delay", hint="use a longer sample time, or a shorter delay",
        )  # fmt: skip
    whole = int(np.floor(samples + _WHOLE))
    part = samples - whole
    return Delay(whole, part if part > _WHOLE else 0.0)


def sampled_plant(
    linear: LinearModel,
    sample_time: float,
    outputs: tuple[str, ...],
    delays: Mapping[str, float] | None = None,
    *,
    known: tuple[str, ...] = (),
    felt: Array | None = None,
) -> SampledPlant:
    """Return the sampled plant from the inputs of a linear model to some of its outputs.

    linear : model in continuous time, without the delays
    delays : s, of inputs and outputs by name; none by default
    known  : inputs w that are known rather than commanded
    felt   : (outputs, inputs) of the model, nonzero where an output can depend on an input without delay, so that
             plants over a region have the same states; by default where D is more than rounding of its largest entry
    """
    return Sampling(linear, sample_time, outputs, delays, known, felt).plant()


class Sampling:
    """Positions of past commands and outputs in the state X of a `SampledPlant`.

    Its arguments are those of `sampled_plant`.

    kept, past   : number of past values of each input and each output
    first, chain : positions where they begin
    """

    def __init__(
        self,
        linear: LinearModel,
        T: float,
        outputs: tuple[str, ...],
        delays: Mapping[str, float] | None = None,
        known: tuple[str, ...] = (),
        felt: Array | None = None,
    ) -> None:
        require_sample_time(T)
        late = {name: delay_of(time, T) for name, time in (delays or {}).items()}
        self.linear, self.T, self.outputs = linear, T, outputs
        self.inputs = tuple(name for name in linear.inputs if name not in known)
        rows = [linear.outputs.index(name) for name in outputs]
        columns, others = ([linear.inputs.index(name) for name in names] for names in (self.inputs, known))
        self.input_delays, self.output_delays = (
            [late.get(name, Delay(0, 0.0)) for name in names] for names in (self.inputs, outputs)
        )
        self.A, self.B, self.C, self.D = linear.A, linear.B[:, columns], linear.C[rows], linear.D[np.ix_(rows, columns)]
        direct = np.abs(linear.D) > _ROUNDING * np.abs(linear.D).max(initial=0.0) if felt is None else felt != 0.0
        direct = direct[np.ix_(rows, columns)]
        self.D = np.where(direct, self.D, 0.0)
        self.B_known, self.D_known = linear.B[:, others], linear.D[np.ix_(rows, others)]
        # A command is kept until it no longer acts; an output with a row of D depends on the last one.
        self.kept = [d.whole + (1 if d.part or direct[:, i].any() else 0) for i, d in enumerate(self.input_delays)]
        self.past = [d.whole + (1 if d.part else 0) for d in self.output_delays]
        self.n = len(linear.states)
        self.first = self.n + np.concatenate([[0], np.cumsum(self.kept)]).astype(int)
        self.chain = self.first[-1] + np.concatenate([[0], np.cumsum(self.past)]).astype(int)
        self.size = int(self.chain[-1])

    def plant(self) -> SampledPlant:
        """Return the sampled plant."""
        size, outputs = self.size, self.outputs
        F, G, H = np.zeros((size, size)), np.zeros((size, len(self.inputs))), np.zeros((len(outputs), size))
        E, Y = np.zeros((size, self.B_known.shape[1])), self.D_known.copy()
        names = list(self.linear.states)
        F[: self.n], G[: self.n] = self._at(self.T)
        E[: self.n] = discretize(self.A, self.B_known, self.T)[1]
        for i, (first, count) in enumerate(zip(self.first[:-1], self.kept, strict=True)):
            _remember(F, first, count)
            if count:
                G[first, i] = 1.0
            names += [f"{self.inputs[i]}.command{j + 1}" for j in range(count)]
        for o, (first, count, late) in enumerate(zip(self.chain[:-1], self.past, self.output_delays, strict=True)):
            _remember(F, first, count)
            if count:
                F[first], G[first] = self._output_at(o, (1.0 - late.part) * self.T if late.part else 0.0)
                E[first], Y[o] = Y[o], 0.0
                H[o, first + count - 1] = 1.0
            else:
                H[o] = self._output_at(o, 0.0)[0]
            names += [f"{outputs[o]}.output{j + 1}" for j in range(count)]
        commands = slice(self.n, int(self.first[-1]))
        return SampledPlant(F, G, H, E, Y, *self.about(), outputs, tuple(names), commands, self.n)

    def _at(self, tau: float) -> tuple[Array, Array]:
        """Return x at τ after a sample: by X there (n, N), and by the command given at the sample (n, a)."""
        by_state, by_command = np.zeros((self.n, self.size)), np.zeros((self.n, len(self.inputs)))
        by_state[:, : self.n], whole = discretize(self.A, self.B, tau)
        for i, late in enumerate(self.input_delays):
            change = late.part * self.T
            after = whole[:, i]
            if change:
                after = discretize(self.A, self.B[:, [i]], max(tau - change, 0.0))[1][:, 0]
                self._add_effect(by_state, by_command, i, late.whole + 1, whole[:, i] - after)
            self._add_effect(by_state, by_command, i, late.whole, after)
        return by_state, by_command

    def _output_at(self, o: int, tau: float) -> tuple[Array, Array]:
        """Return an output just before τ after a sample: by X (N,), and by the command given at the sample (a,)."""
        by_state, by_command = (
            self._at(tau) if tau else (np.eye(self.n, self.size), np.zeros((self.n, len(self.inputs))))
        )
        row, now = self.C[[o]] @ by_state, self.C[[o]] @ by_command
        for i, late in enumerate(self.input_delays):
            if self.D[o, i]:
                changed = tau > (late.part + _WHOLE) * self.T
                self._add_effect(row, now, i, late.whole + (0 if changed else 1), self.D[[o], i])
        return row[0], now[0]

    def _add_effect(self, by_state: Array, by_command: Array, i: int, ago: int, column: Array) -> None:
        """Add the effect of the command that many samples ago."""
        if ago == 0:
            by_command[:, i] += column
        else:
            by_state[:, self.first[i] + ago - 1] += column

    def about(self) -> tuple[Array, Array, Array]:
        """Return X⁰, c⁰, y⁰."""
        at = self.linear.at
        command = np.array([at["inputs"].get(name, 0.0) for name in self.inputs])
        output = np.array([at["outputs"].get(name, 0.0) for name in self.outputs])
        state = np.zeros(self.size)
        state[: self.n] = [at["states"].get(name, 0.0) for name in self.linear.states]
        state[self.n : self.first[-1]] = np.repeat(command, self.kept)
        state[self.first[-1] :] = np.repeat(output, self.past)
        return state, command, output


def _remember(F: Array, first: int, count: int) -> None:
    """Set a chain of states, each equal to the one before at the previous sample."""
    for j in range(1, count):
        F[first + j, first + j - 1] = 1.0
