"""Model of a structure at one posture: modes, static and harmonic responses, and their exact derivatives.

They follow from the matrices over independent motions q, z = N q, with rows C of elastic joints and springs:

    K_q = NᵀK N,   M_q = NᵀM N,   K_q ψ = λ M_q ψ                                                  (updating, eqs. 4-9)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.linalg as la

from supple.approximation.monotone_cubic import monotone_cubic
from supple.array_types import Array
from supple.compilation.threads import single_blas_thread
from supple.diagnostics import InputError, NumericalError
from supple.formulations.elastic_rest.constrained_modes import rows_over_coordinates
from supple.formulations.elastic_rest.dense import dense_system
from supple.formulations.elastic_rest.loads import loads_at
from supple.identification.updating.structure import CondensedStructure, Trial
from supple.kinematics.configuration import Configuration
from supple.kinematics.primitives import NONE
from supple.modal_analysis.ports import channel_ports, port, port_rows
from supple.results.channel import Channel

# Stiffnesses of joints given by a table, at one posture, as functions of the values at its knots.
#
# k = k(q; v)                over a coordinate, the monotone cubic through v
# k = k(|λ|; v),   λ = k C u,   K u = f          over the load of the row at rest              (updating, eqs. 31-32)
# ∂k/∂p = (1 - T Λ)⁻¹ (∂k/∂v ∂v/∂p + T ∂λ/∂p),   T = ∂k/∂|λ|,   Λ = ∂|λ|/∂k


_TURNS, _SETTLED = 50, 1e-12


class TableRow(NamedTuple):
    """Soft row (its index) with a table: knots (n,), and the abscissa of the posture, or NaN for the load."""

    row: int
    at: Array
    place: float

    @property
    def by_load(self) -> bool:
        """True if the table is over the load."""
        return bool(np.isnan(self.place))


class Springs(NamedTuple):
    """Stiffness of the soft rows at a posture, (rows,), and slopes (k, rows)."""

    values: Array
    slopes: Array


def set_coordinate_tables(rows: Sequence[TableRow], knots: dict[int, tuple[Array, Array]], springs: Springs) -> None:
    """Set the stiffnesses of rows with a table over a coordinate; knots: values (n,) and slopes (k, n) by row."""
    for item in rows:
        if not item.by_load:
            values, slopes = knots[item.row]
            found = monotone_cubic(item.at, values, item.place)
            springs.values[item.row] = found.value
            springs.slopes[:, item.row] = slopes @ found.by_values


def set_load_tables(
    rows: Sequence[TableRow],
    knots: dict[int, tuple[Array, Array]],
    springs: Springs,
    C: Array,
    load: Array,
    stiffness: Callable[[Array], Array],
    forces: Callable[[Array, Array], Array],
) -> None:
    """Set the stiffnesses of rows with a table over their load, by Newton's method.

    C (rows, f), load (f,); stiffness(springs) : K with these; forces(slopes, u) : K'u (k, f), slopes those of springs
    """
    chosen = [item for item in rows if item.by_load]
    if not chosen:
        return
    which = np.array([item.row for item in chosen])
    Ci = C[which]
    k = np.array([float(np.max(knots[row][0])) for row in which])
    for _ in range(_TURNS):
        springs.values[which] = k
        factor = la.cho_factor(stiffness(springs.values))
        u = la.cho_solve(factor, load)
        moved = Ci @ u
        carried, sign = np.abs(k * moved), np.sign(k * moved)
        looked_up = [
            monotone_cubic(item.at, knots[item.row][0], float(x)) for item, x in zip(chosen, carried, strict=True)
        ]
        T = np.array([item.slope for item in looked_up])
        across = Ci @ la.cho_solve(factor, Ci.T)
        Lambda = sign[:, None] * (np.diag(moved) - k[:, None] * across * moved[None])
        off = np.array([item.value for item in looked_up]) - k
        step = np.linalg.solve(np.eye(len(k)) - T[:, None] * Lambda, off)
        k = np.maximum(k + step, 0.1 * k)
        if np.abs(off).max() <= _SETTLED * k.max():
            break
    else:
        raise NumericalError(
            "the stiffness as a function of the load does not converge", part="tables",
            hint="check whether its table has a step",
        )  # fmt: skip
    springs.values[which] = k
    springs.slopes[:, which] = 0.0
    by_parameters = forces(springs.slopes, u)  # K'u for all other parameters
    by_others = -(sign * k) * (by_parameters @ la.cho_solve(factor, Ci.T))
    by_knots = np.array([knots[row][1] @ item.by_values for row, item in zip(which, looked_up, strict=True)]).T
    A = np.eye(len(k)) - T[:, None] * Lambda
    springs.slopes[:, which] = np.linalg.solve(A, (by_knots + by_others * T).T).T


DISTINCT = 1e-4  # of ω: closer modes are one level, compared as a subspace
_SHARED = 1e-6  # of ω²: eigenvalues this close cannot be distinguished


class Slopes(NamedTuple):
    """K' and M' without forming them: rows u with weights, bodies and deflections with blocks."""

    rows: Array  # (k, soft)
    bodies: dict[int, tuple[Array, Array]]  # (k, size, size) each
    columns: dict[int, Array]  # (k,)


@dataclass(frozen=True, eq=False)
class PostureModel:
    """Structure at one posture.

    K, M (f, f) over q of the mechanism of the file; N (n, f); C (soft, f) elastic rows
    before (soft,) : their stiffness in the file; tables : rows that follow one; load (f,) : loads at rest
    """

    structure: CondensedStructure
    configuration: Configuration
    K: Array
    M: Array
    N: Array
    C: Array
    before: Array
    tables: tuple[TableRow, ...] = ()
    load: Array | None = None
    _last: dict[bytes, Springs] = field(default_factory=dict, repr=False)
    _channels: dict[tuple[Channel, ...], Array] = field(default_factory=dict, repr=False)

    def ports(self, names: tuple[str, ...]) -> Array:
        """Return rows (ports, f) of places and directions, `E.z`, or of sensors."""
        rest = self.structure.rest
        found = [port(rest.numbering, name) for name in names]
        return np.asarray(port_rows(rest, found, self.configuration.X[None], between=True)[0] @ self.N)

    def channels(self, channels: Sequence[Channel]) -> Array:
        """Return rows (channels, f): displacements of the channels of a test along their directions."""
        rest, known = self.structure.rest, tuple(channels)
        if known not in self._channels:
            rows = channel_ports(rest.numbering, channels).rows(rest, self.configuration.X)
            self._channels[known] = np.asarray(rows @ self.N)
        return self._channels[known]

    @single_blas_thread()
    def matrices(self, trial: Trial) -> tuple[Array, Array]:
        """Return K_q and M_q at a trial."""
        return self._matrices(trial, self.springs(trial).values)

    def springs(self, trial: Trial) -> Springs:
        """Return the stiffness of the rows at this posture, including tables, and its slopes."""
        if not self.tables:
            return Springs(trial.springs, trial.spring_slopes)
        key = trial.values.tobytes()
        if key not in self._last:
            found = Springs(trial.springs.copy(), trial.spring_slopes.copy())
            set_coordinate_tables(self.tables, trial.knots, found)
            if self.load is not None:
                set_load_tables(
                    self.tables, trial.knots, found, self.C, self.load, lambda k: self._matrices(trial, k)[0],
                    lambda slopes, u: self.forces(self._slopes(trial, slopes), u[:, None], 0.0)[:, :, 0],
                )  # fmt: skip
            self._last.clear()
            self._last[key] = found
        return self._last[key]

    def _matrices(self, trial: Trial, springs: Array) -> tuple[Array, Array]:
        change = springs - self.before
        K, M = self.K, self.M
        if change.any():
            K = K + self.C.T @ (change[:, None] * self.C)
        for column, (value, _) in trial.columns.items():
            K = K + value * np.outer(self.N[column], self.N[column])
        for b, item in trial.bodies.items():
            part = self._part(b)
            K, M = K + part.T @ item.K @ part, M + part.T @ item.M @ part
        return K, M

    def slopes(self, trial: Trial) -> Slopes:
        """Return the slopes of the matrices at a trial."""
        return self._slopes(trial, self.springs(trial).slopes)

    def _slopes(self, trial: Trial, springs: Array) -> Slopes:
        return Slopes(
            springs,
            {b: (item.dK, item.dM) for b, item in trial.bodies.items()},
            {column: slope for column, (_, slope) in trial.columns.items()},
        )

    def _part(self, b: int) -> Array:
        body = self.structure.rest.bodies[b]
        return self.N[body.start : body.stop]

    def form(self, slopes: Slopes, x: Array, y: Array, mass: Array | float) -> Array:
        """Return xᵀ(K' - s M')y of every pair of columns: (k, p, q).

        x (f, p), y (f, q); mass: s, one for each column of y
        """
        found = np.einsum("kr,rp,rq->kpq", slopes.rows, self.C @ x, self.C @ y, optimize=True)
        for column, slope in slopes.columns.items():
            found = found + slope[:, None, None] * np.outer(self.N[column] @ x, self.N[column] @ y)
        for b, (dK, dM) in slopes.bodies.items():
            left, right = self._part(b) @ x, self._part(b) @ y
            found = found + left.T @ dK @ right - left.T @ dM @ (right * mass)
        return np.asarray(found)

    def forces(self, slopes: Slopes, y: Array, mass: Array | float) -> Array:
        """Return (K' - s M')y: (k, f, q)."""
        moved = self.C @ y
        found = np.einsum("rf,kr,rq->kfq", self.C, slopes.rows, moved, optimize=True)
        for column, slope in slopes.columns.items():
            found = found + slope[:, None, None] * np.outer(self.N[column], self.N[column] @ y)
        for b, (dK, dM) in slopes.bodies.items():
            part = self._part(b)
            found = found + part.T @ (dK @ (part @ y) - dM @ (part @ y * mass))
        return np.asarray(found)

    @single_blas_thread()
    def spectrum(self, trial: Trial, count: int | None = None) -> PostureModes:
        """Return the lowest `count` modes (default: all), in order of frequency."""
        K, M = self.matrices(trial)
        scale = 1.0 / np.sqrt(np.diag(K))
        f = len(scale)
        which = None if count is None or count >= f else (f - count, f - 1)
        try:
            # μ = 1/λ: the lowest modes have the largest μ, and are accurate to their own rounding.
            mu, psi = la.eigh(scale[:, None] * M * scale, scale[:, None] * K * scale, subset_by_index=which)
        except la.LinAlgError as error:
            raise InputError(
                "a part can move freely although the actuators are locked",
                part=f'mechanism "{self.structure.mechanism.name}"', hint="hold it with a joint or a spring",
            ) from error  # fmt: skip
        mu, psi = mu[::-1], scale[:, None] * psi[:, ::-1]
        return PostureModes(self, trial, K, M, np.maximum(mu, 1e-300), psi)

    @single_blas_thread()
    def deflections(self, trial: Trial, forces: Array, outputs: Array) -> tuple[Array, Array]:
        """Return displacements (p, o) of outputs (o, f) under forces (p, f), and their slopes (k, p, o).

        y = g K⁻¹ f,   y' = -(K⁻¹g)ᵀ K' K⁻¹f                                                            (updating, eq.
        9)
        """
        K, _ = self.matrices(trial)
        factor = la.cho_factor(K)
        x, g = la.cho_solve(factor, forces.T), la.cho_solve(factor, outputs.T)
        return forces @ g, -self.form(self.slopes(trial), x, g, 0.0)


@dataclass(frozen=True, eq=False)
class PostureModes:
    """Modes of a posture: μ = 1/λ (m,) descending, ψ (f, m) with ψᵀKψ = 1."""

    model: PostureModel
    trial: Trial
    K: Array
    M: Array
    mu: Array
    psi: Array

    @property
    def hertz(self) -> Array:
        """Natural frequencies (m,), Hz, ascending."""
        return np.asarray(1.0 / (2.0 * np.pi * np.sqrt(self.mu)))

    @property
    def levels(self) -> list[slice]:
        """Levels: modes of one frequency together (pairs of a symmetric machine), ascending."""
        hertz, found, start = self.hertz, [], 0
        for i in range(1, len(hertz) + 1):
            if i == len(hertz) or hertz[i] > (1.0 + DISTINCT) * hertz[i - 1]:
                found.append(slice(start, i))
                start = i
        return found

    def level_hertz(self) -> Array:
        """Return the frequency of each level, Hz, from its mean ω²."""
        squares = 1.0 / self.mu
        return np.array([np.sqrt(squares[level].mean()) for level in self.levels]) / (2.0 * np.pi)

    def square_slopes(self) -> Array:
        """Return ∂λ/∂p (k, modes): φᵀ(K' - λM')φ; modes of one level have its mean (updating, eq. 5)."""
        squares = 1.0 / self.mu
        phi = self.psi * np.sqrt(squares)
        slopes = self.model.slopes(self.trial)
        found = np.empty((len(self.trial.values), len(squares)))
        moved = self.model.C @ phi
        found[:] = slopes.rows @ np.square(moved)
        for column, slope in slopes.columns.items():
            found += np.outer(slope, np.square(self.model.N[column] @ phi))
        for b, (dK, dM) in slopes.bodies.items():
            part = self.model._part(b) @ phi
            found += np.einsum("am,kab,bm->km", part, dK, part, optimize=True)
            found -= np.einsum("am,kab,bm->km", part, dM, part * squares, optimize=True)
        for level in self.levels:
            found[:, level] = found[:, level].mean(axis=1, keepdims=True)
        return found

    def log_slopes(self) -> Array:
        """Return ∂ ln f/∂ ln p (k, modes)."""
        return np.asarray(0.5 * self.square_slopes() * self.mu * self.trial.values[:, None])

    @single_blas_thread()
    def shape_slopes(self, modes: slice | list[int]) -> Array:
        """Return ∂φ/∂p (k, f, modes), of unit modal mass, without rotation among these modes (updating, eqs. 6-7).

        [[K - λM, MΦ], [ΦᵀM, 0]] [Y; ν] = [-(K' - λM')Φ; 0],   Φ' = Y - ½ Φ ΦᵀM'Φ
        """
        squares = 1.0 / self.mu[modes]
        phi = self.psi[:, modes] * np.sqrt(squares)
        scale = 1.0 / np.sqrt(np.diag(self.K))
        f, q = phi.shape
        slopes = self.model.slopes(self.trial)
        border = scale[:, None] * (self.M @ phi)
        size = np.abs(border).max()
        force = self.model.forces(slopes, phi, squares)
        found = np.empty(force.shape)
        for level in _level_slices(squares):  # of one frequency together
            A = np.zeros((f + q, f + q))
            A[:f, :f] = scale[:, None] * (self.K - squares[level].mean() * self.M) * scale
            A[:f, f:], A[f:, :f] = border / size, border.T / size
            own = force[:, :, level]
            right = np.zeros((f + q, len(own) * own.shape[2]))
            right[:f] = -(scale[:, None] * own).transpose(1, 0, 2).reshape(f, -1)
            Y = scale[:, None] * la.solve(A, right, assume_a="sym")[:f]
            found[:, :, level] = Y.reshape(f, len(own), -1).transpose(1, 0, 2)
        masses = self._masses(slopes, phi)
        return np.asarray(found - 0.5 * phi @ masses)

    def _masses(self, slopes: Slopes, phi: Array) -> Array:
        total = np.zeros((len(slopes.rows), phi.shape[1], phi.shape[1]))
        for b, (_, dM) in slopes.bodies.items():
            part = self.model._part(b) @ phi
            total += part.T @ dM @ part
        return total


def _level_slices(squares: Array) -> list[slice]:
    """Return ranges of ω² (q,), ascending, that are one level."""
    ends = [0, *(np.flatnonzero(np.diff(squares) > 2.0 * DISTINCT * squares[:-1]) + 1).tolist(), len(squares)]
    return [slice(a, b) for a, b in pairwise(ends)]


def posture_model(structure: CondensedStructure, configuration: Configuration) -> PostureModel:
    """Return the structure at one configuration."""
    rest, held = structure.rest, structure.held
    M, K, N = dense_system(rest, configuration, held, preload=False)
    C = rows_over_coordinates(rest, structure.soft, configuration.X[None])[0] @ N
    K, M = (0.5 * (matrix + matrix.T) for matrix in (N.T @ K @ N, N.T @ M @ N))
    before = 1.0 / held.compliance[held.compliance > 0.0]
    tables = []
    for i, table in structure.tables.items():
        of_row = rest.arrays.tables.of_row[structure.soft[i]]
        if of_row == NONE:
            tables.append(TableRow(i, np.array(table.at, float), np.nan))
            continue
        place = configuration.coordinates[table.over]
        middle = rest.arrays.tables.middle[of_row]
        if np.isfinite(middle):  # an angle is taken within half a turn of the middle of its table
            place -= 2.0 * np.pi * np.floor((place - middle) / (2.0 * np.pi) + 0.5)
        tables.append(TableRow(i, np.array(table.at, float), float(place)))
        here = monotone_cubic(np.array(table.at), np.array(table.values), float(place)).value
        C[i] /= np.sqrt(here / before[i])  # the row itself: a table scales the row and leaves its compliance constant
        before[i] = here
    load = loads_at(rest, configuration).vector @ N if any(item.by_load for item in tables) else None
    return PostureModel(structure, configuration, K, M, N, C, before, tuple(tables), load)
