"""Result of `run_time_forms`: the forms of a model, their errors and costs, and the chosen one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.diagnostics.limits import in_bytes
from supple.reduced.model import ReducedModel
from supple.results.result import Result, picture
from supple.results.table import Table
from supple.results.text import Text
from supple.run_time.processor import processor_of


@dataclass(frozen=True)
class RunTimeForm:
    """A form of a model: a grid of boxes with the same terms in each.

    Attributes
    ----------
    name : str
        Grid and degree, such as "2 x 2 boxes, degree 5".
    boxes : tuple of int
        Number of boxes along each coordinate; empty for the model itself.
    degree : int or None
        Total degree of the polynomials; None for cubic splines and for the model itself.
    terms : int
        Number of terms in a box; terms that the tolerance does not need are left out.
    inverse, forward : int
        Multiply-adds of one call.
    memory : int
        Bytes of the tables that `inverse` and `forward` read.
    whole : int
        Bytes of all tables, with those of outputs.
    error : float
        Largest error against the mechanism over all coefficient families: stated if `checked`, otherwise a bound from
        the errors of the model and of the form.
    family : str
        Family with that error.
    jump : float
        Largest relative jump of Γ and forces where boxes meet.
    drift : float
        Change of the energy in a passive run, relative to the largest kinetic energy; nan if unknown.
    within : bool
        Whether the form is within the budgets.
    checked : bool
        Whether the form was compared with the mechanism.
    chosen : bool
        Whether it is the chosen form.
    """

    name: str
    boxes: tuple[int, ...]
    degree: int | None
    terms: int
    inverse: int
    forward: int
    memory: int
    whole: int
    error: float
    family: str
    jump: float
    drift: float
    within: bool
    checked: bool = False
    chosen: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class RunTimeForms(Result):
    """Forms of a reduced model for run time: the chosen one, and the trade-off.

    Attributes
    ----------
    model : ReducedModel
        The chosen form.
    forms : tuple of RunTimeForm
        The model itself, then all forms by rising number of operations.
    tolerance : float
        Largest error against the mechanism.
    memory, operations : float or None
        Budgets: bytes of tables, and multiply-adds of `inverse`.
    target : str
        Name of the processor.
    points : int
        Random points at which the chosen form was compared with the mechanism.
    visited : int
        Number of its boxes with at least one of these points.
    seconds : float
        Duration of the passive run, s; nan if the model does not conserve energy.
    """

    model: ReducedModel
    forms: tuple[RunTimeForm, ...]
    tolerance: float
    memory: float | None
    operations: int | None
    target: str
    points: int
    visited: int
    seconds: float

    @property
    def chosen(self) -> RunTimeForm:
        """The chosen form."""
        return next(form for form in self.forms if form.chosen)

    def summary(self) -> str:
        form = self.chosen
        return (
            f'of "{self.model.name}": {form.name}, {form.terms} terms, {form.inverse} multiply-adds, '
            f"{in_bytes(form.memory)}, error {form.error:.2g}"
        )

    def table(self) -> Table:
        """Return a table of the forms.

        Returns
        -------
        Table
            Operations, memory (bytes), errors, jumps and drift of each form.
        """
        forms = self.forms
        numbers = ("terms", "inverse", "forward", "memory", "whole", "error", "jump", "drift")
        columns: dict[str, Any] = {"form": np.array([form.name for form in forms])}
        columns |= {name: np.array([getattr(form, name) for form in forms], dtype=float) for name in numbers}
        columns["chosen"] = np.array([float(form.chosen) for form in forms])
        return Table(columns, {"memory": "bytes", "whole": "bytes"}, "form")

    def text(self) -> Text:
        out = Text(f"run-time forms of {self.model.name}, {self._budget()}")
        titles = ("form", "terms", "inverse", "forward", "memory", "error", "largest in", "jump", "drift", "")
        rows = []
        for form in self.forms:
            error = f"{'' if form.checked else '< '}{100.0 * form.error:.2g} %"
            note = "chosen" if form.chosen else "" if form.within else "over budget"
            note = note if form.error <= self.tolerance else "above the tolerance"
            rows.append((
                form.name, str(form.terms), str(form.inverse), str(form.forward), in_bytes(form.memory), error,
                form.family, _percent(form.jump), "" if np.isnan(form.drift) else f"{form.drift:.1g}", note,
            ))  # fmt: skip
        out.table(titles, rows)
        form, known = self.chosen, processor_of(self.target)
        out.line(
            f"chosen: {form.name}, with {in_bytes(form.memory)} of tables for inverse and forward dynamics, "
            f"{in_bytes(form.whole)} with those of outputs"
        )
        if known.cycles:
            out.line(f"estimated time of inverse: {known.cycles * form.inverse:.0f} cycles ({self.target})")
        boxes = int(np.prod(form.boxes))
        out.line(
            f"errors are relative to the mechanism: of the chosen form at {self.points} random points and at the peaks "
            f"found from them, in {self.visited} of {boxes} {'box' if boxes == 1 else 'boxes'}; of others, bounds (<)"
        )
        drift = f"; drift: change of the energy of the passive machine in {self.seconds:.2g} s, over its kinetic energy"
        drift = "" if np.isnan(self.seconds) else drift
        out.line(f"inverse, forward: multiply-adds; jump: of Γ and forces between boxes{drift}")
        return out

    def _budget(self) -> str:
        parts = [] if self.memory is None else [f"at most {in_bytes(self.memory)}"]
        parts += [] if self.operations is None else [f"at most {self.operations} multiply-adds"]
        return f"within {100.0 * self.tolerance:.3g} % of the mechanism, {' and '.join(parts)}, for {self.target}"

    def plot(self, **options: Any) -> Any:
        """Draw error and memory of the forms over their operations.

        Parameters
        ----------
        **options : Any
            Options of `supple.run_time.plot.trade_off_plot`.
        """
        return picture("run_time.plot.trade_off_plot")(self, **options)

    def data(self) -> dict[str, Any]:
        """Return the keys and values that `supple export --json` prints about the forms."""
        names = ("name", "boxes", "degree", "terms", "inverse", "forward", "memory", "whole", "error", "family", "jump",
                 "drift", "within", "checked", "chosen")  # fmt: skip
        rows = [{name: _plain(getattr(form, name)) for name in names} for form in self.forms]
        return {
            "forms": rows, "tolerance": self.tolerance, "memory": self.memory, "operations": self.operations,
            "target": self.target, "points": self.points, "error": self.model.error,
        }  # fmt: skip


def _plain(value: Any) -> Any:
    """Return a value as JSON data; nan becomes None."""
    if isinstance(value, float) and np.isnan(value):
        return None
    return list(value) if isinstance(value, tuple) else value


def _percent(share: float) -> str:
    return "" if np.isnan(share) else f"{100.0 * share:.2g} %"
