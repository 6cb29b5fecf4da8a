"""Frequency responses of a mechanism about a configuration (docs/theory/frequency-response.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array, Complex
from supple.compilation.threads import single_blas_thread
from supple.description.elastic.material import Damping
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.equations.observation import ORDERS
from supple.formulations.coefficients import get_coefficients, output_units
from supple.formulations.described_hardware import hardware_of
from supple.formulations.elastic_rest.body_coordinates import own_band
from supple.formulations.elastic_rest.constrained_modes import rows_over_coordinates
from supple.formulations.elastic_rest.damping_model import Dissipation, dissipation, joint_losses, materials_over_z
from supple.formulations.elastic_rest.elastic_rest import ElasticRest, elastic_rest
from supple.formulations.elastic_rest.joint_stiffness_under_load import under_loads
from supple.formulations.elastic_rest.loads import carries_loads
from supple.formulations.elastic_rest.preload import held_loads
from supple.formulations.rigid_link_system.small_link_motions import (
    UNCONDENSED,
    link_free_motions,
    locked_motions,
    over_z,
    rest_load_stiffness,
)
from supple.frequency_response.direct_response import Proportional, direct_response
from supple.frequency_response.driving import (
    DrivingInputs,
    Holding,
    derivative,
    driving_inputs,
    frequency_response,
    harmonics,
    lock_rows,
    require_finite,
)
from supple.frequency_response.modal_response import modal_response, modal_system
from supple.frequency_response.model_response import VibratingModel
from supple.hardware.drive_block import DriveBlock
from supple.hardware.drive_response import impedance
from supple.hardware.hardware import NO_HARDWARE, Hardware
from supple.kinematics.configuration import At, Configuration
from supple.modal_analysis.modes import require_elastic
from supple.modal_analysis.ports import Port, has_attachment, port, port_rows
from supple.modal_analysis.restraint import Restraint, restraint
from supple.reduced.model import ReducedModel
from supple.results.frequency_response import FrequencyResponse, Kind
from supple.results.linear_model import LinearModel
from supple.systems.protocols import Harmonics, Unserved, Vibrating, by_rigid_links, model_theta, require_served

_MOST = 1e6  # largest plausible damping ratio

_BAND = 1.5  # band for the condensation of bodies, over the highest line
_INSIDE = 16.0  # the same for ports between nodes, whose static response the condensation does not keep
_VIBRATING = 3.0  # highest mode over the highest line; the others respond statically


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
    """Compute the frequency response of outputs to inputs at a configuration.

    `model.frf` is the same call for a reduced model, which has the damping it was reduced with. A linear model
    responds about the state at which it was linearized, from its own inputs to its own outputs.

    Parameters
    ----------
    mechanism : Mechanism, ReducedModel or LinearModel
        System whose response is computed.
    at : str, mapping or Configuration, optional
        Configuration: a name in the file, coordinates, or the position of a place. Default: the drawn configuration.
    inputs : str or sequence of str
        Input or inputs of the response: an actuator, a prescribed acceleration or a force at a place. `lift` is the
        command of its drive, or without a drive the force of the actuator (with free actuators); `lift.acceleration`
        prescribes its motion while the other coordinates keep their state; `E.z` is a force at a place; the output
        of any sensor is a force along the direction that it measures.
    outputs : str or sequence of str
        Output or outputs of the response: a sensor output, `place.axis`, an actuator or a joint coordinate. Sensor
        outputs include the dynamics of their instruments.
    frequencies_hz : array_like, shape (L,)
        Frequency lines, Hz.
    kind : {"receptance", "mobility", "accelerance"}, optional
        Displacement, velocity or acceleration of the output per unit of input. Default: "receptance".
    free_actuators : bool, optional
        Let the actuators move freely instead of locking them. Default: False.
    damping : Damping, mapping or float, optional
        Damping model: {"modal": ζ}, {"structural": η}, {"rayleigh": (α, β)}, or a number for ζ (0 for none).
        Default: the mechanism's. Dampers and the `elastic_damping` of joints always act.
    method : {"direct", "modal"}, optional
        Solution method: "direct" solves every line, "modal" superposes modes. "modal" uses the modes up to three
        times the highest line and the static response of the others. Default: "direct".
    preload : bool, optional
        Add the geometric stiffness of gravity and of all other forces at rest. Default: True.
    drives : bool, optional
        Include drives and instruments. A drive that prescribes motion locks its coordinate, a compliant drive acts
        on it with its stiffness; the remaining coordinates are locked, or free with free actuators. Default: True.
    formulation : str, optional
        Formulation of the equations; "erls" uses the equivalent rigid link system, solved at every line.
        Default: "auto".

    Returns
    -------
    FrequencyResponse
        `values` of shape (L, outputs, inputs), complex, with units.

    Raises
    ------
    InputError
        If an input or output is unknown or locked, or if the response is not finite at a line.

    See Also
    --------
    modes : natural frequencies and mode shapes.
    model_responses : responses of the channels of an impact-hammer test.

    Notes
    -----
    Equations 1-16 of the theory page on frequency responses (docs/theory/frequency-response.md).

    Examples
    --------
    >>> import supple
    >>> arm = supple.load("ralf")
    >>> H = supple.frf(arm, "home", "tip.z", "tip.z", [5.0, 10.0], kind="accelerance")
    >>> abs(H["tip.z", "tip.z"]).round(3)
    array([0.135, 0.095])
    """
    require_arguments(frf, locals())
    if method not in ("direct", "modal"):
        raise InputError(f'unknown method "{method}"', part="method", hint="use direct or modal")
    require_served(frf, mechanism, _UNSERVED, locals())
    asked = harmonics(inputs, outputs, frequencies_hz, kind)
    options = ResponseOptions(free_actuators, damping, method, preload, drives, formulation)
    return frequency_response(prepare_vibration(mechanism, at, asked, options), asked)


_UNSERVED = {
    ReducedModel: Unserved(
        ("damping", "method", "formulation"),
        "a reduced model has the damping it was reduced with, and a single solution method",
    ),
    LinearModel: Unserved(
        ("at", "free_actuators", "damping", "method", "preload", "drives", "formulation"),
        "a linear model responds as it was linearized",
        "remove it, or linearize the mechanism with this option",
    ),
}


class ResponseOptions(NamedTuple):
    """Options of `frf`."""

    free_actuators: bool
    damping: Damping | Mapping[str, Any] | float | None
    method: str
    preload: bool
    drives: bool
    formulation: str


@singledispatch
def prepare_vibration(system: Any, at: At | Configuration, asked: Harmonics, options: ResponseOptions) -> Vibrating:
    """Return a mechanism or a model about a state, with the options of `frf`."""
    raise TypeError(type(system))


@prepare_vibration.register
def _(system: LinearModel, at: At | Configuration, asked: Harmonics, options: ResponseOptions) -> Vibrating:
    if system.step is not None and asked.kind != "receptance":
        raise InputError("not available for a model in discrete time", part="kind", hint="use the continuous model")
    return VibratingLinearModel(system)


@prepare_vibration.register
def _(system: ReducedModel, at: At | Configuration, asked: Harmonics, options: ResponseOptions) -> Vibrating:
    return VibratingModel(system, model_theta(system, at), options.free_actuators, options.preload, options.drives)


@prepare_vibration.register
def _(system: Mechanism, at: At | Configuration, asked: Harmonics, options: ResponseOptions) -> Vibrating:
    links = by_rigid_links(options.formulation)
    if links and options.method != "direct":
        raise InputError("supports only method direct", part='formulation "erls"', hint="remove the method")
    mechanism, configuration = under_loads(system, at)
    if configuration.X.ndim != 2:
        raise InputError("several configurations are given", part="at", hint="compute one response at a time")
    numbering = configuration.rest.numbering
    hardware = hardware_of(mechanism) if options.drives else NO_HARDWARE
    held = lock_rows(numbering, hardware, free_actuators=options.free_actuators)
    driven = driving_inputs(numbering, asked.inputs, hardware, held.locked)
    how = _Request(asked.lines, _damping_model(mechanism, options.damping), options.method, options.preload, links)
    return VibratingMechanism(
        mechanism, configuration, hardware, held, driven, output_ports_of(configuration, asked.outputs), how
    )


@dataclass(frozen=True)
class VibratingLinearModel:
    """A linear model: C (iω - A)⁻¹ B + D from its inputs to its outputs, about where it was linearized.

    Implements `Vibrating`.
    """

    model: LinearModel
    name: str = ""
    hardware: Hardware = NO_HARDWARE  # its instruments are states already

    def responses(self, asked: Harmonics) -> Complex:
        """Return the outputs for a unit of each input: (L, outputs, inputs)."""
        found = self.model.frequency_response(asked.lines, asked.outputs, asked.inputs).values
        return found * derivative(asked, asked.order, asked.inputs[0])[:, None, None] if asked.order else found

    def units_of(self, asked: Harmonics) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the units of outputs and inputs, as far as the model knows them."""
        known = self.model.units
        return (
            tuple(known.outputs.get(name, "") for name in asked.outputs),
            tuple(known.inputs.get(name, "") for name in asked.inputs),
        )


