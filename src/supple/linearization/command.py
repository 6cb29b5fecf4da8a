"""`supple linearize`: first-order behaviour about a state."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from supple.cli.answer import answering
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
        "--at", metavar="WHERE",
        help="A named configuration, coordinates, or both: `home`, `crank=40deg`, `home,crank=0.2`; or where a "
        "place is: `tool=[0,0,-1.1]`. What is not mentioned stays at rest. "
        "With `equilibrium`: where it rests under gravity, springs and "
        "--inputs, close to the others.",
    ),
]  # fmt: skip
Rates = Annotated[
    str | None,
    typer.Option("--rates", metavar="NAME=RATE,...", help="Of coordinates: `crank=2,x=10mm`."),
]
Accelerations = Annotated[
    str | None,
    typer.Option(
        "--accelerations", metavar="NAME=VALUE,...",
        help="Of coordinates; the inputs are those that give them. Standing still or steady rates if left out.",
    ),
]  # fmt: skip
Inputs = Annotated[
    str | None,
    typer.Option(
        "--inputs", metavar="NAME=FORCE,...",
        help="Forces of the actuators in place of --accelerations, zero if not mentioned; `none`: all are zero. "
        "Commands of drives follow from them.",
    ),
]  # fmt: skip

InBasis = Annotated[
    str | None,
    typer.Option(
        "--basis", metavar="ROM",
        help="Of a flexible mechanism, in place of --internal-modes: the modes of this reduced model, so that states "
        "and gains are the same.",
    ),
]  # fmt: skip

Pade = Annotated[
    int, typer.Option("--pade", metavar="ORDER", min=1, max=8, help="Of what stands for the delays of drives.")
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
    """Linearize the equations of motion about a state, at rest or in motion."""
    with answering(as_json) as answer:
        from supple.linearization.linearization import linearize as linearized

        asked = _Asked(at, rates, accelerations, inputs)
        options: dict[str, Any] = {"drives": not no_drives, "pade": pade, "along": names_of(slopes_along)}
        if grid is not None and slopes_along is not None:
            raise typer.BadParameter("slopes are those at one configuration", param_hint="--along")
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
                "a reduced model has the modes that it was made with",
            )
            subject = read_model(answer, file, settings)
            options |= _state_of_model(subject, asked)
            placed = partial(_in_model, subject)
        else:
            subject = read_mechanism(answer, file, settings)
            options |= {
                "constraint_modes": names_of(constraint_modes), "internal_modes": internal_modes or 0, "rigid": rigid,
                "formulation": formulation.value,
                "basis": None if basis is None else read_model(answer, basis),
            }  # fmt: skip
            options |= _state_of_mechanism(subject, asked, options)
            placed = partial(_in_mechanism, subject)
        if grid is not None:
            from supple.maps.over import over

            if asked.place(getattr(subject, "configurations", ()))[1]:
                raise typer.BadParameter("a map is at the configurations of its grid", param_hint="--at equilibrium")
            give_map(answer, map_of(answer, subject, grid, at, over, question=linearized, **options), grid, output)
            return
        found = linearized(subject, **placed(asked, options))
        keep(found, output)
        answer.give(found.data(), lambda: found.text(subject.name))


class _Asked(NamedTuple):
    """The texts of the options."""

    at: str | None
    rates: str | None
    accelerations: str | None
    inputs: str | None

    def place(self, known: Iterable[str]) -> tuple[str | None, bool]:
        """WHERE without `equilibrium`, and whether that was asked for."""
        return without_equilibrium(self.at, known)

    def state(
        self, mechanism: Mechanism, coordinates: Iterable[str], actuators: Iterable[str]
    ) -> dict[str, dict[str, float] | None]:
        """Rates, accelerations and inputs by name."""
        forces = "" if self.inputs is None or self.inputs.strip() == _NONE else self.inputs
        force = dimension_by_name(mechanism, "force")
        found = {} if not forces else quantities_of(forces, "--inputs", actuators, "an input", force)
        return {
            "rates": _named(self.rates, "--rates", coordinates, dimension_by_name(mechanism, "rate")),
            "accelerations": _named(
                self.accelerations, "--accelerations", coordinates, dimension_by_name(mechanism, "acceleration")
            ),
            "inputs": None if self.inputs is None else found,
        }


def _require_still(options: dict[str, Any]) -> None:
    from supple.diagnostics import InputError

    if options["rates"] or options["accelerations"]:
        raise InputError("it does not move", part="--at equilibrium", hint="leave --rates and --accelerations out")


def _state_of_model(model: ReducedModel, asked: _Asked) -> dict[str, Any]:
    return asked.state(described_mechanism(model), model.layout.coordinates, model.layout.inputs)


def _in_model(model: ReducedModel, asked: _Asked, options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `linearize`: with the place that --at names, or with where the model rests close to it."""
    where, resting = asked.place(())
    theta = model_configuration(model, where)
    if not resting:
        return options | {"at": theta}
    _require_still(options)
    eta = model.equilibrium(theta, options["inputs"])
    held = options["inputs"] or dict.fromkeys(model.layout.inputs, 0.0)
    return options | {"at": eta[: model.layout.theta], "inputs": held, "delta": eta[model.layout.theta :]}


def _state_of_mechanism(mechanism: Mechanism, asked: _Asked, flexible: dict[str, Any]) -> dict[str, Any]:
    from supple.kinematics.rest import rest

    return asked.state(mechanism, rest(mechanism).numbering.coordinates, (*mechanism.actuators, *_loaded(flexible)))


def _loaded(flexible: dict[str, Any]) -> tuple[str, ...]:
    """Degrees of freedom whose displacement is a coordinate, and which have a force therefore."""
    basis = flexible["basis"]
    return flexible["constraint_modes"] if basis is None or basis.basis is None else basis.basis.constraint


def _in_mechanism(mechanism: Mechanism, asked: _Asked, options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `linearize`: with the place that --at names, or with where the mechanism rests close to it."""
    from supple.statics.equilibrium import equilibrium

    where, resting = asked.place(mechanism.configurations)
    theta = configuration(mechanism, where)
    if not resting:
        return options | {"at": theta}
    _require_still(options)
    held = options["inputs"] or {}
    rigid_links = options["formulation"] != Formulation.AUTO.value
    bends = options["internal_modes"] or _loaded(options) or options["basis"] or rigid_links
    here = equilibrium(
        mechanism, theta, inputs=[held.get(name, 0.0) for name in mechanism.actuators],
        rigid=options["rigid"] or not bends,
    )  # fmt: skip
    return options | {"at": here.theta, "inputs": held}


def _named(text: str | None, option: str, names: Iterable[str], wanted: DimensionOf) -> dict[str, float] | None:
    return None if text is None else quantities_of(text, option, names, "a coordinate", wanted)
