"""Static compliance at places of a mechanism, actuators locked; its inverse is the stiffness they offer."""

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
from supple.results.text import Text, listed, posture_heading
from supple.results.units import force, pair_units, yields

STATIC_BAND = 0.0  # Hz: static modes are exact in every band, so the fewest coordinates do without loads
_WIDER = 4.0
_AGREE = 1e-6  # of the largest of its kind: a wider band changes compliances under loads by less than this


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

    def data(self) -> dict[str, Any]:
        """What `--json` prints; the stiffness is None where there is none."""
        return {
            "names": self.names,
            "units": self.units,
            "compliance": self.values,
            "stiffness": self._stiffness(),
            "at": self.configuration.coordinates,
        }

    def text(self) -> Text:
        """The matrix, and its inverse where there is one; of a batch one line."""
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
        try:
            return self.stiffness
        except InputError:
            return None

    def map_entries(self) -> Entries:
        """The matrix row by row, `ROW/COLUMN`."""
        units = pair_units(self.names, self.units)
        values = self.values.reshape(*self.values.shape[:-2], -1)
        return Entries("compliance", tuple(units), tuple(units.values()), values)

    def arrays(self) -> dict[str, NDArray[Any]]:
        texts = {"names": self.names, "units": self.units}
        return {"theta": self.configuration.theta, "compliance": self.values} | {
            key: np.array(names, dtype=str) for key, names in texts.items()
        }

    def plot(self, *, axes: Any = None) -> Any:
        """Draw the matrix, coloured by how much one direction moves with another (matplotlib); returns the panels."""
        return picture("statics.plot.compliance_plot")(self, axes)

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


def compliance(
    mechanism: Mechanism, at: At | Configuration = None, places: str | Sequence[str] = (), *, preload: bool = True
) -> Compliance:
    """g (K + K_g)⁺ gᵀ at the places, every coordinate θ locked.                      [frequency-response, eq. 11]

    at      : a Configuration, or anything `assemble` takes; (N, s) gives a map over a batch
    places  : `E.z`, a sensor's output, or a place for all its directions (three in the plane, six in space)
    preload : add the geometric stiffness K_g of gravity and all forces at rest; False leaves it out
    """
    require_arguments(compliance, locals())
    names = (places,) if isinstance(places, str) else tuple(places)
    if not names:
        raise InputError("no place is given", part="places", hint="name one, for example tip, or one direction, tip.z")
    mechanism, configuration = under_loads(mechanism, at)
    ports = [item for name in names for item in place_ports(configuration.rest.numbering, name)]
    require_elastic(elastic_rest(mechanism, STATIC_BAND))
    loaded = preload and held_loads(mechanism, "compliance")
    values = _loaded(mechanism, configuration, ports) if loaded else _unloaded(mechanism, configuration, ports)
    if configuration.X.ndim == 2:
        values = values[0]
    return Compliance(configuration, values, tuple(item.name for item in ports), tuple(item.unit for item in ports))


def _unloaded(mechanism: Mechanism, configuration: Configuration, ports: list[Port]) -> Array:
    """(N, p, p) g K⁺ gᵀ."""
    rest = elastic_rest(mechanism, STATIC_BAND)
    X = np.ascontiguousarray(configuration.X.reshape(-1, *configuration.X.shape[-2:]))
    rows = port_rows(rest, ports, X)
    return _symmetric(static_response(rest, X, rows)[0], rows)


def _loaded(mechanism: Mechanism, configuration: Configuration, ports: list[Port]) -> Array:
    """(N, p, p) with loads. What these bend inside bodies is not in static shapes: bands are widened until it is."""
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
    size = own[:, :, None] * own[:, None, :]  # displacements and turns have sizes of their own
    return bool((np.abs(values - before) <= _AGREE * size + _AGREE * _AGREE * np.abs(values).max(initial=0.0)).all())


def _symmetric(Z: Array, rows: Array) -> Array:
    values = Z @ rows.transpose(0, 2, 1)
    return np.asarray(0.5 * (values + values.transpose(0, 2, 1)))
