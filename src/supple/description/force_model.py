"""What acts along a measure ℓ of the mechanism, a joint coordinate or a distance: one record a force model.

    f(ℓ, ℓ̇, ℓ̈) = -V'(x) - c(x) ℓ̇ - m ℓ̈,    x = ℓ - ℓ₀

V is an energy, c a damping, m an inertia; ℓ₀ is where the part is relaxed. Simulation, local models, linear models and
everything else read a force model through its record alone (`supple.formulations.force_models`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from supple.compilation import kernel
from supple.kinds import Registry


class Along(NamedTuple):
    """What a force model gives along its measure ℓ: V, f = -V', f', c, c', m."""

    energy: float
    force: float
    slope: float
    damping: float
    damping_slope: float
    inertia: float


@dataclass(frozen=True)
class LawParameter:
    """A parameter of a force model.

    of      : "force", "stiffness", "damping", "inertia" or "value" along the coordinate, whatever that measures
    per     : divided as often by the unit of the coordinate: `stiffness` for each m², say
    default : left out if it must be told
    """

    of: str
    per: int = 0
    default: float | None = None


@dataclass(frozen=True)
class ForceLaw:
    """A force model that acts along a measure.

    parameters : in the order in which `along` has them
    along      : (p, x) -> (V, f = -V', f', c, c', m) at x = ℓ - ℓ₀, p the parameters: arithmetic and `math`
                 alone, so that it can be compiled
    linear     : f', c and m are the same for all x, so that matrices can hold them once and for all
    """

    name: str
    parameters: Mapping[str, LawParameter]
    along: Callable
    linear: bool = False

    def __post_init__(self) -> None:
        kernel(self.along)


def _spring(p, x):
    """V = ½ k x²"""
    return 0.5 * p[0] * x * x, -p[0] * x, -p[0], 0.0, 0.0, 0.0


def _constant(p, x):
    """V = -f x"""
    return -p[0] * x, p[0], 0.0, 0.0, 0.0, 0.0


def _damper(p, x):
    """c"""
    return 0.0, 0.0, 0.0, p[0], 0.0, 0.0


def _inertia(p, x):
    """m, such as J g² of a motor behind a gear"""
    return 0.0, 0.0, 0.0, 0.0, 0.0, p[0]


SPRING = ForceLaw("spring", {"stiffness": LawParameter("stiffness")}, _spring, linear=True)
CONSTANT = ForceLaw("constant", {"force": LawParameter("force")}, _constant, linear=True)
DAMPER = ForceLaw("damper", {"damping": LawParameter("damping")}, _damper, linear=True)
INERTIA = ForceLaw("inertia", {"inertia": LawParameter("inertia")}, _inertia, linear=True)

BUILTIN_FORCE_MODELS = SPRING, CONSTANT, DAMPER, INERTIA
FORCE_MODELS = Registry("force law", ForceLaw, *BUILTIN_FORCE_MODELS)
