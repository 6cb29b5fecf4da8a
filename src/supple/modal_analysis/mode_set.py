"""Modes of vibration of a mechanism, at one configuration or many, and how alike two sets of shapes are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.diagnostics import InputError, nearest
from supple.diagnostics.arguments import require_arguments
from supple.formulations.coefficients import units_of
from supple.formulations.elastic_rest.elastic_rest import ElasticRest, HeldRows
from supple.kinematics.configuration import Configuration
from supple.results.result import Entries, Result, picture
from supple.results.table import Table, batch_table
from supple.results.text import Text, posture_heading

if TYPE_CHECKING:
    from supple.modal_analysis.mode_energy import ModeEnergy
    from supple.modal_analysis.mode_slopes import ModeSlopes


@dataclass(frozen=True, eq=False, repr=False)
class ModeSet(Result):
    """Natural frequencies and shapes. In a batch every array has a leading axis (N, ...).

    frequencies_hz : (k,) rising
    shapes         : (k, n) in the coordinates z of `rest`, of unit modal mass
    slopes         : by parameter of the file that was asked for, how all of this changes with it; of a batch one each
    """

    configuration: Configuration
    frequencies_hz: Array
    shapes: Array
    rest: ElasticRest
    held: HeldRows
    slopes: Mapping[str, tuple[ModeSlopes, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.frequencies_hz.shape[-1]

    def summary(self) -> str:
        found = self.frequencies_hz.reshape(-1, len(self))
        low, high = (f"{value:.4g}" for value in (found.min(initial=np.inf), found.max(initial=0.0)))
        return f"of {self.configuration!r}: {len(self)} modes, {low} to {high} Hz"

    def table(self) -> Table:
        """Number, frequency and words of each mode; of a batch the coordinates and `mode 1`, ... in Hz."""
        if self.frequencies_hz.ndim > 1:
            modes = {f"mode {i + 1}": values for i, values in enumerate(self.frequencies_hz.T)}
            return batch_table(
                self.configuration.coordinates, modes, "Hz", units_of(self.configuration.rest).coordinates
            )
        columns = {
            "mode": np.arange(1, len(self) + 1), "frequency_hz": self.frequencies_hz,
            **{f"frequency_hz per {name}": values for name, values in self.frequency_slopes.items()},
            "description": np.array(self.descriptions, dtype=str),
        }  # fmt: skip
        return Table(columns, {"frequency_hz": "Hz"}, index="mode")

    def data(self) -> dict[str, Any]:
        """What `--json` prints: frequencies, words and energies of the modes at one configuration."""
        return {
            "frequencies_hz": self.frequencies_hz,
            "descriptions": self.descriptions,
            "at": self.configuration.coordinates,
            "energy": self.energy.data(),
        }

    def text(self) -> Text:
        """Frequency and words of each mode, with slopes where they were asked for; of a batch one line."""
        if self.frequencies_hz.ndim > 1:
            return super().text()
        out = Text(posture_heading(self.configuration, free=not self.locked))
        for i, (hertz, words) in enumerate(zip(self.frequencies_hz, self.descriptions, strict=True)):
            slopes = "".join(
                f"{'-' if values[i] != values[i] else f'{values[i]:.4g}':>12} Hz per {name}"
                for name, values in self.frequency_slopes.items()
            )
            shown = "0" if self.energy.free[i] else f"{hertz:.5g}"
            out.line(f"{i + 1:4} {shown:>10} Hz{slopes}  {words}")
        return out

    def map_entries(self) -> Entries:
        """The natural frequencies, `mode 1`, ..."""
        names = tuple(f"mode {i + 1}" for i in range(len(self)))
        return Entries("frequency", names, ("Hz",) * len(self), self.frequencies_hz)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """With the displacements of the nodes of every body, `displacements BODY`, in its axes."""
        moved = {f"displacements {body.name}": self.displacements(body.name) for body in self.rest.bodies}
        return {"theta": self.configuration.theta, **self.table().arrays(), **moved}

    @property
    def locked(self) -> bool:
        """Whether θ is held in place; otherwise it vibrates along, against springs where there are any."""
        numbering = self.rest.numbering
        theta = range(numbering.constraints, numbering.constraints + len(numbering.coordinates))
        return set(theta) <= set(self.held.rows[self.held.compliance == 0.0].tolist())

    def displacements(self, body: str) -> Array:
        """Of all degrees of freedom of a body's nodes, in its axes, for each mode: (..., k, degrees)."""
        require_arguments(ModeSet.displacements, locals())
        numbering = self.rest.numbering
        found = self.rest.bodies[numbering.body_index(body)]
        return self.shapes[..., found.start : found.stop] @ found.shapes.T

    @cached_property
    def eigenvalue_slopes(self) -> dict[str, Array]:
        """∂ω²/∂μ (k,) along each parameter that was asked for (`along`), θ held: 1/s² for each of its units. Modes of
        one frequency have those of the branches that part there, rising."""
        found = {name: np.array([item.squares for item in each]) for name, each in self.slopes.items()}
        return {name: values.reshape(self.frequencies_hz.shape) for name, values in found.items()}

    @property
    def frequency_slopes(self) -> dict[str, Array]:
        """∂f/∂μ (k,) likewise, Hz for each unit of the parameter; no number where a frequency is 0, to rounding."""
        hertz = np.abs(self.frequencies_hz)
        known = np.where(hertz > 1e-5 * hertz.max(axis=-1, keepdims=True), hertz, np.nan)
        return {name: values / (8.0 * np.pi**2 * known) for name, values in self.eigenvalue_slopes.items()}

    def displacement_slopes(self, body: str, name: str) -> Array:
        """∂/∂μ of `displacements` along a parameter that was asked for, (..., k, degrees): modes of unit modal mass,
        those of one frequency without turning among one another. The mesh goes along where lengths change."""
        if name not in self.slopes:
            raise InputError(f'nothing is known along "{name}"', hint=nearest(name, self.slopes))
        number = self.rest.numbering.body_index(body)
        found = []
        for item in self.slopes[name]:
            own = item.rest.bodies[number]
            found.append(item.shapes[:, own.start : own.stop] @ own.shapes.T)
        return np.array(found).reshape(*self.frequencies_hz.shape, -1)

    @cached_property
    def energy(self) -> ModeEnergy:
        """Where the energy of each mode is: in which bodies and joints, and along what."""
        from supple.modal_analysis.mode_energy import mode_energy

        return mode_energy(self)

    @property
    def descriptions(self) -> list[str]:
        """Each mode in words: which bodies move, in or out of the plane, where its elastic energy is."""
        return self.energy.words()

    def mac(self, other: ModeSet) -> Array:
        """Modal assurance criterion (..., k, k') |φᵀM φ'|² / (φᵀMφ · φ'ᵀMφ') in the axes of the bodies."""
        require_arguments(ModeSet.mac, locals())
        return mac(self.shapes, other.shapes)

    def plot(self, **options: Any) -> Any:
        """Draw the shapes (matplotlib), see `mode_sketch`; returns the panels."""
        return picture("view.mode_sketch.mode_sketch")(self, **options)


