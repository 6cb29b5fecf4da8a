"""C of second derivatives: the same equations in dual numbers a + εb, ε² = 0, kept as complex ones with a tiny ε.

    ∂J/∂η_k = Im J(η + iε e_k)/ε,   ε = 1e-30:  exact, for ε² vanishes beside everything

Jacobians J of accelerations or forces are those of the C export, word for word; what compares or takes roots looks at
real parts. Derivatives by rates twice need no coefficients but those of the point itself, and others follow because
second derivatives are symmetric, so that it takes n + 1 Jacobians in all.
"""

from __future__ import annotations

import re

from supple.export.c.header import parameters, sizes, structure
from supple.export.c.model import CModel, Exportable
from supple.export.c.names import comment
from supple.export.c.source import equations_of, tables
from supple.export.casadi_files.dynamics import placing, statuses
from supple.export.template import filled, parts

PARTS = parts("supple.export.casadi_files", "second.c")


def second_source(rom: Exportable, prefix: str) -> str:
    """The text of `<prefix>_second.c`."""
    model = CModel(f"{prefix}_second", rom)
    fed = "input_map" in model.coefficients
    text = filled(PARTS["head"], {"name": comment(rom.name), "prefix": prefix})
    text += "\n".join([*sizes(model), *statuses(model)])
    text += in_duals("\n".join(structure(model))) + "\n".join(parameters(model))
    text += _dual_constants(tables(model)) + re.sub(r"\bplace\(", "place_real(", placing(model)) + PARTS["place"]
    words = {"prefix": model.prefix, "UPPER": model.upper, "u": "u, " if fed else ""}
    return text + in_duals(equations_of(model)) + filled(PARTS["second"], words)


def in_duals(text: str) -> str:
    """The code with dual numbers in the place of doubles; fitted coefficients stay what they are."""
    text = re.sub(r"\bdouble\b", "dual", text)
    text = re.sub(r"\b(sqrt|tanh)\(", r"dual_\1(", text)
    text = re.sub(r"\b(pivot|rate) ([<>]) 0\.0", r"creal(\1) \2 0.0", text)
    return re.sub(r"const dual (\*RESTRICT c|\*const row|\*row)\b", r"const double \1", text)


def _dual_constants(text: str) -> str:
    """Constants stand where fitted values may, and so are dual too."""
    text = re.sub(r"^static const double (constant_|nothing)", r"static const dual \1", text, flags=re.MULTILINE)
    return re.sub(r"^typedef struct \{.*\} changes;$", lambda found: in_duals(found.group()), text, flags=re.MULTILINE)
