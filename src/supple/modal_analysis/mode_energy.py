"""Distribution of the energy of each mode, as numbers and as text: motion and deformation of parts, directions.

The equations are in docs/theory/elastic-rest.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.description.elastic.placed_beam import placed_beams
from supple.description.joints.joint_kinds import JOINT_KINDS
from supple.description.mass_properties import mass_properties
from supple.diagnostics import InputError
from supple.formulations.elastic.elastic_body import beam_span
from supple.formulations.elastic_rest.body_coordinates import BodyCoordinates
from supple.formulations.elastic_rest.constrained_modes import rows_over_coordinates, stiffnesses
from supple.formulations.elastic_rest.dense import collect_by_row
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.geometry.inertia import MassProperties
from supple.geometry.rotation import tilde
from supple.kinematics.joint_frames import joint_frames
from supple.kinematics.measures import component_keys, key_of
from supple.kinematics.numbering import Numbering
from supple.modal_analysis.mode_set import ModeSet
from supple.results.result import brief
from supple.results.text import list_names

Shares = dict[str, Array]

_PARALLEL = 1e-6  # largest difference between parallel axes
_ROUNDING = 2e-14  # fraction of the largest stiffness below which an ω² is zero
_TURNING = 0.02  # fraction of the kinetic energy in translation below which a mode rotates parts in place
_NONE = 1e-12  # the same, as a fraction of the largest possible energy


@dataclass(frozen=True, eq=False, repr=False)
class ModeEnergy:
    """Shares of each mode's energy, by name; every array is (..., k), in a batch (N, k).

    kinetic   : share of the kinetic energy in each body; motors : in the motor of each joint
    strain    : share of the elastic energy in each body; joints : in each elastic joint; springs : in each spring;
                couplings : in each compliant coupling
    torsion   : share of the elastic energy of each body in torsion of its beams; none in superelements and in the plane
    elastic   : elastic energy over the mode's potential energy; the rest is that of gravity and the forces at rest
    free      : whether the mode is a motion without stiffness
    along     : (..., k, 3) shares of the translation along the world's x, y, z; zero where parts rotate in place
    normal    : normal of the plane that the joints define in space (world axes), or None
    out_of_plane : share of the kinetic energy out of that plane: along its normal and rotations about axes within it

    The equations are 15-19 of docs/theory/elastic-rest.md.
    """

    frequencies_hz: Array
    kinetic: Shares
    motors: Shares
    strain: Shares
    torsion: Shares
    joints: Shares
    springs: Shares
    couplings: Shares
    elastic: Array
    free: NDArray[np.bool_]
    along: Array
    normal: Array | None = None
    out_of_plane: Array | None = None
    plane: str | None = None

    def __repr__(self) -> str:
        return brief("ModeEnergy", f"of {self.frequencies_hz.shape[-1]} modes in {list_names(self.kinetic)}")

    def data(self) -> dict[str, Any]:
        """Return the shares by name, as `--json` prints them."""
        names = (
            "kinetic", "motors", "strain", "torsion", "joints", "springs", "couplings", "along", "out_of_plane",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def words(self) -> list[str]:
        """Return a description of each mode at one configuration."""
        return mode_descriptions(self)


def mode_energy(modes: ModeSet) -> ModeEnergy:
    """Return kinetic energy ½ ż² and elastic energy ½ zᵀΛz + ½ Σ (C z)²/c, divided among the parts they belong to."""
    rest = modes.rest
    single = modes.shapes.ndim == 2
    Z = modes.shapes[None] if single else modes.shapes
    X = modes.configuration.X.reshape(-1, *modes.configuration.X.shape[-2:])
    kinetic = {body.name: np.square(Z[..., body.start : body.stop]).sum(axis=-1) for body in rest.bodies}
    motors = _motors(rest, Z, X)
    strain = {
        body.name: np.square(Z[..., body.start : body.stop - body.deflections])
        @ body.stiffness[: body.size - body.deflections]
        for body in rest.bodies
        if body.mesh is not None
    }
    twisted = {
        body.name: np.square(Z[..., body.start : body.stop] @ torsion_rows(rest, body).T).sum(axis=-1)
        for body in rest.bodies
        if body.name in strain
    }
    joints, springs, couplings = _elastic_rows(modes, Z, X)
    stored = _total([strain, joints, springs, couplings], Z)
    squares = np.square(2.0 * np.pi * np.atleast_2d(modes.frequencies_hz))
    free = squares <= _rounding(modes, squares)
    inertia = _total([kinetic, motors], Z)
    tensors = _Tensors(rest)
    normal = plane_normal(rest.numbering)

    def shares(parts: Shares, total: Array) -> Shares:
        divided = {
            name: np.divide(part, total, out=np.zeros_like(part), where=total > 0) for name, part in parts.items()
        }
        return {name: part[0] for name, part in divided.items()} if single else divided

    def unwrap(values: Array) -> Array:
        return values[0] if single else values

    return ModeEnergy(
        frequencies_hz=modes.frequencies_hz,
        kinetic=shares(kinetic, inertia),
        motors=shares(motors, inertia),
        strain=shares(strain, np.where(free, 0.0, stored)),
        torsion={name: part for body in strain for name, part in shares({body: twisted[body]}, strain[body]).items()},
        joints=shares(joints, np.where(free, 0.0, stored)),
        springs=shares(springs, np.where(free, 0.0, stored)),
        couplings=shares(couplings, np.where(free, 0.0, stored)),
        elastic=unwrap(np.divide(stored, squares, out=np.zeros_like(stored), where=~free)),
        free=free[0] if single else free,
        along=unwrap(tensors.along(Z, X)),
        normal=normal,
        out_of_plane=None if normal is None else unwrap(tensors.out_of_plane(Z, X, normal)),
        plane=rest.numbering.mechanism.plane,
    )


def _rounding(modes: ModeSet, squares: Array) -> Array:
    """Return the limit (N, 1) below which an ω² is zero.

    The scale is that of stiffness, the other modes, and a pendulum of the mechanism's size.
    """
    rest, numbering = modes.rest, modes.rest.numbering
    gravity = numbering.mechanism.gravity
    weight = (
        0.0 if gravity is None else float(np.linalg.norm(numbering.drawing.vector(gravity, ("gravity",), "gravity")))
    )
    largest = np.maximum(squares.max(axis=-1, keepdims=True, initial=0.0), weight / numbering.arrays.extent)
    X = modes.configuration.X.reshape(-1, *modes.configuration.X.shape[-2:])
    stiffest = stiffnesses(rest, modes.held, X[0]).max(initial=0.0)
    return np.maximum(_ROUNDING * stiffest, _NONE * largest)


def _total(parts: Iterable[Shares], Z: Array) -> Array:
    found = np.zeros(Z.shape[:2])
    for part in parts:
        for values in part.values():
            found += values
    return found


def _motors(rest: ElasticRest, Z: Array, X: Array) -> Shares:
    """Return J (C z)² of every motor, by its joint."""
    found: Shares = {}
    inertia = collect_by_row(rest, "inertia")
    names = {row: key[1] for key, row in rest.numbering.measures.items() if key[0] == "joint"}
    moved = _apply_rows(rest, list(inertia), Z, X)
    for i, (row, J) in enumerate(inertia.items()):
        found[names[row]] = found.get(names[row], 0.0) + J * np.square(moved[..., i])
    return found


def _elastic_rows(modes: ModeSet, Z: Array, X: Array) -> tuple[Shares, Shares, Shares]:
    """Return (C z)²/c of elastic joints and couplings, k δ² of drives, k (C z)² of springs."""
    rest = modes.rest
    joints: Shares = {}
    couplings: Shares = {}
    soft = {int(row): float(c) for row, c in zip(modes.held.rows, modes.held.compliance, strict=True) if c > 0.0}
    rows = list(soft)
    moved = _apply_rows(rest, rows, Z, X)
    for row, yielding in rest.elastic_rows.items():
        name = yielding.part
        shares = couplings if name in rest.numbering.coupling_rows else joints
        shares[name] = shares.get(name, 0.0) + np.square(moved[..., rows.index(row)]) / soft[row]
    for drive in rest.drives.values():
        part = np.square(Z[..., drive.column]) * rest.arrays.stiffness[drive.column]
        joints[drive.joint] = joints.get(drive.joint, 0.0) + part
    springs: Shares = {}
    mechanism = rest.numbering.mechanism
    for name, spring in mechanism.springs.items():
        keys = component_keys(mechanism, spring) if spring.without_length else [key_of(mechanism, spring)]
        for row in (rest.numbering.measures[key] for key in keys):
            if row in soft:  # otherwise its coordinate is locked
                part = -spring.about_relaxed.slope * np.square(moved[..., rows.index(row)])
                springs[name] = springs.get(name, 0.0) + part
    return joints, springs, couplings


def _apply_rows(rest: ElasticRest, rows: list[int], Z: Array, X: Array) -> Array:
    """Return C z of some rows: (N, k, rows)."""
    C = rows_over_coordinates(rest, np.array(rows, dtype=np.int64), np.ascontiguousarray(X))
    return Z @ np.swapaxes(C, 1, 2)


class _BodyShapes(NamedTuple):
    """Displacements (n, 6, size) of a body's nodes over its z, and a mass (n,) for each of them."""

    shapes: Array
    mass: Array


