"""Pairs of measured modes and modes of a model, by shape and frequency, with close modes as subspaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from supple.array_types import Array, Complex
from supple.diagnostics import InputError
from supple.diagnostics.arguments import is_list, real_numbers, require_arguments, value_text
from supple.identification.modal_parameters.modal_parameters import ModalParameters
from supple.modal_analysis.mode_set import ModeSet, mac
from supple.modal_analysis.ports import channel_ports
from supple.results.result import Result, picture
from supple.results.table import Table

# Close modes: the subspaces that they span, and the angles of shapes to them.


def close_groups(hertz: Array, close: float) -> list[list[int]]:
    """Return groups of modes in order of frequency; each is in the group of the previous one if it is close to it."""
    found: list[list[int]] = []
    for i in np.argsort(hertz, kind="stable").tolist():
        if found and hertz[i] - hertz[found[-1][-1]] <= close * hertz[i]:
            found[-1].append(i)
        else:
            found.append([i])
    return found


def subspace_mac(shapes: NDArray[Any], others: NDArray[Any], groups: Sequence[Sequence[int]]) -> Array:
    """Return cos² of the angle of each shape to the subspace of each other shape's group, (shapes, others)."""
    found = np.zeros((len(shapes), len(others)))
    unit = shapes / np.maximum(np.linalg.norm(shapes, axis=1, keepdims=True), np.finfo(float).tiny)
    for group in groups:
        Q = np.linalg.qr(np.asarray(others)[list(group)].astype(complex).T)[0]
        found[:, group] = np.sum(np.abs(unit @ Q.conj()) ** 2, axis=1)[:, None]
    return found


# Pairs of measured modes and modes of a model.


_WIDE = 0.2  # relative difference of frequencies with the same weight as a MAC of 0
Shapes = tuple[ArrayLike, ArrayLike]


