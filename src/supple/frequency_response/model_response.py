"""Frequency responses of a reduced model about a configuration, undeformed and at rest.

With a prescribed coordinate θ_j of amplitude e, and κ(ω) = K + K_p + iω D_d - ω² M,

    κ_ff η_f = F_f - κ_fj e,   y = (∂ρ_o/∂θ) θ + Ψ_o δ

f are the free coordinates: δ, and θ with free actuators. K_p is the stiffness of p and the forces at rest,
-∂(p + B u)/∂η with B u = -p for θ: as for a mechanism, it acts only if θ is free.

With drives, e and F are the motion and force per unit of command, and compliant drives add their stiffness to κ.
Damping is that of the reduction; structural damping η counts as ζ = η/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array, Complex
from supple.diagnostics import InputError, require_known, unknown_name
from supple.equations.equations_of_motion import Coefficients
from supple.equations.forces import FRICTION_SPEED
from supple.equations.observation import ORDERS
from supple.frequency_response.driving import LED, derivative, require_finite
from supple.hardware.drive_block import DriveBlock
from supple.hardware.drive_response import force_response, impedance, motion_response
from supple.hardware.hardware import NO_HARDWARE, Hardware
from supple.hardware.linear_hardware import along_one
from supple.reduced.coefficient_slopes import coefficient_slopes
from supple.reduced.model import ReducedModel
from supple.reduced.observed import observed_motion
from supple.reduced.repertoire import named_theta
from supple.reduced.state_arguments import Values, theta_points
from supple.results.units import force, rate_unit
from supple.systems.protocols import Harmonics


@dataclass(frozen=True)
class VibratingModel:
    """A reduced model about a configuration; options as in `frf`. Implements `Vibrating`."""

    model: ReducedModel
    theta: Values | str
    free_actuators: bool
    preload: bool
    drives: bool

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.model.name

    @property
    def hardware(self) -> Hardware:
        """Drives and instruments of the model, if they are included."""
        return self.model.hardware if self.drives else NO_HARDWARE

    def responses(self, asked: Harmonics) -> Complex:
        """Return the outputs for a unit of each input: (L, outputs, inputs)."""
        model, omega = self.model, asked.omega
        point, single = theta_points(model.layout, named_theta(model, self.theta))
        if not single:
            raise InputError("several configurations are given", part="θ", hint="compute one response at a time")
        c = model.evaluate(point[0])
        driving = drives_at(model, c, self.hardware)
        free = free_coordinates(model, driving, free_actuators=self.free_actuators)
        excited = [excitation(model, name, _force(model, c, name), free, driving, omega) for name in asked.inputs]
        free = [i for i in free if i not in {item.led for item in excited}]
        if not free and all(item.led < 0 for item in excited):
            raise InputError(
                "nothing can move while its actuators are locked",
                part=f'model "{model.name}"',
                hint="free the actuators",
            )
        watched = [_rows(model, c, name) for name in asked.outputs]
        kappa = c.dynamic_stiffness(omega)
        if self.preload and free[:1] and free[0] < model.layout.theta:
            kappa += _preload(model, c, point[0])
        whole = kappa + drive_stiffness(driving, omega)
        H = np.zeros((len(omega), len(asked.outputs), len(asked.inputs)), dtype=np.complex128)
        for j, (name, item) in enumerate(zip(asked.inputs, excited, strict=True)):
            eta = np.zeros((len(omega), model.layout.size), dtype=np.complex128)
            right = np.tile(item.force[free].astype(complex), (len(omega), 1))
            if item.led >= 0:
                eta[:, item.led] = 1.0
                right = -whole[:, free, item.led]
            eta[:, free] = _solve_lines(model, whole[:, free][:, :, free], right, omega)
            borne = input_forces(model, driving, name, kappa, eta, omega)
            H[:, :, j] = item.factor[:, None] * _outputs(
                model, watched, name, eta, borne, asked, asked.order - item.order
            )
        return H

    def units_of(self, asked: Harmonics) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the units of outputs and inputs, as far as the model knows them."""
        units, inputs = self.model.units, self.model.layout.inputs
        known = {**units.coordinates, **units.outputs}
        commands = {block.actuator: block.unit for block in self.hardware.drives if block.actuator in inputs}
        pushes = {**units.inputs, **commands}

        def choose_unit(inlet: str) -> str:
            led = inlet.removesuffix(LED)
            return (
                rate_unit(known.get(led, ""), 2) if led != inlet else pushes.get(inlet) or force(known.get(inlet, ""))
            )

        return tuple(known.get(name, "") for name in asked.outputs), tuple(choose_unit(name) for name in asked.inputs)


