"""Frequency responses of a mechanism about a configuration (docs/theory/frequency-response.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array, Complex
from supple.compilation.threads import single_blas_thread
from supple.description.elastic.damping import Damping
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, nearest
from supple.diagnostics.arguments import require_arguments
from supple.equations.observation import ORDERS
from supple.formulations.coefficients import carried
from supple.formulations.elastic_rest.constrained_modes import rows_at
from supple.formulations.elastic_rest.damping_law import Dissipation, dissipation, joint_losses, materials_over_z
from supple.formulations.elastic_rest.elastic_rest import ElasticRest, elastic_rest, own_band
from supple.formulations.elastic_rest.held_loads import held_loads
from supple.formulations.elastic_rest.loaded_stiffness import under_loads
from supple.formulations.elastic_rest.loads import carries_loads
from supple.formulations.hardware import hardware_of
from supple.formulations.measured_units import output_units
from supple.formulations.rigid_link_system.small_motions import free_motions, locked_motions
from supple.frequency_response.direct_response import Proportional, direct_response, require_finite
from supple.frequency_response.driving import Holding, Inputs, driving_inputs, holding
from supple.frequency_response.modal_response import modal_response, modal_system
from supple.hardware.drive_block import DriveBlock
from supple.hardware.drive_response import impedance, instrument_response
from supple.hardware.hardware import NO_HARDWARE
from supple.kinematics.configuration import At, Configuration
from supple.modal_analysis.link_modes import UNCONDENSED, over_z, rest_load_stiffness
from supple.modal_analysis.modes import require_elastic
from supple.modal_analysis.ports import Port, port, port_rows, touched
from supple.modal_analysis.restraint import Restraint, restraint
from supple.reduced.model import ReducedModel
from supple.results.frequency_response import KINDS, FrequencyResponse, Kind, response_unit
from supple.results.linear_model import LinearModel
from supple.systems.formulation_choice import by_rigid_links
from supple.systems.model_questions import model_place, require_defaults

_MOST = 1e6  # damping ratio that anyone means

_BAND = 1.5  # of the highest line: what bodies are condensed for
_INSIDE = 16.0  # the same where a place is pushed or seen that nothing touches, and whose statics are not kept for it
_VIBRATING = 3.0  # of the highest line: modes up to there vibrate, the rest follows statically


def frf(
    mechanism: Mechanism | ReducedModel | LinearModel,
    at: At | Configuration = None,
    inputs: str | Sequence[str] = (),
    outputs: str | Sequence[str] = (),
    frequencies_hz: ArrayLike = (),
    *,
    kind: Kind = "receptance",
    free_actuators: bool = False,
    damping: Damping | Mapping[str, Any] | float | None = None,
    method: Literal["direct", "modal"] = "direct",
    preload: bool = True,
    drives: bool = True,
    formulation: str = "auto",
) -> FrequencyResponse:
    """Motion of the outputs for a unit of each input, at every frequency.            [frequency-response, eqs. 1-16]

    `model.frf` is the same call for a reduced model, which has the damping that it was reduced with. A linear model
    answers about the state that it was linearized about, from its own inputs to its own outputs.

    inputs   : `lift`, the command of its drive, or without one the force of the actuator (with free actuators);
               `lift.acceleration`, its motion is led, and the others stay as they are; `E.z`, a force at a place; any
               sensor's output, a force along what it measures
    outputs  : sensor outputs, as their instruments show them, `place.axis`, actuators, joint coordinates
    kind     : receptance, mobility, accelerance: displacement, velocity or acceleration of the output per unit input
    damping  : {"modal": ζ}, {"structural": η}, {"rayleigh": (α, β)}, a number for ζ, 0 for none; the mechanism's if
               left out. Dampers and `elastic_damping` of the mechanism always act
    method   : direct, or modal: modes up to three times the highest line, and the others statically
    preload  : add the geometric stiffness of gravity and all forces at rest; False leaves it out
    drives   : False leaves drives and instruments out. A drive that leads holds its coordinate, one that yields holds
               it with its stiffness; the other coordinates are locked, or free with free actuators
    formulation : "erls" goes through the equivalent rigid link system, line by line
    """
    require_arguments(frf, locals())
    if kind not in KINDS:
        raise InputError(f'"{kind}" is not a kind of response', part="kind", hint=nearest(kind, KINDS))
    if method not in ("direct", "modal"):
        raise InputError(f'"{method}" is not a method', part="method", hint="direct or modal")
    if isinstance(mechanism, LinearModel):
        given = {
            "at": at is not None, "free_actuators": free_actuators, "damping": damping is not None,
            "method": method != "direct", "preload": not preload, "drives": not drives,
            "formulation": formulation != "auto",
        }  # fmt: skip
        return _of_linear_model(mechanism, _names(inputs, "inputs"), _names(outputs, "outputs"), frequencies_hz, kind,
                                given)  # fmt: skip
    if isinstance(mechanism, ReducedModel):
        given = {"damping": damping is not None, "method": method != "direct", "formulation": formulation != "auto"}
        why = "a reduced model has the damping it was reduced with, and its responses one method"
        require_defaults(mechanism, given, why)
        return mechanism.frf(
            model_place(mechanism, at), inputs, outputs, frequencies_hz, kind=kind, free_actuators=free_actuators,
            preload=preload, drives=drives,
        )  # fmt: skip
    links = by_rigid_links(formulation)
    if links and method != "direct":
        raise InputError("it goes line by line", part='formulation "erls"', hint="leave the method out")
    lines = _lines(frequencies_hz)
    mechanism, configuration = under_loads(mechanism, at)
    if configuration.X.ndim != 2:
        raise InputError("a response is at one configuration, not many", part="at", hint="ask for each by itself")
    numbering = configuration.rest.numbering
    hardware = hardware_of(mechanism) if drives else NO_HARDWARE
    held = holding(numbering, hardware, free_actuators=free_actuators)
    driven = driving_inputs(numbering, _names(inputs, "inputs"), hardware, held.locked)
    seen = watched(configuration, _names(outputs, "outputs"))
    kept = all(touched(numbering, item) for item in [*driven.forces, *seen.ports])
    highest = float(lines.max())
    rest = elastic_rest(mechanism, _BAND * highest if kept else _INSIDE * max(highest, own_band(mechanism)))
    if not held.moves(numbering) and not driven.led:
        require_elastic(rest)
    if links:
        rest = elastic_rest(mechanism, UNCONDENSED)
    asked = _Asked(lines, _law(mechanism, damping), method, preload, links)
    H = _driven_displacements(rest, configuration, driven, seen.ports, held, asked)
    H = seen.seen(H, lines)[:, :, driven.order] * driven.factors(lines, KINDS[kind])[:, None, :]
    for i, name in enumerate(seen.names):
        shown = hardware.instrument(name)
        if shown is not None:
            H[:, i] *= instrument_response(shown, 2.0 * np.pi * lines)[:, None]
    return FrequencyResponse(
        lines,
        np.ascontiguousarray(H),
        driven.names,
        seen.names,
        tuple(tuple(response_unit(kind, one, unit) for unit in driven.units(numbering)) for one in seen.units),
        kind,
        mechanism.name,
    )


def _of_linear_model(
    model: LinearModel,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    frequencies: ArrayLike,
    kind: Kind,
    given: Mapping[str, bool],
) -> FrequencyResponse:
    """C (iω - A)⁻¹ B + D, times (iω)^order; given : options that differ from their defaults."""
    for option, differs in given.items():
        if differs:
            raise InputError(
                "a linear model answers as it was linearized", part=option,
                hint="leave it out, or linearize the mechanism as you want it",
            )  # fmt: skip
    if model.step is not None and kind != "receptance":
        raise InputError("it is a model in discrete time", part="kind", hint="ask the continuous model")
    lines = _lines(frequencies)
    found = model.frequency_response(lines, outputs, inputs)
    known, pushed = model.units.outputs, model.units.inputs
    units = tuple(
        tuple(response_unit(kind, known[row], pushed[column]) if row in known and column in pushed else ""
              for column in inputs)
        for row in outputs
    )  # fmt: skip
    values = found.values * ((2j * np.pi * lines) ** KINDS[kind])[:, None, None] if KINDS[kind] else found.values
    return replace(found, values=values, units=units, kind=kind)


class _Asked(NamedTuple):
    """What is asked of the mechanism: lines, Hz; its damping; the method; whether forces at rest count, and
    whether rigid links are asked."""

    lines: Array
    law: Damping | None
    method: str
    preload: bool
    links: bool = False


def _driven_displacements(
    rest: ElasticRest, configuration: Configuration, driven: Inputs, seen: list[Port], held: Holding, asked: _Asked
) -> NDArray[np.complex128]:
    """As `_displacements`, with what drives hold their coordinates with: f = -Z θ beside what soft rows have of it.

    y = H_y u + H_yf f,   θ = H_θ u + H_θf f        y = (H_y - H_yf (1 + Z H_θf)⁻¹ Z H_θ) u
    """
    left = {block: _left(block, asked) for block in held.drives}
    ports = [port(rest.numbering, block.actuator) for block, Z in left.items() if Z.any()]
    both = driven._replace(forces=[*driven.forces, *ports])
    H = _displacements(rest, configuration, both, [*seen, *ports], held, asked)
    if not ports:
        return H
    o, first = len(seen), len(driven.forces)
    added = np.arange(first, first + len(ports))
    others = np.setdiff1d(np.arange(H.shape[2]), added)
    Z = np.stack([Z for Z in left.values() if Z.any()], axis=1)[:, :, None]
    back = np.linalg.solve(np.eye(len(ports)) + Z * H[:, o:][:, :, added], Z * H[:, o:][:, :, others])
    return np.asarray(H[:, :o][:, :, others] - H[:, :o][:, :, added] @ back)


def _left(block: DriveBlock, asked: _Asked) -> NDArray[np.complex128]:
    """Of what a drive holds with, (L,): back-EMF with inductance; and that k is not damped as the mechanism is."""
    omega, k = 2.0 * np.pi * asked.lines, block.stiffness or 0.0
    eta, (_, beta) = (asked.law and asked.law.structural) or 0.0, (asked.law and asked.law.rayleigh) or (0.0, 0.0)
    if not block.E.any() and not (k and (eta or beta)):
        return np.zeros(len(omega), dtype=np.complex128)
    soft = k * (1.0 + 1j * eta) + 1j * omega * (beta * k + block.damping)
    return np.asarray(impedance(block, omega) - soft)


def _displacements(
    rest: ElasticRest, configuration: Configuration, driven: Inputs, seen: list[Port], holding: Holding, asked: _Asked
) -> NDArray[np.complex128]:
    """Displacements for unit forces, and for unit displacements of what is led: (L, outputs, forces and led)."""
    (lines, law, method, preload, links), locked = asked, {*holding.locked, *driven.led}
    held, free = restraint(rest, locked=locked, yields=holding.yields), holding.moves(rest.numbering)
    rows = port_rows(rest, [*driven.forces, *seen], configuration.X[None], between=True)[0]
    forces, outputs = rows[: len(driven.forces)], rows[len(driven.forces) :]
    alpha, beta = (law and law.rayleigh) or (0.0, 0.0)
    # With nothing but the deformation in motion, damping by mass is as simple as damping by stiffness.
    alone = not rest.elastic or not (free or driven.led)
    proportional = Proportional((law and law.structural) or 0.0, alpha if alone else 0.0, beta)
    of_modes = law if law and law.modal else Damping(rayleigh=(alpha, 0.0)) if alpha > proportional.alpha else None
    deformed = deformation_damping(rest, configuration, of_modes, restraint(rest, locked=locked))
    omega = 2.0 * np.pi * lines
    mechanism = rest.numbering.mechanism
    # With free actuators loads that nothing holds are an error.
    preload = preload and (carries_loads(mechanism) if free else held_loads(mechanism, "a response"))
    if links:
        return link_response(
            rest, configuration, holding, driven.led, (forces, outputs), omega, proportional, deformed,
            preload=preload, turning=free,
        )  # fmt: skip
    if method == "direct" and deformed is None and not preload:
        return direct_response(rest, configuration.X, held, forces, driven.led, outputs, omega, proportional)
    below = None if method == "direct" else _VIBRATING * float(lines.max())
    return modal_response(
        rest, configuration, held, forces, driven.led, outputs, omega, proportional, deformed,
        preload=preload, turning=free, below=below,
    )  # fmt: skip


def _lines(frequencies: ArrayLike) -> Array:
    lines = np.array(frequencies, float).reshape(-1)
    if not len(lines):
        raise InputError("no frequency is given", part="frequencies_hz", hint="give some, for example 1 to 100 Hz")
    if not np.isfinite(lines).all() or (lines < 0.0).any():
        wrong = lines[~(np.isfinite(lines) & (lines >= 0.0))][0]
        raise InputError(f"{wrong:g} Hz is not a frequency", part="frequencies_hz", hint="give finite ones from 0 on")
    return lines


def _names(given: str | Sequence[str], what: str) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given)
    if not names:
        raise InputError("none is given", part=what, hint="name a sensor's output, an actuator or place.axis")
    return names


def _law(mechanism: Mechanism, given: Damping | Mapping[str, Any] | float | None) -> Damping | None:
    """The damping that was asked for, or the mechanism's."""
    if given is None:
        return mechanism.damping
    if isinstance(given, Damping):
        return given
    if isinstance(given, Mapping):
        from pydantic import ValidationError

        try:
            return Damping(**{str(name): value for name, value in given.items()})
        except ValidationError as error:
            reason = error.errors()[0]["msg"].removeprefix("Value error, ")
            raise InputError(reason, part="damping", hint="for example modal=0.01") from None
    if not 0.0 <= given <= _MOST:
        raise InputError(f"a damping ratio of {given:g} is not possible", part="damping", hint="give 0 or more")
    return Damping(modal=float(given))


