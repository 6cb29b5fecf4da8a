"""Buckling: factors by which loads are multiplied until a mechanism no longer holds its shape.

(K + K_g[fixed] + λ K_g[scaled]) z = 0,   C z = 0                               (docs/theory/elastic-rest.md, 14d)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, nearest
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
    """Load factors at which a mechanism buckles, its actuators locked.

    load_factors : (k,) rising, above zero: the loads times a factor are those under which it buckles
    shapes       : (k, n) in the coordinates z of `rest`, the largest displacement of a part 1 m
    scale        : which loads are multiplied: "all", "gravity" or "forces"; the others stay as they are
    """

    configuration: Configuration
    load_factors: Array
    shapes: Array
    scale: str
    rest: ElasticRest

    def __len__(self) -> int:
        return len(self.load_factors)

    @property
    def scaled(self) -> str:
        """The loads that are multiplied, in words."""
        return {"all": "gravity and forces"}.get(self.scale, self.scale)

    def summary(self) -> str:
        if not len(self):
            return f"of {self.configuration!r}: {self.scaled} do not buckle it, whatever their size"
        return f"of {self.configuration!r}: buckles under {self.load_factors[0]:.4g} times its {self.scaled}"

    def table(self) -> Table:
        """Number and load factor of each shape."""
        return Table({"shape": np.arange(1, len(self) + 1), "load_factor": self.load_factors}, index="shape")

    def data(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {"load_factors": self.load_factors, "scale": self.scale, "at": self.configuration.coordinates}

    def text(self) -> Text:
        """The load factors, and whether it buckles under its loads."""
        out = Text(posture_heading(self.configuration))
        if not len(self):
            out.line(f"{self.scaled} do not buckle it, whatever their size")
        for i, factor in enumerate(self.load_factors):
            out.line(f"{i + 1:3d}  load factor {factor:10.5g}")
        if len(self) and self.load_factors[0] < 1.0:
            out.line(f"It buckles before its {self.scaled} act in full.")
        return out

    def map_entries(self) -> Entries:
        """The load factors."""
        names = tuple(f"load factor {i + 1}" for i in range(len(self)))
        return Entries("load factor", names, ("1",) * len(self), self.load_factors)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """With the displacements of the nodes of every body, `displacements BODY`, in its axes."""
        moved = {f"displacements {body.name}": self.displacements(body.name) for body in self.rest.bodies}
        return {"theta": self.configuration.theta, **self.table().arrays(), **moved}

    def displacements(self, body: str) -> Array:
        """Displacements of all degrees of freedom of a body's nodes, in its axes, for each shape: (k, degrees)."""
        require_arguments(Buckling.displacements, locals())
        found = self.rest.bodies[self.rest.numbering.body_index(body)]
        return self.shapes[:, found.start : found.stop] @ found.shapes.T

    def plot(self, **options: Any) -> Any:
        """Draw the shapes (matplotlib), see `buckling_sketch`; returns the panels."""
        return picture("statics.plot.buckling_sketch")(self, **options)


def buckling(mechanism: Mechanism, at: At | Configuration = None, *, scale: Scale = "all", count: int = 4) -> Buckling:
    """Compute load factors and shapes of buckling of the undeformed mechanism, its actuators locked.

    Parameters
    ----------
    mechanism : Mechanism
    at : Configuration, or anything `assemble` takes
        One configuration θ.
    scale : {"all", "gravity", "forces"}
        Loads that are multiplied. The others, and the pretension of springs, stay as they are.
    count : int
        Number of load factors, the lowest ones.

    Returns
    -------
    Buckling
        Load factors λ > 0 with (K + K_g[fixed] + λ K_g[scaled]) z = 0, C z = 0     [elastic-rest, eq. 14d], and shapes.

    K_g is the geometric stiffness that `modes`, `frf`, `linearize`, `local` and `reduce` use. It is that of internal
    forces in the undeformed shape: for loads that bend the mechanism before it buckles, follow `deflection(large=True)`
    and `small_motions` while the load grows.
    """
    require_arguments(buckling, locals())
    if scale not in _SCALED:
        raise InputError(f'"{scale}" is not a choice of loads', part="scale", hint=nearest(scale, get_args(Scale)))
    if count < 1:
        raise InputError(f"count must be at least 1 (got {count})", hint="ask for at least one load factor")
    require_within("modes", count, part="count")
    mechanism, configuration = under_loads(mechanism, at)
    if configuration.X.ndim != 2:
        raise InputError("load factors are at one configuration, not many", part="at", hint="ask for each by itself")
    band, before = _FIRST * own_band(mechanism), np.zeros(0)
    while True:
        rest = elastic_rest(mechanism, band)
        require_elastic(rest)
        factors, shapes = load_factors(rest, configuration, _SCALED[scale], count)
        agree = len(factors) == len(before) and np.allclose(factors, before, rtol=_AGREE, atol=0.0)
        if rest.whole or agree:
            return Buckling(configuration, factors, shapes, scale, rest)
        band, before = _WIDER * rest.band, factors
