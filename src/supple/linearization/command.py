"""`supple linearize`: state-space matrices about a state."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from supple.cli.answer import open_answer
from supple.cli.help_text import MODEL
from supple.cli.kept import TableFile, keep
from supple.cli.local import ConstraintModes, InternalModes
from supple.cli.local import name_list as names_of
from supple.cli.map_option import Map, give_map, map_of
from supple.cli.model_argument import (
    FileOrRom,
    described_mechanism,
    is_model,
    model_configuration,
    read_model,
    require_no,
)
from supple.cli.options import (
    Along,
    DimensionOf,
    Formulation,
    FormulationOption,
    Json,
    NoDrives,
    Rigid,
    Settings,
    configuration,
    dimension_by_name,
    quantities_of,
    read_mechanism,
    without_equilibrium,
)

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism
    from supple.reduced.model import ReducedModel

Where = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="WHERE",
        help="Configuration: a name in the file (`home`), values (`crank=40deg,x=12mm`), or the position of a "
        "point (`tool=[0,0,-1.1]`). Other coordinates stay as drawn. "
        "`equilibrium` searches for static equilibrium under --inputs. Default: as drawn.",
    ),
]
Rates = Annotated[
    str | None,
    typer.Option("--rates", metavar="NAME=RATE,...", help="Rates of coordinates: `crank=2,x=10mm`. Default: zero."),
]
Accelerations = Annotated[
    str | None,
    typer.Option(
        "--accelerations",
        metavar="NAME=VALUE,...",
        help="Accelerations of coordinates; the inputs follow from them. Default: zero.",
    ),
]
Inputs = Annotated[
    str | None,
    typer.Option(
        "--inputs",
        metavar="NAME=FORCE,...",
        help="Actuator forces (not drive commands), instead of --accelerations. Forces that are not given are zero; "
        "`none` sets all to zero.",
    ),
]

InBasis = Annotated[
    str | None,
    typer.Option(
        "--basis",
        metavar="ROM",
        help="Reduced model whose modes are used, so that states and gains are the same.",
        rich_help_panel=MODEL,
    ),
]

Pade = Annotated[
    int,
    typer.Option(
        "--pade",
        metavar="ORDER",
        help="Order of the Padé approximation of drive delays.",
        rich_help_panel=MODEL,
        min=1,
        max=8,
    ),
]

_NONE = "none"


def linearize(
    file: FileOrRom,
    at: Where = None,
    rates: Rates = None,
    accelerations: Accelerations = None,
    inputs: Inputs = None,
    constraint_modes: ConstraintModes = None,
    internal_modes: InternalModes = None,
    basis: InBasis = None,
    rigid: Rigid = False,
    no_drives: NoDrives = False,
    formulation: FormulationOption = Formulation.AUTO,
    pade: Pade = 3,
    slopes_along: Along = None,
    grid: Map = None,
    output: TableFile = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Linearize the equations of motion about a state."""
    with open_answer(as_json) as answer:
        from supple.linearization.linearization import linearize as linearized

        texts = _StateTexts(at, rates, accelerations, inputs)
        options: dict[str, Any] = {"drives": not no_drives, "pade": pade, "along": names_of(slopes_along)}
        if grid is not None and slopes_along is not None:
            raise typer.BadParameter("slopes are computed at one configuration, not over a map", param_hint="--along")
        subject: Any
        placed: Callable[..., dict[str, Any]]
        if is_model(file):
            require_no(
                {
                    "--constraint-modes": constraint_modes,
                    "--internal-modes": internal_modes,
                    "--basis": basis,
                    "--formulation": formulation is not Formulation.AUTO,
                },
                "a reduced model keeps the modes that it was reduced with",
            )
            subject = read_model(answer, file, settings)
            options |= _state_of_model(subject, texts)
            placed = partial(_in_model, subject)
        else:
            subject = read_mechanism(answer, file, settings)
            options |= {
                "constraint_modes": names_of(constraint_modes), "internal_modes": internal_modes or 0, "rigid": rigid,
                "formulation": formulation.value,
                "basis": None if basis is None else read_model(answer, basis),
            }  # fmt: skip
            options |= _state_of_mechanism(subject, texts, options)
            placed = partial(_in_mechanism, subject)
        if grid is not None:
            from supple.maps.over import over

            if texts.place(getattr(subject, "configurations", ()))[1]:
                raise typer.BadParameter(
                    "a map is computed at the configurations of its grid", param_hint="--at equilibrium"
                )
            give_map(answer, map_of(answer, subject, grid, at, over, question=linearized, **options), grid, output)
            return
        found = linearized(subject, **placed(texts, options))
        keep(found, output)
        answer.give(found.data(), lambda: found.text(subject.name))


