"""The page of whatever can be looked at: a mechanism, a reduced model, runs in time, measured modes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formats.model_description import described
from supple.kinematics.configuration import At
from supple.reduced.model import ReducedModel
from supple.results.simulation import Simulation
from supple.view.page.load_choice import counts_loads
from supple.view.page.measured_modes import MeasuredModes, measured_section
from supple.view.page.page_data import page_data
from supple.view.page.playback import run_section
from supple.view.page.saved_run import Run, run_of

MOST_RUNS = 2


def whole_page(
    thing: Mechanism | ReducedModel | Simulation | Run,
    *,
    at: At = None,
    runs: Sequence[Simulation | Run] = (),
    test: MeasuredModes | None = None,
    preload: bool | None = None,
) -> dict[str, Any]:
    """What the page is given of it.

    thing : a run in time is drawn on the mechanism that ran
    at    : the posture to begin with; rest if left out
    runs  : up to two, played back over one another; test : measured modes, drawn at the points of the test
    preload : modes with or without the geometric stiffness of loads at rest; see `page_data`
    """
    given = [run_of(run) if isinstance(run, Simulation) else run for run in runs]
    if isinstance(thing, Simulation):
        thing = run_of(thing)
    if isinstance(thing, Run):
        given, thing = [thing, *given], thing.mechanism()
    if len(given) > MOST_RUNS:
        raise InputError(f"{len(given)} were given", part="runs", hint=f"up to {MOST_RUNS} are laid over one another")
    mechanism = described(thing) if isinstance(thing, ReducedModel) else thing
    sections: dict[str, Any] = {}
    if given:
        sections["runs"] = [run_section(run, mechanism) for run in given]
    if test is not None:
        sections["test"] = measured_section(test, mechanism, at, preload=counts_loads(thing, preload))
        if at is None:
            at = sections["test"]["coordinates"] or None
    return page_data(thing, at=at, preload=preload) | sections