class _Tensors:
    """Translations of all bodies as quadratic forms of z, in body axes: constant, so that batches cost little."""

    def __init__(self, rest: ElasticRest):
        self.rest = rest
        self.properties = mass_properties(rest.numbering.drawing)

    def along(self, Z: Array, X: Array) -> Array:
        """Return Σ m (e·R u)² along the world's axes e, over their sum: (N, k, 3)."""
        total = np.zeros((*Z.shape[:2], 3, 3))
        P = self.rest.numbering.mechanism.plane_axes()
        for b, body in enumerate(self.rest.bodies):
            shapes, mass = _nodes(body, self.properties[body.name], self.rest.arrays.column)
            H = np.einsum("n,nia,njb->ijab", mass, shapes[:, :3], shapes[:, :3], optimize=True)
            z = Z[..., body.start : body.stop]
            E = np.einsum("Nka,ijab,Nkb->Nkij", z, H, z, optimize=True)
            R = (P @ X[:, b, 3:].reshape(-1, 3, 3))[:, None]
            total += R @ E @ np.swapaxes(R, -1, -2)
        found = np.diagonal(total, axis1=-2, axis2=-1)
        largest = found.sum(axis=-1, keepdims=True)
        return np.divide(found, largest, out=np.zeros_like(found), where=largest > _TURNING)

    def out_of_plane(self, Z: Array, X: Array, normal: Array) -> Array:
        """Return the kinetic energy of (n nᵀu, φ - n nᵀφ) over that of both parts of the motion: (N, k)."""
        out, within = np.zeros(Z.shape[:2]), np.zeros(Z.shape[:2])
        for b, body in enumerate(self.rest.bodies):
            n = X[0, b, 3:].reshape(3, 3).T @ normal  # bodies only rotate about it: equal in all configurations
            across = np.zeros((6, 6))
            across[:3, :3] = np.outer(n, n)
            across[3:, 3:] = np.eye(3) - np.outer(n, n)
            z = Z[..., body.start : body.stop]
            for projector, total in ((across, out), (np.eye(6) - across, within)):
                G = _projected_mass(body, self.properties[body.name], projector)
                total += np.einsum("Nka,ab,Nkb->Nk", z, G, z, optimize=True)
        return np.divide(out, out + within, out=np.zeros_like(out), where=out + within > 0.0)


