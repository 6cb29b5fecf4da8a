"""Modes of vibration of a mechanism, at one configuration or many, and the modal assurance criterion."""

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
    """Natural frequencies and mode shapes, returned by `modes`. For a batch every array has a leading axis (N, ...).

    Attributes
    ----------
    configuration : Configuration
        Posture of the modes.
    frequencies_hz : ndarray, shape (k,)
        Natural frequencies, ascending, Hz; negative for unstable motions.
    shapes : ndarray, shape (k, n)
        Mode shapes of unit modal mass, in the coordinates z of `rest`.
    rest : ElasticRest
        Elastic bodies with their coordinates z.
    held : HeldRows
        Constrained rows.
    slopes : mapping of str to tuple of ModeSlopes
        Slopes along the parameters given in `along`, one for each configuration of a batch.

    See Also
    --------
    modes : Compute natural frequencies and mode shapes.
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
        """Return a one-line summary."""
        found = self.frequencies_hz.reshape(-1, len(self))
        low, high = (f"{value:.4g}" for value in (found.min(initial=np.inf), found.max(initial=0.0)))
        return f"of {self.configuration!r}: {len(self)} modes, {low} to {high} Hz"

    def table(self) -> Table:
        """Return a table of modes: number, frequency and description; for a batch, coordinates and frequencies."""
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
        """Return the data that `--json` prints: frequencies, descriptions and energies at one configuration."""
        return {
            "frequencies_hz": self.frequencies_hz,
            "descriptions": self.descriptions,
            "at": self.configuration.coordinates,
            "energy": self.energy.data(),
        }

    def text(self) -> Text:
        """Return a report: frequency, description and slopes of each mode; one line for a batch."""
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
        """Return the natural frequencies, `mode 1`, ..., for maps."""
        names = tuple(f"mode {i + 1}" for i in range(len(self)))
        return Entries("frequency", names, ("Hz",) * len(self), self.frequencies_hz)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the table and the displacements of the nodes of every body in its axes, `displacements BODY`."""
        moved = {f"displacements {body.name}": self.displacements(body.name) for body in self.rest.bodies}
        return {"theta": self.configuration.theta, **self.table().arrays(), **moved}

    @property
    def locked(self) -> bool:
        """Whether the coordinates θ are locked; otherwise they take part in the vibration."""
        numbering = self.rest.numbering
        theta = range(numbering.constraints, numbering.constraints + len(numbering.coordinates))
        return set(theta) <= set(self.held.rows[self.held.compliance == 0.0].tolist())

    def displacements(self, body: str) -> Array:
        """Return the displacements of a body in each mode.

        Parameters
        ----------
        body : str
            Name of the body.

        Returns
        -------
        ndarray, shape (..., k, degrees)
            Displacements of all degrees of freedom of the body's nodes, in its axes.
        """
        require_arguments(ModeSet.displacements, locals())
        numbering = self.rest.numbering
        found = self.rest.bodies[numbering.body_index(body)]
        return self.shapes[..., found.start : found.stop] @ found.shapes.T

    @cached_property
    def eigenvalue_slopes(self) -> dict[str, Array]:
        """Slopes of the squared frequencies ∂ω²/∂μ (k,) by parameter given in `along`, 1/s² per unit, at constant θ.

        Modes of one frequency have the slopes of the branches that part there, ascending.
        """
        found = {name: np.array([item.squares for item in each]) for name, each in self.slopes.items()}
        return {name: values.reshape(self.frequencies_hz.shape) for name, values in found.items()}

    @property
    def frequency_slopes(self) -> dict[str, Array]:
        """Slopes of the frequencies ∂f/∂μ (k,) by parameter, Hz per unit of the parameter; NaN for a frequency of 0."""
        hertz = np.abs(self.frequencies_hz)
        known = np.where(hertz > 1e-5 * hertz.max(axis=-1, keepdims=True), hertz, np.nan)
        return {name: values / (8.0 * np.pi**2 * known) for name, values in self.eigenvalue_slopes.items()}

    def displacement_slopes(self, body: str, name: str) -> Array:
        """Return the slopes of `displacements` along a parameter given in `along`.

        Parameters
        ----------
        body : str
            Name of the body.
        name : str
            Name of the parameter.

        Returns
        -------
        ndarray, shape (..., k, degrees)
            Slopes of the displacements in modes of unit modal mass. Shapes of equal frequency do not rotate among one
            another. The mesh moves with changing lengths.
        """
        if name not in self.slopes:
            raise InputError(f'no slopes along "{name}" were computed', hint=nearest(name, self.slopes))
        number = self.rest.numbering.body_index(body)
        found = []
        for item in self.slopes[name]:
            own = item.rest.bodies[number]
            found.append(item.shapes[:, own.start : own.stop] @ own.shapes.T)
        return np.array(found).reshape(*self.frequencies_hz.shape, -1)

    @cached_property
    def energy(self) -> ModeEnergy:
        """Distribution of the energy of each mode among bodies and joints, and along directions."""
        from supple.modal_analysis.mode_energy import mode_energy

        return mode_energy(self)

    @property
    def descriptions(self) -> list[str]:
        """Description of each mode: which bodies move, in or out of the plane, and which parts deform."""
        return self.energy.words()

    def mac(self, other: ModeSet) -> Array:
        """Return the modal assurance criterion with other modes.

        Parameters
        ----------
        other : ModeSet
            Modes of the same mechanism, computed with the same count.

        Returns
        -------
        ndarray, shape (..., k, k')
            |φᵀM φ'|² / (φᵀMφ · φ'ᵀMφ') in the axes of the bodies: 0 for orthogonal shapes, 1 for equal ones.
        """
        require_arguments(ModeSet.mac, locals())
        return mac(self.shapes, other.shapes)

    def plot(self, **options: Any) -> Any:
        """Draw the shapes with matplotlib and return the panels; for the options see `mode_sketch`."""
        return picture("view.mode_sketch.mode_sketch")(self, **options)


