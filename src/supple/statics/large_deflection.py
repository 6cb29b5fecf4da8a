"""Static deflection of any size under gravity and constant loads, actuators locked."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.formulations.absolute.reaction import Reaction, reaction_of
from supple.formulations.coefficients import carried, units_of
from supple.formulations.elastic_rest.elastic_rest import ElasticRest, elastic_rest
from supple.geometry.rotation import rotation_vector
from supple.kinematics.configuration import Configuration
from supple.kinematics.rest import rest as undeformed
from supple.modal_analysis.ports import Port, port
from supple.results.result import Entries, Result, picture
from supple.results.table import Table
from supple.results.text import Text, listed, number_text, posture_heading
from supple.statics.compliance import STATIC_BAND
from supple.statics.deformed_rest import DeformedRest


class StaticDeflection(Result):
    """What small and large deflections say of themselves: displacements at places, and forces that hold θ.

    configuration : undeformed; to_scale : whether displacements may be of any size
    """

    configuration: Configuration
    to_scale: ClassVar[bool]

    @abstractmethod
    def of(self, name: str) -> float:
        """Displacement of a sensor's output, `place.axis`, an actuator or a joint coordinate, m or rad."""

    @property
    @abstractmethod
    def holding_forces(self) -> dict[str, float]:
        """Of each coordinate θ: the force (N or N m) that keeps it where it is."""

    def table(self) -> Table:
        """Displacements that sensors measure, and the forces `hold COORDINATE` that keep θ where it is, with units.

        Sensors of rates, accelerations, forces and stresses have no displacement and are left out.
        """
        _, names, units, values, _ = self.map_entries()
        columns = {"name": np.array(names, dtype=str), "value": values, "unit": np.array(units, dtype=str)}
        return Table(columns, index="name")

    def moved(self) -> str:
        """The numbers of the table in words, the first ones."""
        rows = zip(*self.table().columns.values(), strict=True)
        return listed([f"{name} {value:.3g} {unit}" for name, value, unit in rows])

    def map_entries(self, places: Sequence[Port] | None = None) -> Entries:
        """Displacements at places, those of the sensors if left out, and holding forces, named as in the table."""
        ports, units = self._ports(places), units_of(undeformed(self.configuration.mechanism)).forces
        found = [(item.name, item.unit, self.of(item.name)) for item in ports]
        found += [(f"hold {name}", units[name], force) for name, force in self.holding_forces.items()]
        names, kinds, values = zip(*found, strict=True) if found else ((), (), ())
        each = ("deflection",) * len(ports) + ("holding force",) * (len(names) - len(ports))
        return Entries("deflection", names, kinds, np.array(values, dtype=float), each)

    def data(self, places: Sequence[Port] | None = None) -> dict[str, Any]:
        """What `--json` prints; places : where displacements are given, those of the sensors if left out."""
        ports = self._ports(places)
        return {
            "displacements": {item.name: self.of(item.name) for item in ports},
            "units": {item.name: item.unit for item in ports},
            "holding_forces": self.holding_forces,
            "at": self.configuration.coordinates,
            "large": self.to_scale,
        }

    def text(self, places: Sequence[Port] | None = None) -> Text:
        """Displacements at places, as in `data`, and the forces that hold θ."""
        out = Text(
            f"{posture_heading(self.configuration)}, under gravity and constant loads{', of any size' * self.to_scale}"
        )
        moved = [(item.name, number_text(self.of(item.name), item.unit)) for item in self._ports(places)]
        out.table(("place", "displacement"), moved)
        units = units_of(undeformed(self.configuration.mechanism)).forces
        held = [(name, number_text(force, units[name])) for name, force in self.holding_forces.items()]
        if held:
            out.table(("coordinate", "held by"), held)
        return out

    def _ports(self, places: Sequence[Port] | None) -> Sequence[Port]:
        if places is not None:
            return places
        position = undeformed(self.configuration.mechanism)
        return [port(position.numbering, name) for name in carried(position).outputs]


