"""Possible errors in measured responses, found without or with a model; each names its channel and a remedy."""

from __future__ import annotations

from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array, Complex
from supple.results.channel import Channel
from supple.results.responses import Responses

FEWEST_LINES = 32
_DEAD = 1e-7  # of the median of its quantity
_COHERENT = 0.3  # mean over lines: less is noise
_HALF = 0.5  # of a peak's power: lines above it belong to the peak
_PER_PEAK = 3  # lines that a peak needs
_SURE = 0.5  # correlation: smaller ones are not conclusive
_PART = 0.3  # of the power with the wrong sign, at most, for a sign to be certain
_STRETCH = np.linspace(0.85, 1.18, 67)  # of a model's frequencies: signs can be checked before updating
_WRONG_SIZE = 0.4  # decades
_NEAR = 0.2  # decades from the factor between two units
_BETTER = 0.25  # of correlation: by how much another order of axes must be better
_FACTORS = {
    "mm/s² (or mm) read as m/s² (or m)": 1e3, "m read as mm": 1e-3, "m/s² read as g": 9.80665,
    "g read as m/s²": 1.0 / 9.80665, "N read as lbf": 1.0 / 4.4482216, "lbf read as N": 4.4482216,
}  # fmt: skip


class Suspicion(NamedTuple):
    """Error or possible error in measured responses.

    Attributes
    ----------
    kind : str
        Kind of error, a word or two.
    channel : str
        Name of the channel, or of a pair.
    what : str
        Description.
    hint : str
        Remedy.
    certain : bool
        True if the responses cannot be used for a fit without a correction.
    """

    kind: str
    channel: str
    what: str
    hint: str
    certain: bool = True

    def __str__(self) -> str:
        return f"{self.channel}: {self.what}; {self.hint}" if self.channel else f"{self.what}; {self.hint}"


def suspicions(test: Responses, model: Responses | None = None) -> list[Suspicion]:
    """Return all errors and possible errors (measurements, eqs. 14-16).

    model : responses of a mechanism for the same channels and lines; without it, signs are checked only at driving
    points
            and by reciprocity, and units are not checked
    """
    found = [*_not_finite(test), *_dead_channels(test, model), *_few_lines(test), *_incoherent(test)]
    wrong = {item.channel for item in found if item.kind in ("not finite", "dead channel")}
    sound = [one.name for one in test.responses if one.name not in wrong]
    if not sound:
        return found
    part = test.select(sound)
    by_itself = [*_driving_points(part), *_reciprocity(part)]
    if model is None:
        return found + by_itself
    against = _compare_with_model(part, model.select(sound), {item.channel for item in by_itself})
    hammers = {item.channel.removeprefix("reference ") for item in against if item.channel.startswith("reference ")}
    # If the force is reversed, its driving point appears reversed although the response is correct.
    return found + [item for item in by_itself if item.channel not in hammers] + against


# --------------------------------------------------------------------------------------------------- by themselves


def _not_finite(test: Responses) -> list[Suspicion]:
    found = []
    for i, one in enumerate(test.responses):
        bad = np.asarray(~np.isfinite(test.H[:, i]).all(axis=1))
        if bad.any():
            where = test.frequencies_hz[bad][0]
            what = f"{int(bad.sum())} of {len(bad)} lines are not finite, the first at {where:.6g} Hz"
            hint = "omit these lines or the channel (select), or export it again"
            found.append(Suspicion("not finite", one.name, what, hint))
    return found


def _dead_channels(test: Responses, model: Responses | None) -> list[Suspicion]:
    """Return channels without signal; where the model does not move either, this is expected."""
    still = _silent(model) if model is not None else np.zeros(len(test.responses), bool)
    size = np.sqrt(np.mean(np.abs(np.nan_to_num(test.H)) ** 2, axis=(0, 2)))
    found = []
    for i in np.flatnonzero(_silent(test)):
        what = "no signal: " + ("zero at every line" if size[i] == 0.0 else f"{size[i]:.2g} {test.unit(int(i), 0)}")
        if still[i]:
            what, hint = (
                f"{what}, and the model does not move there either",
                "the channel is omitted from fits",
            )
        else:
            hint = "check sensor, cable and supply; omit the channel (select)"
        found.append(Suspicion("dead channel", test.responses[i].name, what, hint, not still[i]))
    return found