@dataclass(frozen=True)
class VibratingMechanism:
    """A mechanism about a configuration, with the coordinates that drives hold and prescribe, and the outputs.

    Implements `Vibrating`.
    """

    mechanism: Mechanism
    configuration: Configuration
    hardware: Hardware
    held: Holding
    driven: DrivingInputs
    outputs: OutputPorts
    how: _Request

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return self.mechanism.name

    def responses(self, asked: Harmonics) -> Complex:
        """Return the outputs for a unit of each input: (L, outputs, inputs)."""
        numbering, driven, outputs = self.configuration.rest.numbering, self.driven, self.outputs
        kept = all(has_attachment(numbering, item) for item in [*driven.forces, *outputs.ports])
        highest = float(asked.lines.max())
        band = _BAND * highest if kept else _INSIDE * max(highest, own_band(self.mechanism))
        rest = elastic_rest(self.mechanism, band)
        if not self.held.moves(numbering) and not driven.led:
            require_elastic(rest)
        if self.how.links:
            rest = elastic_rest(self.mechanism, UNCONDENSED)
        H = _driven_displacements(rest, self.configuration, driven, outputs.ports, self.held, self.how)
        return np.asarray(outputs.responses(H, asked.lines)[:, :, driven.order] * driven.factors(asked)[:, None, :])

    def units_of(self, asked: Harmonics) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the units of outputs and inputs."""
        return self.outputs.units, tuple(self.driven.units(self.configuration.rest.numbering))


class _Request(NamedTuple):
    """Request to the mechanism.

    lines   : Hz; damping : its damping model; method : as in `frf`
    preload : whether forces at rest count; links : whether the formulation is that of rigid links
    """

    lines: Array
    damping: Damping | None
    method: str
    preload: bool
    links: bool = False


def _driven_displacements(
    rest: ElasticRest,
    configuration: Configuration,
    driven: DrivingInputs,
    output_ports: list[Port],
    held: Holding,
    asked: _Request,
) -> NDArray[np.complex128]:
    """Return `_displacements` with the dynamic stiffness of drives, f = -Z θ, beyond the part in soft rows.

    y = H_y u + H_yf f,   θ = H_θ u + H_θf f        y = (H_y - H_yf (1 + Z H_θf)⁻¹ Z H_θ) u
    """
    residual = {block: _residual_impedance(block, asked) for block in held.drives}
    ports = [port(rest.numbering, block.actuator) for block, Z in residual.items() if Z.any()]
    both = driven._replace(forces=[*driven.forces, *ports])
    H = _displacements(rest, configuration, both, [*output_ports, *ports], held, asked)
    if not ports:
        return H
    o, first = len(output_ports), len(driven.forces)
    added = np.arange(first, first + len(ports))
    others = np.setdiff1d(np.arange(H.shape[2]), added)
    Z = np.stack([Z for Z in residual.values() if Z.any()], axis=1)[:, :, None]
    back = np.linalg.solve(np.eye(len(ports)) + Z * H[:, o:][:, :, added], Z * H[:, o:][:, :, others])
    return np.asarray(H[:, :o][:, :, others] - H[:, :o][:, :, added] @ back)


def _residual_impedance(block: DriveBlock, asked: _Request) -> NDArray[np.complex128]:
    """Return the part (L,) of a drive's stiffness that soft rows lack: back-EMF with inductance.

    The part also removes the mechanism's damping from k, which does not have it.
    """
    omega, k = 2.0 * np.pi * asked.lines, block.stiffness or 0.0
    eta, (_, beta) = (
        (asked.damping and asked.damping.structural) or 0.0,
        (asked.damping and asked.damping.rayleigh) or (0.0, 0.0),
    )
    if not block.E.any() and not (k and (eta or beta)):
        return np.zeros(len(omega), dtype=np.complex128)
    soft = k * (1.0 + 1j * eta) + 1j * omega * (beta * k + block.damping)
    return np.asarray(impedance(block, omega) - soft)


def _displacements(
    rest: ElasticRest,
    configuration: Configuration,
    driven: DrivingInputs,
    output_ports: list[Port],
    holding: Holding,
    asked: _Request,
) -> NDArray[np.complex128]:
    """Return displacements for unit forces, and for unit prescribed displacements: (L, outputs, forces and led)."""
    (lines, damping, method, preload, links), locked = asked, {*holding.locked, *driven.led}
    held, free = restraint(rest, locked=locked, yields=holding.yields), holding.moves(rest.numbering)
    rows = port_rows(rest, [*driven.forces, *output_ports], configuration.X[None], between=True)[0]
    forces, outputs = rows[: len(driven.forces)], rows[len(driven.forces) :]
    alpha, beta = (damping and damping.rayleigh) or (0.0, 0.0)
    # If only the deformation moves, damping by mass is as simple as damping by stiffness.
    alone = not rest.elastic or not (free or driven.led)
    proportional = Proportional((damping and damping.structural) or 0.0, alpha if alone else 0.0, beta)
    of_modes = (
        damping if damping and damping.modal else Damping(rayleigh=(alpha, 0.0)) if alpha > proportional.alpha else None
    )
    deformed = deformation_damping(rest, configuration, of_modes, restraint(rest, locked=locked))
    omega = 2.0 * np.pi * lines
    mechanism = rest.numbering.mechanism
    # With free actuators, loads that cannot be balanced are an error.
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


def _damping_model(mechanism: Mechanism, given: Damping | Mapping[str, Any] | float | None) -> Damping | None:
    """Return the requested damping, or the mechanism's."""
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
        raise InputError(f"invalid damping ratio of {given:g}", part="damping", hint="give 0 or more")
    return Damping(modal=float(given))


