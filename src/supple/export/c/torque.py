"""C code of computed torque, which calls the functions of the exported model.

B u = M a + Γ[θ̇, θ̇] + D θ̇ - p + Jᵀ f tanh(J θ̇_d / v₀),   a = θ̈_d + 2 ξ ω (θ̇_d - θ̇) + ω² (θ_d - θ)
u = u* + W⁻¹ Bᵀ (B W⁻¹ Bᵀ)⁻¹ (Q - B u*),                  for a flexible model at δ_qs(θ_d, θ̇_d, θ̈_d)
c = (u + d Bᵀ θ̇) / g,                                     commands of drives, if the controller includes them
"""

from __future__ import annotations

import numpy as np

from supple.control.controllers.computed_torque import ComputedTorque
from supple.control.controllers.needed_forces import FlexibleEquations
from supple.diagnostics import InputError
from supple.export.c.generated_model import CModel
from supple.export.c.source_text import c_number, c_table, comment, identifiers
from supple.export.template import Words, fill_template, template_parts
from supple.reduced.model import ReducedModel

PARTS = template_parts("supple.export.c", "torque.c")
_LOST = 1e-12  # singularity tolerance on squares of B: 1e-6 of the largest singular value, as in Python
_ITERATIONS, _SETTLED = 20, 1e-7  # as in `needed_forces`


def torque_files(controller: ComputedTorque, model: CModel) -> dict[str, str]:
    """Return the C files of the controller, {name: text}; those of its model are separate."""
    prefix = f"{model.prefix}_torque"
    words = _words(controller, model, prefix)
    return {f"{prefix}.h": fill_template(PARTS["header"], words), f"{prefix}.c": fill_template(PARTS["source"], words)}


def require_plain(controller: ComputedTorque) -> None:
    """Raise InputError for controllers that need an optimization at every sample or a planned motion."""
    division = controller.division
    wrong = ""
    if not isinstance(controller.model, ReducedModel):
        wrong, hint = "the model is the mechanism itself", "design the controller from a reduced model"
    elif division.bounded or division.minimize != "torque":
        wrong, hint = (
            "bounded forces or the least peak force need an optimization at every sample",
            'use minimize="torque" without bounds, and limit the drives',
        )
    elif controller.bending is not None:
        wrong, hint = "the motion was planned with its own deformation", "use the reference of the motion"
    elif controller.rate_filter is not None:
        wrong, hint = "the controller filters rates", "leave out rate_filter and filter the rates before the call"
    if wrong:
        raise InputError(f"{wrong}; C export does not support this", part="export of computed torque", hint=hint)


def _words(controller: ComputedTorque, model: CModel, prefix: str) -> Words:
    n, s, _, _, f = model.sizes
    names, U, flexible = controller.actuators, prefix.upper(), isinstance(controller.equations, FlexibleEquations)
    preload = controller.division.preload is not None
    return {
        "name": comment(model.rom.name), "model": model.prefix, "MODEL": model.upper, "prefix": prefix, "UPPER": U,
        "actuators": len(names), "elastic": n - s, "delta": "bent[i - THETA]" if flexible else "0.0",
        "indices": ", ".join(f"{U}_ACTUATOR_{name} = {i}" for i, name in enumerate(identifiers(names))),
        "arguments": _arguments(model, U, preload, flexible), "begin": "preload[k]" if preload else "0.0",
        "preload": preload, "flexible": flexible, "drives": not controller.drives.plain,
        "dry": ", ".join(c_number(value) for value in model.layout.dry_forces.values()),
        "tables": _tables(controller, (n, s, f)),
    }  # fmt: skip


def _arguments(model: CModel, U: str, preload: bool, flexible: bool) -> str:
    theta = f"{model.upper}_THETA"
    declarations = [f"const double theta[{theta}]", f"const double rates[{theta}]", f"const double wanted[3][{theta}]"]
    declarations += [f"const double preload[{U}_ACTUATORS]"] if preload else []
    declarations += [f"double delta[{U}_ELASTIC]"] if flexible else []
    return ",\n    ".join([*declarations, f"double forces[{U}_ACTUATORS]"])


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
