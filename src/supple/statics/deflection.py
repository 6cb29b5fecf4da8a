"""Static deflection of a mechanism under gravity and constant loads, with its actuators locked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, overload

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation import compile_kernel
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.formulations.absolute.reaction import Reaction
from supple.formulations.elastic_rest.body_coordinates import BodyCoordinates
from supple.formulations.elastic_rest.elastic_rest import ElasticRest, elastic_rest
from supple.formulations.elastic_rest.geometric_stiffness_at_rest import row_scales
from supple.formulations.elastic_rest.joint_stiffness_under_load import under_loads
from supple.formulations.elastic_rest.loads import loads_at
from supple.formulations.elastic_rest.part_rows import terms_of
from supple.formulations.elastic_rest.static_response import static_response
from supple.formulations.yielding_rows import yielding_rows
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.joint_frames import joint_frames
from supple.kinematics.primitives import gradient
from supple.modal_analysis.modes import require_elastic
from supple.modal_analysis.ports import port, port_rows
from supple.results.result import picture
from supple.statics.compliance import STATIC_BAND
from supple.statics.deformed_rest import deformed_rest
from supple.statics.large_deflection import LargeDeflection, StaticDeflection


@dataclass(frozen=True, eq=False, repr=False)
class Deflection(StaticDeflection):
    """Small static displacements from the undeformed configuration.

    Attributes
    ----------
    configuration : Configuration
        Undeformed configuration.
    z : ndarray, shape (n,)
        Displacements in the coordinates of `rest`.
    multipliers : ndarray, shape (rows,)
        Multipliers λ of joints, coordinates and springs: -Cᵀλ acts on the bodies.
    gravity : ndarray, shape (3,)
        Gravity in the axes of the drawing, m/s².
    rest : ElasticRest
        Linear elastodynamics of the mechanism about the configuration.
    """

    configuration: Configuration
    z: Array
    multipliers: Array
    gravity: Array
    rest: ElasticRest

    to_scale: ClassVar[bool] = False

    def summary(self) -> str:
        """Return a one-line summary."""
        return f"of {self.configuration!r}: {self._values_text()}"

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays, with the displacements of the nodes of every body in its axes, `displacements BODY`."""
        moved = {f"displacements {body.name}": self.displacements(body.name) for body in self.rest.bodies}
        return {"theta": self.configuration.theta, "gravity": self.gravity, **self.table().columns, **moved}

    def of(self, name: str) -> float:
        """Return the displacement of an output, a place or a coordinate, m or rad.

        Parameters
        ----------
        name : str
            Output of a sensor, `place.axis`, an actuator or a joint coordinate.
        """
        found = port(self.rest.numbering, name)
        return float(port_rows(self.rest, [found], self.configuration.X[None])[0, 0] @ self.z)

    def displacements(self, body: str) -> Array:
        """Return the displacements of all degrees of freedom of a body's nodes in its axes, (degrees,).

        Parameters
        ----------
        body : str
            Name of the body. For a rigid body, the displacements are those of its origin.
        """
        b = self.rest.numbering.body_index(body)
        found = self.rest.bodies[b]
        z = self.z[found.start : found.stop]
        if found.mesh is None or found.condensed is None or not found.condensed.by_nodes:
            return found.shapes @ z
        touched = np.concatenate([found.mesh.columns(node) for node in found.condensed.interface])
        down = self.configuration.X[b, 3:].reshape(3, 3).T @ self.gravity
        translations = 2 if found.mesh.width == 3 else 3
        own = gravity_displacements(found)[:, :translations] @ down[:translations]
        return found.condensed.basis[:, : len(touched)] @ (found.shapes[touched] @ z) + own

    def plot(self, **options: Any) -> Any:
        """Draw the deflected over the undeformed mechanism and return the panels; options as in `deflection_sketch`."""
        return picture("statics.plot.deflection_sketch")(self, **options)

    @property
    def holding_forces(self) -> dict[str, float]:
        """Force (N or N m) that holds each coordinate θ at its value."""
        first = self.rest.numbering.constraints
        names = self.rest.numbering.coordinates
        return {name: -float(self.multipliers[first + i]) for i, name in enumerate(names)}

    @property
    def reactions(self) -> dict[str, Reaction]:
        """Reaction of each joint on its second body: force and moment about the joint point on it, in world axes.

        In overconstrained ideal joints between rigid bodies this is one of many solutions; elastic joints determine it.
        """
        return {name: self._reaction(name) for name in self.configuration.mechanism.joints}

    def _reaction(self, joint: str) -> Reaction:
        numbering, X = self.rest.numbering, self.configuration.X
        first, second = (numbering.body_index(name) for name in numbering.mechanism.joints[joint].bodies)
        body, sign = (second, -1.0) if second < len(numbering.bodies) else (first, 1.0)
        g, wrench = np.empty(13), np.zeros(6)
        rows, terms = numbering.joint_rows[joint], yielding_rows(numbering, following=True)
        forces = self.multipliers * row_scales(self.rest, X)[: len(self.multipliers)]
        for row in range(rows.start, rows.stop):
            for term in terms_of(terms.rows_i, row):
                compile_kernel(gradient, count=1)(terms.rows_i, terms.rows_f, term, X, g)
                for side in range(2):
                    if terms.rows_i[term, 1 + side] == body:
                        wrench += sign * forces[row] * g[1 + 6 * side : 7 + 6 * side]
        R = X[body, 3:].reshape(3, 3)
        force = R @ wrench[:3]
        place = X[second, :3] + X[second, 3:].reshape(3, 3) @ joint_frames(numbering.drawing, joint).pb
        moment = R @ wrench[3:] - np.cross(place - X[body, :3], force)
        P = numbering.mechanism.plane_axes()
        return Reaction(P @ force, P @ moment)


