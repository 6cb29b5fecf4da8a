"""How inertia changes with deformation, in C: M, ∂M/∂θ and ∂M/∂δ at θ and δ, and the inertia forces that follow.

The same as `supple.equations.deformation`, from the packed columns of the model.
"""

from __future__ import annotations

from supple.export.c.generated_model import CModel
from supple.export.c.polynomial import combine_call
from supple.export.template import template_parts

PARTS = template_parts("supple.export.c", "inertia_rates.c")


def deformed_mass(model: CModel) -> list[str]:
    """M, ∂M/∂θ and ∂M/∂δ at θ and δ."""
    mass, slope = model.coefficients["M"], model.coefficients["mass_slope"]
    lines = [f"    slope_rows({slope.source}, model->mass_slope);"]
    lines += ["    deform(model->M, model->mass_slope, eta + AXES);"]
    curvature = model.coefficients.get("mass_curvature")
    if curvature is not None:
        lines += [f"    curve({curvature.source}, model->M, model->mass_slope, eta + AXES);"]
    lines += ["    for (i = 0; i < AXES; ++i) {", "        double rows[SLOPED][SIZE][SIZE - AXES] = {{{0.0}}};"]
    if mass.columns is None:
        lines += [f"        static const double packed[{mass.width}] = {{0.0}};"]
    else:
        lines += [f"        double packed[{mass.width}];"]
        lines += [f"        {combine_call(model.fitted, mass.columns, 'db[i]', 'packed')}"]
    lines += ["        symmetric(packed, model->mass_gradient[i]);"]
    if slope.columns is not None:
        lines += ["        {", f"            double changed[{slope.width}];"]
        lines += [f"            {combine_call(model.fitted, slope.columns, 'db[i]', 'changed')}"]
        lines += ["            slope_rows(changed, rows);"]
        lines += ["            deform(model->mass_gradient[i], rows, eta + AXES);", "        }"]
    if curvature is not None and curvature.columns is not None:
        lines += ["        {", f"            double changed[{curvature.width}];"]
        lines += [f"            {combine_call(model.fitted, curvature.columns, 'db[i]', 'changed')}"]
        lines += ["            curve(changed, model->mass_gradient[i], rows, eta + AXES);", "        }"]
    lines += [
        "        if (more)",
        "            for (j = 0; j < SLOPED; ++j)",
        "                for (k = 0; k < SIZE; ++k)",
    ]
    lines += ["                    for (a = 0; a < SIZE - AXES; ++a) more->gradient[i][j][k][a] = rows[j][k][a];"]
    lines += ["    }"]
    if curvature is not None:
        lines += [f"    for (i = 0; more && i < {curvature.width}; ++i) more->curvature[i] = ({curvature.source})[i];"]
    return lines


def deformation_derivatives(model: CModel) -> str:
    """What derivatives by δ need beside the coefficients: ∂(∂M/∂θ)/∂δ, and the columns of ∂²M/∂δ²."""
    members = ""
    if model.bent:
        members = "double gradient[AXES][SLOPED][SIZE][SIZE - AXES]; "
        curvature = model.coefficients.get("mass_curvature")
        members += "" if curvature is None else f"double curvature[{curvature.width}]; "
    return f"typedef struct {{ {members or 'int none; '}}} changes;\n"
