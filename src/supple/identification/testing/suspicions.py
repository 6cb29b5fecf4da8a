"""What looks wrong with measured responses, by themselves and against a model: each with its channel and what to do."""

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
_HALF = 0.5  # of a peak's power: lines above are what a peak has
_PER_PEAK = 3  # lines that a peak needs
_SURE = 0.5  # correlation: less does not decide
_PART = 0.3  # of the power on the wrong side, at most, for a sign to be sure
_STRETCH = np.linspace(0.85, 1.18, 67)  # of a model's frequencies: it need not be updated yet to tell signs
_WRONG_SIZE = 0.4  # decades
_NEAR = 0.2  # decades from a factor that units are confused by
_BETTER = 0.25  # of correlation: so much better another order of axes must be
_FACTORS = {
    "mm/s² (or mm) taken as m/s² (or m)": 1e3, "m taken as mm": 1e-3, "m/s² taken as g": 9.80665,
    "g taken as m/s²": 1.0 / 9.80665, "N taken as lbf": 1.0 / 4.4482216, "lbf taken as N": 4.4482216,
}  # fmt: skip


class Suspicion(NamedTuple):
    """kind : a word or two; channel : its name, or those of a pair; certain : no fit can be made with it as it is."""

    kind: str
    channel: str
    what: str
    hint: str
    certain: bool = True

    def __str__(self) -> str:
        return f"{self.channel}: {self.what}; {self.hint}" if self.channel else f"{self.what}; {self.hint}"


def suspicions(test: Responses, model: Responses | None = None) -> list[Suspicion]:
    """Everything that looks wrong.                                                               [measurements, 14-16]

    model : what a mechanism answers for the same channels and lines; without it signs are judged at driving points
            and by reciprocity alone, and units not at all
    """
    found = [*_not_finite(test), *_dead(test, model), *_few_lines(test), *_incoherent(test)]
    wrong = {item.channel for item in found if item.kind in ("not finite", "dead channel")}
    sound = [one.name for one in test.responses if one.name not in wrong]
    if not sound:
        return found
    part = test.select(sound)
    by_itself = [*_driving_points(part), *_reciprocal(part)]
    if model is None:
        return found + by_itself
    against = _against(part, model.select(sound), {item.channel for item in by_itself})
    hammers = {item.channel.removeprefix("reference ") for item in against if item.channel.startswith("reference ")}
    # A hammer that is reversed takes its driving point along, which is then sound by itself.
    return found + [item for item in by_itself if item.channel not in hammers] + against


# --------------------------------------------------------------------------------------------------- by themselves


def _not_finite(test: Responses) -> list[Suspicion]:
    found = []
    for i, one in enumerate(test.responses):
        bad = np.asarray(~np.isfinite(test.H[:, i]).all(axis=1))
        if bad.any():
            where = test.frequencies_hz[bad][0]
            what = f"{int(bad.sum())} of {len(bad)} lines are not finite, the first at {where:.6g} Hz"
            hint = "leave these lines or the channel out (select), or export it again"
            found.append(Suspicion("not finite", one.name, what, hint))
    return found


def _dead(test: Responses, model: Responses | None) -> list[Suspicion]:
    """A channel that shows nothing; where the model does not move either, that is as it should be."""
    still = _silent(model) if model is not None else np.zeros(len(test.responses), bool)
    size = np.sqrt(np.mean(np.abs(np.nan_to_num(test.H)) ** 2, axis=(0, 2)))
    found = []
    for i in np.flatnonzero(_silent(test)):
        what = "it is dead: " + ("zero at every line" if size[i] == 0.0 else f"{size[i]:.2g} {test.unit(int(i), 0)}")
        if still[i]:
            what, hint = (
                f"{what}, and the model does not move there either",
                "it tells nothing, and is left out of fits",
            )
        else:
            hint = "check sensor, cable and supply; leave it out (select)"
        found.append(Suspicion("dead channel", test.responses[i].name, what, hint, not still[i]))
    return found


def _silent(test: Responses) -> NDArray[np.bool_]:
    """(No,) which channels show nothing beside others of their quantity."""
    size = np.sqrt(np.mean(np.abs(np.nan_to_num(test.H)) ** 2, axis=(0, 2)))
    found = size == 0.0
    for i, one in enumerate(test.responses):
        alike = [size[k] for k, other in enumerate(test.responses) if other.quantity == one.quantity and size[k] > 0.0]
        found[i] |= bool(alike) and size[i] < _DEAD * float(np.median(alike))
    return np.asarray(found)


def _few_lines(test: Responses) -> list[Suspicion]:
    n = len(test.frequencies_hz)
    longer = "record longer (the distance of lines is one over the length of a record), or zoom"
    if n < FEWEST_LINES:
        return [Suspicion("too few lines", "", f"{n} lines are too few for modes, which need {FEWEST_LINES}", longer)]
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
        what = f"the highest peak, at {test.frequencies_hz[top]:.6g} Hz, has {last - first + 1} of {_PER_PEAK} lines"
        return [Suspicion("too few lines", "", f"{what} that its damping needs", longer, False)]
    return []


