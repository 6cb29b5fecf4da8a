"""The units of what a mechanism's coordinates, actuators and sensors measure."""

from __future__ import annotations

from collections.abc import Sequence

from supple.formulations.coefficients import carried
from supple.formulations.efforts import inside
from supple.kinematics.measures import key_of
from supple.kinematics.primitives import KIND, LENGTHS
from supple.kinematics.rest import Rest
from supple.results.units import MODAL, Units, force, numbered, rate_unit

ARCLENGTH = "arclength"
_TURNS = ("rx", "ry", "rz", "angle")  # directions about an axis


def units_of(position: Rest) -> Units:
    """m or rad of θ and of outputs, N or N m of actuators."""
    numbering = position.numbering
    angles, mechanism = numbering.angles(), numbering.mechanism
    driven = {name: numbering.measures[key_of(mechanism, part)] for name, part in mechanism.actuators.items()}
    return Units(
        numbering.coordinate_units,
        {name: force(unit) for name, unit in numbered(driven, angles[list(driven.values())]).items()},
        output_units(position),
    )


def output_units(position: Rest) -> dict[str, str]:
    """Of every output: that of what it is made of, with its rates. Components of axes have none of their own, and what
    turns them is an angle."""
    numbering, load = position.numbering, carried(position)
    kinds = numbering.arrays.rows_i[list(load.measured.values()), KIND]
    found = {}
    inner = inside(numbering.drawing).units
    for name, form in load.observation.outputs.items():
        if name in inner:
            found[name] = inner[name]
            continue
        factors = form[0].factors
        length = any(kinds[number] in LENGTHS for number, _ in factors)
        found[name] = rate_unit("m" if length else "rad", sum(order for _, order in factors))
    return found


def model_units(
    position: Rest, coordinates: Sequence[str], inputs: Sequence[str], outputs: Sequence[str], internal: int
) -> Units:
    """Of a model of the mechanism in some coordinates, the last `internal` of them modes of unit mass.

    An arclength is in rad where all θ are angles, else in m; what else is not θ is a displacement, `place.axis`.
    """
    known = units_of(position)
    arc = "rad" if set(known.coordinates.values()) == {"rad"} else "m"
    shapes = len(coordinates) - internal

    def unit(name: str) -> str:
        if name == ARCLENGTH:
            return arc
        turned = "rad" if name.rpartition(".")[2] in _TURNS else "m"
        return known.coordinates.get(name) or known.outputs.get(name, turned)

    return Units(
        {name: unit(name) if i < shapes else MODAL for i, name in enumerate(coordinates)},
        {name: known.inputs.get(name) or force(unit(name)) for name in inputs},
        {name: known.outputs.get(name) or unit(name.removesuffix(".coordinate")) for name in outputs},
    )
