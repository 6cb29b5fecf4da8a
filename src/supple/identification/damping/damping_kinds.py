"""All kinds of damping that can be fitted to responses, by name: the built-in and the registered ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.identification.damping.damping_kind import DampingKind, DampingNumber, Numbers, Path, TestedSystem
from supple.identification.damping.loss_factors import JOINTS, MATERIALS
from supple.identification.updating.posture_model import PostureModes
from supple.kinds import Registry

# Models of the whole mechanism: structural, Rayleigh, and a ratio for each mode in the band.


DAMPING_PATH: Path = ("damping",)
_APART = 0.02  # of a frequency: modes that are closer share their ratio, as in `damping: {modal: ...}`


def _without(mechanism: Mechanism, numbers: Numbers) -> Mechanism:
    return mechanism.replace(damping=None)


def _rayleigh(spectrum: PostureModes, numbers: Numbers, k: int) -> Array:
    """Return the matrices of αM and βK."""
    return spectrum.mu if k == 0 else np.ones(len(spectrum.mu))


def _knots(tested: TestedSystem) -> Numbers:
    """Return the distinct frequencies of all postures within the band; those closer than 2 % are merged."""
    low, high = tested.band
    hertz = np.sort(np.concatenate([spectrum.level_hertz() for spectrum in tested.spectra]))
    kept: list[list[float]] = []
    for f in hertz[(hertz >= low) & (hertz <= high)]:
        if kept and f <= (1.0 + _APART) * kept[-1][0]:
            kept[-1].append(float(f))
        else:
            kept.append([float(f)])
    means = [float(np.mean(group)) for group in kept] or [float(hertz[0])]
    return tuple(DampingNumber(f"damping.{f:.4g}Hz", hertz=float(f"{f:.6g}")) for f in means)


def _ratio(spectrum: PostureModes, numbers: Numbers, k: int) -> Array:
    """Return 2 w_k(f) √μ, w_k linear between its neighbours: D = 2 M^½ ζ(Ω) Ω M^½ with ζ(f) = Σ_k ζ_k w_k(f)."""
    knots = [item.hertz for item in numbers]
    share = np.interp(spectrum.hertz, knots, np.eye(len(knots))[k])
    return np.asarray(2.0 * share * np.sqrt(spectrum.mu))


def _ratios(numbers: Numbers, values: Array) -> dict[Path, Any]:
    listed = [{"frequency": item.hertz, "ratio": float(value)} for item, value in zip(numbers, values, strict=True)]
    return {DAMPING_PATH: {"modal": listed}}


STRUCTURAL = DampingKind(
    "structural", "One loss factor η for all elastic parts.", hysteretic=True, law=True,
    numbers=lambda tested: (DampingNumber("damping.eta"),),
    over=lambda spectrum, numbers, k: np.ones(len(spectrum.mu)),
    like=lambda eta, omega, k: eta,
    without=_without,
    written=lambda numbers, values: {DAMPING_PATH: {"structural": float(values[0])}},
)  # fmt: skip
RAYLEIGH = DampingKind(
    "rayleigh", "Rayleigh damping αM + βK.", hysteretic=False, law=True,
    numbers=lambda tested: (DampingNumber("damping.alpha"), DampingNumber("damping.beta")),
    over=_rayleigh,
    like=lambda eta, omega, k: 0.5 * eta * omega if k == 0 else 0.5 * eta / omega,
    without=_without,
    written=lambda numbers, values: {DAMPING_PATH: {"rayleigh": [float(value) for value in values]}},
)  # fmt: skip
MODAL = DampingKind(
    "modal", "A damping ratio ζ for each mode in the band, linear in frequency between them.",
    hysteretic=False, law=True,
    numbers=_knots,
    over=_ratio,
    like=lambda eta, omega, k: 0.5 * eta,
    without=_without,
    written=_ratios,
)  # fmt: skip


DAMPING_KINDS = Registry("damping", DampingKind, STRUCTURAL, RAYLEIGH, MODAL, JOINTS, MATERIALS)
