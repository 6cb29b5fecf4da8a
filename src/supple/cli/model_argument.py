"""ROM as an argument: a saved reduced model, and configurations of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import Answer
from supple.cli.bundled import bundled_names
from supple.cli.options import (
    configuration,
    dimension_by_name,
    quantities_of,
    quantity_of,
    setting_texts,
    without_equilibrium,
)

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism
    from supple.description.quantities.dimension import Dimension
    from supple.reduced.model import ReducedModel
    from supple.time_functions.function_of_time import Trajectory

Rom = Annotated[str, typer.Argument(metavar="ROM", help="A reduced model, as `supple reduce` writes it.")]
FileOrRom = Annotated[
    str,
    typer.Argument(
        metavar="FILE|ROM",
        help="A mechanism file, a URDF, the name of a bundled example, or a reduced model.",
        autocompletion=bundled_names,
    ),
]  # fmt: skip


def is_model(file: str) -> bool:
    """Whether a file holds a reduced model."""
    from supple.formats.document import holds_model

    return holds_model(file)


def read_model(answer: Answer, file: str, settings: list[str] | None = None) -> ReducedModel:
    """The reduced model in a file; one of a family at the values that are set."""
    from supple.reduced.file import load_model

    model = load_model(file)
    return model.at(**set_values(model, file, settings)) if settings else model


def set_values(model: ReducedModel, file: str, settings: list[str] | None) -> dict[str, float]:
    """Values of `--set`, in SI, of parameters that a model was reduced over."""
    from supple.diagnostics import InputError

    if settings and model.family is None:
        raise InputError(
            "a reduced model has no parameters any more", file=file,
            hint="set them in the mechanism and reduce it, or reduce it over them with --vary",
        )  # fmt: skip
    units = {} if model.family is None else {item.name: item.unit for item in model.family.parameters}
    return {
        name: quantity_of(value, f"--set {name}", _dimension(units.get(name, "")))
        for name, value in setting_texts(settings).items()
    }


def _dimension(unit: str) -> Dimension | None:
    """That of a unit of names alone, as kg or N m/rad; None of others, whose numbers are then taken as they come."""
    from supple.description.quantities.arithmetic import parse
    from supple.description.quantities.expression import dimension_of

    if not re.fullmatch(r"[A-Za-z]+( [A-Za-z]+)?(/[A-Za-z]+)?", unit):
        return None
    return dimension_of(parse(f"1 {unit}"), {}, unit)


def described_mechanism(model: ReducedModel) -> Mechanism:
    """The mechanism that a model was made from."""
    from supple.formats.model_description import described as written

    return written(model)


def model_configuration(model: ReducedModel, at: str | None) -> list[float]:
    """θ as `--at` names it, with the configurations and the rest of the mechanism the model was made from.

    The arclength of a path is 0, its beginning, if nothing is said.
    """
    from supple.diagnostics import InputError
    from supple.kinematics.posture_coordinates import coordinate_values
    from supple.kinematics.rest import rest

    s = model.layout.theta
    names = model.layout.coordinates[:s]
    if model_follows_path(model):
        kind = f'a coordinate of the path model "{model.name}"'
        given = (
            {} if at is None else quantities_of(at, "--at", names, kind, dimension_by_name(described_mechanism(model)))
        )
        return [given.get(name, 0.0) for name in names]
    mechanism = described_mechanism(model)
    others, resting = without_equilibrium(at, mechanism.configurations)
    if resting and model.layout.size > s:  # its own, sagging included
        return [float(value) for value in model.equilibrium(model_configuration(model, others))[:s]]
    asked = configuration(mechanism, at)
    values = dict(zip(rest(mechanism).numbering.coordinates, coordinate_values(mechanism, asked), strict=True))
    for name, value in model.held.items():
        if name in (asked or {}) and abs(values[name] - value) > 1e-9 * max(1.0, abs(value)):
            raise InputError(
                f'the model holds "{name}" at {value:.6g}, not {values[name]:.6g}',
                part="--at", hint="leave it out, or reduce with it in the region",
            )  # fmt: skip
    return [float(values[name]) for name in names]


def model_follows_path(model: ReducedModel) -> bool:
    """Whether the model's coordinate is the arclength of a path."""
    from supple.reduction.model_trajectory import follows_path as led_along_one

    return led_along_one(model)


def trajectory_in_model(model: ReducedModel, motion: str, **instants: Any) -> Trajectory:
    """A motion of the mechanism that the model was made from (or a CSV file), in the model's coordinates."""
    from supple.reduction.model_trajectory import model_trajectory as led

    return led(model, motion, **instants)


def require_no(asked: dict[str, Any], why: str) -> None:
    """Refuse options that a reduced model cannot serve."""
    from supple.diagnostics import InputError

    for option, value in asked.items():
        if value:
            raise InputError(why, part=option, hint="leave it out, or ask the mechanism")
