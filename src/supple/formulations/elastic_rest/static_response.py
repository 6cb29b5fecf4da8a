"""Displacements and reactions under constant forces, actuators locked, at one configuration or many."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.compilation import compiled
from supple.compilation.parts import in_parts
from supple.compilation.threads import single_blas_thread
from supple.diagnostics import InputError
from supple.formulations.elastic_rest.constrained_modes import first_shift, rows_at
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.formulations.elastic_rest.response_kernel import at_rest

Array = NDArray[np.float64]


@single_blas_thread()
def static_response(rest: ElasticRest, X: Array, forces: Array, ends: Array | None = None) -> tuple[Array, Array]:
    """Z (N, p, n) and multipliers of all rows (N, p, rows) under forces (N, p, n) over z, at poses X (N, ...).

    Λ Z + Cᵀλ = f, C Z - c λ = e on joints, coordinates and springs; λ of other rows is 0, and that of ideal rows which
    depend on the others. ends : (p, rows) e, zero if left out
    """
    held = rest.held(actuators=True)
    soft = held.compliance > 0.0
    numbers = np.concatenate([held.rows[~soft], held.rows[soft]])
    hard = int(np.count_nonzero(~soft))
    stiffness = np.concatenate([np.zeros(hard), 1.0 / held.compliance[soft]])
    led = np.zeros((forces.shape[1], len(numbers))) if ends is None else np.ascontiguousarray(ends[:, numbers])
    scale = rest.arrays.stiffness + first_shift(rest, held, X[0])
    Z = np.empty(forces.shape)
    reactions = np.empty((*forces.shape[:2], len(numbers)))
    regular = np.empty(len(X), dtype=np.bool_)

    def part(start: int, stop: int) -> None:
        piece = slice(start, stop)
        C = rows_at(rest, numbers, X[piece])
        run = compiled(at_rest, count=stop - start)
        run(rest.arrays.stiffness, scale, hard, stiffness, C, forces[piece], led, Z[piece], reactions[piece],
            regular[piece])  # fmt: skip

    in_parts(part, len(X))
    if not (regular & np.isfinite(Z).all(axis=(1, 2))).all():
        raise InputError(
            "something moves that nothing holds, although its actuators are locked",
            part=f'mechanism "{rest.numbering.mechanism.name}"',
            hint="hold it with a coordinate, a joint or a spring",
        )
    every = np.zeros((*forces.shape[:2], len(rest.arrays.rows_i)))
    every[:, :, numbers] = reactions
    return Z, every
