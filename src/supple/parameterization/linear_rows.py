"""Linear models of a rigid mechanism at many states, on all cores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation import compiled
from supple.compilation.native_array import native_array
from supple.compilation.parts import in_parts
from supple.diagnostics import InputError
from supple.equations.forces import Friction
from supple.formulations.coefficients import carried
from supple.kinematics.configuration import Configuration
from supple.parameterization.linear_kernel import (
    DONE,
    INDEFINITE,
    SINGULAR,
    LinearModels,
    States,
    linear_batch,
)
from supple.parameterization.rigid_rows import layout_of, rigid_rows


class LinearRows(NamedTuple):
    """At N states with s coordinates: A (N, 2s, 2s), B (N, 2s, inputs), θ̈ (N, s); M, P₂, P₁ (N, s, s)."""

    A: Array
    B: Array
    accelerations: Array
    M: Array
    P2: Array
    P1: Array


def linear_rows(configuration: Configuration, rates: Array, inputs: Array, friction_speed: float) -> LinearRows:
    """A batch of configurations with θ̇ (N, s) and forces of the actuators (N, inputs)."""
    position = configuration.rest
    load = carried(position)
    layout = layout_of(position.numbering, load)
    friction = Friction(np.array(list(load.dry_forces.values()), dtype=float), float(friction_speed))
    (count, s), actuators = configuration.theta.shape, inputs.shape[1]
    states = States(*(native_array(item) for item in (configuration.X, configuration.w, rates, inputs)))
    A, B = np.empty((count, 2 * s, 2 * s)), np.empty((count, 2 * s, actuators))
    M, P2, P1 = np.zeros((3, count, s, s))
    found = LinearModels(A, B, np.zeros((count, s)), M, P2, P1, np.empty(count, dtype=np.int64))
    fixed = (position.numbering.arrays, position.selected, load.arrays, friction, layout.offsets)

    def part(start: int, stop: int) -> None:
        some = States(*(item[start:stop] for item in states))
        to = LinearModels(*(item[start:stop] for item in found))
        compiled(linear_batch, count=stop - start)(*fixed, some, to)

    in_parts(part, count)
    if (found.status != DONE).any():
        raise _refused(configuration, rates, found.status)
    return LinearRows(*found[:-1])


def _refused(configuration: Configuration, rates: Array, status: NDArray[np.int64]) -> InputError:
    """The error for the first state that has no linear model."""
    n = int(np.flatnonzero(status != DONE)[0])
    names = configuration.rest.numbering.coordinates
    where = ", ".join(f"{name}={value:.6g}" for name, value in zip(names, configuration.theta[n], strict=True))
    where += f" (state {n} of {len(status)})" if len(status) > 1 else ""
    part = f'mechanism "{configuration.mechanism.name}"'
    if status[n] == SINGULAR:
        return InputError(
            f"{where} is a singular configuration (measure {float(configuration.singularity[n]):.1g}): θ does not "
            "determine how it moves there",
            part=part, hint="choose a configuration away from it, or other coordinates",
        )  # fmt: skip
    if status[n] == INDEFINITE:
        light = [name for name, row in zip(names, _diagonal_mass(configuration, n), strict=True) if row <= 0.0]
        which = f'"{light[0]}" moves no mass' if light else "some motion moves no mass"
        return InputError(f"{which} at {where}", part=part, hint="give mass to what it moves, or a motor to its joint")
    speeds = ", ".join(f"{value:.3g}" for value in rates[n])
    return InputError(
        f"a derivative is not finite at {where} with rates {speeds}",
        part=part, hint="two places with a distance between them meet there, or a rate is too large",
    )  # fmt: skip


def _diagonal_mass(configuration: Configuration, n: int) -> Array:
    """Diagonal of M at configuration n."""
    one = Configuration(
        configuration.rest, configuration.theta[n], configuration.X[n], configuration.w[n], configuration.reached[n]
    )
    rows, _ = rigid_rows(one)
    layout = layout_of(one.rest.numbering, carried(one.rest))
    return np.diagonal(layout.split(rows[0])["M"])