def _outputs(
    model: ReducedModel,
    watched: list[tuple[Array, Array]],
    inlet: str,
    eta: Complex,
    borne: Complex,
    asked: Harmonics,
    order: int,
) -> Complex:
    """Return outputs (L, o) of a motion η (L, n) under forces of the inputs (L, a), differentiated `order` times."""
    rows = np.array([rows for rows, _ in watched])
    found = np.zeros((len(eta), len(rows)), dtype=np.complex128)
    for p in range(rows.shape[1]):
        if rows[:, p].any():
            found += eta @ rows[:, p].T * derivative(asked, order + p, inlet)[:, None]
    at_once = _feedthrough(model, watched, inlet, borne)
    if at_once.any():
        found += at_once * derivative(asked, order, inlet)[:, None]
    return found


def _force(model: ReducedModel, c: Coefficients, name: str) -> Array | None:
    """Return the generalized force (n,) of a unit of input; None for a prescribed acceleration."""
    if name.endswith(LED):
        return None
    inputs = model.layout.inputs
    found = c.input_map[:, inputs.index(name)] if name in inputs else _row(model, c, name, "input")
    return np.asarray(found, dtype=float)


def _rows(model: ReducedModel, c: Coefficients, name: str) -> tuple[Array, Array]:
    """Return ∂y/∂η, ∂y/∂η̇ and ∂y/∂η̈ (3, n) at rest, of an output or a coordinate, and ∂y/∂u (inputs,)."""
    rows, at_once = np.zeros((ORDERS, model.layout.size)), np.zeros(len(model.layout.inputs))
    observed = model.labels.output_composition
    if name not in observed.outputs or observed.measure_of(name) is not None:
        rows[0] = _row(model, c, name)
        return rows, at_once
    still = np.zeros(model.layout.size)
    eta = np.concatenate([c.theta, still[model.layout.theta :]])
    moving = observed_motion(model, eta, still, still, at_once, FRICTION_SPEED)
    slopes = observed.slopes(moving.x)[:, list(observed.outputs).index(name)]
    for p, by in enumerate((moving.by_eta, moving.by_rates, moving.by_accelerations)):
        rows[p] = np.einsum("pk,pkj->j", slopes, by)
    return rows, np.einsum("pk,pkj->j", slopes, moving.by_inputs)


def _feedthrough(model: ReducedModel, watched: list[tuple[Array, Array]], inlet: str, borne: Complex) -> Complex:
    """Return the internal forces (L, outputs) from the inputs' forces (L, a) without any motion."""
    direct = np.array([direct for _, direct in watched]).reshape(len(watched), -1)
    unknown = inlet not in model.layout.inputs and not inlet.endswith(LED)
    if model.layout.efforts and unknown and direct.any():
        raise InputError(
            "the effect of this force on internal forces is unknown", part=f'input "{inlet}"',
            hint="give an actuator or a loaded displacement of the model",
        )  # fmt: skip
    return np.asarray(borne @ direct.T)


def _row(model: ReducedModel, c: Coefficients, name: str, what: str = "output") -> Array:
    """Return ∂y/∂η (n,) of an output, or of a coordinate by its name."""
    layout = model.layout
    if name in c.outputs:
        return np.concatenate([c.outputs[name].rigid, c.outputs[name].modes])
    if name in layout.coordinates:
        return np.eye(layout.size)[layout.coordinates.index(name)]
    known = [*layout.outputs, *layout.coordinates, *(layout.inputs if what == "input" else ())]
    raise unknown_name(what, name, known, part=f'model "{model.name}"')


def _preload(model: ReducedModel, c: Coefficients, theta: Array) -> Array:
    """Return K_p (n, n), the derivative of p and of the forces that balance it."""
    s, n = model.layout.theta, model.layout.size
    u = np.linalg.lstsq(c.input_map[:s], -c.force[:s], rcond=None)[0]
    found = np.zeros((n, n))
    for m, along in enumerate(coefficient_slopes(model, theta)):
        found[:, m] = -(along.force + along.input_map @ u)
    found[:s, s:] = found[s:, :s].T
    return found


def _solve_lines(model: ReducedModel, matrices: NDArray, right: NDArray, omega: Array) -> NDArray:
    """Solve κ x = right on every line; an undamped mode at its own frequency has no finite response."""
    if not right.shape[1]:
        return right
    finite: NDArray[np.bool_]
    try:
        found = np.linalg.solve(matrices, right[..., None])[..., 0]
        if np.isfinite(found).all():
            return found
        finite = np.asarray(np.isfinite(found).all(axis=1))
    except np.linalg.LinAlgError:
        finite = np.asarray(np.isfinite(np.linalg.cond(matrices)))
        finite[:1] &= not finite.all()  # singular nevertheless
    require_finite(f'model "{model.name}"', omega, finite)
    return found


