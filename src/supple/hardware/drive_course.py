"""Response of drives over a whole run with known commands, for drives that do not depend on the motion.

Commands are linear between breaks, and remain so behind dead band, limits, rate limit, resolution and delay. Between
two breaks h apart a block is integrated exactly,

    x⁺ = Φ x + Γ₀ c + Γ₁ c⁺,      exp [A B 0; 0 0 1/h; 0 0 0] h = [Φ Γ Γ₁; 0 1 1; 0 0 1],   Γ₀ = Γ - Γ₁

and its output is the cubic with its values and rates at both ends; the error is (ω h)⁴/384 of a motion with ω.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.diagnostics import SuppleNote, user_level
from supple.hardware.drive_bank import DriveBank, output_row
from supple.hardware.drive_block import DriveBlock
from supple.hardware.hardware import Hardware
from supple.hardware.pieces import Pieces
from supple.hardware.state_space import first_order_hold
from supple.integration.input_course import merge_times

_CUBIC = 0.1  # of 1/ω of the fastest block: the error of a cubic is then 3e-7 of the motion
_MOST = 200_000  # pieces of a run, at most
_TOGETHER = 1e-12  # of the run: closer instants are merged


def note_unused_drives(hardware: Hardware) -> None:
    """Note that drives have no effect on a prescribed motion."""
    if hardware.drives:
        names = ", ".join(f'"{block.actuator}"' for block in hardware.drives)
        warnings.warn(
            f"the motion is prescribed: the drives of {names} have no effect on it", SuppleNote,
            stacklevel=user_level(),
        )  # fmt: skip


def complete_commands(bank: DriveBank, given: Any) -> Any:
    """Return the inputs of a run with the commands that keep motion drives as they are in the bank after its reset."""
    if given is not None and not isinstance(given, Mapping):
        return given
    commands_before = bank.active_commands
    moving = {
        block.actuator: float(
            commands_before[i] + np.copysign(block.dead_band, commands_before[i]) * (commands_before[i] != 0.0)
        )
        for i, block in enumerate(bank.blocks)
        if block.moves
    }
    return {**moving, **(given or {})}


def first_commands(bank: DriveBank, breaks: Array, commands: Array, begin: float) -> Array:
    """Return the commands (a,) at the start of a run; nan for motion drives, which keep theirs."""
    first = _interpolate_values(breaks, commands, np.array([begin]))[0]
    return np.where([block.moves for block in bank.blocks], np.nan, first)


def drive_course(
    bank: DriveBank,
    breaks: Array,
    commands: Array,
    span: tuple[float, float, float],
    also: Sequence[float] = (),
) -> Pieces:
    """Return the output of drives over a run, from a bank that has been reset to the `first_commands`.

    breaks (B,), commands (B, a) : linear between breaks, constant before and after; they act after the delay
    span : begin, end and longest piece, s
    also : further times at which pieces end; times of the result begin at 0, as those of all pieces do
    """
    commands_before = bank.active_commands
    times = _instants(bank.blocks, breaks, np.asarray(also, dtype=float), span)
    applied = _interpolate_values(breaks, commands, times)
    if any(_shapes(block) for block in bank.blocks):
        applied = bank.shape_commands(times, applied)
    count, k = len(times) - 1, len(bank.led)
    forces, led = np.zeros((count, 4, len(bank.inputs))), np.zeros((count, 4, k))
    accelerations = np.zeros((count, 2, k))
    for i, block in enumerate(bank.blocks):
        delayed = _delay_command(times, applied[:, i], block.delay, float(commands_before[i]))
        cubic, second = _response(block, bank.state.x[i, : block.order], times, delayed)
        if block.leads:
            column = bank.led.index(bank.places[i])
            led[:, :, column], accelerations[:, :, column] = cubic, np.stack([second[:-1], second[1:]], axis=1)
        else:
            forces[:, :, i] = cubic
    return Pieces(times - span[0], forces, led, accelerations)


def _shapes(block: DriveBlock) -> bool:
    """Return whether a drive changes its command."""
    return bool(block.limits or block.rate_limit or block.dead_band or block.resolution)


def _instants(blocks: Sequence[DriveBlock], breaks: Array, also: Array, span: tuple[float, float, float]) -> Array:
    """Return the times that end pieces.

    These are the breaks of the commands as given and as delayed, and as many between them that a cubic resolves the
    fastest block, and that limits act in time.
    """
    begin, end, longest = span
    fast = max((float(np.abs(np.linalg.eigvals(block.A)).max(initial=0.0)) for block in blocks), default=0.0)
    spacing = min(longest if any(map(_shapes, blocks)) else np.inf, _CUBIC / fast if fast else np.inf, end - begin)
    spacing = max(spacing, (end - begin) / _MOST)
    delays = {block.delay for block in blocks} | {0.0}
    knots = np.concatenate([np.append(breaks, begin) + delay for delay in delays])
    even = np.linspace(begin, end, int(np.ceil((end - begin) / spacing - 1e-6)) + 1)
    others = np.unique(np.concatenate([even, knots[(knots > begin) & (knots < end)]]))
    close = _TOGETHER * (end - begin)
    others = others[np.append(True, np.diff(others) > close)]
    return merge_times(np.unique(np.concatenate([[begin, end], also])), others, close)


def _interpolate_values(breaks: Array, values: Array, times: Array) -> Array:
    """Return values (N, a), linear between breaks, constant before and after."""
    return np.array([np.interp(times, breaks, column) for column in values.T]).reshape(values.shape[1], -1).T


def _delay_command(times: Array, applied: Array, delay: float, commands_before: float) -> Array:
    """Return the command (2, N - 1) that acts at both ends of each piece; initially the earlier one."""
    late = np.interp(times, times + delay, applied)
    found = np.stack([late[:-1], late[1:]])
    found[:, times[1:] <= times[0] + delay * (1.0 + 1e-9)] = commands_before
    return found


def _response(block: DriveBlock, start: Array, times: Array, c: Array) -> tuple[Array, Array]:
    """Return cubics (N - 1, 4) of the output for a command c (2, N - 1), from x (k,) on, and its second rate (N,)."""
    (P, Q), h, x = output_row(block), np.diff(times), np.empty((len(times), block.order))
    x[0] = start
    known: dict[float, tuple[Array, Array, Array]] = {}
    for n in range(len(h) if block.order else 0):
        key = float(f"{h[n]:.12g}")  # evenly spaced up to rounding
        if key not in known:
            known[key] = first_order_hold(block.A, block.B, float(h[n]))
        Phi, first, last = known[key]
        x[n + 1] = Phi @ x[n] + first * c[0, n] + last * c[1, n]
    slope = Q * (c[1] - c[0]) / h
    moving = [part @ block.A.T + np.outer(delayed, block.B) for part, delayed in ((x[:-1], c[0]), (x[1:], c[1]))]
    (y0, v0), (y1, v1) = (
        (part @ P + Q * delayed, rates @ P + slope)
        for part, delayed, rates in ((x[:-1], c[0], moving[0]), (x[1:], c[1], moving[1]))
    )
    square, cube = (3.0 * (y1 - y0) - h * (2.0 * v0 + v1)) / h**2, (2.0 * (y0 - y1) + h * (v0 + v1)) / h**3
    return np.stack([y0, v0, square, cube], axis=1), np.vstack([moving[0], moving[1][-1:]]) @ (block.A.T @ P)
