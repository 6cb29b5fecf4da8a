"""Loss factors of parts: of joints that give way, and of materials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, nearest
from supple.formulations.elastic_rest.damping_model import material_stiffness
from supple.identification.damping.damping_kind import DampingKind, DampingNumber, Numbers, Path, UnderTest
from supple.identification.updating.posture_model import PostureModes


def _joints(tested: UnderTest) -> Numbers:
    """Every joint that gives way; copies of one share its number."""
    mechanism = tested.mechanism
    return _grouped(mechanism, "joints", (name for name, item in mechanism.joints.items() if item.yields), tested)


def _materials(tested: UnderTest) -> Numbers:
    """Every material that something elastic is made of."""
    mechanism = tested.mechanism
    used = {beam.material for body in mechanism.bodies.values() if body.elastic for beam in body.all_beams}
    return _grouped(mechanism, "materials", (name for name in mechanism.materials if name in used), tested)


def _grouped(mechanism: Mechanism, section: str, names: Iterable[str], tested: UnderTest) -> Numbers:
    origins: dict[tuple[str, str], Path] = mechanism.remembered("copied", dict)
    parts: dict[Path, list[str]] = {}
    for name in names:
        parts.setdefault(origins.get((section, name), (section, name)), []).append(name)
    if not parts:
        what = "joint gives way" if section == "joints" else "body is elastic"
        raise InputError(
            f"no {what}, so that no loss factor is there to be found", part="damping", hint="fit another kind"
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
    """A group that nothing matches is a slip of the pen."""
    for group, patterns in groups.items():
        if not any(item.name == group for item in numbers):
            known = [part for item in numbers for part in item.parts]
            raise InputError(
                f'no part that is looked for matches "{", ".join(patterns)}"', part=f'group "{group}"',
                hint=nearest(patterns[0], known),
            )  # fmt: skip


def _of_joints(spectrum: PostureModes, numbers: Numbers, k: int) -> Array:
    """Σ k_j (C_j ψ)ᵀ(C_j ψ) of the rows of its joints and the deflections of their drives."""
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


def _of_materials(spectrum: PostureModes, numbers: Numbers, k: int) -> Array:
    """ψᵀK_mψ of all that is made of it."""
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


def _in_file(numbers: Numbers, values: Array, field: str, law: Any) -> dict[Path, Any]:
    return {
        (*path, field): law(float(value)) for item, value in zip(numbers, values, strict=True) for path in item.paths
    }


JOINTS = DampingKind(
    "joints", "A loss factor for each joint that gives way, of its stiffnesses and its drive's.", hysteretic=True,
    law=False, numbers=_joints, over=_of_joints, like=lambda eta, omega, k: eta, without=_lossless_joints,
    written=lambda numbers, values: _in_file(numbers, values, "elastic_loss", lambda value: value),
)  # fmt: skip
MATERIALS = DampingKind(
    "materials", "A loss factor for each material of elastic bodies.", hysteretic=True, law=False, numbers=_materials,
    over=_of_materials, like=lambda eta, omega, k: eta, without=_lossless_materials,
    written=lambda numbers, values: _in_file(numbers, values, "damping", lambda value: {"structural": value}),
)  # fmt: skip
