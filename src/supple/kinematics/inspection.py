"""What supple understands of a mechanism: its parts, loops, mobility, and what deserves a second look.

Everything here is interpreted numpy, so that the answer comes at once: nothing is compiled.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from supple.description.elastic.elastic_parts import ElasticPart, SectionPart, elastic_parts, section_parts
from supple.description.mass_properties import allowances
from supple.description.mechanism import Mechanism
from supple.description.topology import gruebler_count
from supple.diagnostics import InputError
from supple.diagnostics.quoting import listed
from supple.formats.source import located
from supple.kinematics.completion import BRANCH
from supple.kinematics.jacobian import scaled_jacobian
from supple.kinematics.limits import outside_limits
from supple.kinematics.massless_motions import body_inertia, massless
from supple.kinematics.measure_slopes import measure_slopes
from supple.kinematics.measures import key_of
from supple.kinematics.primitives import SCALE
from supple.kinematics.ranked_rows import RANK_TOLERANCE, RankedRows, ranked
from supple.kinematics.rest import Rest, rest
from supple.results.notebook import facts_html

_INVOLVED = 1e-6  # share in a motion or a dependence that counts


@dataclass(frozen=True)
class Inspection:
    """A mechanism as understood.

    couplings              : gears, belts, racks
    loops                  : joints round each independent loop
    coordinates            : θ; empty if the file names none and the actuators do not match the mobility
    mobility, redundant_constraints : in general position; redundant_joints are all those involved
    instantaneous_mobility : at rest itself; larger where rest is a singular position
    singularity            : smallest over largest singular value of the rows of joints and coordinates at rest
    gruebler               : freedoms less constraints, as counted on paper
    elastic_bodies         : those that bend; here each is taken as rigid
    elastic_joints         : joint -> the directions in which it yields, `drive` where its drive does
    sections               : of beams, with area and mass per metre
    notes                  : what deserves a second look, in plain words
    drives, instruments    : actuator -> its drive, output -> its instrument, in words; as `check` finds them
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
        """The same as a readable text."""
        kind = f"planar, {self.plane}" if self.plane else "spatial"
        rows = [
            ("bodies", _counted(self.bodies)),
            ("joints", _counted(self.joints)),
            ("loops", f"{len(self.loops)}" + "".join(f"\n{'-'.join(loop)}" for loop in self.loops)),
            ("actuated", _counted(self.actuated)),
            ("coordinates θ", _counted(self.coordinates)),
            ("mobility", f"{self.mobility} (Grübler count {self.gruebler})"),
            ("redundant", f"{self.redundant_constraints} constraints"),
            ("singularity", f"{self.singularity:.3g} at rest (0 is singular)"),
        ]
        behind = 1 + [name for name, _ in rows].index("actuated")
        rows[behind:behind] = [
            (name, f"{len(found)}" + "".join(f"\n{line}" for line in _alike(found)))
            for name, found in (("drives", self.drives), ("instruments", self.instruments)) if found
        ]  # fmt: skip
        if self.couplings:
            rows.insert(3, ("couplings", _counted(self.couplings)))
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
    """Assemble the mechanism at rest and say what it is; a mistake raises an `InputError`."""
    try:
        position = rest(mechanism)
        inertia = body_inertia(position)
    except InputError as error:
        raise located(error, mechanism) from None
    found, freedom = position.numbering, position.mobility
    rows = ranked(found, position.X, coordinates=True)
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
            name: ways for name, joint in mechanism.joints.items() if (ways := joint.yielding(mechanism.plane))
        },
    )


def _redundancy(position: Rest, count: int) -> list[str]:
    freedom = position.mobility
    if not freedom.redundant:
        return []
    one = freedom.redundant == 1
    return [
        f"{freedom.redundant} constraint{'' if one else 's'} of the joints {', '.join(freedom.joints)} "
        f"{'is' if one else 'are'} redundant (others impose the same); the motion is right, but how the load "
        f"divides among these joints is not determined. The Grübler count {count} is not the mobility "
        f"{freedom.mobility}"
    ]


def _singular_rest(position: Rest, singularity: float) -> list[str]:
    freedom, found = position.mobility, position.numbering
    if freedom.singular:
        return [
            f"rest is a singular position: {freedom.instantaneous} independent motions seem free there, "
            f"{freedom.mobility} close by; draw the rest away from it"
        ]
    if singularity > RANK_TOLERANCE:
        return []
    left = np.linalg.svd(scaled_jacobian(found, position.X))[0]
    share = np.abs(left[found.constraints :, found.columns - 1])
    locked = [name for name, part in zip(found.coordinates, share, strict=True) if part > _INVOLVED]
    return [
        f"rest is a dead point: {_quoted(locked)} cannot move the mechanism from there; draw the rest away from "
        "it, or take other coordinates"
    ]


def _actuation(position: Rest, rows: RankedRows, singularity: float) -> list[str]:
    """What the actuators leave undriven, and where θ is missing."""
    found = position.numbering
    actuators, freedom = tuple(found.mechanism.actuators), position.mobility.mobility
    if not freedom:
        return []
    if not found.coordinates:
        count = f"{len(actuators)} actuator{'s' * (len(actuators) != 1)}" if actuators else "no actuator"
        verb = "is" if len(actuators) < 2 else "are"
        return [
            f"there {verb} {count} for a mobility of {freedom}, so θ is not known; list {freedom} "
            f"coordinate{'s' * (freedom != 1)}: to get a local model"
        ]
    if singularity <= RANK_TOLERANCE:
        return []
    s = len(found.coordinates)
    keys = (key_of(found.mechanism, actuator) for actuator in found.mechanism.actuators.values())
    B = measure_slopes(found, position.X, rows, [found.measures[key] for key in keys])
    B *= found.arrays.rows_f[found.constraints : found.constraints + s, SCALE]  # lengths beside angles
    driven = np.abs(B).max(axis=0, initial=0.0)
    scale = driven.max()
    idle = [
        name for name, part in zip(found.coordinates, driven, strict=True) if part <= _INVOLVED * scale or scale == 0.0
    ]
    notes = []
    if idle:
        notes.append(f"no actuator drives {_quoted(idle)}; {'it moves' if len(idle) == 1 else 'they move'} freely")
    elif len(actuators) < s:
        notes.append(f"{len(actuators)} actuators drive {s} coordinates: the mechanism is underactuated")
    if len(actuators) > s:
        notes.append(
            f"{len(actuators)} actuators drive {s} coordinate{'s' * (s != 1)}: there are more than the motion needs, "
            "and their forces can work against one another"
        )
    return notes


def _counted(names: tuple[str, ...]) -> str:
    listed = ", ".join(names)
    return f"{len(names)}: {listed}" if names else "none"


def _alike(found: dict[str, str]) -> list[str]:
    """`a, b: what both are`."""
    same: dict[str, list[str]] = {}
    for name, said in found.items():
        same.setdefault(said, []).append(name)
    return [f"{', '.join(names)}: {said}" for said, names in same.items()]


def _quoted(names: list[str]) -> str:
    return listed([f'"{name}"' for name in names])