def _nodes(body: BodyCoordinates, properties: MassProperties, column: NDArray[np.int64]) -> _BodyShapes:
    """Return the nodes of a body: its centre of mass if rigid, or mesh nodes with the mean of their diagonal masses."""
    if body.mesh is None:
        full = np.zeros((1, 6, body.size))
        full[0, column] = body.shapes
        full[0, :3] -= tilde(np.asarray(properties.center)) @ full[0, 3:]
        return _BodyShapes(full, np.array([properties.mass]))
    mesh = body.mesh
    full = np.zeros((len(mesh.nodes), 6, body.size))
    full[mesh.node, mesh.component] = body.shapes
    moving = mesh.component < 3
    count = np.bincount(mesh.node[moving], minlength=len(mesh.nodes))
    mass = np.bincount(mesh.node[moving], weights=mesh.M.diagonal()[moving], minlength=len(mesh.nodes))
    return _BodyShapes(full, mass / np.maximum(count, 1))


def _projected_mass(body: BodyCoordinates, properties: MassProperties, projector: Array) -> Array:
    """Return (P Φ)ᵀ M (P Φ) (size, size), with P acting on (u, φ) of every node; in space."""
    if body.mesh is None:
        projected = projector @ body.shapes
        return projected.T @ properties.spatial() @ projected
    full, _ = _nodes(body, properties, np.arange(6))
    projected = (projector @ full)[body.mesh.node, body.mesh.component]
    return projected.T @ (body.mesh.M @ projected)


