"""Modes of vibration about the undeformed mechanism at θ (docs/theory/elastic-rest.md), or of its rigid links."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, SuppleWarning
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.limits import require_within
from supple.formulations.elastic_rest.body_coordinates import own_band
from supple.formulations.elastic_rest.constrained_modes import constrained_modes
from supple.formulations.elastic_rest.dense import dense_modes, needs_dense
from supple.formulations.elastic_rest.elastic_rest import ElasticRest, HeldRows, elastic_rest
from supple.formulations.elastic_rest.joint_stiffness_under_load import under_loads
from supple.formulations.elastic_rest.loaded_modes import constrained_loaded_modes
from supple.formulations.elastic_rest.loaded_statics import load_factors
from supple.formulations.elastic_rest.loads import EVERY, carries_loads
from supple.formulations.elastic_rest.preload import UnheldLoads, held_loads
from supple.formulations.rigid_link_system.small_link_motions import (
    UNCONDENSED,
    link_free_motions,
    link_modes,
    locked_motions,
    over_z,
    rest_load_stiffness,
)
from supple.kinematics.configuration import At, Configuration
from supple.modal_analysis.mode_set import ModeSet
from supple.modal_analysis.mode_slopes import mode_slopes, require_slopes
from supple.systems.protocols import by_rigid_links

_MARGIN = 1.1  # band over the highest mode found: room for modes that a wider band lowers or adds
_WIDER = 8.0
_PER_TURN = 0.5 / np.pi
_ROUNDING = 1e-9  # fraction of the highest requested ω²


def modes(
    mechanism: Mechanism,
    at: At | Configuration = None,
    *,
    count: int = 6,
    free_actuators: bool = False,
    preload: bool = True,
    formulation: str = "auto",
    along: str | Sequence[str] = (),
) -> ModeSet:
    """Compute natural frequencies and mode shapes at a posture.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism with elastic bodies or joints.
    at : str, mapping, array_like or Configuration, optional
        Posture, as for `assemble`; a batch (N, s) gives the modes at N postures. Default: rest.
    count : int, optional
        Number of modes, the lowest first. Default: 6, or all modes if there are fewer.
    free_actuators : bool, optional
        Let the coordinates θ move freely instead of locking the actuators. Default: False.

        Motions without stiffness count as modes of 0 Hz.
    preload : bool, optional
        Include the geometric stiffness of gravity and all forces at rest. Default: True.
    formulation : {"auto", "erls"}, optional
        Formulation of the equations; "erls" is the equivalent rigid link system. Default: "auto".

        "erls" does not condense the bodies, which the default does.
    along : str or sequence of str, optional
        Parameters of the file for the slopes of frequencies and shapes at constant θ. Default: none.

        Masses, stiffnesses, sections, lengths and positions are supported; see docs/theory/parameters.md. The slopes
        are in `ModeSet.eigenvalue_slopes` and `ModeSet.frequency_slopes`.

    Returns
    -------
    ModeSet
        Natural frequencies and shapes; for a batch all arrays have a leading axis (N, ...).

    Raises
    ------
    InputError
        If nothing is elastic, or nothing can move.

    Warns
    -----
    SuppleWarning
        If the mechanism buckles under its loads, or the loads at rest cannot be balanced.

    See Also
    --------
    small_motions : Modes about the deformed equilibrium or a steady motion.
    frf : Frequency responses.
    linearize : Linear model in state space.

    Notes
    -----
    The modes solve (K, M) with C(θ) z = 0, see equations 5-9 of docs/theory/elastic-rest.md. Frequencies have the
    error of the condensation of bodies, at most 5e-7 relative, and that of their meshes.

    Examples
    --------
    >>> import supple
    >>> found = supple.modes(supple.load("flexible-four-bar"), "home", count=3)
    >>> found.frequencies_hz.round(1)
    array([10.3, 26.5, 54.2])
    >>> found.descriptions[0]
    'in the plane; coupler 53 %, follower 37 % and crank 9 % of the motion; crank 99 % of the deformation'
    """
    require_arguments(modes, locals())
    require_count(count)
    parameters = (along,) if isinstance(along, str) else tuple(along)
    preload = preload and carries_loads(mechanism)
    require_slopes(mechanism, parameters, rigid_links=by_rigid_links(formulation))
    mechanism, configuration = under_loads(mechanism, at)
    if by_rigid_links(formulation):
        _structure(mechanism, own_band(mechanism), free_actuators)  # raises an error if there are no vibrations
        if not free_actuators:
            preload = preload and held_loads(mechanism, "modes")
        found = link_mode_set(mechanism, configuration, count, free_actuators=free_actuators, preload=preload)
        if len(found) == 0:
            raise _make_immobility_error(mechanism, free_actuators)
        return found
    X = np.ascontiguousarray(configuration.X.reshape(-1, *configuration.X.shape[-2:]))
    dense = (free_actuators and preload) or needs_dense(mechanism, free_actuators=free_actuators)
    bands: dict[tuple[int, bool], float] = mechanism.compute_once("modal bands", dict)
    band = bands.get((count, free_actuators)) or own_band(mechanism)
    while True:
        rest, held = _structure(mechanism, band, free_actuators)
        count = min(count, rest.largest)
        if dense:
            squares, Z = _one_by_one(rest, configuration, held, count, preload=preload)
        elif preload:
            try:
                squares, Z = constrained_loaded_modes(rest, held, configuration, count)
            except UnheldLoads as error:
                warnings.warn(f"modes without the stiffness of loads: {error}", SuppleWarning, stacklevel=2)
                preload = False
                continue
        else:
            squares, Z = constrained_modes(rest, held, X, count)
        hertz = np.sqrt(np.abs(squares)) * _PER_TURN
        highest = float(hertz.max(initial=0.0))
        if rest.whole or (highest <= rest.band and squares.shape[1] == count):
            break
        band = _MARGIN * highest if highest > rest.band else _WIDER * rest.band
    if squares.shape[1] == 0:
        raise _make_immobility_error(mechanism, free_actuators)
    bands[count, free_actuators] = rest.band
    if preload and not free_actuators:
        _warn_of_buckling(rest, configuration, squares)
    frequencies = np.copysign(hertz, squares)
    slopes = {
        name: tuple(
            mode_slopes(rest, item, own, name, free_actuators=free_actuators, preload=preload)
            for item, own in zip(configuration.each(), Z, strict=True)
        )
        for name in parameters
    }
    if configuration.X.ndim == 2:
        frequencies, Z = frequencies[0], Z[0]
    return ModeSet(configuration, frequencies, Z, rest, held, slopes)


def _warn_of_buckling(rest: ElasticRest, configuration: Configuration, squares: Array) -> None:
    """Warn if the loads exceed the buckling load, with the critical load factor."""
    past = np.flatnonzero(squares[:, 0] < -_ROUNDING * np.abs(squares).max(axis=1))
    if not len(past):
        return
    one = list(configuration.each())[int(past[0])]
    factors, _ = load_factors(rest, one, EVERY, 1)
    where = f" at {len(past)} of {len(squares)} configurations" if len(squares) > 1 else ""
    warnings.warn(
        f'mechanism "{rest.numbering.mechanism.name}" buckles under {factors[0]:.4g} times its loads{where}: modes '
        "with a negative frequency are unstable motions under the loads",
        SuppleWarning, stacklevel=3,
    )  # fmt: skip


def require_count(count: int) -> None:
    """Require a number of modes of at least one and within the limit."""
    if count < 1:
        raise InputError(f"the number of modes must be at least 1 (got {count})")
    require_within("modes", count, part="count")


def _make_immobility_error(mechanism: Mechanism, free_actuators: bool) -> InputError:
    locked = "" if free_actuators else "actuators" if mechanism.actuators else "coordinates"
    return InputError(
        "nothing can move" + (f" while its {locked} are locked" if locked else ""),
        part=f'mechanism "{mechanism.name}"',
        hint="check its mobility with `supple check`"
        + (f"; free the {locked}, or make a body or a joint elastic" if locked else ""),
    )


def _structure(mechanism: Mechanism, band: float, free_actuators: bool) -> tuple[ElasticRest, HeldRows]:
    """Return the bodies condensed for a band, and the constrained rows; computed once."""

    def build() -> tuple[ElasticRest, HeldRows]:
        rest = elastic_rest(mechanism, band)
        if not free_actuators:
            require_elastic(rest)
        return rest, rest.list_held_rows(actuators=not free_actuators)

    return mechanism.compute_once(f"structure {band} {free_actuators}", build)


def _one_by_one(
    rest: ElasticRest, configuration: Configuration, held: HeldRows, count: int, *, preload: bool
) -> tuple[Array, Array]:
    found = [dense_modes(rest, item, held, preload=preload) for item in configuration.each()]
    return np.array([squares[:count] for squares, _ in found]), np.array([Z[:count] for _, Z in found])


def require_elastic(rest: ElasticRest) -> None:
    """Require an elastic body or joint: a mechanism of rigid parts neither deflects nor vibrates."""
    if not rest.elastic and not (rest.arrays.compliance > 0.0).any():
        raise InputError(
            "no body or joint is elastic",
            part=f'mechanism "{rest.numbering.mechanism.name}"',
            path=("bodies",),
            hint="replace a rod by a beam with section: and material:, or give a joint its stiffness:",
        )


# Modes of the equivalent rigid link system, reported like those of the other formulations (rigid-link-system, 22-24).
#
# Nothing is condensed. Shapes are converted to the coordinates z of the uncondensed elastic mechanism, so that
# descriptions, energies, plots and the modal assurance criterion are the same.


def link_mode_set(
    mechanism: Mechanism, configuration: Configuration, count: int, *, free_actuators: bool, preload: bool
) -> ModeSet:
    """Return the lowest modes of the equivalent rigid link system, at one configuration or many."""
    rest = elastic_rest(mechanism, UNCONDENSED)
    found = [_link_modes(rest, one, count, free_actuators, preload) for one in configuration.each()]
    kept = min(len(hertz) for hertz, _ in found)
    frequencies, Z = np.array([hertz[:kept] for hertz, _ in found]), np.array([shapes[:kept] for _, shapes in found])
    if configuration.X.ndim == 2:
        frequencies, Z = frequencies[0], Z[0]
    return ModeSet(configuration, frequencies, Z, rest, rest.list_held_rows(actuators=not free_actuators))


def _link_modes(rest: ElasticRest, one: Configuration, count: int, free: bool, preload: bool) -> tuple[Array, Array]:
    motions = link_free_motions(one, preload=preload) if free else locked_motions(one)
    T = over_z(rest, motions)
    if preload:
        motions = motions._replace(K=motions.K + rest_load_stiffness(rest, one, motions, T))
    squares, modes = link_modes(motions, count)
    hertz = np.copysign(np.sqrt(np.abs(squares)) / (2.0 * np.pi), squares)
    return hertz, np.ascontiguousarray((T @ modes).T)
