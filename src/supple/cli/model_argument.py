"""Reduced models as arguments of commands, and their configurations."""

from __future__ import annotations

import re
from pathlib import Path
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

Rom = Annotated[str, typer.Argument(metavar="ROM", help="Reduced model, written by `supple reduce`.")]
FileOrRom = Annotated[
    str,
    typer.Argument(
        metavar="FILE|ROM",
        help="Mechanism file, URDF, name of a bundled example, or reduced model.",
        autocompletion=bundled_names,
    ),
]


def is_model(file: str) -> bool:
    """Return whether a file holds a reduced model."""
    from supple.formats.document import holds_model

    return holds_model(file)


def read_model(answer: Answer, file: str, settings: list[str] | None = None) -> ReducedModel:
    """Read a reduced model; parameters of a family are set to the values of `--set`."""
    from supple.diagnostics import InputError
    from supple.formats.bundled import example_file
    from supple.reduced.file import load_model

    if not Path(file).exists() and example_file(file) is not None:
        hint = f"make one: supple reduce {file}"
        raise InputError("a reduced model is needed, but this bundled example is a mechanism", file=file, hint=hint)
    model = load_model(file)
    return model.at(**set_values(model, file, settings)) if settings else model


def set_values(model: ReducedModel, file: str, settings: list[str] | None) -> dict[str, float]:
    """Return the values of `--set`, in SI units, for parameters that remained variable in the reduction."""
    from supple.diagnostics import InputError

    if settings and model.family is None:
        raise InputError(
            "this reduced model has no variable parameters", file=file,
            hint="set them in the mechanism and reduce again, or keep them variable with --vary",
        )  # fmt: skip
    units = {} if model.family is None else {item.name: item.unit for item in model.family.parameters}
    return {
        name: quantity_of(value, f"--set {name}", _dimension(units.get(name, "")))
        for name, value in setting_texts(settings).items()
    }


def _dimension(unit: str) -> Dimension | None:
    """Return the dimension of a unit such as kg or N m/rad; None for other texts, whose values are not converted."""
    from supple.description.quantities.arithmetic import parse
    from supple.description.quantities.expression import dimension_of

    if not re.fullmatch(r"[A-Za-z]+( [A-Za-z]+)?(/[A-Za-z]+)?", unit):
        return None
    return dimension_of(parse(f"1 {unit}"), {}, unit)


def described_mechanism(model: ReducedModel) -> Mechanism:
    """Return the mechanism that a model was reduced from."""
    from supple.formats.model_description import restore_mechanism as written

    return written(model)


def model_configuration(model: ReducedModel, at: str | None, option: str = "--at") -> list[float]:
    """Return θ for the text of `--at`, or of another option, which may name configurations of the model's mechanism.

    The default arclength of a path model is 0, its beginning.
    """
    from supple.diagnostics import InputError
    from supple.kinematics.posture_coordinates import coordinate_values
    from supple.kinematics.rest import rest

    s = model.layout.theta
    names = model.layout.coordinates[:s]
    if model_follows_path(model):
        kind = f'coordinate of the path model "{model.name}"'
        given = (
            {} if at is None else quantities_of(at, option, names, kind, dimension_by_name(described_mechanism(model)))
        )
        return [given.get(name, 0.0) for name in names]
    mechanism = described_mechanism(model)
    others, resting = without_equilibrium(at, mechanism.configurations)
    if resting and model.layout.size > s:  # equilibrium of the model, including its deflection
        return [float(value) for value in model.equilibrium(model_configuration(model, others, option))[:s]]
    requested = configuration(mechanism, at, option)
    values = dict(zip(rest(mechanism).numbering.coordinates, coordinate_values(mechanism, requested), strict=True))
    for name, value in model.held_coordinates.items():
        if name in (requested or {}) and abs(values[name] - value) > 1e-9 * max(1.0, abs(value)):
            raise InputError(
                f'the model holds "{name}" at {value:.6g}, not {values[name]:.6g}',
                part=option, hint="leave it out, or include it in the region of the reduction",
            )  # fmt: skip
    return [float(values[name]) for name in names]


def model_follows_path(model: ReducedModel) -> bool:
    """Return whether the coordinate of the model is the arclength of a path."""
    from supple.reduction.model_trajectory import follows_path

    return follows_path(model)


def trajectory_in_model(model: ReducedModel, motion: str, **instants: Any) -> Trajectory:
    """Return a motion of the model's mechanism, or of a CSV file, in the coordinates of the model."""
    from supple.reduction.model_trajectory import model_trajectory

    return model_trajectory(model, motion, **instants)


def require_no(options: dict[str, Any], why: str) -> None:
    """Refuse options that do not apply to a reduced model."""
    from supple.diagnostics import InputError

    for option, value in options.items():
        if value:
            raise InputError(why, part=option, hint="leave it out, or use the mechanism file")
