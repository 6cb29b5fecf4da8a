"""Frequency responses from records over time: H1, H2, Hv and coherence (docs/theory/measurements.md)."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import fft, signal

from supple.array_types import Array, Complex
from supple.diagnostics import InputError, nearest
from supple.diagnostics.arguments import require_arguments
from supple.identification.testing.blows import record_faults
from supple.identification.testing.windows import exponential_rate, exponential_window, force_window
from supple.results.responses import Responses
from supple.results.time_records import TimeRecords

Estimator = Literal["H1", "H2", "Hv"]
ESTIMATORS = ("H1", "H2", "Hv")
_NOTHING = 1e-16  # of the largest spectrum of a force: less is rounding, and does not push
_SINGULAR = 1e-10  # of the largest eigenvalue of the forces' spectra: less, and two forces are one


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
    """Responses of all response channels to all references, averaged over records.               [measurements, 1-9]

    estimator    : H1 (noise on responses), H2 (noise on the force; one reference), Hv (on both alike)
    force_length : s after the trigger that the force is kept, zero behind; None for all of it
    exponential  : what the exponential window leaves at the end of a record, such as 0.01, on forces and responses. Its
                   rate σ goes into `window_rate`: H is then that at σ + iω, and every mode has σ more of decay
    window       : scipy's name of a window of a shaker's continuous signal, such as "hann", with `blocks`
    blocks       : samples of the pieces that each record is cut into, overlapping by `overlap` (0 to below 1)
    keep_faulty  : also records with double hits, overloads or samples that are not finite; left out otherwise, and said
    """
    require_arguments(estimate_responses, locals())
    if estimator not in ESTIMATORS:
        raise InputError(f'"{estimator}" is not an estimator', part="estimator", hint=nearest(estimator, ESTIMATORS))
    if estimator == "H2" and len(records.references) > 1:
        raise InputError(f"H2 is of one reference, not {len(records.references)}", part="estimator", hint="H1 or Hv")
    good, notes = (records, ()) if keep_faulty else _without_faults(records)
    rate = 0.0 if exponential is None else exponential_rate(exponential, good.samples / good.sampling_hz)
    x, y = _windowed(good, force_length, rate)
    X, Y = _spectra(x, y, good.sampling_hz, window, blocks, overlap)
    lines = fft.rfftfreq(good.samples if blocks is None else blocks, 1.0 / good.sampling_hz)
    whole = lines < 0.5 * good.sampling_hz  # at half the sampling rate only the real part is there
    lines, X, Y = lines[whole], X[:, :, whole], Y[:, :, whole]
    means = _means(X, Y)
    if len(X) < len(records.references):
        raise InputError(
            f"{len(X)} records cannot tell {len(records.references)} references apart", part="records",
            hint="give as many as references, or cut them into blocks",
        )  # fmt: skip
    H = {"H1": _h1, "H2": _h2, "Hv": _hv}[estimator](means)
    coherence = None
    if len(X) > len(records.references):
        coherence = _coherence(means)
    else:
        notes = (*notes, f"of {len(X)} record{'s' * (len(X) != 1)} there is no coherence")
    pushed = _pushed(means)
    if not pushed.all():
        kept = np.flatnonzero(pushed)
        if not len(kept):
            raise InputError("nothing pushes in any record", part="references", hint="check the cable of the force")
        inside = slice(kept[0], kept[-1] + 1)
        notes = (*notes, f"lines outside {lines[kept[0]]:.6g} to {lines[kept[-1]]:.6g} Hz are left out: nothing pushed")
        lines, H = lines[inside], H[inside]
        coherence = None if coherence is None else coherence[inside]
    return Responses(
        np.asarray(lines), good.responses, good.references, H, coherence, len(X), rate, good.at, good.title, good.date,
        estimator, (*good.notes, *notes),
    )  # fmt: skip


class Means(NamedTuple):
    """Mean spectra by line: xx (n, p, p) of references, yx (n, r, p), yy (n, r) of responses by themselves."""

    xx: Complex
    yx: Complex
    yy: Array


def _pushed(means: Means) -> NDArray[np.bool_]:
    """Lines at which every reference pushes."""
    power = np.einsum("lpp->lp", means.xx).real
    return np.asarray((power > _NOTHING * power.max(axis=0, initial=0.0)).all(axis=1))


def _without_faults(records: TimeRecords) -> tuple[TimeRecords, tuple[str, ...]]:
    faults = record_faults(records)
    fatal = [fault for fault in faults if fault.kind != "dead channel"]
    notes = [str(fault) for fault in faults if fault.kind == "dead channel" and fault.record == 0]
    wrong = sorted({fault.record for fault in fatal})
    if len(wrong) == records.count and wrong:
        raise InputError(
            f"every one of the {records.count} is wrong. {fatal[0]}"
            + (f" ({len(fatal) - 1} more faults)" if len(fatal) > 1 else ""),
            part="records", hint="keep_faulty=True (--keep-faulty) takes them as they are",
        )  # fmt: skip
    notes += [f"left out: {fault}" for fault in fatal]
    return (records.without(*wrong) if wrong else records), tuple(notes)


def _windowed(records: TimeRecords, force_length: float | None, rate: float) -> tuple[Array, Array]:
    time = records.time
    decay = exponential_window(time, rate) if rate else np.ones(len(time))
    held = decay if force_length is None else decay * force_window(time, force_length)
    return np.asarray(records.x * held), np.asarray(records.y * decay)


def _spectra(
    x: Array, y: Array, sampling_hz: float, window: str | None, blocks: int | None, overlap: float
) -> tuple[Complex, Complex]:
    """Of every record or piece: (pieces, channels, lines)."""
    size = x.shape[2] if blocks is None else blocks
    if not 8 <= size <= x.shape[2]:
        raise InputError(f"{size} samples cannot be cut from {x.shape[2]}", part="blocks", hint="give 8 or more")
    if not 0.0 <= overlap < 1.0:
        raise InputError(f"{overlap:g} is no overlap", part="overlap", hint="give 0 to below 1")
    try:
        taper = np.ones(size) if window is None else signal.get_window(window, size)
    except ValueError:
        raise InputError(f'"{window}" is not a window', part="window", hint="hann, hamming, flattop, ...") from None
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
    """G_yx G_xx⁻¹                                                                          [measurements, 2]"""
    return _times_inverse(means.yx, means.xx)


def _h2(means: Means) -> Complex:
    """G_yy / G_xy, of one reference                                                        [measurements, 3]"""
    return np.asarray(_divided(means.yy[:, :, None].astype(complex), means.yx.conj()))


def _hv(means: Means) -> Complex:
    """Least of all errors, of forces and response alike relative to their own spectra      [measurements, 4]"""
    lines, r, p = means.yx.shape
    found = np.zeros((lines, r, p), dtype=complex)
    sizes = np.sqrt(np.maximum(np.einsum("lpp->lp", means.xx).real, 0.0))
    for i in range(r):
        G = np.empty((lines, p + 1, p + 1), dtype=complex)
        G[:, :p, :p], G[:, p, :p] = means.xx, means.yx[:, i]
        G[:, :p, p], G[:, p, p] = means.yx[:, i].conj(), means.yy[:, i]
        scale = np.concatenate([sizes, np.sqrt(means.yy[:, i : i + 1])], axis=1)
        unit = _divided(np.ones_like(scale), scale)
        a = np.linalg.eigh(G * unit[:, :, None] * unit[:, None, :])[1][:, :, 0].conj() * unit  # least eigenvalue
        found[:, i] = _divided(-a[:, :p], a[:, p:])
    return found


def _coherence(means: Means) -> Array:
    """Share of G_yy that all references explain                                            [measurements, 5]"""
    explained = np.einsum("lrp,lrp->lr", _h1(means), means.yx.conj()).real
    share = np.clip(_divided(explained, means.yy), 0.0, 1.0)
    return np.asarray(np.repeat(share[:, :, None], means.xx.shape[1], axis=2))


def _times_inverse(yx: Complex, xx: Complex) -> Complex:
    sizes = np.einsum("lpp->lp", xx).real
    if xx.shape[1] == 1:
        return np.asarray(_divided(yx, xx))
    unit = _divided(np.ones_like(sizes), np.sqrt(np.maximum(sizes, 0.0)))
    scaled = xx * unit[:, :, None] * unit[:, None, :]
    least = np.linalg.eigvalsh(scaled)[:, 0]
    together = (least <= _SINGULAR) & (sizes > 0.0).all(axis=1)
    if np.count_nonzero(together) > 0.5 * len(least):
        raise InputError(
            "the references push alike in every record, so that their responses cannot be told apart",
            part="references",
            hint="drive them by signals of their own, or strike them one after the other",
        )  # fmt: skip
    inverse = np.linalg.pinv(scaled, rcond=_SINGULAR, hermitian=True)
    return np.asarray((yx * unit[:, None, :]) @ inverse * unit[:, None, :])


def _divided(above: NDArray, below: NDArray) -> NDArray:
    """Zero where there is nothing to divide by: a line at which nothing pushed says nothing."""
    return np.divide(above, below, out=np.zeros(np.broadcast(above, below).shape, above.dtype), where=below != 0.0)
