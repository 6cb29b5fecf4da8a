"""Static compliance at places of a mechanism with its actuators locked, and its inverse, the stiffness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.formulations.coefficients import units_of
from supple.formulations.elastic_rest.body_coordinates import own_band
from supple.formulations.elastic_rest.elastic_rest import elastic_rest
from supple.formulations.elastic_rest.joint_stiffness_under_load import under_loads
from supple.formulations.elastic_rest.loaded_statics import loaded_response
from supple.formulations.elastic_rest.preload import held_loads
from supple.formulations.elastic_rest.static_response import static_response
from supple.kinematics.configuration import At, Configuration
from supple.modal_analysis.modes import require_elastic
from supple.modal_analysis.ports import Port, place_ports, port_rows
from supple.results.result import Entries, Result, picture
from supple.results.table import Table, batch_table, matrix_table
from supple.results.text import Text, list_names, posture_heading
from supple.results.units import force, pair_units, yields

STATIC_BAND = 0.0  # Hz: static modes are exact in every band, so without loads the fewest coordinates suffice
_WIDER = 4.0
_AGREE = 1e-6  # of the largest of its kind: a wider band changes compliances under loads by less than this


@dataclass(frozen=True, eq=False, repr=False)
class Compliance(Result):
    """Displacements at places for unit forces. In a batch every array has a leading axis (N, ...).

    Attributes
    ----------
    configuration : Configuration
        Configuration or batch of configurations.
    values : ndarray, shape (..., p, p)
        Symmetric compliance matrix; its rows and columns are `names`.
    names : tuple of str
        Names of the directions, `place.axis` or outputs of sensors.
    units : tuple of str
        Unit of the displacement in each direction, m or rad.
    """

    configuration: Configuration
    values: Array
    names: tuple[str, ...]
    units: tuple[str, ...]

    def summary(self) -> str:
        """Return a one-line summary."""
        return f"of {self.configuration!r} at {list_names(self.names)}"

    def table(self) -> Table:
        """Return displacements (rows) for unit forces (columns).

        For a batch, there is one row per configuration, with columns `ROW/COLUMN`.
        """
        if self.values.ndim == 2:
            return matrix_table(
                "displacement", self.names, self.names, self.values,
                lambda i, j: yields(self.units[i], self.units[j]),
            )  # fmt: skip
        pairs = {f"{a}/{b}": self.values[:, i, j] for i, a in enumerate(self.names) for j, b in enumerate(self.names)}
        known = units_of(self.configuration.rest).coordinates
        return batch_table(self.configuration.coordinates, pairs, pair_units(self.names, self.units), known)

    def data(self) -> dict[str, Any]:
        """Return the object that `--json` prints; the stiffness is None if the compliance is singular."""
        return {
            "names": self.names,
            "units": self.units,
            "compliance": self.values,
            "stiffness": self._stiffness(),
            "at": self.configuration.coordinates,
        }

    def text(self) -> Text:
        """Return the matrix, and its inverse if there is one; for a batch, one line."""
        if self.values.ndim > 2:
            return super().text()
        out = Text(f"{posture_heading(self.configuration)}, displacements (rows) for unit forces (columns)")
        labels = [f"{name} [{unit}]" for name, unit in zip(self.names, self.units, strict=True)]
        forces = [f"{name} [{force(unit)}]" for name, unit in zip(self.names, self.units, strict=True)]
        out.matrix("compliance", labels, forces, self.values)
        stiffness = self._stiffness()
        if stiffness is not None:
            out.matrix("stiffness", forces, labels, stiffness)
        return out

    def _stiffness(self) -> Array | None:
        """Return the stiffness, or None if the compliance is singular."""
        try:
            return self.stiffness
        except InputError:
            return None

    def map_entries(self) -> Entries:
        """Return the matrix row by row, `ROW/COLUMN`, as the numbers of a map."""
        units = pair_units(self.names, self.units)
        values = self.values.reshape(*self.values.shape[:-2], -1)
        return Entries("compliance", tuple(units), tuple(units.values()), values)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays by name, as saved in .npz and .mat files."""
        texts = {"names": self.names, "units": self.units}
        return {"theta": self.configuration.theta, "compliance": self.values} | {
            key: np.array(names, dtype=str) for key, names in texts.items()
        }

    def plot(self, *, axes: Any = None) -> Any:
        """Draw the matrix, coloured by the coupling of directions, with matplotlib and return the panels."""
        return picture("statics.plot.compliance_plot")(self, axes)

    @property
    def stiffness(self) -> Array:
        """Stiffness (..., p, p), the inverse of the compliance: forces for unit displacements.

        Each unit displacement is that of one direction, with all other named directions held.

        Raises
        ------
        InputError
            If the compliance is singular.
        """
        largest = np.abs(self.values).max(axis=(-2, -1), initial=0.0)
        if not (np.linalg.cond(self.values) < 1e14).all() or (largest == 0.0).any():
            raise InputError(
                f"the compliance of {', '.join(self.names)} is singular: a direction is rigid, or follows the others",
                part="stiffness",
                hint="request fewer directions, or use the compliance",
            )
        return np.asarray(np.linalg.inv(self.values), dtype=np.float64)


