"""One elastic body by itself, and its frequencies with some degrees of freedom held: a small dense solver."""

import numpy as np
import scipy.linalg as la

from supple.description.drawing import Drawing
from supple.description.mechanism import Mechanism
from supple.formulations.elastic.elastic_body import elastic_body

ALL = "xyzabc"  # translations x, y, z and rotations a, b, c about them; in the plane x, y, c


def single(body, *, points, touched=(), plane=None, sections=None, materials=None, **more):
    """The elastic body of a mechanism that has no other, with sensors at the touched places."""
    described = {
        "plane": plane,
        "points": points,
        "sections": sections or {},
        "materials": materials or {},
        "bodies": {"body": body},
        "sensors": {f"at{i}": {"position": f"body.{place}"} for i, place in enumerate(touched)},
        "joints": {"held": {"free": ["ground", "body"], "at": next(iter(points))}},
        **more,
    }
    return elastic_body(Drawing(Mechanism(**described)), "body")


def beam(length, section, material, *, elements, touched=(), plane=None, **more):
    """One beam from the origin along x."""
    zero = [0.0] * (2 if plane else 3)
    return single(
        {"beam": ["A", "B"], "section": tuple(section) if len(section) == 2 else section[0], "material": "m",
         "elements": elements, **more.pop("body", {})},
        points={"A": zero, "B": [length, *zero[1:]], **more.pop("points", {})},
        touched=("B", *touched),
        plane=plane,
        sections=more.pop("sections"),
        materials={"m": material},
        **more,
    )  # fmt: skip


def columns(body, place, letters=ALL):
    """Degrees of freedom of the node at a place."""
    at = np.zeros(3)
    at[: len(place)] = place
    distance = np.linalg.norm(body.nodes - at, axis=1)
    node = int(np.argmin(distance))
    assert distance[node] < 1e-9, f"no node at {place}"
    wanted = ["xyzabc".index(letter) for letter in letters]
    return [int(column) for column in body.columns(node) if body.component[column] in wanted]


def squares(K, M, held=()):
    """ω² with some columns held, rising.

    Solved as 1/(ω² + shift), which keeps the small ones accurate in fine meshes.
    """
    free = np.setdiff1d(np.arange(K.shape[0]), np.array(held, dtype=int))
    K, M = (matrix.toarray() if hasattr(matrix, "toarray") else matrix for matrix in (K, M))
    K, M = K[np.ix_(free, free)], M[np.ix_(free, free)]
    shift = 1e-9 * np.trace(K) / np.trace(M)
    return 1.0 / la.eigvalsh(M, K + shift * M)[::-1] - shift


def hertz(body, held=()):
    """Frequencies of a body with some columns held, Hz."""
    return np.sqrt(np.maximum(squares(body.K, body.M, held), 0.0)) / (2.0 * np.pi)


def relative(found, exact):
    """|found/exact - 1|."""
    return np.abs(np.asarray(found) / np.asarray(exact) - 1.0)
