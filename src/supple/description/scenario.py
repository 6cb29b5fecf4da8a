"""Scenarios: the initial state, inputs or motion, and duration of a simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import Discriminator, Field, Tag, model_validator

from supple.description.quantities.dimension import ANGLE, FREQUENCY, PER_TIME, RATIO, TIME
from supple.description.quantities.quantity import (
    Duration,
    NotNegative,
    Number,
    OfCoordinate,
    Part,
    Positive,
    of,
)
from supple.integration.signal import KINDS

# Force of an actuator over time: a step, a sine or a chirp.


_BELONG = {"step": (), "sine": ("frequency", "phase"), "chirp": ("start", "to", "phase")}
_NEEDS = {"step": (), "sine": ("frequency",), "chirp": ("start", "to")}
_CALLED = {"start": "from"}


class InputSignal(Part):
    """Force over time: a `step`, `sine` or `chirp` from `at` to `until`, zero before and after."""

    step: OfCoordinate | None = None
    """Constant force of a step, N or N m."""
    sine: OfCoordinate | None = None
    """Amplitude of a sine, N or N m."""
    chirp: OfCoordinate | None = None
    """Amplitude of a sine whose frequency changes linearly in time, N or N m."""
    at: Annotated[NotNegative, of(TIME)] = 0.0
    """Start time, s."""
    until: Duration | None = None
    """End time, s. Default: the end of the scenario."""
    rise: Duration | None = None
    """Time in which the signal rises to its amplitude, s; a step also falls in this time. Default: it jumps."""
    frequency: Annotated[Positive, of(FREQUENCY)] | None = None
    """Frequency of a sine, Hz."""
    start: Annotated[Positive, of(FREQUENCY)] | None = Field(default=None, alias="from")
    """Initial frequency of a chirp, Hz."""
    to: Annotated[Positive, of(FREQUENCY)] | None = None
    """Final frequency of a chirp, Hz."""
    phase: Annotated[Number, of(ANGLE)] | None = None
    """Initial phase of a sine or chirp, rad; with 90 deg it starts at its amplitude."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = self.chosen(*KINDS)
        if len(kinds) != 1:
            raise ValueError(f"a force over time needs exactly one of {', '.join(KINDS)}")
        kind = kinds[0]
        missing = [name for name in _NEEDS[kind] if getattr(self, name) is None]
        if missing:
            raise ValueError(f"a {kind} needs {' and '.join(_CALLED.get(name, name) for name in missing)}")
        others = [name for name in self.chosen("frequency", "start", "to", "phase") if name not in _BELONG[kind]]
        if others:
            raise ValueError(f"a {kind} has no {_CALLED.get(others[0], others[0])}")
        if self.until is not None and self.until <= self.at:
            raise ValueError(f"until ({self.until:g} s) must be after at ({self.at:g} s)")
        return self

    @property
    def size(self) -> float:
        """Amplitude, N or N m."""
        return next(value for name in KINDS if (value := getattr(self, name)) is not None)


REST, EQUILIBRIUM = "rest", "equilibrium"


def _detect_form(value: Any) -> str:
    return (
        "signal"
        if isinstance(value, Mapping | InputSignal)
        else "values"
        if isinstance(value, Sequence) and not isinstance(value, str)
        else "number"
    )


InputOverTime = Annotated[
    Annotated[OfCoordinate, Tag("number")]
    | Annotated[tuple[OfCoordinate, ...], Field(min_length=2), Tag("values")]
    | Annotated[InputSignal, Tag("signal")],
    Discriminator(_detect_form),
]
"""Force over time: its form in the file determines its type."""


class ScenarioDamping(Part):
    """Damping of the elastic parts in a simulation, D = α M + β K, in addition to the mechanism's own."""

    rayleigh: tuple[Annotated[NotNegative, of(PER_TIME)], Annotated[NotNegative, of(TIME)]] | None = None
    """Rayleigh coefficients α (1/s) and β (s)."""
    ratio: Annotated[NotNegative, of(RATIO)] | None = None
    """Damping ratio ζ at `frequency`, by β alone: β = 2ζ/ω."""
    frequency: Annotated[Positive, of(FREQUENCY)] | None = None
    """Frequency at which `ratio` holds, Hz. Default: the first mode at the start, with locked actuators."""

    @model_validator(mode="after")
    def _one_model(self) -> Self:
        if len(self.chosen("rayleigh", "ratio")) != 1:
            raise ValueError("damping of a scenario needs exactly one of rayleigh and ratio")
        if self.frequency is not None and self.ratio is None:
            raise ValueError("frequency is only allowed with ratio")
        return self


class Scenario(Part):
    """Simulation that `supple simulate` and `supple compare` take by name, or from a file of its own."""

    start: str | dict[str, OfCoordinate] = REST
    """Initial state: `rest`, `equilibrium`, the name of a configuration, or coordinates."""
    rates: dict[str, OfCoordinate] = {}
    """Initial rates of coordinates, rad/s or m/s. Default: zero."""
    deflection: dict[str, OfCoordinate] = {}
    """Initial deflection of elastic parts, with the coordinates held. It is the equilibrium under forces (N, N m) along
    sensor outputs, such as `{E.z: -5 N}`, or under the forces that displace outputs by a length or an angle. The forces
    are removed at the start."""
    motion: str | None = None
    """Name of a motion, which prescribes all coordinates."""
    inputs: dict[str, InputOverTime] = {}
    """Forces of actuators, N or N m: constant, one value for each of `times` (linear between them), or a signal."""
    times: Annotated[tuple[Annotated[Number, of(TIME)], ...], Field(min_length=2)] | None = None
    """Times of the input values, s, increasing."""
    damping: ScenarioDamping | None = None
    """Damping of the elastic parts in this simulation, in addition to the mechanism's own."""
    until: Duration | None = None
    """End time, s. Default: the duration of the motion."""
    step: Duration | None = None
    """Time step, s. Default: 1 ms."""

    @model_validator(mode="after")
    def _check_scenario(self) -> Self:
        if self.motion is not None and self.inputs:
            raise ValueError("a scenario takes either a motion or inputs, not both")
        if self.motion is not None and self.rates:
            raise ValueError("rates are not allowed with a motion, which determines them; remove rates")
        if self.deflection and self.start == EQUILIBRIUM:
            raise ValueError("a scenario starts either in equilibrium or from a deflection, not both")
        if self.until is None and self.motion is None:
            raise ValueError("the scenario has no duration; set until")
        rows = {name: len(values) for name, values in self.inputs.items() if isinstance(values, tuple)}
        if self.times is None and rows:
            raise ValueError(f"{next(iter(rows))} has several values, but no times are given; add times")
        if self.times is not None:
            if any(later <= earlier for earlier, later in zip(self.times, self.times[1:], strict=False)):
                raise ValueError("times must increase")
            for name, count in rows.items():
                if count != len(self.times):
                    raise ValueError(
                        f"{name} has {count} values, but there are {len(self.times)} times; give one value per time"
                    )
        return self
