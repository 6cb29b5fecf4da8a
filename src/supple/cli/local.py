"""`supple local`: the equations of motion at a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import open_answer
from supple.cli.assemble import warn_of_limits
from supple.cli.help_text import MODEL, help_of
from supple.cli.kept import TableFile, keep
from supple.cli.options import Along, At, File, Json, Preload, Rigid, Settings, configuration, read_mechanism

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism

ConstraintModes = Annotated[
    str | None,
    typer.Option(
        "--constraint-modes",
        metavar="E.z,...",
        help=help_of("local", "constraint_modes"),
        show_default=False,
        rich_help_panel=MODEL,
    ),
]
InternalModes = Annotated[
    int | None,
    typer.Option(
        "--internal-modes",
        metavar="N",
        help=help_of("local", "internal_modes"),
        show_default=False,
        rich_help_panel=MODEL,
        min=0,
    ),
]
Stiffening = Annotated[
    bool, typer.Option("--stiffening", help=help_of("local", "stiffening"), show_default=False, rich_help_panel=MODEL)
]


def local(
    file: File,
    at: At = None,
    constraint_modes: ConstraintModes = None,
    internal_modes: InternalModes = None,
    rigid: Rigid = False,
    stiffening: Stiffening = False,
    preload: Preload = True,
    along: Along = None,
    output: TableFile = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Compute the local equations of motion at a configuration."""
    with open_answer(as_json) as answer:
        from supple.parameterization.local_model import local as local_model

        mechanism = read_mechanism(answer, file, settings)
        options = {
            "--constraint-modes": constraint_modes,
            "--internal-modes": internal_modes,
            "--stiffening": stiffening,
        }
        require_elastic_bodies(mechanism, options)
        found = local_model(
            mechanism,
            configuration(mechanism, at),
            constraint_modes=name_list(constraint_modes),
            internal_modes=internal_modes or 0,
            rigid=rigid,
            stiffening=stiffening,
            preload=preload,
            along=name_list(along),
        )
        warn_of_limits(answer, found.configuration)
        keep(found, output)
        answer.show(found)


def require_elastic_bodies(mechanism: Mechanism, options: dict[str, Any]) -> None:
    """Refuse options about modes of elastic bodies if the mechanism has none."""
    from supple.diagnostics import InputError

    for option, value in options.items():
        if value and not mechanism.elastic:
            raise InputError(
                f"{option} needs elastic bodies, but all {len(mechanism.bodies)} bodies of this mechanism are rigid",
                part=f'mechanism "{mechanism.name}"',
                path=("bodies",),
                hint=f"leave {option} out, or replace a rod by a beam with section: and material:",
            )


def name_list(text: str | None) -> tuple[str, ...]:
    """Split a comma-separated list of names."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())
