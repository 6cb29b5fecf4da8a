"""Superelements: the elastic body of imported matrices, with its node sets tied to connected positions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import NamedTuple, NoReturn

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from supple.array_types import Array, Integers
from supple.description.drawing import Drawing, Path
from supple.description.elastic.superelement import Interface
from supple.description.elastic.superelement_files import SuperelementMatrices, rigid_body_modes, superelement_matrices
from supple.diagnostics import InputError
from supple.diagnostics.errors import part_name
from supple.formulations.elastic.body_matrices import NEAR, PLANAR_COLUMNS, ElasticBody
from supple.formulations.elastic.touched_places import TouchedPlace
from supple.geometry.inertia import part_mass
from supple.geometry.rotation import tilde

_AT_PLACE = 1e-6  # of the body's size: a node of an interface lies at its place


def superelement_body(drawing: Drawing, name: str, touched: list[TouchedPlace]) -> ElasticBody:
    """Return the body of imported matrices, with tied node sets and a node at every connected position."""
    described = drawing.mechanism.bodies[name].superelement
    assert described is not None
    path: Path = ("bodies", name, "superelement")
    arrays = superelement_matrices(described, path)
    require_free_body(arrays, path)
    positions = arrays.positions - drawing.offsets[name]
    size = float(np.linalg.norm(np.ptp(positions, axis=0)))
    patches: list[Patch] = []
    front: list[int] = []
    carriers: list[tuple[Array, int, bool]] = []  # a place, its patch or its rank in `front`, whether it is a patch
    for key, interface in described.interfaces.items():
        at: Path = (*path, "interfaces", key)
        place = drawing.on_body(name, key, at)
        if interface.node is not None:
            node = _single(arrays, positions, interface.node, place, size, at)
            carriers.append((place, len(front), False))
            front.append(node)
        else:
            carriers.append((place, len(patches), True))
            patches.append(_patch(arrays, positions, interface, place, at))
    _require_apart(arrays, patches, front, path)
    free = sorted(set(range(len(positions))) - set(front) - {int(node) for patch in patches for node in patch.nodes})
    nodes: dict[tuple[float, ...], int] = {}
    for one in touched:
        if not _near(carriers, one.position, size):
            node = _node_there(arrays, positions, free, one, size, name)
            carriers.append((one.position, len(front), False))
            front.append(node)
        _, number, of_patch = _near(carriers, one.position, size)[0]
        nodes[tuple(one.position.tolist())] = number if of_patch else len(patches) + number
    return _assemble_body(drawing, name, arrays, positions, patches, front, touched, nodes)


def _assemble_body(
    drawing: Drawing,
    name: str,
    arrays: SuperelementMatrices,
    positions: Array,
    patches: list[Patch],
    front: list[int],
    touched: list[TouchedPlace],
    nodes: dict[tuple[float, ...], int],
) -> ElasticBody:
    planar = drawing.mechanism.planar
    mesh = tie_nodes(positions, arrays.degrees, patches, front)
    S, node, component = mesh.S, mesh.node, mesh.component
    if planar:  # places stay in the plane; the mesh between them is held by them alone
        keep = (node >= len(patches) + len(front)) | np.isin(component, PLANAR_COLUMNS)
        S, node, component = S[:, keep], node[keep], component[keep]
    mesh_turning = [sp.block_diag([tilde(np.eye(3)[k])] * (S.shape[0] // 3)) for k in ((2,) if planar else (0, 1, 2))]
    K, M = (sp.csr_array(S.T @ (0.5 * (matrix + matrix.T)) @ S) for matrix in (arrays.K, arrays.M))
    turning = [sp.csr_array(S.T @ arrays.M @ turn @ S) for turn in mesh_turning]
    pairs = list(combinations_with_replacement(range(len(mesh_turning)), 2))
    turned = [sp.csr_array((mesh_turning[j] @ S).T @ arrays.M @ (mesh_turning[k] @ S)) for j, k in pairs]
    width = 3 if planar else 6
    for place in touched:
        if place.heavy:
            at = nodes[tuple(place.position.tolist())] * width
            part = part_mass(place.mass, place.inertia)
            turns = [np.kron(np.eye(2), tilde(np.eye(3)[k])) for k in ((2,) if planar else (0, 1, 2))]
            kept = PLANAR_COLUMNS if planar else np.arange(6)
            M = M + _block(part[np.ix_(kept, kept)], at, M.shape[0])
            turning = [
                N + _block((part @ turn)[np.ix_(kept, kept)], at, M.shape[0])
                for N, turn in zip(turning, turns, strict=True)
            ]
            turned = [
                N + _block((turns[j].T @ part @ turns[k])[np.ix_(kept, kept)], at, M.shape[0])
                for N, (j, k) in zip(turned, pairs, strict=True)
            ]
    rows = {key: nodes[key] for key in (tuple(place.position.tolist()) for place in touched if place.row)}
    return ElasticBody(
        name=name,
        nodes=mesh.nodes,
        K=K,
        M=sp.csr_array(M),
        turning=tuple(turning),
        width=width,
        node=node,
        component=component,
        interface=tuple(sorted(set(rows.values()))),
        places={(key[0], key[1], key[2]): number for key, number in rows.items()},
        turned=tuple(turned),
    )


def _block(block: Array, at: int, size: int) -> sp.csr_array:
    rows, columns = np.meshgrid(at + np.arange(len(block)), at + np.arange(len(block)), indexing="ij")
    return sp.coo_array((block.ravel(), (rows.ravel(), columns.ravel())), shape=(size, size)).tocsr()


def _index(arrays: SuperelementMatrices, number: int, path: Path) -> int:
    found = np.flatnonzero(arrays.numbers == number)
    if not len(found):
        low, high = arrays.numbers.min(), arrays.numbers.max()
        refuse(f"unknown node {number}", path, f"the node table has {len(arrays.numbers)} nodes, {low} to {high}")
    return int(found[0])


def _single(arrays: SuperelementMatrices, positions: Array, number: int, place: Array, size: float, path: Path) -> int:
    node = _index(arrays, number, path)
    if arrays.degrees[node] != 6:
        refuse(
            f"node {number} has three degrees of freedom, but a joint needs six",
            path,
            "tie several nodes to it: nodes: [...] or within: 0.01",
        )
    distance = float(np.linalg.norm(positions[node] - place))
    if distance > _AT_PLACE * size:
        refuse(f"node {number} is {distance:.4g} m from the point", path, "move the point to the node")
    return node


def _patch(arrays: SuperelementMatrices, positions: Array, interface: Interface, place: Array, path: Path) -> Patch:
    if interface.nodes is not None:
        nodes = np.array([_index(arrays, number, path) for number in interface.nodes])
    else:
        assert interface.within is not None
        distance = np.linalg.norm(positions - place, axis=1)
        nodes = np.flatnonzero(distance <= interface.within * (1.0 + 1e-9))
        if len(nodes) < 3:
            refuse(
                f"at least 3 nodes are needed within {interface.within:g} m (got {len(nodes)}, the nearest at "
                f"{distance.min():.4g} m)",
                path,
                "increase within:, or list nodes:",
            )
    if on_a_line(positions[nodes]):
        refuse("the tied nodes are on one line, so the rotation about it is free", path, "add nodes off the line")
    return Patch(place, nodes, interface.tie == "average", _weights(arrays, nodes))


def _weights(arrays: SuperelementMatrices, nodes: Integers) -> Array | None:
    """Return weights of the nodes in their mean motion: diagonal masses, which follow the tributary area.

    Equal weights would overrate corners and edges of a face and make the compliance of the tie depend on the mesh.
    """
    first = np.concatenate([[0], np.cumsum(arrays.degrees)])[nodes]
    found = np.mean([arrays.M.diagonal()[first + k] for k in range(3)], axis=0)
    return found if found.min() > 0.0 else None


def _require_apart(arrays: SuperelementMatrices, patches: list[Patch], front: list[int], path: Path) -> None:
    taken = np.concatenate([np.array(front, dtype=np.int64), *(patch.nodes for patch in patches)])
    numbers, counts = np.unique(taken, return_counts=True)
    if len(counts) and counts.max() > 1:
        twice = arrays.numbers[numbers[np.argmax(counts)]]
        refuse(f"node {twice} belongs to two interfaces", (*path, "interfaces"), "use different nodes for each")


def _near(carriers: list[tuple[Array, int, bool]], position: Array, size: float) -> list[tuple[Array, int, bool]]:
    return [carrier for carrier in carriers if np.linalg.norm(carrier[0] - position) <= 10.0 * NEAR * size]


def _node_there(
    arrays: SuperelementMatrices, positions: Array, free: list[int], place: TouchedPlace, size: float, name: str
) -> int:
    six = [node for node in free if arrays.degrees[node] == 6]
    distance = np.linalg.norm(positions[six] - place.position, axis=1) if six else np.array([np.inf])
    nearest = int(np.argmin(distance))
    if six and (place.loose or distance[nearest] <= _AT_PLACE * size):
        return six[nearest]
    listed = ", ".join(f"{x:.6g}" for x in place.position)
    raise InputError(
        f"{part_name(('bodies', name))} has no interface at ({listed}) in its axes"
        + (f"; the nearest node with six degrees is {distance[nearest]:.4g} m away" if six else ""),
        part=place.part,
        path=place.path,
        hint="list the place under interfaces: with a node or a patch of nodes",
    )


# Patches of a mesh tied to places with six degrees of freedom: rigidly, or by their average motion.
#
# With the mesh displacements u = S q, mass and stiffness become Sᵀ M S and Sᵀ K S.   (elastic-bodies, 15-18)


class Patch(NamedTuple):
    """Nodes of the mesh (by index) tied to a position; average: by their mean motion, otherwise rigidly.

    weights : (n,) of the nodes in the mean, such as their area or mass; default equal
    """

    place: Array
    nodes: Integers
    average: bool
    weights: Array | None = None


class Tied(NamedTuple):
    """The mesh with its node sets tied.

    S         : (mesh degrees, size), sparse: mesh displacements = S q
    nodes     : (n, 3) the positions, the nodes in `front`, then the other nodes that still have degrees of freedom
    node, component : (size,) of each q
    """

    S: sp.csr_array
    nodes: Array
    node: Integers
    component: Integers


def on_a_line(positions: Array) -> bool:
    """Return whether the nodes lie on a line, so that a rotation about it is undetermined."""
    spread = np.linalg.svd(positions - positions.mean(axis=0), compute_uv=False)
    return len(positions) < 3 or spread[1] < 1e-6 * spread[0]


def tie_nodes(positions: Array, degrees: Integers, patches: Sequence[Patch], front: Sequence[int] = ()) -> Tied:
    """Tie disjoint node sets; the nodes in `front` (with six degrees of freedom) follow the tied positions."""
    first = np.concatenate([[0], np.cumsum(degrees)])
    total = int(first[-1])
    dependent = np.zeros(total, dtype=bool)
    rows: list[tuple[Integers, Integers, Array, Array]] = []  # mesh rows, free mesh columns, weights of both
    for patch in patches:
        if patch.average:
            tie = _average(positions, first, patch)
        else:
            tie = _rigid(positions, first, degrees, patch)
        dependent[tie[0]] = True
        rows.append(tie)
    mesh_node = np.repeat(np.arange(len(degrees)), degrees)
    mesh_component = np.arange(total) - first[mesh_node]
    free = np.flatnonzero(~dependent)
    rank = np.full(len(degrees), len(front))
    rank[list(front)] = np.arange(len(front))
    free = free[np.lexsort((free, rank[mesh_node[free]]))]
    places = 6 * len(patches)
    column = np.full(total, -1)
    column[free] = places + np.arange(len(free))
    S = sp.lil_array((total, places + len(free)))
    S[free, column[free]] = 1.0
    for number, (at, others, of_place, of_others) in enumerate(rows):
        S[np.ix_(at, np.arange(6 * number, 6 * number + 6))] = of_place
        if len(others):
            S[np.ix_(at, column[others])] = of_others
    _, kept, numbers = np.unique(rank[mesh_node[free]] * len(degrees) + mesh_node[free], True, True)
    return Tied(
        sp.csr_array(S),
        np.vstack([*(patch.place for patch in patches), positions[mesh_node[free][kept]]]),
        np.concatenate([np.repeat(np.arange(len(patches)), 6), len(patches) + numbers]),
        np.concatenate([np.tile(np.arange(6), len(patches)), mesh_component[free]]),
    )


def _motion(place: Array, at: Array, count: int) -> Array:
    """Return the displacement of a node of a rigid set for the displacement of its position, (count, 6)."""
    return np.block([[np.eye(3), -tilde(at - place)], [np.zeros((3, 3)), np.eye(3)]])[:count]


def _rigid(
    positions: Array, first: Integers, degrees: Integers, patch: Patch
) -> tuple[Integers, Integers, Array, Array]:
    """Tie nodes rigidly: u_i = u_P + φ_P × (X_i - X_P), φ_i = φ_P."""
    at = np.concatenate([np.arange(first[node], first[node] + degrees[node]) for node in patch.nodes])
    motion = np.vstack([_motion(patch.place, positions[node], int(degrees[node])) for node in patch.nodes])
    return at, np.zeros(0, dtype=np.int64), motion, np.zeros((len(at), 0))


def _average(positions: Array, first: Integers, patch: Patch) -> tuple[Integers, Integers, Array, Array]:
    """Tie nodes by q_P = B u, B = (AᵀwA)⁻¹Aᵀw, A the set's rigid motion, solved for six of its displacements."""
    at = (first[patch.nodes][:, None] + np.arange(3)).ravel()
    A = np.vstack([_motion(patch.place, positions[node], 3) for node in patch.nodes])
    size = np.sqrt(np.mean(np.sum((positions[patch.nodes] - patch.place) ** 2, axis=1)))
    scale = np.array([1.0] * 3 + [1.0 / size] * 3)  # rotations as displacements at the patch's radius
    weights = np.ones(len(patch.nodes)) if patch.weights is None else patch.weights
    root = np.repeat(np.sqrt(weights / weights.max()), 3)
    B = scale[:, None] * la.lstsq(root[:, None] * A * scale, np.diag(root))[0]
    _, _, pivots = la.qr(B / scale[:, None], mode="economic", pivoting=True)
    own, others = np.sort(pivots[:6]), np.sort(pivots[6:])
    inverse = la.inv(B[:, own])
    return at[own], at[others], inverse, -inverse @ B[:, others]


