"""Arguments and options that several commands share, and the parsing of their texts.

Options are declared as annotated types (`File`, `At`, `Settings`, ...), followed by the functions that parse them.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import Answer
from supple.cli.bundled import bundled_names, mechanism_file
from supple.cli.help_text import COST, MODEL, OUTPUT
from supple.description.quantities.dimension import PER_TIME, RATIO, TIME

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism
    from supple.description.quantities.dimension import Dimension


# The mechanism and its configuration: FILE, `--set` and `--at`.


REST, EQUILIBRIUM = "rest", "equilibrium"
_MEASURED = (".csv", ".uff", ".unv", ".npz", ".mat")  # suffixes of measured data and results

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Mechanism file, URDF, .par table, or name of a bundled example.",
        autocompletion=bundled_names,
    ),
]
At = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="WHERE",
        help="Configuration: a name in the file (`home`), values (`crank=40deg,x=12mm`), or the position of a "
        "point (`tool=[0,0,-1.1]`, `tool.z=-1.1`), combined by commas. Other coordinates stay as drawn. "
        "`equilibrium` searches for static equilibrium. Default: as drawn.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Value of a parameter of the file. FROM:TO:COUNT runs the command for each value. Repeatable.",
        rich_help_panel=MODEL,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.", rich_help_panel=OUTPUT)]


def read_mechanism(answer: Answer, file: str, settings: list[str] | None) -> Mechanism:
    """Read the mechanism of a file or a bundled example, with the parameters of `--set`."""
    from supple.formats.document import load_mechanism

    path = mechanism_file(answer, file)
    _require_mechanism(path)
    mechanism = load_mechanism(path, parameters=setting_texts(settings))
    answer.mechanism = mechanism
    return mechanism


def _require_mechanism(file: str) -> None:
    """Refuse a reduced model or measured data in place of a mechanism file."""
    from supple.diagnostics import InputError
    from supple.formats.document import holds_law, holds_model

    if not Path(file).is_file():
        return
    if holds_law(file):
        hint = "give the mechanism file; `supple export` accepts control laws"
        raise InputError("this is a control law, not a mechanism file", file=file, hint=hint)
    if holds_model(file):
        hint = "give the mechanism file; `supple evaluate` and `supple report` accept reduced models"
        raise InputError("this is a reduced model, not a mechanism file", file=file, hint=hint)
    if Path(file).suffix.lower() in _MEASURED:
        hint = "for measured responses use `supple check-measurement` or `supple modal`"
        raise InputError("this is a data file, not a mechanism file", file=file, hint=hint)


def setting_texts(settings: list[str] | None) -> dict[str, str]:
    """Return the texts of `--set` by name."""
    return named_texts(settings, "--set")


def named_texts(given: list[str] | None, option: str) -> dict[str, str]:
    """Return the texts of a repeatable option NAME=VALUE by name."""
    found: dict[str, str] = {}
    for text in given or ():
        name, equals, value = (item.strip() for item in text.partition("="))
        if not equals or not name or not value:
            raise typer.BadParameter(f"{text!r} is not NAME=VALUE", param_hint=option)
        found[name] = value
    return found


def configuration(mechanism: Mechanism, at: str | None, option: str = "--at") -> dict[str, float] | None:
    """Return θ for the text of `--at`, or of another option; None for the configuration as drawn.

    The text combines named configurations, coordinates and positions of points; later items override earlier ones.
    `rest` is the drawn configuration. `equilibrium` searches for static equilibrium, without actuator forces, from the
    configuration that the other items give. A configuration of the file with one of these names takes precedence. With
    positions of points, all coordinates are returned.
    """
    from supple.kinematics.posture_coordinates import coordinate_values
    from supple.kinematics.rest import rest
    from supple.statics.equilibrium import equilibrium

    values, resting = requested_posture(mechanism, at, option)
    if values is None:
        return None
    names = rest(mechanism).numbering.coordinates
    if not set(values) <= set(names):
        values = dict(zip(names, coordinate_values(mechanism, values).tolist(), strict=True))
    return dict(equilibrium(mechanism, values).coordinates) if resting else values


def requested_posture(
    mechanism: Mechanism, at: str | None, option: str = "--at"
) -> tuple[dict[str, float] | None, bool]:
    """Parse `--at` into {coordinate or point.axis: value}, None for rest, and whether equilibrium is requested."""
    from supple.description.posture import expand_poses
    from supple.diagnostics import InputError, unknown_name
    from supple.kinematics.rest import rest

    if at is None or (at.strip() == REST and REST not in mechanism.configurations):
        return None, False
    names = rest(mechanism).numbering.coordinates
    if not names:
        raise InputError(
            f"{option} needs coordinates, but {len(mechanism.actuators)} actuators do not match the mobility",
            part=f'mechanism "{mechanism.name}"',
            hint=f"add coordinates: to the file, or leave {option} out to use the drawn configuration",
        )
    theta: dict[str, float] = {}
    resting = False
    for piece in pieces(at):
        name, equals, text = (item.strip() for item in piece.partition("="))
        if not equals and name in (REST, EQUILIBRIUM) and name not in mechanism.configurations:
            resting = resting or name == EQUILIBRIUM
            continue
        if not equals:
            if name not in mechanism.configurations:
                if name in names:
                    raise InputError(f'coordinate "{name}" has no value', part=option, hint=f"write {name}=VALUE")
                known = (*mechanism.configurations, REST, EQUILIBRIUM)
                raise unknown_name("configuration", name, known, part=option)
            theta |= expand_poses(mechanism, mechanism.configurations[name])
            continue
        theta |= _position(mechanism, name, text, option)
    return theta, resting


def _position(mechanism: Mechanism, name: str, text: str, option: str) -> dict[str, float]:
    """Parse `crank=40deg`, `tool.z=-1.1` or `tool=[0, 0, -1.1]` into SI values."""
    from supple.description.posture import (
        TURNS,
        axes_of,
        axis_dimension,
        component_dimension,
        expand_poses,
        place_of,
        posture,
    )
    from supple.diagnostics import InputError

    if name in mechanism.coordinate_names():
        return {name: quantity_of(text, f"{option} {name}", dimension_by_name(mechanism)(name))}
    try:
        if text.startswith("[") and text.endswith("]"):
            place_of(mechanism, name)
            axes = axes_of(mechanism)
            items = [item.strip() for item in pieces(text[1:-1])]
            of = [axis_dimension(axis) for axis in axes] + [None] * len(items)
            values = [quantity_of(item, f"{option} {name}", want) for item, want in zip(items, of, strict=False)]
            return expand_poses(mechanism, {name: values})
        value = quantity_of(text, f"{option} {name}", component_dimension(mechanism, name))
        place, _, axis = name.rpartition(".")
        posture(mechanism, {f"{place}.{turn}": 0.0 for turn in TURNS} if axis in TURNS else {name: value})
    except InputError as error:
        raise InputError(error.message, part=error.part or option, hint=error.hint) from None
    return {name: value}


def without_equilibrium(at: str | None, known: Iterable[str]) -> tuple[str | None, bool]:
    """Remove `equilibrium` from the text of `--at`; return the rest and whether the word was there.

    known : names of the configurations of the file
    """
    if at is None or EQUILIBRIUM in known:
        return at, False
    others = [item for item in pieces(at) if item.strip() != EQUILIBRIUM]
    return ",".join(others) or None, len(others) < len(pieces(at))


def pieces(text: str) -> list[str]:
    """Split at commas, but not at those between parentheses or brackets: `a=atan2(1, 2),b=[3, 4]`."""
    pieces, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth <= 0:
            pieces.append("")
        else:
            pieces[-1] += character
    return pieces


# `--along`: parameters for derivatives.


Along = Annotated[
    str | None,
    typer.Option(
        "--along",
        metavar="NAME,...",
        help="Parameters of the file with respect to which derivatives of the results are computed.",
    ),
]


# `--cluster`: computation on several machines.


ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Dask cluster: a scheduler address (tcp://host:8786), or `local:N` for N local processes.",
        rich_help_panel=COST,
    ),
]


# `--no-drives`: without drives and instruments.


NoDrives = Annotated[
    bool,
    typer.Option(
        "--no-drives",
        help="Leave out drives and instruments: inputs are forces, outputs are ideal.",
        rich_help_panel=MODEL,
    ),
]


# `--preload/--no-preload`: geometric stiffness of loads.


Preload = Annotated[
    bool,
    typer.Option(
        "--preload/--no-preload",
        help="Include or omit the geometric stiffness of gravity, constant forces and preloaded springs. "
        "Default: include it.",
        show_default=False,
        rich_help_panel=MODEL,
    ),
]


# `--rigid`: elastic bodies treated as rigid.


Rigid = Annotated[
    bool, typer.Option("--rigid", help="Treat elastic bodies as rigid and suppress the warning.", rich_help_panel=MODEL)
]


# `--formulation`: equations of motion that an analysis uses.


class Formulation(StrEnum):
    """Formulation that the analysis chooses, or the equivalent rigid link system."""

    AUTO = "auto"
    ERLS = "erls"


FormulationOption = Annotated[
    Formulation,
    typer.Option(
        "--formulation",
        help="Formulation of the equations. `erls` uses the equivalent rigid link system.",
        rich_help_panel=MODEL,
    ),
]


# The arguments of the running command as a command line.


def quote_arguments(context: typer.Context, *left_out: str) -> str:
    """Return the arguments and options of a command, quoted for a shell, without --json and the named ones."""
    words: list[str] = []
    options: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE" or name in (*left_out, "as_json"):
            continue
        value = context.params[name]
        values: list[Any] = list(value) if isinstance(value, list | tuple) else [value]
        if parameter.param_type_name == "argument":
            words += [str(item) for item in values]
        elif getattr(parameter, "is_flag", False):
            options += [max(parameter.opts if value else parameter.secondary_opts, key=len)]
        else:
            for item in values:
                options += [max(parameter.opts, key=len), str(getattr(item, "value", item))]
    return shlex.join([*words, *options])


# Values with units.


_PERCENT = 0.01
DimensionOf = Callable[[str], "Dimension | None"]


def relative(text: str | float) -> float:
    """Parse a ratio, `1e-3` or `0.1%`."""
    if not isinstance(text, str):
        return float(text)
    number, percent, rest = text.strip().partition("%")
    try:
        if rest:
            raise ValueError
        return float(number) * (_PERCENT if percent else 1.0)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number such as 1e-3 or 0.1%") from None


def quantity_of(text: str, option: str, wanted: Dimension | None) -> float:
    """Parse `2s`, `40deg` or `0.3` into SI units; errors name the option.

    wanted : required dimension of values with a unit; None for any
    """
    from supple.description.quantities.expression import quantity
    from supple.diagnostics import InputError

    try:
        return quantity(text, wanted)
    except InputError as error:
        raise InputError(error.message, part=option, hint=error.hint) from None


def dimension_by_name(mechanism: Mechanism, which: str = "value") -> DimensionOf:
    """Return a function that gives the dimension of a coordinate, or of its `rate`, `acceleration` or `force`, by name.

    The function returns None for names that the mechanism does not have: the arclength of a path, an elastic coordinate
    of a model.
    """
    from supple.description.quantities.coordinate_dimensions import coordinate_dimensions

    def dimension(name: str) -> Dimension | None:
        known = name in mechanism.actuators or mechanism.joint_coordinate(name) is not None
        return getattr(coordinate_dimensions(mechanism, name), which) if known else None

    return dimension


def quantities_of(text: str, option: str, known: Iterable[str], kind: str, wanted: DimensionOf) -> dict[str, float]:
    """Parse `A=10,B=0` into SI values; names must be known, and values have the dimension that `wanted` gives."""
    from supple.diagnostics import require_known

    names = list(known)
    found: dict[str, float] = {}
    for piece in pieces(text):
        name, equals, value = (item.strip() for item in piece.partition("="))
        if not equals or not name:
            raise typer.BadParameter(f"{piece!r} is not NAME=VALUE", param_hint=option)
        require_known(kind, name, names, part=option)
        found[name] = quantity_of(value, f"{option} {name}", wanted(name))
    return found


# `--region`, `--vary` and `--boxes`.


PATH = "path:"


def region(text: str | None, mechanism: Mechanism) -> dict[str, tuple[float, float]] | str | None:
    """Parse `crank=-100deg:100deg,x=0:12mm` into {coordinate: (lower, upper)}, or `path:MOTION` into MOTION.

    `x=5mm` holds x at this value. None stands for the limits of actuators and joints.
    """
    if text is None:
        return None
    if text.startswith(PATH):
        if not text.removeprefix(PATH).strip():
            raise typer.BadParameter("the motion is missing; write path:MOTION or path:FILE.csv", param_hint="--region")
        return text.removeprefix(PATH).strip()
    found: dict[str, tuple[float, float]] = {}
    for piece in pieces(text):
        name, equals, interval = (item.strip() for item in piece.partition("="))
        lower, colon, upper = (item.strip() for item in interval.partition(":"))
        if not colon:
            upper = lower
        if not (equals and name and lower and upper):
            raise typer.BadParameter(
                f"{piece.strip()!r} is neither NAME=LOWER:UPPER nor NAME=VALUE", param_hint="--region"
            )
        if name in found:
            raise typer.BadParameter(f"{name!r} is given twice", param_hint="--region")
        option, wanted = f"--region {name}", dimension_by_name(mechanism)(name)
        found[name] = (quantity_of(lower, option, wanted), quantity_of(upper, option, wanted))
    return found


def vary(text: str | None) -> dict[str, tuple[str, str]] | None:
    """Parse `payload=8kg:16kg,leg=0.6:0.8` into {parameter: (lower, upper)}, with units as typed."""
    if text is None:
        return None
    found: dict[str, tuple[str, str]] = {}
    for piece in pieces(text):
        name, equals, interval = (item.strip() for item in piece.partition("="))
        lower, colon, upper = (item.strip() for item in interval.partition(":"))
        if not (equals and colon and name and lower and upper):
            raise typer.BadParameter(f"{piece.strip()!r} is not NAME=LOWER:UPPER", param_hint="--vary")
        if name in found:
            raise typer.BadParameter(f"{name!r} is given twice", param_hint="--vary")
        found[name] = (lower, upper)
    return found


def boxes(text: str | None) -> tuple[int, ...] | None:
    """Parse `8,8,8`, or `8` for all coordinates."""
    if text is None:
        return None
    try:
        counts = tuple(int(item) for item in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a list of integers", param_hint="--boxes") from None
    if min(counts) < 1:
        raise typer.BadParameter(f"every coordinate needs at least one box (got {min(counts)})", param_hint="--boxes")
    return counts


# `--damping` and `--free-actuators`: frequency responses and simulated tests.


FreeActuators = Annotated[
    bool,
    typer.Option(
        "--free-actuators", help="Let the actuators move freely instead of locking them.", rich_help_panel=MODEL
    ),
]
DampingOption = Annotated[
    str | None,
    typer.Option(
        "--damping",
        metavar="MODEL",
        help="Damping: a ratio `0.01`, `modal=0.01,0.02`, `structural=0.02` (loss factor) or "
        "`rayleigh=ALPHA,BETA`. Default: the file's.",
        rich_help_panel=MODEL,
    ),
]


def parse_damping(text: str | None) -> dict[str, Any] | float | None:
    """Parse `0.01`, `modal=0.01` (or one ratio per mode), `structural=0.02` or `rayleigh=ALPHA,BETA`."""
    from supple.diagnostics import require_known

    if text is None:
        return None
    name, equals, value = (item.strip() for item in text.partition("="))
    if not equals:
        return quantity_of(name, "--damping", RATIO)
    require_known("damping model", name, ("modal", "structural", "rayleigh"), part="--damping")
    items = value.strip("[]").split(",")
    wanted = (PER_TIME, TIME) if name == "rayleigh" else (RATIO,) * (len(items) if name == "modal" else 1)
    numbers = [quantity_of(item, "--damping", each) for item, each in zip(items, wanted, strict=False)]
    if len(items) != len(wanted):
        raise typer.BadParameter("rayleigh needs ALPHA,BETA; structural needs one number", param_hint="--damping")
    return {name: numbers[0] if len(numbers) == 1 else tuple(numbers)}