# Damping of a mechanism's deformation over z, whichever of its actuators are free.
#
# `damping_model` defines the damping of modes and materials with locked actuators. With free ones the same forces act
# on the deformation in a motion, z - Ψ_θ C_θ z, and not on the rigid motion of θ (docs/theory/damping.md, eq. 6):
#
#     D_z = BᵀDB,   H_z = BᵀHB,   B = Φ M (1 - Ψ_θ C_θ)
#
# Φ are the modes with locked actuators, of unit mass. Models in time do the same, where D has no part in θ. A mechanism
# that is rigid except for springs along its coordinates has no deformation; there the damping model is that of its
# modes with the given restraint.


def deformation_damping(
    rest: ElasticRest, configuration: Configuration, damping: Damping | None, held: Restraint
) -> Dissipation | None:
    """Return D_z and H_z (n, n) at one configuration with a restraint; None without any damping."""
    materials = materials_over_z(rest)
    if damping is None and materials is None and not rest.losses:
        return None
    first = rest.numbering.constraints
    theta = np.arange(first, first + len(rest.numbering.coordinates))
    deforms = restraint(rest, locked=set(theta.tolist())) if rest.elastic else held
    system = modal_system(rest, configuration, deforms, preload=False)
    Phi = system.shapes
    of_joints = joint_losses(rest, configuration.X[None], Phi)
    found = dissipation(
        damping, np.eye(len(Phi)), np.diag(system.squares), None if materials is None else materials.over(Phi),
        None if of_joints is None else of_joints[0],
    )  # fmt: skip
    B = Phi @ system.M
    if rest.elastic:
        C = rows_over_coordinates(rest, theta, configuration.X[None])[0]
        B = B - B @ rigid_over_z(rest, configuration).T @ C
    return Dissipation(B.T @ found.viscous @ B, B.T @ found.hysteretic @ B)


