"""C that CasADi loads: the fitted columns with their gradient, and the first two derivatives of both.

    y(θ) = (f̂, ∂f̂/∂θ_1, ..., ∂f̂/∂θ_s),   jac_y = ∂y/∂θ,   jac_jac_y = ∂ vec(jac_y)/∂θ

All are sums over the terms of one box with derivatives of Chebyshev's polynomials up to the third. Outside the region
the polynomials of the nearest box go on, so that an optimizer may pass there; a solution there is none of the model's.
Of a family θ stands for (θ, μ), but for the gradients in y, which are along θ alone.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from supple.export.c.literals import table
from supple.export.template import filled, parts

_ORDER = 3  # highest derivative of the columns

PARTS = parts("supple.export.casadi_files", "columns.c")


def columns_source(data: dict[str, Any], prefix: str) -> str:
    """The C text for the plain data of a model."""
    whole = data.get("family", data)
    theta, boxes = data["theta"], whole["boxes"]
    polynomials = np.array(whole["polynomials"], dtype=float)
    t, s = polynomials.shape[1], len(whole["degrees"][0])
    degrees = np.array(whole["degrees"], dtype=int).reshape(-1, s)
    orders = [_orders(combination, s) for q in range(_ORDER + 1) for combination in _combinations(s, q)]
    place = {item: i for i, item in enumerate(orders)}
    plain = [(0,) * s, *(_orders((j,), s) for j in range(theta))]
    gathers = {
        "from_y": [place[item] for item in plain],
        "from_jac": [place[_plus(item, m)] for m in range(s) for item in plain],
        "from_jac_jac": [place[_plus(_plus(item, m), k)] for k in range(s) for m in range(s) for item in plain],
    }
    nodes = boxes["nodes"]
    tables = "".join(
        table("double" if np.asarray(values).dtype.kind == "f" else "int", name, np.asarray(values))
        for name, values in {
            "root_bounds": np.array(boxes["roots"]["bounds"], dtype=float).reshape(-1, 2, s),
            "root_child": np.array(boxes["roots"]["child"], dtype=int),
            "node_axis": np.array(nodes["axis"] or [0], dtype=int),
            "node_cut": np.array(nodes["cut"] or [0.0], dtype=float),
            "node_child": np.array(nodes["children"] or [[-1, -1]], dtype=int).reshape(-1, 2),
            "leaf_first": np.array(boxes["leaves"]["first"], dtype=int),
            "leaf_terms": np.array(boxes["leaves"]["terms"], dtype=int),
            "leaf_center": np.array(boxes["leaves"]["center"], dtype=float).reshape(-1, s),
            "leaf_scale": np.array(boxes["leaves"]["scale"], dtype=float).reshape(-1, s),
            "degrees": degrees, "polynomials": polynomials, "orders": np.array(orders, dtype=int).reshape(-1, s),
            **{name: np.array(values, dtype=int) for name, values in gathers.items()},
        }.items()
    )  # fmt: skip
    counts = np.cumsum([len(list(_combinations(s, q))) for q in range(_ORDER + 1)]).tolist()
    functions = [
        _function("y", ["in_theta"], ["out_y"], counts[1], "from_y", len(gathers["from_y"]), prefix),
        _function("jac", ["in_theta", "out_y"], ["out_jac"], counts[2], "from_jac", len(gathers["from_jac"]), prefix),
        _function("jac_jac", ["in_theta", "out_y", "out_jac"], ["out_jac_jac", "none"], counts[3],
                  "from_jac_jac", len(gathers["from_jac_jac"]), prefix),
    ]  # fmt: skip
    width = (1 + theta) * t
    return "".join([filled(PARTS["code"], {
        "prefix": prefix, "s": s, "t": t, "roots": len(boxes["roots"]["child"]), "tables": tables, "order": _ORDER,
        "top": max(1, int(degrees.max(initial=1))), "combinations": len(orders), "zeros": ", 0" * width,
        "parts": "(1 + S)" if theta == s else f"(1 + {theta})",
    }), *functions])  # fmt: skip


def _function(kind: str, given: list[str], found: list[str], count: int, gather: str, blocks: int, prefix: str) -> str:
    before = "" if kind == "y" else f"{kind}_"

    def cases(names: list[str]) -> str:
        return " ".join(f"case {i}: return {name};" for i, name in enumerate(names))

    return filled(PARTS["function"], {
        "name": f"{before}{prefix}_columns", "inputs": len(given), "outputs": len(found), "in_cases": cases(given),
        "out_cases": cases(found), "count": count, "gather": gather, "blocks": blocks,
    })  # fmt: skip


def _combinations(s: int, order: int) -> list[tuple[int, ...]]:
    return list(combinations_with_replacement(range(s), order))


def _orders(axes: tuple[int, ...], s: int) -> tuple[int, ...]:
    return tuple(axes.count(i) for i in range(s))


def _plus(orders: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return tuple(value + (i == axis) for i, value in enumerate(orders))
