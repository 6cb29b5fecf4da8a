"""Frequency responses from time records: H1, H2, Hv and coherence (docs/theory/measurements.md)."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft, signal

from supple.array_types import Array, Complex
from supple.diagnostics import InputError, require_known
from supple.diagnostics.arguments import require_arguments
from supple.results.responses import Responses
from supple.results.time_records import TimeRecords

Estimator = Literal["H1", "H2", "Hv"]
ESTIMATORS = ("H1", "H2", "Hv")
_NOTHING = 1e-16  # of the largest spectrum of a force: less is rounding, not a force
_SINGULAR = 1e-10  # of the largest eigenvalue of the forces' spectra: below it, two forces are proportional


def estimate_responses(
    records: TimeRecords,
    *,
    estimator: Estimator = "H1",
    force_length: float | None = None,
    exponential: float | None = None,
    window: str | None = None,
    blocks: int | None = None,
    overlap: float = 0.5,
    keep_faulty: bool = False,
) -> Responses:
    """Estimate frequency responses and coherence from time records.

    Parameters
    ----------
    records : TimeRecords
        Records of an impact-hammer or shaker test.
    estimator : {"H1", "H2", "Hv"}, optional
        FRF estimator. H1 assumes noise on the responses, H2 noise on the force (one reference), Hv noise on both.
        Default: "H1".
    force_length : float, optional
        Length of the force window after the trigger, s. Later samples of the force are set to zero. Default: no
        force window.
    exponential : float, optional
        Remainder of the exponential window at the end of a record, such as 0.01. It acts on forces and responses, and
        its rate σ is stored in `window_rate`: the estimate is H(σ + iω), and every pole has σ more decay. Default:
        no exponential window.
    window : str, optional
        Name of a scipy window for continuous shaker signals, such as "hann"; used with `blocks`. Default: none.
    blocks : int, optional
        Number of samples of the blocks that each record is divided into. Default: one block per record.
    overlap : float, optional
        Overlap of the blocks, from 0 to below 1. Default: 0.5.
    keep_faulty : bool, optional
        Keep records with double impacts, overloads or samples that are not finite. Default: they are omitted, and a
        note reports it.

    Returns
    -------
    Responses
        H of all response channels to all references, averaged over the records, with the coherence.

    Raises
    ------
    InputError
        If every record is faulty, if there are fewer records than references, or if the forces of several
        references are proportional.

    See Also
    --------
    virtual_test : Simulate records.
    load_records : Read records from a file.

    Notes
    -----
    Equations 1-9 of docs/theory/measurements.md.

    Examples
    --------
    >>> import supple
    >>> arm = supple.load("ralf")
    >>> test = supple.virtual_test(arm, "home", "tip.-z", "tip", sampling_hz=256.0, noise=0.01)
    >>> found = supple.estimate_responses(test.records, estimator="Hv")
    >>> found.estimator, found.averages
    ('Hv', 3)
    """
    require_arguments(estimate_responses, locals())
    require_known("estimator", estimator, ESTIMATORS, part="estimator")
    if estimator == "H2" and len(records.references) > 1:
        raise InputError(
            f"H2 requires one reference (got {len(records.references)})", part="estimator", hint="use H1 or Hv"
        )
    good, notes = (records, ()) if keep_faulty else _drop_faulty(records)
    rate = 0.0 if exponential is None else exponential_rate(exponential, good.samples / good.sampling_hz)
    x, y = _apply_windows(good, force_length, rate)
    X, Y = _spectra(x, y, good.sampling_hz, window, blocks, overlap)
    lines = fft.rfftfreq(good.samples if blocks is None else blocks, 1.0 / good.sampling_hz)
    whole = lines < 0.5 * good.sampling_hz  # at half the sample rate only the real part is known
    lines, X, Y = lines[whole], X[:, :, whole], Y[:, :, whole]
    means = _means(X, Y)
    if len(X) < len(records.references):
        raise InputError(
            f"{len(records.references)} references need at least as many records (got {len(X)})", part="records",
            hint="give more records, or divide them into blocks",
        )  # fmt: skip
    H = {"H1": _h1, "H2": _h2, "Hv": _hv}[estimator](means)
    coherence = None
    if len(X) > len(records.references):
        coherence = _coherence(means)
    else:
        notes = (*notes, f"no coherence: it needs more than {len(X)} record{'s' * (len(X) != 1)}")
    pushed = _lines_with_force(means)
    if not pushed.all():
        kept = np.flatnonzero(pushed)
        if not len(kept):
            raise InputError(
                "the force is zero in every record", part="references", hint="check the force sensor's cable"
            )
        inside = slice(kept[0], kept[-1] + 1)
        notes = (*notes, f"lines outside {lines[kept[0]]:.6g} to {lines[kept[-1]]:.6g} Hz are omitted: no force there")
        lines, H = lines[inside], H[inside]
        coherence = None if coherence is None else coherence[inside]
    return Responses(
        np.asarray(lines), good.responses, good.references, H, coherence, len(X), rate, good.at, good.title, good.date,
        estimator, (*good.notes, *notes),
    )  # fmt: skip


class Means(NamedTuple):
    """Mean spectra by line: xx (n, p, p) of references, yx (n, r, p), yy (n, r) of the responses."""

    xx: Complex
    yx: Complex
    yy: Array


def _lines_with_force(means: Means) -> NDArray[np.bool_]:
    """Return the lines at which every reference has a force."""
    power = np.einsum("lpp->lp", means.xx).real
    return np.asarray((power > _NOTHING * power.max(axis=0, initial=0.0)).all(axis=1))


def _drop_faulty(records: TimeRecords) -> tuple[TimeRecords, tuple[str, ...]]:
    faults = record_faults(records)
    fatal = [fault for fault in faults if fault.kind != "dead channel"]
    notes = [str(fault) for fault in faults if fault.kind == "dead channel" and fault.record == 0]
    wrong = sorted({fault.record for fault in fatal})
    if len(wrong) == records.count and wrong:
        raise InputError(
            f"all {records.count} records are faulty. {fatal[0]}"
            + (f" ({len(fatal) - 1} more faults)" if len(fatal) > 1 else ""),
            part="records", hint="repeat them, or use them with keep_faulty=True (--keep-faulty)",
        )  # fmt: skip
    notes += [f"omitted: {fault}" for fault in fatal]
    return (records.without(*wrong) if wrong else records), tuple(notes)


def _apply_windows(records: TimeRecords, force_length: float | None, rate: float) -> tuple[Array, Array]:
    time = records.time
    decay = exponential_window(time, rate) if rate else np.ones(len(time))
    held = decay if force_length is None else decay * force_window(time, force_length)
    return np.asarray(records.x * held), np.asarray(records.y * decay)


def _spectra(
    x: Array, y: Array, sampling_hz: float, window: str | None, blocks: int | None, overlap: float
) -> tuple[Complex, Complex]:
    """Return the spectra of every record or block: (blocks, channels, lines)."""
    size = x.shape[2] if blocks is None else blocks
    if not 8 <= size <= x.shape[2]:
        raise InputError(f"must be 8 to {x.shape[2]} samples, the length of a record (got {size})", part="blocks")
    if not 0.0 <= overlap < 1.0:
        raise InputError(f"must be at least 0 and below 1 (got {overlap:g})", part="overlap")
    try:
        taper = np.ones(size) if window is None else signal.get_window(window, size)
    except ValueError:
        raise InputError(f'unknown window "{window}"', part="window", hint="use hann, hamming, flattop, ...") from None
    step = max(1, round(size * (1.0 - overlap)))
    starts = range(0, x.shape[2] - size + 1, step)

    def of(channels: Array) -> Complex:
        pieces = [channels[n, :, start : start + size] for n in range(len(channels)) for start in starts]
        return np.asarray(fft.rfft(np.array(pieces) * taper, axis=2) / sampling_hz)

    return of(x), of(y)


def _means(X: Complex, Y: Complex) -> Means:
    xx = np.einsum("npl,nql->lpq", X, X.conj()) / len(X)
    yx = np.einsum("nrl,npl->lrp", Y, X.conj()) / len(X)
    return Means(xx, yx, np.mean(np.abs(Y) ** 2, axis=0).T)


def _h1(means: Means) -> Complex:
    """Return G_yx G_xx⁻¹ (measurements, eq. 2)."""
    return _times_inverse(means.yx, means.xx)


def _h2(means: Means) -> Complex:
    """Return G_yy / G_xy for one reference (measurements, eq. 3)."""
    return np.asarray(_divide(means.yy[:, :, None].astype(complex), means.yx.conj()))


def _hv(means: Means) -> Complex:
    """Return the estimate of least total error, with all errors relative to their spectra (measurements, eq. 4)."""
    lines, r, p = means.yx.shape
    found = np.zeros((lines, r, p), dtype=complex)
    sizes = np.sqrt(np.maximum(np.einsum("lpp->lp", means.xx).real, 0.0))
    for i in range(r):
        G = np.empty((lines, p + 1, p + 1), dtype=complex)
        G[:, :p, :p], G[:, p, :p] = means.xx, means.yx[:, i]
        G[:, :p, p], G[:, p, p] = means.yx[:, i].conj(), means.yy[:, i]
        scale = np.concatenate([sizes, np.sqrt(means.yy[:, i : i + 1])], axis=1)
        unit = _divide(np.ones_like(scale), scale)
        a = np.linalg.eigh(G * unit[:, :, None] * unit[:, None, :])[1][:, :, 0].conj() * unit  # least eigenvalue
        found[:, i] = _divide(-a[:, :p], a[:, p:])
    return found


def _coherence(means: Means) -> Array:
    """Return the fraction of G_yy that all references explain (measurements, eq. 5)."""
    explained = np.einsum("lrp,lrp->lr", _h1(means), means.yx.conj()).real
    share = np.clip(_divide(explained, means.yy), 0.0, 1.0)
    return np.asarray(np.repeat(share[:, :, None], means.xx.shape[1], axis=2))


def _times_inverse(yx: Complex, xx: Complex) -> Complex:
    sizes = np.einsum("lpp->lp", xx).real
    if xx.shape[1] == 1:
        return np.asarray(_divide(yx, xx))
    unit = _divide(np.ones_like(sizes), np.sqrt(np.maximum(sizes, 0.0)))
    scaled = xx * unit[:, :, None] * unit[:, None, :]
    least = np.linalg.eigvalsh(scaled)[:, 0]
    together = (least <= _SINGULAR) & (sizes > 0.0).all(axis=1)
    if np.count_nonzero(together) > 0.5 * len(least):
        raise InputError(
            "the forces of the references are proportional in every record, so that responses cannot be separated",
            part="references",
            hint="use independent signals, or excite the points one after the other",
        )  # fmt: skip
    inverse = np.linalg.pinv(scaled, rcond=_SINGULAR, hermitian=True)
    return np.asarray((yx * unit[:, None, :]) @ inverse * unit[:, None, :])


def _divide(above: NDArray, below: NDArray) -> NDArray:
    """Return a quotient, zero where the divisor is zero: a line without force gives no information."""
    return np.divide(above, below, out=np.zeros(np.broadcast(above, below).shape, above.dtype), where=below != 0.0)


# Windows of an impact test, and the damping that the exponential window adds (docs/theory/measurements.md).


_EDGE = 0.1  # of a force window: its end falls by half a cosine


def force_window(time: Array, length: float) -> Array:
    """Return the force window (samples,): one during the impact, zero after it (measurements, eq. 7).

    time : s from the trigger; length : duration, s; its last tenth falls by half a cosine
    """
    if not length > 0.0:
        raise InputError(f"length must be positive (got {length:g} s)", part="force_window", hint="give, e.g., 0.02 s")
    edge = _EDGE * length
    fall = 0.5 * (1.0 + np.cos(np.pi * np.clip((time - (length - edge)) / edge, 0.0, 1.0)))
    return np.asarray(np.where(time < length, fall, 0.0))


def exponential_rate(share: float, duration: float) -> float:
    """Return σ, 1/s, of the window exp(-σt) that falls to a share at the end of a record (measurements, eq. 8)."""
    if not 0.0 < share <= 1.0:
        raise InputError(
            f"the remainder must be above 0 and at most 1 (got {share:g})", part="exponential",
            hint="give the remainder of the window at the end of a record, such as 0.01; 1 is no window",
        )  # fmt: skip
    return -float(np.log(share)) / duration + 0.0


def exponential_window(time: Array, rate: float) -> Array:
    """Return exp(-σ (t - t₀)) from the first sample on, for force and responses; the result is H(σ + iω)."""
    return np.asarray(np.exp(-rate * (time - time[0])))


def without_window(poles: ArrayLike, rate: float) -> NDArray[np.complex128]:
    """Return the poles of the system, 1/s, from those found with an exponential window: s + σ (measurements, eq. 9).

    The frequency Im s does not change; the damping ratio falls by σ/|s|.
    """
    return np.asarray(np.asarray(poles, dtype=complex) + rate, dtype=np.complex128)


def damping_without_window(ratios: ArrayLike, frequencies_hz: ArrayLike, rate: float) -> Array:
    """Return the damping ratios of the system from those found with an exponential window (measurements, eq. 9).

    The frequencies are |s|/2π with the window. A pole s = -ζω + iω√(1 - ζ²) found with the window is s + σ of the
    system.
    """
    zeta, omega = np.asarray(ratios, float), 2.0 * np.pi * np.asarray(frequencies_hz, float)
    s = without_window(omega * (-zeta + 1j * np.sqrt(np.maximum(1.0 - zeta**2, 0.0))), rate)
    size = np.abs(s)
    return np.asarray(np.divide(-s.real, size, out=np.zeros(np.shape(size)), where=size > 0.0))


# Faults of the records of a test: double impacts, overloads and dead channels.


_TOP = 0.999  # of the full scale: a signal that reaches it is clipped
_RUN = 3  # equal samples at an extreme: a flat top
_SAME = 1e-9  # of an extreme: tolerance of equal samples
_SECOND = 0.05  # of the largest force: least size of a second impact
_NOISE = 8.0  # times the noise of the force: least size of a second impact
_PULSE = 0.05  # of the largest force: where a pulse ends
_GAP = 3.0  # times the pulse's length: a pulse within it belongs to the same impact
_DEAD = 1e-9  # of the largest channel of its quantity


class RecordFault(NamedTuple):
    """Fault of a record.

    record : index, from 0; channel : its name; kind : double hit, overload, dead channel, not finite
    """

    record: int
    channel: str
    kind: str
    what: str
    hint: str

    def __str__(self) -> str:
        return f"record {self.record + 1}, {self.channel}: {self.what}; {self.hint}"


def record_faults(records: TimeRecords) -> list[RecordFault]:
    """Return all faults, record by record."""
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
                found.append(RecordFault(n, one.name, "not finite", what, "omit the record, or export it again"))
                continue
            why = _overload_text(signal, limit, np.delete(tops, n))
            if why:
                hint = "omit the record, and repeat it with a wider range or a softer impact"
                found.append(RecordFault(n, one.name, "overload", why, hint))
            if not np.ptp(signal):
                hint = "check its cable and its supply; omit the channel"
                found.append(RecordFault(n, one.name, "dead channel", "the signal is constant", hint))
    for j, one in enumerate(records.references):
        for n in range(records.count):
            after = double_hit(records.time, records.x[n, j])
            if after is not None:
                what = f"a second impact {1e3 * after[0]:.3g} ms after the first, {100.0 * after[1]:.0f} % of its size"
                hint = "omit the record, and repeat it with a single impact"
                found.append(RecordFault(n, one.name, "double hit", what, hint))
    return found


def double_hit(time: Array, force: Array) -> tuple[float, float] | None:
    """Return the time, s, from the largest impact to another, and their ratio; None if there is no other.

    Only a force of short duration is an impact: a shaker force, present most of the time, is not examined.
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


def _overload_text(signal: Array, limit: float | None, others: Array) -> str:
    top = float(np.abs(signal).max(initial=0.0))
    if top == 0.0:
        return ""
    if limit is not None:
        return f"the signal is clipped at its full scale of {limit:.4g}" if top >= _TOP * limit else ""
    for sign in (1.0, -1.0):
        at = np.flatnonzero(sign * signal >= top * (1.0 - _SAME))
        if len(at) >= _RUN and (np.diff(at) == 1)[: _RUN - 1].all():
            return f"the signal is clipped: {len(at)} equal samples at its peak {sign * top:.4g}"
        if len(at) > 1 and (np.diff(at) == 1).any() and (np.abs(others - top) <= _SAME * top).any():
            return f"the signal is clipped: its flat peak {sign * top:.6g} is the same as in another record"
    return ""