def rigid_over_z(rest: ElasticRest, configuration: Configuration) -> Array:
    """Return Ψ_θ (s, n): every body moves rigidly, for a unit of one coordinate of θ with the others fixed."""
    bodies = np.zeros((rest.size, sum(body.rigid.shape[1] for body in rest.bodies)))
    d = rest.bodies[0].rigid.shape[1]
    for b, body in enumerate(rest.bodies):
        bodies[body.start : body.stop, b * d : (b + 1) * d] = body.rigid
    m, s = rest.numbering.constraints, len(rest.numbering.coordinates)
    rows = rows_over_coordinates(rest, np.arange(m + s), configuration.X[None])[0]
    # Bodies in units of their own mass, as z is: a twist of size one is then of energy one half.
    unit = np.linalg.qr(bodies)[0]
    target = np.vstack([np.zeros((m, s)), np.eye(s)])
    length = np.linalg.norm(rows @ unit, axis=1, keepdims=True)
    length[length == 0.0] = 1.0
    found = np.linalg.lstsq(rows @ unit / length, target / length, rcond=1e-12)[0]
    return np.asarray((unit @ found).T, dtype=np.float64)


# Outputs of a frequency response: ports, or combinations of ports and their rates.
#
# About rest an output of measures μ moves with S₀ δμ + S₁ δμ̇ + S₂ δμ̈: its response is Σ_p (iω)^p S_p times theirs.


