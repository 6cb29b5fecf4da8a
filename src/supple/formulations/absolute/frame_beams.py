"""The beam elements and superelements of a mechanism between its frames, with the damping that its description gives
them."""

from __future__ import annotations

import numpy as np

from supple.formulations.absolute.beams.beam_arrays import BeamArrays, BodyBeams, beam_arrays
from supple.formulations.absolute.frames import Frames
from supple.formulations.absolute.superelements.superelement_arrays import SuperelementArrays, superelement_arrays
from supple.formulations.absolute.time_damping import time_damping
from supple.formulations.elastic.elastic_body import meshed_beams


def frame_beams(frames: Frames) -> BeamArrays:
    """All of them, body after body."""
    numbering = frames.numbering
    mechanism = numbering.mechanism
    found = []
    for first, mesh in zip(frames.first, frames.meshes, strict=False):
        if mesh is None:
            continue
        meshed = meshed_beams(numbering.drawing, mesh.name)
        damping = time_damping(mechanism)
        alpha, beta = np.array([damping.of(beam.material) for beam in mechanism.bodies[mesh.name].all_beams]).T
        found.append(BodyBeams(meshed.spans, meshed.mesh, int(first), alpha, beta))
    return beam_arrays(found, mechanism.planar)


def frame_superelements(frames: Frames) -> SuperelementArrays:
    """All of them, body after body; damping in proportion to mass is that of the whole mechanism (`SystemArrays`)."""
    mechanism = frames.numbering.mechanism
    beta = time_damping(mechanism).whole[1] if frames.superelements else 0.0
    placed = [item._replace(damping=beta * item.body.K) for item in frames.superelements]
    return superelement_arrays(placed, mechanism.planar)
