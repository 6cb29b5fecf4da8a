"""Small motions about the deformed mechanism, at rest or turning steadily (docs/theory/flexible-statics.md).

    M p̈ + (D + G) ṗ + K_t p + Jᵀλ = 0,   J p = C λ

about r(q₀) = 0: K_t holds elasticity, the stiffness of all forces at q₀ and that of inertia; G is gyroscopic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array, Complex
from supple.description.mechanism import Mechanism
from supple.description.rigid_parts import taken_as_rigid
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.formulations.absolute.tangent_modes import free_motions
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.modal_analysis.modes import require_count
from supple.reduced.named_values import in_order
from supple.results.picture import picture
from supple.results.result import Result
from supple.results.table import Table
from supple.results.text import Text, number, posture
from supple.statics.deformed_rest import DeformedRest, deformed_rest
from supple.statics.equilibrium import undeformed_equilibrium


@dataclass(frozen=True, eq=False, repr=False)
class SmallMotions(Result):
    """Free motions about a state, the slowest first.

    eigenvalues : (k,) s of p = φ exp(s t), 1/s; of a pair the one with a positive imaginary part
    shapes      : (k, frames, d) φ, displacements of every frame in its own axes
    rates       : θ̇ of the steady motion
    """

    eigenvalues: Complex
    shapes: Complex
    rates: Array
    found: DeformedRest

    def __len__(self) -> int:
        return len(self.eigenvalues)

    def summary(self) -> str:
        low, high = (f"{value:.4g}" for value in (self.frequencies_hz.min(), self.frequencies_hz.max()))
        moving = " in steady motion" if self.rates.any() else ""
        return f"of {self.configuration!r}{moving}: {len(self)} modes, {low} to {high} Hz"

    def table(self) -> Table:
        """Number, frequency and damping ratio of each mode."""
        numbers = np.arange(1, len(self) + 1)
        columns = {"mode": numbers, "frequency_hz": self.frequencies_hz, "damping_ratio": self.damping_ratios}
        return Table(columns, {"frequency_hz": "Hz", "damping_ratio": "1"}, index="mode")

    def data(self) -> dict[str, Any]:
        """What `--json` prints."""
        names = self.configuration.rest.numbering.coordinates
        return {
            "frequencies_hz": self.frequencies_hz,
            "damping_ratios": self.damping_ratios,
            "at": self.configuration.coordinates,
            "rates": dict(zip(names, self.rates.tolist(), strict=True)),
            "rigid": self.configuration.rigid,
        }

    def text(self) -> Text:
        """Frequency and damping ratio of each mode."""
        moving = " by steady motion" if self.rates.any() else ""
        out = Text(f"{posture(self.configuration)}, deformed{moving}")
        rows = [
            (str(i + 1), f"{hertz:.5g}", number(ratio))
            for i, (hertz, ratio) in enumerate(zip(self.frequencies_hz, self.damping_ratios, strict=True))
        ]
        out.table(("mode", "Hz", "damping ratio"), rows)
        return out

    def arrays(self) -> dict[str, NDArray[Any]]:
        """With the eigenvalues and shapes."""
        return {"theta": self.configuration.theta, **self.table().arrays(), "eigenvalues": self.eigenvalues,
                "shapes": self.shapes}  # fmt: skip

    def plot(self, *, axes: Any = None) -> Any:
        """Draw the eigenvalues in the complex plane (matplotlib); returns the panels."""
        return picture("linearization.plot.pole_plot")({"": self.eigenvalues}, axes=axes)

    @property
    def configuration(self) -> Configuration:
        """The deformed mechanism."""
        return self.found.configuration

    @property
    def frequencies_hz(self) -> Array:
        """|s| / 2π of each; 0 of a motion without stiffness."""
        return np.abs(self.eigenvalues) / (2.0 * np.pi)

    @property
    def damping_ratios(self) -> Array:
        """-Re s / |s|; below zero it grows."""
        size = np.abs(self.eigenvalues)
        return np.divide(-self.eigenvalues.real, size, out=np.zeros(len(size)), where=size > 0.0)


def small_motions(
    mechanism: Mechanism,
    at: At | Configuration = None,
    *,
    rates: Mapping[str, float] | ArrayLike | None = None,
    inputs: ArrayLike | None = None,
    count: int = 6,
    free_actuators: bool = False,
) -> SmallMotions:
    """The slowest free motions of the full equations about where loads, or steady motion, hold the mechanism.

    at             : θ, as in `assemble`
    rates          : θ̇ of a steady motion: coordinates are prescribed, bodies turn as if rigid and are bent by inertia.
                     Frequencies mean something where the mechanism turns as a whole
    inputs         : (actuators,) forces at rest; zero if left out
    free_actuators : θ is free, about the equilibrium close to `at`; otherwise coordinates are locked
    """
    require_arguments(small_motions, locals())
    require_count(count)
    here = at if isinstance(at, Configuration) else assemble(mechanism, at)
    if here.theta.ndim > 1:
        raise InputError("has more than one state", part="θ", hint="give one at a time")
    names = here.rest.numbering.coordinates
    v = np.zeros(len(names)) if rates is None else in_order("rates", rates, names)
    u = np.zeros(len(mechanism.actuators)) if inputs is None else in_order("inputs", inputs, tuple(mechanism.actuators))
    if free_actuators:
        if v.any():
            raise InputError("in steady motion they are prescribed", part="free_actuators", hint="leave one out")
        if here.deformed is None:
            here = undeformed_equilibrium(here, u)
    found = deformed_rest(here, u, () if free_actuators else None, rates=v)
    taken_as_rigid(mechanism, False, "give them as beams", names=found.problem.frames.rigid)
    motions = free_motions(found.settled.tangent, count)
    shapes = motions.shapes.T.reshape(len(motions.eigenvalues), *found.state.V.shape)
    return SmallMotions(motions.eigenvalues, shapes, v, found)
