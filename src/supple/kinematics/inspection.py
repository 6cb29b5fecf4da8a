"""Inspection of a mechanism: its parts, loops, mobility, and notes on what deserves attention.

All of it is interpreted numpy, so that results come at once: nothing is compiled.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from supple.array_types import Array
from supple.description.drawing import Drawing
from supple.description.mass_properties import allowances, mass_properties
from supple.description.mechanism import Mechanism
from supple.description.topology import gruebler_count
from supple.diagnostics import InputError
from supple.diagnostics.errors import item_list
from supple.diagnostics.limits import most
from supple.formats.source import locate_error
from supple.kinematics.completion import BRANCH
from supple.kinematics.coordinate_limits import outside_limits
from supple.kinematics.jacobian import scaled_jacobian
from supple.kinematics.measure_slopes import measure_jacobian, slope_row
from supple.kinematics.measures import key_of
from supple.kinematics.primitives import SCALE
from supple.kinematics.ranked_rows import LARGE, RANK_TOLERANCE, RankedRows, rank_rows, sparse_rows
from supple.kinematics.rest import Rest, rest
from supple.results.result import facts_html

# Elastic parts of a mechanism: bodies with their beams, and cross-sections.


@dataclass(frozen=True)
class ElasticPart:
    """An elastic body as described in the file.

    beams, elements : numbers in the file; attachment points divide beams further. None for a superelement
    nodes           : number of nodes of a superelement, None for beams
    mass            : of the body with its point masses, kg
    """

    name: str
    beams: int | None
    elements: int | None
    nodes: int | None
    mass: float

    def __str__(self) -> str:
        if self.beams is None:
            return f"{self.name}: superelement of {self.nodes} nodes, {self.mass:.4g} kg"
        several = f"{self.beams} beams" if self.beams != 1 else "beam"
        return f"{self.name}: {several} of {self.elements} element{'s' * (self.elements != 1)}, {self.mass:.4g} kg"


@dataclass(frozen=True)
class SectionPart:
    """A cross-section of beams as described in the file.

    shape     : shape and dimensions, as text
    area      : m²
    line_mass : mass per metre of a beam, kg/m, by material
    """

    name: str
    shape: str
    area: float
    line_mass: dict[str, float]

    def __str__(self) -> str:
        masses = "".join(f", {value:.4g} kg/m of {material}" for material, value in self.line_mass.items())
        return f"{self.name}: {self.shape}: {1e6 * self.area:.4g} mm²{masses}"


def section_parts(mechanism: Mechanism) -> tuple[SectionPart, ...]:
    """Return the cross-sections of beams, in the order of the file, with the materials they are used with."""
    used: dict[str, list[str]] = {name: [] for name in mechanism.sections}
    for body in mechanism.bodies.values():
        for beam in body.all_beams:
            for name in beam.sections:
                used[name].append(beam.material)
    found = []
    for name, section in mechanism.sections.items():
        area = float(section.properties().area)
        masses = {material: mechanism.materials[material].density * area for material in dict.fromkeys(used[name])}
        found.append(SectionPart(name, section.in_words, area, masses))
    return tuple(found)


def elastic_parts(drawing: Drawing) -> tuple[ElasticPart, ...]:
    """Return the elastic bodies, in the order of the file."""
    bodies = {name: body for name, body in drawing.mechanism.bodies.items() if body.elastic}
    if not bodies:
        return ()
    properties = mass_properties(drawing)
    found = []
    for name, body in bodies.items():
        beams, nodes = body.all_beams, None
        if body.superelement is not None:
            from supple.description.elastic.superelement_files import superelement_matrices
            from supple.description.elastic.superelement_modes import modal_arrays

            path = ("bodies", name, "superelement")
            modal = modal_arrays(body.superelement, path)
            nodes = len(superelement_matrices(body.superelement, path).numbers if modal is None else modal.numbers)
        elements = sum(beam.elements for beam in beams)
        mass = float(properties[name].mass)
        found.append(ElasticPart(name, len(beams) or None, elements or None, nodes, mass))
    return tuple(found)


_INVOLVED = 1e-6  # smallest share in a motion or a dependence that counts


@dataclass(frozen=True)
class Inspection:
    """Structure of a mechanism: parts, loops, mobility, singularity at rest, and notes; returned by `inspect`.

    Attributes
    ----------
    name, plane : str
        Name of the mechanism and its plane; `plane` is None for a spatial mechanism.
    bodies, joints, couplings, actuated : tuple of str
        Names of bodies, joints, couplings (gears, belts, racks) and actuators.
    loops : tuple of tuple of str
        Joints of each independent loop.
    coordinates : tuple of str
        Coordinates θ; empty if the file names none and the number of actuators differs from the mobility.
    mobility, redundant_constraints : int
        Degrees of freedom and number of redundant constraints in general position.
    redundant_joints : tuple of str
        Joints that are involved in the redundancy.
    instantaneous_mobility : int
        Mobility at rest itself; larger than `mobility` if rest is a singular position.
    singular_at_rest : bool
        Whether rest is a singular position of joints and coordinates.
    singularity : float
        Smallest over largest singular value of the scaled joint and coordinate rows at rest.
    gruebler : int
        Mobility by the count of Grübler: freedoms minus constraints.
    notes : tuple of str
        Properties of the mechanism that deserve attention.
    elastic_bodies : tuple of ElasticPart
        Elastic bodies; the inspection treats them as rigid.
    elastic_joints : dict of str to tuple of str
        Compliant directions of each elastic joint; `drive` for the compliance of a drive.
    sections : tuple of SectionPart
        Cross-sections of beams, with area and mass per metre.
    drives, instruments : dict of str to str
        Description of the drive of each actuator and of the instrument of each output, as reported by `check`.
    """

    name: str
    plane: str | None
    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    couplings: tuple[str, ...]
    loops: tuple[tuple[str, ...], ...]
    actuated: tuple[str, ...]
    coordinates: tuple[str, ...]
    mobility: int
    redundant_constraints: int
    redundant_joints: tuple[str, ...]
    instantaneous_mobility: int
    singular_at_rest: bool
    singularity: float
    gruebler: int
    notes: tuple[str, ...]
    elastic_bodies: tuple[ElasticPart, ...] = ()
    elastic_joints: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sections: tuple[SectionPart, ...] = ()
    drives: dict[str, str] = field(default_factory=dict)
    instruments: dict[str, str] = field(default_factory=dict)

    def summary(self) -> str:
        """Return the inspection as readable text."""
        kind = f"planar, {self.plane}" if self.plane else "spatial"
        rows = [
            ("bodies", _count_and_list(self.bodies)),
            ("joints", _count_and_list(self.joints)),
            ("loops", f"{len(self.loops)}" + "".join(f"\n{'-'.join(loop)}" for loop in self.loops)),
            ("actuated", _count_and_list(self.actuated)),
            ("coordinates θ", _count_and_list(self.coordinates)),
            ("mobility", f"{self.mobility} (Grübler count {self.gruebler})"),
            ("redundant", f"{self.redundant_constraints} constraints"),
            ("singularity", f"{self.singularity:.3g} at rest (0 is singular)"),
        ]
        behind = 1 + [name for name, _ in rows].index("actuated")
        rows[behind:behind] = [
            (name, f"{len(found)}" + "".join(f"\n{line}" for line in _group_descriptions(found)))
            for name, found in (("drives", self.drives), ("instruments", self.instruments)) if found
        ]  # fmt: skip
        if self.couplings:
            rows.insert(3, ("couplings", _count_and_list(self.couplings)))
        if self.elastic_joints:
            listed = "; ".join(f"{name} in {', '.join(given)}" for name, given in self.elastic_joints.items())
            rows.insert(2, ("elastic joints", f"{len(self.elastic_joints)}: {listed}"))
        if self.elastic_bodies:
            listed = "".join(f"\n{part}" for part in self.elastic_bodies)
            rows.insert(1, ("elastic bodies", f"{len(self.elastic_bodies)}{listed}"))
        if self.sections:
            behind = 1 + [name for name, _ in rows].index("elastic bodies" if self.elastic_bodies else "bodies")
            rows.insert(behind, ("sections", f"{len(self.sections)}" + "".join(f"\n{part}" for part in self.sections)))
        lines = [f"{self.name} ({kind})"]
        for name, text in rows:
            first, *more = text.split("\n")
            lines.append(f"  {name:<14} {first}")
            lines += [f"  {'':<14}   {line}" for line in more]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        first, *lines = self.summary().split("\n")
        facts: list[tuple[str, str]] = []
        for line in lines:
            name, text = ("note", line.removeprefix("note: ")) if line.startswith("note: ") else (line[2:16], line[17:])
            facts.append((name.strip(), text.strip()))
        return facts_html("Inspection", first, facts)


def inspect(mechanism: Mechanism) -> Inspection:
    """Assemble the mechanism at rest and report its structure; an invalid mechanism raises an `InputError`."""
    try:
        position = rest(mechanism)
        inertia = body_inertia(position)
    except InputError as error:
        raise locate_error(error, mechanism) from None
    found, freedom = position.numbering, position.mobility
    rows = rank_rows(found, position.X, coordinates=True)
    # θ adds the rows that the joints leave free; without θ the joints alone are judged.
    full = found.columns - freedom.mobility + len(found.coordinates)
    singularity = rows.nearness(full)
    count = gruebler_count(mechanism)
    return Inspection(
        name=mechanism.name,
        plane=mechanism.plane,
        bodies=tuple(mechanism.bodies),
        joints=tuple(mechanism.joints),
        couplings=tuple(mechanism.couplings),
        loops=found.topology.loops,
        actuated=tuple(mechanism.actuators),
        coordinates=found.coordinates,
        mobility=freedom.mobility,
        redundant_constraints=freedom.redundant,
        redundant_joints=freedom.joints,
        instantaneous_mobility=freedom.instantaneous,
        singular_at_rest=singularity <= RANK_TOLERANCE,
        singularity=singularity,
        gruebler=count,
        notes=(
            *([f"{position.completion}; {BRANCH}"] if position.completion.far else []),
            *_redundancy(position, count),
            *_singular_rest(position, singularity),
            *_actuation(position, rows, singularity),
            *massless(position, inertia),
            *allowances(found.drawing),
            *(f"at rest {excess}" for excess in outside_limits(found, position.w)),
        ),
        elastic_bodies=elastic_parts(found.drawing),
        sections=section_parts(mechanism),
        elastic_joints={
            name: axes for name, joint in mechanism.joints.items() if (axes := joint.list_elastic(mechanism.plane))
        },
    )


def _redundancy(position: Rest, count: int) -> list[str]:
    freedom = position.mobility
    if not freedom.redundant:
        return []
    one = freedom.redundant == 1
    return [
        f"{freedom.redundant} constraint{'' if one else 's'} of the joints {', '.join(freedom.joints)} "
        f"{'is' if one else 'are'} redundant (other constraints already impose them). The motion is correct, but the "
        f"distribution of the load among these joints is not determined. The Grübler count {count} differs from the "
        f"mobility {freedom.mobility}"
    ]


def _singular_rest(position: Rest, singularity: float) -> list[str]:
    freedom, found = position.mobility, position.numbering
    if freedom.singular:
        return [
            f"rest is a singular position: {freedom.instantaneous} independent motions are free there, but "
            f"{freedom.mobility} close to it; choose a rest away from the singular position"
        ]
    if singularity > RANK_TOLERANCE:
        return []
    left = np.linalg.svd(scaled_jacobian(found, position.X))[0]
    share = np.abs(left[found.constraints :, found.columns - 1])
    locked = [name for name, part in zip(found.coordinates, share, strict=True) if part > _INVOLVED]
    return [
        f"rest is a dead point: {_quote_names(locked)} cannot move the mechanism from there; choose a rest away from "
        "it, or other coordinates"
    ]


def _actuation(position: Rest, rows: RankedRows, singularity: float) -> list[str]:
    """Return notes on coordinates without an actuator, surplus actuators, and missing coordinates θ."""
    found = position.numbering
    actuators, freedom = tuple(found.mechanism.actuators), position.mobility.mobility
    if not freedom:
        return []
    if not found.coordinates:
        count = f"{len(actuators)} actuator{'s' * (len(actuators) != 1)}" if actuators else "no actuator"
        verb = "is" if len(actuators) < 2 else "are"
        return [
            f"there {verb} {count} for a mobility of {freedom}, so the coordinates θ are undefined; list {freedom} "
            f"coordinate{'s' * (freedom != 1)}: to get a local model"
        ]
    if singularity <= RANK_TOLERANCE:
        return []
    s = len(found.coordinates)
    keys = (key_of(found.mechanism, actuator) for actuator in found.mechanism.actuators.values())
    B = measure_jacobian(found, position.X, rows, [found.measures[key] for key in keys])
    B *= found.arrays.rows_f[found.constraints : found.constraints + s, SCALE]  # lengths beside angles
    driven = np.abs(B).max(axis=0, initial=0.0)
    scale = driven.max()
    idle = [
        name for name, part in zip(found.coordinates, driven, strict=True) if part <= _INVOLVED * scale or scale == 0.0
    ]
    notes = []
    if idle:
        notes.append(f"no actuator drives {_quote_names(idle)}; {'it moves' if len(idle) == 1 else 'they move'} freely")
    elif len(actuators) < s:
        notes.append(f"{len(actuators)} actuators drive {s} coordinates: the mechanism is underactuated")
    if len(actuators) > s:
        notes.append(
            f"{len(actuators)} actuators drive {s} coordinate{'s' * (s != 1)}: the mechanism is overactuated, "
            "and the actuator forces can work against one another"
        )
    return notes


def _count_and_list(names: tuple[str, ...]) -> str:
    listed = ", ".join(names)
    return f"{len(names)}: {listed}" if names else "none"


def _group_descriptions(found: dict[str, str]) -> list[str]:
    """Group names with the same description: `a, b: description`."""
    same: dict[str, list[str]] = {}
    for name, description in found.items():
        same.setdefault(description, []).append(name)
    return [f"{', '.join(names)}: {description}" for description, names in same.items()]


def _quote_names(names: list[str]) -> str:
    return item_list([f'"{name}"' for name in names])


# Motions that the joints allow and that carry no inertia, so that no acceleration follows from a force.


_INERTIALESS = 1e-12  # fraction of the largest eigenvalue of M below which a motion carries no inertia


def massless(position: Rest, inertia: Array) -> list[str]:
    """Return a note on motions without inertia, if there are any."""
    found, freedom = position.numbering, position.mobility
    if freedom.singular or not freedom.mobility:  # motions free only at rest itself would count as real ones
        return []
    motors = _motors(position)
    light = _light_sparse(position, inertia, motors) if found.columns > LARGE else None
    if light is None and found.columns > LARGE and 16.0 * found.columns**2 > most("memory"):
        return ["not checked for motions without inertia: the mechanism is too large for the memory limit"]
    if light is None:
        light = _light_dense(position, inertia, motors)
    count = light.shape[1]
    if count == 0:
        return []
    moving = np.linalg.norm(light.reshape(len(found.bodies), -1), axis=1)
    bodies = item_list([f'"{name}"' for name, part in zip(found.bodies, moving, strict=True) if part > _INVOLVED])
    one = count == 1
    return [
        f"{count} motion{'' if one else 's'} of {bodies} carr{'ies' if one else 'y'} no inertia, "
        "so the mass matrix is singular; give the moving parts a mass or an inertia"
    ]


def body_inertia(position: Rest) -> Array:
    """Return the constant mass matrices of the bodies (bodies, d, d), lengths in units of the mechanism's extent."""
    found = position.numbering
    properties = mass_properties(found.drawing)
    column, extent = found.arrays.column, found.arrays.extent
    scale = np.where(column < 3, extent, 1.0)
    spatial = [properties[name].spatial()[np.ix_(column, column)] for name in found.bodies]
    return np.array(spatial) * np.outer(scale, scale)


