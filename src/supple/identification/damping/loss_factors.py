"""Loss factors of parts: of elastic joints and of materials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, nearest
from supple.formulations.elastic_rest.damping_model import material_stiffness
from supple.identification.damping.damping_kind import DampingKind, DampingNumber, Numbers, Path, TestedSystem
from supple.identification.updating.posture_model import PostureModes


def _joints(tested: TestedSystem) -> Numbers:
    """Return one parameter for every elastic joint; copies of a joint share it."""
    mechanism = tested.mechanism
    return _group_parts(mechanism, "joints", (name for name, item in mechanism.joints.items() if item.yields), tested)


def _materials(tested: TestedSystem) -> Numbers:
    """Return one parameter for every material of elastic bodies."""
    mechanism = tested.mechanism
    used = {beam.material for body in mechanism.bodies.values() if body.elastic for beam in body.all_beams}
    return _group_parts(mechanism, "materials", (name for name in mechanism.materials if name in used), tested)


def _group_parts(mechanism: Mechanism, section: str, names: Iterable[str], tested: TestedSystem) -> Numbers:
    origins: dict[tuple[str, str], Path] = mechanism.compute_once("copied", dict)
    parts: dict[Path, list[str]] = {}
    for name in names:
        parts.setdefault(origins.get((section, name), (section, name)), []).append(name)
    if not parts:
        what = "joint" if section == "joints" else "body"
        raise InputError(
            f"no {what} is elastic, so that none has a loss factor", part="damping", hint="fit another kind"
        )
    shared: dict[str, list[Path]] = {}
    for path in parts:
        group = _group_of(path[-1], tested.groups)
        shared.setdefault(group or f"{path[-1]}.loss", []).append(path)
    return tuple(
        DampingNumber(name, tuple(part for path in paths for part in parts[path]), tuple(paths))
        for name, paths in shared.items()
    )


def _group_of(name: str, groups: Mapping[str, Sequence[str]]) -> str | None:
    for group, patterns in groups.items():
        if any(fnmatchcase(name, item) for item in patterns):
            return group
    return None


def require_groups(groups: Mapping[str, Sequence[str]], numbers: Sequence[DampingNumber]) -> None:
    """Refuse a group that matches no part."""
    for group, patterns in groups.items():
        if not any(item.name == group for item in numbers):
            known = [part for item in numbers for part in item.parts]
            raise InputError(
                f'no part with a loss factor matches "{", ".join(patterns)}"', part=f'group "{group}"',
                hint=nearest(patterns[0], known),
            )  # fmt: skip


def _joint_matrix(spectrum: PostureModes, numbers: Numbers, k: int) -> Array:
    """Return Σ k_j (C_j ψ)ᵀ(C_j ψ) over the rows of the joints and the deflections of their drives."""
    model, structure = spectrum.model, spectrum.model.structure
    rest, parts = structure.rest, set(numbers[k].parts)
    rows = [row for row, item in rest.elastic_rows.items() if item.part in parts]
    kept = np.flatnonzero(np.isin(structure.soft, rows))
    C = model.C[kept] @ spectrum.psi
    found = C.T @ (model.springs(spectrum.trial).values[kept][:, None] * C)
    for drive in rest.drives.values():
        if drive.joint in parts:
            u = model.N[drive.column] @ spectrum.psi
            found = found + drive.stiffness / drive.inertia * np.outer(u, u)
    return np.asarray(found)


def _material_matrix(spectrum: PostureModes, numbers: Numbers, k: int) -> Array:
    """Return ψᵀK_mψ of all parts of the material."""
    moved = spectrum.model.N @ spectrum.psi
    K = sum(material_stiffness(spectrum.model.structure.rest, name) for name in numbers[k].parts)
    return np.asarray(moved.T @ K @ moved)


def _lossless_joints(mechanism: Mechanism, numbers: Numbers) -> Mechanism:
    joints = {name: item.model_copy(update={"elastic_loss": None}) for name, item in mechanism.joints.items()}
    return mechanism.replace(joints=joints)


def _lossless_materials(mechanism: Mechanism, numbers: Numbers) -> Mechanism:
    return mechanism.replace(
        materials={name: item.model_copy(update={"damping": None}) for name, item in mechanism.materials.items()}
    )


def _in_file(numbers: Numbers, values: Array, field: str, entry: Any) -> dict[Path, Any]:
    return {
        (*path, field): entry(float(value)) for item, value in zip(numbers, values, strict=True) for path in item.paths
    }


JOINTS = DampingKind(
    "joints", "A loss factor for each elastic joint, of its stiffnesses and of its drive.", hysteretic=True,
    law=False, numbers=_joints, over=_joint_matrix, like=lambda eta, omega, k: eta, without=_lossless_joints,
    written=lambda numbers, values: _in_file(numbers, values, "elastic_loss", lambda value: value),
)  # fmt: skip
MATERIALS = DampingKind(
    "materials", "A loss factor for each material of elastic bodies.", hysteretic=True, law=False, numbers=_materials,
    over=_material_matrix, like=lambda eta, omega, k: eta, without=_lossless_materials,
    written=lambda numbers, values: _in_file(numbers, values, "damping", lambda value: {"structural": value}),
)  # fmt: skip
