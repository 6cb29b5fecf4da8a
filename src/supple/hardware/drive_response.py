"""Frequency responses of drives and instruments, with exact delays (docs/theory/frequency-response.md, eqs. 14-15).

θ_s / c = C (iω - A)⁻¹ B e^{-iωT}                                                            of motion drives
f / c   = (C (iω - A)⁻¹ B + D) e^{-iωT},   or (k + iω c_v) θ_s / c with stiffness
-f / θ  = iω (c_v - C (iω - A)⁻¹ E),       or k + iω c_v with stiffness
"""

from __future__ import annotations

import numpy as np

from supple.array_types import Array, Complex
from supple.diagnostics import InputError
from supple.hardware.drive_block import DriveBlock
from supple.hardware.instrument import Instrument


def motion_response(block: DriveBlock, omega: Array) -> Complex:
    """Return θ_s for a unit command at ω (L,), rad/s."""
    if (omega == 0.0).any() and block.order and np.linalg.matrix_rank(block.A) < block.order:
        raise InputError(
            f"the response of its {block.kind} drive at 0 Hz is infinite", part=f'input "{block.actuator}"',
            hint="begin above 0 Hz",
        )  # fmt: skip
    return np.asarray(_through(block, block.B, omega) * np.exp(-1j * omega * block.delay))


def force_response(block: DriveBlock, omega: Array) -> Complex:
    """Return f for a unit command at ω (L,), of a drive that does not prescribe its coordinate."""
    if block.moves:
        assert block.stiffness is not None
        return np.asarray((block.stiffness + 1j * omega * block.damping) * motion_response(block, omega))
    return np.asarray((_through(block, block.B, omega) + block.D) * np.exp(-1j * omega * block.delay))


def impedance(block: DriveBlock, omega: Array) -> Complex:
    """Return the dynamic stiffness of a drive that does not prescribe its coordinate, N/m or N m/rad, at ω (L,)."""
    if block.moves:
        assert block.stiffness is not None
        return np.asarray(block.stiffness + 1j * omega * block.damping)
    return np.asarray(1j * omega * (block.damping - _through(block, block.E, omega)))


def instrument_response(instrument: Instrument, omega: Array) -> Complex:
    """Return the reading for a unit of the true output at ω (L,)."""
    found = np.exp(-1j * omega * instrument.delay)
    if instrument.frequency is not None:
        x = 1j * omega / (2.0 * np.pi * instrument.frequency)
        found = found / (1.0 + x if instrument.damping is None else 1.0 + 2.0 * instrument.damping * x + x * x)
    return np.asarray(found)


def _through(block: DriveBlock, inlet: Array, omega: Array) -> Complex:
    """Return C (iω - A)⁻¹ b (L,)."""
    if not block.order or not inlet.any():
        return np.zeros(len(omega), dtype=np.complex128)
    shift = 1j * omega[:, None, None] * np.eye(block.order)
    return np.asarray(np.linalg.solve(shift - block.A, inlet[None, :, None].astype(complex))[..., 0] @ block.C)