def _motors(position: Rest) -> Array:
    """Return a row √(J i²) a for each motor (motors, n): half its square is the motor's kinetic energy."""
    found = position.numbering
    rows = []
    for name, joint in found.mechanism.joints.items():
        for coordinate in joint.coordinates(found.mechanism.plane):
            motor = joint.value("motor", coordinate, found.mechanism.plane)
            if motor is not None:
                row = found.measures["joint", name, coordinate]
                rows.append(np.sqrt(motor.inertia) * motor.gear * slope_row(found, position.X, row))
    return np.array(rows).reshape(len(rows), found.columns)


def _light_dense(position: Rest, inertia: Array, motors: Array) -> Array:
    """Return the scaled motions without inertia (n, count), from the eigenvalues of M over all motions."""
    found, freedom = position.numbering, position.mobility
    m, n = found.constraints, found.columns
    J = scaled_jacobian(found, position.X)[:m]
    motions = np.linalg.svd(J)[2][n - freedom.mobility :] if m else np.eye(n)
    parts = motions.reshape(len(motions), len(found.bodies), -1)
    M = np.einsum("ibc,bcd,jbd->ij", parts, inertia, parts, optimize=True)
    turning = motors @ motions.T
    M += turning.T @ turning
    values, vectors = np.linalg.eigh(M)
    return motions.T @ vectors[:, values <= _INERTIALESS * max(values[-1], np.finfo(float).tiny)]


