"""Displacements and reactions under constant forces with locked actuators, at one configuration or many."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.compilation import compile_kernel, kernel
from supple.compilation.threads import in_parts, single_blas_thread
from supple.diagnostics import InputError
from supple.formulations.elastic_rest.constrained_modes import first_shift, rows_over_coordinates
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.formulations.elastic_rest.harmonic_response import (
    Coordinates,
    Excitation,
    Ties,
    independent_rows,
    response,
    tie,
)
from supple.kinematics.rest import rest as undeformed


class RestedStructure(NamedTuple):
    """Bodies in units of the root of `scale` (n,), and springs k (m,) of the rows, the first `hard` of them ideal."""

    stiffness: Array
    scale: Array
    hard: int
    springs: Array


@kernel(purpose="static responses")
def static_responses(structure, rows, forces, ends, Z, reactions, regular):
    """Compute Z (N, p, n) and λ (N, p, m) under forces (N, p, n) and row values ends (p, m), at N configurations.

    rows : (N, m, n); λ is 0 on dependent ideal rows
    """
    hard = structure.hard
    m, n = rows.shape[1], rows.shape[2]
    p = forces.shape[1]
    root = np.sqrt(structure.scale)
    coordinates = Coordinates(structure.stiffness / structure.scale, structure.stiffness == 0.0)
    order = np.empty(hard, dtype=np.int64)
    chosen = np.empty(m, dtype=np.int64)
    for item in range(rows.shape[0]):
        C = rows[item] / root
        length = np.empty(m)
        for i in range(m):
            total = 0.0
            for c in range(n):
                total += C[i, c] * C[i, c]
            length[i] = np.sqrt(total) if total > 0.0 else 1.0
            for c in range(n):
                C[i, c] /= length[i]
        rank = independent_rows(C[:hard], order)
        count = rank + m - hard
        for i in range(rank):
            chosen[i] = order[i]
        for i in range(hard, m):
            chosen[rank + i - hard] = i
        ties = Ties(C[chosen[:count]], np.ones(count), np.zeros(count))
        for i in range(rank, count):
            tie(ties, i, structure.springs[chosen[i]] * length[chosen[i]] ** 2)
        led = np.empty((p, count))
        for q in range(p):
            for i in range(count):
                led[q, i] = ends[q, chosen[i]] / length[chosen[i]]
        z = np.empty((p, n))
        acting = np.empty((p, count))
        regular[item] = response(coordinates, ties, Excitation(forces[item] / root, led), z, acting)
        reactions[item] = 0.0
        for q in range(p):
            for c in range(n):
                Z[item, q, c] = z[q, c] / root[c]
            for i in range(count):
                reactions[item, q, chosen[i]] = acting[q, i] / length[chosen[i]]


@single_blas_thread()
def static_response(rest: ElasticRest, X: Array, forces: Array, ends: Array | None = None) -> tuple[Array, Array]:
    """Return Z (N, p, n) and multipliers of all rows (N, p, rows) under forces (N, p, n) over z, at poses X (N, ...).

    Λ Z + Cᵀλ = f, C Z - c λ = e on joints, coordinates and springs; λ of other rows and of dependent ideal rows is 0.
    ends : (p, rows) e, default zero
    """
    held = rest.list_held_rows(actuators=True)
    soft = held.compliance > 0.0
    numbers = np.concatenate([held.rows[~soft], held.rows[soft]])
    hard = int(np.count_nonzero(~soft))
    stiffness = np.concatenate([np.zeros(hard), 1.0 / held.compliance[soft]])
    led = np.zeros((forces.shape[1], len(numbers))) if ends is None else np.ascontiguousarray(ends[:, numbers])
    # At rest and not at X[0]: a result depends on its own configuration alone, whatever stands beside it in the batch.
    scale = rest.arrays.stiffness + first_shift(rest, held, undeformed(rest.numbering.mechanism).X)
    structure = RestedStructure(rest.arrays.stiffness, scale, hard, stiffness)
    Z = np.empty(forces.shape)
    reactions = np.empty((*forces.shape[:2], len(numbers)))
    regular = np.empty(len(X), dtype=np.bool_)

    def part(start: int, stop: int) -> None:
        piece = slice(start, stop)
        C = rows_over_coordinates(rest, numbers, X[piece])
        run = compile_kernel(static_responses, count=stop - start)
        run(structure, C, forces[piece], led, Z[piece], reactions[piece], regular[piece])

    in_parts(part, len(X))
    if not (regular & np.isfinite(Z).all(axis=(1, 2))).all():
        raise InputError(
            "a part moves freely although the actuators are locked",
            part=f'mechanism "{rest.numbering.mechanism.name}"',
            hint="constrain it by a coordinate, a joint or a spring",
        )
    every = np.zeros((*forces.shape[:2], len(rest.arrays.rows_i)))
    every[:, :, numbers] = reactions
    return Z, every
