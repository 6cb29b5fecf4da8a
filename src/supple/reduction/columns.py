"""Which coefficients of the equations are fitted, and what follows from the fit.

Two ways. *Structured*: M and the potential are fitted, to values and gradients; Γ is the Christoffel symbol of the
fitted M and the force minus the gradient of the fitted potential, so that the reduced model conserves energy exactly.
*Direct*: every coefficient is fitted by itself, to values alone, as in the papers.

A flexible mechanism has coefficients of δ besides: they are fitted to values, whichever way, and Γ_θθθ and p_θ alone
follow from gradients.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple.approximation.samples import Samples
from supple.description.mass_properties import mass_properties
from supple.description.mechanism import Mechanism
from supple.equations.christoffel import christoffel
from supple.equations.row import RowLayout
from supple.formulations.coefficients import carried
from supple.kinematics.rest import rest
from supple.parameterization.modal_parameterization import modal_parameterization
from supple.parameterization.mode_choice import RIGID, ModeChoice
from supple.reduced.layout import CoefficientLayout, packed, unpacked
from supple.reduced.locked_frequencies import kept_frequencies, locked_frequencies
from supple.reduction import natural_size
from supple.reduction.natural_size import natural_sizes

Array = NDArray[np.float64]

ROUNDING = 1e-10  # of its own size: a coefficient that changes by less over the region does not change
FAMILIES = ("M", "K", "christoffel", "force", "damping", "input_map", "outputs", "output_modes", "friction_map")


FREQUENCIES = "frequencies"


@dataclass(frozen=True)
class Columns:
    """How rows of local models become samples of the fitted function, and its values coefficients again.

    layout  : of the reduced model; rows : of the local model
    drifted : of each constant, the largest departure seen in any sample, of the constant's size
    ignored : blocks that are zero, or constant, to rounding
    natural : norm of each block of a flexible mechanism, if nothing in it cancelled
    """

    layout: CoefficientLayout
    rows: RowLayout
    structured: bool
    ignored: frozenset[str] = frozenset()
    drifted: dict[str, float] = field(default_factory=dict)
    natural: dict[str, float] = field(default_factory=dict)

    def samples(self, rows: Array, valid: NDArray[np.bool_]) -> Samples:
        """Values, gradients and families at each row."""
        parts = self.rows.split(rows)
        self._watch(parts, valid)
        values = np.hstack([_values(parts, name) for name in self.layout.columns])
        gradients = None
        if self.structured and self.layout.size == self.layout.theta:
            gradients = np.concatenate([_gradient(parts, name) for name in self.layout.columns], axis=1)
        whole = {name: _full(_values(parts, name), name, self.layout.size) for name in self.families}
        return Samples(values, gradients, self._judged(whole), valid, frozenset(self.frequencies))

    def derived(self, values: Array, gradients: Array) -> dict[str, Array]:
        """Families of a fit, from its values (N, t) and gradients (N, t, s)."""
        n, s, columns = self.layout.size, self.layout.theta, self.layout.columns
        found = {}
        for name in self.families:
            if name in columns:
                found[name] = _full(values[:, slice(*columns[name])], name, n)
            elif name == "christoffel":
                found[name] = np.zeros((len(values), n**3))
            else:
                found[name] = np.zeros((len(values), n))
        if self.layout.christoffel == "from-mass" and "M" in columns:
            slopes = _theta_mass(np.swapaxes(gradients[:, slice(*columns["M"])], 1, 2), n, s)
            found["christoffel"].reshape(-1, n, n, n)[:, :s, :s, :s] = christoffel(slopes)
        if self.layout.force == "from-potential" and "potential" in columns:
            found["force"][:, :s] = -gradients[:, columns["potential"][0]]
        return self._judged(found)

    @property
    def frequencies(self) -> tuple[str, ...]:
        """Families of the frequencies with θ locked, one each, lowest first; a rigid mechanism has none.

        As many as there are internal modes, or one without any: constraint modes add frequencies above the band.
        """
        return tuple(f"{FREQUENCIES}_{k + 1}" for k in range(kept_frequencies(self.layout)))

    def _judged(self, whole: Mapping[str, Array]) -> dict[str, Array]:
        """Blocks of the families, and frequencies.

        The norm of K_ιι is that of its highest mode, and an error that is small beside it may be large beside the
        lowest: so frequencies are families of their own, each judged by its own size.
        """
        found = self._blocks(whole)
        if self.frequencies:
            n, s = self.layout.size, self.layout.theta
            K, M = (whole[name].reshape(-1, n, n)[:, s:, s:] for name in ("K", "M"))
            found |= dict(zip(self.frequencies, locked_frequencies(K, M).T[:, :, None], strict=False))
        return found

    def _blocks(self, families: Mapping[str, Array]) -> dict[str, Array]:
        """A rigid mechanism's families as they are; of a flexible one, each block by kinds of coordinates."""
        if self.layout.size == self.layout.theta:
            return dict(families)
        found = {}
        for name, entries in families.items():
            for block, places in self._places[name].items():
                found[block] = entries[:, places]
        return found

    @cached_property
    def _places(self) -> dict[str, dict[str, NDArray[np.int64]]]:
        """Entries of each block of each family that counts."""
        return {
            name: {
                block: places for block, places in block_places(self.layout, name).items() if block not in self.ignored
            }
            for name in self.families
        }

    def floors(self, tolerance: float) -> dict[str, float]:
        """Norms below which a block is judged as if it were that large: it does not count, or is rounding."""
        least = max(natural_size.SIGNIFICANT, natural_size.ROUNDING / tolerance)
        return {block: least * norm for block, norm in self.natural.items()}

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
    mechanism: Mechanism,
    rows: RowLayout,
    probes: Array,
    widths: Array,
    *,
    structured: bool,
    fitted: tuple[str, ...] = (),
    coordinates: tuple[str, ...] | None = None,
    outputs: tuple[str, ...] | None = None,
    inputs: tuple[str, ...] | None = None,
    choice: ModeChoice = RIGID,
) -> Columns:
    """What to fit, judged by the rows at a few probes spread over the region.

    probes : (P, width) rows of local models; widths : (s,) of the region
    fitted : coefficients known to change, whatever the probes say
    coordinates, outputs, inputs : names of θ, outputs and actuators in the model; the mechanism's if left out
    """
    names = rest(mechanism).numbering.coordinates if coordinates is None else coordinates
    inputs = tuple(mechanism.actuators) if inputs is None else inputs
    if choice.flexible:
        return _flexible_columns(mechanism, rows, probes, choice, names, inputs, structured=structured)
    if outputs is None:
        outputs = tuple(carried(rest(mechanism)).outputs)
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
        coordinates=names, theta=len(names), inputs=inputs, outputs=outputs,
        columns=columns, constants=constants, dry_forces=_dry_forces(mechanism), christoffel=modes["christoffel"],
        force=modes["force"],
    )  # fmt: skip
    return Columns(layout, rows, structured)


