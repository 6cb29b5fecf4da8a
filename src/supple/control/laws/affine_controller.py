"""Controller that runs an affine law in a loop."""

from __future__ import annotations

import warnings
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.compilation import compile_kernel
from supple.control.controller_measurement import Measurement
from supple.control.laws.affine_law import AffineLaw
from supple.control.laws.law_kernel import CLAMPED, OUTSIDE, law_in_place
from supple.diagnostics import InputError, SuppleNote
from supple.diagnostics.errors import values_text
from supple.results.result import brief

VALUE = 0  # row of a reference that holds the values; rows of rates follow
_BEYOND = 0.01  # of its range, by which σ may leave it without a note, such as by noise at an edge


class FollowedMotion(Protocol):
    """Protocol of the reference motion of an affine controller."""

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        ...

    def at(self, t: float) -> Array:
        """Return θ, θ̇, θ̈, θ⃛ at t: (4, s)."""
        ...


def _require_names(law: AffineLaw, what: str, names: tuple[str, ...], motion: FollowedMotion | None) -> None:
    found = () if motion is None else motion.coordinates
    if found != names:
        raise InputError(
            f"the law needs {', '.join(names) or 'none'}, but the {what} has {', '.join(found) or 'none'}",
            part=f'{what} of controller "{law.name}"', hint="create both for the same mechanism",
        )  # fmt: skip


