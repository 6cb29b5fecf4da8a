"""C code of all outputs for a state and inputs, y = g(x, u), and of their exact Jacobians C and D.

A measure μ(η) with J = ∂μ/∂η has ∂μ̇/∂(η, η̇) = (J̇, J) and ∂μ̈/∂(η, η̇, η̈) = (J̈, 2 J̇, J). Accelerations follow from
the state derivative, η̈ = A x + B u to first order (`supple.equations.observation`).
"""

from __future__ import annotations

from supple.equations.row import effort_places
from supple.export.c.equations import input_words
from supple.export.c.evaluation import call, declared, fits
from supple.export.c.generated_model import CModel, Coefficient
from supple.export.c.source_text import c_number
from supple.export.template import Words, fill_template, template_parts

PARTS = template_parts("supple.export.c", "output_code.c")


def has_measure(model: CModel) -> bool:
    """Return True if the model has outputs."""
    return bool(model.layout.outputs) and ("outputs" in model.coefficients or model.layout.observation is not None)


def measurement_functions(model: CModel) -> str:
    """Return the C functions `<prefix>_measure` and `<prefix>_output_jacobian`; "" for a model without outputs."""
    if not has_measure(model):
        return ""
    U, inputs, observed = model.upper, "input_map" in model.coefficients, model.layout.observation is not None
    words = input_words(model) | {
        "prefix": model.prefix, "UPPER": U, "observed": observed, "instant": model.instant,
        "D": f", double D[{U}_OUTPUTS][{U}_INPUTS]" if inputs else "", "pass_B": ", B" if inputs else "",
        "y_u": ", y_u" if inputs else "",
    }  # fmt: skip
    words["body"] = _write_output_jacobian(model, words) if observed else _plain(model, words)
    return fill_template(PARTS["measure"], words)


def _plain(model: CModel, words: Words) -> str:
    """Return the Jacobian code for y = ρ(θ) + Ψ(θ) δ: C = (∂ρ/∂θ + ∂Ψ/∂θ δ, Ψ, 0), D = 0."""
    y, modes, fit = model.coefficients["outputs"], model.coefficients.get("output_modes"), fits(model)["outputs_1"]
    return fill_template(PARTS["plain"], words | {
        "arrays_1": declared(fit, model.real), "fit_1": call(fit), "outputs": y.source,
        "fitted_outputs": y.columns is not None, "modes": "" if modes is None else modes.source,
        "fitted_modes": modes is not None and modes.columns is not None,
    })  # fmt: skip


def _write_output_jacobian(model: CModel, words: Words) -> str:
    """Return the Jacobian code for outputs from measures with two rates and from internal forces."""
    layout, known = model.layout, model.coefficients
    assert layout.observation is not None
    fit = fits(model)["outputs_3"]
    made = {"measures": _motion(model, "outputs"), "modes": _motion(model, "output_modes"), "efforts": ""}
    made |= {"arrays_3": declared(fit, model.real, zero=True), "fit_3": call(fit)}
    if layout.efforts and "efforts" in known:
        made["efforts"] = _efforts(model, known["efforts"], words)
    chains = ""
    for o, form in enumerate(layout.observation.outputs.values()):
        products = []
        for item in form:
            factors = [f"x[{order}][{factor}]" for factor, order in item.factors]
            products.append(" * ".join([c_number(item.weight), *factors]))
            for at, (factor, order) in enumerate(item.factors):
                rest = " * ".join([c_number(item.weight), *factors[:at], *factors[at + 1 :]])
                chains += _chain(o, factor, order, rest, words)
        chains += f"    outputs[{o}] = {' + '.join(products)};\n"
    count = max(1, len(layout.measures) + len(layout.efforts))
    made |= {"all": str(count), "count": str(len(layout.outputs)), "chains": chains}
    return fill_template(PARTS["observed"], words | made)


def _chain(o: int, k: int, order: int, factor: str, words: Words) -> str:
    """Return the terms of C and D for one factor of one product of one output."""
    return fill_template(PARTS["chain"], {
        "o": str(o), "k": str(k), "order": str(order), "factor": factor, "inputs": words["inputs"],
        "by_rate": (f"by_v[{k}][j]", f"G[0][{k}][j]", f"2.0 * G[1][{k}][j]")[order],
        "by_acceleration": (f"by_a[{k}][j]", "", f"G[0][{k}][j]")[order], "by_inputs": words["inputs"] and not order,
    })  # fmt: skip


def _motion(model: CModel, name: str) -> str:
    """Return the code for values and rates of measures at δ = 0, or of their modes."""
    item = model.coefficients.get(name)
    if item is None:
        return ""
    words: Words = {
        "fitted": item.columns is not None, "width": str(item.width), "source": item.source,
        "first": str(item.columns[0]) if item.columns else "0", "measures": str(len(model.layout.measures)),
    }  # fmt: skip
    return fill_template(PARTS["measures" if name == "outputs" else "modes"], words)


def _efforts(model: CModel, item: Coefficient, words: Words) -> str:
    """Return the code for internal forces: rows(θ) times the quantities they depend on, and the derivatives of both."""
    layout = model.layout
    places = effort_places(layout.size, layout.theta, len(layout.inputs), len(layout.dry_forces))
    turning = ""
    for i, (j, k) in enumerate(places.pairs):
        at = places.turning + i
        turning += f"        depends[{at}] = v[{j}] * v[{k}], on_v[{at}][{j}] += v[{k}], on_v[{at}][{k}] += v[{j}];\n"
    count, known = len(layout.efforts), model.coefficients
    return fill_template(PARTS["efforts"], {
        "inputs": words["inputs"], "numbers": str(count * places.width), "w": str(places.width), "turning": turning,
        "fitted": item.columns is not None, "source": item.source, "elastic": model.elastic > 0,
        "at_rows": str(item.columns[0]) if item.columns else "0",
        "any_fitted": any(known[name].columns for name in ("efforts", "friction_map") if name in known),
        "at_modes": str(places.modes), "at_inputs": str(places.inputs), "at_rates": str(places.rates),
        "at_accelerations": str(places.accelerations), "count": str(count), "first": str(len(layout.measures)),
        "friction": _friction(model, places.friction),
    })  # fmt: skip


def _friction(model: CModel, first: int) -> str:
    """Return the code for dry friction in internal forces; first : its index among the quantities they depend on."""
    item, n = model.coefficients.get("friction_map"), model.layout.size
    if item is None:
        return ""
    words: Words = {"fitted": item.columns is not None, "width": str(item.width), "source": item.source}
    words |= {"first": str(item.columns[0]) if item.columns else "0", "joints": ""}
    joints = ""
    for f in range(len(model.layout.dry_forces)):
        slip = " + ".join(f"slides[{f * n + i}] * v[{i}]" for i in range(n))
        joint = {"at": str(first + f), "f": str(f), "slip": slip, "row": str(f * n)}
        joints += fill_template(PARTS["joint"], words | joint)
    return fill_template(PARTS["friction"], words | {"joints": joints})
