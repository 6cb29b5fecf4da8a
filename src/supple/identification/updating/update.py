"""Model updating: parameters of a mechanism file from measurements, by least squares with priors and several starts."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import least_squares

from supple.array_types import Array, Complex
from supple.description.joints.elasticity import LOAD
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, SuppleNote, nearest, require_known
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.errors import user_level
from supple.diagnostics.limits import require_within
from supple.distribution.workplace import workplace
from supple.formulations.elastic_rest.loads import carries_loads
from supple.formulations.elastic_rest.preload import preload_stiffness
from supple.identification.damping.fit_damping import damping_kinds
from supple.identification.updating.identifiability import FLAT, identifiability
from supple.identification.updating.least_squares import LOSSES, UpdatingProblem, problem_of
from supple.identification.updating.measurement import Measurement
from supple.identification.updating.observed_responses import Loss
from supple.identification.updating.observing import ResidualsWithSlopes
from supple.identification.updating.posture_model import PostureModel
from supple.identification.updating.structure import CondensedStructure, structure_of
from supple.identification.updating.updated import Updated, posture_results
from supple.identification.updating.updated_file import changed_mechanism
from supple.identification.updating.varying import find_varying_stiffness
from supple.identification.updating.written_numbers import VALUES, numbers_of
from supple.kinematics.closure import assemble

# Stiffnesses of joints that become tables over a coordinate or the load, with knots to be fitted.


SMOOTHNESS = 0.15  # decades: expected difference of neighbouring knots of a table
_KNOTS = 3
_KNOT = re.compile(rf"(?P<table>.+\.{VALUES})\.(?P<number>\d+)")


class StiffnessTableOption(NamedTuple):
    """Table to fit.

    over : a coordinate, or `load`; at : its knots, ascending; by default three over the measured postures
    """

    over: str
    at: Sequence[float] = ()


def with_tables(
    mechanism: Mechanism,
    chosen: Sequence[str] | Mapping[str, str | Sequence[str]],
    tables: Mapping[str, StiffnessTableOption | tuple[str, Sequence[float]] | str],
    measured: Sequence[Measurement],
) -> tuple[Mechanism, Any]:
    """Return the mechanism with constant tables in place of these stiffnesses, and the parameters with their knots."""
    entries: dict[tuple[str, ...], Any] = {}
    for name, given in tables.items():
        table = StiffnessTableOption(given) if isinstance(given, str) else StiffnessTableOption(*given)
        numbers = numbers_of(mechanism, [name])
        (member,) = numbers.members[0]
        if member.path[0] == "parameters" or "elastic" in member.path or len(member.path) < 4:
            raise InputError(
                "only stiffnesses given by direction can become tables", part=f'table of "{name}"',
                hint="write the joint as stiffness: {ry: ...}, and name it joint.ry",
            )  # fmt: skip
        require_known("coordinate", table.over, (*mechanism.coordinate_names(), LOAD), part=f'table of "{name}"')
        knots = [float(x) for x in table.at] or _knots(mechanism, name, table.over, measured)
        if len(knots) < 2 or not (np.diff(knots) > 0.0).all():
            raise InputError(
                f"knots must be two or more, ascending (got {', '.join(f'{x:g}' for x in knots)})",
                part=f'table of "{name}"',
            )  # fmt: skip
        value = float(numbers.values[0])
        entries[member.path] = {"over": table.over, "at": knots, VALUES: [value] * len(knots)}
    return changed_mechanism(mechanism, entries), _with_knots(chosen, list(tables))


def _with_knots(chosen: Sequence[str] | Mapping[str, str | Sequence[str]], names: list[str]) -> Any:
    knots = [f"{name}.{VALUES}.*" for name in names]
    if isinstance(chosen, Mapping):
        plain = {shared: item for shared, item in chosen.items() if item not in names}
        return [*(f"{shared}:{item}" for shared, items in plain.items() for item in _several(items)), *knots]
    return [*(item for item in chosen if item not in names), *knots]


def _several(items: str | Sequence[str]) -> Sequence[str]:
    return [items] if isinstance(items, str) else items


def _knots(mechanism: Mechanism, name: str, over: str, measured: Sequence[Measurement]) -> list[float]:
    """Return three knots over the measured range."""
    from supple.identification.updating.varying import joint_load

    if over == LOAD:
        structure = structure_of(numbers_of(mechanism, [name]), 0.0)
        found = [joint_load(structure, name, item.at) for item in measured]
    else:
        found = [float(assemble(mechanism, item.at).coordinates[over]) for item in measured]
    low, high = min(found), max(found)
    if not high > low * (1.0 + 1e-9) + 1e-12:
        raise InputError(
            f"{over} is {low:g} at every measured posture", part=f'table of "{name}"',
            hint="measure at other postures, or give the knots",
        )  # fmt: skip
    return np.linspace(low, high, _KNOTS).tolist()


def knot_ties(names: Sequence[str], decades: float) -> Array | None:
    """Return rows (t, n), x_{i+1} - x_i over a deviation, for neighbouring knots of each table; None without tables."""
    if not decades > 0.0:
        raise InputError(f"must be positive (got {decades:g} decades)", part="smoothness", hint="0.15 is usual")
    place = {name: i for i, name in enumerate(names)}
    rows = []
    for name, i in place.items():
        match = _KNOT.fullmatch(name)
        other = place.get(f"{match['table']}.{int(match['number']) + 1}") if match else None
        if other is not None:
            row = np.zeros(len(names))
            row[i], row[other] = -1.0, 1.0
            rows.append(row / (np.log(10.0) * decades))
    return np.array(rows) if rows else None


DECADES = 0.3  # default prior deviation of a parameter from its value in the file
_BOUND = 3.0  # decades in both directions, by default
_BAND = 3.0  # of the highest measured frequency: frequency band of the condensed bodies
_COARSE = 40  # lines of responses in a first search
_BLURS = (0.3, 0.1)  # of a line's frequency: smearing of responses in a first search
_ROUGHLY, _CONVERGED = 1e-6, 1e-9  # tolerance of the sum of squares: in a search, and in the final fit
_ROUNDS = 3  # of robust weights, or of noise from the residuals

Progress = Callable[[str], None]


def update(
    mechanism: Mechanism | str | Path,
    measured: Measurement | Sequence[Measurement],
    parameters: str | Sequence[str] | Mapping[str, str | Sequence[str]],
    *,
    fixed: Sequence[str] = (),
    prior: float | Mapping[str, float] | None = DECADES,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    damping: str | None = None,
    damping_groups: Mapping[str, Sequence[str]] | None = None,
    starts: int = 8,
    seed: int = 0,
    cluster: Any = None,
    robust: bool = False,
    tables: Mapping[str, StiffnessTableOption | tuple[str, Sequence[float]] | str] | None = None,
    smoothness: float = SMOOTHNESS,
    progress: Progress | None = None,
) -> Updated:
    """Fit parameters of the mechanism file to measurements with locked actuators.

    The measurements are natural frequencies, mode shapes, antiresonances, static deflections and frequency responses.

    Parameters
    ----------
    mechanism : Mechanism, str or Path
        Mechanism, or its file.
    measured : Measurement or sequence of Measurement
        Measurements to fit.
    parameters : str, sequence of str, or mapping of str to str or sequence of str
        Names or patterns of the parameters to fit. They are entries of `parameters:` (`knee_*`) or values in parts
        (`elbow.rx`, `arm.drive`, `steel.E`). {"elbow": "elbow_r*"} or `elbow:elbow_r*` scales all that match by one
        common factor.
    fixed : sequence of str, optional
        Names or patterns of parameters that keep their values.
    prior : float, mapping of str to float, or None, optional
        Prior standard deviation around the values in the file, in decades; one for all, or by name or pattern. None
        uses no prior. Default: 0.3.
    bounds : mapping of str to (float, float), optional
        Lower and upper bounds by name. Default: a factor of 1000 below and above.
    damping : str, optional
        Damping model that is fitted to the responses: structural, rayleigh, none, modal, joints or materials.
        structural and rayleigh are fitted together with the parameters. modal, joints and materials, or several of
        them (`joints,materials`), are fitted afterwards, with a structural one during the fit of the parameters.
        Default: structural.
    damping_groups : mapping of str to sequence of str, optional
        Joints or materials that share one loss factor: {name: patterns}.
    starts : int, optional
        Number of starting points of the search. The first is the file's, the others are drawn from the prior.
        Default: 8.
    seed : int, optional
        Random seed for the starting points after the first. Default: 0.
    cluster : optional
        Cluster of dask.distributed, as in `reduce`. Each start is a task.
    robust : bool, optional
        Reduce the weight of outliers (Huber). Default: False.
    tables : mapping of str to (str, sequence of float) or str, optional
        Stiffnesses that become tables over a coordinate or over `load`, with their knots:
        {"knee.ry": ("lift", [0, 0.5, 1])}. {"knee.ry": "lift"} places three knots over the measured postures.
    smoothness : float, optional
        Expected difference between neighbouring knots of a table, in decades. Default: 0.15.
    progress : callable, optional
        Function that is called with a line of text for every step.

    Returns
    -------
    Updated
        Fitted values with their intervals, and the agreement with each measurement.

    Raises
    ------
    InputError
        If nothing was measured, or a name matches no parameter.

    Warns
    -----
    SuppleNote
        If loads at rest change the natural frequencies noticeably: fitted models do not include them.

    See Also
    --------
    plan_test : Predict which parameters a test can identify.
    fit_damping : Fit damping alone.
    identify : Identify drives from logged runs.

    Notes
    -----
    Maximum a posteriori estimate by least squares with exact derivatives; see docs/theory/updating.md.

    Examples
    --------
    >>> import supple
    >>> arm = supple.load("ralf")
    >>> measured = supple.Measurement(at="home", frequencies_hz=[6.1, 8.5])
    >>> found = supple.update(arm, measured, "aluminium.E", starts=1)
    >>> found.names, found["aluminium.E"] > 70e9
    (('aluminium.E',), True)
    """
    require_arguments(update, locals())
    from supple.formats.document import load_mechanism

    machine = mechanism if isinstance(mechanism, Mechanism) else load_mechanism(mechanism)
    items = [measured] if isinstance(measured, Measurement) else list(measured)
    if not items:
        raise InputError("no measurement is given", part="update", hint="give at least one Measurement")
    patterns = [parameters] if isinstance(parameters, str) else parameters
    if tables:
        machine, patterns = with_tables(machine, patterns, tables, items)
    highest = _BAND * max(item.highest_hz for item in items)
    structure = machine.compute_once(
        f"updating {patterns!r} without {list(fixed)!r} to {highest:.9g} Hz",
        lambda: structure_of(numbers_of(machine, patterns, list(fixed)), highest),
    )
    numbers = structure.numbers
    spread = prior_deviations(numbers.names, prior)
    limits = _bounds(numbers.names, numbers.values, bounds or {})
    losses, loss = _losses(machine, items, damping if damping in (None, *LOSSES) else "structural")
    if damping is not None and damping not in LOSSES:
        damping_kinds(damping)  # refuses an unknown kind before the work
    problem = problem_of(structure, items, spread, limits, losses, loss)
    problem = replace(problem, ties=knot_ties(problem.names, smoothness))
    note_omitted_loads(structure, [item.model for item in problem.observers])
    require_within("starts", starts, part="starts")
    x, best = _search(problem, starts, seed, progress, cluster)
    for turn in range(_ROUNDS):
        if problem.responses:
            best = problem = problem.with_noise(x)
        else:
            left = problem.data(x)
            # With outliers, the median of the residuals measures the noise, and not their sum.
            more = (
                (1.4826 * float(np.median(np.abs(left.residuals)))) ** 2 if robust else excess_variance(problem, left)
            )
            best = problem = replace(problem, stretch=problem.stretch * np.sqrt(max(more, 1.0 / problem.stretch**2)))
        if robust:
            best = problem.robust(x)
        x, moved = _fit(best, x), x
        if progress:
            progress(f"noise and weights, round {turn + 1}: RMS residual {_misfit(best, x):.3g} times the noise")
        if np.abs(x - moved).max() < 1e-3:
            break
    found = best.data(x)
    words = identifiability(best.names, found.slopes, np.where(np.isfinite(best.prior), best.prior, FLAT))
    ends = [name for name, value, low, high in zip(best.names, x, *best.bounds, strict=True)
            if min(value - low, high - value) < 1e-3]  # fmt: skip
    updated = Updated(
        names=best.names,
        before=np.exp(problem.start),
        after=np.exp(x),
        covariance=covariance(best, found),
        excess=best.stretch**2 * excess_variance(best, found),
        prior=best.prior,
        identifiability=words,
        at_bounds=tuple(ends),
        postures=posture_results(best, x),
        varying=find_varying_stiffness(best, x),
        measured=tuple(items),
        problem=best,
    )
    if not problem.responses or damping == "none":
        return updated
    if damping in (None, *LOSSES) and not _has_part_damping(structure):
        return updated
    # In addition to damping of parts, the damping model of the whole mechanism has other values than alone.
    return updated.with_damping(damping or "structural", groups=damping_groups)


def _search(
    problem: UpdatingProblem, starts: int, seed: int, progress: Progress | None, cluster: Any
) -> tuple[Array, UpdatingProblem]:
    """Return the best of several fits; with many responses, the search uses part of their lines."""
    random, count = np.random.default_rng(seed), max(1, starts)
    step = np.where(np.isfinite(problem.prior), problem.prior, FLAT)
    begins = [problem.start + (random.normal(size=len(step)) * step if i else 0.0) for i in range(count)]
    for x in begins:
        x[problem.count :] = problem.start[problem.count :]
    work = _FromStart(problem.coarse(_COARSE) if problem.responses else problem)
    ends: dict[int, tuple[Array, float]] = {}
    with workplace(cluster=cluster) as place:
        for part, found in place.results(work, np.array(begins), together=1):
            for i, (x, cost, misfit) in enumerate(found, part.start):
                ends[i] = x, cost
                if progress:
                    progress(f"start {i + 1} of {count}: RMS residual {misfit:.3g} times the noise")
    best, least = problem.start, np.inf
    for i in range(count):  # in order, so that the result does not depend on which ended first
        if ends[i][1] < least * (1.0 - 1e-9):
            best, least = ends[i]
    return _fit(problem, best), problem


@dataclass(frozen=True, eq=False)
class _FromStart:
    """Work of a search: from each start to its end, with the sum of squares there and the RMS residual."""

    search: UpdatingProblem

    def __call__(self, *rows: Array) -> list[tuple[Array, float, float]]:
        return [self._one(x) for x in rows[0]]

    def _one(self, x: Array) -> tuple[Array, float, float]:
        for blur in _BLURS if self.search.responses else ():
            x = _fit(replace(self.search, blur=blur), x, _ROUGHLY)
        x = _fit(self.search, x, _ROUGHLY)
        return x, _objective(self.search, x), _misfit(self.search, x)


def _fit(problem: UpdatingProblem, x: Array, close: float = _CONVERGED) -> Array:
    """Solve the least-squares problem from one start, with the exact Jacobian."""
    known = np.isfinite(problem.prior)
    rows = problem.build_prior_rows()
    last: dict[bytes, ResidualsWithSlopes] = {}

    def at(x: Array) -> ResidualsWithSlopes:
        key = x.tobytes()
        if key not in last:
            last.clear()
            last[key] = problem.data(x)
        return last[key]

    low, high = problem.bounds
    solved = least_squares(
        lambda x: np.concatenate([at(x).residuals, rows @ (x - problem.start)]),
        np.clip(x, low + 1e-9, high - 1e-9),
        jac=lambda x: np.vstack([at(x).slopes, rows]),
        bounds=(low, high), x_scale=np.where(known, np.minimum(problem.prior, 10.0), 1.0), ftol=close,
        xtol=max(1e-7, 0.1 * close), gtol=None, max_nfev=60,
    )  # fmt: skip
    return np.asarray(solved.x)


def _objective(problem: UpdatingProblem, x: Array) -> float:
    away = problem.build_prior_rows() @ (x - problem.start)
    return float(np.sum(np.square(problem.data(x).residuals)) + np.sum(np.square(away)))


def _misfit(problem: UpdatingProblem, x: Array) -> float:
    """Return the RMS of the residuals in units of noise."""
    r = problem.data(x).residuals
    return float(np.sqrt(np.mean(np.square(r)))) if len(r) else 0.0


def prior_deviations(names: Sequence[str], given: float | Mapping[str, float] | None) -> Array:
    """Return prior deviations of ln p, given in decades: one for all, by name or pattern, or none."""
    if given is None:
        return np.full(len(names), np.inf)
    if not isinstance(given, Mapping):
        given = {"*": float(given)}
    for pattern in given:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise InputError(f'no parameter to fit matches "{pattern}"', part="prior", hint=nearest(pattern, names))
    found = []
    for name in names:
        match = [value for pattern, value in given.items() if fnmatchcase(name, pattern)]
        value = float(match[-1]) if match else DECADES
        if not value > 0.0:
            raise InputError(
                f"must be positive (got {value:g} decades)", part=f'prior of "{name}"',
                hint="to keep the value, add it to `fixed`",
            )  # fmt: skip
        found.append(np.log(10.0) * value)
    return np.array(found)


def _bounds(names: Sequence[str], values: Array, given: Mapping[str, tuple[float, float]]) -> Array:
    wide = np.log(10.0) * _BOUND
    low, high = np.log(values) - wide, np.log(values) + wide
    for name, (least, most) in given.items():
        match = [i for i, other in enumerate(names) if fnmatchcase(other, name)]
        if not match:
            raise InputError(f'no parameter to fit matches "{name}"', part="bounds", hint=nearest(name, names))
        for i in match:
            if not 0.0 < least <= values[i] <= most:
                raise InputError(
                    f"the value in the file, {values[i]:g}, is outside {least:g} ... {most:g}",
                    part=f'bounds of "{names[i]}"', hint="widen the bounds, or change the file",
                )  # fmt: skip
            low[i], high[i] = np.log(least), np.log(most)
    return np.array([low, high])


def _has_part_damping(structure: CondensedStructure) -> bool:
    """Return True if the file has dampers, or losses of joints or materials, which a model of the whole omits."""
    machine, rest = structure.mechanism, structure.rest
    materials = any(item.damping is not None for item in machine.materials.values())
    return bool(rest.dampers or rest.losses or machine.dampers) or materials


def _losses(machine: Mechanism, items: Sequence[Measurement], damping: str | None) -> tuple[tuple[str, ...], Loss]:
    """Return the damping parameters to fit, and their start: the mechanism's values, or 1 %."""
    model = machine.damping
    alpha, beta = (model and model.rayleigh) or (0.0, 0.0)
    known = Loss((model and model.structural) or 0.0, alpha, beta)
    responses = [item.responses for item in items if item.responses is not None]
    if not responses:
        return (), known
    losses = LOSSES[damping or "structural"]
    omega = 2.0 * np.pi * float(np.median(responses[0].frequencies_hz))
    first = {"eta": 0.02, "alpha": 0.01 * omega, "beta": 0.01 / omega}
    return losses, known._replace(**{name: getattr(known, name) or first[name] for name in losses})


