"""Choice of the coefficients to fit: those that change over the region, judged by local models at a few probes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.description.mass_properties import mass_properties
from supple.description.mechanism import Mechanism
from supple.equations.equations_of_motion import Labels
from supple.equations.observation import Observation
from supple.equations.row import RowLayout
from supple.formulations.coefficients import get_coefficients
from supple.kinematics.rest import rest
from supple.parameterization.modal_parameterization import modal_parameterization
from supple.parameterization.mode_choice import RIGID, ModeChoice
from supple.reduced.layout import CoefficientLayout
from supple.reduction import natural_size
from supple.reduction.fitted_coefficients import Columns, block_places, matrix_entries, packed_values
from supple.reduction.natural_size import natural_sizes

ROUNDING = 1e-10  # relative change over the region below which a coefficient is constant


def choose_columns(
    mechanism: Mechanism,
    rows: RowLayout,
    probes: Array,
    widths: Array,
    *,
    structured: bool,
    fitted: tuple[str, ...] = (),
    coordinates: tuple[str, ...] | None = None,
    observation: Observation | None = None,
    inputs: tuple[str, ...] | None = None,
    choice: ModeChoice = RIGID,
) -> Columns:
    """Choose the coefficients to fit from the rows at a few probes spread over the region.

    probes      : (P, width) rows of local models
    widths      : (s,) widths of the region along θ
    fitted      : coefficients that are fitted whatever the probes show
    coordinates : names of θ in the model; default: the mechanism's
    inputs      : names of the actuators in the model; default: the mechanism's
    observation : outputs of the model; default: the mechanism's
    """
    names = rest(mechanism).numbering.coordinates if coordinates is None else coordinates
    inputs = tuple(mechanism.actuators) if inputs is None else inputs
    if observation is None:
        observation = get_coefficients(rest(mechanism)).observation
    if choice.flexible:
        dry = get_coefficients(rest(mechanism)).dry_forces
        labels = Labels(names, inputs, observation.names, dry, observation=observation)
        return _flexible_columns(mechanism, rows, probes, choice, labels, structured=structured)
    parts = rows.split(probes)
    constants: dict[str, Array] = {"K": np.zeros(len(names) * (len(names) + 1) // 2)}
    modes = {"christoffel": "fitted", "force": "fitted"}
    chosen: list[str] = []

    def settle(name: str, *, still: bool) -> None:
        if still and name not in fitted:
            constants[name] = _constant(packed_values(parts, name))
        else:
            chosen.append(name)

    still_mass = bool((np.abs(parts["dM"]) * widths).max() <= ROUNDING * np.abs(parts["M"]).max())
    settle("M", still=still_mass and _still(packed_values(parts, "M")))
    if "M" in constants:
        constants["christoffel"] = np.zeros(packed_values(parts, "christoffel").shape[1])
    elif structured:
        modes["christoffel"] = "from-mass"
    else:
        chosen.append("christoffel")

    level = bool((np.abs(parts["force"]) * widths).max() <= ROUNDING * _energy_scale(mechanism))
    level = level and bool(np.ptp(parts["potential"]) <= ROUNDING * _energy_scale(mechanism))
    if level:  # forces are zero to rounding, and the potential is constant
        constants["force"] = np.zeros(len(names))
        constants["potential"] = parts["potential"][0]
    elif structured and conservative(mechanism):
        chosen.append("potential")
        modes["force"] = "from-potential"
    else:  # structured: the potential of only some of the forces has no known gradient
        chosen += ["force"] if structured else ["force", "potential"]

    for name in ("damping", "input_map", "outputs", "friction_map", "efforts"):
        values = packed_values(parts, name)
        if values.shape[1] or name not in ("friction_map", "efforts"):
            settle(name, still=_still(values))
    if not chosen:  # a model needs one fitted coefficient at least: M
        chosen.append("M")
        del constants["M"]

    layout = CoefficientLayout(
        coordinates=names, theta=len(names), inputs=inputs, outputs=observation.names,
        columns=_ranges(parts, chosen), constants=constants,
        dry_forces=dict(get_coefficients(rest(mechanism)).dry_forces),
        christoffel=modes["christoffel"], force=modes["force"], observation=None if observation.plain else observation,
    )  # fmt: skip
    return Columns(layout, rows, structured)


def _flexible_columns(
    mechanism: Mechanism,
    rows: RowLayout,
    probes: Array,
    choice: ModeChoice,
    labels: Labels,
    *,
    structured: bool,
) -> Columns:
    """Fit every coefficient that is not zero; derive Γ and p_θ from gradients and ∂M/∂δ if `structured`.

    labels : names of θ, actuators and outputs
    """
    names = modal_parameterization(mechanism, choice).coordinates
    deformed = names[len(names) - len(choice.constraint) - choice.internal :]
    theta = labels.coordinates
    parts = rows.split(probes)
    chosen = ["M", "K", "mass_slope" if structured else "christoffel", "input_map", "outputs", "output_modes"]
    if choice.stiffening:
        chosen.insert(3, "mass_curvature")
    constants: dict[str, Array] = {}
    from_potential = structured and conservative(mechanism) and bool(np.abs(parts["force"]).max() > 0.0)
    if np.abs(parts["force"]).max() > 0.0:
        chosen += ["force", "potential"]
    else:
        constants |= {"force": np.zeros(parts["force"].shape[1]), "potential": parts["potential"][0]}
    for name in ("damping", "friction_map", "efforts"):
        values = packed_values(parts, name)
        if values.size and np.abs(values).max() > 0.0:
            chosen.append(name)
        elif name == "damping":
            constants[name] = values[0]
    layout = CoefficientLayout(
        coordinates=(*theta, *deformed), theta=len(theta), inputs=(*labels.inputs, *choice.constraint),
        outputs=labels.outputs, columns=_ranges(parts, chosen),
        observation=None if labels.output_composition.plain else labels.observation,
        constants=constants, dry_forces=dict(labels.dry_forces), christoffel="from-mass" if structured else "fitted",
        force="from-potential" if from_potential else "fitted", internal=choice.internal,
    )  # fmt: skip
    columns = Columns(layout, rows, structured)
    sizes = natural_sizes(mechanism, parts, theta)
    ignored = _quiet_blocks(columns, parts, sizes)
    natural = {
        block: float(np.median(np.linalg.norm(sizes[name][:, places], axis=1)))
        for name in columns.families
        for block, places in block_places(layout, name).items()
        if block not in ignored
    }
    summand_norms = _summand_norms(parts["dM"], block_places(layout, "christoffel")) if structured else {}
    return replace(columns, ignored=ignored, natural=natural, summand_norms=summand_norms)


def _summand_norms(dM: Array, blocks: Mapping[str, NDArray[np.int64]]) -> dict[str, float]:
    """Return the norm of each block of Γ_ijk as if nothing in it cancelled, from dM (P, n, n, n).

    Γ_ijk is half a sum of ∂_k M_ij, ∂_j M_ik and ∂_i M_jk; the norm takes their absolute values.
    """
    size = np.abs(dM)
    whole = (0.5 * (size + np.swapaxes(size, -1, -2) + np.moveaxis(size, -1, -3))).reshape(len(dM), -1)
    return {block: float(np.median(np.linalg.norm(whole[:, places], axis=1))) for block, places in blocks.items()}


def _quiet_blocks(columns: Columns, parts: Mapping[str, Array], sizes: Mapping[str, Array]) -> frozenset[str]:
    """Return the blocks that are zero or constant, to rounding of their natural size; their error is not judged."""
    quiet: set[str] = set()
    loud: set[str] = set()
    for name in columns.families:
        whole = matrix_entries(packed_values(parts, name), name, columns.layout.size)
        change = np.ptp(whole, axis=0)
        for block, places in block_places(columns.layout, name).items():
            still = (change[places] <= natural_size.STILL * sizes[name][:, places].max(axis=0)).all()
            (quiet if still else loud).add(block)
    return frozenset(quiet if loud else quiet - {"M_θθ"})  # at least one error is measured


def conservative(mechanism: Mechanism) -> bool:
    """Return whether every applied force has a potential: none follows its body, and there are no moments."""
    placed = [force for force in mechanism.forces.values() if force.at is not None]
    return not any(force.follower or force.moment is not None for force in placed)


def _ranges(parts: Mapping[str, Array], chosen: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the columns of each coefficient that has any, in order."""
    widths = {name: packed_values(parts, name).shape[1] for name in chosen}
    ends = np.cumsum(list(widths.values())).tolist()
    return {name: (end - width, end) for (name, width), end in zip(widths.items(), ends, strict=True) if width}


def _energy_scale(mechanism: Mechanism) -> float:
    """Return the energy that loads of any direction could exchange, J; rounding is measured against it."""
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
    """Return the value that all probes agree on, rounded to the digits they share."""
    if values.size == 0:
        return values[0]
    size = float(np.abs(values).max()) or 1.0
    return np.round(values.mean(axis=0), 12 - int(np.ceil(np.log10(size)))) + 0.0  # no negative zeros
