"""Geometric stiffness against the full nonlinear equations: columns, frames and closed loops that loads press along.

ω² of the lowest modes, as a share of ω² without loads, by `modes` (geometric stiffness of the undeformed mechanism) and
by `small_motions` (tangent of the full equations at their equilibrium), up to 95 % of the first buckling load.
They may differ by the error of the mesh, which is taken from a mesh twice as fine.

    python tests/laws/loaded_structures.py --machines 30 --seed 0
"""

from __future__ import annotations

import argparse
import sys
from typing import Any, NamedTuple

import numpy as np

import supple

SHARES = (0.3, 0.6, 0.87, 0.95)  # of the first buckling load
LEAST = 1e-3  # of ω² without loads: axial shortening, which is not in the undeformed shape, and rounding
ELEMENTS = 6


class Compared(NamedTuple):
    """One machine under one load: shares of ω² by both, and how far they may differ."""

    name: str
    share: float
    linear: np.ndarray
    full: np.ndarray
    allowed: np.ndarray


def _beam(ends: list[str], up: list[float], elements: int) -> dict[str, Any]:
    return {"beam": ends, "section": "bar", "material": "steel", "elements": elements, "up": up}


def _sketch(rng: np.random.Generator, name: str) -> dict[str, Any]:
    wide, high = rng.uniform(0.012, 0.03, 2)
    return {
        "name": name, "gravity": [0, 0, 0],
        "materials": {"steel": {"youngs_modulus": 210e9, "density": 7850, "poisson": 0.3}},
        "sections": {"bar": {"rectangle": [float(wide), float(high)]}},
    }  # fmt: skip


def column(rng: np.random.Generator, elements: int) -> dict[str, Any]:
    """Clamped by a locked slide or a locked hinge, its head free; in a random direction."""
    length, axis = rng.uniform(1.0, 2.5), rng.standard_normal(3)
    axis /= np.linalg.norm(axis)
    across = np.linalg.svd(axis[None])[2][1]
    found = _sketch(rng, "column")
    found["points"] = {"A": [0.0, 0.0, 0.0], "B": (length * axis).tolist()}
    found["bodies"] = {"column": _beam(["A", "B"], across.tolist(), elements)}
    if rng.random() < 0.5:
        found["joints"] = {"A": {"prismatic": ["ground", "column"], "axis": across.tolist()}}
    else:
        found["joints"] = {"A": {"revolute": ["ground", "column"], "axis": across.tolist()}}
    found["actuators"] = {"foot": {"joint": "A"}}
    found["forces"] = {"head": {"at": "column.B", "force": (-axis).tolist()}}
    return found


def frame(rng: np.random.Generator, elements: int) -> dict[str, Any]:
    """A portal of one body on a locked slide, both legs pressed."""
    width, height, ratio = rng.uniform(0.8, 2.0), rng.uniform(0.8, 2.0), rng.uniform(0.5, 2.0)
    found = _sketch(rng, "portal")
    found["points"] = {"A": [0.0, 0.0, 0.0], "B": [0.0, 0.0, height], "C": [width, 0.0, height], "D": [width, 0.0, 0.0]}
    found["bodies"] = {"portal": {"beams": [
        {"from": a, "to": b, "section": "bar", "material": "steel", "elements": elements, "up": [0.0, 1.0, 0.0]}
        for a, b in ("AB", "BC", "CD")
    ]}}  # fmt: skip
    found["joints"] = {
        "A": {"prismatic": ["ground", "portal"], "axis": "y"},
        "D": {"revolute": ["ground", "portal"], "axis": "y"},
    }
    found["actuators"] = {"push": {"joint": "A"}}
    found["forces"] = {
        "left": {"at": "portal.B", "force": [0.0, 0.0, -1.0]},
        "right": {"at": "portal.C", "force": [0.0, 0.0, -float(ratio)]},
    }
    return found


