"""What a kind of damping is: which numbers it has, what each does to the modes, and where the file keeps it.

Over all modes ψ of a posture with ψᵀKψ = 1, ψᵀMψ = μ, actuators locked, a number d of damping adds to (1 + μ s²)

    d i T   of what is hysteretic,      d s T   of what is viscous                               (updating, eq. 34)

so that every kind is a matrix T for each of its numbers, and slopes are the same for all.
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
    """A number of damping.

    parts : joints or materials that share it, where it is of parts; paths : where it stands in the file
    hertz : of the mode that it is the ratio of
    """

    name: str
    parts: tuple[str, ...] = ()
    paths: tuple[Path, ...] = ()
    hertz: float = 0.0


class UnderTest(NamedTuple):
    """What numbers are looked for in: the mechanism, its modes at each posture, the band of lines (Hz), and patterns of
    parts that share a number, by its name."""

    mechanism: Mechanism
    spectra: Sequence[PostureModes]
    band: tuple[float, float]
    groups: Mapping[str, Sequence[str]]


Numbers = tuple[DampingNumber, ...]


@dataclass(frozen=True)
class DampingKind:
    """A kind of damping by its name.

    hysteretic : i T or s T
    law        : whether it is the one law under `damping:`, beside which there is no other
    numbers    : which there are
    over       : T over the modes of a posture, (m, m), or (m,) where it is diagonal, of number k
    like       : the value that is as much as a loss factor η at ω (rad/s), of number k
    without    : the mechanism with nothing of what is looked for
    written    : {path: value} of the file
    """

    name: str
    about: str
    hysteretic: bool
    law: bool
    numbers: Callable[[UnderTest], Numbers]
    over: Callable[[PostureModes, Numbers, int], Array]
    like: Callable[[float, float, int], float]
    without: Callable[[Mechanism, Numbers], Mechanism]
    written: Callable[[Numbers, Array], dict[Path, Any]]
