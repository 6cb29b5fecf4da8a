"""All coefficients at one θ in one row of numbers: their order, shapes and positions.

With n coordinates η = (θ, δ), s of them θ and d = n - s elastic, i inputs, o outputs and f joints with dry friction, a
row of any model contains

    M, K, damping (n, n)   christoffel (n, n, n)   potential (1,)   force (n,) at δ = 0   force_slope (s, d), ∂p_δ/∂θ
    input_map (n, i)   outputs (o,)   rigid (o, s), ∂ρ_o/∂θ   modes (o, d), Ψ_o   friction_map (f, n)
    stiffness_slope (s, d, d), ∂K_δδ/∂θ

If the model conserves energy when deformed (`bent`), the row contains, instead of Γ, the derivatives from which Γ
follows at θ and δ,

    mass_gradient (s, n, n), ∂M/∂θ_k   mass_slope (s, n, d), ∂M_ij/∂δ_a with i in θ: M_δδ does not change with δ
    mass_slope_gradient (s, s, n, d), ∂/∂θ_k of it

With stiffening (`curved`) it contains all rows of ∂M_ij/∂δ_a, mass_curvature (s, s, d, d), ∂²M_ij/∂δ_a∂δ_b of θθ, and
in a bent row mass_curvature_gradient (s, s, s, d, d), ∂/∂θ_k of it (`supple.equations.deformation`). Otherwise these
blocks are empty. Internal forces that outputs depend on are

    efforts (e, width), see `effort_places`

A row of a local model is followed by its derivatives

    dM (n, n, n), over η   dforce_theta (s, s), ∂p_θ/∂θ   ddamping (n, n, s)   dinput_map (n, i, s)
    bend (o, s, s), ∂²ρ_o/∂θ²   modes_slope (o, d, s), ∂Ψ_o/∂θ   dfriction_map (f, n, s)
    defforts (e, width, s) of a rigid mechanism

and by properties of its internal modes: squares, their ω²; overlap, the smallest one with the reference; places, Σ 2^i
over their indices among all modes. A rigid mechanism has d = 0 and none of these.
"""

from __future__ import annotations

from itertools import accumulate
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array

# Forces inside a mechanism (efforts) as functions of its motion, by a row of coefficients each.
#
#     e = e₀(θ) + Ψ^e δ + E_u u + E_a η̈ + E_v η̇ + E_q[θ̇, η̇] + E_f f
#
# Ψ^e are the forces of the modes (the papers' Ψ^{λδ}); the rest is what loads, inputs u, inertia, damping and dry
# friction f in the joints do to what is not among the modes (docs/theory/outputs.md).


Numbers = NDArray[Any]


class EffortPlaces(NamedTuple):
    """Positions of the parts in the row of an internal force.

    width : of the whole row; pairs : (j, k), j in θ and k >= j, of η̇_j η̇_k
    """

    modes: int
    inputs: int
    accelerations: int
    rates: int
    turning: int
    friction: int
    width: int
    pairs: tuple[tuple[int, int], ...]


def effort_places(n: int, s: int, inputs: int, dry: int) -> EffortPlaces:
    """Return the positions in the row of an internal force, for n coordinates, s of them θ."""
    pairs = tuple((j, k) for j in range(s) for k in range(j, n))
    starts = np.cumsum([1, n - s, inputs, n, n, len(pairs), dry]).tolist()
    modes, after, accelerations, rates, turning, friction, width = starts
    return EffortPlaces(modes, after, accelerations, rates, turning, friction, width, pairs)


class EffortMotion(NamedTuple):
    """Variables that internal forces depend on: δ, u, η̈, η̇ and dry-friction forces, (..., k) each."""

    delta: Numbers
    inputs: Numbers
    accelerations: Numbers
    rates: Numbers
    friction: Numbers


def effort_factors(places: EffortPlaces, motion: EffortMotion) -> Numbers:
    """Return the factors of the entries of a row, (..., width)."""
    delta, u, a, v, f = motion
    one = np.ones((*delta.shape[:-1], 1))
    if not places.pairs:
        return np.concatenate([one, delta, u, a, v, f], axis=-1)
    turned = np.stack([v[..., j] * v[..., k] for j, k in places.pairs], axis=-1)
    return np.concatenate([one, delta, u, a, v, turned, f], axis=-1)


# The row of all coefficients. These are places in `RowLayout.offsets`: a kernel finds a coefficient at
# `row[at[FORCE] + i]`.


