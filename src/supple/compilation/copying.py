"""Copies of arrays inside kernels.

`target[:] = source` compiles the message of an error that cannot happen, with all of Python's strings that it needs:
that takes seconds, in every kernel that says it.
"""

from __future__ import annotations

from supple.compilation.kernel import kernel


@kernel
def copy_row(source, target):
    """target (n,) = the first n of source"""
    for i in range(target.shape[0]):
        target[i] = source[i]


@kernel
def copy_table(source, target):
    """target (n, m) = source (n, m)"""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]