@overload
def deflection(mechanism: Mechanism, at: At | Configuration = None, *, large: Literal[False] = False) -> Deflection: ...
@overload
def deflection(mechanism: Mechanism, at: At | Configuration = None, *, large: Literal[True]) -> LargeDeflection: ...
@overload
def deflection(mechanism: Mechanism, at: At | Configuration = None, *, large: bool) -> Deflection | LargeDeflection: ...


def deflection(
    mechanism: Mechanism, at: At | Configuration = None, *, large: bool = False
) -> Deflection | LargeDeflection:
    """Compute the static deflection under gravity, constant forces and springs, actuators locked.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism with elastic parts.
    at : str, mapping, array_like or Configuration, optional
        One configuration, as in `assemble`. Default: rest.
    large : bool, optional
        Compute displacements and rotations of any size from the full equations, with load steps. False assumes small
        displacements.

    Returns
    -------
    Deflection or LargeDeflection
        Displacements, holding forces and reactions. They include the motion of rigid bodies: the end of a rigid arm on
        a beam moves as the beam deforms.

    Raises
    ------
    InputError
        If more than one configuration is given, or nothing in the mechanism is elastic.

    See Also
    --------
    compliance : Displacements due to unit forces.
    equilibrium : Equilibrium with free coordinates.

    Notes
    -----
    Small displacements satisfy Λ z + Cᵀλ = f(θ), with the loads of the undeformed configuration, equation 12 of
    docs/theory/frequency-response.md. Large ones satisfy equations 1 to 4 of docs/theory/flexible-statics.md.

    Examples
    --------
    >>> import supple
    >>> found = supple.deflection(supple.load("ralf"), "home")
    >>> round(1e3 * found.of("tip.z"), 1)  # mm
    -7.5
    """
    require_arguments(deflection, locals())
    mechanism, configuration = under_loads(mechanism, at)
    if configuration.X.ndim != 2:
        raise InputError(
            "deflection accepts one configuration, not several", part="at", hint="call it for each configuration"
        )
    rest = elastic_rest(mechanism, STATIC_BAND)
    require_elastic(rest)
    if large:
        return LargeDeflection(configuration, deformed_rest(configuration, np.zeros(len(mechanism.actuators))))
    loads = loads_at(rest, configuration)
    Z, multipliers = static_response(rest, configuration.X[None], loads.vector[None, None])
    return Deflection(configuration, Z[0, 0], multipliers[0, 0], loads.gravity, rest)


def gravity_displacements(body: BodyCoordinates) -> Array:
    """Return the displacements (degrees, 2 or 3) under unit gravity along each body axis, interface nodes fixed.

    K_ii⁻¹ f_i                                                                        [frequency-response, eq. 13]
    """
    mesh, condensed = body.mesh, body.condensed
    assert mesh is not None
    assert condensed is not None
    touched = np.concatenate([mesh.columns(node) for node in condensed.interface])
    inner = np.setdiff1d(np.arange(mesh.size), touched)
    found = np.zeros((mesh.size, 2 if mesh.width == 3 else 3))
    if len(inner):
        loads = (mesh.M @ mesh.rigid_motions()[:, : found.shape[1]])[inner]
        found[inner] = spla.splu(sp.csc_array(mesh.K[inner][:, inner])).solve(np.ascontiguousarray(loads))
    return found
