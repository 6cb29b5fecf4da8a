"""`supple evaluate`: the equations of motion of a reduced model at a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from supple.cli.answer import answering
from supple.cli.model_argument import Rom, model_configuration, read_model
from supple.cli.options import At, Json

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


def evaluate(rom: Rom, at: At = None, as_json: Json = False) -> None:
    """Evaluate a reduced model at a configuration."""
    with answering(as_json) as answer:
        model = read_model(answer, rom)
        theta = model_configuration(model, at)
        found = model.evaluate(theta)
        layout = model.layout
        data = {
            "coordinates": layout.coordinates,
            "inputs": layout.inputs,
            "at": dict(zip(layout.coordinates, theta, strict=False)),
            "M": found.M,
            "K": found.K,
            "damping": found.damping,
            "christoffel": found.christoffel,
            "dM": found.dM,
            "force": found.force,
            "input_map": found.input_map,
            "outputs": {
                name: {"value": output.value, "rigid": output.rigid, "modes": output.modes}
                for name, output in found.outputs.items()
            },
            "internal_hz": found.internal_hz,
            "potential": found.potential,
            "rigid": model.rigid,
        }
        answer.give(data, lambda: _show(model, found, theta))


def _show(model: ReducedModel, found: Any, theta: list[float]) -> None:
    from supple.cli.tables import Tables, number

    out, names = Tables(), model.layout.coordinates
    out.line(f"{model.name} (reduced): M η̈ + Γ[η̇,η̇] + D η̇ + K η = p + B u")
    rows = [
        (name, number(value), number(found.force[i])) for i, (name, value) in enumerate(zip(names, theta, strict=False))
    ]
    out.table(("coordinate", "value", "force p"), rows)
    out.matrix("M [kg, m, rad]", names, names, found.M)
    if found.damping.any():
        out.matrix("D [N, m, s, rad]", names, names, found.damping)
    if model.layout.inputs:
        out.matrix("B", names, model.layout.inputs, found.input_map)
    if found.outputs:
        lines = [
            (name, number(output.value), *(number(x) for x in output.rigid)) for name, output in found.outputs.items()
        ]
        out.table(("output", "value", *(f"∂/∂{name}" for name in names)), lines)
    worst = max(model.error.items(), key=lambda item: item[1], default=("", 0.0))
    out.line(f"largest error over its region: {worst[1]:.2g} ({worst[0]})")
