"""The linear model of any system at a state: hardware around it, and its slopes along parameters."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

from supple.diagnostics import SuppleWarning
from supple.equations.linearized import slopes_along
from supple.hardware.linear_hardware import with_hardware, without_drives
from supple.results.linear_model import LinearModel
from supple.results.linear_slopes import LinearSlopes
from supple.systems.protocols import Linearizable


def linear_model_of(system: Linearizable, *, drives: bool, pade: int, along: str | Sequence[str] = ()) -> LinearModel:
    """Return the linear model about a state, with drives from commands to what instruments show.

    Parameters
    ----------
    system
        A mechanism or model at a state.
    drives
        False leaves drives and instruments out.
    pade
        Order of the approximants of delays.
    along
        Parameters along which slopes are wanted.
    """
    found = system.linear_model()
    found = with_hardware(found, system.hardware, pade) if drives else without_drives(found, system.hardware)
    if not along:
        return found
    slopes = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # the system itself has warned already
        for name in (along,) if isinstance(along, str) else tuple(along):
            slopes[name] = _slopes(system, name, found, drives=drives, pade=pade)
    return replace(found, slopes=slopes)


# A linear model holds second derivatives of a mechanism's closure, and third ones in motion; along μ there would be one
# more. So its matrices are taken at values about the parameter's own, and their slopes from the polynomial through them
# (docs/theory/parameters.md, eqs. 1 and 2): to about 1e-10 of a matrix, not by a chain of exact derivatives. What is
# not smooth there is refused.


def _slopes(system: Linearizable, parameter: str, found: LinearModel, *, drives: bool, pade: int) -> LinearSlopes:
    """∂(A, B, C, D)/∂μ, the place held."""
    near = system.neighbours(parameter, found)
    members = [linear_model_of(item, drives=drives, pade=pade) for item in near.members]
    if any(each.A.shape != members[0].A.shape for each in members):
        raise near.rough("the mechanism is put together in another way on either side of it")
    slopes = slopes_along(near.stencil, members)
    if slopes is None:
        raise near.rough("its A has a kink there")
    return slopes