def _incoherent(test: Responses) -> list[Suspicion]:
    if test.coherence is None:
        return []
    found = []
    for i, one in enumerate(test.responses):
        mean = float(np.nanmean(test.coherence[:, i]))
        if mean < _COHERENT:
            what = f"its mean coherence is {mean:.2f}: it is mostly noise"
            hint = "check sensor and cable, strike harder or nearer, or leave it out"
            found.append(Suspicion("noise", one.name, what, hint, False))
    return found


def _driving_points(test: Responses) -> list[Suspicion]:
    """Where a force acts and its own motion is seen, it does work: Im receptance <= 0 at every line."""
    moved = test.to("displacement") if any(one.order is not None for one in test.responses) else test
    found = []
    for j, pushed in enumerate(test.references):
        for i, seen in enumerate(moved.responses):
            along = _along(pushed, seen)
            if seen.order is None or abs(along) < 0.99 or pushed.quantity != "force":
                continue
            work = -np.sign(along) * moved.H[:, i, j].imag * moved.frequencies_hz  # dissipated power over force²
            weight = float(np.abs(work).sum())
            wrong = float(-work[work < 0.0].sum()) / weight if weight > 0.0 else 0.0
            if wrong > 1.0 - _PART:
                what = f"it goes the wrong way: pushed by {pushed.name} it gives back work instead of taking it"
                hint = f'one of the two is mounted the other way: test.reversed("{seen.name}")'
                found.append(Suspicion("reversed", seen.name, what, hint))
            elif wrong > _PART:
                what = f"whether it or {pushed.name} is reversed cannot be decided from it"
                found.append(Suspicion("undecided", seen.name, what, "compare it with a model", False))
    return found


def _reciprocal(test: Responses) -> list[Suspicion]:
    """H_ij = H_ji of two places that are both pushed and seen, as receptance."""
    if len(test.references) < 2:
        return []
    moved = test.to("displacement")
    found = []
    spots = [
        (i, j, _along(one, other))
        for j, one in enumerate(moved.references)
        for i, other in enumerate(moved.responses)
        if other.order is not None and abs(_along(one, other)) > 0.99
    ]
    for n, (i, j, sign) in enumerate(spots):
        for k, m, other in spots[n + 1 :]:
            if j == m:
                continue
            c = _correlation(moved.H[:, i, m], moved.H[:, k, j]) * np.sign(sign * other)
            pair = f"{moved.responses[i].name} and {moved.responses[k].name}"
            if c < -_SURE:
                what = "each answers the other with the opposite sign, against reciprocity: one of them is reversed"
                found.append(Suspicion("reversed", pair, what, "driving points, or a model, tell which one"))
            elif c < _SURE:
                what = f"they do not answer one another alike (correlation {c:.2f})"
                found.append(Suspicion("not reciprocal", pair, what, "check points, directions and units", False))
    return found


# --------------------------------------------------------------------------------------------------- against a model


def stretched(test: Responses, model: Responses) -> tuple[float, Array]:
    """The factor of the model's frequencies at which it is most like the test, and correlations there, (r, p).

    c = Re Σ conj(H_model) H / √(Σ|H_model|² Σ|H|²), of each pair                                [measurements, eq. 15]
    """
    lines = test.frequencies_hz
    best: tuple[float, float, Array] = (-1.0, 1.0, np.zeros(test.H.shape[1:]))
    for factor in _STRETCH:
        inside = (lines / factor >= lines[0]) & (lines / factor <= lines[-1])
        moved = _at(model, lines[inside] / factor)
        c = _correlations(test.H[inside], moved)
        total = float(np.sum(np.abs(c)))
        if total > best[0]:
            best = total, float(factor), c
    return best[1], best[2]


def likeness(test: Responses, model: Responses) -> float:
    """How alike they are, 0 to 1, signs and sizes apart and frequencies stretched."""
    return float(np.mean(np.abs(stretched(test, model)[1])))


