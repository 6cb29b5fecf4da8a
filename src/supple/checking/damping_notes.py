"""Damping that simulating a mechanism takes in another way than its linear and reduced models, as `check` says."""

from __future__ import annotations

from supple.description.elastic.damping import BRAKES
from supple.description.mechanism import Mechanism
from supple.formulations.absolute.time_damping import unled

_REPLACED = (
    "its damping of modes, or its loss factor, is that of modes, responses, linear and reduced models; simulating the "
    "mechanism itself takes damping in proportion to stiffness instead, the same for the lowest mode and more above"
)


def damping_notes(mechanism: Mechanism) -> tuple[str, ...]:
    """One sentence for each law of damping that is not the same in time; none where all are."""
    if not mechanism.elastic:
        return ()
    laws = [mechanism.damping, *(item.damping for item in mechanism.materials.values())]
    given = [law for law in laws if law is not None]
    by_mass = max((law.rayleigh[0] for law in given if law.rayleigh is not None), default=0.0)
    said: tuple[str, ...] = (BRAKES.format(by_mass),) if by_mass and unled(mechanism) else ()
    if any(joint.elastic_loss for joint in mechanism.joints.values()) or any(law.rayleigh is None for law in given):
        said += (_REPLACED,)
    return said
