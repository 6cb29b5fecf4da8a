"""Joint stiffnesses that depend on the load, evaluated for the loads at rest.

    k_i = k_i(|λ_i|),    Λ z + Cᵀλ = f,    C z = diag(1/k) λ                                     (elastic-rest, eq. 5e)

If statics alone does not determine how joints share loads, k and λ are found together by Newton's method (Powell's
hybrid). The mechanism then has these numbers instead of the tables.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.optimize import root

from supple.array_types import Array
from supple.description.joints.elasticity import LOAD, StiffnessTable
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, NumericalError, SuppleNote, SuppleWarning
from supple.formulations.elastic_rest.elastic_rest import elastic_rest
from supple.formulations.elastic_rest.loads import loads_at
from supple.formulations.elastic_rest.static_response import static_response
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration

Tables = dict[tuple[str, str], StiffnessTable]

_TURNS = 5  # before Newton's method; one is enough where statics divides the loads
_SETTLED = 1e-12  # of a stiffness, from step to step
_AGREE = 1e-8  # of a stiffness, with the one that its load asks for


def under_loads(mechanism: Mechanism, at: At | Configuration) -> tuple[Mechanism, Configuration]:
    """Return the mechanism with the joint stiffnesses under the loads at a configuration (SuppleNote).

    Without such tables, the mechanism itself is returned.

    at : a Configuration, or an argument of `assemble`; a mechanism with such tables needs a single configuration
    """
    here = at if isinstance(at, Configuration) else assemble(mechanism, at)
    tables = load_tables(mechanism)
    if not tables:
        return mechanism, here
    if here.X.ndim != 2:
        (joint, _), *_ = tables
        raise InputError(
            "the stiffness depends on the load, which differs between the requested configurations",
            part=f'joint "{joint}"', path=("joints", joint, "stiffness"), hint="request one configuration at a time",
        )  # fmt: skip
    key = f"under loads {here.theta.tobytes()!r}"
    found, notes = mechanism.compute_once(key, lambda: _settle_stiffness(mechanism, here, tables))
    for text, category in notes:
        warnings.warn(text, category, stacklevel=3)
    return found, assemble(found, here.theta)


def load_tables(mechanism: Mechanism) -> Tables:
    """Return the stiffness tables over load, by joint and direction."""
    return {
        (name, direction): table
        for name, joint in mechanism.joints.items()
        if isinstance(joint.stiffness, dict)
        for direction, table in joint.stiffness.items()
        if isinstance(table, StiffnessTable) and table.over == LOAD and LOAD not in mechanism.coordinate_names()
    }


def with_stiffness(mechanism: Mechanism, values: Mapping[tuple[str, str], float]) -> Mechanism:
    """Return the mechanism with numbers instead of tables, or the mechanism itself if there are none."""
    if not values:
        return mechanism
    joints = dict(mechanism.joints)
    for (name, direction), value in values.items():
        stiffness = joints[name].stiffness
        assert isinstance(stiffness, dict)
        joints[name] = joints[name].model_copy(update={"stiffness": {**stiffness, direction: value}})
    return mechanism.replace(joints=joints)


def _settle_stiffness(
    mechanism: Mechanism, here: Configuration, tables: Tables
) -> tuple[Mechanism, list[tuple[str, type[Warning]]]]:
    """Return the mechanism with numbers, and the text of a note."""
    values = {key: float(max(table.values)) for key, table in tables.items()}
    stiff = with_stiffness(mechanism, values)
    rest, X = elastic_rest(stiff, 0.0), assemble(stiff, here.theta)
    rows = [
        next(row for row, item in rest.elastic_rows.items() if (item.part, item.direction) == key) for key in tables
    ]
    force = loads_at(rest, X).vector[None, None]
    curves = {key: PchipInterpolator(table.at, table.values) for key, table in tables.items()}

    def compute_reactions(k: Array) -> Array:
        """Return |λ| along the rows for stiffnesses k."""
        compliance = rest.arrays.compliance.copy()
        compliance[rows] = 1.0 / k
        now = replace(rest, arrays=rest.arrays._replace(compliance=compliance))
        return np.abs(static_response(now, X.X[None], force)[1][0, 0, rows])

    def stiffness_at(loads: Array) -> Array:
        items = zip(tables.values(), curves.values(), loads, strict=True)
        return np.array([float(curve(np.clip(load, table.at[0], table.at[-1]))) for table, curve, load in items])

    k = np.array(list(values.values()))
    for _ in range(_TURNS):
        k = stiffness_at(compute_reactions(k))
    found = root(
        lambda logarithm: np.log(stiffness_at(compute_reactions(np.exp(logarithm)))) - logarithm,
        np.log(k),
        tol=_SETTLED,
    )
    k = np.exp(found.x)
    loads = compute_reactions(k)
    off = np.abs(stiffness_at(loads) / k - 1.0)
    if off.max() > _AGREE:
        joint, direction = list(tables)[int(np.argmax(off))]
        raise NumericalError(
            f'the stiffness "{direction}" is not consistent with its load: they differ by {100 * off.max():.2g} %',
            part=f'joint "{joint}"', hint="check its table for steps",
        )  # fmt: skip
    notes: list[tuple[str, type[Warning]]] = []
    for (key, table), value, load in zip(tables.items(), k, loads, strict=True):
        values[key] = float(value)
        per, unit = ("N m/rad", "N m") if key[1][0] == "r" or key[1] == "angle" else ("N/m", "N")
        what = f'joint "{key[0]}": stiffness "{key[1]}"'
        notes.append((f"{what} {value:.6g} {per}, under {load:.4g} {unit} at rest", SuppleNote))
        if not table.at[0] <= load <= table.at[-1]:
            limits = f"from {table.at[0]:g} to {table.at[-1]:g} {unit}"
            message = f"{what} is tabulated {limits}; {load:.4g} {unit} is outside, the end value is used"
            notes.append((message, SuppleWarning))
    return with_stiffness(mechanism, values), notes
