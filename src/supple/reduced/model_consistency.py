"""Whether the parts of a reduced model fit together."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from supple.approximation.piecewise.piecewise import Piecewise
from supple.diagnostics import InputError
from supple.reduced.layout import CoefficientLayout


def require_consistent_layout(name: str, layout: CoefficientLayout, fitted: Piecewise) -> None:
    """Every coefficient has its width, columns do not overlap, and the fit has as many."""

    def wrong(message: str) -> InputError:
        return InputError(message, part=f'model "{name}"', hint="the model is damaged; reduce again")

    widths = layout.widths
    if not 1 <= layout.theta <= layout.size or fitted.dimension != layout.theta:
        raise wrong(f"{fitted.dimension} fitted coordinates, {layout.theta} θ and {layout.size} η do not fit together")
    if fitted.outputs != layout.fitted:
        raise wrong(f"it has {fitted.outputs} fitted columns, not {layout.fitted}")
    for coefficient, (first, stop) in layout.columns.items():
        if coefficient not in widths:
            raise wrong(f'there is no coefficient "{coefficient}"')
        if stop - first != widths[coefficient] or first < 0:
            raise wrong(f"{coefficient} has {stop - first} columns, not {widths[coefficient]}")
    for coefficient, constant in layout.constants.items():
        if coefficient not in widths or coefficient in layout.columns:
            raise wrong(f'"{coefficient}" cannot be constant')
        if np.size(constant) != widths[coefficient]:
            raise wrong(f"{coefficient} has {np.size(constant)} constants, not {widths[coefficient]}")
    spans = sorted(layout.columns.values())
    if any(b > c for (_, b), (c, _) in pairwise(spans)):
        raise wrong("columns of its coefficients overlap")
    if "M" not in layout.columns and "M" not in layout.constants:
        raise wrong("it has no mass matrix")
    if layout.christoffel not in ("fitted", "from-mass") or layout.force not in ("fitted", "from-potential"):
        raise wrong(f'christoffel "{layout.christoffel}", force "{layout.force}" are not known')
    if layout.bent and (layout.christoffel != "from-mass" or "christoffel" in {**layout.columns, **layout.constants}):
        raise wrong("its Christoffel symbols are given twice")
    if layout.curved and not layout.bent:
        raise wrong("its inertia is curved in δ, but not sloped")
    if layout.force == "from-potential" and "potential" not in {**layout.columns, **layout.constants}:
        raise wrong("its force follows from a potential that is missing")