# Damping of a mechanism's deformation over z, whichever of its actuators are free.
#
# Modes and materials are damped as `damping_law` says with actuators locked; with free ones the same forces act, on
# what is deformation in a motion, z - Ψ_θ C_θ z, and not on the rigid motion that goes with θ (docs/theory/damping.md,
# eq. 6):
#
#     D_z = BᵀDB,   H_z = BᵀHB,   B = Φ M (1 - Ψ_θ C_θ)
#
# Φ are the modes with locked actuators, of unit mass. So do models in time, where D has no part in θ. A mechanism that
# is rigid but for springs along its coordinates has no deformation; there the law is that of its modes as they are
# held.


def deformation_damping(
    rest: ElasticRest, configuration: Configuration, law: Damping | None, held: Restraint
) -> Dissipation | None:
    """D_z and H_z (n, n) at one configuration, held as it is; None if no mode, material or joint is damped."""
    materials = materials_over_z(rest)
    if law is None and materials is None and not rest.losses:
        return None
    first = rest.numbering.constraints
    theta = np.arange(first, first + len(rest.numbering.coordinates))
    deforms = restraint(rest, locked=set(theta.tolist())) if rest.elastic else held
    system = modal_system(rest, configuration, deforms, preload=False)
    Phi = system.shapes
    of_joints = joint_losses(rest, configuration.X[None], Phi)
    found = dissipation(
        law, np.eye(len(Phi)), np.diag(system.squares), None if materials is None else materials.over(Phi),
        None if of_joints is None else of_joints[0],
    )  # fmt: skip
    B = Phi @ system.M
    if rest.elastic:
        C = rows_at(rest, theta, configuration.X[None])[0]
        B = B - B @ rigid_over_z(rest, configuration).T @ C
    return Dissipation(B.T @ found.viscous @ B, B.T @ found.hysteretic @ B)


