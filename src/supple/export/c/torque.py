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
from supple.export.c.generated_model import CModel
from supple.export.c.source_text import c_number, c_table, comment, identifiers
from supple.export.template import Words, filled, template_parts
from supple.reduced.model import ReducedModel

PARTS = template_parts("supple.export.c", "torque.c")
_LOST = 1e-12  # of the squares of B: a millionth of the hold, as in Python
_ITERATIONS, _SETTLED = 20, 1e-7  # as in `needed_forces`


def torque_files(controller: ComputedTorque, model: CModel) -> dict[str, str]:
    """Name and text of the files of the law; those of its model come beside them."""
    prefix = f"{model.prefix}_torque"
    words = _words(controller, model, prefix)
    return {f"{prefix}.h": filled(PARTS["header"], words), f"{prefix}.c": filled(PARTS["source"], words)}


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


def _words(controller: ComputedTorque, model: CModel, prefix: str) -> Words:
    n, s, _, _, f = model.sizes
    names, U, flexible = controller.actuators, prefix.upper(), isinstance(controller.equations, FlexibleEquations)
    preload = controller.division.preload is not None
    return {
        "name": comment(model.rom.name), "model": model.prefix, "MODEL": model.upper, "prefix": prefix, "UPPER": U,
        "actuators": len(names), "elastic": n - s, "delta": "delta[i - THETA]" if flexible else "0.0",
        "indices": ", ".join(f"{U}_ACTUATOR_{name} = {i}" for i, name in enumerate(identifiers(names))),
        "arguments": _arguments(model, U, preload, flexible), "begin": "preload[k]" if preload else "0.0",
        "preload": preload, "flexible": flexible, "drives": not controller.drives.plain,
        "dry": ", ".join(c_number(value) for value in model.layout.dry_forces.values()),
        "tables": _tables(controller, (n, s, f)),
    }  # fmt: skip


def _arguments(model: CModel, U: str, preload: bool, flexible: bool) -> str:
    theta = f"{model.upper}_THETA"
    told = [f"const double theta[{theta}]", f"const double rates[{theta}]", f"const double wanted[3][{theta}]"]
    told += [f"const double preload[{U}_ACTUATORS]"] if preload else []
    told += [f"double delta[{U}_ELASTIC]"] if flexible else []
    return ",\n    ".join([*told, f"double forces[{U}_ACTUATORS]"])


def _tables(controller: ComputedTorque, sizes: tuple[int, int, int]) -> str:
    assert isinstance(controller.model, ReducedModel)
    n, s, f = sizes
    known, omega = controller.model.layout.inputs, controller.frequencies
    flexible = isinstance(controller.equations, FlexibleEquations)
    counts = {"SIZE": n, "THETA": s, "ACTUATORS": len(controller.actuators)}
    counts |= {"FRICTION": f} if controller.model.layout.dry_forces else {}
    counts |= {"ELASTIC": n - s, "ITERATIONS": _ITERATIONS} if flexible else {}
    text = "enum { " + ", ".join(f"{name} = {value}" for name, value in counts.items()) + " };\n"
    text += f"#define LOST {c_number(_LOST)}\n" + (f"#define SETTLED {c_number(_SETTLED)}\n" if flexible else "")
    text += c_table("int", "input", np.array([known.index(name) for name in controller.actuators]))
    text += c_table("double", "lightness", 1.0 / controller.division.weights)
    if not controller.drives.plain:
        text += c_table("double", "gain", controller.drives.gain) + c_table("double", "drag", controller.drives.drag)
    text += c_table("double", "stiffness", omega**2)
    return text + c_table("double", "damping", 2.0 * controller.damping_ratios * omega)
