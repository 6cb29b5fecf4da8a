"""Local models at the points that a fit requests, computed once and kept in a store.

A sample depends on its x = (θ, μ) alone, bit for bit: batches, processes and interruptions do not change a model.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from inspect import getsource
from pathlib import Path
from types import FunctionType
from typing import cast

import numpy as np

from supple.array_types import Array, Flags
from supple.compilation.kernel import digest
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.distribution.work import Workplace
from supple.distribution.workplace import Here
from supple.formats.varied_mechanism import VariedMechanism, as_varied
from supple.formulations import data_slopes
from supple.formulations.elastic import geometric_stiffness
from supple.formulations.elastic_rest import geometric_stiffness_at_rest, preload
from supple.formulations.elastic_rest.constrained_modes import modes_batch
from supple.kinematics import parameter_motion
from supple.kinematics.closure import assemble
from supple.kinematics.closure_kernel import close_batch
from supple.kinematics.configuration import Configuration
from supple.kinematics.rest import rest
from supple.parameterization import parameter_slopes as slopes_module
from supple.parameterization import second_order
from supple.parameterization.local_model import coefficient_rows, local_row
from supple.parameterization.modal_coefficients import modal_coefficients
from supple.parameterization.mode_choice import RIGID, ModeChoice
from supple.parameterization.parameter_slopes import parameter_slopes
from supple.parameterization.rest_loads import stiffness_over_modes
from supple.parameterization.rigid_kernel import rigid_batch
from supple.reduction.store import Sample, SampleStore

BATCH = 256  # samples per transaction: at most these are lost if the process is killed
_TIMED = 32  # checks that are timed
_SLOW = 2e-3  # s per sample above which checks are stored
TOGETHER = 16384  # samples that are looked up and computed at a time; limits the memory beside the result


class Sampling:
    """Rows of coefficients at any θ, or at any (θ, μ) of a mechanism with varied parameters, each computed once.

    store       : file of the samples, or None to keep them in memory
    place       : workplace that computes them; default: this process, whose kernels run on all cores
    computed    : called with the number of samples after each batch that was computed and stored
    checked     : called with the number of checks after each batch of checks
    store_limit : largest size of the file, in bytes
    """

    def __init__(
        self,
        mechanism: Mechanism | VariedMechanism,
        *,
        store: str | Path | None = None,
        place: Workplace | None = None,
        computed: Callable[[int], None] | None = None,
        checked: Callable[[int], None] | None = None,
        choice: ModeChoice = RIGID,
        store_limit: float | None = None,
    ):
        self.varied = as_varied(mechanism)
        self.mechanism, self.choice = self.varied.nominal, choice
        self.layout = local_row(assemble(self.mechanism), choice)
        self.evaluations = 0
        self.width = self.layout.width * (1 + count_slopes(self.varied, choice))
        name = samples_name(self.varied, choice)
        self.store = SampleStore(store, name, self.width, made_by=_name_maker(), limit=store_limit)
        self._place: Workplace = place or Here()
        self._work = SampledRows(self.varied, choice)
        self._computed, self._checked = computed, checked
        self._slow: bool | None = None  # whether a sample takes long; None: not known yet

    def rows(self, x: Array) -> tuple[Array, Flags]:
        """Return the coefficients (N, width), as `layout` splits them, and whether they exist (N,).

        They are followed by their slopes along parameters, of the same width each, as many as `sloped` says; nan where
        a slope is unknown.
        """
        points = np.ascontiguousarray(x, dtype=float) + 0.0  # -0.0 has other bytes than 0.0
        rows, valid = np.empty((len(points), self.width)), np.empty(len(points), dtype=bool)
        for start in range(0, len(points), TOGETHER):
            part = slice(start, start + TOGETHER)
            rows[part], valid[part] = self._some(points[part])
        return rows, valid

    def check_rows(self, x: Array) -> tuple[Array, Flags]:
        """Return the same as `rows` at points that only check an error.

        There are thousands of them. They are stored only where a sample takes longer than 2 ms, so that an interrupted
        run does not lose minutes.
        """
        points = np.ascontiguousarray(x, dtype=float) + 0.0
        first = 0
        parts = []
        if self._slow is None and len(points):
            first = min(_TIMED, len(points))
            parts.append(self._time_checks(points[:first]))
        if first < len(points) or not parts:
            parts.append(self.rows(points[first:]) if self._slow else self._unkept(points[first:]))
        if self._checked is not None:
            self._checked(len(points))
        return np.vstack([rows for rows, _ in parts]), np.concatenate([valid for _, valid in parts])

    def _time_checks(self, points: Array) -> tuple[Array, Flags]:
        """Compute the first checks and time them; store them if they are slow."""
        keys = [point.tobytes() for point in points]
        self._slow = len(self.store.find(keys)) > 0  # they were slow in an earlier run
        if self._slow:
            return self.rows(points)
        start = time.perf_counter()
        rows, valid = self._unkept(points)
        self._slow = time.perf_counter() - start > _SLOW * len(points)
        if self._slow:
            self.store.add(keys, [Sample(bool(ok), row) for ok, row in zip(valid, rows, strict=True)])
        return rows, valid

    def _unkept(self, points: Array) -> tuple[Array, Flags]:
        s = points.shape[1] - len(self.varied.names)
        order = np.lexsort(points[:, s:].T) if self.varied.names else np.arange(len(points))
        rows, valid = np.empty((len(points), self.width)), np.empty(len(points), dtype=bool)
        for part, (found, exists) in self._place.results(self._work, points[order], together=TOGETHER):
            rows[order[part]], valid[order[part]] = found, exists
        self.evaluations += len(points)
        return rows, valid

    def _some(self, points: Array) -> tuple[Array, Flags]:
        keys = [point.tobytes() for point in points]
        distinct = dict.fromkeys(keys)
        stored = self.store.find(list(distinct))
        missing = [key for key in distinct if key not in stored]
        for batch, samples in self._compute(missing):
            self.store.add(batch, samples)  # before they are used
            stored.update(zip(batch, samples, strict=True))
            self.evaluations += len(batch)
            if self._computed is not None:
                self._computed(len(batch))
        valid = np.array([stored[key].valid for key in keys], dtype=bool)
        rows = np.array([stored[key].coefficients for key in keys]).reshape(len(keys), self.width)
        return rows, valid

    def close(self) -> None:
        self.store.close()

    def _compute(self, keys: list[bytes]) -> Iterator[tuple[list[bytes], list[Sample]]]:
        s = len(rest(self.mechanism).numbering.coordinates)
        keys = sorted(keys, key=lambda key: key[8 * s :])  # group the samples by mechanism
        points = np.frombuffer(b"".join(keys)).reshape(-1, s + len(self.varied.names))
        for part, (rows, valid) in self._place.results(self._work, points, together=BATCH):
            yield keys[part], [Sample(bool(ok), row) for ok, row in zip(valid, rows, strict=True)]


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Work of sampling in a form that can be sent to other processes: the mechanism and the modes."""

    mechanism: VariedMechanism
    choice: ModeChoice

    def __call__(self, *rows: Array) -> tuple[Array, Flags]:
        (x,) = rows
        return sampled_rows(self.mechanism, x, self.choice)


