"""Exact derivatives of the forces of beam elements, at rest and in motion.

Every column is one evaluation of the very kernel of the forces with a complex step iε along one velocity of one of the
two frames; its imaginary part over ε is the derivative, without differences and to rounding. Rotations step in the
frame's own axes, R (1 + iε ẽ), as velocities do; ẋ, ω and their rates are held where poses step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.compilation import compiled, kernel
from supple.compilation.copying import copy_table
from supple.formulations.absolute.beams.beam_arrays import BeamArrays
from supple.formulations.absolute.beams.element_work import element_work
from supple.formulations.absolute.beams.planar_element import planar_element
from supple.formulations.absolute.beams.space_element import space_element

STEP = 1e-30  # its square is below every rounding
OF_POSE, OF_VELOCITY, OF_ACCELERATION = range(3)


class BeamDerivatives(NamedTuple):
    """∂Q/∂q, ∂Q/∂v and ∂Q/∂v̇ (e, 2d, 2d) of the forces Q of each element on its two frames."""

    pose: Array
    velocity: Array
    acceleration: Array


def beam_derivatives(beams: BeamArrays, gravity: Array, X: Array, V: Array, acceleration: Array) -> BeamDerivatives:
    """At one state: X (frames + 1, 12), V and v̇ (frames, d)."""
    count, width = len(beams.frames), len(beams.coupled)
    found = np.zeros((3, count, width, width))
    if count:
        compiled(complex_steps, count=count)(beams, gravity, X, V, acceleration, found)
    return BeamDerivatives(found[OF_POSE], found[OF_VELOCITY], found[OF_ACCELERATION])


@kernel(purpose="derivatives of beams")
def complex_steps(beams, gravity, X, V, acceleration, found):
    """The three derivatives of all elements into found (3, e, 2d, 2d)."""
    count, width = beams.frames.shape[0], beams.coupled.shape[0]
    d = width // 2
    Y, W, A = np.zeros(X.shape, np.complex128), np.zeros(V.shape, np.complex128), np.zeros(V.shape, np.complex128)
    work, Q = element_work(Y), np.zeros(V.shape, np.complex128)
    copy_table(X, Y)
    copy_table(V, W)
    copy_table(acceleration, A)
    for n in range(count):
        for q in range(3 * width):
            kind, end, column = q // width, q % width // d, q % d
            b = beams.frames[n, end]
            if kind == OF_POSE:
                step_pose(Y, b, column if d == 6 or column < 2 else 5)
            elif kind == OF_VELOCITY:
                W[b, column] += 1j * STEP
            else:
                A[b, column] += 1j * STEP
            for other in range(2):
                for c in range(d):
                    Q[beams.frames[n, other], c] = 0.0
            if d == 3:
                planar_element(beams, n, gravity, Y, W, A, work, Q)
            else:
                space_element(beams, n, gravity, Y, W, A, work, Q)
            for other in range(2):
                for c in range(d):
                    found[kind, n, other * d + c, end * d + column] = Q[beams.frames[n, other], c].imag / STEP
            for c in range(12):
                Y[b, c] = X[b, c]
            for c in range(d):
                W[b, c], A[b, c] = V[b, c], acceleration[b, c]


@kernel(inline=True)
def step_pose(Y, b, k):
    """A complex step of pose b along component k of (ẋ in the world, ω in the frame)."""
    if k < 3:
        Y[b, k] += 1j * STEP
    else:
        first, second = 3 + (k - 2) % 3, 3 + (k - 1) % 3
        for r in range(0, 9, 3):
            one, other = Y[b, r + first], Y[b, r + second]
            Y[b, r + first] = one + 1j * STEP * other
            Y[b, r + second] = other - 1j * STEP * one
