"""Stiffnesses that differ between postures: which one would explain the data, and what it depends on.

    r + J δ,   J with the column of one parameter split by postures:   Σ r² would fall by Δ            (updating, eq.
    33)

One Gauss-Newton step with each joint stiffness split. If this removes most of the residuals, and more than by chance
(F-test), the parameter is reported, with its value at each posture, and what these values correlate with: a coordinate,
or the load of the joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from supple.array_types import Array
from supple.description.joints.elasticity import LOAD
from supple.description.quantities.dual import Dual
from supple.formulations.elastic_rest.loads import loads_at
from supple.identification.updating.identifiability import and_list
from supple.identification.updating.least_squares import UpdatingProblem
from supple.identification.updating.posture_model import PostureModel, posture_model
from supple.identification.updating.structure import CondensedStructure
from supple.identification.updating.written_numbers import WrittenNumber
from supple.kinematics.closure import assemble

_MOST = 0.5  # of Σ r² must remain at most
_CHANCE = 1e-3
_SAME = 1e-9
_ORDERED = 0.8  # of the score of a perfect order


@dataclass(frozen=True)
class Varying:
    """Stiffness of which one value does not explain all postures.

    Attributes
    ----------
    name : str
        Name of the parameter.
    table : str or None
        Name of the stiffness for a table, if it is a single one.
    values : dict of str to float
        Value at each posture.
    over : tuple of str
        Coordinates, or the load, with which the values correlate, best first.
    before, after : float
        RMS of the residuals, in units of the stated noise, with one value and with several.
    """

    name: str
    table: str | None
    values: dict[str, float]
    over: tuple[str, ...]
    before: float
    after: float

    def words(self) -> str:
        """Return a sentence on the finding, with a proposal."""
        each = and_list([f"{value:.3g} at {label or 'rest'}" for label, value in self.values.items()])
        finding = (
            f"one value of {self.name} does not explain all postures: with {each}, the residuals would fall from "
            f"{self.before:.2g} to {self.after:.2g} times the noise"
        )
        if not self.over:
            return finding
        which = f"{self.over[0]}" if len(self.over) == 1 else f"{and_list(list(self.over[:3]))} alike"
        proposal = f"--table {self.table}={self.over[0]}" if self.table else "in the file, for each joint that has it"
        return f"{finding}; it correlates with {which}: try a table, {proposal}"


def find_varying_stiffness(problem: UpdatingProblem, x: Array) -> Varying | None:
    """Return the stiffness whose values at each posture explain most, if one value does not explain the data."""
    models = list(dict.fromkeys(observer.model for observer in problem.observers))
    if len(models) < 2:
        return None
    found = problem.data(x)
    of_model = _owners(problem, models, len(found.residuals))
    whole = float(np.sum(np.square(found.residuals)))
    known, away = problem.build_prior_rows(), problem.build_prior_rows() @ (x - problem.start)
    best: tuple[float, int, Array] | None = None
    joints = _stiffnesses(problem.structure)
    for k in joints:
        split = np.zeros((len(found.slopes), len(models)))
        split[np.arange(len(split)), of_model] = found.slopes[:, k]
        J = np.hstack([np.delete(found.slopes, k, axis=1), split])
        others = np.delete(known, k, axis=1)
        rows = np.vstack([J, np.hstack([others, np.outer(known[:, k], np.full(len(models), 1.0 / len(models)))])])
        step = np.linalg.lstsq(rows, -np.concatenate([found.residuals, away]), rcond=1e-12)[0]
        left = float(np.sum(np.square(found.residuals + J @ step)))
        if best is None or left < best[0]:
            best = left, k, step[-len(models) :]
    if best is None:
        return None
    left, k, parted = best
    used, more = min(len(x), len(found.residuals)), len(models) - 1
    free = len(found.residuals) - used - more
    if free < 1 or not left < _MOST * whole:
        return None
    F = ((whole - left) / more) / max(left / free, 1e-300)
    if stats.f.sf(F, more, free) > _CHANCE:
        return None
    labels = [next(o.measured.label for o in problem.observers if o.model is model) for model in models]
    values = np.exp(x[k] + np.clip(parted, -2.0, 2.0))
    scale = problem.stretch / np.sqrt(len(found.residuals))
    return Varying(
        problem.names[k], joints[k][0].name if len(joints[k]) == 1 else None, _by_label(labels, values),
        _correlates(problem.structure, joints[k][0], models, values), scale * np.sqrt(whole), scale * np.sqrt(left),
    )  # fmt: skip


def _by_label(labels: Sequence[str], values: Array) -> dict[str, float]:
    twice = len(set(labels)) < len(labels)
    names = [f"{label} ({i + 1})".strip() if twice else label for i, label in enumerate(labels)]
    return dict(zip(names, values.tolist(), strict=True))


def _stiffnesses(structure: CondensedStructure) -> dict[int, list[WrittenNumber]]:
    """Return the parameters that affect only stiffnesses of joints, with these stiffnesses."""
    numbers = structure.numbers
    found: dict[int, list[WrittenNumber]] = {}
    for item, value in zip(numbers.followers, numbers.at(numbers.values), strict=True):
        for k in np.flatnonzero(value.slopes) if isinstance(value, Dual) else ():
            found.setdefault(int(k), []).append(item)
    return {k: items for k, items in found.items() if all(_is_joint_stiffness(item) for item in items)}


def _is_joint_stiffness(item: WrittenNumber) -> bool:
    return item.section == "joints" and item.field[0] == "stiffness" and len(item.field) == 2


def _owners(problem: UpdatingProblem, models: list[PostureModel], count: int) -> NDArray[np.int64]:
    """Return the posture (n,) of each residual, in the order of `UpdatingProblem.data`."""
    trial = problem.structure.at(problem.split(problem.start)[0])
    owners: list[int] = []
    for observer in problem.observers:
        owners += [models.index(observer.model)] * len(observer.compare(trial).residuals)
    for seen in problem.responses:
        owners += [models.index(seen.model)] * (2 * seen.measured.H.size)
    assert len(owners) == count
    return np.array(owners, dtype=np.int64)


def _correlates(
    structure: CondensedStructure, item: WrittenNumber, models: list[PostureModel], values: Array
) -> tuple[str, ...]:
    """Return coordinates, or the load, in whose order the values increase or decrease, the best first."""
    candidates: dict[str, Array] = {
        over: np.array([float(model.configuration.coordinates[over]) for model in models])
        for over in structure.mechanism.coordinate_names()
    }
    if structure.mechanism.gravity is not None:
        candidates[LOAD] = np.array([_row_load(structure, item, model) for model in models])
    ranked: list[tuple[float, str]] = []
    for over, places in candidates.items():
        if np.ptp(places) > _SAME * max(1.0, float(np.abs(places).max())):
            order = float(abs(stats.spearmanr(places, values).statistic))
            line = float(abs(np.corrcoef(places, np.log(values))[0, 1]))
            ranked.append((order + 0.1 * line, over))
    ranked.sort(reverse=True)
    if not ranked or ranked[0][0] < _ORDERED:
        return ()
    return tuple(over for quality, over in ranked if quality > 0.9 * ranked[0][0])


def joint_load(structure: CondensedStructure, name: str, at: Any) -> float:
    """Return |λ|, N or N m, along a joint's stiffness at rest, under weight and all loads of the file."""
    member = structure.numbers.members[structure.numbers.names.index(name)][0]
    item = next(one for one in structure.numbers.followers if one.path == member.path)
    return _row_load(structure, item, posture_model(structure, assemble(structure.mechanism, at)))


def _row_load(structure: CondensedStructure, follower: WrittenNumber, model: PostureModel) -> float:
    row = next(
        row for row, soft in structure.rest.elastic_rows.items()
        if soft.part in follower.parts and soft.direction == follower.field[1]
    )  # fmt: skip
    i = int(np.flatnonzero(structure.soft == row)[0])
    trial = structure.at(structure.numbers.values)
    load = loads_at(structure.rest, model.configuration).vector @ model.N
    K, _ = model.matrices(trial)
    return float(abs(model.springs(trial).values[i] * (model.C[i] @ np.linalg.solve(K, load))))
