"""C code of the state derivative ẋ = f(x, u), x = (η, η̇), with its exact Jacobians.

    M δη̈ = S_η δη + S_v δη̇ + B δu,   S_η = ∂F/∂η - ∂M/∂η η̈,   S_v = -2 Γ[η̇] - c D - Σ_j J_jᵀ f_j' J_j

F, all forces, is linear in the coefficients but for dry friction, so that their derivatives by θ, which `assemble`
makes of derivatives of the products, may stand for them (as in `supple.reduced.linearization`).
"""

from __future__ import annotations

import re

from supple.export.c.equations import in_real, input_words
from supple.export.c.exact_parts import mass_words, tabulate
from supple.export.c.law_header import filled
from supple.export.c.model import CModel

TURNING = """
/* How forces change with rates, S_v. */
static void turning(const @prefix@_parameters *p, const @prefix@_model *m, const double rates[SIZE],
    double S[SIZE][SIZE])
{
    int i, j@k@;
@unused@@turning@}
"""
TANGENT = """
typedef struct {
    @prefix@_model m; /* M becomes its factor where solved is asked for */
    double a[SIZE], along[SIZE][SIZE], rates[SIZE][SIZE]; /* accelerations, S_eta, S_v */
} tangents;

/* Coefficients, accelerations, and how forces change with coordinates and rates; M and its factor are kept apart.
   Unless known is null it gives the accelerations, and nothing is solved. */
static int tangent(const @prefix@_parameters *p, const double eta[SIZE], const double rates[SIZE],
    @inputs@const double *known, tangents *T, @real@ L[SIZE][SIZE])
{
    double at[AXES], b[TERMS], db[AXES][TERMS], ddb[AXES][AXES][TERMS];
    @real@ rest[SIZE];
@exact_terms@    @prefix@_model d;
@changes@    int i, j, k, flag;
    const int leaf = place(eta, at, &flag);
    if (leaf == NOWHERE) return @UPPER@_OUTSIDE;
    basis_curved(leaf, at, b, db, ddb);
@refine@    assemble(leaf, @at@, b, db, 1, &T->m, @more@@its_mass@);
@tangent_parts@    resistance(p, &T->m, eta, rates, rest);
    for (i = 0; i < SIZE; ++i) {
        rest[i] = -rest[i];
@feed@@copy@    }
    if (!known) {
        if (factorize(L)) return @UPPER@_INDEFINITE;
        substitute(L, rest);
    }
    for (i = 0; i < SIZE; ++i) T->a[i] = known ? known[i] : (double)rest[i];
    for (k = 0; k < AXES; ++k) {
        if (HELD(k, at, eta)) {
            for (i = 0; i < SIZE; ++i) T->along[i][k] = 0.0;
            continue;
        }
        assemble(leaf, @at@, db[k], ddb[k], 0, &d, 0@no_mass@);
        smooth(p, &d, eta, rates, rest);
        for (i = 0; i < SIZE; ++i) {
            @real@ sum = -rest[i];
            for (j = 0; j < SIZE; ++j) sum -= @cast@d.M[i][j] * T->a[j];
@feed_slope@            T->along[i][k] = (double)sum;
        }
@friction_slope@    }
@elastic@    turning(p, &T->m, rates, T->rates);
    return flag;
}
"""
FEED = "        for (j = 0; j < INPUTS; ++j) rest[i] += T->m.input_map[i][j] * inputs[j];\n"
FEED_SLOPE = "            for (j = 0; j < INPUTS; ++j) sum += d.input_map[i][j] * inputs[j];\n"
FRICTION_SLOPE = """\
        for (j = 0; j < FRICTION; ++j) {
            double slope;
            const double drag = p->friction[j] * direction(p, slip(&T->m, j, rates), &slope);
            const double change = p->friction[j] * slope * slip(&d, j, rates);
            for (i = 0; i < SIZE; ++i)
                T->along[i][k] -= d.friction_map[j][i] * drag + T->m.friction_map[j][i] * change;
        }
"""
FRICTION = """\
    for (k = 0; k < FRICTION; ++k) {
        double slope;
        direction(p, slip(m, k, rates), &slope);
        slope *= p->friction[k];
        for (i = 0; i < SIZE; ++i)
            for (j = 0; j < SIZE; ++j)
                S[i][j] -= slope * m->friction_map[k][i] * m->friction_map[k][j];
    }
"""
PLAIN = """\
    for (i = 0; i < SIZE; ++i)
        for (j = 0; j < SIZE; ++j) {
            double sum = 0.0;
@christoffel@@damping@            S[i][j] = sum;
        }
"""
BENT = """\
    /* 2 Gamma[rates] = dM/dt + L - L', L_ij = (dM/deta_j rates)_i */
    for (i = 0; i < SIZE; ++i)
        for (j = 0; j < SIZE; ++j) {
            double sum = 0.0;
            for (k = 0; k < AXES; ++k) sum += m->mass_gradient[k][i][j] * rates[k];
            if (i < SLOPED)
                for (k = AXES; k < SIZE; ++k) sum += m->mass_slope[i][j][k - AXES] * rates[k];
            else if (j < SLOPED)
                for (k = AXES; k < SIZE; ++k) sum += m->mass_slope[j][i][k - AXES] * rates[k];
            S[i][j] = -sum;
        }
    for (j = 0; j < SIZE; ++j) {
        double column[SIZE] = {0.0};
        for (i = 0; j < AXES && i < SIZE; ++i)
            for (k = 0; k < SIZE; ++k) column[i] += m->mass_gradient[j][i][k] * rates[k];
        for (i = 0; j >= AXES && i < SLOPED; ++i)
            for (k = 0; k < SIZE; ++k) {
                column[i] += m->mass_slope[i][k][j - AXES] * rates[k];
                if (k >= SLOPED) column[k] += m->mass_slope[i][k][j - AXES] * rates[i];
            }
        for (i = 0; i < SIZE; ++i) {
            S[i][j] -= column[i];
            S[j][i] += column[i];
        }
    }
@damping@"""
BENT_DAMPING = """\
    for (i = 0; i < SIZE; ++i)
        for (j = 0; j < SIZE; ++j) S[i][j] -= p->damping * m->damping[i][j];
"""
ELASTIC = """\
    for (i = 0; i < SIZE; ++i)
        for (k = AXES; k < SIZE; ++k) {
            double sum = 0.0;
@stiffness@@coupling@@bending@            T->along[i][k] = sum;
        }
"""
STIFFNESS = "            sum -= T->m.K[i][k];\n"
COUPLING = "            if (i < AXES) sum += T->m.force_gradient[k - AXES][i];\n"
BENDING = """\
            for (j = AXES; i < AXES && j < SIZE; ++j) sum -= T->m.stiffness_gradient[i][k][j] * eta[j];
"""
INERTIA = """\
    /* Those of inertia, by delta: (dM/ddelta) a, and that of Gamma[rates, rates]. */
    for (i = 0; i < SLOPED; ++i)
        for (j = 0; j < SIZE; ++j)
            for (k = AXES; k < SIZE; ++k) {
                const double slope = T->m.mass_slope[i][j][k - AXES];
                double turn = 0.0;
                int q;
                for (q = 0; q < AXES; ++q) {
                    const double change = more.gradient[q][i][j][k - AXES];
                    turn += change * rates[q];
                    T->along[q][k] += (j < SLOPED ? 0.5 : 1.0) * change * rates[i] * rates[j];
                }
                T->along[i][k] -= slope * T->a[j] + turn * rates[j];
                if (j >= SLOPED) T->along[j][k] -= slope * T->a[i] + turn * rates[i];
            }
"""
CURVED = """\
    {
        const double *Q = more.curvature;
        for (i = 0; i < AXES; ++i)
            for (j = i; j < AXES; ++j) {
                const double pair = (i == j ? 0.5 : 1.0) * rates[i] * rates[j];
                int c, e;
                for (c = AXES; c < SIZE; ++c)
                    for (e = c; e < SIZE; ++e, ++Q) {
                        T->along[i][c] -= *Q * rates[j] * rates[e];
                        if (j > i) T->along[j][c] -= *Q * rates[i] * rates[e];
                        T->along[c][e] += *Q * pair;
                        if (e == c) continue;
                        T->along[i][e] -= *Q * rates[j] * rates[c];
                        if (j > i) T->along[j][e] -= *Q * rates[i] * rates[c];
                        T->along[e][c] += *Q * pair;
                    }
            }
    }
"""
JACOBIAN = """
int @prefix@_derivative(const @prefix@_parameters *parameters, const double state[@states@],
    @inputs@double rate[@states@])
{
    double a[SIZE];
    int i;
    const int flag = accelerate(parameters ? parameters : &standard, state, state + SIZE, @pass@a);
    if (flag == @UPPER@_OUTSIDE || flag == @UPPER@_INDEFINITE) return flag;
    for (i = 0; i < SIZE; ++i) {
        rate[i] = state[SIZE + i];
        rate[SIZE + i] = a[i];
    }
    return flag;
}

int @prefix@_jacobian(const @prefix@_parameters *parameters, const double state[@states@],
    @inputs@double rate[@states@], double A[@states@][@states@]@B@)
{
    tangents T;
    @real@ L[SIZE][SIZE], column[SIZE];
    int i, k;
    const int flag = tangent(parameters ? parameters : &standard, state, state + SIZE, @pass@0, &T, L);
    if (flag == @UPPER@_OUTSIDE || flag == @UPPER@_INDEFINITE) return flag;
    for (k = 0; k < 2 * SIZE; ++k) {
        for (i = 0; i < SIZE; ++i) {
            A[i][k] = k == SIZE + i ? 1.0 : 0.0;
            column[i] = k < SIZE ? T.along[i][k] : T.rates[i][k - SIZE];
        }
        substitute(L, column);
        for (i = 0; i < SIZE; ++i) A[SIZE + i][k] = (double)column[i];
    }
@solve_inputs@    for (i = 0; i < SIZE; ++i) {
        rate[i] = state[SIZE + i];
        rate[SIZE + i] = T.a[i];
    }
    return flag;
}
"""
SOLVE_INPUTS = """\
    for (k = 0; k < INPUTS; ++k) {
        for (i = 0; i < SIZE; ++i) {
            B[i][k] = 0.0;
            column[i] = T.m.input_map[i][k];
        }
        substitute(L, column);
        for (i = 0; i < SIZE; ++i) B[SIZE + i][k] = (double)column[i];
    }
"""