# Whether imported matrices are those of one free elastic body.


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


def require_free_body(arrays: SuperelementMatrices, path: Path) -> None:
    """Raise an error unless K and M are those of one free elastic body.

    Both must be symmetric. K must resist everything except the six rigid motions. M must be positive on its entries
    (lumped masses have none for rotations), with the same mass along x, y and z.
    """
    try:
        _require_free_body(arrays, path)
    except InputError as error:
        if not arrays.reader:
            raise
        raise InputError(
            f"{arrays.reader}: {error.message}", part=error.part, path=error.path, hint=error.hint
        ) from None


def _require_free_body(arrays: SuperelementMatrices, path: Path) -> None:
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
                f"the stiffness matrix resists {motion} as a rigid body (most at node {_owner(arrays, worst)}), "
                "so it has fewer than six rigid-body motions",
                path,
                "export the free body, without supports, with positions in the same unit as the matrices (m)",
            )
    _require_mass(arrays, T, path)
    _require_one_piece(arrays, path)


def _require_mass(arrays: SuperelementMatrices, T: Array, path: Path) -> None:
    _require_definite(arrays, path)
    translations = T[:, :3].T @ (arrays.M @ T[:, :3])
    masses = np.diag(translations)
    if masses.min() <= 0.0 or np.ptp(masses) > 1e-6 * masses.max() or _off(translations) > 1e-6 * masses.max():
        listed = ", ".join(f"{mass:.6g}" for mass in masses)
        refuse(
            f"the mass matrix has different masses along x, y and z ({listed} kg)",
            path,
            "check the order of the degrees of freedom: node by node, ux, uy, uz, then rotations",
        )