def _silent(test: Responses) -> NDArray[np.bool_]:
    """Return which channels (No,) have no signal compared with others of their quantity."""
    size = np.sqrt(np.mean(np.abs(np.nan_to_num(test.H)) ** 2, axis=(0, 2)))
    found = size == 0.0
    for i, one in enumerate(test.responses):
        alike = [size[k] for k, other in enumerate(test.responses) if other.quantity == one.quantity and size[k] > 0.0]
        found[i] |= bool(alike) and size[i] < _DEAD * float(np.median(alike))
    return np.asarray(found)


def _few_lines(test: Responses) -> list[Suspicion]:
    n = len(test.frequencies_hz)
    longer = "use longer records (line spacing = 1 / record length), or a zoom analysis"
    if n < FEWEST_LINES:
        return [Suspicion("too few lines", "", f"modes need at least {FEWEST_LINES} lines (got {n})", longer)]
    power = np.nansum(np.abs(test.H) ** 2, axis=(1, 2))
    if not power.any():
        return []
    top = int(np.argmax(power))
    first = last = top
    while first > 0 and power[first - 1] > _HALF * power[top]:
        first -= 1
    while last < n - 1 and power[last + 1] > _HALF * power[top]:
        last += 1
    if last - first + 1 < _PER_PEAK and 0 < top < n - 1:
        what = f"the peak at {test.frequencies_hz[top]:.6g} Hz has {last - first + 1} of {_PER_PEAK} lines needed"
        return [Suspicion("too few lines", "", f"{what} for its damping", longer, False)]
    return []


def _incoherent(test: Responses) -> list[Suspicion]:
    if test.coherence is None:
        return []
    found = []
    for i, one in enumerate(test.responses):
        mean = float(np.nanmean(test.coherence[:, i]))
        if mean < _COHERENT:
            what = f"the mean coherence is {mean:.2f} (limit {_COHERENT}): the signal is mostly noise"
            hint = "check sensor and cable, use stronger or closer impacts, or omit the channel"
            found.append(Suspicion("noise", one.name, what, hint, False))
    return found


def _driving_points(test: Responses) -> list[Suspicion]:
    """Check driving points: a force does work on its own point, Im receptance <= 0 at every line."""
    moved = test.to("displacement") if any(one.order is not None for one in test.responses) else test
    found = []
    for j, pushed in enumerate(test.references):
        for i, seen in enumerate(moved.responses):
            along = _direction_cosine(pushed, seen)
            if seen.order is None or abs(along) < 0.99 or pushed.quantity != "force":
                continue
            work = -np.sign(along) * moved.H[:, i, j].imag * moved.frequencies_hz  # dissipated power over force²
            weight = float(np.abs(work).sum())
            wrong = float(-work[work < 0.0].sum()) / weight if weight > 0.0 else 0.0
            if wrong > 1.0 - _PART:
                what = f"the sign is reversed: the force {pushed.name} would extract energy at its own point"
                hint = f'reverse the one that is mounted the other way around: test.reverse_channels("{seen.name}")'
                found.append(Suspicion("reversed", seen.name, what, hint))
            elif wrong > _PART:
                what = f"the sign relative to the force {pushed.name} is ambiguous"
                found.append(Suspicion("undecided", seen.name, what, "check the direction of sensor and hammer", False))
    return found


def _reciprocity(test: Responses) -> list[Suspicion]:
    """Check reciprocity H_ij = H_ji of two points with force and response, as receptance."""
    if len(test.references) < 2:
        return []
    moved = test.to("displacement")
    found = []
    spots = [
        (i, j, _direction_cosine(one, other))
        for j, one in enumerate(moved.references)
        for i, other in enumerate(moved.responses)
        if other.order is not None and abs(_direction_cosine(one, other)) > 0.99
    ]
    for n, (i, j, sign) in enumerate(spots):
        for k, m, other in spots[n + 1 :]:
            if j == m:
                continue
            c = _correlation(moved.H[:, i, m], moved.H[:, k, j]) * np.sign(sign * other)
            pair = f"{moved.responses[i].name} and {moved.responses[k].name}"
            if c < -_SURE:
                what = "the two cross responses have opposite signs, against reciprocity: one channel is reversed"
                found.append(Suspicion("reversed", pair, what, "use driving points, or a model, to find out which"))
            elif c < _SURE:
                what = f"the two cross responses are not reciprocal (correlation {c:.2f}, limit {_SURE})"
                found.append(Suspicion("not reciprocal", pair, what, "check points, directions and units", False))
    return found


