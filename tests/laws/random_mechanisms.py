"""Random mechanisms, by name and seeded. `CASES` names them all; `case(name)` builds one, once."""

from __future__ import annotations

import functools
import zlib
from dataclasses import dataclass

import numpy as np
import planar_mechanisms
import spatial_mechanisms
from random_parts import BUILDERS, Parts
from world_axes import WorldAxes

import supple


@dataclass(frozen=True)
class Case:
    """A mechanism with a box of θ around rest in which it has no singularity: rest ± spread."""

    name: str
    parts: Parts
    mechanism: supple.Mechanism
    rest: np.ndarray
    spread: np.ndarray

    def thetas(self, count: int, seed: int = 0) -> np.ndarray:
        """(count, s) random configurations in the box."""
        rng = np.random.default_rng([zlib.crc32(self.name.encode()), seed])
        return self.rest + self.spread * rng.uniform(-1.0, 1.0, (count, len(self.rest)))


@functools.cache
def case(name: str) -> Case:
    parts, spread = BUILDERS[name]()
    oracle = WorldAxes(parts)
    rest = oracle.theta(oracle.close(oracle.drawn))[0]
    rams = [ref in parts["actuators"] for ref in oracle.names]  # short arms: a distance moves less than an angle
    return Case(name, parts, supple.Mechanism(**parts), rest, np.where(rams, 0.3, 1.0) * spread)


def _made_in(module) -> tuple[str, ...]:
    return tuple(name for name, build in BUILDERS.items() if build.args[0].__module__ == module.__name__)


CASES = tuple(BUILDERS)
PLANAR, SPATIAL = _made_in(planar_mechanisms), _made_in(spatial_mechanisms)
CLOSED = tuple(name for name in CASES if not name.startswith(("chain", "tree", "planar tree", "Stewart platform of")))