# A note if loads at rest change the frequencies noticeably: fitted models do not include them.


_MUCH = 0.01  # of ω²: half a per cent of a frequency, the default noise
_MODES = 10


def note_omitted_loads(structure: CondensedStructure, models: Sequence[PostureModel]) -> None:
    """Note the largest contribution of loads at rest to ω² of the lowest modes, ψᵀK_gψ / ψᵀKψ, if it is large."""
    if not carries_loads(structure.mechanism):
        return
    worst = 0.0
    for model in models:
        spectrum = model.spectrum(structure.at(structure.numbers.values), _MODES)
        shapes = model.N @ spectrum.psi  # ψᵀKψ = 1
        try:
            K_g = preload_stiffness(structure.rest, model.configuration)
        except InputError:  # nothing holds the loads: there are no forces at rest
            return
        share = np.einsum("zm,zy,ym->m", shapes, K_g, shapes)
        worst = max(worst, float(np.abs(share).max(initial=0.0)))
    if worst > _MUCH:
        warnings.warn(
            f'mechanism "{structure.mechanism.name}": loads at rest change ω² by up to {100.0 * worst:.1f} %. '
            "Fitted models do not include them, so that fitted stiffnesses compensate for them",
            SuppleNote, stacklevel=user_level(),
        )  # fmt: skip


