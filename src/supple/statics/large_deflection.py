"""Static deflection of any size under gravity and constant loads, with actuators locked."""

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
from supple.formulations.coefficients import get_coefficients, units_of
from supple.formulations.elastic_rest.elastic_rest import ElasticRest, elastic_rest
from supple.geometry.rotation import rotation_vector
from supple.kinematics.configuration import Configuration
from supple.kinematics.rest import rest as undeformed
from supple.modal_analysis.ports import Port, port
from supple.results.result import Entries, Result, picture
from supple.results.table import Table
from supple.results.text import Text, list_names, number_text, posture_heading
from supple.statics.compliance import STATIC_BAND
from supple.statics.deformed_rest import DeformedRest


class StaticDeflection(Result):
    """Common part of small and large deflections: displacements at places, and forces that hold θ.

    Attributes
    ----------
    configuration : Configuration
        Undeformed configuration.
    to_scale : bool
        True if displacements can have any size, so that they are drawn to scale.
    """

    configuration: Configuration
    to_scale: ClassVar[bool]

    @abstractmethod
    def of(self, name: str) -> float:
        """Return the displacement of an output, a place or a coordinate, m or rad.

        Parameters
        ----------
        name : str
            Output of a sensor, `place.axis`, an actuator or a joint coordinate.
        """

    @property
    @abstractmethod
    def holding_forces(self) -> dict[str, float]:
        """Force (N or N m) that holds each coordinate θ at its value."""

    def table(self) -> Table:
        """Return the displacements at the sensors and the forces `hold COORDINATE` that hold θ, with units.

        Sensors of rates, accelerations, forces and stresses have no displacement and are omitted.
        """
        _, names, units, values, _ = self.map_entries()
        columns = {"name": np.array(names, dtype=str), "value": values, "unit": np.array(units, dtype=str)}
        return Table(columns, index="name")

    def _values_text(self) -> str:
        """Return the first numbers of the table as text."""
        rows = zip(*self.table().columns.values(), strict=True)
        return list_names([f"{name} {value:.3g} {unit}" for name, value, unit in rows])

    def map_entries(self, places: Sequence[Port] | None = None) -> Entries:
        """Return displacements at places (default: at the sensors) and holding forces, named as in the table."""
        ports, units = self._ports(places), units_of(undeformed(self.configuration.mechanism)).forces
        found = [(item.name, item.unit, self.of(item.name)) for item in ports]
        found += [(f"hold {name}", units[name], force) for name, force in self.holding_forces.items()]
        names, kinds, values = zip(*found, strict=True) if found else ((), (), ())
        each = ("deflection",) * len(ports) + ("holding force",) * (len(names) - len(ports))
        return Entries("deflection", names, kinds, np.array(values, dtype=float), each)

    def data(self, places: Sequence[Port] | None = None) -> dict[str, Any]:
        """Return the object that `--json` prints; places : where displacements are reported. Default: the sensors."""
        ports = self._ports(places)
        return {
            "displacements": {item.name: self.of(item.name) for item in ports},
            "units": {item.name: item.unit for item in ports},
            "holding_forces": self.holding_forces,
            "at": self.configuration.coordinates,
            "large": self.to_scale,
        }

    def text(self, places: Sequence[Port] | None = None) -> Text:
        """Return the displacements at places, as in `data`, and the forces that hold θ."""
        out = Text(
            f"{posture_heading(self.configuration)}, under gravity and constant loads"
            f"{', large displacements' * self.to_scale}"
        )
        moved = [(item.name, number_text(self.of(item.name), item.unit)) for item in self._ports(places)]
        out.table(("place", "displacement"), moved)
        units = units_of(undeformed(self.configuration.mechanism)).forces
        held = [(name, number_text(force, units[name])) for name, force in self.holding_forces.items()]
        if held:
            out.table(("coordinate", "holding force"), held)
        return out

    def _ports(self, places: Sequence[Port] | None) -> Sequence[Port]:
        if places is not None:
            return places
        position = undeformed(self.configuration.mechanism)
        return [port(position.numbering, name) for name in get_coefficients(position).outputs]