class ModePair(NamedTuple):
    """Pair of measured modes and modes of a model.

    Attributes
    ----------
    measured, model : tuple of int
        Indices of the modes, from 0; several if they are close and compared as subspaces.
    angles : ndarray
        Principal angles between the subspaces of their shapes, rad, ascending.
    measured_hz, model_hz : ndarray
        Frequencies of the modes, Hz.
    """

    measured: tuple[int, ...]
    model: tuple[int, ...]
    angles: Array
    measured_hz: Array
    model_hz: Array

    @property
    def mac(self) -> float:
        """MAC of one mode and one mode; in general, cos² of the largest principal angle."""
        return float(np.cos(self.angles[-1]) ** 2)

    @property
    def deviation(self) -> float:
        """Relative deviation (model - measured) / measured of the mean frequencies."""
        return float(self.model_hz.mean() / self.measured_hz.mean() - 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class ModePairs(Result):
    """Pairs of modes in order of the measured frequency.

    Attributes
    ----------
    pairs : tuple of ModePair
        The pairs.
    cross_mac : ndarray, shape (measured, model)
        MAC of all measured shapes with all shapes of the model.
    measured_hz, model_hz : ndarray
        Frequencies of all modes, Hz.
    notes : tuple of str
        Notes.
    """

    pairs: tuple[ModePair, ...]
    cross_mac: Array
    measured_hz: Array
    model_hz: Array
    notes: tuple[str, ...] = field(default=())

    def __iter__(self) -> Any:
        return iter(self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def unpaired_measured(self) -> tuple[int, ...]:
        """Indices of the measured modes without a counterpart."""
        taken = {i for pair in self.pairs for i in pair.measured}
        return tuple(i for i in range(len(self.measured_hz)) if i not in taken)

    @property
    def unpaired_model(self) -> tuple[int, ...]:
        """Indices of the model's modes without a counterpart."""
        taken = {j for pair in self.pairs for j in pair.model}
        return tuple(j for j in range(len(self.model_hz)) if j not in taken)

    @property
    def mean_deviation(self) -> float:
        """Mean of |deviation| over the pairs; NaN without pairs."""
        return float(np.mean([abs(pair.deviation) for pair in self.pairs])) if self.pairs else float("nan")

    def summary(self) -> str:
        """Return a one-line summary."""
        return (
            f"{len(self.pairs)} pairs of {len(self.measured_hz)} measured modes and {len(self.model_hz)} of a model, "
            f"mean frequency deviation {self.mean_deviation:.2%}"
        )

    def table(self) -> Table:
        """Return one row for each pair."""
        columns: dict[str, NDArray[Any]] = {
            "measured": np.array([_numbers(pair.measured) for pair in self.pairs], dtype=str),
            "model": np.array([_numbers(pair.model) for pair in self.pairs], dtype=str),
            "measured_hz": np.array([pair.measured_hz.mean() for pair in self.pairs]),
            "model_hz": np.array([pair.model_hz.mean() for pair in self.pairs]),
            "deviation": np.array([pair.deviation for pair in self.pairs]),
            "mac": np.array([pair.mac for pair in self.pairs]),
            "angle": np.array([float(pair.angles[-1]) for pair in self.pairs]),
        }  # fmt: skip
        units = {"measured_hz": "Hz", "model_hz": "Hz", "angle": "rad", "deviation": "1", "mac": "1"}
        return Table(columns, units, index="measured")

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays by name, as saved in .npz and .mat files."""
        return {
            **self.table().arrays(), "cross_mac": self.cross_mac, "all_measured_hz": self.measured_hz,
            "all_model_hz": self.model_hz,
        }  # fmt: skip

    def plot(self, *, axes: Any = None) -> Any:
        """Draw the cross-MAC with the pairs framed, and return the panels.

        Parameters
        ----------
        axes : optional
            Axes to draw on. Default: a new figure.
        """
        framed = [(pair.measured, pair.model) for pair in self.pairs]
        return picture("identification.modal_parameters.plot.mac_plot")(
            self.cross_mac, self.measured_hz, self.model_hz, framed=framed, axes=axes
        )


def pair_modes(
    measured: ModalParameters,
    model: ModeSet | ModalParameters | Shapes,
    *,
    close: float = 0.01,
    least_mac: float = 0.3,
    farthest: float = 0.3,
) -> ModePairs:
    """Pair measured modes with the modes of a model, by shape and frequency.

    Parameters
    ----------
    measured : ModalParameters
        Measured modes.
    model : ModeSet, ModalParameters, or tuple of array_like
        Modes of a mechanism, other modal parameters in the same channels, or a pair of undamped frequencies (Hz) and
        shapes (modes, channels). Undamped modes are compared with `natural_frequencies_hz`.
    close : float, optional
        Relative difference of frequencies below which modes of one side form a group. The shapes of close modes are any
        basis of a subspace, so subspaces are compared instead of shapes. Default: 0.01.
    least_mac : float, optional
        Smallest MAC of a pair. Default: 0.3.
    farthest : float, optional
        Largest relative difference of the frequencies of a pair. Default: 0.3.

    Returns
    -------
    ModePairs
        Pairs by rising measured frequency, the cross-MAC, and the modes without a counterpart.

    Raises
    ------
    InputError
        If the shapes of the model have another number of channels than those measured.

    Notes
    -----
    The pairs are the assignment with the least sum [docs/theory/modal-parameters.md, eq. 20]

        Σ (1 - MAC) + (ln(f'/f) / 0.2)²

    where cos² of the angle to the subspace takes the place of MAC if modes are close.

    Examples
    --------
    >>> import supple
    >>> arm = supple.load("ralf")
    >>> test = supple.virtual_test(arm, "home", "tip.-z", ["tip", "link1[0.5]"], sampling_hz=256.0, noise=0.01)
    >>> measured = supple.modal_parameters(test.responses, band_hz=(20.0, 100.0))
    >>> pairs = supple.pair_modes(measured, supple.modes(arm, "home"))
    >>> [pair.model for pair in pairs]
    [(2,), (3,)]
    """
    require_arguments(pair_modes, locals())
    for name, value, most in (("close", close, inf), ("least_mac", least_mac, 1.0), ("farthest", farthest, inf)):
        if not 0.0 <= value <= most:
            raise InputError(f"must be 0 to {most:g} (got {value:g})", part=name)
    f, phi = measured.frequencies_hz, measured.shapes
    if not isinstance(model, ModalParameters):  # a model's frequencies are undamped
        f = measured.natural_frequencies_hz
    g, psi = _model_side(model, measured)
    if psi.shape[1] != phi.shape[1]:
        raise InputError(
            f"the shapes of the model have {psi.shape[1]} entries, but the measured ones have {phi.shape[1]} channels",
            part="pair_modes", hint="give shapes at the measured channels, in their order",
        )  # fmt: skip
    cross = mac(phi, psi)
    groups, families = close_groups(f, close), close_groups(g, close)
    likeness = np.maximum(cross, np.maximum(subspace_mac(phi, psi, families), subspace_mac(psi, phi, groups).T))
    apart = np.abs(np.log(g[None, :] / f[:, None]))
    cost = (1.0 - likeness) + (apart / _WIDE) ** 2
    allowed = (likeness >= least_mac) & (apart <= np.log1p(farthest))
    alone = (1.0 - least_mac) + (np.log1p(farthest) / _WIDE) ** 2  # no pair that is allowed costs more
    rows, columns = linear_sum_assignment(np.where(allowed, cost, alone))
    links = [(int(i), int(j)) for i, j in zip(rows, columns, strict=True) if allowed[i, j]]
    pairs = [_pair(a, b, phi, psi, f, g) for a, b in _join_pairs(links, groups, families)]
    pairs.sort(key=lambda pair: pair.measured)
    return ModePairs(tuple(pairs), cross, f, g)


def principal_angles(first: NDArray[Any], second: NDArray[Any]) -> Array:
    """Return the principal angles (min(a, b),), rad, ascending, between the spans of rows (a, n) and (b, n).

    Their cosines are the singular values of Q₁ᴴ Q₂.
    """
    one, two = (np.linalg.qr(np.asarray(shapes, dtype=complex).T)[0] for shapes in (first, second))
    cosines = np.linalg.svd(one.conj().T @ two, compute_uv=False)
    return np.asarray(np.arccos(np.clip(cosines, 0.0, 1.0)))


def _model_side(model: ModeSet | ModalParameters | Shapes, measured: ModalParameters) -> tuple[Array, NDArray[Any]]:
    if isinstance(model, ModeSet):
        if model.frequencies_hz.ndim != 1:
            raise InputError(
                "pair_modes accepts modes of one configuration, not several", part="pair_modes",
                hint="call it for each configuration",
            )  # fmt: skip
        ports = channel_ports(model.rest.numbering, measured.responses.responses)
        return model.frequencies_hz, model.shapes @ ports.rows(model.rest, model.configuration.X).T
    if isinstance(model, ModalParameters):
        return model.frequencies_hz, model.shapes
    if not is_list(model) or len(model) != 2:
        raise InputError(
            f"must be modes (got {value_text(model)})", part="model", hint="give modes, or (frequencies in Hz, shapes)"
        )
    g, psi = real_numbers("frequencies", model[0]), np.atleast_2d(np.asarray(model[1]))
    if psi.dtype.kind not in "biufc" or psi.ndim != 2:
        raise InputError(
            f"must be a matrix of numbers (got {value_text(model[1])})", part="shapes", hint="give (modes, channels)"
        )
    if g.ndim != 1 or len(g) != len(psi) or not (g > 0.0).all():
        raise InputError(
            f"frequencies {np.shape(g)} and shapes {psi.shape} do not match, or a frequency is not above 0 Hz",
            part="pair_modes",
            hint="give (modes,) frequencies above 0 Hz and (modes, channels) shapes; omit rigid modes",
        )  # fmt: skip
    return g, psi


def _join_pairs(
    links: Sequence[tuple[int, int]], groups: Sequence[Sequence[int]], families: Sequence[Sequence[int]]
) -> list[tuple[list[int], list[int]]]:
    """Join pairs whose modes belong to one group on both sides; modes without a pair are omitted.

    An exception is a close mode of the model: a shape in the plane of two of its modes is a mode of that plane.
    """
    group_of = {i: n for n, group in enumerate(groups) for i in group}
    family_of = {j: n for n, group in enumerate(families) for j in group}
    found: dict[tuple[int, int], tuple[set[int], set[int]]] = {}
    for i, j in links:
        a, b = found.setdefault((group_of[i], family_of[j]), (set(), set()))
        a.add(i)
        b.add(j)
    linked = {j for _, j in links}
    for (_, family), (_, b) in found.items():
        free = [j for j in families[family] if j not in linked]
        if sum(key[1] == family for key in found) == 1:
            b.update(free)
    return [(sorted(a), sorted(b)) for a, b in found.values()]


def _pair(a: list[int], b: list[int], phi: Complex, psi: NDArray[Any], f: Array, g: Array) -> ModePair:
    return ModePair(tuple(a), tuple(b), principal_angles(phi[a], psi[b]), f[a], g[b])


def _numbers(which: Sequence[int]) -> str:
    return ", ".join(str(i + 1) for i in which)
