"""Poles of the damped model, to be compared with measured ones: |s| of a mode over its undamped ω.

    viscous damping  |s| = ω,      structural damping  s² = -ω²(1 + iη), |s| = ω (1 - 2ζ²)^-½     (updating, eq. 38)

ζ = -Re s/|s| is the measured one, mode by mode, so that no law of damping has to hold for all of them. Dampers and
losses of parts couple modes besides; what that does to |s| is the file's.
"""

from __future__ import annotations

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.identification.damping.damped_responses import already_there
from supple.identification.updating.posture_model import Spectrum

_FASTEST = 1e-24  # s²: modes beyond 1e11 Hz answer as springs


def structural_share(mechanism: Mechanism) -> float | None:
    """The share of structural damping, 0 or 1, as the file says; None if it has no damping, or both kinds."""
    laws = [mechanism.damping, *(item.damping for item in mechanism.materials.values())]
    said = {float(law.structural is not None) for law in laws if law is not None}
    said |= {1.0 for joint in mechanism.joints.values() if joint.elastic_loss}
    said |= {0.0 for _ in mechanism.dampers}
    return said.pop() if len(said) == 1 else None


def magnitudes(damping: Array, share: float) -> Array:
    """|s|/ω of modes with damping ratios ζ (k,): (1 - 2 share ζ²)^-½."""
    return np.asarray(1.0 / np.sqrt(np.maximum(1.0 - 2.0 * share * np.square(damping), 0.1)))


def coupling_magnitudes(spectrum: Spectrum) -> Array:
    """(m,) |s|/ω of modes over that of the same damping ratios in proportion: what dampers and losses of parts do.

    (μs² + D s + 1 + iH) v = 0 over all modes; a pole belongs to the mode that is most of its shape.
    """
    count = len(spectrum.mu)
    if all(part.ndim == 1 for part in already_there(spectrum)):
        return np.ones(count)
    every = spectrum.model.spectrum(spectrum.trial)  # stiff modes follow the loss of a part as well
    H, D = (np.diag(part) if part.ndim == 1 else part for part in already_there(every))
    H = H + _changed_losses(every)
    omega, m = 1.0 / np.sqrt(np.maximum(every.mu, _FASTEST)), len(every.mu)
    stiff, viscous = omega[:, None] * (np.eye(m) + 1j * H) * omega, omega[:, None] * D * omega
    s, V = np.linalg.eig(np.block([[np.zeros((m, m)), np.eye(m)], [-stiff, -viscous]]))
    upper = s.imag > 0.0
    s, V = s[upper], np.abs(V[:m, upper]) ** 2
    V = V / np.maximum(V.sum(axis=0), np.finfo(float).tiny)
    own = V[:count].argmax(axis=1)  # of each mode the pole that it has most of
    found = s[own]
    zeta = -found.real / np.abs(found)
    lost, slowed = np.diag(H)[:count], np.diag(D)[:count] * omega[:count]
    share = lost / np.maximum(lost + slowed, np.finfo(float).tiny)
    ratio = np.abs(found) / omega[:count] * np.sqrt(np.maximum(1.0 - 2.0 * share * np.square(zeta), 0.1))
    once = np.bincount(own, minlength=len(s))[own] == 1  # modes that are damped away or mixed have no pole of their own
    return np.asarray(np.where(once, ratio, 1.0))


def _changed_losses(spectrum: Spectrum) -> Array:
    """(m, m) Σ η (k - k₀) of what loses in proportion to a stiffness that the trial changes: joints, drives, bodies."""
    model, trial, psi = spectrum.model, spectrum.trial, spectrum.psi
    rest, described = model.structure.rest, model.structure.mechanism
    found = np.zeros((len(spectrum.mu), len(spectrum.mu)))
    soft = [rest.elastic_rows.get(int(row)) for row in model.structure.soft]
    eta = np.array([item.loss if item is not None else 0.0 for item in soft])
    if eta.any():
        C = model.C @ psi
        found += C.T @ ((eta * (model.springs(trial).values - model.before))[:, None] * C)
    for drive in rest.drives.values():
        if drive.loss and drive.column in trial.columns:
            u = model.N[drive.column] @ psi
            found += drive.loss * trial.columns[drive.column][0] * np.outer(u, u)
    for b, change in trial.bodies.items():
        body = rest.bodies[b]
        laws = [described.materials[beam.material].damping for beam in described.bodies[body.name].all_beams]
        lost = {(law.structural or 0.0) if law is not None else 0.0 for law in laws}
        if len(lost) == 1 and max(lost):  # of a body of several materials the change is not told apart
            part = model.N[body.start : body.stop] @ psi
            found += max(lost) * (part.T @ change.K @ part)
    return found
