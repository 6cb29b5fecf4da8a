"""Vectors of three as plain values, written out by the compiler wherever they are used.

A vector is a tuple of three numbers. Kernels read them from arrays with `row_vector`, compute with them, and `put` them
back; nothing is allocated and nothing is called.
"""

from __future__ import annotations

from math import sqrt

from supple.compilation import kernel


@kernel(inline=True)
def dot(a, b):
    """a·b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel(inline=True)
def cross(a, b):
    """a × b"""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel(inline=True)
def plus(a, b):
    """a + b"""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel(inline=True)
def minus(a, b):
    """a - b"""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel(inline=True)
def times(s, a):
    """s a"""
    return (s * a[0], s * a[1], s * a[2])


@kernel(inline=True)
def negative(a):
    """-a"""
    return (-a[0], -a[1], -a[2])


@kernel(inline=True)
def norm(a):
    """|a|"""
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])