@dataclass(frozen=True, eq=False, repr=False)
class LargeDeflection(StaticDeflection):
    """Static displacements of any size from the undeformed configuration.

    Attributes
    ----------
    configuration : Configuration
        Undeformed configuration.
    found : DeformedRest
        The equilibrium of the full equations.
    """

    configuration: Configuration
    found: DeformedRest

    to_scale: ClassVar[bool] = True

    def summary(self) -> str:
        """Return a one-line summary."""
        return f"of {self.configuration!r}, large displacements: {self._values_text()}"

    @property
    def load_steps(self) -> int:
        """Number of load steps."""
        return self.found.settled.steps

    @cached_property
    def deformed_configuration(self) -> Configuration:
        """Deformed configuration, from which a simulation can start."""
        return self.found.configuration

    @property
    def rest(self) -> ElasticRest:
        """Linear elastodynamics of the mechanism about θ, used to draw it."""
        return elastic_rest(self.configuration.mechanism, STATIC_BAND)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays, with the displacements of the nodes of every body in its axes, `displacements BODY`."""
        moved = {f"displacements {name}": self.displacements(name) for name in self.configuration.rest.numbering.bodies}
        return {"theta": self.configuration.theta, **self.table().columns, **moved}

    def of(self, name: str) -> float:
        """Return the displacement of an output, a place or a coordinate, m or rad.

        Parameters
        ----------
        name : str
            Output of a sensor, `place.axis`, an actuator or a joint coordinate.
        """
        numbering = self.configuration.rest.numbering
        found = port(numbering, name)
        if found.row is not None:
            at = found.row - numbering.constraints
            return float(self.deformed_configuration.w[at] - self.configuration.w[at])
        return float(self._place_displacement(found))

    def _place_displacement(self, found: Port) -> float:
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
        """Return the displacements of all degrees of freedom of a body's nodes in its axes, (degrees,).

        Parameters
        ----------
        body : str
            Name of the body. For a rigid body, the displacements are those of its origin. For a superelement, they are
            those of its frame at the centre of mass and of its interface nodes.
        """
        problem, frames = self.found.problem, self.found.problem.frames
        b = problem.rest.numbering.body_index(body)
        if frames.meshes[b] is None and frames.floating[b] is None:
            poses = [frames.bodies(self.found.state.X)[b : b + 1], self.configuration.X[b : b + 1]]
            return self._node_displacements(*poses)
        chosen = slice(int(frames.first[b]), int(frames.first[b + 1]))
        return self._node_displacements(self.found.state.X[chosen], frames.poses(self.configuration.X)[chosen])

    def _node_displacements(self, after: Array, before: Array) -> Array:
        R, R0 = (poses[:, 3:].reshape(-1, 3, 3) for poses in (after, before))
        moved = np.einsum("fji,fj->fi", R0, after[:, :3] - before[:, :3])
        turned = np.array([rotation_vector(one.T @ other) for one, other in zip(R0, R, strict=True)])
        return np.asarray(np.concatenate([moved, turned], axis=1)[:, self.found.problem.system.rows.column].ravel())

    def plot(self, **options: Any) -> Any:
        """Draw the deformed over the undeformed mechanism and return the panels; options as in `deflection_sketch`."""
        return picture("statics.plot.deflection_sketch")(self, **options)

    @property
    def holding_forces(self) -> dict[str, float]:
        """Force (N or N m) that holds each coordinate θ at its value."""
        first, names = self.configuration.rest.numbering.constraints, self.configuration.rest.numbering.coordinates
        return {name: float(self.found.multipliers[first + i]) for i, name in enumerate(names)}

    @property
    def reactions(self) -> dict[str, Reaction]:
        """Reaction of each joint on its second body: force and moment about the joint point on it, in world axes."""
        return {name: self._reaction(name) for name in self.configuration.mechanism.joints}

    def _reaction(self, joint: str) -> Reaction:
        X, multipliers = self.found.state.X[None], self.found.multipliers[None]
        found = reaction_of(self.found.problem, X, multipliers, joint)
        return Reaction(found.force[0], found.moment[0])
