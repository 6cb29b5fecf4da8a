"""Local models at the points a fit asks for, through the store.

A sample depends on its θ alone, bit for bit: neither batches nor processes nor interruptions change a model.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from inspect import getsource
from pathlib import Path
from types import FunctionType
from typing import cast

import numpy as np
from numpy.typing import NDArray

from supple.compilation.kernel import digest
from supple.description.mechanism import Mechanism
from supple.distribution.work import Workplace
from supple.distribution.workplace import Here
from supple.formats.mechanism_text import to_yaml
from supple.formats.travelling import Travelling
from supple.formulations.elastic import geometric_stiffness
from supple.formulations.elastic_rest import load_stiffness
from supple.formulations.elastic_rest.constrained_modes import modes_batch
from supple.kinematics.closure import assemble
from supple.kinematics.closure_kernel import close_batch
from supple.kinematics.rest import rest
from supple.parameterization import second_order
from supple.parameterization.local_model import coefficient_rows, row_layout
from supple.parameterization.modal_coefficients import modal_coefficients
from supple.parameterization.mode_choice import RIGID, ModeChoice
from supple.parameterization.rigid_kernel import rigid_batch
from supple.reduction.store import LIMIT, Sample, SampleStore

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

BATCH = 256  # samples in a transaction: what a kill can cost


class Sampling:
    """Rows of coefficients at any θ, each computed once.

    store    : file of the samples, or None to keep them in memory
    place    : where they are computed; this process if left out, whose kernels already run on all cores
    computed : called with the number of samples after each batch that was computed and stored
    store_limit : bytes of that file
    """

    def __init__(
        self,
        mechanism: Mechanism,
        *,
        store: str | Path | None = None,
        place: Workplace | None = None,
        computed: Callable[[int], None] | None = None,
        choice: ModeChoice = RIGID,
        store_limit: int = LIMIT,
    ):
        self.mechanism, self.choice = mechanism, choice
        self.layout = row_layout(assemble(mechanism), choice)
        self.evaluations = 0
        name = samples_name(mechanism, choice)
        self.store = SampleStore(store, name, self.layout.width, made_by=_made_by(), limit=store_limit)
        self._place: Workplace = place or Here()
        self._work = SampledRows(Travelling(mechanism), choice)
        self._computed = computed

    def rows(self, theta: Array) -> tuple[Array, Flags]:
        """Coefficients (N, width) as `layout` splits them, and where they exist (N,)."""
        points = np.ascontiguousarray(theta, dtype=float) + 0.0  # one zero: -0.0 has other bytes
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
        rows = np.array([stored[key].coefficients for key in keys]).reshape(len(keys), self.layout.width)
        return rows, valid

    def close(self) -> None:
        self.store.close()

    def _compute(self, keys: list[bytes]) -> Iterator[tuple[list[bytes], list[Sample]]]:
        s = len(rest(self.mechanism).numbering.coordinates)
        points = np.frombuffer(b"".join(keys)).reshape(-1, s)
        for part, (rows, valid) in self._place.results(self._work, points, together=BATCH):
            yield keys[part], [Sample(bool(ok), row) for ok, row in zip(valid, rows, strict=True)]


@dataclass(frozen=True, eq=False)
class SampledRows:
    """The work of sampling, as it travels: which mechanism, which modes."""

    described: Travelling
    choice: ModeChoice

    def __call__(self, *rows: Array) -> tuple[Array, Flags]:
        (theta,) = rows
        return sampled_rows(self.described.mechanism, theta, self.choice)


def sampled_rows(mechanism: Mechanism, theta: Array, choice: ModeChoice = RIGID) -> tuple[Array, Flags]:
    """Coefficients at θ (N, s), and where they exist: assembled, and no coordinate locks."""
    configuration = assemble(mechanism, theta, failures="mark")
    rows, regular = coefficient_rows(configuration, choice)
    valid = configuration.assembled & (regular == 1) & np.isfinite(rows).all(axis=1)
    rows[~valid] = np.nan
    return rows, valid


def samples_name(mechanism: Mechanism, choice: ModeChoice = RIGID) -> str:
    """A digest of everything the values depend on: the description but for what only names things, the choice of
    modes, supple's version and its kernels."""
    kernels = (
        (close_batch, rigid_batch, modes_batch, modal_coefficients) if choice.flexible else (close_batch, rigid_batch)
    )
    bare = mechanism.replace(configurations={}, motions={}, scenarios={}, description=None)
    parts = {
        "description": to_yaml(bare),
        "modes": asdict(choice),
        "version": supple_version(),
        "kernels": [digest(cast(FunctionType, kernel)) for kernel in kernels],
    }
    if choice.stiffening:  # which is no kernel
        parts["stiffening"] = [getsource(module) for module in (second_order, load_stiffness, geometric_stiffness)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def supple_version() -> str:
    """As installed; supple that runs from its source has none."""
    try:
        return version("supple")
    except PackageNotFoundError:
        return "unknown"


def _made_by() -> str:
    return f"supple {supple_version()}"
