"""Spatial vectors as values: pairs of vectors, (s, z) of motions and (f, g) of forces, read from and written to memory.

All are in world axes and relative to one reference point, translation before rotation (docs/theory/recursive.md, eqs.
1-5). In a memory for W states side by side, quantity c of state `lane` is at c W + lane. Numbers that all states share
are read with W = 1, lane = 0.
"""

from __future__ import annotations

from supple.compilation import kernel, mark_unsigned
from supple.formulations.recursive.memory import MOMENT, MOMENTUM, SECOND, SPREAD
from supple.geometry.vectors import apply_from_left, apply_matrix, cross, dot, plus, symmetric, times, trace_less


@kernel(inline=True)
def number_at(rows, slot, W, lane):
    """Read one number."""
    return rows[mark_unsigned(slot * W + lane)]


@kernel(inline=True)
def vector_at(rows, slot, W, lane):
    """Read three numbers."""
    at = slot * W + lane
    return (rows[mark_unsigned(at)], rows[mark_unsigned(at + W)], rows[mark_unsigned(at + 2 * W)])


@kernel(inline=True)
def spatial_at(rows, slot, W, lane):
    """Read six numbers."""
    return (vector_at(rows, slot, W, lane), vector_at(rows, slot + 3, W, lane))


@kernel(inline=True)
def matrix_at(rows, slot, W, lane):
    """Read nine numbers, row by row."""
    return (vector_at(rows, slot, W, lane), vector_at(rows, slot + 3, W, lane), vector_at(rows, slot + 6, W, lane))


@kernel(inline=True)
def put(rows, slot, W, lane, value):
    """Write one number."""
    rows[mark_unsigned(slot * W + lane)] = value


@kernel(inline=True)
def put_vector(rows, slot, W, lane, a):
    """Write three numbers."""
    at = slot * W + lane
    rows[mark_unsigned(at)], rows[mark_unsigned(at + W)], rows[mark_unsigned(at + 2 * W)] = a[0], a[1], a[2]


@kernel(inline=True)
def put_spatial(rows, slot, W, lane, x):
    """Write six numbers."""
    put_vector(rows, slot, W, lane, x[0])
    put_vector(rows, slot + 3, W, lane, x[1])


@kernel(inline=True)
def put_matrix(rows, slot, W, lane, A):
    """Write nine numbers."""
    put_vector(rows, slot, W, lane, A[0])
    put_vector(rows, slot + 3, W, lane, A[1])
    put_vector(rows, slot + 6, W, lane, A[2])


@kernel(inline=True)
def both(x, y):
    """Return x + y for spatial vectors."""
    return (plus(x[0], y[0]), plus(x[1], y[1]))


@kernel(inline=True)
def scale_spatial(factor, x):
    """Return factor x for a spatial vector."""
    return (times(factor, x[0]), times(factor, x[1]))


@kernel(inline=True)
def power(S, F):
    """Return Sᵀ F."""
    return dot(S[0], F[0]) + dot(S[1], F[1])


@kernel(inline=True)
def motion_cross(V, S):
    """Return V × S = (ω × s + v × z, ω × z)."""
    return (plus(cross(V[1], S[0]), cross(V[0], S[1])), cross(V[1], S[1]))


@kernel(inline=True)
def force_cross(S, F):
    """Return S ×* F = (z × f, z × g + s × f)."""
    return (cross(S[1], F[0]), plus(cross(S[1], F[1]), cross(S[0], F[0])))


@kernel(inline=True)
def point_velocity(S, x):
    """Return s + z × x, the velocity of the point at x."""
    return plus(S[0], cross(S[1], x))


@kernel(inline=True)
def inertia_times(m, moment, J, S):
    """Return I S = (m s + z × m c, m c × s + J z), J = (tr Σ) 1 - Σ."""
    return (plus(times(m, S[0]), cross(S[1], moment)), plus(cross(moment, S[0]), apply_matrix(J, S[1])))


@kernel(inline=True)
def carried_inertia(node, W, lane):
    """Return m c and J of all bodies that an axis carries."""
    return (vector_at(node, MOMENT, W, lane), trace_less(symmetric(spatial_at(node, SECOND, W, lane))))


@kernel(inline=True)
def carried_momentum(node, W, lane):
    """Return p and (tr W) 1 - W of all bodies that an axis carries."""
    return (vector_at(node, MOMENTUM, W, lane), trace_less(matrix_at(node, SPREAD, W, lane)))


@kernel(inline=True)
def turn_product(p, K, S):
    """Return (z × p, K z): B S of the velocity products, and E S of loads that keep their direction; only z matters."""
    return (cross(S[1], p), apply_matrix(K, S[1]))


@kernel(inline=True)
def turn_product_transposed(p, K, S):
    """Return p × s + Kᵀ z, the rotational part of the transposed product."""
    return plus(cross(p, S[0]), apply_from_left(S[1], K))
