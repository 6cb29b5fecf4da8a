"""What a saved run keeps besides its signals, so that it can be watched: whose it is, and where its bodies went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array

if TYPE_CHECKING:
    from supple.results.simulation import Simulation


PREFIX = "playback."
INSTANTS = 400  # that are kept, at most: what an eye follows in some ten seconds


def playback_arrays(run: Simulation) -> dict[str, NDArray[Any]]:
    """`playback.ORIGIN`, texts on what ran, and at `playback.time` where everything was; of a model its coordinates η
    (n, size), of a mechanism

    playback.poses : (n, bodies, 12) position and rotation R_wb, row by row, of the bodies that `playback.bodies` names
    playback.nodes.BODY : (n, nodes, 6) of an elastic body, displacements and rotation vectors from its drawn shape, in
                          its axes, which go where the node next to its origin takes them
    """
    found: dict[str, NDArray[Any]] = {
        f"{PREFIX}{name}": np.array([text]) for name, text in getattr(run.record, "origin", {}).items()
    }
    if not found or not len(run.time):
        return found
    instants = evenly(len(run.time))
    if run.bodies is None:
        eta = np.stack(list(run.coordinates.values()), axis=1)
        return found | {f"{PREFIX}time": run.time[instants], f"{PREFIX}coordinates": eta[instants]}
    places = run.configuration
    X = places.X[instants, :-1]
    names = places.rest.numbering.bodies
    found[f"{PREFIX}bodies"] = np.array(names, dtype=str)
    found[f"{PREFIX}time"] = run.time[instants]
    found[f"{PREFIX}poses"] = X.astype(np.float32)
    if places.deformed is None:
        return found
    P = places.mechanism.plane_axes()
    for b, name in enumerate(names):
        nodes = run.nodes(name)
        if nodes.position.shape[1] < 2:
            continue
        drawn = places.deformed.frames.drawn(b)
        U = _relative(X[:, b], nodes.position[instants] @ P, P.T @ nodes.rotation[instants] @ P, drawn)
        found[f"{PREFIX}nodes.{name}"] = U.astype(np.float32)
    return found


def evenly(count: int, most: int = INSTANTS) -> NDArray[np.int64]:
    """Numbers of at most so many instants of a run, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))


def _relative(body: Array, x: Array, R: Array, drawn: Array) -> Array:
    """(n, nodes, 6): R_bᵀ(x - x_b) - X, and the rotation vector of R_bᵀ R."""
    from scipy.spatial.transform import Rotation  # takes a while to import

    R_b = body[:, 3:].reshape(-1, 3, 3)
    u = np.einsum("nji,nkj->nki", R_b, x - body[:, None, :3]) - drawn
    turned = np.einsum("nji,nkjl->nkil", R_b, R)
    phi = Rotation.from_matrix(turned.reshape(-1, 3, 3)).as_rotvec().reshape(*turned.shape[:2], 3)
    return np.concatenate([u, phi], axis=-1)
