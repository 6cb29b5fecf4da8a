"""`supple evaluate`: the equations of motion of a reduced model at a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from supple.cli.answer import answering
from supple.cli.equations import equations_data
from supple.cli.model_argument import Rom, described, model_configuration, read_model
from supple.cli.options import At, Json

if TYPE_CHECKING:
    from supple.equations.coefficients import Coefficients
    from supple.reduced.model import ReducedModel


def evaluate(rom: Rom, at: At = None, as_json: Json = False) -> None:
    """Evaluate a reduced model at a configuration."""
    with answering(as_json) as answer:
        model = read_model(answer, rom)
        theta = model_configuration(model, at)
        found = model.evaluate(theta)
        data = equations_data(found, dict(zip(model.layout.coordinates, theta, strict=False))) | {
            "rigid": model.rigid, "basis": None if model.basis is None else model.basis.data(),
        }  # fmt: skip
        answer.give(data, lambda: _show(model, found))


def _show(model: ReducedModel, found: Coefficients) -> None:
    from supple.cli.equations import Units, show_equations, units_of
    from supple.diagnostics import InputError
    from supple.kinematics.rest import rest

    try:
        units = units_of(rest(described(model)))
    except InputError:  # it does not say what it was made from
        units = Units({}, {})
    show_equations(f"{model.name} (reduced)", found, units)
    worst = max(model.error.items(), key=lambda item: item[1], default=("", 0.0))
    print(f"largest error over its region: {worst[1]:.2g} ({worst[0]})")
