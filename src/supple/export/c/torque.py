"""Computed torque as C, beside its model: the same law, from the model's own functions.

B u = M a + Γ[θ̇, θ̇] + D θ̇ - p + Jᵀ f tanh(J θ̇_d / v₀),   a = θ̈_d + 2 ξ ω (θ̇_d - θ̇) + ω² (θ_d - θ)
u = u* + W⁻¹ Bᵀ (B W⁻¹ Bᵀ)⁻¹ (Q - B u*),                  of a flexible model at δ_qs(θ_d, θ̇_d, θ̈_d)
c = (u + d Bᵀ θ̇) / g,                                     commands of drives, where it was made with them
"""

from __future__ import annotations

import numpy as np

from supple.control.controllers.computed_torque import ComputedTorque
from supple.control.controllers.needed_forces import FlexibleEquations
from supple.diagnostics import InputError
from supple.export.c.law_header import filled
from supple.export.c.literals import number, table
from supple.export.c.model import CModel
from supple.export.c.names import comment, identifiers
from supple.reduced.model import ReducedModel

HEADER = """\
/*
 * @name@: computed torque, from the model of @model@.h
 *
 *     B u = M a + Gamma[rates, rates] + D rates - p + friction along the wanted rates
 *     a = wanted[2] + 2 xi omega (wanted[1] - rates) + omega^2 (wanted[0] - theta)
 *
 * theta, rates: as measured; wanted: theta, its first and its second rate, the latter where forces take effect.
@more@ */

#ifndef @UPPER@_H
#define @UPPER@_H

#include "@model@.h"

#ifdef __cplusplus
extern "C" {
#endif

#define @UPPER@_ACTUATORS @actuators@
@sizes@
/* What the function returns; forces are left as they were but where it has answered. SINGULAR: the actuators have no
 * hold on some motion here; UNSETTLED: the wanted motion is too fast for the stiffness of the model. */
enum { @UPPER@_ANSWERED = 0, @UPPER@_OUTSIDE = 1, @UPPER@_SINGULAR = 2, @UPPER@_UNSETTLED = 3 };

enum { @indices@ };

int @prefix@(@arguments@);

#ifdef __cplusplus
}
#endif

#endif /* @UPPER@_H */
"""
SOURCE = """\
/* @name@: generated, see @prefix@.h. No allocation, no writable globals: reentrant. */

#include "@prefix@.h"

#include <math.h>

@tables@
/* Solves A x = x in place, A symmetric and positive definite, by its lower triangle; 1 where it is not. */
static int solve(double *A, double *x, int size)
{
    double largest = 0.0;
    int i, j, k;
    for (i = 0; i < size; ++i) largest = A[i * size + i] > largest ? A[i * size + i] : largest;
    for (i = 0; i < size; ++i)
        for (j = 0; j <= i; ++j) {
            double sum = A[i * size + j];
            for (k = 0; k < j; ++k) sum -= A[i * size + k] * A[j * size + k];
            if (i > j) A[i * size + j] = sum / A[j * size + j];
            else if (!(sum > LOST * largest)) return 1;
            else A[i * size + i] = sqrt(sum);
        }
    for (i = 0; i < size; ++i) {
        for (k = 0; k < i; ++k) x[i] -= A[i * size + k] * x[k];
        x[i] /= A[i * size + i];
    }
    for (i = size - 1; i >= 0; --i) {
        for (k = i + 1; k < size; ++k) x[i] -= A[k * size + i] * x[k];
        x[i] /= A[i * size + i];
    }
    return 0;
}
@friction@@deformation@
int @prefix@(@arguments@)
{
    @model@_model m;
    double eta[SIZE], v[SIZE], a[SIZE], Q[SIZE], G[THETA * THETA];
    int i, j, k;
@settle@    for (i = 0; i < SIZE; ++i) {
        eta[i] = i < THETA ? theta[i] : @delta@;
        v[i] = i < THETA ? rates[i] : 0.0;
        a[i] = 0.0;
    }
    for (i = 0; i < THETA; ++i)
        a[i] = wanted[2][i] + damping[i] * (wanted[1][i] - rates[i]) + stiffness[i] * (wanted[0][i] - theta[i]);
    if (@model@_inverse(eta, v, a, Q) == @MODEL@_OUTSIDE) return @UPPER@_OUTSIDE;
    @model@_coefficients(@at@, &m);
@cancel@@strain@    for (i = 0; i < THETA; ++i)
        for (j = 0; j < THETA; ++j) {
            G[i * THETA + j] = 0.0;
            for (k = 0; k < ACTUATORS; ++k)
                G[i * THETA + j] += m.input_map[i][input[k]] * lightness[k] * m.input_map[j][input[k]];
        }
    if (solve(G, Q, THETA)) return @UPPER@_SINGULAR;
    for (k = 0; k < ACTUATORS; ++k) {
        forces[k] = @begin@;
        for (i = 0; i < THETA; ++i) forces[k] += lightness[k] * m.input_map[i][input[k]] * Q[i];
@commands@    }
    return @UPPER@_ANSWERED;
}
"""
FRICTION = """
/* sum += sign J' f tanh(J rates / v0) */
static void friction(const @model@_model *m, const double rates[SIZE], double sign, double sum[SIZE])
{
    static const double dry[FRICTION] = {@dry@};
    int i, j;
    for (j = 0; j < FRICTION; ++j) {
        double rate = 0.0;
        for (i = 0; i < SIZE; ++i) rate += m->friction_map[j][i] * rates[i];
        rate = @MODEL@_SLIP_RATE > 0.0 ? tanh(rate / @MODEL@_SLIP_RATE) : (double)((rate > 0.0) - (rate < 0.0));
        for (i = 0; i < SIZE; ++i) sum[i] += sign * m->friction_map[j][i] * dry[j] * rate;
    }
}
"""
COMMANDS = """\
        for (i = 0; i < THETA; ++i) forces[k] += drag[k] * m.input_map[i][input[k]] * rates[i];
        forces[k] /= gain[k];
"""
CANCEL = """\
    friction(&m, v, -1.0, Q);
    for (i = 0; i < THETA; ++i) v[i] = wanted[1][i];
    friction(&m, v, 1.0, Q);
"""
DEFORMATION = """
/* The deformation that the wanted motion keeps up, by iteration with K from what it was. */
static int deformation(const double wanted[3][THETA], double delta[ELASTIC])
{
    @model@_model m;
    double eta[SIZE], v[SIZE], a[SIZE], Q[SIZE], K[ELASTIC * ELASTIC];
    int i, j, n;
    for (i = 0; i < SIZE; ++i) {
        eta[i] = i < THETA ? wanted[0][i] : 0.0;
        v[i] = i < THETA ? wanted[1][i] : 0.0;
        a[i] = i < THETA ? wanted[2][i] : 0.0;
    }
    for (n = 0; n < ITERATIONS; ++n) {
        double change = 0.0, size = 0.0;
        for (i = 0; i < ELASTIC; ++i) eta[THETA + i] = delta[i];
        if (@model@_inverse(eta, v, a, Q) == @MODEL@_OUTSIDE) return @UPPER@_OUTSIDE;
        @model@_coefficients(@at@, &m);
@frictionless@        for (i = 0; i < ELASTIC; ++i)
            for (j = 0; j < ELASTIC; ++j) K[i * ELASTIC + j] = m.K[THETA + i][THETA + j];
        if (solve(K, Q + THETA, ELASTIC)) return @UPPER@_UNSETTLED;
        for (i = 0; i < ELASTIC; ++i) {
            delta[i] -= Q[THETA + i];
            change = fmax(change, fabs(Q[THETA + i]));
            size = fmax(size, fabs(delta[i]));
        }
        if (change <= SETTLED * size) return @UPPER@_ANSWERED;
    }
    return @UPPER@_UNSETTLED;
}
"""
_LOST = 1e-12  # of the squares of B: a millionth of the hold, as in Python
_ITERATIONS, _SETTLED = 20, 1e-7  # as in `needed_forces`


