"""Scenarios: a start, what drives the mechanism from there, and for how long."""

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

# The force of an actuator over time, by its kind: a step, a sine, a chirp.


_BELONG = {"step": (), "sine": ("frequency", "phase"), "chirp": ("start", "to", "phase")}
_NEEDS = {"step": (), "sine": ("frequency",), "chirp": ("start", "to")}
_CALLED = {"start": "from"}


class InputSignal(Part):
    """One of `step`, `sine` and `chirp`, from `at` until `until`; zero before and after."""

    step: OfCoordinate | None = None
    """N or N m: constant."""
    sine: OfCoordinate | None = None
    """N or N m: the amplitude of a sine."""
    chirp: OfCoordinate | None = None
    """N or N m: the amplitude of a sine whose frequency grows (or falls) evenly."""
    at: Annotated[NotNegative, of(TIME)] = 0.0
    """s: when it begins."""
    until: Duration | None = None
    """s: when it ends; with the scenario if left out."""
    rise: Duration | None = None
    """s: how long it takes to reach its size; a step also to go. It jumps if left out."""
    frequency: Annotated[Positive, of(FREQUENCY)] | None = None
    """Hz, of a sine."""
    start: Annotated[Positive, of(FREQUENCY)] | None = Field(default=None, alias="from")
    """Hz, of a chirp when it begins."""
    to: Annotated[Positive, of(FREQUENCY)] | None = None
    """Hz, of a chirp when it ends."""
    phase: Annotated[Number, of(ANGLE)] | None = None
    """rad, of a sine or chirp when it begins; 90 deg begins with its amplitude."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = self.chosen(*KINDS)
        if len(kinds) != 1:
            raise ValueError(f"a force over time is one of {', '.join(KINDS)}")
        kind = kinds[0]
        missing = [name for name in _NEEDS[kind] if getattr(self, name) is None]
        if missing:
            raise ValueError(f"a {kind} needs {' and '.join(_CALLED.get(name, name) for name in missing)}")
        others = [name for name in self.chosen("frequency", "start", "to", "phase") if name not in _BELONG[kind]]
        if others:
            raise ValueError(f"a {kind} has no {_CALLED.get(others[0], others[0])}")
        if self.until is not None and self.until <= self.at:
            raise ValueError("it ends before it begins")
        return self

    @property
    def size(self) -> float:
        """N or N m."""
        return next(value for name in KINDS if (value := getattr(self, name)) is not None)


REST, EQUILIBRIUM = "rest", "equilibrium"


def _written_as(value: Any) -> str:
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
    Discriminator(_written_as),
]
"""Of a force over time; what it is written as says which of them is meant."""


class ScenarioDamping(Part):
    """Damping of what is elastic in a run, on top of what the mechanism has of its own: D = α M + β K."""

    rayleigh: tuple[Annotated[NotNegative, of(PER_TIME)], Annotated[NotNegative, of(TIME)]] | None = None
    """α (1/s) and β (s)."""
    ratio: Annotated[NotNegative, of(RATIO)] | None = None
    """ζ at `frequency`, by β alone: β = 2ζ/ω."""
    frequency: Annotated[Positive, of(FREQUENCY)] | None = None
    """Hz; the first mode at the start with actuators locked if left out."""

    @model_validator(mode="after")
    def _one_model(self) -> Self:
        if len(self.chosen("rayleigh", "ratio")) != 1:
            raise ValueError("damping of a scenario is one of rayleigh and ratio")
        if self.frequency is not None and self.ratio is None:
            raise ValueError("a frequency belongs to a ratio")
        return self


class Scenario(Part):
    """A run in time, as `supple simulate` and `supple compare` take it by name or from a file of its own."""

    start: str | dict[str, OfCoordinate] = REST
    """`rest`, `equilibrium`, a configuration's name, or coordinates."""
    rates: dict[str, OfCoordinate] = {}
    """Of coordinates at the start: rad/s or m/s; zero if left out."""
    deflection: dict[str, OfCoordinate] = {}
    """Of elastic parts at the start, coordinates held: at rest under forces (N, N m) along outputs of sensors, such as
    {E.z: -5 N}, or under those that displace outputs so far (a length or an angle); let go as the run begins."""
    motion: str | None = None
    """A motion's name: all coordinates are prescribed."""
    inputs: dict[str, InputOverTime] = {}
    """Forces of actuators, N or N m: constant, one value for each of `times`, linear between them, or a signal."""
    times: Annotated[tuple[Annotated[Number, of(TIME)], ...], Field(min_length=2)] | None = None
    """Of the values of inputs, s, rising."""
    damping: ScenarioDamping | None = None
    """Of elastic parts in this run, on top of the mechanism's own."""
    until: Duration | None = None
    """s; as long as its motion lasts if left out."""
    step: Duration | None = None
    """s; 1 ms if left out."""

    @model_validator(mode="after")
    def _something_for_some_time(self) -> Self:
        if self.motion is not None and self.inputs:
            raise ValueError("either a motion is prescribed, or inputs drive it")
        if self.motion is not None and self.rates:
            raise ValueError("its motion says how fast it starts: leave rates out")
        if self.deflection and self.start == EQUILIBRIUM:
            raise ValueError("it starts at rest in equilibrium, or from a deflection, not both")
        if self.until is None and self.motion is None:
            raise ValueError("nothing says how long it lasts: give until")
        rows = {name: len(values) for name, values in self.inputs.items() if isinstance(values, tuple)}
        if self.times is None and rows:
            raise ValueError(f"{next(iter(rows))} has several values, and there are no times for them")
        if self.times is not None:
            if any(later <= earlier for earlier, later in zip(self.times, self.times[1:], strict=False)):
                raise ValueError("times do not rise")
            for name, count in rows.items():
                if count != len(self.times):
                    raise ValueError(f"{name} has {count} values for {len(self.times)} times")
        return self