def loop(rng: np.random.Generator, elements: int) -> dict[str, Any]:
    """A parallelogram of elastic cranks and a rigid coupler, one crank locked, pressed along both cranks."""
    width, height, ratio = rng.uniform(0.5, 1.5), rng.uniform(0.8, 1.6), rng.uniform(0.5, 2.0)
    found = _sketch(rng, "parallelogram")
    found["points"] = {"A": [0.0, 0.0, 0.0], "B": [0.0, 0.0, height], "C": [width, 0.0, height], "D": [width, 0.0, 0.0]}
    up = [0.0, 1.0, 0.0]
    found["bodies"] = {
        "left": _beam(["A", "B"], up, elements),
        "right": _beam(["D", "C"], up, elements),
        "coupler": {"rod": ["B", "C"], "mass": float(rng.uniform(1.0, 5.0))},
    }
    found["joints"] = {
        "A": {"revolute": ["ground", "left"], "axis": "y"},
        "B": {"revolute": ["left", "coupler"], "axis": "y"},
        "C": {"revolute": ["coupler", "right"], "axis": "y"},
        "D": {"revolute": ["ground", "right"], "axis": "y"},
    }
    found["actuators"] = {"crank": {"joint": "A"}}
    found["forces"] = {
        "left": {"at": "left.B", "force": [0.0, 0.0, -1.0]},
        "right": {"at": "right.C", "force": [0.0, 0.0, -float(ratio)]},
    }
    return found


KINDS = {"column": column, "frame": frame, "loop": loop}


def drawn(kind: str, seed: int, elements: int) -> supple.Mechanism:
    """The same machine for every number of elements."""
    return supple.Mechanism(**KINDS[kind](np.random.default_rng([seed, list(KINDS).index(kind)]), elements))


def loaded(mechanism: supple.Mechanism, factor: float) -> supple.Mechanism:
    forces = {
        name: item.model_copy(update={"force": tuple(factor * x for x in item.force)})
        for name, item in mechanism.forces.items()
    }
    return mechanism.replace(forces=forces)


def _full(mechanism: supple.Mechanism, count: int) -> np.ndarray:
    """ω² of the lowest motions of the full equations."""
    return np.sort((2.0 * np.pi * supple.small_motions(mechanism, count=count).frequencies_hz) ** 2)[:count]


def compared(kind: str, seed: int, shares: tuple[float, ...] = SHARES, count: int = 2) -> list[Compared]:
    made, finer = drawn(kind, seed, ELEMENTS), drawn(kind, seed, 2 * ELEMENTS)
    factor = supple.buckling(made, count=1).load_factors[0]
    unloaded = [made.replace(forces={}), finer.replace(forces={})]
    plain = (2.0 * np.pi * supple.modes(unloaded[0], count=count).frequencies_hz) ** 2
    full = [_full(one, count) for one in unloaded]
    found = []
    for share in shares:
        here = loaded(made, share * factor)
        linear = (2.0 * np.pi * supple.modes(here, count=count, preload=True).frequencies_hz) ** 2 / plain
        one, two = (
            _full(item, count) / own for item, own in zip((here, loaded(finer, share * factor)), full, strict=True)
        )
        found.append(Compared(f"{kind} {seed}", share, linear, one, np.abs(one - two) + LEAST))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    worst, failed = 0.0, 0
    for i in range(asked.machines):
        for item in compared(list(KINDS)[i % len(KINDS)], asked.seed + i // len(KINDS)):
            gap = np.abs(item.linear - item.full)
            worst = max(worst, float(gap.max()))
            if (gap > item.allowed).any():
                failed += 1
                print(f"{item.name} at {item.share:.0%}: {item.linear} and {item.full}, may differ by {item.allowed}")
    cases = asked.machines * len(SHARES)
    print(f"{asked.machines} machines from seed {asked.seed}, {cases} loads: largest difference of a share of ω² "
          f"{worst:.2g}, {failed} beyond the error of the mesh")  # fmt: skip
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
