"""Rows of coefficients of a flexible mechanism at configurations, and its modes there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.compilation import compiled
from supple.compilation.threads import single_blas_thread
from supple.description.damping import Damping
from supple.formulations.coefficients import carried
from supple.kinematics.closure import in_parts
from supple.kinematics.configuration import Configuration
from supple.kinematics.rest import rest
from supple.parameterization.flexible_arrays import FlexibleSystem
from supple.parameterization.flexible_batch import flexible_batch
from supple.parameterization.flexible_kernel import SINGULAR
from supple.parameterization.followed_modes import followed
from supple.parameterization.layout import Layout, flexible_layout
from supple.parameterization.rigid_rows import layout_of as rigid_layout_of
from supple.parameterization.rigid_rows import rigid_rows

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


class FlexibleRows(NamedTuple):
    """rows (N, width) as `layout_of` says; modes (N, n, z) of η; status (N,), see `flexible_kernel`."""

    rows: Array
    modes: Array
    status: Integers


@single_blas_thread()
def flexible_rows(configuration: Configuration, system: FlexibleSystem) -> FlexibleRows:
    """A row depends on its own configuration alone, whatever stands beside it in the batch."""
    position = configuration.rest
    given, regular = rigid_rows(configuration)
    rigid = rigid_layout_of(position.numbering, carried(position))
    layout = layout_of(system)
    X = configuration.X if configuration.X.ndim == 3 else configuration.X[None]
    w = configuration.w if configuration.w.ndim == 2 else configuration.w[None]
    out = np.empty((len(X), layout.width))
    modes = np.empty((len(X), len(system.coordinates), system.rest.size))
    status = np.empty(len(X), dtype=np.int64)
    references = system.reference[None]
    if system.choice.tracking == "modes":
        references = followed(system, configuration)
    run = compiled(flexible_batch)

    def part(start: int, stop: int) -> None:
        piece = slice(start, stop)
        run(
            position.numbering.arrays,
            position.selected,
            system.uses,
            system.arrays,
            system.sizes,
            references if len(references) == 1 else references[piece],
            X[piece],
            w[piece],
            rigid.offsets,
            given[piece],
            layout.offsets,
            out[piece],
            modes[piece],
            status[piece],
        )

    in_parts(part, len(X), least=8)
    status[regular == 0] = SINGULAR
    damping = position.numbering.mechanism.damping
    if damping is not None:
        _add_damping(damping, len(position.numbering.coordinates), layout.split(out))
    return FlexibleRows(out, modes, status)


def layout_of(system: FlexibleSystem) -> Layout:
    """Where each coefficient stands in a row."""
    numbering = system.rest.numbering
    load = carried(rest(numbering.mechanism))
    return flexible_layout(
        len(numbering.coordinates),
        len(system.choice.constraint),
        system.choice.internal,
        len(numbering.mechanism.actuators),
        len(load.outputs),
        len(load.dry_forces),
    )


def _add_damping(law: Damping, s: int, parts: dict[str, Array]) -> None:
    """D_δδ of the mechanism's law of damping, in place.

    Modal: D = M^½ (2 ζ Ω) M^½ with Ω² = M^-½ K M^-½ of the deformation alone: each of its modes has the ratio ζ, and D
    is smooth where modes cross. Structural damping η has no equation in time and counts as ζ = η/2: equal at resonance.
    """
    M, K, D = (parts[name][..., s:, s:] for name in ("M", "K", "damping"))
    if law.rayleigh is not None:
        D += law.rayleigh[0] * M + law.rayleigh[1] * K
        return
    ratio = law.modal if law.modal is not None else 0.5 * (law.structural or 0.0)
    known = np.isfinite(M + K).all(axis=(-2, -1), keepdims=True) & (np.abs(M).max(axis=(-2, -1), keepdims=True) > 0.0)
    L = np.linalg.cholesky(np.where(known, M, np.eye(M.shape[-1])))
    inverse = np.linalg.inv(L)
    squares, turn = np.linalg.eigh(inverse @ np.where(known, K, 0.0) @ np.swapaxes(inverse, -1, -2))
    rates = 2.0 * ratio * np.sqrt(np.maximum(squares, 0.0))
    half = L @ turn
    D += (half * rates[..., None, :]) @ np.swapaxes(half, -1, -2)
