"""Closed chains of bars that hang between two points: their equilibrium is found from any drawing, and it is the
polygon of statics. `python tests/laws/hanging_chains.py --machines 20 --drawings 20 --seed 0` prints the figures and
exits with 1 where one fails; `test_hanging_chains.py` has a small part of it.

A bar carries the horizontal force H and, at its middle, the vertical force V_i = V + g (m_0 + ... + m_{i-1} + m_i/2);
without moments about its middle it lies along (H, V_i). H and V follow from where the chain ends.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

import supple
from supple.diagnostics import SuppleNote

GRAVITY = 9.81
EXACT = 1e-9  # of the chain's length: the solution of two equations for H and V


@dataclass(frozen=True)
class Chain:
    """Bars of these lengths and masses between the origin and `end`."""

    lengths: np.ndarray
    masses: np.ndarray
    end: np.ndarray

    def polygon(self) -> np.ndarray:
        """(bars + 1, 2) where the joints are at equilibrium."""
        weights = GRAVITY * self.masses
        passed = np.concatenate([[0.0], np.cumsum(weights)[:-1]]) + 0.5 * weights
        total = weights.sum()

        def joints(x):
            ways = np.column_stack([np.full(len(passed), np.exp(x[0])), passed / total + x[1]])
            steps = self.lengths[:, None] * ways / np.linalg.norm(ways, axis=1)[:, None]
            return np.vstack([np.zeros(2), np.cumsum(steps, axis=0)])

        size = self.lengths.sum()
        tries = [
            least_squares(lambda x: (joints(x)[-1] - self.end) / size, [x, -0.5], xtol=1e-15, ftol=1e-15, gtol=1e-15)
            for x in (-1.0, 0.0, -3.0, 1.0, -5.0)
        ]
        return joints(min(tries, key=lambda found: found.cost).x)

    def drawn(self, points: np.ndarray) -> supple.Mechanism:
        """With joints drawn at points (bars + 1, 2), which the lengths need not fit."""
        n = len(self.lengths)
        names = [f"P{i}" for i in range(n + 1)]
        bodies = {
            f"b{i}": {"rod": [names[i], names[i + 1]], "mass": float(self.masses[i]), "length": float(self.lengths[i])}
            for i in range(n)
        }
        joints = {names[i]: {"revolute": [f"b{i - 1}" if i else "ground", f"b{i}"]} for i in range(n)}
        joints["Z"] = {"revolute": ["ground", f"b{n - 1}"], "frames": ["ends", "ended"]}
        return supple.Mechanism(
            supple=1, name=f"chain of {n}", plane="xz", gravity=[0, -GRAVITY],
            points={name: [float(x) for x in place] for name, place in zip(names, points, strict=True)},
            bodies=bodies, joints=joints, coordinates=names[: n - 2],
            frames={
                "ends": {"on": "ground", "at": self.end.tolist()},
                "ended": {"on": f"b{n - 1}", "local": [float(self.lengths[-1]), 0]},
            },
        )  # fmt: skip


def random_chain(dice: np.random.Generator, bars: int) -> Chain:
    """Lengths and masses that differ by up to three times; its ends 20 to 90 % of its length apart."""
    lengths = dice.uniform(0.5, 1.5, bars)
    lengths *= dice.uniform(0.5, 5.0) / lengths.sum()
    turn = dice.uniform(-0.9, 0.9)
    apart = dice.uniform(0.2, 0.9) * lengths.sum()
    return Chain(lengths, dice.uniform(0.1, 0.3, bars), apart * np.array([np.cos(turn), np.sin(turn)]))


def drawing(dice: np.random.Generator, chain: Chain, number: int) -> np.ndarray:
    """(bars + 1, 2): nearly as it hangs, as a parabola of the wrong depth, as an arch, or as a zigzag."""
    n = len(chain.lengths)
    along = np.linspace(0.0, 1.0, n + 1)
    kind = number % 4
    if kind == 0:
        points = chain.polygon()
    else:
        depth = (dice.uniform(0.2, 1.2), -dice.uniform(0.2, 0.8), dice.uniform(0.05, 0.3))[kind - 1]
        points = along[:, None] * chain.end
        points[:, 1] -= 4.0 * depth * 0.5 * chain.lengths.sum() * along * (1.0 - along)
    rough = (0.05, 0.1, 0.1, 0.6)[kind] * chain.lengths.mean()
    points = points + dice.normal(size=points.shape) * rough
    points[0] = 0.0
    return points


def off_by(chain: Chain, points: np.ndarray) -> float:
    """How far joints of the equilibrium from a drawing are from the polygon, over the chain's length."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleNote)
        found = supple.equilibrium(chain.drawn(points))
    names = [f"P{i}" for i in range(len(chain.lengths))]
    there = np.array([found.frame(name).position for name in names])[:, [0, 2]]
    return float(np.abs(there - chain.polygon()[:-1]).max() / chain.lengths.sum())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=20)
    parser.add_argument("--drawings", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    dice, failed, worst, asked_for = np.random.default_rng(asked.seed), 0, 0.0, 0
    for _ in range(asked.machines):
        chain = random_chain(dice, int(dice.integers(4, 61)))
        begin, lost = time.perf_counter(), []
        for number in range(asked.drawings):
            asked_for += 1
            try:
                off = off_by(chain, drawing(dice, chain, number))
            except supple.SuppleError as error:
                lost.append(f"drawing {number}: {str(error)[:300]}")
                continue
            worst = max(worst, off)
            if off > EXACT:
                lost.append(f"drawing {number}: {off:.1e} of its length off")
        failed += len(lost)
        print(f"{len(chain.lengths)} bars: {asked.drawings - len(lost)} of {asked.drawings} drawings, "
              f"{time.perf_counter() - begin:.0f} s", flush=True)  # fmt: skip
        for line in lost:
            print(f"    {line}")
    print(f"seed {asked.seed}: {asked_for - failed} of {asked_for} found, the worst {worst:.1e} of the length off")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
