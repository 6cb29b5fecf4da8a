"""Checks of joint stiffness: a matrix of the right size, symmetric, and positive where the joint is compliant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

import numpy as np

from supple.array_types import Array
from supple.description.joints.elasticity import LOAD, Elasticity, StiffnessTable, stiffness_entries
from supple.description.joints.joint import Joint
from supple.description.joints.joint_kind import directions
from supple.description.joints.joint_kinds import JOINT_KINDS
from supple.description.mechanism import Mechanism
from supple.description.quantities.coordinate_dimensions import coordinate_dimensions
from supple.description.quantities.dimension import ANGLE
from supple.diagnostics import describe_unknown
from supple.diagnostics.errors import fault_at

Pair = tuple[str, str]

_ROUNDING = 1e-6  # of the mean of two stiffnesses: allowed difference of the two halves of a printed matrix
_POSITIVE = 1e-12  # least eigenvalue of a stiffness matrix of unit diagonal; below it a motion has no stiffness


def require_sound_stiffness(mechanism: Mechanism) -> None:
    """Check all joints that have a stiffness."""
    for name, joint in mechanism.joints.items():
        if joint.stiffness is not None or joint.elastic is not None:
            _StiffnessOf(mechanism, name, joint).check()


class _StiffnessOf:
    """Check of one joint, with the data that its messages need."""

    def __init__(self, mechanism: Mechanism, name: str, joint: Joint):
        self.mechanism, self.name, self.joint = mechanism, name, joint
        self.field = "elastic" if joint.stiffness is None else "stiffness"
        self.held = joint.list_held(mechanism.plane)
        self.own = joint.form(mechanism.plane).coordinate_directions(mechanism.plane)
        self.known = directions(mechanism.plane)

    def check(self) -> None:
        """Raise an error for the first fault of the joint's stiffness and damping."""
        joint = self.joint
        given = self._entries(self.field)
        for pair, value in given.items():
            self._require_entry(pair, value, given)
        self._require_symmetric(self.field, given)
        found = joint.elasticity(self.mechanism.plane)
        self._require_own(found)
        self._require_tables(found)
        yielding = (*found.soft, *found.driven.values())
        self._require_positive(self.field, found.among(found.K, yielding, yielding), yielding, least=_POSITIVE)
        self._require_single_drives(found)
        self._require_damping(found)

    def _fail(self, field: str, message: str, hint: str | None = None, at: Pair | None = None) -> NoReturn:
        path: tuple[str | int, ...] = ("joints", self.name, field)
        given = getattr(self.joint, field)
        if at is not None and isinstance(given, dict):
            keys = (at[0] if at[0] == at[1] else ".".join(at), ".".join(reversed(at)))
            path = (*path, *[key for key in keys if key in given][:1])
        elif at is not None and at[0] in self.known:
            path = (*path, self.known.index(at[0]))
        raise fault_at(path, message, hint)

    def _fail_free(self, direction: str) -> NoReturn:
        held = ", ".join(self.held) or "no direction"
        self._fail(
            self.field, f'a {self.joint.kind} joint is free in direction "{direction}"',
            f"{self.field} is allowed for {held}; for a free coordinate use springs:", (direction, direction),
        )  # fmt: skip

    def _entries(self, field: str) -> dict[Pair, float | StiffnessTable | None]:
        """Return the given entries, after checking their number and their direction names."""
        given, count = getattr(self.joint, field), len(self.known)
        if given is not None and not isinstance(given, dict) and len(given) != count:
            where = "in the plane" if self.mechanism.planar else "in space"
            self._fail(
                field, f"{field} has {len(given)} entries, but a joint has {count} directions {where}",
                f"give them in the order {', '.join(self.known)}, with rigid for a rigid direction",
            )  # fmt: skip
        found = stiffness_entries(given, self.known)
        for pair in found:
            for direction in pair:
                if direction not in self.known:
                    known = self.held if field == "elastic" else self.known
                    self._fail(field, *describe_unknown("direction of a joint", direction, known), pair)
        return found

    def _require_entry(self, pair: Pair, value: float | StiffnessTable | None, given: Mapping[Pair, object]) -> None:
        """Require a positive stiffness in constrained directions, and none in free directions."""
        one, other = pair
        if isinstance(value, StiffnessTable):
            if one != other:
                self._fail(
                    self.field, f'"{".".join(pair)}" is a table, but only single directions can have tables', None, pair
                )
            if one in self.held or one in self.own.values():
                return
            value = max(value.values)
        if one != other:
            for direction in pair:
                beside = given.get((direction, direction))
                if value and (beside is None or beside == 0.0):
                    what = "rigid" if direction in self.held else "free"
                    self._fail(
                        self.field, f'"{".".join(pair)}" is {value:g}, but "{direction}" is {what}',
                        f'write 0, or give "{direction}" a stiffness too', pair,
                    )  # fmt: skip
        elif one in self.held:
            if value is not None and value < 0.0:
                self._fail(
                    self.field, f'the stiffness "{one}" must be positive (got {value:g})', "give a value above 0", pair
                )
            if value == 0.0:
                self._fail(
                    self.field, f'a {self.joint.kind} joint constrains "{one}", so its stiffness there cannot be 0',
                    "give a value above 0, write rigid, or use a joint kind that is free in this direction", pair,
                )  # fmt: skip
        elif value and (self.field == "elastic" or one not in self.own.values()):
            self._fail_free(one)

    def _require_symmetric(self, field: str, given: dict[Pair, float | StiffnessTable | None]) -> None:
        for (one, other), value in given.items():
            opposite = given.get((other, one))
            if isinstance(value, StiffnessTable) or isinstance(opposite, StiffnessTable) or (other, one) not in given:
                continue
            diagonal = [given.get((name, name)) for name in (one, other)]
            sizes = [max(item.values) if isinstance(item, StiffnessTable) else item or 0.0 for item in diagonal]
            allowed = _ROUNDING * float(np.sqrt(abs(sizes[0] * sizes[1])))
            if abs((value or 0.0) - (opposite or 0.0)) > allowed:
                self._fail(
                    field, f"{field} is not symmetric: [{one}, {other}] is {value or 0.0:g}, but [{other}, {one}] is "
                    f"{opposite or 0.0:g}", "give both halves of the matrix the same values", (one, other),
                )  # fmt: skip

    def _require_own(self, found: Elasticity) -> None:
        """Require one actuator and one stiffness where the joint is compliant on its own axis, behind a motor."""
        plane, joint = self.mechanism.plane, self.joint
        moved = [self.mechanism.joint_coordinate(item.joint or "") for item in self.mechanism.actuators.values()]
        moved += [self.mechanism.joint_coordinate(item) for item in self.mechanism.coordinates or ()]
        for coordinate, direction in found.driven.items():
            at = (direction, direction)
            if not JOINT_KINDS[joint.kind].driven:
                self._fail_free(direction)
            if (self.name, coordinate) not in moved:
                self._fail(
                    self.field, f'the stiffness "{direction}" is behind a motor, but no actuator moves this coordinate',
                    f"use a spring: springs: {{{self.name}: {{joint: {self.name}, stiffness: ...}}}}", at,
                )  # fmt: skip
            if joint.value("drive", coordinate, plane) is not None:
                self._fail(
                    self.field, f'its own axis has two stiffnesses, drive and "{direction}"', "remove one of them", at
                )
            value = float(found.among(found.K, (direction,), (direction,))[0, 0])
            if value < 0.0:
                self._fail(
                    self.field,
                    f'the stiffness "{direction}" must not be negative (got {value:g})',
                    "give 0 or a value above 0",
                    at,
                )

    def _require_single_drives(self, found: Elasticity) -> None:
        """Require that the stiffness matrix does not couple two drives, directly or through other directions."""
        if len(found.driven) < 2:
            return
        one, other = found.driven.values()
        K = found.drives()
        if abs(K[0, 1]) > 1e-9 * np.sqrt(K[0, 0] * K[1, 1]):
            self._fail(
                self.field, f'the matrix couples "{one}" and "{other}", which are both behind a motor',
                "write 0 there, and couple at most one of the two with other directions", (one, other),
            )  # fmt: skip

    def _require_tables(self, found: Elasticity) -> None:
        known = self.mechanism.coordinate_names()
        for direction, table in found.tables.items():
            at = (direction, direction)
            if direction not in self.held:
                self._fail(
                    self.field, f'"{direction}" is behind a motor, where the stiffness cannot be a table',
                    "give one number", at,
                )  # fmt: skip
            i = found.directions.index(direction)
            if np.any(np.delete(found.K[i], i)):
                self._fail(
                    self.field, f'"{direction}" has a table and is coupled with another direction',
                    "remove the coupling or the table: a direction with a table must be uncoupled", at,
                )  # fmt: skip
            turns = table.over in known and coordinate_dimensions(self.mechanism, table.over).value == ANGLE
            if turns and table.at[-1] - table.at[0] > 2.0 * np.pi:
                self._fail(
                    self.field, f'the table of "{direction}" covers more than one turn of the angle "{table.over}"',
                    "angles are taken within half a turn of the middle of the table: cover one turn at most", at,
                )  # fmt: skip
            if table.over == LOAD and LOAD not in known:
                if table.at[0] < 0.0:
                    self._fail(
                        self.field,
                        f'the table of "{direction}" starts at a load of {table.at[0]:g}, but loads are magnitudes',
                        "start at 0 or above", at,
                    )  # fmt: skip
            elif table.over not in known:
                what = f'coordinate of the table of "{direction}"'
                self._fail(self.field, *describe_unknown(what, table.over, (*known, LOAD)), at)

    def _require_positive(self, field: str, K: Array, names: tuple[str, ...], *, least: float) -> None:
        """Require a positive definite matrix, naming the directions of a motion whose energy is not positive."""
        if not len(K):
            return
        size = np.sqrt(np.where(np.diag(K) > 0.0, np.diag(K), 1.0))
        values, vectors = np.linalg.eigh(K / np.outer(size, size))
        if values[0] > least:
            return
        motion = vectors[:, 0] / size
        weight = np.abs(vectors[:, 0])
        involved = [name for name, part in zip(names, weight, strict=True) if part > 0.1 * weight.max()]
        energy = float(motion @ K @ motion)
        listed = " and ".join(f'"{name}"' for name in involved)
        what = "has negative energy" if energy < -1e-9 else "has no energy"
        self._fail(
            field, f"{field} is not positive definite: a combined motion along {listed} {what}",
            "make each coupling smaller than the square root of the product of the two stiffnesses that it couples",
        )  # fmt: skip

    def _require_damping(self, found: Elasticity) -> None:
        field = "elastic_damping"
        if self.joint.elastic_damping is None:
            return
        given = self._entries(field)
        yielding = (*found.soft, *found.driven.values())
        for pair, value in given.items():
            outside = [name for name in pair if name not in yielding]
            if value and outside:
                self._fail(
                    field, f'"{outside[0]}" has elastic_damping but no stiffness',
                    f"give its directions a stiffness under {self.field} as well", pair,
                )  # fmt: skip
        self._require_symmetric(field, given)
        for name in yielding:
            value = float(found.among(found.D, (name,), (name,))[0, 0])
            if value < 0.0:
                self._fail(
                    field, f'the damping "{name}" must not be negative (got {value:g})', "give 0 or more", (name, name)
                )
        own = tuple(found.driven.values())
        D = found.among(found.D, yielding, yielding)
        if own and found.among(found.D, found.soft, own).any():
            self._fail(field, f'{field} couples "{own[0]}", behind the motor, with other directions', "write 0 there")
        if own and D.any() and found.among(found.K, found.soft, own).any():
            self._fail(
                field,
                f'damping is not supported where the stiffness couples "{own[0]}", behind the motor, with others',
                "remove elastic_damping and give the mechanism damping: {rayleigh: ...}",
            )  # fmt: skip
        for direction in found.tables:
            if D[yielding.index(direction)].any():
                self._fail(
                    field, f'"{direction}" has a table of stiffness, and cannot have damping of its own',
                    "remove the entry and give the mechanism damping: {rayleigh: ...} or another model",
                    (direction, direction),
                )  # fmt: skip
        self._require_positive(field, D, yielding, least=-_POSITIVE)
