"""Result of a study: settings and measures of all plants, their distribution, and what it depends on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from supple.array_types import Array
from supple.diagnostics import require_known
from supple.results.result import Result, picture
from supple.results.table import Table


@dataclass(frozen=True, eq=False, repr=False)
class Study(Result):
    """Result of a controller on N plants.

    Attributes
    ----------
    settings : dict of str to ndarray of shape (N,)
        Values of the varied quantities.
    measures : dict of str to ndarray of shape (N,)
        Measures, nan for runs that ended early.
    nominal : dict of str to float
        Measures on the nominal plant.
    reasons : tuple of str
        Reasons why runs ended early, "" for the others.
    seed : int
        Random seed.
    """

    settings: dict[str, Array]
    measures: dict[str, Array]
    nominal: dict[str, float]
    reasons: tuple[str, ...]
    seed: int = 0

    def __len__(self) -> int:
        return len(self.reasons)

    @property
    def failed(self) -> NDArray[np.bool_]:
        """Whether each run ended early, (N,)."""
        return np.array([bool(reason) for reason in self.reasons])

    def _of(self, measure: str) -> Array:
        require_known("measure", measure, self.measures, part="study")
        return self.measures[measure]

    def quantiles(self, measure: str, shares: Sequence[float] = (0.05, 0.5, 0.95)) -> Array:
        """Return the values below which given shares of all plants lie; a failed run counts as infinite.

        Parameters
        ----------
        measure : str
            Name of the measure.
        shares : sequence of float, optional
            Shares between 0 and 1. Default: 0.05, 0.5 and 0.95.

        Returns
        -------
        ndarray
            Quantiles.
        """
        values = np.where(self.failed, np.inf, self._of(measure))
        return np.quantile(values, shares, method="inverted_cdf")

    def worst(self, measure: str) -> dict[str, float]:
        """Return the setting of the plant with the largest measure; failed ones are the largest."""
        n = int(np.where(self.failed, np.inf, self._of(measure)).argmax())
        return {name: float(values[n]) for name, values in self.settings.items()}

    def dependence(self, measure: str) -> dict[str, float]:
        """Return Spearman's rank correlation of a measure with each quantity, -1 to 1, over runs that did not fail."""
        kept = ~self.failed
        values = self._of(measure)[kept]
        found = {}
        for name, column in self.settings.items():
            pair = rankdata(column[kept]), rankdata(values)
            constant = any(np.ptp(item) == 0.0 for item in pair) if kept.any() else True
            found[name] = 0.0 if constant else float(np.corrcoef(*pair)[0, 1])
        return found

    def summary(self) -> str:
        failures = int(self.failed.sum())
        parts = [f"{len(self)} plants, {failures} of them failed" if failures else f"{len(self)} plants, none failed"]
        for name in self.measures:
            low, middle, high = self.quantiles(name)
            parts.append(f"{name} {middle:.4g} ({low:.4g} to {high:.4g}; nominal {self.nominal[name]:.4g})")
        return "; ".join(parts)

    def table(self) -> Table:
        """Return a table with a row for each plant: its setting, its measures, and the reason of an early end."""
        columns: dict[str, NDArray[Any]] = {**self.settings, **self.measures}
        return Table({**columns, "ended": np.array(self.reasons, dtype=str)})

    def plot(self, *, axes: Any = None) -> Any:
        """Draw the distribution of every measure, and the measure over its strongest dependence (matplotlib).

        Returns the figure.
        """
        return picture("control.study.plot.study_plot")(self, axes)
