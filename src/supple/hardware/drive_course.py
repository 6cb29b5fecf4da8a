"""What drives do over a whole run whose commands are known beforehand, and which nothing of the motion moves.

Commands are linear between breaks, and so is what is left of them behind dead band, limits, rate limit, resolution and
delay. Between two breaks h apart a block goes on exactly,

    x⁺ = Φ x + Γ₀ c + Γ₁ c⁺,      exp [A B 0; 0 0 1/h; 0 0 0] h = [Φ Γ Γ₁; 0 1 1; 0 0 1],   Γ₀ = Γ - Γ₁

and its output is the cubic that has its values and rates at both ends: off by (ω h)⁴/384 of what moves with ω.
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
from supple.integration.input_course import merged

_CUBIC = 0.1  # of 1/ω of the fastest block: a cubic is then off by 3e-7 of what still moves
_MOST = 200_000  # pieces, at most, of a run that a fast drive would cut in more
_TOGETHER = 1e-12  # of the run: instants closer than that are one


def say_passed_by(hardware: Hardware) -> None:
    """That a motion is prescribed, and drives have no part in it."""
    if hardware.drives:
        names = ", ".join(f'"{block.actuator}"' for block in hardware.drives)
        warnings.warn(
            f"the motion is prescribed as it is: the drives of {names} have no part in it", SuppleNote,
            stacklevel=user_level(),
        )  # fmt: skip


def keeping_commands(bank: DriveBank, given: Any) -> Any:
    """Inputs of a run, in which commands that are not given keep drives that move as the bank, reset, has them."""
    if given is not None and not isinstance(given, Mapping):
        return given
    told = bank.told
    moving = {
        block.actuator: float(told[i] + np.copysign(block.dead_band, told[i]) * (told[i] != 0.0))
        for i, block in enumerate(bank.blocks)
        if block.moves
    }
    return {**moving, **(given or {})}


def first_commands(bank: DriveBank, breaks: Array, commands: Array, begin: float) -> Array:
    """(a,) that have long arrived where a run begins: of drives that move none, they stand; of others the first."""
    first = _sampled(breaks, commands, np.array([begin]))[0]
    return np.where([block.moves for block in bank.blocks], np.nan, first)


def drive_course(
    bank: DriveBank,
    breaks: Array,
    commands: Array,
    span: tuple[float, float, float],
    also: Sequence[float] = (),
) -> Pieces:
    """From a bank that has been reset to the `first_commands`; the others arrive after their delay.

    breaks (B,), commands (B, a) : linear between, constant before and after; span : begin, end and longest piece, s
    also   : instants at which pieces end as well; times of the result begin at 0, as those of all pieces do
    """
    told = bank.told
    times = _instants(bank.blocks, breaks, np.asarray(also, dtype=float), span)
    applied = _sampled(breaks, commands, times)
    if any(_shapes(block) for block in bank.blocks):
        applied = bank.shaped(times, applied)
    count, k = len(times) - 1, len(bank.led)
    forces, led = np.zeros((count, 4, len(bank.inputs))), np.zeros((count, 4, k))
    accelerations = np.zeros((count, 2, k))
    for i, block in enumerate(bank.blocks):
        felt = _felt(times, applied[:, i], block.delay, float(told[i]))
        cubic, second = _answer(block, bank.state.x[i, : block.order], times, felt)
        if block.leads:
            column = bank.led.index(bank.places[i])
            led[:, :, column], accelerations[:, :, column] = cubic, np.stack([second[:-1], second[1:]], axis=1)
        else:
            forces[:, :, i] = cubic
    return Pieces(times - span[0], forces, led, accelerations)


def _shapes(block: DriveBlock) -> bool:
    """Whether its command is more than handed on."""
    return bool(block.limits or block.rate_limit or block.dead_band or block.resolution)


def _instants(blocks: Sequence[DriveBlock], breaks: Array, also: Array, span: tuple[float, float, float]) -> Array:
    """Instants that end every piece: breaks of the commands as they are given and as they arrive, and so many between
    them that a cubic says what the fastest block does, and that limits act where they should."""
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
    return merged(np.unique(np.concatenate([[begin, end], also])), others, close)


def _sampled(breaks: Array, values: Array, times: Array) -> Array:
    """(N, a) values that are linear between breaks, constant before and after."""
    return np.array([np.interp(times, breaks, column) for column in values.T]).reshape(values.shape[1], -1).T


def _felt(times: Array, applied: Array, delay: float, told: float) -> Array:
    """(2, N - 1) command at the beginning and at the end of each piece: until the first arrives, what it was told."""
    late = np.interp(times, times + delay, applied)
    found = np.stack([late[:-1], late[1:]])
    found[:, times[1:] <= times[0] + delay * (1.0 + 1e-9)] = told
    return found


def _answer(block: DriveBlock, start: Array, times: Array, c: Array) -> tuple[Array, Array]:
    """Cubics (N - 1, 4) of the output to a command c (2, N - 1), from x (k,) on, and its second rate (N,)."""
    (P, Q), h, x = output_row(block), np.diff(times), np.empty((len(times), block.order))
    x[0] = start
    known: dict[float, tuple[Array, Array, Array]] = {}
    for n in range(len(h) if block.order else 0):
        key = float(f"{h[n]:.12g}")  # times that are evenly spaced are so but for rounding
        if key not in known:
            known[key] = first_order_hold(block.A, block.B, float(h[n]))
        Phi, first, last = known[key]
        x[n + 1] = Phi @ x[n] + first * c[0, n] + last * c[1, n]
    slope = Q * (c[1] - c[0]) / h
    moving = [part @ block.A.T + np.outer(felt, block.B) for part, felt in ((x[:-1], c[0]), (x[1:], c[1]))]
    (y0, v0), (y1, v1) = (
        (part @ P + Q * felt, rates @ P + slope)
        for part, felt, rates in ((x[:-1], c[0], moving[0]), (x[1:], c[1], moving[1]))
    )
    square, cube = (3.0 * (y1 - y0) - h * (2.0 * v0 + v1)) / h**2, (2.0 * (y0 - y1) + h * (v0 + v1)) / h**3
    return np.stack([y0, v0, square, cube], axis=1), np.vstack([moving[0], moving[1][-1:]]) @ (block.A.T @ P)
