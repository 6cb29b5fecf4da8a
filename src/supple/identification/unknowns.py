"""What is to be found: numbers of drives, and factors of a model's deformation, by name.

lift.gain, lift.frequency, ...   a parameter of the drive of an actuator, as its kind has it, or its delay
damping, stiffness               factors of those of deformation
damping.mass, damping.stiffness  α (1/s) and β (s) of D_δδ + α M_δδ + β K_δδ
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, nearest
from supple.formulations.hardware import hardware_of
from supple.hardware.drive_block import DriveBlock
from supple.hardware.hardware import Hardware
from supple.reduced.damped import damped
from supple.reduced.model import ReducedModel
from supple.reduced.scaled import scaled

FACTORS = ("damping", "stiffness")
ADDED = {"damping.mass": 1.0, "damping.stiffness": 1e-4}  # and what one of them counts as, where nothing is known
DELAY = "delay"
_WIDE = 10.0  # times the first guess, and that part of it: how far a number is looked for


@dataclass(frozen=True, eq=False)
class Unknowns:
    """names (k,), first guesses (k,), sizes (k,) that they are counted in, and bounds (2, k)."""

    mechanism: Mechanism
    model: ReducedModel
    names: tuple[str, ...]
    guesses: Array
    sizes: Array
    bounds: Array

    def hardware(self, values: Array) -> Hardware:
        """Drives with these numbers, and instruments without noise and bias."""
        own = hardware_of(self.mechanism)
        trial: dict[str, dict[str, float]] = {}
        for name, value in zip(self.names, values.tolist(), strict=True):
            actuator, _, parameter = name.rpartition(".")
            if actuator and name not in ADDED:
                trial.setdefault(actuator, {})[parameter] = value
        drives = tuple(
            _with(self.mechanism, block, trial[block.actuator]) if block.actuator in trial else block
            for block in own.drives
        )
        quiet = tuple(replace(item, noise=0.0, walk=0.0, bias=0.0, resolution=0.0) for item in own.instruments)
        return replace(own, drives=drives, instruments=quiet)

    def modified(self, values: Array) -> ReducedModel:
        """The model with these factors of its deformation."""
        given = dict(zip(self.names, values.tolist(), strict=True))
        model = scaled(self.model, stiffness=given.get("stiffness", 1.0), damping=given.get("damping", 1.0))
        return damped(model, given.get("damping.mass", 0.0), given.get("damping.stiffness", 0.0))


def unknowns(
    mechanism: Mechanism,
    model: ReducedModel,
    names: Sequence[str],
    start: Mapping[str, float],
    bounds: Mapping[str, tuple[float, float]],
) -> Unknowns:
    """Checked, with first guesses as given, or as the file has them."""
    if not names:
        raise InputError("nothing is to be found", part="identify", hint="name unknowns: lift.gain, damping, ...")
    known = {**_described(mechanism), **dict.fromkeys(FACTORS, 1.0), **dict.fromkeys(ADDED, 0.0)}
    for name in [*names, *start, *bounds]:
        if name not in known:
            raise InputError(f'there is no "{name}" to be found', part="identify", hint=nearest(name, known))
    guesses = np.array([float(start[name]) if name in start else _guess(name, known) for name in names])
    sizes = np.array([ADDED.get(name, abs(guess) or 1e-3) for name, guess in zip(names, guesses, strict=True)])
    low, high = zip(*(bounds.get(name, _around(name, guess)) for name, guess in zip(names, guesses, strict=True)),
                    strict=True)  # fmt: skip
    limits = np.array([low, high], dtype=float)
    for k, name in enumerate(names):
        if not limits[0, k] <= guesses[k] <= limits[1, k]:
            raise InputError(
                f"the first guess {guesses[k]:g} lies outside {limits[0, k]:g} ... {limits[1, k]:g}",
                part=f'unknown "{name}"', hint="give another start, or wider bounds",
            )  # fmt: skip
    if model.layout.size == model.layout.theta and any(name in FACTORS or name in ADDED for name in names):
        raise InputError("the model is rigid: nothing in it deforms", part="identify", hint="reduce it with modes")
    return Unknowns(mechanism, model, tuple(names), guesses, sizes, limits)


def _described(mechanism: Mechanism) -> dict[str, float | None]:
    """Numbers of all drives; None of those that the file leaves out."""
    found: dict[str, float | None] = {}
    for actuator, part in mechanism.actuators.items():
        if part.drive is not None:
            given = part.drive.given
            found |= {f"{actuator}.{name}": given.get(name) for name in part.drive.record.all_parameters}
            found[f"{actuator}.{DELAY}"] = given.get(DELAY, 0.0)
    return found


def _guess(name: str, known: Mapping[str, float | None]) -> float:
    value = known[name]
    if value is None:
        raise InputError("its file does not give it", part=f'unknown "{name}"', hint="give a start for it")
    return float(value)


def _around(name: str, guess: float) -> tuple[float, float]:
    if name in ADDED:
        return 0.0, np.inf
    if name.endswith(f".{DELAY}"):
        return 0.0, max(_WIDE * guess, 0.1)
    return tuple(sorted((guess / _WIDE, guess * _WIDE)))  # type: ignore[return-value]


def _with(mechanism: Mechanism, block: DriveBlock, trial: Mapping[str, float]) -> DriveBlock:
    """A drive's block with other numbers of its kind."""
    drive = mechanism.actuators[block.actuator].drive
    assert drive is not None
    linear = drive.record.block({"gear": 1.0, **drive.given, **trial})
    return replace(
        block, A=linear.A, B=linear.B, C=linear.C, D=linear.D, E=linear.E,
        damping=linear.damping + float(drive.viscous), delay=trial.get(DELAY, block.delay),
    )  # fmt: skip