def _flexible_columns(
    mechanism: Mechanism,
    rows: RowLayout,
    probes: Array,
    choice: ModeChoice,
    theta: tuple[str, ...],
    inputs: tuple[str, ...],
    *,
    structured: bool,
) -> Columns:
    """Everything is fitted but what is zero; Γ_θθθ and p_θ follow from gradients if `structured`."""
    names = modal_parameterization(mechanism, choice).coordinates
    deformed = names[len(names) - len(choice.constraint) - choice.internal :]
    load = carried(rest(mechanism))
    parts = rows.split(probes)
    chosen = ["M", "K", "christoffel", "input_map", "outputs", "output_modes"]
    constants: dict[str, Array] = {}
    from_potential = structured and conservative(mechanism) and bool(np.abs(parts["force"]).max() > 0.0)
    if np.abs(parts["force"]).max() > 0.0:
        chosen += ["force", "potential"]
    else:
        constants |= {"force": np.zeros(parts["force"].shape[1]), "potential": parts["potential"][0]}
    for name in ("damping", "friction_map"):
        values = _values(parts, name)
        if values.size and np.abs(values).max() > 0.0:
            chosen.append(name)
        elif name == "damping":
            constants[name] = values[0]
    columns, first = {}, 0
    for name in chosen:
        width = _values(parts, name).shape[1]
        if width:
            columns[name] = (first, first + width)
            first += width
    layout = CoefficientLayout(
        coordinates=(*theta, *deformed), theta=len(theta), inputs=(*inputs, *choice.constraint),
        outputs=tuple(load.outputs), columns=columns,
        constants=constants, dry_forces=dict(load.dry_forces), christoffel="from-mass" if structured else "fitted",
        force="from-potential" if from_potential else "fitted", internal=choice.internal,
    )  # fmt: skip
    found = Columns(layout, rows, structured)
    sizes = natural_sizes(mechanism, parts, theta)
    ignored = _quiet_blocks(found, parts, sizes)
    natural = {
        block: float(np.median(np.linalg.norm(sizes[name][:, places], axis=1)))
        for name in found.families
        for block, places in block_places(layout, name).items()
        if block not in ignored
    }
    return replace(found, ignored=ignored, natural=natural)