def rigid_over_z(rest: ElasticRest, configuration: Configuration) -> Array:
    """Ψ_θ (s, n): every body moves rigidly, one of θ by one and the others not at all."""
    bodies = np.zeros((rest.size, sum(body.rigid.shape[1] for body in rest.bodies)))
    d = rest.bodies[0].rigid.shape[1]
    for b, body in enumerate(rest.bodies):
        bodies[body.start : body.stop, b * d : (b + 1) * d] = body.rigid
    m, s = rest.numbering.constraints, len(rest.numbering.coordinates)
    rows = rows_at(rest, np.arange(m + s), configuration.X[None])[0]
    # Bodies in units of their own mass, as z is: a twist of size one is then of energy one half.
    unit = np.linalg.qr(bodies)[0]
    wanted = np.vstack([np.zeros((m, s)), np.eye(s)])
    length = np.linalg.norm(rows @ unit, axis=1, keepdims=True)
    length[length == 0.0] = 1.0
    found = np.linalg.lstsq(rows @ unit / length, wanted / length, rcond=1e-12)[0]
    return np.asarray((unit @ found).T, dtype=np.float64)


# What is watched in a frequency response: ports, or outputs that are made of them and of their rates.
#
# About rest an output of measures μ moves with S₀ δμ + S₁ δμ̇ + S₂ δμ̈: its response is Σ_p (iω)^p S_p times theirs.