MASS, STIFFNESS, DAMPING, CHRISTOFFEL, POTENTIAL, FORCE, FORCE_SLOPE, INPUT_MAP = range(8)
OUTPUTS, RIGID, MODES, FRICTION_MAP, STIFFNESS_SLOPE = range(8, 13)
MASS_GRADIENT, MASS_SLOPE, MASS_SLOPE_GRADIENT, MASS_CURVATURE, MASS_CURVATURE_GRADIENT, EFFORTS = range(13, 19)
COEFFICIENTS = 19  # those that every model has
DM, DFORCE_THETA, DDAMPING, DINPUT_MAP, BEND, MODES_SLOPE, DFRICTION_MAP, SQUARES, OVERLAP, PLACES = range(
    COEFFICIENTS, COEFFICIENTS + 10
)


class RowLayout:
    """Positions of the coefficients in a row of `width` numbers; shapes by name, in order."""

    def __init__(self, shapes: dict[str, tuple[int, ...]]):
        self.shapes = shapes
        starts = [0, *accumulate(prod(shape) for shape in shapes.values())]
        self.offsets = np.array(starts, dtype=np.int64)
        self.width = starts[-1]
        self._spans = {
            name: (first, stop, shape)
            for (name, shape), first, stop in zip(shapes.items(), starts[:-1], starts[1:], strict=True)
        }

    def part(self, rows: Array, name: str) -> Array:
        """Return a view of one coefficient in rows (..., width)."""
        first, stop, shape = self._spans[name]
        return rows[..., first:stop].reshape(rows.shape[:-1] + shape)

    def split(self, rows: Array) -> dict[str, Array]:
        """Return views of all coefficients in rows (..., width), by name."""
        return {name: self.part(rows, name) for name in self.shapes}

    def start(self, name: str) -> int:
        """Return the position of the first number of a coefficient."""
        return self._spans[name][0]


def row_layout(
    n: int, s: int, inputs: int, outputs: int, dry: int, *, bent: bool = False, curved: bool = False, efforts: int = 0
) -> RowLayout:
    """Return the layout of the coefficients that every model has.

    bent : M changes with δ, and Γ follows from its derivatives; curved : M_θθ is of second order in δ
    efforts : number of internal forces
    """
    return RowLayout(_shapes(n, s, inputs, outputs, dry, bent=bent, curved=curved, efforts=efforts))


def local_layout(
    n: int, s: int, inputs: int, outputs: int, dry: int, internal: int = 0, *, curved: bool = False, efforts: int = 0
) -> RowLayout:
    """Return the layout of a local model: the coefficients and their derivatives."""
    d = n - s
    derivatives: dict[str, tuple[int, ...]] = {
        "dM": (n, n, n),
        "dforce_theta": (s, s),
        "ddamping": (n, n, s),
        "dinput_map": (n, inputs, s),
        "bend": (outputs, s, s),
        "modes_slope": (outputs, d, s),
        "dfriction_map": (dry, n, s),
        "squares": (internal,),
        "overlap": (min(d, 1),),
        "places": (min(d, 1),),
        "defforts": (0 if d else efforts, effort_places(n, s, inputs, dry).width, s),
    }
    return RowLayout(_shapes(n, s, inputs, outputs, dry, curved=curved, efforts=efforts) | derivatives)


def _shapes(
    n: int, s: int, inputs: int, outputs: int, dry: int, *, bent: bool = False, curved: bool = False, efforts: int = 0
) -> dict[str, tuple[int, ...]]:
    d, theta, sloped = n - s, s if bent else 0, (n if curved else s) if bent else 0
    return {
        "M": (n, n),
        "K": (n, n),
        "damping": (n, n),
        "christoffel": (0 if bent else n, n, n),
        "potential": (1,),
        "force": (n,),
        "force_slope": (s, d),
        "input_map": (n, inputs),
        "outputs": (outputs,),
        "rigid": (outputs, s),
        "modes": (outputs, d),
        "friction_map": (dry, n),
        "stiffness_slope": (s, d, d),
        "mass_gradient": (theta, n, n),
        "mass_slope": (sloped, n, d),
        "mass_slope_gradient": (theta, sloped, n, d),
        "mass_curvature": (s if curved else 0, s, d, d),
        "mass_curvature_gradient": (theta if curved else 0, s, s, d, d),
        "efforts": (efforts, effort_places(n, s, inputs, dry).width),
    }