class AffineController:
    """Controller that computes commands with an affine law at each sample, and keeps the state of the law.

    Before the first sample the machine is assumed to be at rest: x₀ = A₀ z + a₀ with the previous command c₋ equal to
    the command that follows from it, c₋ = u₀(c₋). If several commands satisfy this, the one of least norm is used. σ
    outside the region of the law is clamped to it, with one note.

    Parameters
    ----------
    law : AffineLaw
        Control law.
    reference : FollowedMotion, optional
        Reference motion, such as of `supple.control.reference`. Default: none, for laws that only regulate.
    feedforward : FollowedMotion, optional
        Precomputed commands f(t), named as the actuators. Default: none.

    Raises
    ------
    InputError
        If the names of the motion or of the feedforward are not those of the law, or the law computes estimates.

    Warns
    -----
    SuppleNote
        If σ leaves the region that the law was fitted on by more than 1 % of its range.

    See Also
    --------
    supple.export : Write the law of a controller as C.
    """

    def __init__(
        self, law: AffineLaw, reference: FollowedMotion | None = None, feedforward: FollowedMotion | None = None
    ) -> None:
        self.law, self.reference, self.feedforward = law, reference, feedforward
        ports = law.ports
        self.coordinates, self.actuators, self.sample_time = ports.coordinates, ports.actuators, ports.sample_time
        _require_names(law, "motion", ports.coordinates, reference)
        _require_names(law, "feedforward", ports.actuators if ports.fed else (), feedforward)
        if ports.outputs != ports.actuators:
            raise InputError(
                f"its outputs are {', '.join(ports.outputs)}, not commands of {', '.join(ports.actuators)}",
                part=f'law "{law.name}"', hint="use it with control.estimates, or design a controller on the observer",
            )  # fmt: skip
        n, m, a = law.states, ports.size, len(ports.actuators)
        self._vector: Array = law.vector()
        self._x, self._z, self._u = self._vector[:n], self._vector[n : n + m], self._vector[n + m : n + m + a]
        self._y, self._applied, self._feedforward = (
            self._z[ports.y],
            self._z[ports.applied_commands],
            self._z[ports.fed_forward],
        )
        references = self._z[ports.wanted_all].reshape(len(ports.previews), -1)
        self._instants = tuple(zip(references, ports.previews, strict=True))
        self._measured = ports.measured
        self._kernel, self._memory, self._rest = compile_kernel(law_in_place), law.memory, law.rest_memory
        self._started, self._warned = False, False

    def __reduce__(self) -> Any:
        """Return a copy with arrays of its own, also in another process, that continues from the present state."""
        state = self._vector, self._started, self._warned
        return _restore_controller, (self.law, self.reference, self.feedforward, *state)

    def __repr__(self) -> str:
        return brief("AffineController", self.law.summary)

    @property
    def commanded_actuators(self) -> tuple[str, ...]:
        """Actuators whose drives the law accounts for, so that outputs are drive commands."""
        return self.law.commanded_actuators

    @property
    def undriven(self) -> tuple[str, ...]:
        """Actuators with drives that the law does not account for, so that outputs are forces."""
        return self.law.undriven

    @property
    def state(self) -> Array:
        """State x (n,), a copy."""
        return self._x.copy()

    def reset(self, start: Measurement) -> None:
        """Reset the state from a first measurement."""
        self._initialize(start.time, start)

    def step(self, t: float, measurement: Measurement) -> Array:
        """Return the commands (a,) from time t until the next sample."""
        if not self._started:
            self._initialize(t, measurement)
        else:
            self._read_inputs(t, measurement)
        status = self._kernel(self._memory, self._rest, self._vector)
        if status == OUTSIDE:
            raise self._outside()
        if status == CLAMPED and not self._warned:
            self._warn_clamped()
        self._applied[:] = self._u
        return self._u.copy()

    def record_command(self, command: ArrayLike) -> None:
        """Record the last commands (a,) as the drives applied them."""
        self._applied[:] = command

    def _read_inputs(self, t: float, measurement: Measurement) -> None:
        """Set z of this sample, except c₋ and the products of rates, which the kernel computes."""
        self._y[:] = measurement.array(self._measured)
        if self.reference is not None:
            for place, preview in self._instants:
                place[:] = self.reference.at(t + preview).ravel()
        if self.feedforward is not None:
            self._feedforward[:] = self.feedforward.at(t)[VALUE]

    def _initialize(self, t: float, measurement: Measurement) -> None:
        law, a = self.law, len(self.actuators)
        self._vector[:] = law.vector()
        self._read_inputs(t, measurement)
        if law.ports.swept:
            first, second = law.ports.factors
            rates = self._z[law.ports.wanted(1)]
            self._z[law.ports.products] = rates[first] * rates[second]
        here = law.at(self._sigma())
        slope, offset = here.C @ here.A0 + here.D, here.C @ here.a0 + here.d
        fixed_point = np.eye(a) - slope[:, law.ports.applied_commands]
        self._applied[:] = np.linalg.lstsq(fixed_point, slope @ self._z + offset, rcond=None)[0]
        self._x[:] = here.A0 @ self._z + here.a0
        self._started, self._warned = True, False

    def _outside(self) -> InputError:
        names, values = self.law.scheduled_by, self._sigma()
        where = values_text(names, values)
        return InputError(
            f"{where} is outside the region of its gains", part=f'controller "{self.law.name}"',
            hint="keep the motion inside the region, or design the law over a larger one",
        )  # fmt: skip

    def _sigma(self) -> Array:
        return self._y[[self.law.ports.place(name) for name in self.law.scheduled_by]]

    def _warn_clamped(self) -> None:
        bounds = self.law.bounds
        assert bounds is not None
        sigma, (lower, upper) = self._sigma(), bounds
        beyond = np.maximum(lower - sigma, sigma - upper) / (upper - lower)
        worst = int(beyond.argmax())
        if beyond[worst] > _BEYOND:
            self._warned = True
            warnings.warn(
                f'controller "{self.law.name}": {self.law.scheduled_by[worst]} is {sigma[worst]:.6g}, outside '
                f"the range {lower[worst]:.6g} ... {upper[worst]:.6g} of its gains; those at the edge are used",
                SuppleNote,
                stacklevel=3,
            )


def _restore_controller(
    law: AffineLaw,
    motion: FollowedMotion | None,
    feedforward: FollowedMotion | None,
    vector: Array,
    started: bool,
    warned: bool,
) -> AffineController:
    found = AffineController(law, motion, feedforward)
    found._vector[:] = vector
    found._started, found._warned = started, warned
    return found