@dataclass(frozen=True, eq=False, repr=False)
class LargeDeflection(StaticDeflection):
    """Displacements from the undeformed configuration, however large.

    configuration : undeformed; deformed : where it rests, and where a run may start
    load_steps    : in which loads were put on
    """

    configuration: Configuration
    found: DeformedRest

    to_scale: ClassVar[bool] = True

    def summary(self) -> str:
        return f"of {self.configuration!r}, however large: {self.moved()}"

    @property
    def load_steps(self) -> int:
        return self.found.settled.steps

    @cached_property
    def deformed(self) -> Configuration:
        return self.found.configuration

    @property
    def rest(self) -> ElasticRest:
        """The mechanism's linear elastodynamics about θ, by which it is drawn."""
        return elastic_rest(self.configuration.mechanism, STATIC_BAND)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """With the displacements of the nodes of every body, `displacements BODY`, in its axes."""
        moved = {f"displacements {name}": self.displacements(name) for name in self.configuration.rest.numbering.bodies}
        return {"theta": self.configuration.theta, **self.table().columns, **moved}

    def of(self, name: str) -> float:
        """How far a sensor's output, `place.axis`, an actuator or a joint coordinate has moved, m or rad."""
        numbering = self.configuration.rest.numbering
        found = port(numbering, name)
        if found.row is not None:
            at = found.row - numbering.constraints
            return float(self.deformed.w[at] - self.configuration.w[at])
        return float(self._at_place(found))

    def _at_place(self, found: Port) -> float:
        frames = self.found.problem.frames
        assert found.position is not None
        frame = frames.nearest(found.body, found.position)
        arm = found.position - frames.place[frame]
        after, before = self.found.state.X[frame], frames.poses(self.configuration.X)[frame]
        R, R0 = (pose[3:].reshape(3, 3) for pose in (after, before))
        if found.component > 2:
            return float(rotation_vector(R @ R0.T)[found.component - 3])
        return float((after[:3] + R @ arm - before[:3] - R0 @ arm)[found.component])

    def displacements(self, body: str) -> Array:
        """Of all degrees of freedom of a body's nodes, in its axes: (degrees,); of a rigid body, at its origin.

        Of a superelement those of its frame at the centre of mass, and of the nodes that are touched.
        """
        problem, frames = self.found.problem, self.found.problem.frames
        b = problem.rest.numbering.body_index(body)
        if frames.meshes[b] is None and frames.floating[b] is None:
            poses = [frames.bodies(self.found.state.X)[b : b + 1], self.configuration.X[b : b + 1]]
            return self._moved(*poses)
        chosen = slice(int(frames.first[b]), int(frames.first[b + 1]))
        return self._moved(self.found.state.X[chosen], frames.poses(self.configuration.X)[chosen])

    def _moved(self, after: Array, before: Array) -> Array:
        R, R0 = (poses[:, 3:].reshape(-1, 3, 3) for poses in (after, before))
        moved = np.einsum("fji,fj->fi", R0, after[:, :3] - before[:, :3])
        turned = np.array([rotation_vector(one.T @ other) for one, other in zip(R0, R, strict=True)])
        return np.asarray(np.concatenate([moved, turned], axis=1)[:, self.found.problem.system.rows.column].ravel())

    def plot(self, **options: Any) -> Any:
        """Draw the deformed over the undeformed mechanism (matplotlib), see `deflection_sketch`; returns the panels."""
        return picture("statics.plot.deflection_sketch")(self, **options)

    @property
    def holding_forces(self) -> dict[str, float]:
        """Of each coordinate θ: the force (N or N m) that keeps it where it is."""
        first, names = self.configuration.rest.numbering.constraints, self.configuration.rest.numbering.coordinates
        return {name: float(self.found.multipliers[first + i]) for i, name in enumerate(names)}

    @property
    def reactions(self) -> dict[str, Reaction]:
        """What each joint does to its second body, in world axes: force and moment about the joint's place on it."""
        return {name: self._reaction(name) for name in self.configuration.mechanism.joints}

    def _reaction(self, joint: str) -> Reaction:
        X, multipliers = self.found.state.X[None], self.found.multipliers[None]
        found = reaction_of(self.found.problem, X, multipliers, joint)
        return Reaction(found.force[0], found.moment[0])
