"""What is wrong with the records of a test: a blow that hit twice, a channel that was overloaded, one that is dead."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.results.time_records import TimeRecords

_TOP = 0.999  # of the full scale: what reaches it was cut
_RUN = 3  # equal samples at an extreme: a flat top
_SAME = 1e-9  # of an extreme: so close are two equal ones
_SECOND = 0.05  # of the largest force: a blow that comes after it
_NOISE = 8.0  # times the noise of the force: less is none
_PULSE = 0.05  # of the largest force: where a pulse ends
_GAP = 3.0  # times the pulse's length: before that it is the same blow
_DEAD = 1e-9  # of the largest channel of its quantity


class RecordFault(NamedTuple):
    """record : counted from 0; channel by name; kind: double hit, overload, dead channel, not finite."""

    record: int
    channel: str
    kind: str
    what: str
    hint: str

    def __str__(self) -> str:
        return f"record {self.record + 1}, {self.channel}: {self.what}; {self.hint}"


def record_faults(records: TimeRecords) -> list[RecordFault]:
    """Everything that is wrong, record by record."""
    both = np.concatenate([records.x, records.y], axis=1)
    found = []
    for k, one in enumerate(records.channels):
        limit = None if records.full_scale is None else float(records.full_scale[k])
        tops = np.abs(both[:, k]).max(axis=1, initial=0.0)
        for n in range(records.count):
            signal = both[n, k]
            bad = int((~np.isfinite(signal)).sum())
            if bad:
                what = f"{bad} samples are not finite, the first at {records.time[~np.isfinite(signal)][0]:.4g} s"
                found.append(RecordFault(n, one.name, "not finite", what, "leave the record out, or export it again"))
                continue
            why = _overloaded(signal, limit, np.delete(tops, n))
            if why:
                hint = "leave the record out, and repeat it with a wider range or a softer blow"
                found.append(RecordFault(n, one.name, "overload", why, hint))
            if not np.ptp(signal):
                hint = "check its cable and its supply; leave the channel out"
                found.append(RecordFault(n, one.name, "dead channel", "it shows the same number throughout", hint))
    for j, one in enumerate(records.references):
        for n in range(records.count):
            after = double_hit(records.time, records.x[n, j])
            if after is not None:
                what = f"a second blow {1e3 * after[0]:.3g} ms after the first, {100.0 * after[1]:.0f} % of it"
                hint = "leave the record out, and strike once"
                found.append(RecordFault(n, one.name, "double hit", what, hint))
    return found


def double_hit(time: Array, force: Array) -> tuple[float, float] | None:
    """Seconds from the largest blow to another, and how large that is of it; None if there is none.

    Only a force that comes and goes is a blow: of a shaker's, which is there half of the time, nothing is said.
    """
    if not np.isfinite(force).all() or not len(force):
        return None
    top = int(np.argmax(np.abs(force)))
    size = float(abs(force[top]))
    push = force * np.sign(force[top])
    there = push > _PULSE * size
    if size == 0.0 or np.count_nonzero(there) > 0.2 * len(force):
        return None
    first, last = top, top
    while first > 0 and there[first - 1]:
        first -= 1
    while last < len(force) - 1 and there[last + 1]:
        last += 1
    width = max(last - first + 1, 2)
    away = np.ones(len(force), dtype=bool)
    away[max(first - int(_GAP * width), 0) : last + int(_GAP * width) + 1] = False
    if not away.any():
        return None
    noise = 1.4826 * float(np.median(np.abs(force[away] - np.median(force[away]))))
    other = int(np.argmax(np.where(away, push, -np.inf)))
    if push[other] <= max(_SECOND * size, _NOISE * noise):
        return None
    return float(time[other] - time[top]), float(push[other] / size)


def _overloaded(signal: Array, limit: float | None, others: Array) -> str:
    top = float(np.abs(signal).max(initial=0.0))
    if top == 0.0:
        return ""
    if limit is not None:
        return f"it reaches its full scale of {limit:.4g}, and is cut off there" if top >= _TOP * limit else ""
    for sign in (1.0, -1.0):
        at = np.flatnonzero(sign * signal >= top * (1.0 - _SAME))
        if len(at) >= _RUN and (np.diff(at) == 1)[: _RUN - 1].all():
            return f"its top is flat, {len(at)} samples at {sign * top:.4g}: it was cut off"
        if len(at) > 1 and (np.diff(at) == 1).any() and (np.abs(others - top) <= _SAME * top).any():
            return f"its top is flat at {sign * top:.6g}, as in another record: it was cut off there"
    return ""
