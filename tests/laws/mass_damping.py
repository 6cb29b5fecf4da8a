"""Law: damping in proportion to mass, α, acts on deformation alone, in time as in reduced models.

    python tests/laws/mass_damping.py --machines 12 --seed 0

On random elastic mechanisms with closed loops, redundant joints and elastic hinges (`elastic_mechanisms.py`):

1. With actuators locked every mode of the full equations has ζ = α/2ω.
2. With free actuators its modes have the ratios of the local model, which reduced models are fitted to: to first order
   in α, ζ = φᵀDφ/(2ω), more than α/2ω.
3. A rigid motion loses no energy: P Ψ θ̇ = 0.
"""

from __future__ import annotations

import argparse
import sys
from typing import NamedTuple

import numpy as np
from elastic_mechanisms import loop, spatial

import supple
from supple.formulations.absolute.system import absolute
from supple.formulations.absolute.time_damping import deformation_velocity_batch, projection
from supple.kinematics.rest import rest

ALPHA = 1.0  # 1/s
MODES = 14  # of the local model
LOCKED, FREE, RIGID = 1e-5, 1e-3, 1e-10  # differences of poles; modes left out of the local model; rounding


class Found(NamedTuple):
    """Largest relative differences: of ratios with locked actuators and free ones; share of a rigid motion that counts
    as deformation."""

    name: str
    locked: float
    free: float
    rigid: float


def machine(kind: str, seed: int) -> supple.Mechanism:
    """Without loads: what loads add to the stiffness is another law's."""
    parts = {"loop": loop, "spatial": spatial}[kind](seed)
    del parts["gravity"]
    return supple.Mechanism(**parts, damping={"rayleigh": [ALPHA, 0.0]})


def free_ratios(mechanism: supple.Mechanism, count: int) -> np.ndarray:
    """ζ of the lowest modes of the local model that oscillate, θ free: to first order in D."""
    local = supple.local(mechanism, internal_modes=MODES)
    s = len(local.M) - MODES
    K, D = np.zeros_like(local.M), np.zeros_like(local.M)
    K[s:, s:], D[s:, s:] = local.K[s:, s:], local.damping[s:, s:]
    states = np.block([[0.0 * K, np.eye(len(K))], [-np.linalg.solve(local.M, K), -np.linalg.solve(local.M, D)]])
    poles = np.linalg.eigvals(states)
    poles = poles[poles.imag > 1.0]
    return (-poles.real / np.abs(poles))[np.argsort(np.abs(poles))][:count]


def compared(kind: str, seed: int, count: int = 2) -> Found:
    made = machine(kind, seed)
    held = supple.small_motions(made, count=count)
    expected = ALPHA / (2.0 * 2.0 * np.pi * held.frequencies_hz)
    s = len(rest(made).numbering.coordinates)
    loose = supple.small_motions(made, count=count + 2 * s, free_actuators=True)
    chosen = loose.frequencies_hz > 0.1  # a rigid motion is two roots at zero, but for rounding
    ratios = free_ratios(made, count)
    return Found(
        f"{kind} {seed}",
        float(np.abs(held.damping_ratios / expected - 1.0).max()),
        float(np.abs(loose.damping_ratios[chosen][:count] / ratios - 1.0).max()),
        rigid_share(made),
    )


def rigid_share(mechanism: supple.Mechanism) -> float:
    """Largest |P Ψ| / |Ψ| over θ at rest."""
    position = rest(mechanism)
    problem = absolute(position)
    X, column = problem.frames.poses(position.X), problem.system.rows.column
    Psi, _ = projection(problem, X)
    V = np.ascontiguousarray(Psi.T).reshape(Psi.shape[1], -1, len(column))
    units = np.where(column < 3, problem.system.rows.extent, 1.0)
    left = deformation_velocity_batch(problem, np.repeat(X[None], len(V), axis=0), V)
    return float(np.abs(left / units).max() / np.abs(V / units).max())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    found = [compared(("loop", "spatial")[i % 2], asked.seed + i // 2) for i in range(asked.machines)]
    for item in found:
        print(f"{item.name}: locked {item.locked:.2g}, free {item.free:.2g}, rigid {item.rigid:.2g}")
    worst = [max(getattr(item, name) for item in found) for name in ("locked", "free", "rigid")]
    print(f"{asked.machines} machines from seed {asked.seed}: largest differences of ratios {worst[0]:.2g} with locked "
          f"and {worst[1]:.2g} with free actuators, rigid motion {worst[2]:.2g}")  # fmt: skip
    return int(worst[0] > LOCKED or worst[1] > FREE or worst[2] > RIGID)


if __name__ == "__main__":
    sys.exit(main())
