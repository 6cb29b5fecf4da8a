"""Coefficients of a mechanism some of whose θ are held, from those of the whole mechanism.

With θ = (θ_v, θ_h), θ_h constant, the equations of the coordinates that vary are their own rows with θ̇_h = 0:
M_vv, Γ_vvv, p_v, B_v and so on. What acts along θ_h is borne by whatever holds it. A row of them is a selection from
the row of the whole mechanism.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.parameterization.layout import Layout

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

_AXES = {  # e: η, t: θ, i: inputs; what is not named is kept whole
    "M": "ee", "dM": "eee", "christoffel": "eee", "K": "ee", "force": "e", "dforce": "ee", "damping": "ee",
    "input_map": "ei", "friction_map": ".e", "dK": "eet", "ddamping": "eet", "dinput_map": "eit",
    "dfriction_map": ".et", "potential": ".", "told": ".",
}  # fmt: skip


def held_layout(layout: Layout, varied: Integers, inputs: Integers) -> tuple[Layout, Integers]:
    """Where coefficients stand in a row of the coordinates that vary, and which entries of a whole row these are.

    varied : which of θ vary; inputs : which inputs are left
    """
    n, s = layout.shapes["M"][0], layout.shapes["dinput_map"][-1]
    kept = {"e": np.concatenate([varied, np.arange(s, n)]), "t": varied, "i": inputs}
    shapes, places = {}, []
    for name, whole in layout.split(np.arange(layout.width, dtype=float)).items():
        part = whole.astype(np.int64)
        if name == "outputs":
            part = part[:, _of_output(s, n, varied)]
        else:
            for axis, kind in enumerate(_AXES[name]):
                part = part if kind == "." else np.take(part, kept[kind], axis=axis)
        shapes[name] = part.shape
        places.append(part.ravel())
    return Layout(shapes), np.concatenate(places)


def _of_output(s: int, n: int, varied: Integers) -> Integers:
    """Of value, ∂/∂θ (s), ∂²/∂θ² (s, s), Ψ_o (n - s), ∂Ψ_o/∂θ (n - s, s), those that are left."""
    place = np.arange(1 + s + s * s + (n - s) * (1 + s))
    bent, modes = 1 + s, 1 + s + s * s
    slopes = place[modes + n - s :].reshape(n - s, s)
    return np.concatenate([
        place[:1], place[1:bent][varied], place[bent:modes].reshape(s, s)[np.ix_(varied, varied)].ravel(),
        place[modes : modes + n - s], slopes[:, varied].ravel(),
    ])  # fmt: skip