# --------------------------------------------------------------------------------------------------- against a model


def best_stretch(test: Responses, model: Responses) -> tuple[float, Array]:
    """Return the factor of the model's frequencies with the best correlation, and the correlations there, (r, p).

    c = Re Σ conj(H_model) H / √(Σ|H_model|² Σ|H|²), of each pair                                [measurements, eq. 15]
    """
    lines = test.frequencies_hz
    best: tuple[float, float, Array] = (-1.0, 1.0, np.zeros(test.H.shape[1:]))
    for factor in _STRETCH:
        inside = (lines / factor >= lines[0]) & (lines / factor <= lines[-1])
        moved = _interpolate(model, lines[inside] / factor)
        c = _correlations(test.H[inside], moved)
        total = float(np.sum(np.abs(c)))
        if total > best[0]:
            best = total, float(factor), c
    return best[1], best[2]


def likeness(test: Responses, model: Responses) -> float:
    """Return the similarity, 0 to 1, regardless of signs and scales, with best_stretch frequencies."""
    return float(np.mean(np.abs(best_stretch(test, model)[1])))


def _compare_with_model(test: Responses, model: Responses, known: set[str]) -> list[Suspicion]:
    found = _sizes(test, model)
    factor, c = best_stretch(test, model)
    found += _axes(test, model, factor)
    swapped = {name for item in found if item.kind == "axes" for name in item.channel.split(", ")}
    names = [one.name for one in test.responses]
    for j, pushed in enumerate(test.references):
        sure = [i for i in range(len(names)) if abs(c[i, j]) >= _SURE and names[i] not in swapped]
        against = [i for i in sure if c[i, j] < 0.0]
        if len(sure) > 1 and len(against) == len(sure):
            least = float(c[against, j].min())
            what = f"all {len(sure)} responses to it have the opposite sign of the model's (correlation to {least:.2f})"
            hint = f'reverse the force: test.reverse_channels(references="{pushed.name}")'
            found.append(Suspicion("reversed", f"reference {pushed.name}", what, hint))
            continue
        for i in against:
            if names[i] not in known:
                what = f"the sign is opposite to the model's (correlation {c[i, j]:.2f})"
                found.append(Suspicion("reversed", names[i], what, f'reverse it: test.reverse_channels("{names[i]}")'))
        for i in range(len(names)):
            if abs(c[i, j]) < _SURE and names[i] not in swapped:
                what = f"the sign cannot be determined: the model's response differs (correlation {c[i, j]:.2f})"
                found.append(
                    Suspicion("undecided", names[i], what, "check it after updating, or with more impacts", False)
                )
    return found


def _sizes(test: Responses, model: Responses) -> list[Suspicion]:
    """Return responses that are too large or too small by a factor.

    Band averages are compared, which tolerate shifted modes.
    """
    ours, theirs = (np.sqrt(np.mean(np.abs(one.H) ** 2, axis=(0, 2))) for one in (test, model))
    with np.errstate(divide="ignore"):
        decades = np.log10(np.where((ours > 0.0) & (theirs > 0.0), ours / np.where(theirs > 0.0, theirs, 1.0), 1.0))
    floor = theirs < 1e-3 * theirs.max()  # a response that is almost zero in the model, by symmetry, is noise in a test
    common = float(np.median(decades[~floor])) if (~floor).any() else 0.0
    found = []
    if abs(common) > _WRONG_SIZE and np.abs(decades[~floor] - common).max() < _WRONG_SIZE:
        pushed = ", ".join(one.name for one in test.references)
        what = f"all responses are {10.0**common:.3g} times the model's{_unit_note(common)}"
        hint = (
            'correct it with units={"*": ...} for all, or {"reference *": ...} for the force '
            "(supple check-measurement --unit)"
        )
        return [Suspicion("units", f"reference {pushed}", what, hint)]
    for i, one in enumerate(test.responses):
        if abs(decades[i]) > _WRONG_SIZE and not floor[i]:
            what = f"the response is {10.0 ** decades[i]:.3g} times the model's{_unit_note(float(decades[i]))}"
            hint = f'give its unit: units={{"{one.name}": ...}} (supple check-measurement --unit)'
            found.append(Suspicion("units", one.name, what, hint))
    return found