def sampled_rows(mechanism: Mechanism | VariedMechanism, x: Array, choice: ModeChoice = RIGID) -> tuple[Array, Flags]:
    """Return the coefficients at x = (θ, μ) (N, s + p), and whether they exist.

    They exist where the mechanism can be assembled and no coordinate locks.
    """
    if isinstance(mechanism, Mechanism):
        return _rows_at(mechanism, x, choice, ())
    slopes = mechanism.names[: count_slopes(mechanism, choice)]
    width = local_row(assemble(mechanism.nominal), choice).width * (1 + len(slopes))
    rows, valid = np.full((len(x), width), np.nan), np.zeros(len(x), dtype=bool)
    for member, which, theta in mechanism.parts(x):
        rows[which], valid[which] = _rows_at(member, theta, choice, slopes)
    return rows, valid


def count_slopes(mechanism: VariedMechanism, choice: ModeChoice) -> int:
    """Return the number of parameters along which slopes of coefficients are sampled: all for a rigid mechanism."""
    return 0 if choice.flexible else len(mechanism.names)


def _rows_at(mechanism: Mechanism, theta: Array, choice: ModeChoice, slopes: Sequence[str]) -> tuple[Array, Flags]:
    configuration = assemble(mechanism, theta, failures="mark")
    # Fits derive ∂K/∂θ from K: the part from loads, by differences around each sample, would cost more than the rest.
    rows, regular = coefficient_rows(configuration, choice, load_slopes=False)
    valid = configuration.assembled & (regular == 1) & np.isfinite(rows).all(axis=1)
    rows[~valid] = np.nan
    if not slopes:
        return rows, valid
    there = configuration if valid.all() else assemble(mechanism, theta[valid])
    along = np.full((len(slopes), *rows.shape), np.nan)
    for n, name in enumerate(slopes if valid.any() else ()):
        along[n, valid] = _slopes(there, name)
    return np.hstack([rows, *along]), valid


def _slopes(configuration: Configuration, name: str) -> Array | float:
    try:  # one by one: a sample must not depend on its neighbours in the batch, bit for bit
        return np.vstack([parameter_slopes(item, name) for item in configuration.each()])
    except InputError:  # no slope at a kink; fits then use values alone
        return np.nan


def samples_name(mechanism: Mechanism | VariedMechanism, choice: ModeChoice = RIGID) -> str:
    """Return a digest of everything that the samples depend on.

    It covers the description without mere names and without values of varied parameters, the choice of modes, supple's
    version and its kernels.
    """
    kernels = (
        (close_batch, rigid_batch, modes_batch, modal_coefficients) if choice.flexible else (close_batch, rigid_batch)
    )
    if choice.flexible and choice.preload:
        kernels += (stiffness_over_modes,)
    parts = {
        "description": as_varied(mechanism).bare(choice.flexible),
        "modes": asdict(choice),
        "version": supple_version(),
        "kernels": [digest(cast(FunctionType, kernel)) for kernel in kernels],
    }
    if choice.flexible and (choice.stiffening or choice.preload):  # these modules are not kernels
        parts["loads"] = [getsource(module) for module in (geometric_stiffness_at_rest, geometric_stiffness, preload)]
    if choice.stiffening:
        parts["stiffening"] = [getsource(second_order)]
    if count_slopes(as_varied(mechanism), choice):
        parts["slopes"] = [getsource(module) for module in (slopes_module, data_slopes, parameter_motion)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def supple_version() -> str:
    """Return the installed version of supple, or "unknown" if it runs from its source."""
    try:
        return version("supple")
    except PackageNotFoundError:
        return "unknown"


def _name_maker() -> str:
    return f"supple {supple_version()}"