def mac(first: ArrayLike, second: ArrayLike, mass: Array | None = None) -> Array:
    """Modal assurance criterion: how alike two sets of shapes are, (..., k, k').

    |φᴴ M φ'|² / (φᴴ M φ · φ'ᴴ M φ'), from 0 (nothing in common) to 1 (the same but for a factor)

    first, second : (..., k, n) and (..., k', n) shapes in the same coordinates, real or complex, of any length
    mass          : (n, n); the unit matrix if left out, as for the coordinates z of modes
    """
    a: NDArray[Any] = np.asarray(first)
    b: NDArray[Any] = np.asarray(second)
    if a.shape[-1] != b.shape[-1]:
        raise InputError(
            f"the shapes have {a.shape[-1]} and {b.shape[-1]} coordinates",
            part="mac",
            hint="take shapes in the same coordinates: of modes that were asked for with the same count",
        )
    weighted = b if mass is None else b @ mass
    own = a if mass is None else a @ mass
    shared = np.abs(a.conj() @ np.swapaxes(weighted, -1, -2)) ** 2
    lengths = [np.real(np.sum(left.conj() * right, axis=-1)) for left, right in ((a, own), (b, weighted))]
    return np.asarray(shared / (lengths[0][..., :, None] * lengths[1][..., None, :]))