def _unit_note(decades: float) -> str:
    """Return a note on the units that the factor suggests."""
    near = {name: abs(decades - np.log10(size)) for name, size in _FACTORS.items()}
    name = min(near, key=lambda key: near[key])
    return f"; this is the factor of {name}" if near[name] < _NEAR else ""


def _axes(test: Responses, model: Responses, factor: float) -> list[Suspicion]:
    """Return points whose three directions agree better with the model in another order."""
    found = []
    lines = test.frequencies_hz
    inside = (lines / factor >= lines[0]) & (lines / factor <= lines[-1])
    moved = _interpolate(model, lines[inside] / factor)
    points: dict[str, dict[str, int]] = {}
    for i, one in enumerate(test.responses):
        if isinstance(one.direction, str) and one.direction.removeprefix("-") in ("x", "y", "z"):
            points.setdefault(one.point, {})[one.direction.removeprefix("-")] = i
    for point, of in points.items():
        if len(of) < 2:
            continue
        rows = list(of.values())
        c = np.array([[_similarity(test.H[inside][:, a], moved[:, b]) for b in rows] for a in rows])
        own = float(np.trace(c))
        best = max(permutations(range(len(rows))), key=lambda order: sum(c[a, b] for a, b in enumerate(order)))
        gain = sum(c[a, b] for a, b in enumerate(best)) - own
        if gain > 2.0 * _BETTER and all(c[a, b] > _SURE for a, b in enumerate(best)):
            letters = list(of)
            turned = ", ".join(f"{letters[a]} is the model's {letters[b]}" for a, b in enumerate(best) if a != b)
            names = ", ".join(test.responses[i].name for i in rows)
            what = f"the axes are exchanged or rotated: {turned}"
            found.append(
                Suspicion(
                    "axes", names, what, f'check how the sensor at "{point}" was mounted, and rename its channels'
                )
            )
    return found


def _direction_cosine(one: Channel, other: Channel) -> float:
    """Return the cosine between two channels of one point; 0 for different points or quantities of rotation."""
    a, b = one.vector, other.vector
    if one.point != other.point or one.turns != other.turns or a is None or b is None:
        return 0.0
    return float(a @ b)


def _interpolate(model: Responses, lines: Array) -> Complex:
    """Return the model at other lines, by interpolation: (lines, r, p)."""
    x = model.frequencies_hz
    k = np.clip(np.searchsorted(x, lines) - 1, 0, len(x) - 2)
    t = ((lines - x[k]) / (x[k + 1] - x[k]))[:, None, None]
    return np.asarray((1.0 - t) * model.H[k] + t * model.H[k + 1])


def _correlations(ours: Complex, theirs: Complex) -> Array:
    above = np.sum((theirs.conj() * ours).real, axis=0)
    below = np.sqrt(np.sum(np.abs(ours) ** 2, axis=0) * np.sum(np.abs(theirs) ** 2, axis=0))
    return np.asarray(np.divide(above, below, out=np.zeros_like(above), where=below > 0.0))


def _correlation(a: Complex, b: Complex) -> float:
    return float(_correlations(a[:, None], b[:, None])[0])


def _similarity(a: Complex, b: Complex) -> float:
    """Return |Σ b* a| over their norms: the similarity of two regardless of sign, over all references."""
    below = float(np.sqrt(np.sum(np.abs(a) ** 2) * np.sum(np.abs(b) ** 2)))
    return float(abs(np.sum((b.conj() * a).real))) / below if below > 0.0 else 0.0
