"""C code of the dependence of inertia on deformation: M, ∂M/∂θ and ∂M/∂δ at θ and δ, and the inertia forces.

It computes the same as `supple.equations.deformation`, from the packed columns of the model.
"""

from __future__ import annotations

from supple.export.c.generated_model import CModel
from supple.export.template import template_parts

PARTS = template_parts("supple.export.c", "inertia_rates.c")


def deformation_derivatives(model: CModel) -> str:
    """Return the C structure of further derivatives by δ: ∂(∂M/∂θ)/∂δ, and the columns of ∂²M/∂δ²."""
    members = ""
    if model.bent:
        members = "double gradient[AXES][SLOPED][SIZE][SIZE - AXES]; "
        curvature = model.coefficients.get("mass_curvature")
        members += "" if curvature is None else f"double curvature[{curvature.width}]; "
    return f"typedef struct {{ {members or 'int none; '}}} changes;\n"