class _StateTexts(NamedTuple):
    """Texts of the options of a state."""

    at: str | None
    rates: str | None
    accelerations: str | None
    inputs: str | None

    def place(self, known: Iterable[str]) -> tuple[str | None, bool]:
        """Return the configuration of --at without `equilibrium`, and whether the equilibrium is requested."""
        return without_equilibrium(self.at, known)

    def state(
        self, mechanism: Mechanism, coordinates: Iterable[str], actuators: Iterable[str]
    ) -> dict[str, dict[str, float] | None]:
        """Return rates, accelerations and inputs by name."""
        forces = "" if self.inputs is None or self.inputs.strip() == _NONE else self.inputs
        force = dimension_by_name(mechanism, "force")
        found = {} if not forces else quantities_of(forces, "--inputs", actuators, "input", force)
        return {
            "rates": _quantities(self.rates, "--rates", coordinates, dimension_by_name(mechanism, "rate")),
            "accelerations": _quantities(
                self.accelerations, "--accelerations", coordinates, dimension_by_name(mechanism, "acceleration")
            ),
            "inputs": None if self.inputs is None else found,
        }


def _require_still(options: dict[str, Any]) -> None:
    from supple.diagnostics import InputError

    if options["rates"] or options["accelerations"]:
        raise InputError(
            "rates and accelerations must be zero", part="--at equilibrium", hint="omit --rates and --accelerations"
        )


def _state_of_model(model: ReducedModel, texts: _StateTexts) -> dict[str, Any]:
    return texts.state(described_mechanism(model), model.layout.coordinates, model.layout.inputs)


def _in_model(model: ReducedModel, texts: _StateTexts, options: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `linearize` with the configuration of --at, or the model's equilibrium close to it."""
    where, resting = texts.place(())
    theta = model_configuration(model, where)
    if not resting:
        return options | {"at": theta}
    _require_still(options)
    eta = model.equilibrium(theta, options["inputs"])
    held = options["inputs"] or dict.fromkeys(model.layout.inputs, 0.0)
    return options | {"at": eta[: model.layout.theta], "inputs": held, "delta": eta[model.layout.theta :]}


def _state_of_mechanism(mechanism: Mechanism, texts: _StateTexts, flexible: dict[str, Any]) -> dict[str, Any]:
    from supple.kinematics.rest import rest

    return texts.state(
        mechanism, rest(mechanism).numbering.coordinates, (*mechanism.actuators, *_loaded_coordinates(flexible))
    )


def _loaded_coordinates(flexible: dict[str, Any]) -> tuple[str, ...]:
    """Return the degrees of freedom whose displacement is a coordinate, so that they have a force."""
    basis = flexible["basis"]
    return flexible["constraint_modes"] if basis is None or basis.basis is None else basis.basis.constraint


def _in_mechanism(mechanism: Mechanism, texts: _StateTexts, options: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `linearize` with the configuration of --at, or the equilibrium close to it."""
    from supple.statics.equilibrium import equilibrium

    where, resting = texts.place(mechanism.configurations)
    theta = configuration(mechanism, where)
    if not resting:
        return options | {"at": theta}
    _require_still(options)
    held = options["inputs"] or {}
    rigid_links = options["formulation"] != Formulation.AUTO.value
    bends = options["internal_modes"] or _loaded_coordinates(options) or options["basis"] or rigid_links
    here = equilibrium(
        mechanism, theta, inputs=[held.get(name, 0.0) for name in mechanism.actuators],
        rigid=options["rigid"] or not bends,
    )  # fmt: skip
    return options | {"at": here.theta, "inputs": held}


def _quantities(text: str | None, option: str, names: Iterable[str], dimension: DimensionOf) -> dict[str, float] | None:
    return None if text is None else quantities_of(text, option, names, "coordinate", dimension)
