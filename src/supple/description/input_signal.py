"""The force of an actuator over time, by its kind: a step, a sine, a chirp."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from supple.description.quantities.dimension import ANGLE, FREQUENCY, TIME
from supple.description.quantities.quantity import Duration, NotNegative, Number, OfCoordinate, Part, Positive, of
from supple.integration.signal import KINDS

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
