"""Bodies of beams whose nodes are moved anyhow, and the forces on them; and a small solver for their rest."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from supple.formulations.absolute.beams.beam_arrays import ALPHA, BETA, BeamArrays, BodyBeams, beam_arrays
from supple.formulations.absolute.beams.beam_forces import beam_forces
from supple.formulations.absolute.step_work import BENT
from supple.formulations.absolute.tangent import beam_derivatives
from supple.formulations.elastic.beam_mesh import Span, assemble_beams, mesh
from supple.geometry.rotation import axes_from_x, exponential, rotation_about

RATES = np.array([2e5, 3e3, 1e3, 2e3, 8e4, 9e4, 3.0, 0.02, 0.011, 0.013])


class Work(NamedTuple):
    """What the kernels of beams use of the work of a step."""

    forces: np.ndarray
    account: np.ndarray
    matrix: np.ndarray


class Forces(NamedTuple):
    Q: np.ndarray
    potential: float
    account: np.ndarray


class Beams(NamedTuple):
    """A body of beams, each of its nodes a frame."""

    arrays: BeamArrays
    nodes: np.ndarray
    d: int
    K: np.ndarray
    M: np.ndarray

    @property
    def planar(self):
        return self.d == 3

    @property
    def at_rest(self):
        X = np.zeros((len(self.nodes) + 1, 12))
        X[:, 3:] = np.eye(3).ravel()
        X[:-1, :3] = self.nodes
        return X

    @property
    def still(self):
        return np.zeros((len(self.nodes), self.d))

    def damped(self, alpha, beta):
        numbers = self.arrays.numbers.copy()
        numbers[:, ALPHA], numbers[:, BETA] = alpha, beta
        return self._replace(arrays=self.arrays._replace(numbers=numbers))

    def forces(self, X, V=None, acceleration=None, gravity=(0.0, 0.0, 0.0), kernel=beam_forces):
        V, acceleration = (self.still if item is None else item for item in (V, acceleration))
        work = Work(self.still, np.zeros(BENT + 1), np.zeros(0))
        potential = kernel(self.arrays, np.asarray(gravity, float), X, V, acceleration, work)
        return Forces(work.forces, potential, work.account)

    def displaced(self, X, step):
        """Frames moved by step (frames, d): in the world for positions, in the frame for rotations."""
        Y = X.copy()
        for b, move in enumerate(self.in_space(step)):
            Y[b, :3] += move[:3]
            Y[b, 3:] = (Y[b, 3:].reshape(3, 3) @ exponential(move[3:])).ravel()
        return Y

    def in_space(self, x):
        """Velocities (frames, d) as (frames, 6)."""
        full = np.zeros((len(x), 6))
        full[:, [0, 1, 5] if self.planar else slice(None)] = x
        return full

    def anyhow(self, seed=5, far=0.1):
        """Poses, velocities and accelerations of a deformed body, far from where it was at rest."""
        random = np.random.default_rng(seed)
        shape = self.still.shape
        moved = self.displaced(self.at_rest, far * random.normal(size=shape))
        away = self.in_space(random.normal(size=(1, self.d)))[0]
        X, _, _ = turned(moved, self.in_space(self.still), self.in_space(self.still), away[:3], exponential(away[3:]))
        return X, random.normal(size=shape), random.normal(size=shape)

    def whole(self, blocks):
        """Blocks (e, 2d, 2d) of the elements as one matrix."""
        n = self.d * len(self.nodes)
        found = np.zeros((n, n))
        for frames, block in zip(self.arrays.frames, blocks, strict=True):
            at = (self.d * frames[:, None] + np.arange(self.d)).ravel()
            found[np.ix_(at, at)] += block
        return found

    def unit_steps(self):
        """Displacements of one coordinate at a time, (n, frames, d)."""
        n = self.d * len(self.nodes)
        return np.eye(n).reshape(n, -1, self.d)


def turned(X, V, acceleration, shift, R):
    """The same motion seen from axes that are shifted and turned: positions and velocities in the world change, (V, v̇
    in space)."""
    Y, W, A = X.copy(), V.copy(), acceleration.copy()
    Y[:-1, :3] = X[:-1, :3] @ R.T + shift
    Y[:-1, 3:] = (R @ X[:-1, 3:].reshape(-1, 3, 3)).reshape(-1, 9)
    W[:, :3], A[:, :3] = V[:, :3] @ R.T, acceleration[:, :3] @ R.T
    return Y, W, A


def beams_through(points, *, planar, elements=2, shear=False, first=RATES, last=RATES, roll=0.0, offset=None):
    """Straight beams from point to point."""
    points = [np.asarray(point, float) for point in points]
    spans = [
        Span(
            a, b, rotation_about(b - a, roll) @ axes_from_x(b - a), first, last, elements, shear,
            np.zeros(3) if offset is None else np.asarray(offset, float),
        )
        for a, b in pairwise(points)
    ]  # fmt: skip
    found = mesh(spans)
    zero = np.zeros(len(spans))
    matrices = assemble_beams(spans, found, planar)
    arrays = beam_arrays([BodyBeams(spans, found, 0, zero, zero)], planar)
    return Beams(arrays, found.nodes, 3 if planar else 6, matrices.K.toarray(), matrices.M.toarray())


def bent_pair(planar, shear=True):
    """Two tapered beams at an angle, off their nodes, their sections turned; four elements."""
    points = [(0, 0, 0), (1, 0.5, 0), (2, 0.1, 0)] if planar else [(0, 0, 0), (1, 0.5, 0.2), (2, 0.1, -0.4)]
    last = RATES * np.linspace(0.5, 1.3, 10)
    offset = (0.02, 0.05, 0.0 if planar else 0.03)
    return beams_through(points, planar=planar, shear=shear, last=last, roll=0.3, offset=offset)


def settled(beams, load, X=None, held=(0,), *, steps=1, gravity=(0.0, 0.0, 0.0), tolerance=1e-12):
    """Poses at which the elements bear `load(X)` (frames, d), frames in `held` kept, by Newton's method in load steps.

    load : a function of the poses; what depends on them is taken as it is, its slope is not
    """
    X = beams.at_rest if X is None else X
    d, frames = beams.d, len(beams.nodes)
    free = np.array([d * b + c for b in range(frames) if b not in held for c in range(d)])
    for step in range(1, steps + 1):
        for _ in range(60):
            share = step / steps
            wanted = share * load(X)
            lack = (beams.forces(X, gravity=share * np.asarray(gravity), kernel=fast_forces()).Q + wanted).ravel()[free]
            K = -beams.whole(
                beam_derivatives(beams.arrays, share * np.asarray(gravity, float), X, *(2 * [beams.still])).pose
            )
            move = np.zeros(d * frames)
            move[free] = np.linalg.solve(K[np.ix_(free, free)], lack)
            largest = np.abs(move).max()

            X = beams.displaced(X, move.reshape(frames, d))
            if largest < tolerance:
                break
        else:
            raise AssertionError(f"no equilibrium: the last correction is {largest:.1e}")
    return X


def fast_forces():
    """The native kernel of the forces."""
    from supple.compilation import compile_kernel

    return compile_kernel(beam_forces)
