"""Modes of vibration of a mechanism, at one configuration or many."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from supple.formulations.elastic_rest.elastic_rest import ElasticRest, Held
from supple.kinematics.configuration import Configuration

if TYPE_CHECKING:
    from supple.analyses.mode_energy import ModeEnergy

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ModeSet:
    """Natural frequencies and shapes. In a batch every array has a leading axis (N, ...).

    frequencies_hz : (k,) rising
    shapes         : (k, n) in the coordinates z of `rest`, of unit modal mass
    """

    configuration: Configuration
    frequencies_hz: Array
    shapes: Array = field(repr=False)
    rest: ElasticRest = field(repr=False)
    held: Held = field(repr=False)

    def __len__(self) -> int:
        return self.frequencies_hz.shape[-1]

    def displacements(self, body: str) -> Array:
        """Of all degrees of freedom of a body's nodes, in its axes, for each mode: (..., k, degrees)."""
        numbering = self.rest.numbering
        found = self.rest.bodies[numbering.body_index(body)]
        return self.shapes[..., found.start : found.stop] @ found.shapes.T

    @cached_property
    def energy(self) -> ModeEnergy:
        """Where the energy of each mode is: in which bodies and joints, and along what."""
        from supple.analyses.mode_energy import mode_energy

        return mode_energy(self)

    @property
    def descriptions(self) -> list[str]:
        """Each mode in words: which bodies move, in or out of the plane, where its elastic energy is."""
        return self.energy.words()

    def mac(self, other: ModeSet) -> Array:
        """Modal assurance criterion (..., k, k') |φᵀM φ'|² / (φᵀMφ · φ'ᵀMφ') in the axes of the bodies."""
        from supple.analyses.mac import mac

        return mac(self.shapes, other.shapes)

    def plot(self, **options: Any) -> Any:
        """Draw the shapes (matplotlib)."""
        from supple.analyses.mode_sketch import mode_sketch

        return mode_sketch(self, **options)