class Watched(NamedTuple):
    """Outputs by name with their units, the ports they are made of, and S (3, outputs, ports)."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    ports: list[Port]
    S: Array

    def seen(self, H: Complex, lines: Array) -> Complex:
        """Responses of the outputs (L, outputs, inputs), from those of the ports (L, ports, inputs)."""
        rates = (2j * np.pi * lines)[:, None, None]
        return np.asarray(sum(rates**p * (S @ H) for p, S in enumerate(self.S) if S.any() or not p))


def watched(configuration: Configuration, names: tuple[str, ...]) -> Watched:
    """Outputs of sensors, actuators, joint coordinates, or `place.axis`."""
    numbering, load = configuration.rest.numbering, carried(configuration.rest)
    observation, units = load.observation, output_units(configuration.rest)
    rows = np.array(list(load.measured.values()), dtype=np.int64)
    x = np.zeros((ORDERS, len(rows) + len(observation.efforts)))
    x[0, : len(rows)] = configuration.w[rows - numbering.constraints]
    slopes = observation.slopes(x)
    ports: list[Port] = []
    entries: list[tuple[int, int, int, float]] = []
    found = []
    for i, name in enumerate(names):
        if name not in observation.outputs or observation.measure_of(name) is not None:
            entries.append((0, i, len(ports), 1.0))
            ports.append(port(numbering, name))
            found.append(ports[-1].unit)
            continue
        found.append(units[name])
        of = slopes[:, observation.names.index(name)]
        if of[:, len(rows) :].any():
            raise InputError(
                "it is a force inside the mechanism", part=f'output "{name}"',
                hint="ask a linear or a reduced model for its response",
            )  # fmt: skip
        for p, measure in zip(*np.nonzero(of), strict=True):
            entries.append((int(p), i, len(ports), float(of[p, measure])))
            row = int(rows[measure])
            ports.append(Port(observation.measures[measure], bool(numbering.angles()[row]), row))
    S = np.zeros((ORDERS, len(names), len(ports)))
    for p, i, k, weight in entries:
        S[p, i, k] = weight
    return Watched(names, tuple(found), ports, S)


# Responses of the equivalent rigid link system, line by line over w_i (docs/theory/rigid-link-system.md, 22).
#
#     (K_e(1 + iη) + K_g + iω(D + αM + βK_e) + iH - ω²M) w_i = f
#
# K_e is elastic, K_g what forces at rest add. Ports are rows over the coordinates z of the uncondensed mechanism, and
# so are dampings of modes and materials.


@single_blas_thread()
def link_response(
    rest: ElasticRest,
    configuration: Configuration,
    held: Holding,
    led: list[int],
    ports: tuple[Array, Array],
    omega: Array,
    damping: Proportional,
    deformed: Dissipation | None,
    *,
    preload: bool,
    turning: bool,
) -> Complex:
    """Displacement of outputs for unit forces, then for unit displacements of the led rows: (L, outputs, inputs).

    ports : rows (p, n) of forces and (o, n) of outputs over z; turning : as in `modal_response`
    """
    moving = bool(led) or held.moves(rest.numbering)
    turns = preload and turning
    motions = free_motions(configuration, preload=turns) if moving else locked_motions(configuration)
    T = over_z(rest, motions)
    added = rest_load_stiffness(rest, configuration, motions, T) if preload else 0.0
    F, G = ports[0] @ T, ports[1] @ T
    M, D, K = motions.M, motions.D.copy(), motions.K + added
    K_e = (free_motions(configuration, preload=False).K if moving and turns else motions.K).copy()
    K_g = K - K_e
    first = rest.numbering.constraints
    for row, (stiffness, lost) in held.yields.items() if moving else ():
        K_e[row - first, row - first] += stiffness
        D[row - first, row - first] += lost
    H = np.zeros_like(K)
    if deformed is not None:
        D, H = D + T.T @ deformed.viscous @ T, T.T @ deformed.hysteretic @ T
    stands = [row - first for row in {*held.locked, *led}] if moving else []
    free = np.setdiff1d(np.arange(len(K)), stands)
    moved = np.array([row - first for row in led], dtype=np.int64)
    stiff = K_e * (1.0 + 1j * damping.eta) + K_g + 1j * H
    lossy = D + damping.alpha * M + damping.beta * K_e
    found = np.empty((len(omega), len(G), len(F) + len(led)), dtype=np.complex128)
    finite = np.ones(len(omega), dtype=np.bool_)
    for i, w in enumerate(omega):
        A = stiff + 1j * w * lossy - w * w * M
        pushes = np.hstack([F[:, free].T, -A[np.ix_(free, moved)]])
        try:
            x = np.linalg.solve(A[np.ix_(free, free)], pushes)
        except np.linalg.LinAlgError:
            finite[i] = False
            continue
        found[i] = G[:, free] @ x
        found[i, :, len(F) :] += G[:, moved]
    require_finite(rest, omega, finite & np.isfinite(found).all(axis=(1, 2)))
    return found
