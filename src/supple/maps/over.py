"""Ask one question at every configuration of a grid, with a bar that shows the progress."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, NumericalError, SuppleWarning
from supple.diagnostics.arguments import require_arguments, value_text
from supple.diagnostics.errors import values_text
from supple.distribution.workplace import workplace
from supple.formats.mechanism_text import Travelling
from supple.kinematics.configuration import Configuration
from supple.kinematics.rest import rest
from supple.maps.grid import Grid, model_grid, posture_grid
from supple.maps.map import Map
from supple.reduced.model import ReducedModel
from supple.results.result import Entries, Result

_TOGETHER = 64  # configurations in a batch, and between two steps of the progress bar


def over(
    subject: Mechanism | ReducedModel,
    grid: Mapping[str, ArrayLike | str],
    question: Callable[..., Any],
    *,
    at: Any = None,
    units: str | Mapping[str, str] = "",
    progress: bool | None = None,
    cluster: Any = None,
    **options: Any,
) -> Map:
    """Ask a question with a short answer at every configuration of a grid.

    Parameters
    ----------
    subject : Mechanism or ReducedModel
    grid : mapping
        Coordinate, or component of a place of a mechanism (`tool.x`) -> values (rad or m), or one value for what stays.
    question : callable
        Called as ``question(subject, at=configuration, **options)``, where the configuration is a `Configuration` of a
        mechanism, or ``{coordinate: value}`` of a model. It returns a number, a few numbers, ``{name: number}``, or a
        result that comes down to a few numbers: of `modes`, `small_motions`, `buckling`, `compliance`, `deflection`,
        `linearize`, `frf` (largest magnitudes), `control.margins`.
    at : configuration, optional
        Where the coordinates that are not in the grid stay. Needed for those of a model.
    units : str or mapping
        Units of plain numbers that the question returns, for all of them or by name.
    progress : bool, optional
        Show a progress bar on standard error. Default: where standard error is a terminal.
    cluster : optional
        A cluster of dask.distributed, as for `reduce`.
    **options
        Passed on to the question.

    Returns
    -------
    Map
        Values (n₁, n₂, ..., k) over the grid. They are nan where the mechanism cannot be assembled, a place is out of
        reach, or the question does not converge; the last is a warning, and an error where it holds everywhere.

    Examples
    --------
    >>> import supple
    >>> arm = supple.load("examples/ralf/mechanism.yaml")
    >>> found = supple.over(arm, {"lift": [0.9, 1.0, 1.1]}, lambda mechanism, at: at.singularity)
    >>> found.values.shape
    (3, 1)
    """
    require_arguments(over, locals())
    batches = _takes_batches(question)
    if isinstance(subject, ReducedModel):
        return answers(model_grid(subject, grid, at), subject, question, options, units=units, progress=progress,
                       cluster=cluster)  # fmt: skip
    return answers(posture_grid(subject, grid, at), subject, question, options, units=units, batches=batches,
                   progress=progress, cluster=cluster)  # fmt: skip


def _takes_batches(question: Callable[..., Any]) -> bool:
    """Whether a question answers for many configurations in one call."""
    from supple.modal_analysis.modes import modes
    from supple.statics.compliance import compliance

    return question in (modes, compliance)


def answers(
    grid: Grid,
    subject: Mechanism | ReducedModel,
    question: Callable[..., Any],
    options: Mapping[str, Any],
    *,
    units: str | Mapping[str, str] = "",
    batches: bool = False,
    progress: bool | None = None,
    cluster: Any = None,
) -> Map:
    """The map of a question over a grid that is known; batches : whether it answers for many configurations at once."""
    kept = np.flatnonzero(grid.assembled.ravel())
    described = Travelling(subject) if isinstance(subject, Mechanism) else subject
    ask = _Ask(described, question, dict(options), units, batches)
    parts: list[tuple[NDArray[np.int64], Entries]] = []
    lost: list[int] = []
    with ProgressBar(len(kept), "configurations", shown=progress) as bar, workplace(cluster=cluster) as place:
        for rows, found in place.results(ask, *grid.rows(kept), together=_TOGETHER if batches else 1):
            numbers = kept[rows]
            parts += [(numbers[own], entries) for own, entries in found]
            known = np.concatenate([own for own, _ in found]) if found else np.zeros(0, int)
            lost += np.delete(numbers, known).tolist()
            bar.advance(len(numbers))
    _warn_of_lost(grid, question, np.array(sorted(lost), int), len(kept))
    longest = max((entries for _, entries in parts), key=lambda entries: len(entries.names))
    values = np.full((grid.assembled.size, len(longest.names)), np.nan)
    for numbers, entries in parts:
        if entries.names != longest.names[: len(entries.names)]:
            raise InputError(
                f"the question gives {', '.join(entries.names)} at one configuration, and "
                f"{', '.join(longest.names)} at another",
                part="map", hint="return the same numbers everywhere",
            )  # fmt: skip
        values[numbers, : len(entries.names)] = entries.values
    return Map(grid, values.reshape(*grid.shape, -1), longest.names, longest.units, longest.quantity, longest.each)


@dataclass(frozen=True, eq=False)
class _Ask:
    """The work of a map, as it travels to other processes: answers at configurations that are assembled already."""

    described: Travelling | ReducedModel
    question: Callable[..., Any]
    options: dict[str, Any]
    units: str | Mapping[str, str]
    batches: bool

    def __call__(self, *rows: Array) -> list[tuple[NDArray[np.int64], Entries]]:
        """(numbers of the rows, entries (n, k) there); rows where the question does not converge are left out."""
        count = len(rows[0])
        if self.batches or count == 1:
            try:
                return [(np.arange(count), self._entries(rows))]
            except NumericalError:  # at one of them: the others are asked by themselves
                if count == 1:
                    return []
        found = []
        for n in range(count):
            found += [(own + n, entries) for own, entries in self(*(item[n : n + 1] for item in rows))]
        return found

    def _entries(self, rows: tuple[Array, ...]) -> Entries:
        subject: Any
        here: Any
        if isinstance(self.described, Travelling):
            subject = self.described.mechanism
            theta, X, w, reached = rows
            here = Configuration(rest(subject), theta, X, w, reached)
            here = here if self.batches else next(here.each())
        else:
            subject = self.described
            here = dict(zip(subject.layout.coordinates, rows[0][0].tolist(), strict=False))
        found = entries_of(self.question(subject, at=here, **self.options), self.units)
        return found._replace(values=found.values.reshape(len(rows[0]), -1))


def entries_of(found: Any, units: str | Mapping[str, str] = "") -> Entries:
    """The numbers of an answer: of a result its own, else those that are given."""
    if isinstance(found, Entries):
        return found
    if isinstance(found, Result):
        return found.map_entries()
    if isinstance(found, Mapping):
        names, values = tuple(str(name) for name in found), np.array(list(found.values()), dtype=float)
    else:
        try:
            values = np.asarray(found, dtype=float).ravel()
        except (TypeError, ValueError):
            raise InputError(f"the question returns {value_text(found)}", part="map", hint="return numbers") from None
        names = ("value",) if np.ndim(found) == 0 else tuple(f"value {i + 1}" for i in range(len(values)))
    if values.ndim != 1:
        raise InputError("the question returns arrays under its names", part="map", hint="return a number for each")
    own = tuple(units if isinstance(units, str) else units.get(name, "") for name in names)
    return Entries("value", names, own, values)


def _warn_of_lost(grid: Grid, question: Callable[..., Any], lost: NDArray[np.int64], count: int) -> None:
    """Configurations that exist, and where the question did not converge."""
    if not len(lost):
        return
    what = getattr(question, "__name__", "question").replace("<lambda>", "question")
    part = f'mechanism "{grid.name}"'
    if len(lost) == count:
        raise NumericalError(
            f"its {what} did not converge at any of {count} postures", part=part,
            hint="ask for fewer modes, or look for parts whose stiffness differs by more than 1e12",
        )  # fmt: skip
    theta = grid.theta.reshape(-1, len(grid.theta_names))[lost[0]]
    where = values_text(grid.theta_names, theta)
    warnings.warn(
        f"{part}: {what} did not converge at {len(lost)} of {count} postures, the first {where}; they are marked (nan)",
        SuppleWarning,
        stacklevel=4,
    )


class ProgressBar(AbstractContextManager["ProgressBar"]):
    """A bar on standard error while a map is computed, where somebody watches.

    It shows how many of the total are done and the time that is left, and is gone when it ends.

    shown : True or False; left out, where standard error is a terminal
    """

    def __init__(self, total: int, what: str, *, shown: bool | None = None):
        self._progress: Progress | None = None
        if sys.stderr.isatty() if shown is None else shown:
            words = TextColumn(f"{{task.completed:.0f}} of {{task.total:.0f}} {what}", style="dim")
            columns = (words, BarColumn(), TimeRemainingColumn())
            console = Console(stderr=True, force_terminal=True if shown else None)
            self._progress = Progress(*columns, console=console, auto_refresh=False, transient=True)
            self._task = self._progress.add_task(what, total=total)

    def __enter__(self) -> Self:
        if self._progress is not None:
            self._progress.start()
        return self

    def advance(self, count: int) -> None:
        """So many more are done."""
        if self._progress is not None:
            self._progress.update(self._task, advance=count, refresh=True)

    def __exit__(self, *error: object) -> None:
        if self._progress is not None:
            self._progress.stop()
