"""An affine law in the loop: the object with step(t, measurement)."""

from __future__ import annotations

import warnings
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.compilation import compiled
from supple.control.controller_measurement import Measurement
from supple.control.laws.affine_law import AffineLaw
from supple.control.laws.law_kernel import CLAMPED, OUTSIDE, law_in_place
from supple.diagnostics import InputError, SuppleNote
from supple.diagnostics.errors import values_text
from supple.results.result import brief

VALUE = 0  # the row of a reference that holds values, before those of its rates
_BEYOND = 0.01  # of its range: how far σ may leave it before that is said; noise at an edge is no news


class FollowedMotion(Protocol):
    """What an affine controller asks of the motion that it follows."""

    @property
    def coordinates(self) -> tuple[str, ...]: ...

    def at(self, t: float) -> Array:
        """θ, θ̇, θ̈, θ⃛ at t: (4, s)."""
        ...


def _require_names(law: AffineLaw, what: str, names: tuple[str, ...], given: FollowedMotion | None) -> None:
    found = () if given is None else given.coordinates
    if found != names:
        raise InputError(
            f"the law wants {', '.join(names) or 'none'}, and it is of {', '.join(found) or 'none'}",
            part=f'{what} of controller "{law.name}"', hint="make both of the same mechanism",
        )  # fmt: skip


class AffineController:
    """Answers u at each sample by its law, and keeps the law's state.

    Before the first sample it is taken to have stood: x₀ = A₀ z + a₀ with the command c₋ that it then answers with,
    c₋ = u₀(c₋); of several such commands the least. σ that leaves its region is clamped, and that is said once.
    reference : the motion that it follows; feedforward : f(t), commands computed beforehand, named as the actuators
    """

    def __init__(
        self, law: AffineLaw, reference: FollowedMotion | None = None, feedforward: FollowedMotion | None = None
    ) -> None:
        self.law, self.reference, self.feedforward = law, reference, feedforward
        ports = law.ports
        self.coordinates, self.actuators, self.sample_time = ports.coordinates, ports.actuators, ports.sample_time
        _require_names(law, "motion", ports.coordinates, reference)
        _require_names(law, "feedforward", ports.actuators if ports.fed else (), feedforward)
        if ports.answered != ports.actuators:
            raise InputError(
                f"it answers with {', '.join(ports.answered)}, which are no commands", part=f'law "{law.name}"',
                hint="make a controller of it, or run it beside a loop",
            )  # fmt: skip
        n, m, a = law.states, ports.size, len(ports.actuators)
        self._vector: Array = law.vector()
        self._x, self._z, self._u = self._vector[:n], self._vector[n : n + m], self._vector[n + m : n + m + a]
        self._y, self._applied, self._fed = self._z[ports.y], self._z[ports.applied], self._z[ports.fed_forward]
        wanted = self._z[ports.wanted_all].reshape(len(ports.previews), -1)
        self._instants = tuple(zip(wanted, ports.previews, strict=True))
        self._measured = ports.measured
        self._kernel, self._memory, self._rest = compiled(law_in_place), law.memory, law.rest_memory
        self._begun, self._said = False, False

    def __reduce__(self) -> Any:
        """A copy, also in another process, has arrays of its own, and goes on from where this one stands."""
        stands = self._vector, self._begun, self._said
        return _standing, (self.law, self.reference, self.feedforward, *stands)

    def __repr__(self) -> str:
        return brief("AffineController", self.law.summary)

    @property
    def commanded(self) -> tuple[str, ...]:
        """Actuators whose answers are commands of drives that it knows."""
        return self.law.commanded

    @property
    def undriven(self) -> tuple[str, ...]:
        """Actuators whose answers are forces, though they have drives."""
        return self.law.undriven

    @property
    def state(self) -> Array:
        """x (n,), a copy."""
        return self._x.copy()

    def reset(self, start: Measurement) -> None:
        """Begin anew from what is measured."""
        self._begin(start.time, start)

    def step(self, t: float, measurement: Measurement) -> Array:
        """The commands (a,) from t on."""
        if not self._begun:
            self._begin(t, measurement)
        else:
            self._know(t, measurement)
        status = self._kernel(self._memory, self._rest, self._vector)
        if status == OUTSIDE:
            raise self._outside()
        if status == CLAMPED and not self._said:
            self._say_clamped()
        self._applied[:] = self._u
        return self._u.copy()

    def applied(self, command: ArrayLike) -> None:
        """What drives made of the last answer (a,)."""
        self._applied[:] = command

    def _know(self, t: float, measurement: Measurement) -> None:
        """z of this sample, but for c₋ and products of rates, which the kernel forms."""
        self._y[:] = measurement.array(self._measured)
        if self.reference is not None:
            for place, preview in self._instants:
                place[:] = self.reference.at(t + preview).ravel()
        if self.feedforward is not None:
            self._fed[:] = self.feedforward.at(t)[VALUE]

    def _begin(self, t: float, measurement: Measurement) -> None:
        law, a = self.law, len(self.actuators)
        self._vector[:] = law.vector()
        self._know(t, measurement)
        if law.ports.swept:
            first, second = law.ports.factors
            rates = self._z[law.ports.wanted(1)]
            self._z[law.ports.products] = rates[first] * rates[second]
        here = law.at(self._sigma())
        whole, alone = here.C @ here.A0 + here.D, here.C @ here.a0 + here.d
        stood = np.eye(a) - whole[:, law.ports.applied]
        self._applied[:] = np.linalg.lstsq(stood, whole @ self._z + alone, rcond=None)[0]
        self._x[:] = here.A0 @ self._z + here.a0
        self._begun, self._said = True, False

    def _outside(self) -> InputError:
        names, values = self.law.scheduled_by, self._sigma()
        where = values_text(names, values)
        return InputError(
            f"no gains were made for {where}", part=f'controller "{self.law.name}"',
            hint="keep the motion inside the region, or make them over a larger one",
        )  # fmt: skip

    def _sigma(self) -> Array:
        return self._y[[self.law.ports.place(name) for name in self.law.scheduled_by]]

    def _say_clamped(self) -> None:
        bounds = self.law.bounds
        assert bounds is not None
        sigma, (lower, upper) = self._sigma(), bounds
        beyond = np.maximum(lower - sigma, sigma - upper) / (upper - lower)
        worst = int(beyond.argmax())
        if beyond[worst] > _BEYOND:
            self._said = True
            warnings.warn(
                f'controller "{self.law.name}": {self.law.scheduled_by[worst]} is {sigma[worst]:.6g}, outside '
                f"{lower[worst]:.6g} ... {upper[worst]:.6g} for which its gains were made; those at the edge are used",
                SuppleNote,
                stacklevel=3,
            )


def _standing(
    law: AffineLaw, motion: FollowedMotion | None, fed: FollowedMotion | None, vector: Array, begun: bool, said: bool
) -> AffineController:
    found = AffineController(law, motion, fed)
    found._vector[:] = vector
    found._begun, found._said = begun, said
    return found