def compliance(
    mechanism: Mechanism, at: At | Configuration = None, places: str | Sequence[str] = (), *, preload: bool = True
) -> Compliance:
    """Compute the static compliance matrix at places of a mechanism, actuators locked.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism with elastic parts.
    at : str, mapping, array_like or Configuration, optional
        Configuration, as in `assemble`; a batch (N, s) gives a batch of matrices. Default: rest.
    places : str or sequence of str
        Directions: `place.axis` such as "tip.z", the output of a sensor, or a place for all its directions (three in
        the plane, six in space).
    preload : bool, optional
        Include the geometric stiffness K_g of gravity and all forces at rest. Default: True.

    Returns
    -------
    Compliance
        Compliance matrix (p, p), or (N, p, p) for a batch; its `stiffness` is the inverse.

    Raises
    ------
    InputError
        If no place is given, a place is unknown, or nothing in the mechanism is elastic.

    See Also
    --------
    compliance_map : Compliance over a region.
    deflection : Displacements under gravity and constant loads.

    Notes
    -----
    The compliance is g (K + K_g)⁺ gᵀ, with g the displacements at the places and every coordinate θ locked, equation 11
    of docs/theory/frequency-response.md.

    Examples
    --------
    >>> import supple
    >>> found = supple.compliance(supple.load("ralf"), "home", ["tip.x", "tip.z"])
    >>> found.names, found.values.shape
    (('tip.x', 'tip.z'), (2, 2))
    """
    require_arguments(compliance, locals())
    names = (places,) if isinstance(places, str) else tuple(places)
    if not names:
        raise InputError("no place is given", part="places", hint='give a place such as "tip", or a direction "tip.z"')
    mechanism, configuration = under_loads(mechanism, at)
    ports = [item for name in names for item in place_ports(configuration.rest.numbering, name)]
    require_elastic(elastic_rest(mechanism, STATIC_BAND))
    loaded = preload and held_loads(mechanism, "compliance")
    values = (
        _compute_loaded(mechanism, configuration, ports)
        if loaded
        else _compute_unloaded(mechanism, configuration, ports)
    )
    if configuration.X.ndim == 2:
        values = values[0]
    return Compliance(configuration, values, tuple(item.name for item in ports), tuple(item.unit for item in ports))


def _compute_unloaded(mechanism: Mechanism, configuration: Configuration, ports: list[Port]) -> Array:
    """Return g K⁺ gᵀ (N, p, p)."""
    rest = elastic_rest(mechanism, STATIC_BAND)
    X = np.ascontiguousarray(configuration.X.reshape(-1, *configuration.X.shape[-2:]))
    rows = port_rows(rest, ports, X)
    return _symmetric(static_response(rest, X, rows)[0], rows)


def _compute_loaded(mechanism: Mechanism, configuration: Configuration, ports: list[Port]) -> Array:
    """Return the compliance (N, p, p) under loads; the frequency band of the bodies is widened until it converges.

    The deformation that loads cause inside bodies is not among the static shapes.
    """
    X = np.ascontiguousarray(configuration.X.reshape(-1, *configuration.X.shape[-2:]))
    w = configuration.w.reshape(len(X), -1)
    band, before = own_band(mechanism), None
    while True:
        rest = elastic_rest(mechanism, band)
        rows = port_rows(rest, ports, X)
        values = _symmetric(loaded_response(rest, X, w, rows), rows)
        if rest.whole or (before is not None and _agree(values, before)):
            return values
        band, before = _WIDER * band, values


def _agree(values: Array, before: Array) -> bool:
    own = np.sqrt(np.abs(np.diagonal(values, axis1=1, axis2=2)))
    size = own[:, :, None] * own[:, None, :]  # displacements and rotations have scales of their own
    return bool((np.abs(values - before) <= _AGREE * size + _AGREE * _AGREE * np.abs(values).max(initial=0.0)).all())


def _symmetric(Z: Array, rows: Array) -> Array:
    values = Z @ rows.transpose(0, 2, 1)
    return np.asarray(0.5 * (values + values.transpose(0, 2, 1)))
