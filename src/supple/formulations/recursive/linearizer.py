"""Successive linearization: A and B of one state or of many, again and again, into the same arrays."""

from __future__ import annotations

import numpy as np

from supple.array_types import Array
from supple.compilation import compiled
from supple.compilation.parts import cores
from supple.formulations.recursive.batch import LinearModel, Results, batch, memory_size, one_state
from supple.formulations.recursive.dynamics import SIDE_BY_SIDE, empty_state_space, in_pieces, memory, pieces_of
from supple.formulations.recursive.gather import States
from supple.formulations.recursive.memory import places
from supple.formulations.recursive.recursion import FORWARD_VARIATION
from supple.formulations.recursive.specialised import specialised
from supple.formulations.recursive.tree import TreeArrays

_SPECIAL_SIDE = 16  # a program without loops keeps little in memory: this much fits the fastest cache


class StateLinearizer:
    """d(δq, δq̇)/dt = A (δq, δq̇) + B δu at one state, in place: A (2n, 2n), B (2n, m) and accelerations (n,).

    Nothing is checked: q (nq,), q̇ (n,) and u (m,) are contiguous arrays of float64.

        linearizer = StateLinearizer(tree)
        A, B = linearizer(q, rates, u)      # the same arrays at every call
    """

    def __init__(self, tree: TreeArrays, *, special: bool = False):
        kernel = specialised(tree)[1] if special else one_state
        n = tree.n
        self._run, self._side = compiled(kernel, fused=True), (0,)
        self._tree, self._memory = tree.packed, memory(int(memory_size(tree.packed.integers, 1)))
        at = places(tree.packed.integers).accelerations
        self.accelerations = self._memory[at : at + n]
        A, B = empty_state_space(tree, 1)
        self.A, self.B, self._model = A[0], B[0], LinearModel(A.reshape(-1), B.reshape(-1))

    def __call__(self, q: Array, rates: Array, u: Array) -> tuple[Array, Array]:
        self._run(self._side, self._tree, self._memory, q, rates, u, self._model)
        return self.A, self.B


class BatchLinearizer:
    """The same for `count` states in one call: A (N, 2n, 2n), B (N, 2n, m), accelerations (N, n).

    q (N, nq), q̇ (N, n) and u (N, m) are contiguous arrays of float64. threads : None for all cores.
    """

    def __init__(self, tree: TreeArrays, count: int, *, threads: int | None = None, special: bool = False):
        self.tree, self.count, self.special = tree, count, special
        self.threads = cores() if threads is None else threads
        self._run = compiled(specialised(tree)[0] if special else batch, fused=True)
        self._side = (0,) * (_SPECIAL_SIDE if special else SIDE_BY_SIDE)
        size = int(memory_size(tree.packed.integers, len(self._side)))
        self._memories = [memory(size) for _ in range(max(self.threads, 1))]
        self.A, self.B = empty_state_space(tree, count)
        self.accelerations = np.zeros((count, tree.n))

    def __call__(self, q: Array, rates: Array, u: Array) -> tuple[Array, Array]:
        free, given = list(self._memories), States(q, rates, self.accelerations, u)

        def part(start: int, stop: int) -> None:
            states, model = pieces_of(given, start, stop), pieces_of(LinearModel(self.A, self.B), start, stop)
            work = self.tree.packed, free.pop(), stop - start, states
            if self.special:
                self._run(self._side, 1, *work, model)
            else:
                self._run(self._side, 1, FORWARD_VARIATION, *work, Results(*model, model.A[:0]))

        in_pieces(part, self.count, self.threads)
        return self.A, self.B
