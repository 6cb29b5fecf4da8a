"""Drive between a command and the mechanism: a linear block behind a dead band, limits and a delay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.diagnostics.errors import quote
from supple.hardware.instrument import require_valid_hardware

_SHAPES = {"A": 2, "B": 1, "C": 1, "E": 1}
_FEEDS = 1e-9  # of ‖C‖ ‖B‖: smaller direct effects of a command count as none


@dataclass(frozen=True, eq=False, repr=False)
class DriveBlock:
    """Drive of one actuator, in SI units (docs/theory/hardware.md).

        ẋ = A x + B c + E ω

    with c the command after dead band, limits, rate limit, resolution and delay, and ω the rate of the actuator's
    coordinate θ. If it `moves`, its output is a motion, otherwise a force:

        θ_s = C x,   θ̇_s = C (A x + B c),   θ̈_s = C A (A x + B c)                      f = C x + D c

    A motion without stiffness prescribes the coordinate, θ = θ_s; C B = 0 then, so that θ̇ does not jump. Otherwise the
    force on the coordinate is

        moves: k (θ_s - θ) + c_v (θ̇_s - θ̇)                                            forces: f - c_v θ̇

    A (k, k), B, C, E (k,), D        : 1/s, and the units of command, motion and force; k may be zero
    stiffness (k), damping (c_v)     : N/m or N m/rad, and times s; stiffness None: the motion is prescribed
    delay                            : s, of the command
    limits, rate_limit, dead_band, resolution : of the command, in its unit (per second for the rate)
    unit                             : of the command, "m/s", "V", "N", ...
    """

    actuator: str
    kind: str
    moves: bool
    A: Array
    B: Array
    C: Array
    D: float
    E: Array
    stiffness: float | None = None
    damping: float = 0.0
    delay: float = 0.0
    limits: tuple[float, float] | None = None
    rate_limit: float | None = None
    dead_band: float = 0.0
    resolution: float = 0.0
    unit: str = ""

    def __post_init__(self) -> None:
        part, size = f'drive of actuator "{self.actuator}"', len(self.B)
        for name, order in _SHAPES.items():
            value = getattr(self, name)
            if value.shape != (size,) * order or not np.isfinite(value).all():
                raise InputError(
                    f"matrix {name} is not finite or has the wrong shape for {size} states",
                    part=part,
                    hint="correct its kind",
                )
        require_valid_hardware(self, part)
        if self.leads and abs(self.C @ self.B) > _FEEDS * np.linalg.norm(self.C) * np.linalg.norm(self.B):
            raise InputError(
                f"a {self.kind} drive that prescribes its coordinate would make its velocity jump with the command",
                part=part, hint=_SMOOTHER,
            )  # fmt: skip
        if self.moves and (self.D != 0.0 or np.any(self.E)):
            raise InputError("a drive that prescribes motion needs D = 0 and E = 0", part=part, hint="correct its kind")

    def __repr__(self) -> str:
        return f"<DriveBlock {self.summary}>"

    @property
    def leads(self) -> bool:
        """Whether the drive prescribes its coordinate exactly, so that its force follows from the motion."""
        return self.moves and self.stiffness is None

    @property
    def tied(self) -> bool:
        """Whether the drive needs its coordinate, to prescribe it or to use its rate."""
        return self.moves or bool(np.any(self.E))

    @property
    def order(self) -> int:
        """Number of states."""
        return len(self.B)

    @property
    def summary(self) -> str:
        """Summary, such as `lift: velocity drive (m/s), prescribes motion, delay 2 ms`."""
        effect = "prescribes motion" if self.leads else "moves through a stiffness" if self.moves else "applies force"
        delay = f", delay {1e3 * self.delay:g} ms" if self.delay else ""
        return f"{self.actuator}: {self.kind} drive ({self.unit}), {effect}{delay}"

    def data(self) -> dict[str, Any]:
        """Return the drive as JSON data."""
        found = {item.name: getattr(self, item.name) for item in fields(self)}
        return {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in found.items()}


_SMOOTHER = "give it a frequency (a position drive also a damping), or a stiffness"


def drive_from(data: Mapping[str, Any]) -> DriveBlock:
    """Return the drive of JSON data, checked."""
    try:
        size = len(data["B"])
        limits = data["limits"]
        return DriveBlock(
            actuator=str(data["actuator"]), kind=str(data["kind"]), moves=bool(data["moves"]),
            A=np.array(data["A"], dtype=float).reshape(size, size),
            B=np.array(data["B"], dtype=float), C=np.array(data["C"], dtype=float),
            D=float(data["D"]), E=np.array(data["E"], dtype=float),
            stiffness=_optional(data["stiffness"]), damping=float(data["damping"]), delay=float(data["delay"]),
            limits=None if limits is None else (float(limits[0]), float(limits[1])),
            rate_limit=_optional(data["rate_limit"]), dead_band=float(data["dead_band"]),
            resolution=float(data["resolution"]), unit=str(data["unit"]),
        )  # fmt: skip
    except (TypeError, KeyError, ValueError, IndexError):
        raise InputError(f"{quote(data)} is not the data of a drive", hint="reduce again") from None


def _optional(value: Any) -> float | None:
    return None if value is None else float(value)


# State of a drive at rest, or in uniform motion, under a constant command.


def settled_drive(
    block: DriveBlock, theta: float, rate: float, force: float = 0.0, command: float | None = None
) -> tuple[Array, float]:
    """Return the states x (k,) and the command c with which a drive is at θ and moves with the constant rate θ̇.

    A drive that prescribes motion has θ_s = θ + force/k, θ̇_s = θ̇ and no further derivatives:

        C x = θ_s,   C A x + C B c = θ̇_s,   C Aʲ x + C Aʲ⁻¹ B c = 0,   j = 2 ... k

    one that applies a force has ẋ = 0 = A x + B c + E θ̇ and the force f = C x + D c. With a given command, the last of
    these equations is dropped, and of a drive with stiffness that comes to rest by itself (a position drive) θ_s
    instead.
    """
    at_rest = not block.moves or (command is not None and not block.leads and _holds(block))
    rows = _at_rest(block, rate, force) if at_rest else _along(block, theta, rate, force)
    matrix, target = rows
    if command is not None:
        matrix = np.vstack([matrix[: block.order], np.eye(1, block.order + 1, block.order)])
        target = np.concatenate([target[: block.order], [command]])
    found: Array = np.linalg.lstsq(matrix, target, rcond=None)[0].astype(float)
    return found[:-1], float(found[-1])


def _holds(block: DriveBlock) -> bool:
    """Return whether a constant command brings the drive to rest: no eigenvalue is zero."""
    return block.order > 0 and bool(np.linalg.matrix_rank(block.A) == block.order)


def _at_rest(block: DriveBlock, rate: float, force: float) -> tuple[Array, Array]:
    """Return the rows for (x, c) of a force drive at rest."""
    motion = np.column_stack([block.A, block.B])
    output = np.append(block.C, block.D)
    return np.vstack([motion, output]), np.append(-block.E * rate, force)


def _along(block: DriveBlock, theta: float, rate: float, force: float) -> tuple[Array, Array]:
    """Return the rows for (x, c) of a motion drive in uniform motion."""
    place = theta + (force / block.stiffness if block.stiffness else 0.0)
    rows, now, direct = [], block.C, 0.0
    for _ in range(block.order + 1):
        rows.append(np.append(now, direct))
        now, direct = now @ block.A, float(now @ block.B)
    target = np.zeros(block.order + 1)
    target[:2] = (place, rate)[: block.order + 1]
    return np.array(rows), target