def _quiet_blocks(columns: Columns, parts: Mapping[str, Array], sizes: Mapping[str, Array]) -> frozenset[str]:
    """Blocks that are zero or do not change, to rounding of what they are made of: they have no error to speak of."""
    quiet: set[str] = set()
    loud: set[str] = set()
    for name in columns.families:
        whole = _full(_values(parts, name), name, columns.layout.size)
        change = np.ptp(whole, axis=0)
        for block, places in block_places(columns.layout, name).items():
            still = (change[places] <= natural_size.STILL * sizes[name][:, places].max(axis=0)).all()
            (quiet if still else loud).add(block)
    return frozenset(quiet if loud else quiet - {"M_θθ"})  # something has to be measured


def block_places(layout: CoefficientLayout, name: str) -> dict[str, NDArray[np.int64]]:
    """Entries of each block of a coefficient, by kinds of coordinates: M_θγ, Γ_θιι, ..."""
    n, s = layout.size, layout.theta
    kinds = ["θ"] * s + ["γ"] * (n - s - layout.internal) + ["ι"] * layout.internal
    found: dict[str, list[int]] = {}
    rank = {"θ": 0, "γ": 1, "ι": 2}
    if name in ("M", "K", "damping"):
        for i in range(n):
            for j in range(i, n):
                found.setdefault(f"{name}_{kinds[i]}{kinds[j]}", []).extend({i * n + j, j * n + i})
    elif name == "christoffel":
        for i in range(n):
            for j in range(n):
                for k in range(n):
                    pair = "".join(sorted(kinds[j] + kinds[k], key=rank.__getitem__))
                    found.setdefault(f"Γ_{kinds[i]}{pair}", []).append((i * n + j) * n + k)
    elif name == "force":
        for i in range(n):
            found.setdefault(f"p_{kinds[i]}", []).append(i)
    elif name == "output_modes":
        for o in range(len(layout.outputs)):
            for i in range(s, n):
                found.setdefault(f"outputs_{kinds[i]}", []).append(o * (n - s) + i - s)
    else:
        return {name: np.arange(layout.widths[name], dtype=np.int64)}
    return {block: np.array(places, dtype=np.int64) for block, places in found.items()}


def with_limits(columns: Columns, limits: dict[str, tuple[float, float]]) -> Columns:
    """The same, its layout knowing the limits of the coordinates."""
    return replace(columns, layout=replace(columns.layout, limits=limits))


def conservative(mechanism: Mechanism) -> bool:
    """Whether every applied force has a potential: none follows its body, and there are no moments."""
    placed = [force for force in mechanism.forces.values() if force.at is not None]
    return not any(force.follower or force.moment is not None for force in placed)


def _dry_forces(mechanism: Mechanism) -> dict[str, float]:
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
    if name == "output_modes":
        return parts["modes"].reshape(len(parts["M"]), -1)
    array = parts[name]
    if name in ("M", "K", "damping", "christoffel"):
        return packed(array).reshape(len(array), -1)
    return array.reshape(len(array), -1)


def _gradient(parts: Mapping[str, Array], name: str) -> Array:
    """Its derivatives with respect to θ: (N, k, s)."""
    if name == "potential":
        return -parts["force"][:, None, :]
    if name == "outputs":
        return parts["rigid"]
    array = parts[f"d{name}"]
    if name in ("M", "damping"):
        return np.swapaxes(packed(np.moveaxis(array, -1, 1)), 1, 2)
    return array.reshape(len(array), -1, array.shape[-1])


def _full(columns: Array, name: str, n: int) -> Array:
    """A family entry by entry, so that its norm is that of the matrix: (N, entries)."""
    if name in ("M", "K", "damping"):
        return unpacked(columns, n).reshape(len(columns), -1)
    if name == "christoffel":
        return unpacked(columns.reshape(len(columns), n, -1), n).reshape(len(columns), -1)
    return columns


def _theta_mass(slopes: Array, n: int, s: int) -> Array:
    """∂M_ij/∂θ_k of θ alone, (N, s, s, s), from the gradient of packed M, slopes (N, s, packed)."""
    return np.moveaxis(unpacked(slopes, n)[..., :s, :s], 1, -1)
