"""Where a run of a reduced model begins, and why it may end early."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.diagnostics.arguments import real_numbers
from supple.reduced.dynamics_kernel import INDEFINITE
from supple.reduced.kernels import OUTSIDE
from supple.reduced.named_values import in_order
from supple.reduced.repertoire import REST, asks_for_rest, named_theta
from supple.reduced.time.led_motion import quasi_static
from supple.results.basis import NamedState

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel
    from supple.reduced.state_arguments import Values


def begin_state(
    model: ReducedModel,
    start: Values | str | None,
    rates: Values | None,
    u: Array,
    *,
    held: bool = False,
    standing: bool = False,
) -> tuple[Array, Array]:
    """η and η̇ (n,) of a start as `simulate` takes it, under inputs u (a,).

    held     : θ is held while it settles: δ that is not given, or that of an equilibrium, is the one at rest there
    standing : the same, but an equilibrium is that under the inputs, θ and all
    """
    layout = model.layout
    s = layout.theta
    if held and asks_for_rest(model, start):
        start = REST
    held = held or (standing and not asks_for_rest(model, start))
    start, rates = _state(model, start, rates, u)
    eta, v = _start(model, start), np.zeros(layout.size)
    if rates is not None:
        v = in_order("rates", rates, layout.coordinates)
    if v.ndim != 1:
        raise InputError("has more than one state", part="rates", hint="simulate one at a time")
    model.evaluate(eta[:s])  # says so if it starts outside
    if held and layout.size > s and not _deformed(layout.coordinates, s, start):
        still = np.zeros((1, s))
        eta[s:] = quasi_static(model, eta[None, :s], still, still)[0]
    return eta, v


def _deformed(names: tuple[str, ...], s: int, start: Values | None) -> bool:
    """Whether a start says anything of δ."""
    if isinstance(start, Mapping):
        return any(name in start for name in names[s:])
    return np.asarray(start).shape == (len(names),)


def _state(
    model: ReducedModel, start: Values | str | None, rates: Values | None, u: Array
) -> tuple[Values | None, Values | None]:
    """Start and rates, of a configuration's name or of a state that knows its basis; u (a,) : inputs at the start."""
    if isinstance(start, NamedState):
        start, moving = start.parted(model.layout.coordinates, model.basis)
        return start, rates if rates is not None else moving
    if asks_for_rest(model, start):
        return model.equilibrium(REST, u), rates
    if start is None and model.repertoire is not None and REST in model.repertoire.configurations:
        start = REST
    return start if start is None else named_theta(model, start), rates


def _start(model: ReducedModel, start: Values | None) -> Array:
    names, s = model.layout.coordinates, model.layout.theta
    if start is None:
        raise InputError("it is missing", part="start", hint="give values for " + ", ".join(names[:s]))
    if isinstance(start, Mapping):
        missing = [name for name in names[:s] if name not in start]
        if missing:
            raise InputError(f'"{missing[0]}" has no value', part="start", hint="give all of " + ", ".join(names[:s]))
        return in_order("start", start, names)
    given = real_numbers("start", start, finite=False)
    eta = in_order("start", start, names if given.shape[-1:] == (len(names),) else names[:s])
    if eta.ndim != 1:
        raise InputError("has more than one state", part="start", hint="simulate one at a time")
    return np.concatenate([eta, np.zeros(len(names) - len(eta))])


def early_end(model: ReducedModel, status: int, time: float, state: Array) -> str:
    """Why a run ended, in the user's words; state : (2n or more,) η and η̇ where it stands."""
    names, v = model.layout.coordinates, state[model.layout.size :]
    if status == OUTSIDE:
        fastest = max(range(model.layout.theta), key=lambda i: abs(v[i]))
        where = ", ".join(f"{names[i]}={state[i]:.6g}" for i in range(model.layout.theta))
        return (
            f'it leaves the region of the model at {time:.6g} s, at {where} ("{names[fastest]}" moves fastest); '
            "keep the motion inside, or reduce over a larger region"
        )
    if status == INDEFINITE:
        far = "" if not model.layout.bent else ", or it deforms by more than a mass matrix linear in δ can say"
        return (
            f"the fitted mass matrix is not positive definite after {time:.6g} s: the tolerance that it was reduced "
            f"with is too large{far}"
        )
    return (
        f"no step from {time:.6g} s on keeps the tolerance or converges; forces or speeds are too large, as those of a "
        "loop that is unstable are"
    )
