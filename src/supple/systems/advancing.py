"""Protocols of systems in time: how a run advances, and what a controller or a drive can read from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.hardware.pieces import Pieces
from supple.results.simulation import Simulation
from supple.systems.protocols import System

Values = Mapping[str, float] | ArrayLike | None
Acting = TypeVar("Acting", contravariant=True)


class Advancing(Protocol[Acting]):
    """A system that advances through its result times under inputs."""

    def advance(self, acting: Acting, until: int, /) -> bool:
        """Advance to the result time of index `until` and record the state at every result time until then.

        Parameters
        ----------
        acting
            Inputs of the system until then, in the form that its compiled time integration takes.
        until
            Index of the result time at which the next event occurs.

        Returns
        -------
        bool
            False if the system cannot continue; `reason` of the run gives the cause.
        """
        ...


class Plant(Advancing[Pieces], Protocol):
    """A system with drives: a mechanism, a reduced model or a linear model."""

    @property
    def system(self) -> System:
        """Names and units."""
        ...

    @property
    def reason(self) -> str:
        """Why the run ended early, or ""."""
        ...

    @property
    def state(self) -> tuple[Array, Array]:
        """Coordinates and their rates (n,) at the present time."""
        ...

    @property
    def present_outputs(self) -> Array:
        """Outputs (o,) at the present time, before a jump of the inputs."""
        ...

    def result(self, forces: Array) -> Simulation:
        """Return the motion so far.

        Parameters
        ----------
        forces
            (N, a) forces of the actuators from each result time on, N or N m.
        """
        ...