# Uncertainty of fitted parameters due to noise, with correlated errors counted once.


_CHANCE = 2.5  # deviations that are not due to chance


def covariance(problem: UpdatingProblem, found: ResidualsWithSlopes) -> Array:
    """Return the covariance A B A of x, A = (JᵀJ + Σ₀⁻¹)⁻¹ (updating, eqs. 17, 28).

    B includes correlated errors of responses: B = Σ₀⁻¹ + Σ of all else JᵀJ + c Σ_m R_m (1 - |m|/M) Σ_l J_lᴴ J_{l-m}
    """
    prior = _precision(problem)
    whole = found.slopes.T @ found.slopes + prior
    A = np.asarray(np.linalg.pinv(whole, hermitian=True), np.float64)
    B = whole.copy()
    for r, J in problem.by_lines(found):
        own = np.einsum("lci,lcj->ij", J.conj(), J).real
        B += _channel_correlation(A, r, J) * _line_correlation(r, J) - own
    return np.asarray(A @ B @ A, np.float64)


def _line_correlation(r: Complex, J: Complex) -> Array:
    """Return Σ_m R_m (1 - |m|/M) Σ_l J_lᴴ J_{l-m} (k, k): errors with correlation R_m between lines.

    It is common to all channels, up to the first lag M at which it vanishes. Windows of records cause it, and large
    model errors. The noise of a channel is known from L/Σ|R|² lines: the error of the weights increases the scatter of
    parameters by 2Σ|R|²/L.
    """
    lines = len(r)
    power = float(np.sum(np.abs(r) ** 2))
    R = [np.sum(r[m:] * r[: lines - m].conj()) / max(power, 1e-300) for m in range(max(2, lines // 4))]
    none = np.flatnonzero(np.abs(R) < _CHANCE / np.sqrt(r.size))
    M = int(none[0]) if len(none) else len(R)
    found = np.zeros((J.shape[2], J.shape[2]))
    for m in range(max(M, 1)):
        left, right = (part.reshape(-1, J.shape[2]) for part in (J[m:], J[: lines - m]))
        one = R[m] * (1.0 - m / max(M, 1)) * (left.conj().T @ right)
        found += one.real if m == 0 else (one + one.conj().T).real
    repeated = 2.0 * float(np.sum(np.abs(R[: max(M, 1)]) ** 2)) - 1.0
    return np.asarray((1.0 + 2.0 * repeated / lines) * found)


def _channel_correlation(A: Array, r: Complex, J: Complex) -> float:
    """Return c, at least 1: the ratio of the lines' pull at the parameters to that of noise, over all channels.

    A line has already moved the parameters: its pull is the one it would have if it had been omitted (eq. 29).
    """
    pulls = np.einsum("lci,lc->li", J.conj(), r).real
    own = np.einsum("lci,lcj->lij", J.conj(), J).real
    whole = np.linalg.pinv(A, hermitian=True)
    pulls = np.einsum("lij,lj->li", whole @ np.linalg.pinv(whole - own, hermitian=True), pulls)
    expected = np.trace(A @ own.sum(axis=0))
    if not expected > 0.0:
        return 1.0
    c = float(np.einsum("li,ij,lj->", pulls, A, pulls) / expected)
    turned = A @ own
    chance = np.sqrt(2.0 * np.einsum("lij,lji->", turned, turned)) / expected
    return c if c > 1.0 + _CHANCE * chance else 1.0


def excess_variance(problem: UpdatingProblem, found: ResidualsWithSlopes) -> float:
    """Return the ratio of the residuals' variance to the noise; at least 1, and 1 without degrees of freedom.

    It is Σ r² over the number of residuals minus the effective number of parameters.
    """
    information = found.slopes.T @ found.slopes
    used = float(np.trace(np.linalg.pinv(information + _precision(problem), hermitian=True) @ information))
    free = len(found.residuals) - used
    return max(1.0, float(np.sum(np.square(found.residuals))) / free) if free >= 1.0 else 1.0


def _precision(problem: UpdatingProblem) -> Array:
    rows = problem.build_prior_rows()
    return np.asarray(rows.T @ rows)