class OutputPorts(NamedTuple):
    """Outputs by name with their units, the ports they consist of, and S (3, outputs, ports)."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    ports: list[Port]
    S: Array

    def responses(self, H: Complex, lines: Array) -> Complex:
        """Return responses of the outputs (L, outputs, inputs), from those of the ports (L, ports, inputs)."""
        rates = (2j * np.pi * lines)[:, None, None]
        return np.asarray(sum(rates**p * (S @ H) for p, S in enumerate(self.S) if S.any() or not p))


def output_ports_of(configuration: Configuration, names: tuple[str, ...]) -> OutputPorts:
    """Return outputs of sensors, actuators, joint coordinates, or `point.axis`."""
    numbering, load = configuration.rest.numbering, get_coefficients(configuration.rest)
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
                "an internal force has no response here", part=f'output "{name}"',
                hint="use a linear or a reduced model",
            )  # fmt: skip
        for p, measure in zip(*np.nonzero(of), strict=True):
            entries.append((int(p), i, len(ports), float(of[p, measure])))
            row = int(rows[measure])
            ports.append(Port(observation.measures[measure], bool(numbering.angles()[row]), row))
    S = np.zeros((ORDERS, len(names), len(ports)))
    for p, i, k, weight in entries:
        S[p, i, k] = weight
    return OutputPorts(names, tuple(found), ports, S)


# Responses of the equivalent rigid link system, line by line over w_i (docs/theory/rigid-link-system.md, 22).
#
#     (K_e(1 + iη) + K_g + iω(D + αM + βK_e) + iH - ω²M) w_i = f
#
# K_e is elastic, K_g the geometric stiffness of forces at rest. Ports, and the damping of modes and materials, are over
# the coordinates z of the uncondensed mechanism.


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
    """Return the displacement of outputs for unit forces, then for unit displacements of the led rows.

    The result is (L, outputs, inputs).
    ports : rows (p, n) of forces and (o, n) of outputs over z; turning : as in `modal_response`
    """
    moving = bool(led) or held.moves(rest.numbering)
    turns = preload and turning
    motions = link_free_motions(configuration, preload=turns) if moving else locked_motions(configuration)
    T = over_z(rest, motions)
    added = rest_load_stiffness(rest, configuration, motions, T) if preload else 0.0
    F, G = ports[0] @ T, ports[1] @ T
    M, D, K = motions.M, motions.D.copy(), motions.K + added
    K_e = (link_free_motions(configuration, preload=False).K if moving and turns else motions.K).copy()
    K_g = K - K_e
    first = rest.numbering.constraints
    for row, (stiffness, damper) in held.yields.items() if moving else ():
        K_e[row - first, row - first] += stiffness
        D[row - first, row - first] += damper
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
    require_finite(f'mechanism "{rest.numbering.mechanism.name}"', omega, finite & np.isfinite(found).all(axis=(1, 2)))
    return found
