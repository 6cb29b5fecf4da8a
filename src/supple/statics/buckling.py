"""Linear buckling: factors of the loads at which the stiffness of a mechanism becomes singular.

(K + K_g[fixed] + λ K_g[scaled]) z = 0,   C z = 0                               (docs/theory/elastic-rest.md, 14d)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, require_known
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.limits import require_within
from supple.formulations.elastic_rest.body_coordinates import own_band
from supple.formulations.elastic_rest.elastic_rest import ElasticRest, elastic_rest
from supple.formulations.elastic_rest.joint_stiffness_under_load import under_loads
from supple.formulations.elastic_rest.loaded_statics import load_factors
from supple.formulations.elastic_rest.loads import FORCES, GRAVITY
from supple.kinematics.configuration import At, Configuration
from supple.modal_analysis.modes import require_elastic
from supple.results.result import Entries, Result, picture
from supple.results.table import Table
from supple.results.text import Text, posture_heading

Scale = Literal["all", "gravity", "forces"]

_SCALED = {"all": (GRAVITY, FORCES), "gravity": (GRAVITY,), "forces": (FORCES,)}
_FIRST, _WIDER = 4.0, 4.0  # bands of the condensed bodies, in units of the mechanism's own: the first, and each next
_AGREE = 1e-6  # of a load factor, from one band to the next


@dataclass(frozen=True, eq=False, repr=False)
class Buckling(Result):
    """Load factors at which a mechanism buckles, with its actuators locked.

    Attributes
    ----------
    configuration : Configuration
        Configuration analysed.
    load_factors : ndarray, shape (k,)
        Positive load factors in ascending order; the mechanism buckles under its loads times a factor.
    shapes : ndarray, shape (k, n)
        Buckling shapes in the coordinates z of `rest`, scaled to a largest displacement of 1 m.
    scale : {"all", "gravity", "forces"}
        Loads that the factors multiply; the others are constant.
    rest : ElasticRest
        Linear elastodynamics of the mechanism about the configuration.
    """

    configuration: Configuration
    load_factors: Array
    shapes: Array
    scale: str
    rest: ElasticRest

    def __len__(self) -> int:
        return len(self.load_factors)

    @property
    def scaled_loads(self) -> str:
        """Loads that the factors multiply, in words."""
        return {"all": "gravity and forces"}.get(self.scale, self.scale)

    def summary(self) -> str:
        """Return a one-line summary."""
        if not len(self):
            return f"of {self.configuration!r}: no buckling under {self.scaled_loads}, at any load factor"
        return f"of {self.configuration!r}: buckles at {self.load_factors[0]:.4g} times its {self.scaled_loads}"

    def table(self) -> Table:
        """Return the number and load factor of each shape."""
        return Table({"shape": np.arange(1, len(self) + 1), "load_factor": self.load_factors}, index="shape")

    def data(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return {"load_factors": self.load_factors, "scale": self.scale, "at": self.configuration.coordinates}

    def text(self) -> Text:
        """Return the load factors, and whether the mechanism buckles under its loads."""
        out = Text(posture_heading(self.configuration))
        if not len(self):
            out.line(f"no buckling under {self.scaled_loads}, at any load factor")
        for i, factor in enumerate(self.load_factors):
            out.line(f"{i + 1:3d}  load factor {factor:10.5g}")
        if len(self) and self.load_factors[0] < 1.0:
            out.line(f"The mechanism buckles before its {self.scaled_loads} reach their full value.")
        return out

    def map_entries(self) -> Entries:
        """Return the load factors as the numbers of a map."""
        names = tuple(f"load factor {i + 1}" for i in range(len(self)))
        return Entries("load factor", names, ("1",) * len(self), self.load_factors)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays, with the displacements of the nodes of every body in its axes, `displacements BODY`."""
        moved = {f"displacements {body.name}": self.displacements(body.name) for body in self.rest.bodies}
        return {"theta": self.configuration.theta, **self.table().arrays(), **moved}

    def displacements(self, body: str) -> Array:
        """Return the displacements of all degrees of freedom of a body's nodes for each shape.

        Parameters
        ----------
        body : str
            Name of the body.

        Returns
        -------
        ndarray, shape (k, degrees)
            Displacements in the axes of the body.
        """
        require_arguments(Buckling.displacements, locals())
        found = self.rest.bodies[self.rest.numbering.body_index(body)]
        return self.shapes[:, found.start : found.stop] @ found.shapes.T

    def plot(self, **options: Any) -> Any:
        """Draw the shapes with matplotlib and return the panels; see `buckling_sketch` for the options."""
        return picture("statics.plot.buckling_sketch")(self, **options)


def buckling(mechanism: Mechanism, at: At | Configuration = None, *, scale: Scale = "all", count: int = 4) -> Buckling:
    """Compute load factors and shapes of linear buckling of the undeformed mechanism, actuators locked.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism with elastic parts.
    at : str, mapping, array_like or Configuration, optional
        One configuration θ, as in `assemble`. Default: rest.
    scale : {"all", "gravity", "forces"}, optional
        Loads that the factors multiply. Default: "all". The others, and the pretension of springs, are constant.
    count : int, optional
        Number of load factors, the lowest ones. Default: 4.

    Returns
    -------
    Buckling
        Load factors λ > 0 and shapes.

    Raises
    ------
    InputError
        If `scale` or `count` is invalid, more than one configuration is given, or nothing in the mechanism is elastic.

    See Also
    --------
    deflection : Static deflection, with ``large=True`` for loads that deform the mechanism before it buckles.
    small_motions : Vibrations about a state, such as a deflected one.

    Notes
    -----
    The load factors satisfy (K + K_g[fixed] + λ K_g[scaled]) z = 0 with C z = 0, equation 14d of
    docs/theory/elastic-rest.md. K_g is the geometric stiffness that `modes`, `frf`, `linearize`, `local` and `reduce`
    use: that of internal forces in the undeformed shape. For loads that deform the mechanism before it buckles, follow
    `deflection(large=True)` and `small_motions` while the load grows.

    Examples
    --------
    >>> import supple
    >>> found = supple.buckling(supple.load("ralf"), count=1)
    >>> found.load_factors.shape
    (1,)
    """
    require_arguments(buckling, locals())
    require_known("choice", scale, get_args(Scale), part="scale")
    if count < 1:
        raise InputError(f"count must be at least 1 (got {count})", hint="request at least one load factor")
    require_within("modes", count, part="count")
    mechanism, configuration = under_loads(mechanism, at)
    if configuration.X.ndim != 2:
        raise InputError(
            "buckling accepts one configuration, not several", part="at", hint="call it for each configuration"
        )
    band, before = _FIRST * own_band(mechanism), np.zeros(0)
    while True:
        rest = elastic_rest(mechanism, band)
        require_elastic(rest)
        factors, shapes = load_factors(rest, configuration, _SCALED[scale], count)
        agree = len(factors) == len(before) and np.allclose(factors, before, rtol=_AGREE, atol=0.0)
        if rest.whole or agree:
            return Buckling(configuration, factors, shapes, scale, rest)
        band, before = _WIDER * rest.band, factors
