"""The verb `check`: what supple understands of a mechanism, its elastic bodies divided into elements and judged too."""

from __future__ import annotations

from dataclasses import replace

from supple.checking.damping_notes import damping_notes
from supple.checking.usual_values import unusual_values
from supple.description.mechanism import Mechanism
from supple.diagnostics import SuppleError
from supple.diagnostics.arguments import require_arguments
from supple.formats.source import located
from supple.kinematics.inspection import Inspection, inspect
from supple.kinematics.rest import rest


def check(mechanism: Mechanism) -> Inspection:
    """Assemble the mechanism at rest, make its elastic bodies, and report what it is.

    Parameters
    ----------
    mechanism : Mechanism

    Returns
    -------
    Inspection
        Parts, loops, mobility; sections with their area and mass per metre; `notes` with what deserves a second look,
        among it numbers that are allowed and unusual. A mistake raises an `InputError`.
    """
    require_arguments(check, locals())
    found = _with_hardware(inspect(mechanism), mechanism)
    found = replace(found, notes=(*found.notes, *unusual_values(mechanism), *damping_notes(mechanism)))
    if found.elastic_bodies:
        # Sparse matrices take a while to import; a rigid mechanism does without.
        from supple.formulations.absolute.superelements.floating_modes import modal_body
        from supple.formulations.elastic.elastic_body import elastic_body

        drawing = rest(mechanism).numbering.drawing
        try:
            for part in found.elastic_bodies:
                if modal_body(drawing, part.name) is None:
                    elastic_body(drawing, part.name)
        except SuppleError as error:
            raise located(error, mechanism) from None
    return found


def _with_hardware(found: Inspection, mechanism: Mechanism) -> Inspection:
    driven = any(item.drive is not None for item in mechanism.actuators.values())
    if not driven and all(item.exact for item in mechanism.sensors.values()):
        return found
    from supple.formulations.hardware import hardware_of

    try:
        known = hardware_of(mechanism)
    except SuppleError as error:
        raise located(error, mechanism) from None
    drives = {block.actuator: block.said.partition(": ")[2] for block in known.drives}
    return replace(found, drives=drives, instruments={item.output: item.said for item in known.instruments})