def plane_normal(numbering: Numbering) -> Array | None:
    """Return the normal of the plane that all joints of a spatial mechanism keep: hinges along it, slides across it."""
    mechanism = numbering.mechanism
    if mechanism.planar:
        return None
    hinges: list[Array] = []
    slides: list[Array] = []
    for name, joint in mechanism.joints.items():
        kind = JOINT_KINDS[joint.kind]
        if kind.freedoms == 0:
            continue
        if kind.axes != 1:
            return None
        axis = numbering.drawing.bodies[joint.bodies[0]].axes @ joint_frames(numbering.drawing, name).Ea[:, 2]
        (hinges if kind.space.turns else slides).append(axis)
    if not hinges:
        return None
    n = hinges[0]
    parallel = all(np.linalg.norm(np.cross(n, axis)) < _PARALLEL for axis in hinges)
    return n if parallel and all(abs(n @ axis) < _PARALLEL for axis in slides) else None


# The elastic energy of torsion in bodies of beams, as a quadratic form of their coordinates z.


_GJ = 1  # index of the torsional stiffness among a span's rates


def torsion_rows(rest: ElasticRest, body: BodyCoordinates) -> Array:
    """Return Θ (elements, size): twice the energy of torsion of a body is |Θ z|².

    An element of length h about the axis e twists by e·(φ₂ - φ₁), evenly; its stiffness is the mean of GJ at its ends
    [elastic-rest, eq. 16a]. Superelements and planar mechanisms have none.
    """
    mesh = body.mesh
    if mesh is None or mesh.width == 3 or not len(mesh.elements):
        return np.zeros((0, body.size))
    spans = [beam_span(beam) for beam in placed_beams(rest.numbering.drawing, body.name)]
    start, end, first, last = (np.array([item[i] for item in spans])[mesh.beams] for i in (0, 1, 3, 4))
    offset = np.array([item.offset for item in spans])[mesh.beams]
    way = end - start
    middle = mesh.ends.mean(axis=1) - start - offset
    t = (np.sum(middle * way, axis=1) / np.sum(way * way, axis=1))[:, None]
    stiffness = ((1.0 - t) * first + t * last)[:, _GJ]
    h = np.linalg.norm(mesh.ends[:, 1] - mesh.ends[:, 0], axis=1)
    turns = np.zeros((len(mesh.nodes), 3, body.size))
    spin = mesh.component > 2
    turns[mesh.node[spin], mesh.component[spin] - 3] = body.shapes[spin]
    axis = (mesh.ends[:, 1] - mesh.ends[:, 0]) / h[:, None]
    twist = np.einsum("ec,ecz->ez", axis, turns[mesh.elements[:, 1]] - turns[mesh.elements[:, 0]])
    return np.asarray(np.sqrt(stiffness / h)[:, None] * twist)


