"""Which coefficients of the equations are fitted, and what follows from the fit.

Two ways. *Structured*: M and the potential are fitted, to values and gradients; Γ is the Christoffel symbol of the
fitted M and the force minus the gradient of the fitted potential, so that the reduced model conserves energy exactly.
*Direct*: every coefficient is fitted by itself, to values alone, as in the papers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from supple.approximation.samples import Samples
from supple.description.mass_properties import mass_properties
from supple.description.mechanism import Mechanism
from supple.kinematics.rest import rest
from supple.parameterization.layout import Layout
from supple.reduced.layout import CoefficientLayout, packed, unpacked

Array = NDArray[np.float64]

ROUNDING = 1e-10  # of its own size: a coefficient that changes by less over the region does not change
FAMILIES = ("M", "christoffel", "force", "damping", "input_map", "outputs", "friction_map")


@dataclass(frozen=True)
class Columns:
    """How rows of local models become samples of the fitted function, and its values coefficients again.

    layout  : of the reduced model; rows : of the local model
    drifted : of each constant, the largest departure seen in any sample, of the constant's size
    """

    layout: CoefficientLayout
    rows: Layout
    structured: bool
    drifted: dict[str, float] = field(default_factory=dict)

    def samples(self, rows: Array, valid: NDArray[np.bool_]) -> Samples:
        """Values, gradients and families at each row."""
        parts = self.rows.split(rows)
        self._watch(parts, valid)
        values = np.hstack([_values(parts, name) for name in self.layout.columns])
        gradients = None
        if self.structured:
            gradients = np.concatenate([_gradient(parts, name) for name in self.layout.columns], axis=1)
        families = {name: _full(_values(parts, name), name, self.layout.size) for name in self.families}
        return Samples(values, gradients, families, valid)

    def derived(self, values: Array, gradients: Array) -> dict[str, Array]:
        """Families of a fit, from its values (N, t) and gradients (N, t, s)."""
        n, columns = self.layout.size, self.layout.columns
        found = {}
        for name in self.families:
            if name in columns:
                found[name] = _full(values[:, slice(*columns[name])], name, n)
            elif name == "christoffel":
                found[name] = _christoffel(np.swapaxes(gradients[:, slice(*columns["M"])], 1, 2), n)
            else:
                found[name] = -gradients[:, columns["potential"][0]]
        return found

    @property
    def families(self) -> tuple[str, ...]:
        """The families whose error counts; constants are known to rounding."""
        derived = {"christoffel": self.layout.christoffel == "from-mass", "force": self.layout.force != "fitted"}
        return tuple(name for name in FAMILIES if name in self.layout.columns or derived.get(name))

    def _watch(self, parts: Mapping[str, Array], valid: NDArray[np.bool_]) -> None:
        """Constants are constant as far as we looked; go on looking."""
        for name, constant in self.layout.constants.items():
            if name in ("K", "christoffel", "force", "potential") or not constant.size or not valid.any():
                continue
            size = float(np.abs(constant).max()) or 1.0
            seen = float(np.abs(_values(parts, name)[valid] - constant).max()) / size
            self.drifted[name] = max(self.drifted.get(name, 0.0), seen)


def choose_columns(
    mechanism: Mechanism, rows: Layout, probes: Array, widths: Array, *, structured: bool, fitted: tuple[str, ...] = ()
) -> Columns:
    """What to fit, judged by the rows at a few probes spread over the region.

    probes : (P, width) rows of local models; widths : (s,) of the region
    fitted : coefficients known to change, whatever the probes say
    """
    numbering = rest(mechanism).numbering
    names = numbering.coordinates
    parts = rows.split(probes)
    constants: dict[str, Array] = {"K": np.zeros(len(names) * (len(names) + 1) // 2)}
    modes = {"christoffel": "fitted", "force": "fitted"}
    chosen: list[str] = []

    def settle(name: str, *, still: bool) -> None:
        if still and name not in fitted:
            constants[name] = _constant(_values(parts, name))
        else:
            chosen.append(name)

    still_mass = bool((np.abs(parts["dM"]) * widths).max() <= ROUNDING * np.abs(parts["M"]).max())
    settle("M", still=still_mass)
    if "M" in constants:
        constants["christoffel"] = np.zeros(_values(parts, "christoffel").shape[1])
    elif structured:
        modes["christoffel"] = "from-mass"
    else:
        chosen.append("christoffel")

    level = bool((np.abs(parts["force"]) * widths).max() <= ROUNDING * _energy_scale(mechanism))
    if level:  # no forces but rounding, and a potential that does not change
        constants["force"] = np.zeros(len(names))
        constants["potential"] = parts["potential"][0]
    elif structured and conservative(mechanism):
        chosen.append("potential")
        modes["force"] = "from-potential"
    else:  # structured, the potential of some of the forces alone has no known gradient
        chosen += ["force"] if structured else ["force", "potential"]

    for name in ("damping", "input_map", "outputs", "friction_map"):
        values = _values(parts, name)
        if values.shape[1] or name != "friction_map":
            settle(name, still=_still(values))
    if not chosen:  # a function of nothing cannot be kept: M stands in
        chosen.append("M")
        del constants["M"]

    columns, first = {}, 0
    for name in chosen:
        columns[name] = (first, first + _values(parts, name).shape[1])
        first = columns[name][1]
    layout = CoefficientLayout(
        coordinates=names, theta=len(names), inputs=tuple(mechanism.actuators), outputs=_output_names(mechanism),
        columns=columns, constants=constants, dry_forces=_dry_forces(mechanism), christoffel=modes["christoffel"],
        force=modes["force"],
    )  # fmt: skip
    return Columns(layout, rows, structured)


def with_limits(columns: Columns, limits: dict[str, tuple[float, float]]) -> Columns:
    """The same, its layout knowing the limits of the coordinates."""
    return replace(columns, layout=replace(columns.layout, limits=limits))


def conservative(mechanism: Mechanism) -> bool:
    """Whether every applied force has a potential: none follows its body, and there are no moments."""
    placed = [force for force in mechanism.forces.values() if force.at is not None]
    return not any(force.follower or force.moment is not None for force in placed)


def _output_names(mechanism: Mechanism) -> tuple[str, ...]:
    from supple.formulations.coefficients import carried

    return tuple(carried(rest(mechanism)).outputs)


def _dry_forces(mechanism: Mechanism) -> dict[str, float]:
    from supple.formulations.coefficients import carried

    return dict(carried(rest(mechanism)).dry_forces)


def _energy_scale(mechanism: Mechanism) -> float:
    """Energy that the loads could exchange if their directions were other ones: what rounding is measured by."""
    numbering = rest(mechanism).numbering
    extent = float(numbering.arrays.extent)
    weight = 0.0
    if mechanism.gravity is not None:
        mass = sum(item.mass for item in mass_properties(numbering.drawing).values())
        weight = mass * float(np.linalg.norm(np.asarray(mechanism.gravity, float)))
    return weight * extent


def _still(values: Array) -> bool:
    if values.size == 0:
        return True
    return bool(np.ptp(values, axis=0).max() <= ROUNDING * np.abs(values).max())


def _constant(values: Array) -> Array:
    """The value that all probes agree on, without the last digits, where they do not."""
    if values.size == 0:
        return values[0]
    size = float(np.abs(values).max()) or 1.0
    return np.round(values.mean(axis=0), 12 - int(np.ceil(np.log10(size)))) + 0.0  # no negative zeros


def _values(parts: Mapping[str, Array], name: str) -> Array:
    """A coefficient of local models as columns, packed: (N, k)."""
    array = parts[name]
    if name in ("M", "damping", "christoffel"):
        return packed(array).reshape(len(array), -1)
    if name == "outputs":
        return array[:, :, 0]
    return array.reshape(len(array), -1)


def _gradient(parts: Mapping[str, Array], name: str) -> Array:
    """Its derivatives with respect to θ: (N, k, s)."""
    if name == "potential":
        return -parts["force"][:, None, :]
    if name == "outputs":
        return parts["outputs"][:, :, 1 : 1 + parts["M"].shape[-1]]
    array = parts[f"d{name}"]
    if name in ("M", "damping"):
        return np.swapaxes(packed(np.moveaxis(array, -1, 1)), 1, 2)
    return array.reshape(len(array), -1, array.shape[-1])


def _full(columns: Array, name: str, n: int) -> Array:
    """A family entry by entry, so that its norm is that of the matrix: (N, entries)."""
    if name in ("M", "damping"):
        return unpacked(columns, n).reshape(len(columns), -1)
    if name == "christoffel":
        return unpacked(columns.reshape(len(columns), n, -1), n).reshape(len(columns), -1)
    return columns


def _christoffel(slopes: Array, n: int) -> Array:
    """Γ_ijk = ½(∂M_ij/∂θ_k + ∂M_ik/∂θ_j - ∂M_jk/∂θ_i) from the gradient of packed M, slopes (N, s, packed).

    [Brüls 2007, eq. 2]
    """
    dM = np.moveaxis(unpacked(slopes, n), 1, -1)
    return (0.5 * (dM + np.swapaxes(dM, -1, -2) - np.moveaxis(dM, -1, -3))).reshape(len(slopes), -1)
