"""Damping kinds: their parameters, the effect of each on the modes, and where the file keeps them.

Over all modes ψ of a posture with ψᵀKψ = 1, ψᵀMψ = μ, actuators locked, a damping parameter d adds to (1 + μ s²)

    d i T   if it is hysteretic,      d s T   if it is viscous                               (updating, eq. 34)

Therefore every kind is defined by a matrix T for each parameter, and derivatives are the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.identification.updating.posture_model import PostureModes

Path = tuple[str, ...]


class DampingNumber(NamedTuple):
    """A damping parameter.

    parts : joints or materials that share it, if it belongs to parts; paths : where it is in the file
    hertz : frequency of the mode whose ratio it is
    """

    name: str
    parts: tuple[str, ...] = ()
    paths: tuple[Path, ...] = ()
    hertz: float = 0.0


class TestedSystem(NamedTuple):
    """Mechanism under test, its modes at each posture, and the band of lines (Hz).

    groups : patterns of parts that share a parameter, by its name
    """

    mechanism: Mechanism
    spectra: Sequence[PostureModes]
    band: tuple[float, float]
    groups: Mapping[str, Sequence[str]]


Numbers = tuple[DampingNumber, ...]


@dataclass(frozen=True)
class DampingKind:
    """A kind of damping.

    name       : of the kind
    about      : one-line description
    hysteretic : whether T enters as i T (else s T)
    law        : whether it is the one damping model under `damping:`, which excludes others
    numbers    : function that returns its parameters
    over       : function that returns T over the modes of a posture, (m, m), or (m,) if diagonal, of parameter k
    like       : function that returns the value of parameter k that is equivalent to a loss factor η at ω (rad/s)
    without    : function that returns the mechanism without this damping
    written    : function that returns {path: value} of the file
    """

    name: str
    about: str
    hysteretic: bool
    law: bool
    numbers: Callable[[TestedSystem], Numbers]
    over: Callable[[PostureModes, Numbers, int], Array]
    like: Callable[[float, float, int], float]
    without: Callable[[Mechanism, Numbers], Mechanism]
    written: Callable[[Numbers, Array], dict[Path, Any]]
