"""Rows of coefficients of the rigid mechanism at configurations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.compilation import compiled
from supple.compilation.parts import in_parts
from supple.equations.row import RowLayout, local_layout
from supple.formulations.coefficients import Carried, carried
from supple.kinematics.closure import bulk
from supple.kinematics.configuration import Configuration
from supple.kinematics.numbering import Numbering
from supple.parameterization.rigid_kernel import rigid_batch

Array = NDArray[np.float64]


def rigid_rows(configuration: Configuration) -> tuple[Array, NDArray[np.int64]]:
    """All coefficients at each configuration in one row, (N, width) as `layout_of` says, and where they exist (N,)."""
    position = configuration.rest
    load = carried(position)
    layout = layout_of(position.numbering, load)
    X = configuration.X if configuration.X.ndim == 3 else configuration.X[None]
    w = configuration.w if configuration.w.ndim == 2 else configuration.w[None]
    out = np.empty((len(X), layout.width))
    regular = np.empty(len(X), dtype=np.int64)

    def part(start: int, stop: int) -> None:
        piece = slice(start, stop)
        compiled(rigid_batch, count=(stop - start) * bulk(position.numbering))(
            position.numbering.arrays,
            position.selected,
            load.arrays,
            X[piece],
            w[piece],
            layout.offsets,
            out[piece],
            regular[piece],
        )

    in_parts(part, len(X))
    regular[~np.isfinite(out).all(axis=1)] = 0  # the ends of a distance meet: it has no direction there
    return out, regular


def layout_of(numbering: Numbering, load: Carried) -> RowLayout:
    """Where each coefficient stands in a row; computed once for each mechanism."""
    s, actuators = len(numbering.coordinates), len(numbering.mechanism.actuators)
    return numbering.mechanism.remembered(
        "layout", lambda: local_layout(s, s, actuators, len(load.measured), len(load.dry_forces))
    )
