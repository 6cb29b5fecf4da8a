"""The time driver: it asks a system to advance from event to event.

An event is a time at which something decides anew what acts on the system: the start of a run whose inputs are all
known, the sample of a controller, or the end of an interval of drives that feel the motion. Between two events the
system advances in one call of its own compiled march, through all result times in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from supple.systems.advancing import Advancing

Acting = TypeVar("Acting")
Given = TypeVar("Given", covariant=True)


class Source(Protocol[Given]):
    """Decides at every event what acts on the system until the next one.

    events : one number for each event: that of the result time up to which the system advances
    """

    @property
    def events(self) -> Sequence[int]: ...

    def acting(self, event: int) -> Given:
        """Return what acts from this event to the next."""
        ...

    def advanced(self, event: int) -> None:
        """Take note that the system has advanced from this event, as far as it could."""
        ...


class Known(Generic[Acting]):
    """A source for a run whose inputs are known beforehand: one event, at the start. Implements `Source`.

    acting : what acts until the end; last : number of the last result time
    """

    def __init__(self, acting: Acting, last: int) -> None:
        self._acting, self.events = acting, (last,)

    def acting(self, event: int) -> Acting:
        """Return what acts during the whole run."""
        return self._acting

    def advanced(self, event: int) -> None:
        """Do nothing: no further event follows."""


def drive(system: Advancing[Acting], source: Source[Acting]) -> None:
    """Advance a system from event to event, until the last one or until it cannot go on."""
    advance, acting, advanced = system.advance, source.acting, source.advanced
    for event, until in enumerate(source.events):
        done = advance(acting(event), until)
        advanced(event)
        if not done:
            return
