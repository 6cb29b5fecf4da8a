"""`check`: report what a mechanism describes, generate its elastic bodies, and list unusual values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from supple.description.elastic.cross_section import tube_question
from supple.description.elastic.material import BRAKES, Damping, RatioAt
from supple.description.mechanism import Mechanism
from supple.diagnostics import SuppleError
from supple.diagnostics.arguments import require_arguments
from supple.formats.source import locate_error
from supple.formulations.absolute.time_damping import has_unled_motion
from supple.kinematics.inspection import Inspection, inspect
from supple.kinematics.rest import rest


def check(mechanism: Mechanism) -> Inspection:
    """Assemble a mechanism at rest, generate its elastic bodies, and report what it describes.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism to check.

    Returns
    -------
    Inspection
        Parts, loops and mobility; sections with area and mass per metre; `notes` on values that are valid but unusual.

    Raises
    ------
    InputError
        If the mechanism has an error.

    Examples
    --------
    >>> import supple
    >>> found = supple.check(supple.load("four-bar"))
    >>> found.mobility
    1
    """
    require_arguments(check, locals())
    found = _with_hardware(inspect(mechanism), mechanism)
    found = replace(found, notes=(*found.notes, *unusual_values(mechanism), *damping_notes(mechanism)))
    if found.elastic_bodies:
        # Sparse matrices take a while to import; a rigid mechanism does without.
        from supple.formulations.absolute.superelements.superelement_arrays import modal_body
        from supple.formulations.elastic.elastic_body import elastic_body

        drawing = rest(mechanism).numbering.drawing
        try:
            for part in found.elastic_bodies:
                if modal_body(drawing, part.name) is None:
                    elastic_body(drawing, part.name)
        except SuppleError as error:
            raise locate_error(error, mechanism) from None
    return found


def _with_hardware(found: Inspection, mechanism: Mechanism) -> Inspection:
    driven = any(item.drive is not None for item in mechanism.actuators.values())
    if not driven and all(item.exact for item in mechanism.sensors.values()):
        return found
    from supple.formulations.described_hardware import hardware_of

    try:
        known = hardware_of(mechanism)
    except SuppleError as error:
        raise locate_error(error, mechanism) from None
    drives = {block.actuator: block.summary.partition(": ")[2] for block in known.drives}
    return replace(found, drives=drives, instruments={item.output: item.summary for item in known.instruments})


# Damping models that simulations of a mechanism replace, unlike its linear and reduced models; `check` notes them.


_REPLACED = (
    "modal damping and loss factors apply to modes, responses, linear and reduced models. Simulating the mechanism "
    "uses stiffness-proportional damping, equal for the lowest mode and larger for the others"
)


def damping_notes(mechanism: Mechanism) -> tuple[str, ...]:
    """Return one sentence for each damping model that differs in simulations."""
    if not mechanism.elastic:
        return ()
    models = [mechanism.damping, *(item.damping for item in mechanism.materials.values())]
    given = [model for model in models if model is not None]
    by_mass = max((model.rayleigh[0] for model in given if model.rayleigh is not None), default=0.0)
    notes: tuple[str, ...] = (BRAKES.format(by_mass),) if by_mass and has_unled_motion(mechanism) else ()
    if any(joint.elastic_loss for joint in mechanism.joints.values()) or any(one.rayleigh is None for one in given):
        notes += (_REPLACED,)
    return notes


# Values that are valid but unusual, each with the usual range: most are mistakes of units or of signs.
#
# The bounds are outside the range of engineering materials and machines: densities from foam (30 kg/m³) to osmium
# (22 590 kg/m³), moduli from soft rubber (1 MPa) to diamond (1.2 TPa), gravity on the surface of planets (Jupiter:
# 24.8 m/s²), damping ratios of metal structures (below 0.05) and of machines with joints and dampers (below 0.3).


_DENSITIES = 30.0, 25_000.0  # kg/m³
_DENSITY = "usual values are 1000 (plastics), 2700 (aluminium) and 7850 kg/m³ (steel)"
_MODULI = 1e6, 2e12  # Pa
_MODULUS = "usual values are 2e9 (plastics), 70e9 (aluminium) and 210e9 Pa (steel); units are allowed: 210 GPa"
_ROUNDING = 1e-9  # of a limit: rounding errors of arithmetic
_GRAVITY = 30.0  # m/s²
_RATIO = 0.3
_DAMPING = "usual values are 0.002 to 0.1; 5 % is 0.05"


def unusual_values(mechanism: Mechanism) -> tuple[str, ...]:
    """List the values of a mechanism that are valid but unusual.

    Parameters
    ----------
    mechanism : Mechanism
        A mechanism that assembles.

    Returns
    -------
    tuple of str
        One sentence for each: part, value, and the usual range.
    """
    return (
        *_gravity(mechanism),
        *_materials(mechanism),
        *_sections(mechanism),
        *_bodies(mechanism),
        *_joints(mechanism),
        *_damping(mechanism),
        *_actuators(mechanism),
        *_configurations(mechanism),
        *_scenarios(mechanism),
    )


def _gravity(mechanism: Mechanism) -> Iterator[str]:
    size = math.hypot(*(mechanism.gravity or ()))
    if size > _GRAVITY:
        yield (f"gravity is {size:.5g} m/s²; 9.81 m/s² is usual. If it is in mm/s², write the unit: 9810 mm/s**2")


def _density(part: str, density: float) -> Iterator[str]:
    least, largest = _DENSITIES
    if density == 0.0:
        yield f"{part}: density is 0, so that parts of it have no mass; {_DENSITY}"
    elif density < least:
        yield (
            f"{part}: density is {density:g} kg/m³; {_DENSITY}. If it is in g/cm³, write the unit: {density:g} g/cm**3"
        )
    elif density > largest:
        yield f"{part}: density is {density:g} kg/m³, more than that of any material; {_DENSITY}"


def _materials(mechanism: Mechanism) -> Iterator[str]:
    for name, material in mechanism.materials.items():
        part = f'material "{name}"'
        yield from _density(part, material.density)
        for field in ("youngs_modulus", "shear_modulus"):
            value = getattr(material, field)
            if value is not None and not _MODULI[0] <= value <= _MODULI[1]:
                yield f"{part}: {field} is {value:g} Pa; {_MODULUS}"


def _sections(mechanism: Mechanism) -> Iterator[str]:
    for name, section in mechanism.sections.items():
        if section.question is not None:
            yield f'section "{name}": {section.question}'


def _bodies(mechanism: Mechanism) -> Iterator[str]:
    for name, body in mechanism.bodies.items():
        for solid in body.solids:
            if solid.density is not None:
                yield from _density(f'body "{name}"', solid.density)
            note = tube_question(*solid.tube[:2]) if solid.tube is not None and solid.tube[1] > 0.0 else None
            if note is not None:
                yield f'body "{name}": tube radii: {note}'


def _joints(mechanism: Mechanism) -> Iterator[str]:
    for name, joint in mechanism.joints.items():
        for coordinate in joint.coordinates(mechanism.plane):
            motor = joint.value("motor", coordinate, mechanism.plane)
            if motor is not None and motor.gear == 0.0:
                yield (
                    f'joint "{name}": the gear ratio of its motor is 0, so that its rotor never turns and its inertia '
                    "has no effect; a direct drive has gear 1, gearboxes usually 3 to 300"
                )
        if joint.elastic_loss is not None and joint.elastic_loss > 2.0 * _RATIO:
            yield f'joint "{name}": elastic_loss is {joint.elastic_loss:g}; loss factors of 0.002 to 0.2 are usual'


def _damping(mechanism: Mechanism) -> Iterator[str]:
    given = [("damping", mechanism.damping)]
    given += [(f'material "{name}": damping', item.damping) for name, item in mechanism.materials.items()]
    for part, damping in given:
        if damping is None:
            continue
        largest = max(_ratios(damping), default=0.0)
        if largest > _RATIO:
            beyond = "more than critical damping (1)" if largest > 1.0 else "unusually high"
            yield f"{part}: a modal ratio of {largest:g} is {beyond}; {_DAMPING}"
        if damping.structural is not None and damping.structural > 2.0 * _RATIO:
            yield f"{part}: a loss factor of {damping.structural:g} is unusually high; 0.002 to 0.2 is usual"


def _ratios(damping: Damping) -> list[float]:
    given = damping.modal
    listed = given.values() if isinstance(given, dict) else given if isinstance(given, tuple) else [given or 0.0]
    return [float(item.ratio if isinstance(item, RatioAt) else item) for item in listed]


def _actuators(mechanism: Mechanism) -> Iterator[str]:
    for name, actuator in mechanism.actuators.items():
        if actuator.force_limits is not None:
            least, largest = actuator.force_limits
            if not least <= 0.0 <= largest:
                yield (
                    f'actuator "{name}": force_limits [{least:g}, {largest:g}] exclude 0, so that it always '
                    f"{'pushes' if least > 0.0 else 'pulls'}; [{-max(-least, largest):g}, {max(-least, largest):g}] is "
                    "usual, or [0, F] for a cable under tension"
                )


def _configurations(mechanism: Mechanism) -> Iterator[str]:
    """Compare the coordinates of configurations with the limits of actuators and joints."""
    for name, given in mechanism.configurations.items():
        for coordinate, value in given.items():
            if not isinstance(value, float):
                continue
            for part, limits, unit in _limits(mechanism, coordinate):
                slack = _ROUNDING * max(map(abs, limits))
                if not limits[0] - slack <= value <= limits[1] + slack:
                    listed = f"[{limits[0]:.6g}, {limits[1]:.6g}]"
                    yield f'in configuration "{name}" {part} is at {value:.6g} {unit}, outside its limits {listed}'


def _limits(mechanism: Mechanism, coordinate: str) -> Iterator[tuple[str, tuple[float, float], str]]:
    """Return the limits of a coordinate: (part, limits, unit) of its actuators and its joint."""
    own = mechanism.actuators.get(coordinate)
    joint = mechanism.joint_coordinate(coordinate if own is None else own.joint or "")
    unit = "m" if joint is None or not _turns(mechanism, *joint) else "rad"
    for name, actuator in mechanism.actuators.items():
        same = joint is not None and mechanism.joint_coordinate(actuator.joint or "") == joint
        if (name == coordinate or same) and actuator.limits is not None:
            yield f'actuator "{name}"', actuator.limits, unit
    if joint is not None:
        limits = mechanism.joints[joint[0]].value("limits", joint[1], mechanism.plane)
        if limits is not None:
            yield f'joint "{joint[0]}"', limits, unit


def _turns(mechanism: Mechanism, joint: str, coordinate: str) -> bool:
    row = mechanism.joints[joint].form(mechanism.plane).name_measures(mechanism.plane)[coordinate]
    return all(term.turns for term in row)


def _scenarios(mechanism: Mechanism) -> Iterator[str]:
    for name, scenario in mechanism.scenarios.items():
        until = scenario.until
        if until is None and scenario.motion is not None:
            until = mechanism.motions[scenario.motion].duration
        part = f'scenario "{name}"'
        if scenario.damping is not None and (scenario.damping.ratio or 0.0) > _RATIO:
            yield f"{part}: a damping ratio of {scenario.damping.ratio:g} is unusually high; {_DAMPING}"
        if until is None:
            continue
        if scenario.step is not None and scenario.step > until:
            yield (
                f"{part}: step {scenario.step:g} s is longer than the run of {until:g} s; usual are 1 ms, or a "
                "hundredth of the run"
            )
        for actuator, signal in scenario.inputs.items():
            begins = getattr(signal, "at", 0.0)
            if begins >= until:
                yield f'{part}: the force of "{actuator}" begins at {begins:g} s, but the run ends at {until:g} s'
