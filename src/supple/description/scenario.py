"""Scenarios: a start, what drives the mechanism from there, and for how long."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from supple.description.quantities.dimension import TIME
from supple.description.quantities.quantity import Duration, Number, OfCoordinate, Part, of

REST, EQUILIBRIUM = "rest", "equilibrium"


class Scenario(Part):
    """A run in time, as `supple simulate` and `supple compare` take it by name."""

    start: str | dict[str, OfCoordinate] = REST
    """`rest`, `equilibrium`, a configuration's name, or coordinates."""
    rates: dict[str, OfCoordinate] = {}
    """Of coordinates at the start: rad/s or m/s; zero if left out."""
    motion: str | None = None
    """A motion's name: all coordinates are prescribed."""
    inputs: dict[str, OfCoordinate | Annotated[tuple[OfCoordinate, ...], Field(min_length=2)]] = {}
    """Forces of actuators, N or N m: constant, or one value for each of `times`, linear between them."""
    times: Annotated[tuple[Annotated[Number, of(TIME)], ...], Field(min_length=2)] | None = None
    """Of the values of inputs, s, rising."""
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
