"""Responses of structures whose modes are known, with noise: what estimators of modal parameters are held against."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

import supple
from supple.modal_analysis.mode_set import mac

MEASURED = {"receptance": ("displacement", 0), "mobility": ("velocity", 1), "accelerance": ("acceleration", 2)}


class Known(NamedTuple):
    """frequencies_hz (R,), damping (R,), shapes (R, outputs) of unit modal mass, references: the first outputs."""

    frequencies_hz: np.ndarray
    damping: np.ndarray
    shapes: np.ndarray
    references: int

    @property
    def poles(self):
        omega = 2.0 * np.pi * self.frequencies_hz
        return omega * (-self.damping + 1j * np.sqrt(1.0 - self.damping**2))

    def receptance(self, hertz):
        """Σ φ φᵀ / (ω_r² - ω² + 2iζ ω_r ω), written from the equations of motion, not from poles."""
        omega, own = 2.0 * np.pi * hertz[:, None], 2.0 * np.pi * self.frequencies_hz
        g = 1.0 / (own**2 - omega**2 + 2j * self.damping * own * omega)
        return np.einsum("kr,ro,ri->koi", g, self.shapes, self.shapes[:, : self.references])

    def measured(self, hertz, noise=0.0, seed=0, *, kind="accelerance", relative=True, **about):
        """As a test would have it; noise of `noise` times |H| of each line, or of the RMS of each response."""
        quantity, times = MEASURED[kind]
        H = self.receptance(hertz) * (2j * np.pi * hertz)[:, None, None] ** times
        rng = np.random.default_rng(seed)
        e = (rng.standard_normal(H.shape) + 1j * rng.standard_normal(H.shape)) / np.sqrt(2.0)
        H = H + noise * e * (np.abs(H) if relative else np.sqrt((np.abs(H) ** 2).mean(axis=0)))
        names = [f"p{i}" for i in range(self.shapes.shape[1])]
        return supple.Responses(
            hertz, [supple.Channel(name, "z", quantity) for name in names],
            [supple.Channel(name, "z", "force") for name in names[: self.references]], H, **about,
        )  # fmt: skip


def twenty_modes(seed, references=3, outputs=16):
    """Twenty modes from 13 to 190 Hz, four pairs of them 0.5 % apart, damping from 0.1 to 10 %."""
    rng = np.random.default_rng(seed)
    single = np.linspace(13.0, 190.0, 16)
    single = single + rng.uniform(-0.25, 0.25, 16) * (single[1] - single[0])
    doubled = single[rng.choice(16, 4, replace=False)] * 1.005
    damping = 10.0 ** rng.uniform(-3.0, -1.0, 20)
    damping[rng.choice(20, 2, replace=False)] = 0.001, 0.1  # both ends are there, whatever was drawn
    order = np.argsort(np.r_[single, doubled])
    return Known(np.r_[single, doubled][order], damping, rng.standard_normal((20, outputs)), references)


def few_modes(references=1):
    """Four modes, two of them neighbours, at six places."""
    shapes = np.random.default_rng(1).standard_normal((4, 6))
    return Known(np.array([20.0, 33.0, 35.0, 60.0]), np.array([0.01, 0.02, 0.015, 0.05]), shapes, references)


def matched(known, found):
    """Of every known mode the found one, by the least sum of relative distances of poles and of shapes."""
    far = np.abs(known.poles[:, None] - found.poles) / np.abs(known.poles)[:, None]
    unlike = 1.0 - mac(known.shapes, found.shapes)
    return linear_sum_assignment(np.minimum(far / 0.01, 10.0) + unlike)[1]
