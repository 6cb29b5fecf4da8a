"""Measured responses before anything is fitted to them: matched to places, and refused where something is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from supple.cli.answer import Answer
    from supple.description.mechanism import Mechanism
    from supple.identification.updating.measurement import Measurement

Trust = Annotated[
    bool,
    typer.Option("--trust", help="Fit also responses that look wrong (units, signs, axes, posture), with a warning."),
]
_FEW = 3  # of a kind that are told one by one


def sound(answer: Answer, mechanism: Mechanism, item: Measurement, *, trust: bool) -> Measurement:
    """A measurement whose responses and shapes are those of places, and sound; what is doubtful is told."""
    from supple.identification.testing.check_measurement import check_measurement
    from supple.identification.testing.matching import match_channels, match_places
    from supple.kinematics.closure import assemble
    from supple.results.channel import channel

    if item.shapes is not None:
        given = [channel(one) if isinstance(one, str) else one for one in item.channels]
        item = replace(item, channels=match_places(given, assemble(mechanism, item.at)))
    if item.responses is None:
        return item

    matched = match_channels(item.responses, mechanism, item.at).responses
    found = check_measurement(matched if item.band is None else matched.select(band_hz=item.band), mechanism, item.at)
    if not trust:
        found.require_sound()
    kinds: dict[str, list[Any]] = {}
    for one in found.suspicions:
        kinds.setdefault(one.kind, []).append(one)
    for alike in kinds.values():
        for one in alike[:_FEW]:
            answer.warn(f"{item.label or 'responses'}: {one}")
        if len(alike) > _FEW:
            answer.warn(f"{item.label or 'responses'}: the same of {len(alike) - _FEW} more channels")
    still = {one.channel for one in found.suspicions if one.kind == "dead channel" and not one.certain}
    moving = [one.name for one in matched.responses if one.name not in still]
    return replace(item, responses=matched.select(moving) if still and moving else matched)
