"""The low-pass of an instrument, and the same from sample to sample."""

from __future__ import annotations

from supple.array_types import Array
from supple.hardware.instrument import Instrument
from supple.hardware.servos import servo
from supple.hardware.state_space import first_order_hold


def low_pass_matrices(instrument: Instrument) -> tuple[Array, Array]:
    """A (k, k) and B (k,) of ẋ = A x + B u, the reading x[0]; k is 0, 1 or 2.

    First order: ẋ = ω (u - x). Second order: ẍ + 2 ζ ω ẋ + ω² x = ω² u.
    """
    block = servo(1.0, instrument.frequency, instrument.damping)
    return block.A, block.B


def sampled_low_pass(instrument: Instrument, sample_time: float) -> tuple[Array, Array, Array]:
    """Φ, Γ₀, Γ₁ of x⁺ = Φ x + Γ₀ u + Γ₁ u⁺, exact where the input is linear between samples."""
    return first_order_hold(*low_pass_matrices(instrument), sample_time)
