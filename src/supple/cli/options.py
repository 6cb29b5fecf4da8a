"""Arguments and options that several commands share, and what their texts mean.

Options are declared as annotated types (`File`, `At`, `Settings`, ...); the functions beside them read their texts.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import Answer
from supple.cli.bundled import bundled_names, mechanism_file
from supple.description.quantities.dimension import PER_TIME, RATIO, TIME

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism
    from supple.description.quantities.dimension import Dimension


# The mechanism and its configuration: FILE, `--set` and `--at`.


REST, EQUILIBRIUM = "rest", "equilibrium"

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A mechanism file, a URDF, a .par file, or the name of a bundled example.",
        autocompletion=bundled_names,
    ),
]
At = Annotated[
    str | None,
    typer.Option(
        "--at", metavar="WHERE",
        help="A named configuration, coordinates, or both: `home`, `crank=40deg,x=12mm`, `home,crank=0.2`; or where a "
        "place is: `tool=[0,0,-1.1]`, `tool.z=-1.1,tool.x=200mm`. What is not mentioned stays at rest. `rest`: as "
        "drawn. `equilibrium`: where gravity and springs leave it, close to the others.",
    ),
]  # fmt: skip
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE",
        help="Another value for a parameter of the file; may be repeated. FROM:TO:COUNT runs the command for each.",
    ),
]  # fmt: skip
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


def read_mechanism(answer: Answer, file: str, settings: list[str] | None) -> Mechanism:
    """The mechanism in a file or of a bundled example, with parameters as set on the command line."""
    from supple.formats.document import load_mechanism

    mechanism = load_mechanism(mechanism_file(answer, file), parameters=setting_texts(settings))
    answer.mechanism = mechanism
    return mechanism


def setting_texts(settings: list[str] | None) -> dict[str, str]:
    """What `--set` says, by name."""
    return named_texts(settings, "--set")


def named_texts(given: list[str] | None, option: str) -> dict[str, str]:
    """What an option NAME=VALUE that may be repeated says, by name."""
    found: dict[str, str] = {}
    for text in given or ():
        name, equals, value = (item.strip() for item in text.partition("="))
        if not equals or not name or not value:
            raise typer.BadParameter(f"{text!r} is not NAME=VALUE", param_hint=option)
        found[name] = value
    return found


def configuration(mechanism: Mechanism, at: str | None) -> dict[str, float] | None:
    """θ as `--at` names it: configurations, coordinates, places, later ones over earlier ones; None for rest.

    `rest` is what is not mentioned; `equilibrium` goes on from there to where nothing is pushed, actuators without
    force. A configuration that the file calls so goes before either. Where a place is given, all of θ comes back.
    """
    from supple.kinematics.posture_coordinates import coordinate_values
    from supple.kinematics.rest import rest
    from supple.statics.equilibrium import equilibrium

    said, resting = asked_posture(mechanism, at)
    if said is None:
        return None
    names = rest(mechanism).numbering.coordinates
    if not set(said) <= set(names):
        said = dict(zip(names, coordinate_values(mechanism, said).tolist(), strict=True))
    return dict(equilibrium(mechanism, said).coordinates) if resting else said


def asked_posture(mechanism: Mechanism, at: str | None) -> tuple[dict[str, float] | None, bool]:
    """What `--at` says: {coordinate or place.axis: value}, None for rest; and whether equilibrium is asked for."""
    from supple.description.posture import spelled
    from supple.diagnostics import InputError, nearest
    from supple.kinematics.rest import rest

    if at is None or (at.strip() == REST and REST not in mechanism.configurations):
        return None, False
    names = rest(mechanism).numbering.coordinates
    if not names:
        raise InputError(
            f"--at needs coordinates, and it has none: {len(mechanism.actuators)} actuators do not match its mobility",
            part=f'mechanism "{mechanism.name}"',
            hint="list coordinates: in the file, or leave --at out to get the rest configuration",
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
                raise InputError(
                    f'there is no configuration "{name}"', part="--at",
                    hint=f"write {name}=VALUE"
                    if name in names
                    else nearest(name, (*mechanism.configurations, REST, EQUILIBRIUM)),
                )  # fmt: skip
            theta |= spelled(mechanism, mechanism.configurations[name])
            continue
        theta |= _said_of(mechanism, name, text)
    return theta, resting


def _said_of(mechanism: Mechanism, name: str, text: str) -> dict[str, float]:
    """`crank=40deg`, `tool.z=-1.1`, `tool=[0, 0, -1.1]` in SI."""
    from supple.description.posture import (
        TURNS,
        axes_of,
        axis_dimension,
        component_dimension,
        place_of,
        posture,
        spelled,
    )
    from supple.diagnostics import InputError

    if name in mechanism.coordinate_names():
        return {name: quantity_of(text, f"--at {name}", dimension_by_name(mechanism)(name))}
    try:
        if text.startswith("[") and text.endswith("]"):
            place_of(mechanism, name)
            axes = axes_of(mechanism)
            items = [item.strip() for item in pieces(text[1:-1])]
            of = [axis_dimension(axis) for axis in axes] + [None] * len(items)
            values = [quantity_of(item, f"--at {name}", want) for item, want in zip(items, of, strict=False)]
            return spelled(mechanism, {name: values})
        value = quantity_of(text, f"--at {name}", component_dimension(mechanism, name))
        place, _, axis = name.rpartition(".")
        posture(mechanism, {f"{place}.{turn}": 0.0 for turn in TURNS} if axis in TURNS else {name: value})
    except InputError as error:
        raise InputError(error.message, part=error.part or "--at", hint=error.hint) from None
    return {name: value}


def without_equilibrium(at: str | None, known: Iterable[str]) -> tuple[str | None, bool]:
    """WHERE without the word `equilibrium`, and whether that was asked for; `known` are the file's configurations."""
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


