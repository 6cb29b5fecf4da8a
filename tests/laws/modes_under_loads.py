"""Locked modes with the geometric stiffness of loads at rest against a dense solution of the same matrices.

Machines with clusters of modes (`mode_clusters.py`) under weights of a tenth to thirty times that on Earth in a random
direction, and columns, frames and closed loops (`loaded_structures.py`) under 10 % to 95 % of their first buckling
load. At rest and at a random configuration, for some counts, frequencies agree to 1e-9, and every shape lies in the
dense invariant subspace of its whole cluster to 1e-9 (or sixteen roundings of its energy over the gap to the next).
The script prints a line a machine, with how many solutions had to be dense, and ends with status 1 if one of them
breaks the law.

    python tests/laws/modes_under_loads.py --machines 60 --counts 4 --seed 0
"""

from __future__ import annotations

import argparse
import sys
from typing import NamedTuple
from unittest import mock

import loaded_structures
import mode_clusters
import numpy as np

import supple
from supple.formulations.elastic_rest import loaded_modes
from supple.formulations.elastic_rest.body_coordinates import own_band
from supple.formulations.elastic_rest.dense import dense_modes
from supple.formulations.elastic_rest.elastic_rest import elastic_rest
from supple.kinematics.closure import assemble

SHARES = (0.1, 0.5, 0.8, 0.9, 0.95)  # of the first buckling load
KINDS = 4 + len(loaded_structures.KINDS)


class Found(NamedTuple):
    """Largest errors of frequencies and shapes, largest change of an ω² by the loads, of the plain one, and how many of
    the solutions were dense."""

    frequencies: float
    shapes: float
    change: float
    dense: int
    solutions: int

    @property
    def hold(self) -> bool:
        return self.frequencies <= mode_clusters.FREQUENCIES and self.shapes <= mode_clusters.SHAPES


def machine(seed: int) -> supple.Mechanism:
    """A loaded machine, of each kind in turn."""
    rng = np.random.default_rng([41, seed])
    kind = seed % KINDS
    if kind < 4:
        way = rng.standard_normal(3)
        weight = 9.81 * 10.0 ** rng.uniform(-1.0, 1.5) * way / np.linalg.norm(way)
        return mode_clusters.machine(4 * (seed // KINDS) + kind).replace(gravity=tuple(weight.tolist()))
    made = loaded_structures.drawn(list(loaded_structures.KINDS)[kind - 4], seed // KINDS, loaded_structures.ELEMENTS)
    share = float(rng.choice(SHARES))
    return loaded_structures.loaded(made, share * supple.buckling(made, count=1).load_factors[0])


def errors(mechanism: supple.Mechanism, seed: int, counts: int) -> Found:
    """Of `counts` random numbers of modes, at rest and at one configuration beside it; structures at rest alone."""
    rng = np.random.default_rng([42, seed])
    rest = elastic_rest(mechanism, 4.0 * own_band(mechanism))
    held = rest.list_held_rows(actuators=True)
    start = assemble(mechanism)
    theta = np.array([start.theta, start.theta + rng.uniform(-0.15, 0.15, len(start.theta))])
    found = Found(0.0, 0.0, 0.0, 0, 0)
    for here in assemble(mechanism, theta if seed % KINDS < 4 else theta[:1]).each():
        squares, shapes = dense_modes(rest, here, held, preload=True)
        plain = dense_modes(rest, here, held, preload=False)[0]
        for count in np.unique(rng.integers(1, min(len(squares), 40), counts)).tolist():
            with mock.patch.object(loaded_modes, "dense_modes", wraps=dense_modes) as dense:
                own, Z = (item[0] for item in loaded_modes.constrained_loaded_modes(rest, held, here, count))
            frequency, shape = mode_clusters.differences(own, Z, squares, shapes)
            found = Found(
                max(found.frequencies, frequency), max(found.shapes, shape),
                max(found.change, float(np.abs(own / plain[:count] - 1.0).max())),
                found.dense + dense.call_count, found.solutions + 1,
            )  # fmt: skip
    return found


def main(seeds: range, counts: int) -> int:
    broken = dense = solutions = 0
    frequencies = shapes = 0.0
    for seed in seeds:
        found = errors(machine(seed), seed, counts)
        broken += not found.hold
        dense, solutions = dense + found.dense, solutions + found.solutions
        frequencies, shapes = max(frequencies, found.frequencies), max(shapes, found.shapes)
        print(f"{seed:4}  frequencies {found.frequencies:.1e}  shapes {found.shapes:.1e}  loads change ω² by up to "
              f"{found.change:.1e}  dense {found.dense} of {found.solutions}"
              f"{'' if found.hold else '  BROKEN'}", flush=True)  # fmt: skip
    print(f"{len(seeds)} machines: frequencies {frequencies:.1e}, shapes {shapes:.1e}, {dense} of {solutions} dense, "
          f"{broken} broken")  # fmt: skip
    return 1 if broken else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machines", type=int, default=60, help="Number of random machines. Default: 60.")
    parser.add_argument("--counts", type=int, default=4, help="Numbers of modes tried on each. Default: 4.")
    parser.add_argument("--seed", type=int, default=0, help="Seed of the first machine. Default: 0.")
    given = parser.parse_args()
    sys.exit(main(range(given.seed, given.seed + given.machines), given.counts))
