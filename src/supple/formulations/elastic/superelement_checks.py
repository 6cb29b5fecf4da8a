"""Whether imported matrices are those of one free elastic body."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from supple.description.drawing import Path
from supple.description.elastic.superelement_files import SuperelementArrays, rigid_body_modes
from supple.diagnostics import InputError
from supple.diagnostics.parts import part_name
from supple.formulations.elastic.body_matrices import Array

_SYMMETRY = 1e-8  # of the largest entry: files are rounded
_RESISTANCE = 1e-6  # of the largest row: forces that a rigid motion may cause
_GAP = 100.0  # between the stiffness of the rigid motions, rounding, and the smallest of a deformation
_MASSLESS = 1e-11  # of a mass matrix with unit diagonal: rounding of files and of its factors
_DENSE = 600  # degrees of freedom up to which dense linear algebra is the faster
_MOTIONS = (
    "moving along x",
    "moving along y",
    "moving along z",
    "turning about x",
    "turning about y",
    "turning about z",
)


def require_elastic(arrays: SuperelementArrays, path: Path) -> None:
    """Raise unless K and M are those of one free elastic body.

    Both are symmetric; K resists everything but the six rigid motions; M is positive where it has entries at all
    (lumped masses leave rotations without), with the same mass along x, y and z.
    """
    for what, matrix in (("stiffness", arrays.K), ("mass", arrays.M)):
        largest = float(abs(matrix).max())
        gap = float(abs(matrix - matrix.T).max())
        if gap > _SYMMETRY * largest:
            refuse(
                f"the {what} matrix is not symmetric: entries differ by {gap:.3g} (the largest is {largest:.3g})",
                path,
                "export the whole matrix, or one half in a symmetric file",
            )
        if largest == 0.0:
            refuse(f"the {what} matrix is zero", path, "export it again")
    T = rigid_body_modes(arrays.positions, arrays.degrees, arrays.positions.mean(axis=0))
    size = float(np.linalg.norm(np.ptp(arrays.positions, axis=0)))
    rows = np.asarray(abs(arrays.K).sum(axis=1)).ravel()
    for k, motion in enumerate(_MOTIONS):
        reach = 1.0 if k < 3 else size
        force = np.abs(arrays.K @ T[:, k])
        worst = int(np.argmax(force))
        if force[worst] > _RESISTANCE * rows.max() * reach:
            refuse(
                f"its stiffness resists {motion} as a rigid body (most at node {_owner(arrays, worst)}): "
                "it has fewer than six rigid-body motions",
                path,
                "export the free body, without supports, with positions in the same unit as the matrices (m)",
            )
    _require_mass(arrays, T, path)
    _require_one_piece(arrays, path)


def _require_mass(arrays: SuperelementArrays, T: Array, path: Path) -> None:
    _require_definite(arrays, path)
    translations = T[:, :3].T @ (arrays.M @ T[:, :3])
    masses = np.diag(translations)
    if masses.min() <= 0.0 or np.ptp(masses) > 1e-6 * masses.max() or _off(translations) > 1e-6 * masses.max():
        listed = ", ".join(f"{mass:.6g}" for mass in masses)
        refuse(
            f"its mass matrix has different masses along x, y and z ({listed} kg)",
            path,
            "check the order of the degrees of freedom: node by node, ux, uy, uz, then rotations",
        )


def _require_definite(arrays: SuperelementArrays, path: Path) -> None:
    """xᵀM x > 0 for every motion x of the degrees of freedom that have entries in M: the kinetic energy is positive."""
    M = sp.csr_array(0.5 * (arrays.M + arrays.M.T))
    M.eliminate_zeros()
    diagonal = M.diagonal()
    kept = np.flatnonzero(np.diff(M.indptr))
    least = int(kept[np.argmin(diagonal[kept])])
    if diagonal[least] <= 0.0:
        what = "negative" if diagonal[least] < 0.0 else "zero, beside others that are not,"
        refuse(
            f"its mass matrix is indefinite: an entry of its diagonal is {what} (node {_owner(arrays, least)})",
            path,
            "export it again, consistent or lumped",
        )
    scaling = sp.diags_array(1.0 / np.sqrt(diagonal[kept]))
    scaled = sp.csc_array(scaling @ M[kept][:, kept] @ scaling)
    if len(kept) <= _DENSE:
        values, shapes = la.eigh(scaled.toarray(), subset_by_index=[0, 0])
        worst: int | None = int(kept[np.argmax(np.abs(shapes[:, 0]))])
        lowest = float(values[0])
    else:
        lowest, row = _lowest_pivot(scaled)
        worst = None if row is None else int(kept[row])
    if lowest < _MASSLESS:
        what = "singular" if lowest > -_MASSLESS else "indefinite"
        energy = "no" if lowest > -_MASSLESS else "negative"
        where = "" if worst is None else f", most of it at node {_owner(arrays, worst)},"
        refuse(
            f"its mass matrix is {what}: a motion{where} has {energy} kinetic energy",
            path,
            "export it again, with all its digits; only whole rows may be zero",
        )


def _lowest_pivot(scaled: sp.csc_array) -> tuple[float, int | None]:
    """The lowest pivot of a symmetric matrix with unit diagonal, and its row (None where a pivot is zero).

    Without exchanges its factors are L D Lᵀ, and D has as many negative entries as there are negative eigenvalues
    (Sylvester). Pivots bound the smallest eigenvalue from above.
    """
    try:
        factors = spla.splu(scaled, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:  # exactly singular
        return 0.0, None
    pivots = factors.U.diagonal()
    if (factors.perm_r != factors.perm_c).any():  # it had to exchange rows: a pivot was zero
        return 0.0, None
    lowest = int(np.argmin(pivots))
    return float(pivots[lowest]), int(np.flatnonzero(factors.perm_c == lowest)[0])


def _off(matrix: Array) -> float:
    return float(np.abs(matrix - np.diag(np.diag(matrix))).max())


def _require_one_piece(arrays: SuperelementArrays, path: Path) -> None:
    """The seventh eigenvalue of K, its diagonal scaled to one, must stand clear of six that are zero to rounding."""
    K = 0.5 * (arrays.K + arrays.K.T)
    diagonal = K.diagonal()
    if diagonal.min() <= 0.0:
        number = _owner(arrays, int(np.argmin(diagonal)))
        refuse(f"node {number} has a degree of freedom without stiffness", path, "leave it out, or export it again")
    scaling = sp.diags_array(1.0 / np.sqrt(diagonal))
    scaled = sp.csc_array(scaling @ K @ scaling)
    if K.shape[0] <= _DENSE:
        values = la.eigvalsh(scaled.toarray(), subset_by_index=[0, 7])
    else:
        start = np.random.default_rng(0).normal(size=K.shape[0])  # the same at every run
        values = np.sort(spla.eigsh(scaled, 8, sigma=-1e-10, v0=start, return_eigenvectors=False))
    if values[0] < -1e-6:
        refuse("its stiffness is negative in some motion", path, "export it again, with its sign as of a spring")
    if not values[6] > _GAP * np.abs(values[:6]).max():
        refuse(
            "it has more than six motions that nothing resists: parts are not connected, or nodes have no stiffness",
            path,
            "export one connected body, without rotations that the mesh does not have",
        )


def _owner(arrays: SuperelementArrays, row: int) -> int:
    """Number of the node that a row of the matrices belongs to."""
    return int(arrays.numbers[np.searchsorted(np.cumsum(arrays.degrees), row, side="right")])


def refuse(message: str, path: Path, hint: str) -> NoReturn:
    """Raise with the part that the path leads to."""
    raise InputError(message, part=part_name(path), path=path, hint=hint)
