"""Modes in words: which bodies move, in or out of the plane, and where the elastic energy is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from supple.diagnostics import InputError

if TYPE_CHECKING:
    from supple.modal_analysis.mode_energy import ModeEnergy

_SHOWN = 0.05  # a smaller share is not named
_NAMED = 3  # at most so many parts in a list
_PURE = 0.98  # in the plane, or out of it, altogether
_MOSTLY = 0.6  # of the translation along one axis
_TWISTED = 0.95  # of a body's elastic energy in torsion: torsion altogether


def mode_words(energy: ModeEnergy) -> list[str]:
    """A sentence for every mode of one configuration, as

    out of the plane; coupler 71 % and follower 26 % of the motion; crank 64 % (torsion) and coupler 30 % of the
    deformation
    """
    if energy.frequencies_hz.ndim != 1:
        raise InputError(
            f"words are for the modes of one configuration, and there are {len(energy.frequencies_hz)}",
            hint="ask for the modes at one of them",
        )
    return [_sentence(energy, i) for i in range(len(energy.frequencies_hz))]


def _sentence(energy: ModeEnergy, i: int) -> str:
    moving = {name: values[i] for name, values in energy.kinetic.items()}
    moving |= {f'motor of "{name}"': values[i] for name, values in energy.motors.items()}
    parts = [_direction(energy, i), f"{_listed(moving)} of the motion"]
    deformed = {name: values[i] for name, values in energy.strain.items()}
    twisted = {name: float(values[i]) for name, values in energy.torsion.items()}
    deformed |= {f'joint "{name}"': values[i] for name, values in energy.joints.items()}
    deformed |= {f'spring "{name}"': values[i] for name, values in energy.springs.items()}
    deformed |= {f'coupling "{name}"': values[i] for name, values in energy.couplings.items()}
    if energy.free[i]:
        parts.append("nothing resists it")
    elif energy.frequencies_hz[i] < 0.0:
        parts.append("it falls away: the forces at rest do not hold it")
    else:
        elastic = float(energy.elastic[i])
        if elastic > _SHOWN:
            parts.append(f"{_listed(deformed, twisted)} of the deformation")
        if abs(1.0 - elastic) > _SHOWN:
            parts.append(f"{1.0 - elastic:.0%} of its stiffness from gravity and the forces at rest".replace("%", " %"))
    return "; ".join(part for part in parts if part)


def _listed(shares: dict[str, float], torsion: dict[str, float] | None = None) -> str:
    """`coupler 71 % (torsion) and follower 26 %`: the largest first, small ones left out."""
    order = sorted(shares, key=lambda name: -shares[name])
    named = [name for name in order if shares[name] >= _SHOWN][:_NAMED] or order[:1]
    texts = [f"{name} {100.0 * shares[name]:.0f} %{_twist((torsion or {}).get(name, 0.0))}" for name in named]
    return texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + " and " + texts[-1]


def _twist(share: float) -> str:
    """How much of a body's deformation is torsion; bending and stretching go without saying."""
    if share < _SHOWN:
        return ""
    return " (torsion)" if share > _TWISTED else f" ({100.0 * share:.0f} % of it torsion)"


def _direction(energy: ModeEnergy, i: int) -> str:
    if energy.out_of_plane is not None:
        out = float(energy.out_of_plane[i])
        if out > _PURE:
            return "out of the plane"
        return "in the plane" if out < 1.0 - _PURE else f"{100.0 * out:.0f} % out of the plane"
    along = energy.along[i]
    if not along.any():
        return "turning in place"
    axis = int(np.argmax(along))
    if along[axis] < _MOSTLY:
        return "in all directions" if energy.plane is None else "in the plane"
    return f"mostly along {'xyz'[axis]}"
