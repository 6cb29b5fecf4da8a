"""Names, units, drives and instruments of a mechanism that its reduced model carries."""

from __future__ import annotations

import warnings
from dataclasses import replace

from supple.description.mechanism import Mechanism
from supple.diagnostics import SuppleNote
from supple.formulations.coefficients import model_units
from supple.formulations.described_hardware import hardware_of
from supple.hardware.hardware import Hardware
from supple.kinematics.posture_coordinates import coordinate_values
from supple.kinematics.rest import rest
from supple.reduced.layout import CoefficientLayout
from supple.reduced.repertoire import REST, Repertoire
from supple.results.units import Units


def repertoire_of(mechanism: Mechanism) -> Repertoire:
    """Return the named configurations as all of θ, including `rest`, and the motions and scenarios of the mechanism."""
    names = rest(mechanism).numbering.coordinates
    places = {REST: None, **{name: name for name in mechanism.configurations}}
    return Repertoire(
        {
            key: dict(zip(names, coordinate_values(mechanism, where).tolist(), strict=True))
            for key, where in places.items()
        },
        {name: motion.model_dump(mode="json", exclude_defaults=True, by_alias=True)
         for name, motion in mechanism.motions.items()},
        {name: run.model_dump(mode="json", exclude_defaults=True, by_alias=True)
         for name, run in mechanism.scenarios.items()},
    )  # fmt: skip


def units_of_layout(mechanism: Mechanism, layout: CoefficientLayout) -> Units:
    """Return the units of the model's coordinates, inputs and outputs."""
    return model_units(rest(mechanism), layout.coordinates, layout.inputs, layout.outputs, layout.internal)


def hardware_of_layout(mechanism: Mechanism, layout: CoefficientLayout) -> Hardware:
    """Return the drives of the model's inputs and the instruments of its outputs.

    A drive on a coordinate that the model lacks, because it is fixed or the model runs along a path, is left out, with
    a note.
    """
    found, names = hardware_of(mechanism), layout.coordinates[: layout.theta]
    acting = {name: where for name, where in found.actuator_coordinates.items() if where in names}
    kept = tuple(block for block in found.drives if block.actuator in acting or not block.tied)
    if len(kept) < len(found.drives):
        omitted = ", ".join(f'"{block.actuator}"' for block in found.drives if block not in kept)
        warnings.warn(
            f'mechanism "{mechanism.name}": the drive of {omitted} is left out because the model lacks its coordinate; '
            "commands of that input are forces",
            SuppleNote,
            stacklevel=4,
        )
    encoders, rates = (
        {name: output for name, output in known.items() if name in names and output in layout.outputs}
        for known in (found.encoders, found.rate_sensors)
    )
    return replace(
        found, drives=kept, encoders=encoders, rate_sensors=rates, actuator_coordinates=acting,
        instruments=tuple(item for item in found.instruments if item.output in layout.outputs),
    )  # fmt: skip
