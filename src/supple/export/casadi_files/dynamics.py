"""C that CasADi loads: the state derivative and inverse dynamics, each with its first and second derivatives.

    dynamics(x, u) = ẋ,   jac_dynamics = (∂ẋ/∂x, ∂ẋ/∂u),   jac_jac_dynamics = their derivatives by x and u
    inverse(η, η̇, η̈) = τ, and the same

CasADi hands results of a function to its derivatives as further arguments; nothing depends on them, and the blocks
of derivatives by them are declared empty. Half of ẋ is η̇ itself, and second derivatives by inputs twice, or by
inputs and rates, are zero: what is always zero is left out of the blocks.
"""

from __future__ import annotations

import numpy as np

from supple.export.c import location
from supple.export.c.header import parameters, sizes, structure
from supple.export.c.literals import table
from supple.export.c.model import CModel, Exportable
from supple.export.c.names import comment
from supple.export.c.source import equations_of, tables
from supple.export.casadi_files.entry_point import EntryPoint, declarations
from supple.export.template import filled, parts

PARTS = parts("supple.export.casadi_files", "dynamics.c")


def dynamics_source(rom: Exportable, prefix: str) -> str:
    """The text of `<prefix>_dynamics.c`."""
    model = CModel(f"{prefix}_core", rom)
    words = {"name": comment(rom.name), "prefix": prefix}
    text = filled(PARTS["head"], words)
    text += "\n".join([*sizes(model), *statuses(model), *structure(model), *parameters(model)])
    text += tables(model) + placing(model) + equations_of(model)
    fed = "input_map" in model.coefficients
    wrapped = filled(PARTS["wrapped"], {
        "prefix": model.prefix, "UPPER": model.upper, "entry": prefix,
        "declared": declarations(entry_points(model, prefix)),
        "u": "u, " if fed else "", "B": ", B[2 * N][U]" if fed else "", "pass_B": ", B" if fed else "",
    })  # fmt: skip
    return text + wrapped.replace(f"{model.prefix}_second", f"{prefix}_second")


def placing(model: CModel) -> str:
    """`locate`, and `place`, which never says that a point lies outside."""
    bounds = model.fitted.arrays.roots_f
    text = location.location(model.fitted, model.grid)[1] + f"enum {{ AROUND = {len(bounds)} }};\n"
    return text + table("double", "around", bounds) + filled(PARTS["place"], {"UPPER": model.upper})


def statuses(model: CModel) -> list[str]:
    """What functions return."""
    U = model.upper
    return [f"enum {{ {U}_INSIDE = 0, {U}_OUTSIDE = 1, {U}_INDEFINITE = 2 }};", ""]


def entry_points(model: CModel, prefix: str) -> list[EntryPoint]:
    """All functions that CasADi finds, with what is never zero in what they take and give."""
    n, u = model.layout.size, len(model.layout.inputs)
    fed = "input_map" in model.coefficients
    whole, zero = (lambda *shape: np.ones(shape, dtype=bool)), (lambda *shape: np.zeros(shape, dtype=bool))
    lower = np.vstack([zero(n, 2 * n), whole(n, 2 * n)])
    A, B = lower | np.eye(2 * n, k=n, dtype=bool), np.vstack([zero(n, u), np.full((n, u), fed)])
    x_x = np.repeat(lower.reshape(-1, 1, order="F"), 2 * n, axis=1)
    x_u = np.repeat((lower & (np.arange(2 * n) < n)).reshape(-1, 1, order="F"), u, axis=1) & fed
    u_x = np.repeat(B.reshape(-1, 1, order="F"), 2 * n, axis=1) & (np.arange(2 * n) < n)
    x, w, e, M, H = whole(2 * n, 1), whole(u, 1), whole(n, 1), whole(n, n), whole(n * n, n)
    o = zero(n * n, n)
    d, i = f"{prefix}_dynamics", f"{prefix}_inverse"
    return [
        EntryPoint(d, [x, w], [x], ("x", "u"), ("dx",)),
        EntryPoint(f"jac_{d}", [x, w, x], [A, B]),
        EntryPoint(
            f"jac_jac_{d}", [x, w, x, A, B],
            [x_x, x_u, zero(4 * n * n, 2 * n), u_x, zero(2 * n * u, u), zero(2 * n * u, 2 * n)],
        ),
        EntryPoint(i, [e, e, e], [e], ("eta", "v", "a"), ("tau",)),
        EntryPoint(f"jac_{i}", [e, e, e, e], [M, M, M]),
        EntryPoint(f"jac_jac_{i}", [e, e, e, e, M, M, M], [H, H, H, o, H, H, o, o, H, o, o, o]),
    ]  # fmt: skip