def _light_sparse(position: Rest, inertia: Array, motors: Array) -> Array | None:
    """Return the motions of `_light_dense` from sparse rows; None if the rank of the rows is unclear.

    x with Φ_q x = 0 and xᵀ M x = 0 are those with Φ_q x = 0, v x = 0 for every principal direction v of a body whose
    inertia is significant against the largest, and a x = 0 for every motor. The rows have unit length, whatever the
    inertia, so that a light hand at the end of a long chain makes no rank unclear.
    """
    from scipy.sparse import block_diag, csr_array, vstack

    from supple.kinematics.orthogonal_fronts import Fronts

    found = position.numbering
    values, vectors = np.linalg.eigh(inertia)
    size = np.square(motors).sum(axis=1)
    largest = max(float(values.max()), float(size.max(initial=0.0)))
    if largest <= 0.0:
        return None
    heavy = (values > _INERTIALESS * largest).astype(float)
    turning = motors[size > _INERTIALESS * largest] / np.sqrt(size[size > _INERTIALESS * largest])[:, None]
    joints = sparse_rows(found, position.X, found.constraints)
    rows = block_diag([which[:, None] * axes.T for which, axes in zip(heavy, vectors, strict=True)])
    stacked = vstack([joints.J, rows, csr_array(turning)], format="csr")
    fronts = Fronts(csr_array(stacked), joints.bodies)
    if fronts.rank and fronts.smallest**2 <= 10.0 * _INERTIALESS:
        return None
    return fronts.kernel()
