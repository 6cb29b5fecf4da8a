"""Measurement that a controller receives at each sample, with access by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from supple.array_types import Array, Integers
from supple.diagnostics import InputError, nearest
from supple.hardware.hardware import Hardware
from supple.results.basis import CoordinateBasis
from supple.results.result import brief
from supple.results.text import list_names

NOT_MEASURED = (
    "estimate the states that are not measured: use supple.control.lqg(linear, Q, R, ...) instead of lqr, or "
    "supple.control.kalman_filter(linear, ...); or design the controller on the mechanism that is the plant"
)


class MeasurementLayout:
    """Names and positions of the measured numbers, common to all measurements of a run.

    coordinates : names of the coordinates
    places      : name -> position among the measured numbers
    whole       : whether all coordinates, their rates and the elastic coordinates are measured
    basis       : basis of the elastic coordinates, or None
    """

    def __init__(
        self, coordinates: tuple[str, ...], places: dict[str, int], whole: bool, basis: CoordinateBasis | None
    ):
        self.coordinates, self.places, self.whole, self.basis = coordinates, places, whole, basis
        self._positions: dict[tuple[str, ...], Integers] = {}

    def __getitem__(self, name: str) -> int:
        place = self.places.get(name)
        if place is None:
            raise InputError(f'"{name}" is not measured', hint=self._remedy(name))
        return place

    def _remedy(self, name: str) -> str:
        coordinate, _, rest = name.rpartition(".")
        if name in self.coordinates:
            return f"add a sensor that measures the coordinate {name}, or estimate it"
        if rest == "rate" and coordinate in self.coordinates:
            return (
                f"add a sensor of the rate of {coordinate}, filter it from {coordinate} (rate_filter= of joint_pd, "
                "joint_pid and computed_torque), or estimate it"
            )
        return nearest(name, self.places)

    def among(self, names: Sequence[str]) -> Integers:
        """Return the positions (k,) of several names; cached by the names."""
        key = tuple(names)
        found = self._positions.get(key)
        if found is None:
            found = self._positions[key] = np.array([self[name] for name in key], dtype=np.int64)
        return found


def exact_panel(
    coordinates: tuple[str, ...], outputs: Sequence[str], basis: CoordinateBasis | None = None
) -> MeasurementLayout:
    """Return the layout of exact measurements (2n + o,): coordinates, their rates, outputs.

    An output takes precedence over a coordinate of the same name.
    """
    n = len(coordinates)
    places = {name: i for i, name in enumerate(coordinates)}
    places |= {f"{name}.rate": n + i for i, name in enumerate(coordinates)}
    return MeasurementLayout(coordinates, places | {name: 2 * n + i for i, name in enumerate(outputs)}, True, basis)


def instrument_panel(coordinates: tuple[str, ...], outputs: Sequence[str], hardware: Hardware) -> MeasurementLayout:
    """Return the layout of readings (o,): only coordinates with encoders and rates with rate sensors are measured."""
    positions = {name: i for i, name in enumerate(outputs)}
    places = {name: positions[output] for name, output in hardware.encoders.items() if output in positions}
    places |= {
        f"{name}.rate": positions[output] for name, output in hardware.rate_sensors.items() if output in positions
    }
    return MeasurementLayout(coordinates, places | positions, False, None)


class Measurement:
    """Measured signals at one time.

    `measurement["tip.x"]` is an output, `measurement["elbow"]` a coordinate and `measurement["elbow.rate"]` its rate.
    Without instruments these values are exact. Otherwise they are the readings of the sensor of that name or of that
    coordinate; signals without a sensor are not measured. `array(names)` returns several at once and is the fastest
    way.

    Parameters
    ----------
    coordinates : tuple of str
        Names of the coordinates.
    values : ndarray of shape (n,)
        Coordinates, rad or m.
    rates : ndarray of shape (n,)
        Rates of the coordinates, rad/s or m/s.
    outputs : mapping of str to float, optional
        Sensor outputs by name. Default: none.
    basis : CoordinateBasis, optional
        Basis of the elastic coordinates among them. Default: there are none.
    time : float, optional
        Time of the measurement, s. Default: 0.

    Examples
    --------
    >>> import numpy as np
    >>> from supple import control
    >>> measurement = control.Measurement(("elbow",), np.array([0.3]), np.array([-1.0]), {"tip.x": 0.8})
    >>> measurement["elbow.rate"]
    -1.0
    >>> measurement.array(["elbow", "tip.x"])
    array([0.3, 0.8])
    """

    __slots__ = ("numbers", "panel", "time")

    def __init__(
        self,
        coordinates: tuple[str, ...],
        values: Array,
        rates: Array,
        outputs: Mapping[str, float] | None = None,
        basis: CoordinateBasis | None = None,
        time: float = 0.0,
    ) -> None:
        outputs = {} if outputs is None else outputs
        self.panel = exact_panel(tuple(coordinates), tuple(outputs), basis)
        self.numbers = np.concatenate([values, rates, np.array([*outputs.values()], dtype=float)])
        self.time = time

    def __repr__(self) -> str:
        return brief("Measurement", f"at {self.time:.6g} s of {list_names(self.panel.places)}")

    @classmethod
    def from_numbers(cls, panel: MeasurementLayout, numbers: Array, time: float) -> Measurement:
        """Return the measurement with these numbers in the order of a layout."""
        made = cls.__new__(cls)
        made.panel, made.numbers, made.time = panel, numbers, time
        return made

    def __getitem__(self, name: str) -> float:
        return float(self.numbers[self.panel[name]])

    def array(self, names: Sequence[str]) -> Array:
        """Return several signals (k,) in the order of their names."""
        return self.numbers[self.panel.among(names)]

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return self.panel.coordinates

    @property
    def basis(self) -> CoordinateBasis | None:
        """Basis of the elastic coordinates; None without any."""
        return self.panel.basis

    @property
    def values(self) -> Array:
        """Values (n,) of all coordinates."""
        return self.of(self.coordinates, "values of all coordinates")[0]

    @property
    def rates(self) -> Array:
        """Rates (n,) of all coordinates."""
        return self.of(self.coordinates, "rates of all coordinates")[1]

    @property
    def state(self) -> Array:
        """State (2n,): coordinates, then their rates, in the order of the states of a linear model."""
        return np.concatenate(self.of(self.coordinates, "the state"))

    @property
    def outputs(self) -> dict[str, float]:
        """Sensor outputs by name."""
        first = 2 * len(self.coordinates) if self.panel.whole else 0
        found = {name: place for name, place in self.panel.places.items() if place >= first}
        if not self.panel.whole:  # a sensor's own name comes last among its names
            found = {name: place for place, name in {place: name for name, place in found.items()}.items()}
        return {name: float(self.numbers[place]) for name, place in found.items()}

    def of(self, names: tuple[str, ...], part: str) -> tuple[Array, Array]:
        """Return values and rates (k,) of some coordinates.

        A controller designed on a rigid model reads only θ of a flexible mechanism.

        Parameters
        ----------
        names : tuple of str
            Names of the coordinates.
        part : str
            Name of the controller for error messages.

        Returns
        -------
        tuple of ndarray
            Values and rates, (k,) each.

        Raises
        ------
        InputError
            If a coordinate is not measured.
        """
        n = len(self.coordinates)
        if self.panel.whole and names == self.coordinates:
            return self.numbers[:n], self.numbers[n : 2 * n]
        for name in names:
            if name not in self.coordinates:
                raise InputError(
                    f'coordinate "{name}" is not measured: the controller has {2 * len(names)} states, and the {2 * n} '
                    f'measured ones are {", ".join(self.coordinates)} and their rates',
                    part=part, hint=NOT_MEASURED,
                )  # fmt: skip
        return self.array(names), self.array(tuple(f"{name}.rate" for name in names))
