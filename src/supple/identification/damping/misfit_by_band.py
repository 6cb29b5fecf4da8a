"""How well a mechanism explains measured responses, band by band and response by response: J_Q.

J_Q = Σ|H - H_m|² / Σ|H_m|²                                                              [Rognant 2010, eq. 34]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from supple.description.mechanism import Mechanism
from supple.identification.damping.damped_responses import DampedPosture, already_there
from supple.identification.updating.least_squares import models_of
from supple.identification.updating.measurement import Measurement
from supple.identification.updating.observed_responses import ResponseObserver, response_observer
from supple.identification.updating.structure import structure_of
from supple.identification.updating.written_numbers import no_numbers
from supple.results.text import Text

Band = tuple[float, float]

_REACH = 3.0  # of the highest line: what bodies are condensed for


class BandMisfit(NamedTuple):
    """J_Q before and after, of all responses of a measurement together, and of each by itself."""

    label: str
    band_hz: Band
    before: float
    after: float
    by_response: dict[str, tuple[float, float]]

    def data(self) -> dict[str, Any]:
        """The keys and values that `--json` prints."""
        return {
            "posture": self.label, "band_hz": self.band_hz, "before": self.before, "after": self.after,
            "by_response": self.by_response,
        }  # fmt: skip


def misfit_table(out: Text, misfits: Sequence[BandMisfit]) -> None:
    """Add a table of J_Q in every band to a text, with the response that is explained worst."""
    rows = []
    for item in misfits:
        worst = max(item.by_response, key=lambda name: item.by_response[name][1])
        low, high = item.band_hz
        percent = [f"{100 * value:.3g}" for value in (item.before, item.after, item.by_response[worst][1])]
        rows.append((item.label, f"{low:.4g} .. {high:.4g}", *percent[:2], f"{percent[2]} {worst}"))
    if rows:
        out.table(("J_Q of responses", "[Hz]", "before [%]", "after [%]", "at most, after [%]"), rows)


def misfit_by_band(
    before: Mechanism, after: Mechanism, measured: Sequence[Measurement], bands: Sequence[Band] | None = None
) -> tuple[BandMisfit, ...]:
    """Of two mechanisms, as they stand with their damping, in every band; if left out, in the one of each measurement
    and over all its lines."""
    items = [item for item in measured if item.responses is not None]
    asked = [list(bands) if bands is not None else _own(item) for item in items]
    if not items or not any(asked):
        return ()
    old, new = (_observed(one, items) for one in (before, after))
    found = []
    for item, chosen, a, b in zip(items, asked, old, new, strict=True):
        for band in chosen:
            one, two = (_within(seen, H, band) for seen, H in (a, b))
            beside = two[0].off_by_response(two[1])
            each = {name: (value, beside[name]) for name, value in one[0].off_by_response(one[1]).items()}
            found.append(BandMisfit(item.label, band, one[0].off(one[1]), two[0].off(two[1]), each))
    return tuple(found)


def _own(item: Measurement) -> list[Band]:
    lines = item.responses.frequencies_hz
    whole = (float(lines[lines > 0.0][0]), float(lines[-1]))
    return [whole] if item.band is None else [item.band, whole]


def _observed(mechanism: Mechanism, items: Sequence[Measurement]) -> list[tuple[ResponseObserver, np.ndarray]]:
    """Each measurement with all its lines, and what the mechanism shows there."""
    highest = max(float(item.responses.frequencies_hz[-1]) for item in items)
    postures = damped_postures(mechanism, items, _REACH * highest, [None] * len(items))
    return [(one.seen, one.shown(np.zeros(0), slopes=False)[0]) for one in postures]


def damped_postures(
    mechanism: Mechanism, items: Sequence[Measurement], highest: float, bands: Sequence[Band | None]
) -> list[DampedPosture]:
    """Each measurement with its lines in a band, damped as the mechanism says; bodies are condensed up to `highest`."""
    structure = structure_of(no_numbers(mechanism), highest)
    trial = structure.at(np.zeros(0))
    found = []
    for model, item, band in zip(models_of(structure, items), items, bands, strict=True):
        spectrum, seen = model.spectrum(trial), response_observer(model, item.responses, band)
        found.append(DampedPosture(seen, spectrum, *already_there(spectrum), (), ()))
    return found


def _within(seen: ResponseObserver, H: np.ndarray, band: Band) -> tuple[ResponseObserver, np.ndarray]:
    lines = seen.measured.frequencies_hz
    kept = np.flatnonzero((lines >= band[0]) & (lines <= band[1]))
    narrow = ResponseObserver(seen.model, seen.measured.select(lines=kept), seen.g, seen.f)
    return narrow, H[kept]