def state_space(model: CModel) -> str:
    """`turning`, `tangent`, `<prefix>_derivative` and `<prefix>_jacobian`."""
    names = {name for name, _, _ in model.members()}
    inputs, friction = "input_map" in names, "friction_map" in names
    words = input_words(model) | {
        "prefix": model.prefix, "UPPER": model.upper, "states": f"{model.upper}_STATES",
        "at": "eta" if model.bent else "at", "changes": "    changes more;\n" if model.bent else "",
        "more": "&more" if model.bent else "0", "feed": in_real(FEED, model) if inputs else "",
        "refine": f"    {tabulate(model, slopes=True)}\n" if model.exact else "",
        "feed_slope": in_real(FEED_SLOPE, model) if inputs else "",
        "friction_slope": FRICTION_SLOPE if friction else "",
        "elastic": _elastic(model, names), "solve_inputs": SOLVE_INPUTS if inputs else "",
        "B": f", double B[{model.upper}_STATES][{model.upper}_INPUTS]" if inputs else "",
    } | mass_words(model)  # fmt: skip
    return _turning(model, names) + filled(TANGENT, words) + filled(JACOBIAN, words)


def _turning(model: CModel, names: set[str]) -> str:
    """The function `turning`."""
    body = _smooth_turning(model, names) + (FRICTION if "friction_map" in names else "")
    unused = [f"    (void){name};\n" for name in ("p", "m", "rates") if not re.search(rf"\b{name}\b", body)]
    return filled(TURNING, {
        "prefix": model.prefix, "k": ", k" if "k = 0" in body else "", "unused": "".join(unused), "turning": body,
    })  # fmt: skip


def _smooth_turning(model: CModel, names: set[str]) -> str:
    damped = "damping" in names
    if model.bent:
        return filled(BENT, {"damping": BENT_DAMPING if damped else ""})
    gamma = "            for (k = 0; k < SIZE; ++k) sum -= 2.0 * m->christoffel[i][j][k] * rates[k];\n"
    lost = "            sum -= p->damping * m->damping[i][j];\n"
    return filled(PLAIN, {"christoffel": gamma if "christoffel" in names else "", "damping": lost if damped else ""})


def _elastic(model: CModel, names: set[str]) -> str:
    if not model.elastic:
        return ""
    text = filled(ELASTIC, {
        "stiffness": STIFFNESS if "K" in names else "", "coupling": COUPLING if "force_gradient" in names else "",
        "bending": BENDING if "stiffness_gradient" in names else "",
    })  # fmt: skip
    return text + (INERTIA if model.bent else "") + (CURVED if "mass_curvature" in model.coefficients else "")
