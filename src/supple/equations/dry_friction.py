"""Dry friction: its model, for everybody who moves something.

    f_d = -F tanh(ℓ̇ / v₀)

along a joint coordinate ℓ, against its rate. F does not depend on load. v₀ (`friction_speed`) is the speed over which
the sign is rounded off, in the unit of the rate, rad/s or m/s: a property of the contact, not of the mechanism around
it (docs/theory/simulation.md).
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel

FRICTION_SPEED = 1e-3
"""v₀ where none is given, rad/s or m/s."""
_LEAST = 1e-300


@kernel
def dry_friction(force, slip, speed):
    """F tanh(ℓ̇ / v₀), what friction takes away, and its slope (F / v₀) (1 - tanh²) with ℓ̇.

    Numbers, or arrays that fit one another. speed = 0 : the sign itself, with slope 0 where it slides
    """
    steep = 1.0 / max(speed, _LEAST)
    part = np.tanh(slip * steep)
    return force * part, force * steep * (1.0 - part * part)
