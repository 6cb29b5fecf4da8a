"""Superelements between frames, as arrays: what the kernels of floating frames take.

A superelement has its floating frame at the body's centre of mass, a frame at each of its touched nodes, without mass
and tied to the floating one by rows, and its coordinates q as positions of further frames, three of them a frame, in
the plane two. Places of the last one that are left over are coordinates of no shape: nothing moves them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Integers
from supple.formulations.absolute.superelements.floating_body import FloatingBody


class SuperelementArrays(NamedTuple):
    """e superelements; n is the most coordinates one of them has, arrays of others end in zeros.

    frame, first, coordinates : (e,) floating frame, first frame that holds coordinates, number of coordinates
    mass, inertia       : (e,), (e, 3, 3) as rigid bodies about their centres
    momentum, spin      : (e, 3, n); widening (e, 3, 3, n); turning (e, 3, n, n); turned (e, 3, 3, n, n): FloatingBody
    modal_mass, stiffness, damping : (e, n, n)
    columns             : (e, d + n) velocities that they act on: those of the floating frame, then the coordinates'
    places              : (e, d + n, d + n) of the entries in the iteration matrix; the upper triangle is used
    """

    frame: Integers
    first: Integers
    coordinates: Integers
    mass: Array
    inertia: Array
    momentum: Array
    spin: Array
    widening: Array
    turning: Array
    turned: Array
    modal_mass: Array
    stiffness: Array
    damping: Array
    columns: Integers
    places: Integers


class PlacedBody(NamedTuple):
    """A body and its frames: the first of its touched nodes, the floating one, the first of those that hold its
    coordinates; and its damping (n, n)."""

    body: FloatingBody
    nodes: int
    frame: int
    first: int
    damping: Array


def coordinate_frames(count: int, planar: bool) -> int:
    """How many frames hold as many coordinates."""
    return -(-count // (2 if planar else 3))


def superelement_arrays(placed: Sequence[PlacedBody], planar: bool) -> SuperelementArrays:
    """All of them; `places` are zero until the iteration matrix is laid out."""
    d, held = (3, 2) if planar else (6, 3)
    counts = np.array([held * coordinate_frames(item.body.size, planar) for item in placed], dtype=np.int64)
    n = int(counts.max(initial=0))
    columns = np.zeros((len(placed), d + n), dtype=np.int64)
    for row, item in zip(columns, placed, strict=True):
        q = np.arange(n)
        row[:d] = item.frame * d + np.arange(d)
        row[d:] = (item.first + q // held) * d + q % held

    def packed(name: str, *shape: int) -> Array:
        found = np.zeros((len(placed), *shape))
        for target, item in zip(found, placed, strict=True):
            given = item.damping if name == "damping" else getattr(item.body, name)
            target[tuple(slice(size) for size in given.shape)] = given
            if name == "M":
                np.fill_diagonal(target[len(given) :, len(given) :], item.body.mass)
        return found

    return SuperelementArrays(
        np.array([item.frame for item in placed], dtype=np.int64),
        np.array([item.first for item in placed], dtype=np.int64),
        counts,
        np.array([item.body.mass for item in placed], dtype=np.float64),
        packed("inertia", 3, 3), packed("momentum", 3, n), packed("spin", 3, n),
        packed("widening", 3, 3, n), packed("turning", 3, n, n), packed("turned", 3, 3, n, n),
        packed("M", n, n), packed("K", n, n), packed("damping", n, n),
        columns, np.zeros((len(placed), d + n, d + n), dtype=np.int64),
    )  # fmt: skip