# Inputs of a reduced model at a frequency: forces, prescribed accelerations, commands of drives.


_NEGLIGIBLE = 1e-8  # fraction of a force below which it is an error of the fit


class DriveInput(NamedTuple):
    """A drive at θ: its input, the coordinate that it acts along (-1: a combination), its column of B (n,)."""

    block: DriveBlock
    column: int
    coordinate: int
    along: Array


class InputExcitation(NamedTuple):
    """Effect of a unit of an input on each line: a prescribed coordinate (-1: none) or a force (n,), times a factor.

    factor : (L,); order : number of differentiations of the coordinate in the input
    """

    led: int
    force: Array
    factor: Complex
    order: int = 0


def drives_at(model: ReducedModel, c: Coefficients, hardware: Hardware) -> list[DriveInput]:
    """Return the drives of the model's inputs."""
    found = []
    for block in hardware.drives:
        if block.actuator not in model.layout.inputs:
            continue
        column = model.layout.inputs.index(block.actuator)
        b = np.asarray(c.input_map[:, column], dtype=float)
        found.append(DriveInput(block, column, along_one(b), b))
        if block.moves and found[-1].coordinate < 0:
            raise InputError(
                f"the {block.kind} drive acts along no coordinate of the model", part=f'actuator "{block.actuator}"',
                hint="use a force drive, or exclude drives (drives=False, --no-drives)",
            )  # fmt: skip
    return found


def free_coordinates(model: ReducedModel, drives: list[DriveInput], *, free_actuators: bool) -> list[int]:
    """Return δ, the coordinates θ with compliant drives, and with free actuators all without a prescribing drive."""
    s, n = model.layout.theta, model.layout.size
    led = {item.coordinate for item in drives if item.block.leads}
    yielding = {item.coordinate for item in drives if item.block.moves} - led
    theta = [i for i in range(s) if i not in led and (free_actuators or i in yielding)]
    return [*theta, *range(s, n)]


def excitation(
    model: ReducedModel, name: str, force: Array | None, free: list[int], drives: list[DriveInput], omega: Array
) -> InputExcitation:
    """Return the effect of a unit of an input; force : (n,) of one that is not a prescribed coordinate."""
    names, ones = model.layout.coordinates[: model.layout.theta], np.ones(len(omega), dtype=np.complex128)
    none = np.zeros(model.layout.size)
    if name.endswith(LED):
        require_known("coordinate", name.removesuffix(LED), names, part=f'input "{name}"')
        return InputExcitation(names.index(name.removesuffix(LED)), none, ones, 2)
    drive = next((item for item in drives if item.block.actuator == name), None)
    if drive is not None and drive.block.leads:
        return InputExcitation(drive.coordinate, none, motion_response(drive.block, omega))
    assert force is not None
    if np.abs(force[free]).max(initial=0.0) <= _NEGLIGIBLE * np.abs(force).max(initial=0.0):
        raise InputError(
            "the coordinates it acts on are locked, so it has no effect",
            part=f'input "{name}"',
            hint=f"free the actuators (free_actuators=True, --free-actuators), or prescribe a motion: {names[0]}{LED}",
        )
    return InputExcitation(
        -1, np.asarray(force, dtype=float), ones if drive is None else force_response(drive.block, omega)
    )


def drive_stiffness(drives: list[DriveInput], omega: Array) -> Complex:
    """Return the dynamic stiffness of compliant drives in κ (L, n, n); a scalar zero without any."""
    parts = [
        impedance(item.block, omega)[:, None, None] * np.outer(item.along, item.along)
        for item in drives
        if not item.block.leads
    ]
    return np.asarray(sum(parts, start=np.zeros((1, 1, 1), dtype=np.complex128)))


def input_forces(
    model: ReducedModel, drives: list[DriveInput], inlet: str, kappa: Complex, eta: Complex, omega: Array
) -> Complex:
    """Return the forces of the inputs (L, a) in a motion η (L, n) for a unit of one; kappa : without drives."""
    found = np.zeros((len(omega), len(model.layout.inputs)), dtype=np.complex128)
    if inlet in model.layout.inputs and not any(d.block.actuator == inlet and d.block.leads for d in drives):
        found[:, model.layout.inputs.index(inlet)] = 1.0
    for item in drives:
        if not item.block.leads:
            found[:, item.column] -= impedance(item.block, omega) * (eta @ item.along)
    pushed = sum((found[:, item.column, None] * item.along for item in drives if not item.block.leads), start=0.0 * eta)
    for item in drives:
        if item.block.leads:
            needed = np.einsum("lj,lj->l", kappa[:, item.coordinate], eta)
            found[:, item.column] = needed - pushed[:, item.coordinate]
    return found
