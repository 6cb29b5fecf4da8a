"""Cost of a step of a law in C: operations, comparisons, memory, and what would reduce them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from supple.approximation.piecewise.piecewise import Piecewise
from supple.control.laws.law_equations import law_equations

if TYPE_CHECKING:
    from supple.control.laws.affine_law import AffineLaw

LARGE = 1_000_000  # bytes of tables above which the cost of a law comes with advice
_DOUBLE, _SINGLE, _SHORT, _INT = 8, 4, 2, 4  # bytes


class LawCost(NamedTuple):
    """Cost of a step of a law in C, in double precision.

    Attributes
    ----------
    operations : int
        Largest number of additions and multiplications of a step.
    comparisons : int
        Largest number of comparisons that find the boxes of σ: the worst-case path.
    tables : int
        Bytes of constant tables.
    state : int
        Bytes of the state between steps.
    work : int
        Bytes of local arrays of a step.
    advice : str
        What takes most of the tables, and what would make them smaller; empty below 1 MB.
    """

    operations: int
    comparisons: int
    tables: int
    state: int
    work: int
    advice: str = ""

    def lines(self) -> list[str]:
        """Return the cost as lines of text."""
        path = f" after at most {self.comparisons} comparisons to find its box" if self.comparisons else ""
        found = [
            f"A step takes at most {self.operations} operations{path}.",
            f"Constant tables: {self.tables} bytes. State: {self.state} bytes. Local arrays: {self.work} bytes.",
        ]
        return [*found, self.advice] if self.advice else found


class _FitCost(NamedTuple):
    """Cost of the functions of σ of one row: operations, comparisons, bytes of coefficients, of boxes, of work."""

    operations: int = 0
    comparisons: int = 0
    coefficients: int = 0
    boxes: int = 0
    work: int = 0


def law_cost(law: AffineLaw) -> LawCost:
    """Return the cost of a step of a law in C."""
    n, m, a = law.states, law.ports.size, len(law.ports.outputs)
    equations, rest = law_equations(law), law.equilibrium
    steps = n + a  # equations of a step; those of the start follow
    fixed, entries, functions = (
        int(equations.fixed_rows[steps]), int(equations.entry_rows[steps]), equations.factors.shape[1]
    )  # fmt: skip
    operations = 2 * fixed + entries * (2 * functions + 5)
    factor = _SINGLE if is_single(equations.factors) else _DOUBLE
    tables = len(equations.fixed) * (_DOUBLE + _SHORT) + 2 * len(equations.fixed_rows) * _INT
    expansion = len(equations.factors) * (_SHORT + functions * factor)
    work = (2 * n + a + 2 * m + 1 + functions + 4) * _DOUBLE
    own = _fit_cost(law.matrices.fitted)
    still = _fit_cost(None if rest is None else rest.fitted)
    if rest is not None:
        operations += 2 * rest.factors.size + 2 * n + m + a
        tables += rest.template.size * _DOUBLE + rest.factors.size * _DOUBLE + len(rest.varying) * _INT
        work += (n + m + a + rest.factors.shape[1]) * _DOUBLE
    swept = law.ports.products
    operations += own.operations + still.operations + swept.stop - swept.start
    tables += expansion + own.coefficients + own.boxes + still.coefficients + still.boxes
    advice = "" if tables <= LARGE else _advice(law, tables, expansion, own, still)
    return LawCost(
        operations, own.comparisons + still.comparisons, tables, max(1, n) * _DOUBLE,
        work + max(own.work, still.work), advice,
    )  # fmt: skip


def is_single(values: np.ndarray) -> bool:
    """Return whether numbers are those of single precision."""
    return bool((values == values.astype(np.float32)).all())


def _fit_cost(fitted: Piecewise | None) -> _FitCost:
    if fitted is None:
        return _FitCost()
    arrays, s = fitted.arrays, fitted.dimension
    terms, degree = int(arrays.leaves_i[:, 1].max()), max(1, int(arrays.leaves_i[:, 2].max()))
    operations = 2 * terms * fitted.outputs + s * (3 * degree + 2) + terms
    boxes = (arrays.leaves_f.size + arrays.roots_f.size) * _DOUBLE + len(arrays.leaves_i) * 2 * _INT
    boxes += len(arrays.roots_i) * _INT + len(arrays.nodes_f) * 24 + (2 + 1) * s * _DOUBLE
    comparisons = fitted.depth + 2 * s * len(arrays.roots_i)
    work = (s * (degree + 2) + terms + fitted.outputs) * _DOUBLE
    return _FitCost(operations, comparisons, arrays.coefficients.size * _DOUBLE, boxes, work)


def _advice(law: AffineLaw, tables: int, expansion: int, own: _FitCost, still: _FitCost) -> str:
    """Return what takes most of the tables and what would make it smaller."""
    tolerance = max(law.error.values(), default=0.0)
    leaves = 0 if law.matrices.fitted is None else len(law.matrices.fitted.arrays.leaves_i)
    r = law.matrices.factors.shape[1]
    parts = {
        f"{r} functions of σ on {leaves} boxes": (
            own.coefficients + own.boxes,
            "use a smaller region or fewer scheduling variables, or a larger tolerance",
        ),
        f"the factors of {len(law.matrices.varying)} entries in {r} functions": (
            expansion,
            f"use a larger tolerance (now reached: {tolerance:.1g}), or fewer measurements or modes",
        ),
        "the equilibrium": (still.coefficients + still.boxes, "use a smaller region"),
    }
    what, (size, remedy) = max(parts.items(), key=lambda item: item[1][0])
    return (
        f"Of {tables / 1e6:.2g} MB of tables, {size / 1e6:.2g} MB are {what}: {remedy}; single precision halves them, "
        "and a law at one configuration (at=) has none."
    )
