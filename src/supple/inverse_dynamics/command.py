"""`supple inverse`: the actuator forces of a motion."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import Answer, open_answer
from supple.cli.assemble import warn_of_limits
from supple.cli.help_text import COST
from supple.cli.kept import Picture, TableFile, draw, write_file
from supple.cli.model_argument import (
    FileOrRom,
    described_mechanism,
    is_model,
    model_follows_path,
    read_model,
    trajectory_in_model,
)
from supple.cli.options import (
    DimensionOf,
    Json,
    Rigid,
    Settings,
    dimension_by_name,
    pieces,
    quantity_of,
    read_mechanism,
)
from supple.description.quantities.dimension import PER_TIME, TIME, Dimension, product_dimension

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism
    from supple.inverse_dynamics.inverse_dynamics import InverseDynamics
    from supple.inverse_dynamics.reduced_inverse import ModelForces


class Minimize(StrEnum):
    """Objective of the force distribution over redundant actuators."""

    torque = "torque"
    peak = "peak"
    multipliers = "multipliers"


MotionName = Annotated[
    str,
    typer.Option(
        "--motion",
        metavar="NAME|CSV",
        help="Motion of the file, or a table with a column `time` and one per coordinate.",
    ),
]
Actuators = Annotated[
    str | None, typer.Option("--actuators", metavar="NAME,...", help="Active actuators. Default: all.")
]
Objective = Annotated[
    Minimize,
    typer.Option(
        "--minimize",
        help="Quantity that redundant actuators minimize: sum of squared forces, largest force, or squared "
        "forces and joint reactions.",
    ),
]
Bounds = Annotated[
    str | None,
    typer.Option(
        "--bounds",
        metavar="BOUNDS",
        help="Force bounds: one number for ±, `A=60,B=-20:40`, or `limits` for the force_limits of the file.",
    ),
]
RateBounds = Annotated[
    str | None,
    typer.Option(
        "--rate-bounds",
        metavar="BOUNDS",
        help="Largest magnitude of the force rates, N/s or N m/s: one number, or `A=900,...`. Default: no bound.",
    ),
]
Step = Annotated[
    str | None,
    typer.Option(
        "--step", metavar="TIME", help="Time step. Default: a thousandth of the motion.", rich_help_panel=COST
    ),
]


def inverse(
    file: FileOrRom,
    motion: MotionName,
    actuators: Actuators = None,
    minimize: Objective = Minimize.torque,
    bounds: Bounds = None,
    rate_bounds: RateBounds = None,
    step: Step = None,
    rigid: Rigid = False,
    output: TableFile = None,
    plot: Picture = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Compute the actuator forces of a motion."""
    with open_answer(as_json) as answer:
        from supple.diagnostics import NumericalError
        from supple.inverse_dynamics.inverse_dynamics import inverse as inverse_dynamics

        options: dict[str, Any] = {"actuators": actuators, "minimize": minimize.value}
        width = None if step is None else quantity_of(step, "--step", TIME)
        found: InverseDynamics | ModelForces
        if is_model(file):
            model = read_model(answer, file, settings)
            name = f"{model.name} (reduced)"
            options |= _bounds(described_mechanism(model), bounds, rate_bounds)
            found = inverse_dynamics(model, trajectory_in_model(model, motion, step=width), **options)
            if model_follows_path(model) and len(model.layout.inputs) > 1:
                answer.note("a model along a path has one force: the sum of all actuator forces along the path")
        else:
            mechanism = read_mechanism(answer, file, settings)
            name = mechanism.name
            options |= _bounds(mechanism, bounds, rate_bounds)
            whole = inverse_dynamics(mechanism, motion, step=width, rigid=rigid, **options)
            _warn(answer, whole)
            found = whole
        _write(found, output, plot)
        if found.deformation is not None:
            answer.note("the deformation is quasi-static, without vibration; `simulate --motion` includes vibration")
        hint = "--json gives all values, -o FILE.csv a table, --plot FILE.png a picture"
        answer.give(found.data(), lambda: found.text(f"{name}, {motion}", minimize.value).lines(hint))
        if found.reason:
            ended = f"forces end at {found.trajectory.time[-1]:.6g} s: {found.reason}"
            raise answer.cut_short(ended, NumericalError.exit_status)


def _bounds(mechanism: Mechanism, bounds: str | None, rate_bounds: str | None) -> dict[str, Any]:
    """Return the bounds of forces and of their rates as `inverse` takes them."""
    force = dimension_by_name(mechanism, "force")
    return {
        "bounds": "limits" if bounds == "limits" else _by_name(bounds, "--bounds", mechanism, force),
        "rate_bounds": _by_name(
            rate_bounds, "--rate-bounds", mechanism, lambda name: product_dimension(force(name), PER_TIME)
        ),
    }


def _by_name(text: str | None, option: str, mechanism: Mechanism, dimension: DimensionOf) -> Any:
    """Return `60` as a number, `A=60,B=-20:40` as {name: number or pair}."""
    if text is None:
        return None
    if "=" not in text:  # one bound for all
        bounds = [_bound(text, option, dimension(name)) for name in mechanism.actuators]
        return bounds[0] if bounds else _bound(text, option, None)
    found = {}
    for piece in pieces(text):
        name, equals, value = (item.strip() for item in piece.partition("="))
        if not equals or not name:
            raise typer.BadParameter(f"{piece!r} is not NAME=VALUE", param_hint=option)
        found[name] = _bound(value, f"{option} {name}", dimension(name))
    return found


def _bound(text: str, part: str, dimension: Dimension | None) -> float | tuple[float, float]:
    low, colon, high = text.partition(":")
    if not colon:
        return quantity_of(text, part, dimension)
    return quantity_of(low, part, dimension), quantity_of(high, part, dimension)


def _warn(answer: Answer, found: InverseDynamics) -> None:
    """Warn of limits of coordinates and forces that the motion exceeds."""
    here = found.model.configuration
    warn_of_limits(answer, here)
    for name, values in found.forces.items():
        limits = here.mechanism.actuators[name].force_limits
        if limits is not None and not (limits[0] <= values.min() and values.max() <= limits[1]):
            needs = f"{values.min():.6g} to {values.max():.6g} {found.forces.units[name]}"
            answer.warn(
                f'actuator "{name}" needs {needs}, outside its force_limits [{limits[0]:.6g}, {limits[1]:.6g}]; '
                "use --bounds limits to stay within them if possible"
            )


def _write(found: InverseDynamics | ModelForces, output: Path | None, plot: Path | None) -> None:
    if output is not None:
        write_file(output, lambda: found.forces.save(output))
    if plot is not None:
        draw(plot, found.plot)
