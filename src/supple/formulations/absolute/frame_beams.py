"""The beam elements of a mechanism between its frames, with the damping that its description gives them."""

from __future__ import annotations

import numpy as np

from supple.formulations.absolute.beams.beam_arrays import BeamArrays, BodyBeams, beam_arrays
from supple.formulations.absolute.frames import Frames
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
        laws = [
            mechanism.damping,
            *(mechanism.materials[beam.material].damping for beam in mechanism.bodies[mesh.name].all_beams),
        ]
        given = np.array([(0.0, 0.0) if law is None or law.rayleigh is None else law.rayleigh for law in laws])
        alpha, beta = (given[0] + given[1:]).T
        found.append(BodyBeams(meshed.spans, meshed.mesh, int(first), alpha, beta))
    return beam_arrays(found, mechanism.planar)
