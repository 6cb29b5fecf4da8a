"""Coefficients of a mechanism some of whose θ are held, from those of the whole mechanism.

With θ = (θ_v, θ_h), θ_h constant, the equations of the coordinates that vary are their own rows with θ̇_h = 0:
M_vv, Γ_vvv, p_v, B_v and so on. What acts along θ_h is borne by whatever holds it. A row of them is a selection from
the row of the whole mechanism.
"""

from __future__ import annotations

import numpy as np

from supple.array_types import Integers
from supple.equations.row import RowLayout

_AXES = {  # e: η, t: θ, i: inputs; what is not named is kept whole
    "M": "ee", "K": "ee", "damping": "ee", "christoffel": "eee", "potential": ".", "force": "e", "force_slope": "t.",
    "input_map": "ei", "outputs": ".", "rigid": ".t", "modes": "..", "friction_map": ".e", "stiffness_slope": "t..",
    "mass_gradient": "...", "mass_slope": "...", "mass_slope_gradient": "....",
    "mass_curvature": "tt..", "mass_curvature_gradient": ".....",
    "dM": "eee", "dforce_theta": "tt", "ddamping": "eet", "dinput_map": "eit", "bend": ".tt", "modes_slope": "..t",
    "dfriction_map": ".et", "efforts": "..", "defforts": "..t", "squares": ".", "overlap": ".", "places": ".",
}  # fmt: skip


def held_layout(layout: RowLayout, varied: Integers, inputs: Integers) -> tuple[RowLayout, Integers]:
    """Where coefficients stand in a row of the coordinates that vary, and which entries of a whole row these are.

    varied : which of θ vary; inputs : which inputs are left
    """
    n, s = layout.shapes["M"][0], layout.shapes["dforce_theta"][0]
    kept = {"e": np.concatenate([varied, np.arange(s, n)]), "t": varied, "i": inputs}
    shapes, places = {}, []
    for name, whole in layout.split(np.arange(layout.width, dtype=float)).items():
        part = whole.astype(np.int64)
        for axis, kind in enumerate(_AXES[name]):
            if kind != "." and part.shape[axis]:  # what a model does without has no entries to take
                part = np.take(part, kept[kind], axis=axis)
        shapes[name] = part.shape
        places.append(part.ravel())
    return RowLayout(shapes), np.concatenate(places)
