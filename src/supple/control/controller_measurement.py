"""What a controller is told at an instant, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from supple.array_types import Array, Integers
from supple.diagnostics import InputError, nearest
from supple.hardware.hardware import Hardware
from supple.results.basis import CoordinateBasis
from supple.results.result import brief
from supple.results.text import listed

NOT_MEASURED = (
    "estimate what is not measured: supple.control.lqg(linear, Q, R, ...) in the place of lqr, or "
    "supple.control.kalman_filter(linear, ...); or make the controller and the plant of the same mechanism"
)


class MeasurementLayout:
    """Which numbers there are, by name: the same for all measurements of a run.

    coordinates : names of the coordinates; whole : whether all of them and their rates are there, and how they deform
    places      : name -> number among those that are told
    """

    def __init__(
        self, coordinates: tuple[str, ...], places: dict[str, int], whole: bool, basis: CoordinateBasis | None
    ):
        self.coordinates, self.places, self.whole, self.basis = coordinates, places, whole, basis
        self._asked: dict[tuple[str, ...], Integers] = {}

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
        """Numbers (k,) of several; asked again, they are known."""
        key = tuple(names)
        found = self._asked.get(key)
        if found is None:
            found = self._asked[key] = np.array([self[name] for name in key], dtype=np.int64)
        return found


def exact_panel(
    coordinates: tuple[str, ...], outputs: Sequence[str], basis: CoordinateBasis | None = None
) -> MeasurementLayout:
    """Of numbers (2n + o,): coordinates, their rates, outputs. An output stands before a coordinate of its name."""
    n = len(coordinates)
    places = {name: i for i, name in enumerate(coordinates)}
    places |= {f"{name}.rate": n + i for i, name in enumerate(coordinates)}
    return MeasurementLayout(coordinates, places | {name: 2 * n + i for i, name in enumerate(outputs)}, True, basis)


def instrument_panel(coordinates: tuple[str, ...], outputs: Sequence[str], hardware: Hardware) -> MeasurementLayout:
    """Of readings (o,): coordinates through their encoders, rates through their sensors, and nothing else."""
    read = {name: i for i, name in enumerate(outputs)}
    places = {name: read[output] for name, output in hardware.encoders.items() if output in read}
    places |= {f"{name}.rate": read[output] for name, output in hardware.rate_sensors.items() if output in read}
    return MeasurementLayout(coordinates, places | read, False, None)


class Measurement:
    """What is known at a time, s.

    `measurement["tip.x"]` is an output, `measurement["elbow"]` a coordinate and `measurement["elbow.rate"]` its rate:
    exact where no instruments are described; otherwise what the sensor of that name, or of that coordinate, shows.
    What has no sensor then is not measured. `array(names)` gives several at once, the fast way.

    coordinates : names of the coordinates; values, rates : (n,) each, in rad or m, and per second
    outputs     : what the sensors see, by name
    basis       : what elastic coordinates among them are counted in; None without any
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
        seen = {} if outputs is None else outputs
        self.panel = exact_panel(tuple(coordinates), tuple(seen), basis)
        self.numbers = np.concatenate([values, rates, np.array([*seen.values()], dtype=float)])
        self.time = time

    def __repr__(self) -> str:
        return brief("Measurement", f"at {self.time:.6g} s of {listed(self.panel.places)}")

    @classmethod
    def shown(cls, panel: MeasurementLayout, numbers: Array, time: float) -> Measurement:
        """Numbers as a panel names them."""
        made = cls.__new__(cls)
        made.panel, made.numbers, made.time = panel, numbers, time
        return made

    def __getitem__(self, name: str) -> float:
        return float(self.numbers[self.panel[name]])

    def array(self, names: Sequence[str]) -> Array:
        """Several, (k,), in the order of their names."""
        return self.numbers[self.panel.among(names)]

    @property
    def coordinates(self) -> tuple[str, ...]:
        return self.panel.coordinates

    @property
    def basis(self) -> CoordinateBasis | None:
        return self.panel.basis

    @property
    def values(self) -> Array:
        """(n,) of all coordinates."""
        return self.of(self.coordinates, "values of all coordinates")[0]

    @property
    def rates(self) -> Array:
        """(n,) of all coordinates."""
        return self.of(self.coordinates, "rates of all coordinates")[1]

    @property
    def state(self) -> Array:
        """(2n,): coordinates, then their rates, the states of a linear model."""
        return np.concatenate(self.of(self.coordinates, "the state"))

    @property
    def outputs(self) -> dict[str, float]:
        """Numbers of the sensors, by name."""
        first = 2 * len(self.coordinates) if self.panel.whole else 0
        seen = {name: place for name, place in self.panel.places.items() if place >= first}
        if not self.panel.whole:  # of several names of one sensor, its own is the last
            seen = {name: place for place, name in {place: name for name, place in seen.items()}.items()}
        return {name: float(self.numbers[place]) for name, place in seen.items()}

    def of(self, names: tuple[str, ...], part: str) -> tuple[Array, Array]:
        """Values and rates of some coordinates (k,) each: a rigid controller sees θ alone of a flexible mechanism."""
        n = len(self.coordinates)
        if self.panel.whole and names == self.coordinates:
            return self.numbers[:n], self.numbers[n : 2 * n]
        for name in names:
            if name not in self.coordinates:
                raise InputError(
                    f"it is made for {2 * len(names)} states, and {2 * n} are measured: "
                    f'{", ".join(self.coordinates)} and their rates, without "{name}"',
                    part=part, hint=NOT_MEASURED,
                )  # fmt: skip
        return self.array(names), self.array(tuple(f"{name}.rate" for name in names))