# Descriptions of modes: which bodies move, in or out of the plane, and where the elastic energy is.


_SHOWN = 0.05  # smallest share that is listed
_NAMED = 3  # largest number of parts in a list
_PURE = 0.98  # share from which a motion counts as entirely in the plane, or out of it
_MOSTLY = 0.6  # share of the translation from which a motion is mostly along one axis
_TWISTED = 0.95  # share of a body's elastic energy from which its deformation is entirely torsion


def mode_descriptions(energy: ModeEnergy) -> list[str]:
    """Describe every mode of one configuration.

    For example: out of the plane; coupler 71 % and follower 26 % of the motion; crank 64 % (torsion) and coupler 30 %
    of the deformation.
    """
    if energy.frequencies_hz.ndim != 1:
        raise InputError(
            f"descriptions are for modes at one configuration (got {len(energy.frequencies_hz)} configurations)",
            hint="compute the modes at one configuration",
        )
    return [_sentence(energy, i) for i in range(len(energy.frequencies_hz))]


def _sentence(energy: ModeEnergy, i: int) -> str:
    moving = {name: values[i] for name, values in energy.kinetic.items()}
    moving |= {f'motor of "{name}"': values[i] for name, values in energy.motors.items()}
    parts = [_direction(energy, i), f"{_list_shares(moving)} of the motion"]
    deformed = {name: values[i] for name, values in energy.strain.items()}
    twisted = {name: float(values[i]) for name, values in energy.torsion.items()}
    deformed |= {f'joint "{name}"': values[i] for name, values in energy.joints.items()}
    deformed |= {f'spring "{name}"': values[i] for name, values in energy.springs.items()}
    deformed |= {f'coupling "{name}"': values[i] for name, values in energy.couplings.items()}
    if energy.free[i]:
        parts.append("no stiffness")
    elif energy.frequencies_hz[i] < 0.0:
        parts.append("unstable under the forces at rest")
    else:
        elastic = float(energy.elastic[i])
        if elastic > _SHOWN:
            parts.append(f"{_list_shares(deformed, twisted)} of the deformation")
        if abs(1.0 - elastic) > _SHOWN:
            parts.append(f"{1.0 - elastic:.0%} of its stiffness from gravity and the forces at rest".replace("%", " %"))
    return "; ".join(part for part in parts if part)


def _list_shares(shares: dict[str, float], torsion: dict[str, float] | None = None) -> str:
    """List shares, `coupler 71 % (torsion) and follower 26 %`: the largest first, small ones omitted."""
    order = sorted(shares, key=lambda name: -shares[name])
    named = [name for name in order if shares[name] >= _SHOWN][:_NAMED] or order[:1]
    texts = [f"{name} {100.0 * shares[name]:.0f} %{_twist((torsion or {}).get(name, 0.0))}" for name in named]
    return texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + " and " + texts[-1]


def _twist(share: float) -> str:
    """Describe the share of torsion in a body's deformation; bending and stretching are not mentioned."""
    if share < _SHOWN:
        return ""
    return " (torsion)" if share > _TWISTED else f" ({100.0 * share:.0f} % of it torsion)"


def _direction(energy: ModeEnergy, i: int) -> str:
    if energy.out_of_plane is not None:
        out = float(energy.out_of_plane[i])
        if out > _PURE:
            return "out of the plane"
        return "in the plane" if out < 1.0 - _PURE else f"{100.0 * out:.0f} % out of the plane"
    along = energy.along[i]
    if not along.any():
        return "turning in place"
    axis = int(np.argmax(along))
    if along[axis] < _MOSTLY:
        return "in all directions" if energy.plane is None else "in the plane"
    return f"mostly along {'xyz'[axis]}"
