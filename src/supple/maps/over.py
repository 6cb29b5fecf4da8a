"""Map of any analysis over a grid of configurations, with a progress bar."""

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

_TOGETHER = 64  # configurations in a batch, and between two updates of the progress bar


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
    """Evaluate an analysis at every configuration of a grid.

    Parameters
    ----------
    subject : Mechanism or ReducedModel
        Mechanism or model to analyse.
    grid : mapping of str to array_like or str
        Values (rad or m) of coordinates, or of components of a place such as `tool.x`, in every combination.

        A single number keeps that coordinate constant. The others have their values at `at`. Components of a place are
        for mechanisms.
    question : callable
        Analysis, called as ``question(subject, at=configuration, **options)``.

        The configuration is a `Configuration` of a mechanism, or ``{coordinate: value}`` of a model. The analysis
        returns a number, a few numbers, ``{name: number}``, or a result with few numbers: that of `modes`,
        `small_motions`, `buckling`, `compliance`, `deflection`, `linearize`, `frf` (largest magnitudes) or
        `control.margins`.
    at : str, mapping or array_like, optional
        Configuration of the coordinates that are not in the grid. Default: rest; required for a model.
    units : str or mapping of str to str, optional
        Units of plain numbers that the analysis returns, for all of them or by name. Default: none.
    progress : bool, optional
        Show a progress bar on standard error. Default: only in a terminal.
    cluster : optional
        Cluster of dask.distributed, as in `reduce`. Default: this computer.
    **options : Any
        Options that are passed to the analysis.

    Returns
    -------
    Map
        Values (n₁, n₂, ..., k) over the grid; nan where the mechanism cannot be assembled, a place is out of reach, or
        the analysis does not converge.

    Raises
    ------
    InputError
        If no configuration can be assembled, or the analysis returns something else than numbers.
    NumericalError
        If the analysis does not converge at any configuration.

    Warns
    -----
    SuppleWarning
        If the analysis does not converge at some configurations.

    See Also
    --------
    frequency_map : Map of natural frequencies.
    compliance_map : Map of static compliances.
    sweep : The same over values of parameters.

    Examples
    --------
    >>> import supple
    >>> arm = supple.load("ralf")
    >>> found = supple.over(arm, {"lift": [0.9, 1.0, 1.1]}, lambda mechanism, at: at.singularity)
    >>> found.values.shape
    (3, 1)
    """
    require_arguments(over, locals())
    batches = _takes_batches(question)
    if isinstance(subject, ReducedModel):
        return compute_map(model_grid(subject, grid, at), subject, question, options, units=units, progress=progress,
                       cluster=cluster)  # fmt: skip
    return compute_map(posture_grid(subject, grid, at), subject, question, options, units=units, batches=batches,
                   progress=progress, cluster=cluster)  # fmt: skip


def _takes_batches(question: Callable[..., Any]) -> bool:
    """Return True if an analysis accepts many configurations in one call."""
    from supple.modal_analysis.modes import modes
    from supple.statics.compliance import compliance

    return question in (modes, compliance)


def compute_map(
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
    """Return the map of an analysis over a grid; batches : whether it accepts many configurations in one call."""
    kept = np.flatnonzero(grid.assembled.ravel())
    described = Travelling(subject) if isinstance(subject, Mechanism) else subject
    ask = _MapWork(described, question, dict(options), units, batches)
    parts: list[tuple[NDArray[np.int64], Entries]] = []
    unconverged: list[int] = []
    with ProgressBar(len(kept), "configurations", shown=progress) as bar, workplace(cluster=cluster) as place:
        for rows, found in place.results(ask, *grid.rows(kept), together=_TOGETHER if batches else 1):
            numbers = kept[rows]
            parts += [(numbers[own], entries) for own, entries in found]
            known = np.concatenate([own for own, _ in found]) if found else np.zeros(0, int)
            unconverged += np.delete(numbers, known).tolist()
            bar.advance(len(numbers))
    _report_unconverged(grid, question, np.array(sorted(unconverged), int), len(kept))
    longest = max((entries for _, entries in parts), key=lambda entries: len(entries.names))
    values = np.full((grid.assembled.size, len(longest.names)), np.nan)
    for numbers, entries in parts:
        if entries.names != longest.names[: len(entries.names)]:
            raise InputError(
                f"the analysis returns {', '.join(entries.names)} at one configuration, but "
                f"{', '.join(longest.names)} at another",
                part="map", hint="return the same numbers everywhere",
            )  # fmt: skip
        values[numbers, : len(entries.names)] = entries.values
    return Map(grid, values.reshape(*grid.shape, -1), longest.names, longest.units, longest.quantity, longest.each)


@dataclass(frozen=True, eq=False)
class _MapWork:
    """Work of a map as it is sent to other processes: the analysis at configurations that are already assembled."""

    described: Travelling | ReducedModel
    question: Callable[..., Any]
    options: dict[str, Any]
    units: str | Mapping[str, str]
    batches: bool

    def __call__(self, *rows: Array) -> list[tuple[NDArray[np.int64], Entries]]:
        """Return (indices of the rows, entries (n, k) there); rows where the analysis does not converge are omitted."""
        count = len(rows[0])
        if self.batches or count == 1:
            try:
                return [(np.arange(count), self._entries(rows))]
            except NumericalError:  # at one of them: each is then computed by itself
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
    """Return the numbers of a result or of plain values."""
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
            raise InputError(f"the analysis returns {value_text(found)}", part="map", hint="return numbers") from None
        names = ("value",) if np.ndim(found) == 0 else tuple(f"value {i + 1}" for i in range(len(values)))
    if values.ndim != 1:
        raise InputError("the analysis returns a mapping to arrays", part="map", hint="return one number for each name")
    own = tuple(units if isinstance(units, str) else units.get(name, "") for name in names)
    return Entries("value", names, own, values)


def _report_unconverged(grid: Grid, question: Callable[..., Any], unconverged: NDArray[np.int64], count: int) -> None:
    """Warn of existing configurations at which the analysis did not converge; raise an error if these are all."""
    if not len(unconverged):
        return
    what = getattr(question, "__name__", "question").replace("<lambda>", "question")
    part = f'mechanism "{grid.name}"'
    if len(unconverged) == count:
        raise NumericalError(
            f"{what} did not converge at any of {count} postures", part=part,
            hint="request fewer modes, or look for parts whose stiffness differs by more than 1e12",
        )  # fmt: skip
    theta = grid.theta.reshape(-1, len(grid.theta_names))[unconverged[0]]
    where = values_text(grid.theta_names, theta)
    warnings.warn(
        f"{part}: {what} did not converge at {len(unconverged)} of {count} postures, the first {where}; their "
        "values are nan",
        SuppleWarning,
        stacklevel=4,
    )


class ProgressBar(AbstractContextManager["ProgressBar"]):
    """Progress bar on standard error while a map is computed.

    It shows the number of finished items and the remaining time, and disappears at the end.

    shown : True or False; None shows it only if standard error is a terminal
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
        """Add finished items."""
        if self._progress is not None:
            self._progress.update(self._task, advance=count, refresh=True)

    def __exit__(self, *error: object) -> None:
        if self._progress is not None:
            self._progress.stop()