def _against(test: Responses, model: Responses, known: set[str]) -> list[Suspicion]:
    found = _sizes(test, model)
    factor, c = stretched(test, model)
    found += _axes(test, model, factor)
    swapped = {name for item in found if item.kind == "axes" for name in item.channel.split(", ")}
    names = [one.name for one in test.responses]
    for j, pushed in enumerate(test.references):
        sure = [i for i in range(len(names)) if abs(c[i, j]) >= _SURE and names[i] not in swapped]
        against = [i for i in sure if c[i, j] < 0.0]
        if len(sure) > 1 and len(against) == len(sure):
            least = float(c[against, j].min())
            what = f"all {len(sure)} responses to it have the opposite sign of the model's (correlation to {least:.2f})"
            hint = f'it pushes the other way than it says: test.reversed(references="{pushed.name}")'
            found.append(Suspicion("reversed", f"reference {pushed.name}", what, hint))
            continue
        for i in against:
            if names[i] not in known:
                what = f"it has the opposite sign of the model's (correlation {c[i, j]:.2f})"
                found.append(Suspicion("reversed", names[i], what, f'turn it: test.reversed("{names[i]}")'))
        for i in range(len(names)):
            if abs(c[i, j]) < _SURE and names[i] not in swapped:
                what = f"its sign cannot be decided: it is too unlike the model (correlation {c[i, j]:.2f})"
                found.append(
                    Suspicion("undecided", names[i], what, "look at it after updating, or with more blows", False)
                )
    return found


def _sizes(test: Responses, model: Responses) -> list[Suspicion]:
    """Numbers that are too large or too small by a factor: band averages do not mind shifted modes."""
    ours, theirs = (np.sqrt(np.mean(np.abs(one.H) ** 2, axis=(0, 2))) for one in (test, model))
    with np.errstate(divide="ignore"):
        decades = np.log10(np.where((ours > 0.0) & (theirs > 0.0), ours / np.where(theirs > 0.0, theirs, 1.0), 1.0))
    floor = theirs < 1e-3 * theirs.max()  # what a model all but forbids, by symmetry, is noise in a test
    common = float(np.median(decades[~floor])) if (~floor).any() else 0.0
    found = []
    if abs(common) > _WRONG_SIZE and np.abs(decades[~floor] - common).max() < _WRONG_SIZE:
        pushed = ", ".join(one.name for one in test.references)
        what = f"all responses are {10.0**common:.3g} times the model's{_confused(common)}"
        hint = 'units={"*": ...} of all, or {"reference *": ...} of the force, put it right (supple measured --unit)'
        return [Suspicion("units", f"reference {pushed}", what, hint)]
    for i, one in enumerate(test.responses):
        if abs(decades[i]) > _WRONG_SIZE and not floor[i]:
            what = f"it is {10.0 ** decades[i]:.3g} times the model's{_confused(float(decades[i]))}"
            hint = f'say what its numbers are in: units={{"{one.name}": ...}} (supple measured --unit)'
            found.append(Suspicion("units", one.name, what, hint))
    return found


def _confused(decades: float) -> str:
    near = {name: abs(decades - np.log10(size)) for name, size in _FACTORS.items()}
    name = min(near, key=lambda key: near[key])
    return f", as of {name}" if near[name] < _NEAR else ""


def _axes(test: Responses, model: Responses, factor: float) -> list[Suspicion]:
    """Points whose three directions fit the model better in another order."""
    found = []
    lines = test.frequencies_hz
    inside = (lines / factor >= lines[0]) & (lines / factor <= lines[-1])
    moved = _at(model, lines[inside] / factor)
    points: dict[str, dict[str, int]] = {}
    for i, one in enumerate(test.responses):
        if isinstance(one.direction, str) and one.direction.removeprefix("-") in ("x", "y", "z"):
            points.setdefault(one.point, {})[one.direction.removeprefix("-")] = i
    for point, of in points.items():
        if len(of) < 2:
            continue
        rows = list(of.values())
        c = np.array([[_shared(test.H[inside][:, a], moved[:, b]) for b in rows] for a in rows])
        own = float(np.trace(c))
        best = max(permutations(range(len(rows))), key=lambda order: sum(c[a, b] for a, b in enumerate(order)))
        gain = sum(c[a, b] for a, b in enumerate(best)) - own
        if gain > 2.0 * _BETTER and all(c[a, b] > _SURE for a, b in enumerate(best)):
            letters = list(of)
            turned = ", ".join(f"{letters[a]} is the model's {letters[b]}" for a, b in enumerate(best) if a != b)
            names = ", ".join(test.responses[i].name for i in rows)
            what = f"its axes are exchanged or turned: {turned}"
            found.append(
                Suspicion("axes", names, what, f'check how the sensor at "{point}" was mounted, and rename it')
            )
    return found


def _along(one: Channel, other: Channel) -> float:
    """Cosine between two channels of one point, 0 of different points or where one turns."""
    a, b = one.vector, other.vector
    if one.point != other.point or one.turns != other.turns or a is None or b is None:
        return 0.0
    return float(a @ b)


def _at(model: Responses, lines: Array) -> Complex:
    """The model at other lines, by interpolation: (lines, r, p)."""
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


def _shared(a: Complex, b: Complex) -> float:
    """|Σ b* a| over their sizes: how alike two are whatever their sign, over all references."""
    below = float(np.sqrt(np.sum(np.abs(a) ** 2) * np.sum(np.abs(b) ** 2)))
    return float(abs(np.sum((b.conj() * a).real))) / below if below > 0.0 else 0.0
