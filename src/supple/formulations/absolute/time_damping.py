"""Damping of elastic parts as motion in time can have it: in proportion to mass and stiffness.

α of the mechanism acts on all that has mass, elements, point masses and rigid bodies, and β on all that is elastic,
elements, joints and drives: with its actuators locked every mode has α/2ω + βω/2, as in every other analysis. α and β
of a material act on its elements. α acts on the velocity of deformation alone (`mass_damping`), as in reduced models.

A ratio of the mechanism's modes, or a loss factor, is a model of the whole structure at one θ (docs/theory/damping.md).
In large motion the nearest model of elements takes its place,

    β = 2 ζ(ω₁)/ω₁,   β = η/ω₁,   β_j = η_j/ω₁                            (docs/theory/superelements-in-motion.md, 13)

exact for the lowest mode at rest, its actuators locked; faster modes are damped more, in proportion to their frequency.
What was done is said.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from supple.description.elastic.damping import BRAKES, Damping
from supple.description.mechanism import Mechanism
from supple.diagnostics import SuppleNote
from supple.formulations.elastic_rest.body_coordinates import own_band
from supple.formulations.elastic_rest.dense import dense_modes
from supple.formulations.elastic_rest.elastic_rest import elastic_rest
from supple.kinematics.closure import assemble
from supple.kinematics.rest import rest

Rayleigh = tuple[float, float]


class TimeDamping(NamedTuple):
    """α (1/s) and β (s) of the whole mechanism, and of each material beside it, β of joints with a loss factor; said :
    how, where that is not the damping model of the description itself, or ""."""

    whole: Rayleigh
    materials: dict[str, Rayleigh]
    said: str
    joints: Mapping[str, float] = MappingProxyType({})

    def beside(self, joint: str) -> float:
        """β of the stiffnesses of a joint and of its drive, s."""
        return self.whole[1] + self.joints.get(joint, 0.0)

    def of(self, material: str) -> Rayleigh:
        """Of the elements that are made of a material; α of the whole is that of all that has mass, and not here."""
        own = self.materials[material]
        return own[0], self.whole[1] + own[1]


def time_damping(mechanism: Mechanism) -> TimeDamping:
    """The damping model in time, found once."""
    return mechanism.remembered("damping in time", lambda: _nearest(mechanism))


def mass_damping_factor(mechanism: Mechanism) -> float:
    """α of the mechanism, 1/s: of all that has mass in it, elements, point masses and rigid bodies alike."""
    model = mechanism.damping
    return float(model.rayleigh[0]) if model is not None and model.rayleigh is not None else 0.0


def unled(mechanism: Mechanism) -> bool:
    """Whether it moves as a whole without coordinates that say how."""
    position = rest(mechanism)
    return position.mobility.mobility > len(position.numbering.coordinates)


def say_damping(mechanism: Mechanism, rigid: bool, stacklevel: int = 3) -> str:
    """How damping is taken in time, "" where nothing differs from the description; a SuppleNote says it."""
    found = "" if rigid or not mechanism.elastic else time_damping(mechanism).said
    if found:
        warnings.warn(f'mechanism "{mechanism.name}": {found}', SuppleNote, stacklevel=stacklevel)
    return found


def _nearest(mechanism: Mechanism) -> TimeDamping:
    given = {"": mechanism.damping, **{name: item.damping for name, item in mechanism.materials.items()}}
    models = {name: model for name, model in given.items() if model is not None}
    losses = {name: float(joint.elastic_loss) for name, joint in mechanism.joints.items() if joint.elastic_loss}
    if not losses and all(model.rayleigh is not None for model in models.values()):
        exact = {name: model.rayleigh or (0.0, 0.0) for name, model in models.items()}
        by_mass = max((alpha for alpha, _ in exact.values()), default=0.0)
        return TimeDamping(
            exact.get("", (0.0, 0.0)),
            {name: exact.get(name, (0.0, 0.0)) for name in mechanism.materials},
            BRAKES.format(by_mass) if by_mass and unled(mechanism) else "",
        )
    hertz = _lowest_hz(mechanism)
    found = {name: _at(model, hertz) for name, model in models.items()}
    of_joints = {name: loss / (2.0 * np.pi * hertz) for name, loss in losses.items()}
    beta = max([beta for _, beta in found.values()] + list(of_joints.values()))
    ratio = 100.0 * np.pi * hertz * beta
    said = (
        f"its damping is no sum over elements; in time it is in proportion to stiffness, {ratio:.3g} % of "
        f"critical at the lowest mode ({hertz:.4g} Hz) and more above; give "
        f"damping: {{rayleigh: [0, {beta:.3g}]}} if that is meant"
    )
    return TimeDamping(
        found.get("", (0.0, 0.0)), {name: found.get(name, (0.0, 0.0)) for name in mechanism.materials}, said, of_joints
    )


def _at(model: Damping, hertz: float) -> Rayleigh:
    """The damping of elements that is as much at a frequency."""
    if model.rayleigh is not None:
        return model.rayleigh
    ratio = 0.5 * model.structural if model.structural is not None else float(model.ratios(np.array([hertz]))[0])
    return 0.0, ratio / (np.pi * hertz)


def _lowest_hz(mechanism: Mechanism) -> float:
    """Of the mechanism at rest with its actuators locked."""
    structure = elastic_rest(mechanism, own_band(mechanism))
    squares, _ = dense_modes(structure, assemble(mechanism), structure.held(actuators=True), preload=False)
    return float(np.sqrt(squares[squares > 0.0].min())) / (2.0 * np.pi)