def torque_files(controller: ComputedTorque, model: CModel) -> dict[str, str]:
    """Name and text of the files of the law; those of its model come beside them."""
    prefix = f"{model.prefix}_torque"
    words = _words(controller, model, prefix)
    return {f"{prefix}.h": filled(HEADER, words), f"{prefix}.c": filled(SOURCE, words)}


def require_plain(controller: ComputedTorque) -> None:
    """What needs a program at every sample, or knows the motion beforehand, stays in Python."""
    division = controller.division
    wrong = ""
    if not isinstance(controller.model, ReducedModel):
        wrong, hint = "its model is the mechanism itself", "make it from a reduced model"
    elif division.bounded or division.minimize != "torque":
        wrong, hint = (
            "its forces are bounded or of the least peak, and that is a program to be solved at every sample",
            'take minimize="torque" without bounds, and limit the drives',
        )
    elif controller.bending is not None:
        wrong, hint = "its motion was planned with a deformation of its own", "give the motion's reference"
    elif controller.rate_filter is not None:
        wrong, hint = "it filters rates itself", "leave out rate_filter, and give it filtered rates"
    if wrong:
        raise InputError(f"{wrong}, which C does not do", part="export of computed torque", hint=hint)


def _words(controller: ComputedTorque, model: CModel, prefix: str) -> dict[str, str]:
    n, s, _, _, f = model.sizes
    names, U, flexible = controller.actuators, prefix.upper(), isinstance(controller.equations, FlexibleEquations)
    preload, dry = controller.division.preload is not None, bool(model.layout.dry_forces)
    words = {
        "name": comment(model.rom.name), "model": model.prefix, "MODEL": model.upper, "prefix": prefix, "UPPER": U,
        "actuators": str(len(names)), "at": "eta", "delta": "delta[i - THETA]" if flexible else "0.0",
        "sizes": f"#define {U}_ELASTIC {n - s}\n" if flexible else "",
        "indices": ", ".join(f"{U}_ACTUATOR_{name} = {i}" for i, name in enumerate(identifiers(names))),
        "arguments": _arguments(model, U, preload, flexible), "more": _more(preload, flexible, controller.drives.plain),
        "begin": "preload[k]" if preload else "0.0", "cancel": CANCEL if dry else "",
        "commands": "" if controller.drives.plain else COMMANDS,
        "dry": ", ".join(number(value) for value in model.layout.dry_forces.values()),
        "frictionless": "        friction(&m, v, -1.0, Q);\n" if dry else "",
        "settle": f"    if ((i = deformation(wanted, delta)) != {U}_ANSWERED) return i;\n" if flexible else "",
        "strain": "    for (i = 0; i < THETA; ++i)\n        for (k = 0; k < ACTUATORS; ++k) "
        "Q[i] -= m.input_map[i][input[k]] * preload[k];\n" if preload else "",
        "tables": _tables(controller, (n, s, f)),
    }  # fmt: skip
    words["friction"] = filled(FRICTION, words) if dry else ""
    words["deformation"] = filled(DEFORMATION, words) if flexible else ""
    return words


