"""Direct responses line by line from bodies and the rows between them (docs/theory/frequency-response.md)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array, Complex
from supple.compilation import compile_kernel
from supple.compilation.threads import in_parts
from supple.formulations.elastic_rest.constrained_modes import first_shift, rows_over_coordinates
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.formulations.elastic_rest.harmonic_response import (
    Excitation,
    ScaledStructure,
    harmonic_responses,
    independent_rows,
)
from supple.frequency_response.driving import require_finite
from supple.modal_analysis.restraint import Restraint


class Proportional(NamedTuple):
    """Damping in proportion to stiffness and mass: loss factor η, and αM + βK."""

    eta: float = 0.0
    alpha: float = 0.0
    beta: float = 0.0


class ScaledRows(NamedTuple):
    """Independent rows scaled to unit length: C (m, n), the first `hard` of them ideal.

    scale  : (n,) stiffness that scales z
    length : (m,) factor of each row; rows (m,) : their numbers
    """

    C: Array
    hard: int
    scale: Array
    length: Array
    rows: NDArray[np.int64]


def restraint_rows(rest: ElasticRest, held: Restraint, X: Array) -> ScaledRows:
    """Return the rows of a restraint at one configuration, without ideal rows that depend on the others."""
    scale = rest.arrays.stiffness + first_shift(rest, held.list_held_rows(), X)
    C = rows_over_coordinates(rest, np.concatenate([held.hard, held.soft]), X[None])[0] / np.sqrt(scale)
    lengths = np.linalg.norm(C, axis=1)
    acts = lengths > 0.0
    unit = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=acts)
    count = len(held.hard)
    hard = np.flatnonzero(acts[:count])
    order = np.empty(len(hard), dtype=np.int64)
    rank = compile_kernel(independent_rows, count=1)(np.ascontiguousarray(C[hard] * unit[hard, None]), order)
    kept = np.concatenate([hard[np.sort(order[:rank])], count + np.flatnonzero(acts[count:])])
    chosen = np.concatenate([held.hard, held.soft])[kept]
    return ScaledRows(np.ascontiguousarray(C[kept] * unit[kept, None]), rank, scale, unit[kept], chosen)


def direct_response(
    rest: ElasticRest,
    X: Array,
    held: Restraint,
    forces: Array,
    led: list[int],
    outputs: Array,
    omega: Array,
    damping: Proportional,
) -> Complex:
    """Return the displacement of outputs for unit forces, then for unit displacements of the led rows.

    The result is (L, outputs, inputs).
    X : one configuration; forces (p, n) and outputs (o, n) : rows of ports
    """
    found = restraint_rows(rest, held, X)
    root = np.sqrt(found.scale)
    F = np.vstack([forces, np.zeros((len(led), rest.size))]) / root
    ends = np.zeros((len(F), len(found.rows)))
    for i, row in enumerate(led, len(forces)):
        at = int(np.flatnonzero(found.rows == row)[0])
        ends[i, at] = found.length[at]
    soft = np.zeros((3, len(found.rows)))
    number = {row: i for i, row in enumerate(held.soft.tolist())}
    for at in range(found.hard, len(found.rows)):
        i = number[int(found.rows[at])]
        soft[:, at] = np.array([held.k[i], held.c[i], held.J[i]]) / found.length[at] ** 2
    structure = ScaledStructure(rest.arrays.stiffness, found.scale, found.C, found.hard, soft)
    excitation = Excitation(F, ends)
    H = np.empty((len(omega), len(outputs), len(F)), dtype=np.complex128)
    regular = np.empty(len(omega), dtype=np.bool_)

    def part(start: int, stop: int) -> None:
        piece = slice(start, stop)
        run = compile_kernel(harmonic_responses, count=stop - start)
        run(structure, damping, excitation, outputs / root, omega[piece], H[piece], regular[piece])

    in_parts(part, len(omega))
    require_finite(f'mechanism "{rest.numbering.mechanism.name}"', omega, regular & np.isfinite(H).all(axis=(1, 2)))
    return H