# The option --along: parameters of the file along which derivatives are wanted.


Along = Annotated[
    str | None,
    typer.Option(
        "--along", metavar="NAME,...",
        help="Parameters of the file along which derivatives are given too, θ held.",
    ),
]  # fmt: skip


# `--cluster`: where work goes that is too much for one machine.


ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="ADDRESS|local:N",
        help="Compute on a cluster of dask: where its scheduler is (tcp://host:8786), or N processes of this machine.",
    ),
]  # fmt: skip


# The option that leaves drives and instruments of the file out.


NoDrives = Annotated[
    bool,
    typer.Option(
        "--no-drives", help="Leave drives and instruments of the file out: inputs are forces, outputs as they are."
    ),
]


# `--preload/--no-preload`, as all commands with stiffness of loads have it.


Preload = Annotated[
    bool,
    typer.Option(
        "--preload/--no-preload",
        help="Include the geometric stiffness of gravity, forces and springs at rest, or leave it out.",
    ),
]


# `--rigid`: elastic parts are taken as rigid on purpose, and nothing is said of it.


Rigid = Annotated[
    bool,
    typer.Option(
        "--rigid",
        help="Elastic parts are taken as rigid, on purpose: no warning. The field `rigid` of --json names them anyway.",
    ),
]


# `--formulation`: which equations an analysis goes through.


class Formulation(StrEnum):
    """What the analysis takes by itself, or the equivalent rigid link system."""

    AUTO = "auto"
    ERLS = "erls"


FormulationOption = Annotated[
    Formulation,
    typer.Option(
        "--formulation",
        help="`erls`: the equivalent rigid link system, joint coordinates and small displacements of nodes about them.",
    ),
]


# The arguments of the command that runs, as they would be typed again.


def typed_again(context: typer.Context, *left_out: str) -> str:
    """Arguments and options as they were given, quoted for a shell; without --json, and those left out by name."""
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


# Values with units on the command line: one, or several by name.


_PERCENT = 0.01
DimensionOf = Callable[[str], "Dimension | None"]


def relative(text: str | float) -> float:
    """`1e-3`, or `0.1%`: a number without a unit, of something."""
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
    """`2s`, `40deg` or `0.3` in SI; a mistake names the option.

    wanted : the dimension it must have unless it is a plain number; None for any
    """
    from supple.description.quantities.expression import quantity
    from supple.diagnostics import InputError

    try:
        return quantity(text, wanted)
    except InputError as error:
        raise InputError(error.message, part=option, hint=error.hint) from None


def dimension_by_name(mechanism: Mechanism, which: str = "value") -> DimensionOf:
    """The dimension of a coordinate or actuator by its name, or of its `rate`, `acceleration` or `force`.

    None for what is not of the mechanism: the arclength of a path, an elastic coordinate of a model.
    """
    from supple.description.quantities.coordinate_dimensions import coordinate_dimensions

    def dimension(name: str) -> Dimension | None:
        known = name in mechanism.actuators or mechanism.joint_coordinate(name) is not None
        return getattr(coordinate_dimensions(mechanism, name), which) if known else None

    return dimension


