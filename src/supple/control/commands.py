"""What controllers answer at a sample: each at its own rate, checked, and added up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.control.controller import Controller
from supple.control.measurement import Measurement
from supple.diagnostics import InputError, nearest
from supple.reduced.named_values import in_order

_WHOLE = 1e-6  # of a sample


class _Asked:
    """One controller, called at every so many samples, its answer held in between."""

    def __init__(self, controller: Controller, names: tuple[str, ...], sample_time: float) -> None:
        self.controller, self.names = controller, names
        self.every = _every(controller, sample_time)
        driven = getattr(controller, "actuators", None)
        for name in driven or ():
            if name not in names:
                raise InputError(
                    f'it drives "{name}", which the plant does not have', part="controller", hint=nearest(name, names)
                )
        self.driven: tuple[str, ...] = names if driven is None else tuple(driven)
        self.places = np.array([names.index(name) for name in self.driven], dtype=np.int64)
        self.answer = np.zeros(len(self.driven))
        self.told = getattr(controller, "applied", None)

    def ask(self, k: int, t: float, measurement: Measurement) -> None:
        if k % self.every:
            return
        answer: Any = self.controller.step(t, measurement)
        plain = isinstance(answer, np.ndarray) and answer.shape == self.answer.shape and answer.dtype == float
        if not (plain and isfinite(answer @ answer)):  # the quick look; a square that is too large is looked at closely
            answer = self._checked(t, answer)
        self.answer[:] = answer

    def _checked(self, t: float, answer: Any) -> Array:
        """In the order of its actuators, or why not."""
        part = f"answer of the controller at {t:.6g} s"
        if answer is None:
            raise InputError(
                "there is none", part=part, hint=f"let step(t, measurement) return numbers of {', '.join(self.driven)}"
            )
        by_plant = len(self.names) != len(self.driven) and np.shape(answer) == (len(self.names),)
        if isinstance(answer, Mapping) or by_plant:
            found = in_order(part, answer, self.names, finite=False)[..., self.places]
        else:
            found = in_order(part, answer, self.driven, finite=False)
        if found.ndim != 1:
            raise InputError(f"has the shape {found.shape}", part=part, hint=f"give ({len(self.names)},)")
        wrong = np.flatnonzero(~np.isfinite(found))
        if len(wrong):
            raise InputError(
                f'is {found[wrong[0]]} for "{self.driven[wrong[0]]}"', part=part,
                hint="most likely the loop is unstable: lower gains, sample faster, or look at what it divides by",
            )  # fmt: skip
        return found


def _every(controller: Controller, sample_time: float) -> int:
    """At every how many samples it is called."""
    own = getattr(controller, "sample_time", None)
    if own is None:
        return 1
    ratio = float(own) / sample_time
    if ratio < 1.0 - _WHOLE or abs(ratio - round(ratio)) > _WHOLE * ratio:
        raise InputError(
            f"the controller is made for {own:g} s, which is no multiple of the loop's {sample_time:g} s",
            part="sample time", hint=f"close the loop at {own / max(1.0, np.ceil(ratio - _WHOLE)):g} s",
        )  # fmt: skip
    return round(ratio)


def followed(controllers: Controller | Sequence[Controller]) -> Any:
    """The motion of the first controller that has one; None without any."""
    given = controllers if isinstance(controllers, Sequence) else (controllers,)
    known = (getattr(item, "reference", None) for item in given)
    return next((item for item in known if hasattr(item, "at") and hasattr(item, "coordinates")), None)


class Commands:
    """Of all controllers of a loop, for the plant's actuators `names`, every `sample_time`, s."""

    def __init__(self, controllers: Controller | Sequence[Controller], names: tuple[str, ...], sample_time: float):
        given = controllers if isinstance(controllers, Sequence) else (controllers,)
        if not given:
            raise InputError("there is none", part="controller", hint="give an object with step(t, measurement)")
        for item in given:
            if isinstance(item, type):
                raise InputError(
                    f"{item.__name__} is a class", part="controller", hint=f"give one of it, {item.__name__}(...)"
                )
            if not callable(getattr(item, "step", None)):
                raise InputError(
                    f"{type(item).__name__} has no step(t, measurement)", part="controller",
                    hint="give an object with that method",
                )  # fmt: skip
        self._asked = [_Asked(item, names, sample_time) for item in given]
        self._sum = np.zeros(len(names))
        first = self._asked[0]
        self._alone = first if len(given) == 1 and first.driven == names else None

    def reset(self, start: Measurement) -> None:
        """Before the first sample."""
        for item in self._asked:
            begin = getattr(item.controller, "reset", None)
            if begin is not None:
                begin(start)

    def at(self, k: int, t: float, measurement: Measurement) -> Array:
        """All commands (a,) at sample k; the array is the same at every call."""
        if self._alone is not None:
            self._alone.ask(k, t, measurement)
            return self._alone.answer
        self._sum[:] = 0.0
        for item in self._asked:
            item.ask(k, t, measurement)
            self._sum[item.places] += item.answer
        return self._sum

    def applied(self, command: Array) -> None:
        """Tell everybody what drives made of it."""
        for item in self._asked:
            if item.told is not None:
                item.told(command if self._alone is not None else command[item.places])

    @property
    def reference(self) -> Any:
        """The first motion that is followed; None without any."""
        return followed([item.controller for item in self._asked])
