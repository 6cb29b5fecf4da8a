"""What a study found: settings and measures of all plants, their distribution, and what it depends on."""

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
    """N plants.

    settings : {what differs: (N,)}
    measures : {measure: (N,)}, nan of runs that did not come to their end
    nominal  : {measure: its value on the nominal plant}
    reasons  : why a run ended early, "" of those that did not
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
        """(N,): those that did not come to their end."""
        return np.array([bool(reason) for reason in self.reasons])

    def _of(self, measure: str) -> Array:
        require_known("measure", measure, self.measures, part="study")
        return self.measures[measure]

    def quantiles(self, measure: str, shares: Sequence[float] = (0.05, 0.5, 0.95)) -> Array:
        """Values below which a share of all plants lies; a failed run is larger than any number."""
        values = np.where(self.failed, np.inf, self._of(measure))
        return np.quantile(values, shares, method="inverted_cdf")

    def worst(self, measure: str) -> dict[str, float]:
        """The setting of the plant with the largest measure, a failed one first."""
        n = int(np.where(self.failed, np.inf, self._of(measure)).argmax())
        return {name: float(values[n]) for name, values in self.settings.items()}

    def dependence(self, measure: str) -> dict[str, float]:
        """Spearman's rank correlation of a measure with each quantity, -1 to 1, over the runs that did not fail."""
        kept = ~self.failed
        values = self._of(measure)[kept]
        found = {}
        for name, given in self.settings.items():
            pair = rankdata(given[kept]), rankdata(values)
            still = any(np.ptp(item) == 0.0 for item in pair) if kept.any() else True
            found[name] = 0.0 if still else float(np.corrcoef(*pair)[0, 1])
        return found

    def summary(self) -> str:
        lost = int(self.failed.sum())
        parts = [f"{len(self)} plants, {lost} of them without success" if lost else f"{len(self)} plants, all run"]
        for name in self.measures:
            low, middle, high = self.quantiles(name)
            parts.append(f"{name} {middle:.4g} ({low:.4g} to {high:.4g}; nominal {self.nominal[name]:.4g})")
        return "; ".join(parts)

    def table(self) -> Table:
        """A row a plant: its setting, its measures, and why its run ended early."""
        columns: dict[str, NDArray[Any]] = {**self.settings, **self.measures}
        return Table({**columns, "ended": np.array(self.reasons, dtype=str)})

    def plot(self, *, axes: Any = None) -> Any:
        """Every measure's distribution, and the measure over what it depends on most (matplotlib); the figure."""
        return picture("control.study.plot.study_plot")(self, axes)