def _arguments(model: CModel, U: str, preload: bool, flexible: bool) -> str:
    theta = f"{model.upper}_THETA"
    told = [f"const double theta[{theta}]", f"const double rates[{theta}]", f"const double wanted[3][{theta}]"]
    told += [f"const double preload[{U}_ACTUATORS]"] if preload else []
    told += [f"double delta[{U}_ELASTIC]"] if flexible else []
    return ",\n    ".join([*told, f"double forces[{U}_ACTUATORS]"])


def _more(preload: bool, flexible: bool, plain: bool) -> str:
    lines = [" * preload: forces about which the actuators share the work.\n"] if preload else []
    if flexible:
        lines += [" * delta: the deformation that the wanted motion keeps up; kept from call to call, zero at first.\n"]
    if not plain:
        lines += [" * forces: as commands of the drives, (force + drag times the rate along the actuator) / gain.\n"]
    return "".join(lines)


def _tables(controller: ComputedTorque, sizes: tuple[int, int, int]) -> str:
    assert isinstance(controller.model, ReducedModel)
    n, s, f = sizes
    known, omega = controller.model.layout.inputs, controller.frequencies
    flexible = isinstance(controller.equations, FlexibleEquations)
    counts = {"SIZE": n, "THETA": s, "ACTUATORS": len(controller.actuators)}
    counts |= {"FRICTION": f} if controller.model.layout.dry_forces else {}
    counts |= {"ELASTIC": n - s, "ITERATIONS": _ITERATIONS} if flexible else {}
    text = "enum { " + ", ".join(f"{name} = {value}" for name, value in counts.items()) + " };\n"
    text += f"#define LOST {number(_LOST)}\n" + (f"#define SETTLED {number(_SETTLED)}\n" if flexible else "")
    text += table("int", "input", np.array([known.index(name) for name in controller.actuators]))
    text += table("double", "lightness", 1.0 / controller.division.weights)
    if not controller.drives.plain:
        text += table("double", "gain", controller.drives.gain) + table("double", "drag", controller.drives.drag)
    text += table("double", "stiffness", omega**2)
    return text + table("double", "damping", 2.0 * controller.damping_ratios * omega)
