"""Static compliance at places of a mechanism, actuators locked; its inverse is the stiffness they offer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.analyses.vibration.modal import require_elastic
from supple.analyses.vibration.ports import place_ports, port_rows
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.formulations.elastic_rest.elastic_rest import elastic_rest
from supple.formulations.elastic_rest.loaded_stiffness import under_loads
from supple.formulations.elastic_rest.static_response import static_response
from supple.formulations.measured_units import units_of
from supple.kinematics.configuration import At, Configuration
from supple.results.names import listed
from supple.results.picture import picture
from supple.results.result import Result
from supple.results.table import Table, batch_table, matrix_table
from supple.results.units import pair_units, yields

Array = NDArray[np.float64]

STATIC_BAND = 0.0  # Hz: static modes are exact in every band, so the fewest coordinates do


@dataclass(frozen=True, eq=False, repr=False)
class Compliance(Result):
    """Displacements for unit forces. In a batch every array has a leading axis (N, ...).

    values : (..., p, p), symmetric; rows and columns are `names`, units[i] is that of a displacement (m or rad)
    """

    configuration: Configuration
    values: Array
    names: tuple[str, ...]
    units: tuple[str, ...]

    def summary(self) -> str:
        return f"of {self.configuration!r} at {listed(self.names)}"

    def table(self) -> Table:
        """Displacements (rows) for unit forces (columns); of a batch one row a configuration, columns `ROW/COLUMN`."""
        if self.values.ndim == 2:
            return matrix_table(
                "displacement", self.names, self.names, self.values,
                lambda i, j: yields(self.units[i], self.units[j]),
            )  # fmt: skip
        pairs = {f"{a}/{b}": self.values[:, i, j] for i, a in enumerate(self.names) for j, b in enumerate(self.names)}
        known = units_of(self.configuration.rest).coordinates
        return batch_table(self.configuration.coordinates, pairs, pair_units(self.names, self.units), known)

    def arrays(self) -> dict[str, NDArray[Any]]:
        texts = {"names": self.names, "units": self.units}
        return {"theta": self.configuration.theta, "compliance": self.values} | {
            key: np.array(names, dtype=str) for key, names in texts.items()
        }

    def plot(self, *, axes: Any = None) -> Any:
        """Draw the matrix, coloured by how much one direction moves with another (matplotlib); returns the panels."""
        return picture("compliance_plot")(self, axes)

    @property
    def stiffness(self) -> Array:
        """(..., p, p) the inverse: forces for unit displacements, all the named ones prescribed together."""
        largest = np.abs(self.values).max(axis=(-2, -1), initial=0.0)
        if not (np.linalg.cond(self.values) < 1e14).all() or (largest == 0.0).any():
            raise InputError(
                f"{', '.join(self.names)} cannot all be moved: some yield to no force, or follow the others",
                part="stiffness",
                hint="ask for fewer of them, or for the compliance",
            )
        return np.asarray(np.linalg.inv(self.values), dtype=np.float64)


def compliance(mechanism: Mechanism, at: At | Configuration = None, places: str | Sequence[str] = ()) -> Compliance:
    """g K⁺ gᵀ at the places, every coordinate θ locked.                              [frequency-response, eq. 11]

    at     : a Configuration, or anything `assemble` takes; (N, s) gives a map over a batch
    places : `E.z`, a sensor's output, or a place for all its directions (three in the plane, six in space)
    """
    require_arguments(compliance, locals())
    names = (places,) if isinstance(places, str) else tuple(places)
    if not names:
        raise InputError("no place is given", part="places", hint="name one, for example tip, or one direction, tip.z")
    mechanism, configuration = under_loads(mechanism, at)
    ports = [item for name in names for item in place_ports(configuration.rest.numbering, name)]
    rest = elastic_rest(mechanism, STATIC_BAND)
    require_elastic(rest)
    X = np.ascontiguousarray(configuration.X.reshape(-1, *configuration.X.shape[-2:]))
    rows = port_rows(rest, ports, X)
    Z, _ = static_response(rest, X, rows)
    values = Z @ rows.transpose(0, 2, 1)
    values = 0.5 * (values + values.transpose(0, 2, 1))
    if configuration.X.ndim == 2:
        values = values[0]
    return Compliance(configuration, values, tuple(item.name for item in ports), tuple(item.unit for item in ports))
