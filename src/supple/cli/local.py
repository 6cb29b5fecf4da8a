"""`supple local`: the equations of motion at a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from supple.cli.answer import answering
from supple.cli.assemble import warn_of_limits
from supple.cli.options import At, File, Json, Settings, configuration, read_mechanism

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism
    from supple.parameterization.local_model import LocalModel

ConstraintModes = Annotated[
    str | None,
    typer.Option(
        "--constraint-modes", metavar="E.z,...", show_default=False,
        help="Degrees of freedom whose displacement becomes a coordinate (elastic bodies).",
    ),
]  # fmt: skip
InternalModes = Annotated[
    int | None,
    typer.Option(
        "--internal-modes", metavar="N", min=0, show_default=False,
        help="How many internal modes to keep (elastic bodies).",
    ),
]  # fmt: skip


def local(
    file: File,
    at: At = None,
    constraint_modes: ConstraintModes = None,
    internal_modes: InternalModes = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Compute the equations of motion at a configuration."""
    with answering(as_json) as answer:
        from supple.parameterization.local_model import local as local_model

        mechanism = read_mechanism(answer, file, settings)
        _require_elastic_bodies(mechanism, constraint_modes, internal_modes)
        found = local_model(mechanism, configuration(mechanism, at))
        warn_of_limits(answer, found.configuration)
        data = {
            "coordinates": found.coordinates,
            "inputs": found.inputs,
            "at": found.configuration.coordinates,
            "M": found.M,
            "K": found.K,
            "damping": found.damping,
            "christoffel": found.christoffel,
            "dM": found.dM,
            "force": found.force,
            "input_map": found.input_map,
            "outputs": {
                name: {"value": output.value, "rigid": output.rigid, "modes": output.modes}
                for name, output in found.outputs.items()
            },
            "internal_hz": found.internal_hz,
            "singularity": found.singularity,
            "potential": found.potential,
        }
        answer.give(data, lambda: _show(found))


def _require_elastic_bodies(mechanism: Mechanism, constraint: str | None, internal: int | None) -> None:
    from supple.diagnostics import InputError

    asked = "--constraint-modes" if constraint else "--internal-modes" if internal else None
    if asked:  # every body is rigid so far
        raise InputError(
            f"{asked} is about elastic bodies, and all {len(mechanism.bodies)} bodies of this mechanism are rigid",
            part=f'mechanism "{mechanism.name}"', hint=f"leave {asked} out",
        )  # fmt: skip


def _show(found: LocalModel) -> None:
    from supple.cli.tables import Tables, angle, number

    numbering, out = found.configuration.rest.numbering, Tables()
    angles = numbering.angles()[numbering.constraints :]
    names, s = found.coordinates, len(found.coordinates)
    units = ["rad" if angles[i] else "m" for i in range(s)]
    forces = ["N m" if angles[i] else "N" for i in range(s)]
    out.line(
        f"{found.configuration.mechanism.name}: M θ̈ + Γ[θ̇,θ̇] + D θ̇ = p + B u, "
        f"singularity {float(found.singularity):.3g} (0 is singular), potential {float(found.potential):.6g} J"
    )
    values = [angle(x) if angles[i] else number(x, "m") for i, x in enumerate(found.theta)]
    rows = [(name, values[i], number(found.force[i], forces[i])) for i, name in enumerate(names)]
    out.table(("coordinate", "value", "force p"), rows)
    labels = [f"{name} [{unit}]" for name, unit in zip(names, units, strict=True)]
    out.matrix("M [kg, m, rad]", labels, names, found.M)
    if found.damping.any():
        out.matrix("D [N, m, s, rad]", labels, names, found.damping)
    if found.inputs:
        out.matrix("B", labels, found.inputs, found.input_map)
    if s <= 3:  # more would fill the screen
        pairs = [(j, k) for j in range(s) for k in range(j, s)]
        twice = [[(1 + (j < k)) * found.christoffel[i, j, k] for j, k in pairs] for i in range(s)]
        out.matrix("Γ, factors of", labels, [f"{names[j]}'·{names[k]}'" for j, k in pairs], twice)
    if found.outputs:
        lines = [
            (name, number(output.value), *(number(x) for x in output.rigid)) for name, output in found.outputs.items()
        ]
        out.table(("output", "value", *(f"∂/∂{name}" for name in names)), lines)
    out.line("--json gives all coefficients and their derivatives, to full precision")
