"""Modes in clusters of equal and nearly equal ones, for any count, against a dense solution of the same matrices.

Machines of identical links on a turning hub, symmetric platforms, and random ones with several clusters of up to 24
modes whose lengths differ by a spread between 0 and 1e-3. At rest and at a random configuration, for some counts, the
frequencies agree with the dense ones to 1e-9, and every shape lies in the dense invariant subspace of its whole cluster
(modes no more than 1e-6 of their frequency apart) to 1e-9, or to what sixteen roundings of its energy leave where the
next cluster is that close. By itself the script prints a line a machine, and ends with status 1 if one of them breaks
the law.
"""

from __future__ import annotations

import argparse
import sys
from typing import NamedTuple

import numpy as np

import supple
from supple.formulations.elastic_rest.body_coordinates import own_band
from supple.formulations.elastic_rest.constrained_modes import constrained_modes
from supple.formulations.elastic_rest.dense import dense_modes
from supple.formulations.elastic_rest.elastic_rest import elastic_rest
from supple.kinematics.closure import assemble

FREQUENCIES, SHAPES = 1e-9, 1e-9  # what is allowed: of a frequency, and of a shape of unit length
ROUNDING = 16.0 * np.finfo(np.float64).eps  # of an energy; over the distance to the next cluster, of a shape
TOGETHER = 1e-6  # of a frequency: distance below which two modes belong to one cluster
SPREADS = (0.0, 1e-12, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
MADE_OF = {"material": "steel", "elements": 3}
STEEL = {"steel": {"youngs_modulus": 210e9, "poisson": 0.3, "density": 7850}}


def machine(seed: int) -> supple.Mechanism:
    """A machine with clusters, of each kind in turn."""
    rng = np.random.default_rng([27, seed])
    return supple.Mechanism(**(identical_links, delta, several_clusters, table)[seed % 4](rng))


def _on_hub(rng: np.random.Generator, groups: list[tuple[int, float, float]]) -> dict:
    """A hub that turns with a motor and carries groups of (number, length, spread) of tubes, welded to it."""
    points, bodies, joints = {"H": [0, 0, 0]}, {}, {}
    bodies["hub"] = {"mass": float(10 ** rng.uniform(-0.5, 2.0)), "center": [0, 0, 0], "inertia": [1.0, 1.1, 1.2]}
    joints["turn"] = {"revolute": ["ground", "hub"], "at": "H", "axis": _direction(rng)}
    if rng.random() < 0.5:
        joints["turn"]["drive"] = {"stiffness": float(10 ** rng.uniform(3.0, 6.0))}
    for g, (number, length, spread) in enumerate(groups):
        for i in range(number):
            name, root, way = f"{g}_{i}", 0.1 * rng.standard_normal(3), np.array(_direction(rng))
            points[f"A{name}"] = root.tolist()
            points[f"B{name}"] = (root + length * (1.0 + spread * rng.uniform(-0.25, 0.25)) * way).tolist()
            bodies[f"link{name}"] = {"beam": [f"A{name}", f"B{name}"], "section": f"of{g}", **MADE_OF}
            joints[f"J{name}"] = {"weld": ["hub", f"link{name}"], "at": f"A{name}"}
    sections = {f"of{g}": {"tube": [0.02, 0.016 - 0.001 * g]} for g in range(len(groups))}
    return {
        "name": "clusters", "materials": STEEL, "sections": sections, "points": points, "bodies": bodies,
        "joints": joints, "actuators": {"motor": {"joint": "turn"}},
    }  # fmt: skip


def identical_links(rng: np.random.Generator) -> dict:
    return _on_hub(rng, [(int(rng.integers(2, 13)), rng.uniform(0.3, 0.8), float(rng.choice(SPREADS)))])


def several_clusters(rng: np.random.Generator) -> dict:
    """Up to three groups, some of which have about the same length."""
    first = rng.uniform(0.3, 0.8)
    groups = [
        (int(rng.integers(1, 13)), first * float(rng.choice([1.0, 1.0 + 1e-4, rng.uniform(0.5, 1.5)])),
         float(rng.choice(SPREADS)))
        for _ in range(rng.integers(2, 4))
    ]  # fmt: skip
    return _on_hub(rng, groups)


def table(rng: np.random.Generator) -> dict:
    """A plate on equal legs at the corners of a regular polygon, welded to a turning base and pinned to the plate."""
    made = _on_hub(rng, [])
    legs, spread = int(rng.integers(3, 13)), float(rng.choice(SPREADS))
    wide, high = rng.uniform(0.2, 0.4), rng.uniform(0.3, 0.8)
    made["sections"] = {"leg": {"tube": [0.02, 0.016]}}
    made["bodies"]["plate"] = {"mass": 3.0, "center": [0, 0, high], "inertia": [0.1, 0.1, 0.2]}
    for i in range(legs):
        x, y = wide * np.cos(2.0 * np.pi * i / legs), wide * np.sin(2.0 * np.pi * i / legs)
        foot = high * spread * rng.uniform(-0.25, 0.25)
        made["points"] |= {f"A{i}": [x, y, foot], f"B{i}": [x, y, high]}
        made["bodies"][f"leg{i}"] = {"beam": [f"A{i}", f"B{i}"], "section": "leg", **MADE_OF}
        made["joints"][f"A{i}"] = {"weld": ["hub", f"leg{i}"]}
        made["joints"][f"B{i}"] = {"spherical": [f"leg{i}", "plate"]}
    return made | {"name": "table"}


def delta(rng: np.random.Generator) -> dict:
    """A platform on three arms with two rods each."""
    legs, spread = 3, float(rng.choice(SPREADS))
    base, upper, half, plat = rng.uniform([0.15, 0.25, 0.03, 0.04], [0.25, 0.35, 0.06, 0.08])
    low, drop = -upper * np.sin(0.26), -float(rng.uniform(0.65, 0.8))
    points: dict = {"T": [0, 0, drop - 0.05]}
    bodies: dict = {"platform": {"mass": 0.6 + rng.uniform(0.0, 4.0), "center": [0, 0, drop],
                                 "inertia": [8e-4, 8e-4, 1.5e-3]}}  # fmt: skip
    joints: dict = {}
    for leg in range(legs):
        angle = 2.0 * np.pi * leg / legs
        R = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
        out = base + upper * np.cos(0.26)
        places = {"A": [base, 0, 0], "E": [out, 0, low]}
        for side, y in (("L", half), ("R", -half)):
            places |= {side: [out, y, low], f"P{side}": [plat, y, drop * (1.0 + spread * rng.uniform(-0.1, 0.1))]}
        points |= {f"{name}{leg}": (R @ place).tolist() for name, place in places.items()}
        axis, across = (R @ [0, 1, 0]).tolist(), (R @ [-0.67, 0, 0.43]).tolist()
        bodies[f"arm{leg}"] = {"rod": [f"A{leg}", f"E{leg}"], "mass": 0.9}
        joints[f"A{leg}"] = {"revolute": ["ground", f"arm{leg}"], "axis": axis, "drive": {"stiffness": 15e3}}
        for side in "LR":
            bodies[f"rod{side}{leg}"] = {"beam": [f"{side}{leg}", f"P{side}{leg}"], "section": "rod", **MADE_OF}
            joints[f"{side}{leg}"] = {"universal": [f"arm{leg}", f"rod{side}{leg}"], "axes": [axis, across]}
            joints[f"P{side}{leg}"] = {"spherical": [f"rod{side}{leg}", "platform"]}
    return {
        "name": "delta", "materials": STEEL, "sections": {"rod": {"tube": [0.016, 0.014]}},
        "points": points, "bodies": bodies, "joints": joints,
        "actuators": {f"motor{leg}": {"joint": f"A{leg}"} for leg in range(legs)},
    }  # fmt: skip


def _direction(rng: np.random.Generator) -> list[float]:
    way = rng.standard_normal(3)
    return (way / np.linalg.norm(way)).tolist()


class Errors(NamedTuple):
    """Largest errors of frequencies and of shapes, and the size of the largest cluster."""

    frequencies: float
    shapes: float
    largest: int

    @property
    def hold(self) -> bool:
        return self.frequencies <= FREQUENCIES and self.shapes <= SHAPES


def errors(mechanism: supple.Mechanism, seed: int, counts: int) -> Errors:
    """Of `counts` random numbers of modes, at rest and at one configuration beside it."""
    rng = np.random.default_rng([28, seed])
    rest = elastic_rest(mechanism, 4.0 * own_band(mechanism))
    held = rest.list_held_rows(actuators=True)
    start = assemble(mechanism)
    theta = np.array([start.theta, start.theta + rng.uniform(-0.15, 0.15, len(start.theta))])
    found = Errors(0.0, 0.0, 1)
    for here in assemble(mechanism, theta).each():
        squares, dense = dense_modes(rest, here, held, preload=False)
        found = found._replace(largest=max(found.largest, int(np.bincount(clusters(squares))[:-1].max(initial=1))))
        for count in np.unique(rng.integers(1, min(len(squares), 60), counts)):
            own, Z = (item[0] for item in constrained_modes(rest, held, here.X[None], int(count)))
            frequency, shape = differences(own, Z, squares, dense)
            found = found._replace(frequencies=max(found.frequencies, frequency), shapes=max(found.shapes, shape))
    return found


def clusters(squares: np.ndarray) -> np.ndarray:
    """Number of the cluster that each of rising ω² belongs to."""
    omega = np.sqrt(np.abs(squares))
    return np.concatenate([[0], np.cumsum(np.abs(np.diff(omega)) >= TOGETHER * omega[1:])])


def differences(own: np.ndarray, Z: np.ndarray, squares: np.ndarray, dense: np.ndarray) -> tuple[float, float]:
    """The largest difference of a frequency, of itself, and of a shape from the span of its cluster: of ω² (k,) and
    shapes Z (k, z) from all ω² (m,) and shapes `dense` (m, z) of the same matrices."""
    omega, cluster, count = np.sqrt(np.abs(squares)), clusters(squares), len(own)
    frequency = np.abs(np.sqrt(np.abs(own)) / omega[:count] - 1.0).max()
    inside = (cluster[:count, None] == cluster) * (Z @ dense.T)
    edges = np.abs(omega[:count, None] / omega - 1.0)
    gap = np.where(cluster[:count, None] == cluster, np.inf, edges).min(axis=1)
    shape = (np.linalg.norm(Z - inside @ dense, axis=1) * np.minimum(1.0, SHAPES * gap / ROUNDING)).max()
    return float(frequency), float(shape)


def main(seeds: range, counts: int) -> int:
    broken = 0
    worst = Errors(0.0, 0.0, 1)
    for seed in seeds:
        found = errors(machine(seed), seed, counts)
        broken += not found.hold
        worst = Errors(*map(max, zip(worst, found, strict=True)))
        print(f"{seed:4}  frequencies {found.frequencies:.1e}  shapes {found.shapes:.1e}  largest cluster "
              f"{found.largest}{'' if found.hold else '  BROKEN'}", flush=True)  # fmt: skip
    print(f"{len(seeds)} machines: frequencies {worst.frequencies:.1e}, shapes {worst.shapes:.1e}, {broken} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=60, help="Number of random machines. Default: 60.")
    parser.add_argument("--counts", type=int, default=8, help="Numbers of modes tried on each. Default: 8.")
    parser.add_argument("--seed", type=int, default=0, help="Seed of the first machine. Default: 0.")
    given = parser.parse_args()
    sys.exit(main(range(given.seed, given.seed + given.machines), given.counts))