def mac(first: ArrayLike, second: ArrayLike, mass: Array | None = None) -> Array:
    """Compute the modal assurance criterion (MAC) between two sets of shapes.

    Parameters
    ----------
    first : array_like, shape (..., k, n)
        Shapes, real or complex, of any length.
    second : array_like, shape (..., k', n)
        Shapes in the same coordinates.
    mass : ndarray, shape (n, n), optional
        Mass matrix. Default: the unit matrix, as for the coordinates z of modes.

    Returns
    -------
    ndarray, shape (..., k, k')
        |φᴴ M φ'|² / (φᴴ M φ · φ'ᴴ M φ'): 0 for orthogonal shapes, 1 for shapes equal up to a factor.

    Raises
    ------
    InputError
        If the two sets have different numbers of coordinates.

    Examples
    --------
    >>> from supple.modal_analysis.mode_set import mac
    >>> mac([[1.0, 0.0]], [[2.0, 0.0], [1.0, 1.0]]).round(2)
    array([[1. , 0.5]])
    """
    a: NDArray[Any] = np.asarray(first)
    b: NDArray[Any] = np.asarray(second)
    if a.shape[-1] != b.shape[-1]:
        raise InputError(
            f"the shapes have {a.shape[-1]} and {b.shape[-1]} coordinates",
            part="mac",
            hint="use shapes in the same coordinates: modes with the same count",
        )
    weighted = b if mass is None else b @ mass
    own = a if mass is None else a @ mass
    shared = np.abs(a.conj() @ np.swapaxes(weighted, -1, -2)) ** 2
    lengths = [np.real(np.sum(left.conj() * right, axis=-1)) for left, right in ((a, own), (b, weighted))]
    return np.asarray(shared / (lengths[0][..., :, None] * lengths[1][..., None, :]))
