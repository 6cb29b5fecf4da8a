"""`supple evaluate`: the equations of motion of a reduced model at a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from supple.cli.answer import open_answer
from supple.cli.model_argument import Rom, described_mechanism, model_configuration, read_model
from supple.cli.options import At, Json, Settings

Delta = Annotated[
    str | None,
    typer.Option("--delta", metavar="NAME=VALUE,...", help="Deformation: `E.z=2mm,mode1=0.001`. Default: zero."),
]

if TYPE_CHECKING:
    from supple.equations.equations_of_motion import Coefficients
    from supple.reduced.model import ReducedModel
    from supple.results.text import Text


def evaluate(rom: Rom, at: At = None, delta: Delta = None, settings: Settings = None, as_json: Json = False) -> None:
    """Evaluate the coefficients of a reduced model."""
    with open_answer(as_json) as answer:
        model = read_model(answer, rom, settings)
        theta, bent = model_configuration(model, at), _deformation(model, delta)
        found = model.evaluate(theta, delta=bent)
        data = found.data() | {
            "at": dict(zip(model.layout.coordinates, [*theta, *(bent or ())], strict=False)),
            "rigid": model.rigid, "basis": None if model.basis is None else model.basis.data(),
            "parameters": {} if model.family is None else model.family.data(),
        }  # fmt: skip
        answer.give(data, lambda: _text(model, found, bent))


def _deformation(model: ReducedModel, given: str | None) -> list[float] | None:
    """Return δ in the order of the model, zero for names that are not given; None without --delta."""
    from supple.cli.options import quantities_of
    from supple.diagnostics import InputError

    if given is None:
        return None
    names = model.layout.coordinates[model.layout.theta :]
    if not names:
        raise InputError("the model is rigid and has no deformation", part="--delta", hint="leave --delta out")
    values = quantities_of(given, "--delta", names, f'elastic coordinate of "{model.name}"', lambda _: None)
    return [values.get(name, 0.0) for name in names]


def _text(model: ReducedModel, found: Coefficients, delta: list[float] | None) -> Text:
    from supple.diagnostics import InputError
    from supple.formulations.coefficients import units_of
    from supple.kinematics.rest import rest
    from supple.results.units import UNKNOWN

    try:
        units = units_of(rest(described_mechanism(model)))
    except InputError:  # the file does not contain the mechanism
        units = UNKNOWN
    worst = max(model.error.items(), key=lambda item: item[1], default=("", 0.0))
    out = found.text(f"{model.name} (reduced)", units, delta)
    if model.family is not None:
        out.line(f"parameters: {model.family}")
    return out.lines(f"largest relative error over the region of the model: {worst[1]:.2g} ({worst[0]})")
