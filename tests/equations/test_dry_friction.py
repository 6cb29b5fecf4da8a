"""Dry friction: odd, bounded, steepest at rest; its slope is its derivative; without a speed it is Coulomb's."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from supple.compilation import compile_kernel
from supple.equations.forces import dry_friction

FORCE, SPEED = 2.5, 0.04
SLIPS = np.linspace(-0.2, 0.2, 41)


def test_it_is_odd_full_at_speed_and_slopes_as_it_changes():
    drag, slope = dry_friction(FORCE, SLIPS, SPEED)
    assert_allclose(drag, -drag[::-1], atol=1e-15)
    assert_allclose(dry_friction(FORCE, 2.0 * SPEED, SPEED)[0], 0.964 * FORCE, rtol=1e-4)  # full to 4 % at 2 v₀
    step = 1e-6
    by_difference = (dry_friction(FORCE, SLIPS + step, SPEED)[0] - dry_friction(FORCE, SLIPS - step, SPEED)[0]) / 2e-6
    assert_allclose(slope, by_difference, atol=1e-7 * FORCE / SPEED)  # h²/6 f''' is 1e-10 of it, rounding 1e-9
    assert slope.max() == slope[20] == FORCE / SPEED


def test_without_a_speed_it_is_the_sign():
    drag, slope = dry_friction(FORCE, np.array([-1e-9, 0.0, 3.0]), 0.0)
    assert_allclose(drag, [-FORCE, 0.0, FORCE], rtol=0.0, atol=0.0)
    assert slope[0] == slope[2] == 0.0


def test_native_code_gives_the_same():
    for slip in (-0.1, 0.0, 0.03):
        assert_allclose(compile_kernel(dry_friction)(FORCE, slip, SPEED), dry_friction(FORCE, slip, SPEED), rtol=1e-14)
