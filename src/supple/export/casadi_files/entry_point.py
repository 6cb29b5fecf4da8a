"""A function that `casadi.external` finds in a library: how many arguments and results, and which of them are zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.export.template import filled, parts

Pattern = NDArray[np.bool_]  # where a matrix may be other than zero

PARTS = parts("supple.export.casadi_files", "entry_point.c")


@dataclass(frozen=True, eq=False)
class EntryPoint:
    """name, patterns of what it takes and gives, and what those are called where the user sees it."""

    name: str
    takes: list[Pattern]
    gives: list[Pattern]
    arguments: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


def declarations(entries: Sequence[EntryPoint]) -> str:
    """Patterns as tables, each once, and what CasADi asks of every function."""
    tables: dict[tuple[int, ...], str] = {}
    text = ""
    for entry in entries:
        known = [
            [tables.setdefault(compressed(pattern), f"pattern_{len(tables)}") for pattern in patterns]
            for patterns in (entry.takes, entry.gives)
        ]
        in_cases, out_cases = (_cases(names) for names in known)
        text += filled(PARTS["signature"], {
            "name": entry.name, "inputs": len(entry.takes), "outputs": len(entry.gives), "in_cases": in_cases,
            "out_cases": out_cases,
        })  # fmt: skip
        for way, names in (("in", entry.arguments), ("out", entry.results)):
            if names:
                text += filled(
                    PARTS["names"], {"name": entry.name, "way": way, "cases": _cases([f'"{name}"' for name in names])}
                )
    made = (
        f"static const casadi_int {name}[] = {{{', '.join(map(str, numbers))}}};\n" for numbers, name in tables.items()
    )
    return "".join(made) + text


def compressed(pattern: Pattern) -> tuple[int, ...]:
    """Rows, columns, and 1 if nothing is zero; else where columns begin, and the row of each entry."""
    rows, columns = pattern.shape
    if pattern.all() and pattern.size:
        return rows, columns, 1
    starts = np.concatenate([[0], np.cumsum(pattern.sum(axis=0))])
    return rows, columns, *starts.astype(int).tolist(), *np.nonzero(pattern.T)[1].tolist()


def _cases(results: list[str]) -> str:
    return " ".join(f"case {i}: return {result};" for i, result in enumerate(results))
