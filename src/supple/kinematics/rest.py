"""The rest configuration: the drawing, completed until every loop closes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from supple.array_types import Array
from supple.description.consistency import require_consistent
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formats.source import located
from supple.kinematics.completion import Completion, completed
from supple.kinematics.jacobian import measured_values, scaled_jacobian
from supple.kinematics.measures import key_of
from supple.kinematics.numbering import Numbering, numbering
from supple.kinematics.rank import Mobility, dependence, mobility
from supple.kinematics.ranked_rows import LARGE, row_groups


@dataclass(frozen=True, eq=False)
class Rest:
    """The mechanism in numbers, assembled at rest.

    X : (bodies + 1, 12) poses; w : values of every measure (θ first), angles continuous from the drawing;
    selected : rows of loops and coordinates that are independent at rest, for the sign of the determinant;
    completion : how far the drawing was from it.
    """

    numbering: Numbering
    X: Array
    w: Array
    selected: NDArray[np.int64]
    mobility: Mobility
    completion: Completion

    @property
    def theta(self) -> Array:
        return self.w[: len(self.numbering.coordinates)]


def rest(mechanism: Mechanism) -> Rest:
    """The rest configuration, computed once for each mechanism (descriptions are frozen).

    θ is the mechanism's `coordinates`; left out, its actuators, if there are as many as its mobility.
    """
    if not isinstance(mechanism, Mechanism):
        raise InputError(
            f"it is a {type(mechanism).__name__}", part="mechanism",
            hint="give what supple.load gives; a reduced model is asked itself: model.linearize, .frf, .evaluate",
        )  # fmt: skip
    try:
        return mechanism.remembered("rest", lambda: _assembled(mechanism))
    except InputError as error:
        raise located(error, mechanism) from None


def _assembled(mechanism: Mechanism) -> Rest:
    require_consistent(mechanism)
    found = numbering(mechanism, () if _share_a_measure(mechanism) else mechanism.coordinate_names())
    completion = completed(found, _rest_targets(found), _branch(found))
    X = completion.X
    freedom = mobility(found, X)
    _require_motion(found, freedom)
    if mechanism.coordinates is None and len(found.coordinates) != freedom.mobility:
        found = numbering(mechanism, ())
    elif len(found.coordinates) != freedom.mobility:
        raise _wrong_count(found, freedom)
    else:
        _require_determined(found, X)
    return Rest(found, X, measured_values(found, X), independent_rows(found, X), freedom, completion)


def _share_a_measure(mechanism: Mechanism) -> bool:
    """Two actuators on one joint cannot both be coordinates; the user has not said which is."""
    keys = [key_of(mechanism, actuator) for actuator in mechanism.actuators.values()]
    return mechanism.coordinates is None and len(set(keys)) < len(keys)


def _require_motion(found: Numbering, freedom: Mobility) -> None:
    if freedom.mobility > 0 or found.mechanism.elastic:  # a structure that only bends is at rest where it is drawn
        return
    redundant = f" with {freedom.redundant} redundant constraints" if freedom.redundant else ""
    surplus = "a joint or a coupling" if found.coupling_rows else "a joint"
    raise InputError(
        f"it cannot move: mobility 0 ({found.columns} velocities, {found.constraints} constraints{redundant})",
        part=f'mechanism "{found.mechanism.name}"',
        path=("joints",),
        hint=f"{surplus} too many, or hinge axes that should be parallel and are not"
        + (f"; look at {', '.join(freedom.joints)}" if freedom.joints else ""),
    )


def _wrong_count(found: Numbering, freedom: Mobility) -> InputError:
    given, wanted = len(found.coordinates), freedom.mobility
    return InputError(
        f"{given} given ({', '.join(found.coordinates) or 'none'}), but the mobility is {wanted}",
        part="coordinates",
        path=("coordinates",),
        hint=f"list {wanted} coordinate{'s' * (wanted != 1)}" + (", or lock what else moves" if given < wanted else ""),
    )


def _require_determined(found: Numbering, X: Array) -> None:
    """θ fixes the configuration: as many coordinates as the mobility may still depend on one another."""
    problem = dependence(found, X)
    if problem is None:
        return
    names, bodies = (", ".join(f'"{name}"' for name in group) for group in (problem.coordinates, problem.bodies))
    if len(problem.coordinates) == 1:
        reason = f"{names} cannot change"
    else:
        reason = f"{names} depend on one another"
    verb = "moves" if len(problem.bodies) == 1 else "move"
    listed = found.mechanism.coordinates is not None
    raise InputError(
        f"they do not determine the configuration: {reason}, and {bodies} still {verb}",
        part="coordinates" if listed else "actuators",
        path=("coordinates",) if listed else ("actuators",),
        hint="replace one of them by a coordinate of what still moves"
        if listed
        else "list coordinates: that do, with one of what still moves",
    )


def _rest_targets(found: Numbering) -> dict[int, float]:
    """Coordinates whose value at rest the user gives, by their number."""
    given = found.mechanism.rest.items()
    return {found.coordinates.index(name): value for name, value in given if name in found.coordinates}


def _branch(found: Numbering) -> dict[int, float]:
    """Joints that are not coordinates, with the value that tells the branch, by their number among the measures."""
    near = {}
    for name, value in found.mechanism.rest.items():
        joint = found.mechanism.joint_coordinate(name)
        if name not in found.mechanism.coordinate_names() and joint is not None:
            near[found.measures["joint", *joint] - found.constraints] = value
    return near


def independent_rows(found: Numbering, X: Array) -> NDArray[np.int64]:
    """As many rows of loops and coordinates as there are free columns, the most independent ones at rest."""
    nt, free = found.sizes.tree_rows, found.sizes.free
    count = found.constraints + len(found.coordinates) - nt
    if count == 0 or free == 0:
        return np.zeros(free, dtype=np.int64)
    if count == free:
        return np.arange(free)
    if found.columns > LARGE:
        from supple.kinematics.loop_rows import loop_rows
        from supple.kinematics.orthogonal_fronts import Fronts

        picked = Fronts(loop_rows(found, X).T.tocsr(), row_groups(found)[nt:]).pivots
        return np.sort(np.resize(picked, free)).astype(np.int64)
    J = scaled_jacobian(found, X)
    tree, others = J[:nt], J[nt:]
    # Remove from the other rows what the tree joints already fix, then pick by pivoted QR.
    basis = np.linalg.svd(tree)[2][nt:] if nt else np.eye(J.shape[1])
    picked = qr(basis @ others.T, pivoting=True, mode="r")[1][:free]
    return np.sort(np.resize(picked, free)).astype(np.int64)
