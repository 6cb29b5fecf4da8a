"""How inertia changes with deformation, in C: M, ∂M/∂θ and ∂M/∂δ at θ and δ, and the inertia forces that follow.

The same as `supple.equations.deformation`, from the packed columns of the model.
"""

from __future__ import annotations

from supple.export.c.model import CModel
from supple.export.c.polynomial import combine_call

DEFORMED = """
/* The rows of dM / ddelta that are not zero, those of theta first. */
static void slope_rows(const double *packed, double full[SLOPED][SIZE][SIZE - AXES])
{
    int i, j, k;
    for (i = 0; i < SLOPED; ++i)
        for (j = i; j < SIZE; ++j)
            for (k = 0; k < SIZE - AXES; ++k) {
                if (j < SLOPED) full[j][i][k] = *packed;
                full[i][j][k] = *packed++;
            }
}

/* full += its change with delta. */
static void deform(double full[SIZE][SIZE], double slope[SLOPED][SIZE][SIZE - AXES], const double *delta)
{
    int i, j, k;
    for (i = 0; i < SLOPED; ++i)
        for (j = 0; j < SIZE; ++j) {
            double sum = 0.0;
            for (k = 0; k < SIZE - AXES; ++k) sum += slope[i][j][k] * delta[k];
            full[i][j] += sum;
            if (j >= SLOPED) full[j][i] += sum;
        }
}
"""

CURVED = """
/* Second order in delta of the rows and columns of theta: full += delta' Q delta / 2, slope += Q delta. */
static void curve(const double *packed, double full[SIZE][SIZE], double slope[SLOPED][SIZE][SIZE - AXES],
    const double *delta)
{
    int i, j, a, b;
    for (i = 0; i < AXES; ++i)
        for (j = i; j < AXES; ++j) {
            double bent[SIZE - AXES] = {0.0}, sum = 0.0;
            for (a = 0; a < SIZE - AXES; ++a)
                for (b = a; b < SIZE - AXES; ++b) {
                    bent[a] += *packed * delta[b];
                    if (b > a) bent[b] += *packed * delta[a];
                    ++packed;
                }
            for (a = 0; a < SIZE - AXES; ++a) {
                sum += 0.5 * bent[a] * delta[a];
                slope[i][j][a] += bent[a];
                if (j > i) slope[j][i][a] += bent[a];
            }
            full[i][j] += sum;
            if (j > i) full[j][i] += sum;
        }
}
"""

BENDING = """\
    for (k = 0; k < AXES; ++k) {
        double twice = 0.0;
        for (i = 0; i < SIZE; ++i) {
            double along = 0.0;
            for (j = 0; j < SIZE; ++j) along += m->mass_gradient[k][i][j] * rates[j];
            sum[i] += rates[k] * along;
            twice += rates[i] * along;
        }
        sum[k] -= 0.5 * twice;
    }
    for (i = 0; i < SLOPED; ++i)
        for (j = 0; j < SIZE; ++j) {
            const double pair = (j < SLOPED ? 0.5 : 1.0) * rates[i] * rates[j];
            double along = 0.0;
            for (k = 0; k < SIZE - AXES; ++k) {
                along += m->mass_slope[i][j][k] * rates[AXES + k];
                sum[AXES + k] -= m->mass_slope[i][j][k] * pair;
            }
            sum[i] += along * rates[j];
            if (j >= SLOPED) sum[j] += along * rates[i];
        }"""


def bent(model: CModel) -> list[str]:
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


def changes(model: CModel) -> str:
    """What derivatives by δ need beside the coefficients: ∂(∂M/∂θ)/∂δ, and the columns of ∂²M/∂δ²."""
    members = ""
    if model.bent:
        members = "double gradient[AXES][SLOPED][SIZE][SIZE - AXES]; "
        curvature = model.coefficients.get("mass_curvature")
        members += "" if curvature is None else f"double curvature[{curvature.width}]; "
    return f"typedef struct {{ {members or 'int none; '}}} changes;\n"