def quantities_of(text: str, option: str, known: Iterable[str], kind: str, wanted: DimensionOf) -> dict[str, float]:
    """`A=10,B=0` in SI, each name one of those known, each value of the dimension that is wanted of its name."""
    from supple.diagnostics import InputError, nearest

    names = list(known)
    found: dict[str, float] = {}
    for piece in pieces(text):
        name, equals, value = (item.strip() for item in piece.partition("="))
        if not equals or not name:
            raise typer.BadParameter(f"{piece!r} is not NAME=VALUE", param_hint=option)
        if name not in names:
            raise InputError(f'"{name}" is not {kind}', part=option, hint=nearest(name, names))
        found[name] = quantity_of(value, f"{option} {name}", wanted(name))
    return found


# `--region`, `--vary` and `--boxes`: what their texts mean.


PATH = "path:"


def region(text: str | None, mechanism: Mechanism) -> dict[str, tuple[float, float]] | str | None:
    """`crank=-100deg:100deg,x=0:12mm` as {coordinate: (lower, upper)}, `x=5mm` holds x there; `path:MOTION` as MOTION;
    None for the limits."""
    if text is None:
        return None
    if text.startswith(PATH):
        if not text.removeprefix(PATH).strip():
            raise typer.BadParameter("which motion? Write path:MOTION or path:FILE.csv", param_hint="--region")
        return text.removeprefix(PATH).strip()
    found: dict[str, tuple[float, float]] = {}
    for piece in pieces(text):
        name, equals, interval = (item.strip() for item in piece.partition("="))
        lower, colon, upper = (item.strip() for item in interval.partition(":"))
        if not colon:
            upper = lower
        if not (equals and name and lower and upper):
            raise typer.BadParameter(
                f"{piece.strip()!r} is not NAME=LOWER:UPPER, nor NAME=VALUE to hold one", param_hint="--region"
            )
        if name in found:
            raise typer.BadParameter(f"{name!r} is given twice", param_hint="--region")
        option, wanted = f"--region {name}", dimension_by_name(mechanism)(name)
        found[name] = (quantity_of(lower, option, wanted), quantity_of(upper, option, wanted))
    return found


def vary(text: str | None) -> dict[str, tuple[str, str]] | None:
    """`payload=8kg:16kg,leg=0.6:0.8` as {parameter: (lower, upper)}, units still to be looked at."""
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
    """`8,8,8`, or `8` for every coordinate."""
    if text is None:
        return None
    try:
        counts = tuple(int(item) for item in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a list of whole numbers", param_hint="--boxes") from None
    if min(counts) < 1:
        raise typer.BadParameter("a coordinate needs one box at least", param_hint="--boxes")
    return counts


# `--damping` and `--free-actuators`, of frequency responses and simulated tests.


FreeActuators = Annotated[bool, typer.Option("--free-actuators", help="Actuators are free; locked otherwise.")]
DampingOption = Annotated[
    str | None,
    typer.Option(
        "--damping", metavar="LAW",
        help="`0.01` or `modal=0.01` (ζ of every mode; `modal=0.01,0.02` one by one), `structural=0.02` (loss factor), "
        "`rayleigh=ALPHA,BETA`, "
        "`0` for none; the file's if left out.",
    ),
]  # fmt: skip


def damping_of_text(text: str | None) -> dict[str, Any] | float | None:
    """`0.01`, `modal=0.01` (or several, mode by mode), `structural=0.02` or `rayleigh=ALPHA,BETA`."""
    from supple.diagnostics import InputError, nearest

    if text is None:
        return None
    name, equals, value = (item.strip() for item in text.partition("="))
    if not equals:
        return quantity_of(name, "--damping", RATIO)
    if name not in ("modal", "structural", "rayleigh"):
        raise InputError(
            f'"{name}" is not a law of damping',
            part="--damping",
            hint=nearest(name, ("modal", "structural", "rayleigh")),
        )
    items = value.strip("[]").split(",")
    wanted = (PER_TIME, TIME) if name == "rayleigh" else (RATIO,) * (len(items) if name == "modal" else 1)
    numbers = [quantity_of(item, "--damping", each) for item, each in zip(items, wanted, strict=False)]
    if len(items) != len(wanted):
        raise typer.BadParameter("rayleigh takes ALPHA,BETA, structural one number", param_hint="--damping")
    return {name: numbers[0] if len(numbers) == 1 else tuple(numbers)}