def _require_definite(arrays: SuperelementMatrices, path: Path) -> None:
    """Require xᵀM x > 0 for every motion x of the degrees of freedom with entries in M: positive kinetic energy."""
    M = sp.csr_array(0.5 * (arrays.M + arrays.M.T))
    M.eliminate_zeros()
    diagonal = M.diagonal()
    kept = np.flatnonzero(np.diff(M.indptr))
    least = int(kept[np.argmin(diagonal[kept])])
    if diagonal[least] <= 0.0:
        what = "negative" if diagonal[least] < 0.0 else "zero although others are not"
        refuse(
            f"the mass matrix is not positive semidefinite: a diagonal entry is {what} (node {_owner(arrays, least)})",
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
        what = "singular" if lowest > -_MASSLESS else "not positive semidefinite"
        energy = "no" if lowest > -_MASSLESS else "negative"
        where = "" if worst is None else f", most of it at node {_owner(arrays, worst)},"
        refuse(
            f"the mass matrix is {what}: a motion{where} has {energy} kinetic energy",
            path,
            "export it again with all digits; only complete rows may be zero",
        )


def _lowest_pivot(scaled: sp.csc_array) -> tuple[float, int | None]:
    """Return the lowest pivot of a symmetric matrix with unit diagonal, and its row (None if a pivot is zero).

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


def _require_one_piece(arrays: SuperelementMatrices, path: Path) -> None:
    """Require that the seventh eigenvalue of K, scaled to unit diagonal, is well above the six zero ones."""
    K = 0.5 * (arrays.K + arrays.K.T)
    diagonal = K.diagonal()
    if diagonal.min() <= 0.0:
        number = _owner(arrays, int(np.argmin(diagonal)))
        refuse(f"node {number} has a degree of freedom without stiffness", path, "remove it, or export again")
    scaling = sp.diags_array(1.0 / np.sqrt(diagonal))
    scaled = sp.csc_array(scaling @ K @ scaling)
    if K.shape[0] <= _DENSE:
        values = la.eigvalsh(scaled.toarray(), subset_by_index=[0, 7])
    else:
        start = np.random.default_rng(0).normal(size=K.shape[0])  # the same at every run
        values = np.sort(spla.eigsh(scaled, 8, sigma=-1e-10, v0=start, return_eigenvectors=False))
    if values[0] < -1e-6:
        refuse("the stiffness matrix is not positive semidefinite", path, "export it with the signs of a spring")
    if not values[6] > _GAP * np.abs(values[:6]).max():
        refuse(
            "the stiffness matrix has more than six zero-energy motions: unconnected parts, or nodes without stiffness",
            path,
            "export one connected body, without rotations that the mesh does not have",
        )


def _owner(arrays: SuperelementMatrices, row: int) -> int:
    """Return the number of the node that a row of the matrices belongs to."""
    return int(arrays.numbers[np.searchsorted(np.cumsum(arrays.degrees), row, side="right")])


def refuse(message: str, path: Path, hint: str) -> NoReturn:
    """Raise an InputError about the part at the path."""
    raise InputError(message, part=part_name(path), path=path, hint=hint)
