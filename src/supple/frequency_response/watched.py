"""What is watched in a frequency response: ports, or outputs that are made of them and of their rates.

About rest an output of measures μ moves with S₀ δμ + S₁ δμ̇ + S₂ δμ̈: its response is Σ_p (iω)^p S_p times theirs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Complex
from supple.diagnostics import InputError
from supple.equations.observation import ORDERS
from supple.formulations.coefficients import carried
from supple.formulations.measured_units import output_units
from supple.kinematics.configuration import Configuration
from supple.modal_analysis.ports import Port, port


class Watched(NamedTuple):
    """Outputs by name with their units, the ports they are made of, and S (3, outputs, ports)."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    ports: list[Port]
    S: Array

    def seen(self, H: Complex, lines: Array) -> Complex:
        """Responses of the outputs (L, outputs, inputs), from those of the ports (L, ports, inputs)."""
        rates = (2j * np.pi * lines)[:, None, None]
        return np.asarray(sum(rates**p * (S @ H) for p, S in enumerate(self.S) if S.any() or not p))


def watched(configuration: Configuration, names: tuple[str, ...]) -> Watched:
    """Outputs of sensors, actuators, joint coordinates, or `place.axis`."""
    numbering, load = configuration.rest.numbering, carried(configuration.rest)
    observation, units = load.observation, output_units(configuration.rest)
    rows = np.array(list(load.measured.values()), dtype=np.int64)
    x = np.zeros((ORDERS, len(rows) + len(observation.efforts)))
    x[0, : len(rows)] = configuration.w[rows - numbering.constraints]
    slopes = observation.slopes(x)
    ports: list[Port] = []
    entries: list[tuple[int, int, int, float]] = []
    found = []
    for i, name in enumerate(names):
        if name not in observation.outputs or observation.measure_of(name) is not None:
            entries.append((0, i, len(ports), 1.0))
            ports.append(port(numbering, name))
            found.append(ports[-1].unit)
            continue
        found.append(units[name])
        of = slopes[:, observation.names.index(name)]
        if of[:, len(rows) :].any():
            raise InputError(
                "it is a force inside the mechanism", part=f'output "{name}"',
                hint="ask a linear or a reduced model for its response",
            )  # fmt: skip
        for p, measure in zip(*np.nonzero(of), strict=True):
            entries.append((int(p), i, len(ports), float(of[p, measure])))
            row = int(rows[measure])
            ports.append(Port(observation.measures[measure], bool(numbering.angles()[row]), row))
    S = np.zeros((ORDERS, len(names), len(ports)))
    for p, i, k, weight in entries:
        S[p, i, k] = weight
    return Watched(names, tuple(found), ports, S)
