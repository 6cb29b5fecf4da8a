"""Vectors of three and 3 x 3 matrices as plain values, which the compiler inlines wherever they are used.

A vector is a tuple of three numbers, a matrix a tuple of three rows, each a vector. Kernels read vectors from arrays
with `row_vector`, compute with them, and write them back with `put`; nothing is allocated and nothing is called.
"""

from __future__ import annotations

from math import sqrt

from supple.compilation import kernel


@kernel(inline=True)
def dot(a, b):
    """Return a·b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel(inline=True)
def cross(a, b):
    """Return a × b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel(inline=True)
def plus(a, b):
    """Return a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel(inline=True)
def minus(a, b):
    """Return a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel(inline=True)
def times(s, a):
    """Return s a."""
    return (s * a[0], s * a[1], s * a[2])


@kernel(inline=True)
def negative(a):
    """Return -a."""
    return (-a[0], -a[1], -a[2])


@kernel(inline=True)
def norm(a):
    """Return |a|."""
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


# Matrices of three by three.


@kernel(inline=True)
def apply_matrix(A, x):
    """Return A x."""
    return (dot(A[0], x), dot(A[1], x), dot(A[2], x))


@kernel(inline=True)
def apply_from_left(x, A):
    """Return xᵀ A."""
    return plus(plus(times(x[0], A[0]), times(x[1], A[1])), times(x[2], A[2]))


@kernel(inline=True)
def matrix_product(A, B):
    """Return A B."""
    return (apply_from_left(A[0], B), apply_from_left(A[1], B), apply_from_left(A[2], B))


@kernel(inline=True)
def matrix_sum(A, B):
    """Return A + B."""
    return (plus(A[0], B[0]), plus(A[1], B[1]), plus(A[2], B[2]))


@kernel(inline=True)
def outer(a, b):
    """Return a bᵀ."""
    return (times(a[0], b), times(a[1], b), times(a[2], b))


@kernel(inline=True)
def crossed_columns(a, B):
    """Return ã B, with ã x = a × x."""
    return (
        minus(times(a[1], B[2]), times(a[2], B[1])),
        minus(times(a[2], B[0]), times(a[0], B[2])),
        minus(times(a[0], B[1]), times(a[1], B[0])),
    )


@kernel(inline=True)
def skew(A):
    """Return the vector a of the skew part of A: ã = A - Aᵀ."""
    return (A[2][1] - A[1][2], A[0][2] - A[2][0], A[1][0] - A[0][1])


@kernel(inline=True)
def trace_less(A):
    """Return (tr A) 1 - A."""
    return (
        (A[1][1] + A[2][2], -A[0][1], -A[0][2]),
        (-A[1][0], A[0][0] + A[2][2], -A[1][2]),
        (-A[2][0], -A[2][1], A[0][0] + A[1][1]),
    )


@kernel(inline=True)
def symmetric(upper):
    """Return the symmetric matrix from its upper half: ((xx, xy, xz), (yy, yz, zz))."""
    return (
        upper[0],
        (upper[0][1], upper[1][0], upper[1][1]),
        (upper[0][2], upper[1][1], upper[1][2]),
    )


@kernel(inline=True)
def turn_about_z(A, sine, cosine):
    """Return A R_z for the sine and cosine of an angle."""
    return (
        (A[0][0] * cosine + A[0][1] * sine, A[0][1] * cosine - A[0][0] * sine, A[0][2]),
        (A[1][0] * cosine + A[1][1] * sine, A[1][1] * cosine - A[1][0] * sine, A[1][2]),
        (A[2][0] * cosine + A[2][1] * sine, A[2][1] * cosine - A[2][0] * sine, A[2][2]),
    )


@kernel(inline=True)
def rotation_of_quaternion(x, y, z, w):
    """Return R of a unit quaternion."""
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)),
        (2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)),
        (2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)),
    )
