"""The names and units of a mechanism that its reduced model goes on to carry."""

from __future__ import annotations

from supple.description.mechanism import Mechanism
from supple.formulations.measured_units import model_units
from supple.kinematics.configuration import coordinate_values
from supple.kinematics.rest import rest
from supple.reduced.layout import CoefficientLayout
from supple.reduced.repertoire import REST, Repertoire
from supple.results.units import Units


def repertoire_of(mechanism: Mechanism) -> Repertoire:
    """Configurations as all of θ, `rest` among them; motions and scenarios as they are described."""
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
    """Of the model's coordinates, inputs and outputs."""
    return model_units(rest(mechanism), layout.coordinates, layout.inputs, layout.outputs, layout.internal)
