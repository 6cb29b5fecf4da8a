"""Superelements by modes: bodies that are already reduced, as integrals of their mode shapes over the mass.

    u = S q,   2T = (v, ω, q̇) [TᵀMT, TᵀMS; ., SᵀMS] (v, ω, q̇) + ...         (docs/theory/superelements-in-motion.md)

Such a file contains `shapes` in addition to K, M and nodes, and the inertia terms for large motion.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.description.elastic.array_archive import read_archive
from supple.description.elastic.superelement import Superelement
from supple.description.elastic.superelement_files import NPZ, body_source
from supple.diagnostics import InputError
from supple.diagnostics.errors import part_name, quote
from supple.geometry.inertia import MassProperties, of_spatial

_SYMMETRIC = 1e-8  # of the largest entry
_SIZES: dict[str, str] = {
    "shapes": "b6n", "K": "nn", "M": "nn", "rigid": "66", "coupling": "6n",
    "widening": "33n", "turning": "3nn", "turned": "33nn",
}  # fmt: skip


class SuperelementModes(NamedTuple):
    """Body with n modes, in its axes, about the origin of its nodes.

    numbers, positions : (b,), (b, 3) of the nodes that can be interfaces
    shapes    : (b, 6, n) their displacements and small rotations for a unit of each mode
    K, M      : (n, n) stiffness, and SᵀMS
    rigid     : (6, 6) TᵀMT, for unit velocities and angular velocities; coupling : (6, n) TᵀMS
    widening  : (3, 3, n) with axes j, k: the rotation of T about e_j, times M W_k S, (W_k u = e_k × u)
    turning   : (3, n, n) SᵀMW_kS;  turned : (3, 3, n, n) SᵀW_jᵀMW_kS
    """

    numbers: NDArray[np.int64]
    positions: Array
    shapes: Array
    K: Array
    M: Array
    rigid: Array
    coupling: Array
    widening: Array
    turning: Array
    turned: Array

    def mass(self, origin: Array) -> MassProperties:
        """Return the mass properties as a rigid body, with the centre relative to `origin`."""
        found = of_spatial(self.rigid)
        return MassProperties(found.mass, found.center - origin, found.inertia)


def modal_arrays(superelement: Superelement, path: tuple[str | int, ...] = ()) -> SuperelementModes | None:
    """Return the body by its modes, or None if the files contain matrices of nodes.

    Arrays that do not fit raise an `InputError`.

    path : path of the superelement in the mechanism file
    """
    try:
        return _read(superelement)
    except ValueError as error:
        assert superelement.file is not None
        raise InputError(
            f"{quote(Path(superelement.file).name)}: {error}",
            part=part_name(path), path=(*path, "file"), hint="docs/theory/superelements-in-motion.md lists the arrays",
        ) from None  # fmt: skip


@lru_cache(maxsize=16)
def _read(superelement: Superelement) -> SuperelementModes | None:
    if superelement.file is None or body_source(superelement) is not NPZ:
        return None
    try:
        found = read_archive(superelement.file, ("nodes", *_SIZES))
    except (ValueError, OSError):  # reported when it is read as matrices of nodes
        return None
    if "shapes" not in found:
        return None
    missing = [name for name in ("nodes", *_SIZES) if name not in found]
    if missing:
        raise ValueError(f"it has shapes, but no array {quote(missing[0])}")
    nodes = np.asarray(found["nodes"], float)
    if nodes.ndim != 2 or nodes.shape[1] not in (3, 4) or not len(nodes):
        raise ValueError("its nodes are not rows of number, x, y, z")
    if nodes.shape[1] == 3:
        nodes = np.column_stack([np.arange(len(nodes)), nodes])
    K = found["K"]
    sizes = {"b": len(nodes), "n": K.shape[0] if K.ndim == 2 else -1, "6": 6, "3": 3}
    arrays = {}
    for name, letters in _SIZES.items():
        wanted = tuple(sizes[letter] for letter in letters)
        arrays[name] = np.ascontiguousarray(found[name], dtype=np.float64)
        if arrays[name].shape != wanted:
            needed = f"{_by(wanted)} for {len(nodes)} nodes and {sizes['n']} modes"
            raise ValueError(f"its {name} is {_by(arrays[name].shape)}, not {needed}")
        if not np.isfinite(arrays[name]).all():
            raise ValueError(f"its {name} has an entry that is not finite")
    _require_energy(arrays)
    return SuperelementModes(nodes[:, 0].astype(np.int64), np.ascontiguousarray(nodes[:, 1:]), **arrays)


def _by(shape: tuple[int, ...]) -> str:
    return " by ".join(str(size) for size in shape)


def _require_energy(arrays: dict[str, Array]) -> None:
    """Require nonnegative strain energy, and positive kinetic energy for every motion."""
    whole = np.block([[arrays["rigid"], arrays["coupling"]], [arrays["coupling"].T, arrays["M"]]])
    for name, matrix in (("K", arrays["K"]), ("M", whole)):
        largest = float(np.abs(matrix).max(initial=0.0))
        if np.abs(matrix - matrix.T).max(initial=0.0) > _SYMMETRIC * largest:
            raise ValueError(f"its {'rigid or M' if name == 'M' else name} is not symmetric")
        diagonal = np.diag(matrix)
        if diagonal.min(initial=0.0) < 0.0 or (name == "M" and diagonal.min(initial=1.0) <= 0.0):
            raise ValueError(f"the diagonal of its {name} has an entry that is not positive")
        unit = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        lowest = float(np.linalg.eigvalsh(unit[:, None] * matrix * unit)[0]) if len(matrix) else 1.0
        if lowest < (-_SYMMETRIC if name == "K" else 1e-12):
            energy = "strain energy" if name == "K" else "kinetic energy (rigid, coupling and M together)"
            raise ValueError(f"a motion has no positive {energy}")
