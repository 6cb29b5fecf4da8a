"""Arrays of the properties that a mechanism carries, and the units of its coordinates, actuators and sensors.

The arrays hold inertia, loads, and all force models and ports along measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array, Integers
from supple.description.force_model import CONSTANT, DAMPER, INERTIA, SPRING, Along, ForceLaw
from supple.description.load import Acting
from supple.description.mass_properties import mass_properties
from supple.diagnostics import InputError
from supple.equations.observation import Observation, Product
from supple.formulations.efforts import Effort, inside
from supple.formulations.force_models import REFERENCE, law, number_of
from supple.kinematics.measures import component_keys, key_of
from supple.kinematics.numbering import Numbering
from supple.kinematics.primitives import KIND, LENGTHS
from supple.kinematics.rest import Rest
from supple.kinematics.row_arrays import ROWS
from supple.kinematics.sensed import Form, plain_measure, resolve_sensor
from supple.results.units import MODAL, Units, assign_units, force, rate_unit

# Uses of a measure: a force model along it, a port (an input, an output), or dry friction.
LAW, ACTUATOR, SENSOR, DRY = range(4)
ROLE, NUMBER = 0, 1  # columns of uses_i
DRY_FORCE = 0  # column of uses_f of dry friction
BODY, FOLLOWS = 0, 1  # columns of loads_i
AT_POINT, OF_FORCE, OF_MOMENT = 0, 3, 6  # columns of loads_f


class CoefficientArrays(NamedTuple):
    """Arguments of kernels besides the rows, in this order.

    inertia    : (bodies, d, d) constant mass matrices in body axes
    loads_i    : (n, 2) body, follows the body (1) or keeps its direction (0); gravity comes first
    loads_f    : (n, 9) point on the body, force, moment (in body axes if it follows, otherwise in world axes)
    uses_start : uses of measure i are uses_start[i] to uses_start[i + 1]
    uses_i     : (n, 2) role (above), number of the force model, or index among its kind
    uses_f     : (n, k) parameters of the force model, followed by its relaxed length; friction force
    """

    inertia: Array
    loads_i: Integers
    loads_f: Array
    uses_start: Integers
    uses_i: Integers
    uses_f: Array


def measure_of_use(arrays: Any) -> Integers:
    """Return the measure of each use (n,); arrays : an object with uses_start."""
    return np.repeat(np.arange(len(arrays.uses_start) - 1), np.diff(arrays.uses_start))


def dry_measures(arrays: Any) -> list[int]:
    """Return the measures with dry friction in the order of `Carried.dry_forces`.

    arrays : an object with uses_start and uses_i
    """
    dry = np.flatnonzero(arrays.uses_i[:, ROLE] == DRY)
    order = np.argsort(arrays.uses_i[dry, NUMBER])
    return measure_of_use(arrays)[dry[order]].tolist()


class Carried(NamedTuple):
    """The arrays and the names of their entries.

    measured    : rows of the measures that outputs depend on, starting with those that are outputs themselves
    observation : all outputs as sums of products; efforts : internal forces in these sums
    dry_forces  : dry friction force of each joint coordinate
    nonlinear   : springs with a nonlinear force model, and the name of the model
    """

    arrays: CoefficientArrays
    measured: dict[str, int]
    observation: Observation
    efforts: tuple[Effort, ...]
    dry_forces: dict[str, float]
    nonlinear: dict[str, str]

    @property
    def outputs(self) -> dict[str, int]:
        """Row of each output that is one measure."""
        names = [name for name in self.observation.outputs if self.observation.measure_of(name) is not None]
        return {name: self.measured[name] for name in names}

    def require_linear(self, what: str) -> None:
        """Refuse nonlinear springs by name; what : the analysis that needs linear ones, such as "a flexible model"."""
        for spring, rule in self.nonlinear.items():
            raise InputError(
                f'the force model "{rule}" is not linear, but {what} needs linear springs',
                part=f'spring "{spring}"', path=("springs", spring),
                hint="give it a stiffness, or use simulate or rigid local or linear models",
            )  # fmt: skip


def get_coefficients(position: Rest) -> Carried:
    """Return the arrays of a mechanism, computed once."""
    return position.numbering.mechanism.compute_once("carried", lambda: collect_coefficients(position.numbering))


def along_measure(
    arrays: CoefficientArrays, measure: int, length: float = 0.0, *, only: ForceLaw | None = None
) -> Along:
    """Sum all force models along a measure at length ℓ, or those with one role."""
    uses = [
        n
        for n in range(arrays.uses_start[measure], arrays.uses_start[measure + 1])
        if arrays.uses_i[n, ROLE] == LAW and (only is None or arrays.uses_i[n, NUMBER] == number_of(only))
    ]
    acting = [law(arrays.uses_i[n, NUMBER], arrays.uses_f[n], length) for n in uses]
    return Along(*(float(total) for total in np.sum([Along(*[0.0] * 6), *acting], axis=0)))


class Yield(NamedTuple):
    """Spring and damper of a drive with compliance along a row: -k (ℓ - ℓ₀) - c ℓ̇."""

    row: int
    stiffness: float
    damping: float
    relaxed: float


def with_yields(arrays: CoefficientArrays, constraints: int, yields: tuple[Yield, ...]) -> CoefficientArrays:
    """Return the arrays with springs and dampers along these measures."""
    start, uses_i, uses_f = arrays.uses_start.copy(), arrays.uses_i, arrays.uses_f
    if yields and uses_f.shape[1] < 2:  # a parameter, and where it is relaxed
        uses_f = np.zeros((len(uses_f), 2))
    for row, stiffness, damping, relaxed in yields:
        for rule, value in ((SPRING, stiffness), (DAMPER, damping)):
            at = int(start[row - constraints + 1])
            uses_i = np.insert(uses_i, at, (LAW, number_of(rule)), axis=0)
            uses_f = np.insert(uses_f, at, 0.0, axis=0)
            uses_f[at, 0], uses_f[at, REFERENCE] = value, relaxed
            start[row - constraints + 1 :] += 1
    return arrays._replace(uses_start=start, uses_i=uses_i, uses_f=uses_f)


class _Use(NamedTuple):
    """A force model or port that uses the measure of a row."""

    row: int
    role: int
    number: int
    parameters: tuple[float, ...] = ()
    reference: float = 0.0


def _make_use(row: int, rule: ForceLaw, *parameters: float, reference: float = 0.0) -> _Use:
    return _Use(row, LAW, number_of(rule), parameters, reference)


def collect_coefficients(numbering: Numbering) -> Carried:
    """Return the arrays of the mechanism of a numbering."""
    uses = _parts(numbering)
    measured, observation = _collect_measures(numbering)
    uses += [_Use(row, SENSOR, i) for i, row in enumerate(measured.values())]
    dry: dict[str, float] = {}
    mechanism = numbering.mechanism
    for name, joint in mechanism.joints.items():
        for coordinate in joint.coordinates(mechanism.plane):
            row = numbering.measures["joint", name, coordinate]
            viscous = joint.value("viscous", coordinate, mechanism.plane)
            motor = joint.value("motor", coordinate, mechanism.plane)
            friction = joint.value("dry", coordinate, mechanism.plane)
            if viscous:
                uses.append(_make_use(row, DAMPER, viscous))
            if motor is not None:
                uses.append(_make_use(row, INERTIA, motor.inertia * motor.gear**2))
            if friction:
                uses.append(_Use(row, DRY, len(dry), (friction,)))
                single = len(joint.coordinates(mechanism.plane)) == 1
                dry[name if single else f"{name}.{coordinate}"] = friction
    loads_i, loads_f = _loads(numbering)
    arrays = CoefficientArrays(_inertia(numbering), loads_i, loads_f, *_by_row(numbering, uses))
    rules = {name: spring.named_model[0] for name, spring in mechanism.springs.items()}
    bent = {name: rule.name for name, rule in rules.items() if not rule.linear}
    return Carried(arrays, measured, observation, inside(numbering.drawing).efforts, dry, bent)


def _parts(numbering: Numbering) -> list[_Use]:
    """Return springs, dampers, forces along measures, and actuators."""
    mechanism = numbering.mechanism

    def row(part: Acting) -> int:
        return numbering.measures[key_of(mechanism, part)]

    uses = []
    for spring in mechanism.springs.values():
        keys = component_keys(mechanism, spring) if spring.without_length else [key_of(mechanism, spring)]
        relaxed, rule = spring.relaxed_value, spring.named_model[0]
        uses += [_make_use(numbering.measures[key], rule, *spring.parameters, reference=relaxed) for key in keys]
    uses += [_make_use(row(item), DAMPER, item.damping) for item in mechanism.dampers.values()]
    for item in mechanism.forces.values():
        if item.at is None:
            assert isinstance(item.force, float)
            uses.append(_make_use(row(item), CONSTANT, item.force))
    return uses + [_Use(row(item), ACTUATOR, i) for i, item in enumerate(mechanism.actuators.values())]


def _collect_measures(numbering: Numbering) -> tuple[dict[str, int], Observation]:
    """Return measures with their rows, by name, and the outputs as sums of their products.

    A measure that is an output has the name of the output. Other measures are named by what they measure. Two outputs
    with the same measure are two measures here.
    """
    forms: dict[str, Form] = {}
    for name in numbering.mechanism.sensors:
        if not numbering.mechanism.sensors[name].record.inside:
            forms |= resolve_sensor(numbering.drawing, name).outputs
    straight = {name: key for name, form in forms.items() if (key := plain_measure(form)) is not None}
    measured = {name: numbering.measures[key] for name, key in straight.items()}
    number = {key: i for i, key in reversed(list(enumerate(straight.values())))}
    for form in forms.values():
        for factor in (factor for item in form for factor in item.factors):
            if factor.key not in number:
                number[factor.key] = len(measured)
                measured[f"[{' '.join(factor.key[1:])}]"] = numbering.measures[factor.key]
    outputs: dict[str, tuple[Product, ...]] = {}
    for name, form in forms.items():
        if name in straight:
            outputs[name] = (Product(1.0, ((list(straight).index(name), 0),)),)
        else:
            outputs[name] = tuple(
                Product(item.weight, tuple((number[key], order) for key, order in item.factors)) for item in form
            )
    found = inside(numbering.drawing)
    first, efforts = len(measured), tuple(item.name for item in found.efforts)
    of_forces = {
        name: tuple(Product(weight, ((first + number, 0),)) for weight, number in form)
        for name, form in found.outputs.items()
    }
    names = list(numbering.mechanism.sensors)
    whole = outputs | of_forces
    order = sorted(whole, key=lambda name: names.index(name.split(".")[0]))  # of the file
    return measured, Observation(tuple(measured), efforts, {name: whole[name] for name in order})


def _inertia(numbering: Numbering) -> Array:
    """Return the constant mass matrices of the bodies in body axes, (bodies, d, d)."""
    found = mass_properties(numbering.drawing)
    column = numbering.arrays.column
    return np.array([found[name].spatial()[np.ix_(column, column)] for name in numbering.bodies])


def _loads(numbering: Numbering) -> tuple[Integers, Array]:
    """Return gravity at every centre of mass, followed by the applied forces."""
    mechanism, drawing = numbering.mechanism, numbering.drawing
    bodies: list[tuple[int, int]] = []
    vectors: list[Array] = []
    none = np.zeros(3)
    if mechanism.gravity is not None:
        gravity = drawing.vector(mechanism.gravity, ("gravity",), "gravity")
        for name, properties in mass_properties(drawing).items():
            bodies.append((numbering.body_index(name), 0))
            vectors.append(np.concatenate([properties.center, properties.mass * gravity, none]))
    for name, applied in mechanism.forces.items():
        if applied.at is None:
            continue
        path = ("forces", name)
        body, point, axes = numbering.place(applied.at, (*path, "at"))
        turn = axes if applied.follower else np.eye(3)  # a follower force is written in its frame's axes
        force = none if applied.force is None else turn @ drawing.vector(applied.force, (*path, "force"), "a force")
        if applied.moment is None:
            moment = none
        elif isinstance(applied.moment, float):
            moment = np.array([0.0, 0.0, applied.moment])
        else:
            moment = turn @ drawing.vector(applied.moment, (*path, "moment"), "a moment")
        bodies.append((body, int(applied.follower)))
        vectors.append(np.concatenate([point, force, moment]))
    return np.array(bodies, dtype=np.int64).reshape(-1, 2), np.array(vectors).reshape(-1, 9)


def _by_row(numbering: Numbering, uses: list[_Use]) -> tuple[Integers, Integers, Array]:
    """Sort uses by their measure; uses_start[i] is the first use of measure i."""
    ordered = sorted(uses, key=lambda use: use.row)
    first, last = numbering.constraints, int(numbering.arrays.sizes[ROWS])
    rows = np.array([use.row for use in ordered], dtype=np.int64)
    start = np.searchsorted(rows, np.arange(first, last + 1)).astype(np.int64)
    uses_i = np.array([(use.role, use.number) for use in ordered], dtype=np.int64).reshape(-1, 2)
    width = max((len(use.parameters) for use in ordered), default=1) + 1
    uses_f = np.zeros((len(ordered), width))
    for n, use in enumerate(ordered):
        uses_f[n, : len(use.parameters)] = use.parameters
        uses_f[n, REFERENCE] = use.reference
    return start, uses_i, uses_f


# Units of coordinates, actuators and sensors.


ARCLENGTH = "arclength"
_TURNS = ("rx", "ry", "rz", "angle")  # directions about an axis


def units_of(position: Rest) -> Units:
    """Return the units of the coordinates (m or rad), actuators (N or N m) and sensors."""
    numbering = position.numbering
    angles, mechanism = numbering.angles(), numbering.mechanism
    driven = {name: numbering.measures[key_of(mechanism, part)] for name, part in mechanism.actuators.items()}
    return Units(
        numbering.coordinate_units,
        {name: force(unit) for name, unit in assign_units(driven, angles[list(driven.values())]).items()},
        output_units(position),
    )


def output_units(position: Rest) -> dict[str, str]:
    """Return the units of the outputs, from the units of their measures and the orders of rates.

    Components of axes have no unit, and the rotation that they describe is an angle.
    """
    numbering, load = position.numbering, get_coefficients(position)
    kinds = numbering.arrays.rows_i[list(load.measured.values()), KIND]
    found = {}
    inner = inside(numbering.drawing).units
    for name, form in load.observation.outputs.items():
        if name in inner:
            found[name] = inner[name]
            continue
        factors = form[0].factors
        length = any(kinds[number] in LENGTHS for number, _ in factors)
        found[name] = rate_unit("m" if length else "rad", sum(order for _, order in factors))
    return found


def model_units(
    position: Rest, coordinates: Sequence[str], inputs: Sequence[str], outputs: Sequence[str], internal: int
) -> Units:
    """Return the units of a model of the mechanism; its last `internal` coordinates are modes of unit mass.

    An arclength is in rad if all θ are angles, otherwise in m. Other coordinates are displacements, `point.axis`.
    """
    known = units_of(position)
    arc = "rad" if set(known.coordinates.values()) == {"rad"} else "m"
    shapes = len(coordinates) - internal

    def unit(name: str) -> str:
        if name == ARCLENGTH:
            return arc
        turned = "rad" if name.rpartition(".")[2] in _TURNS else "m"
        return known.coordinates.get(name) or known.outputs.get(name, turned)

    return Units(
        {name: unit(name) if i < shapes else MODAL for i, name in enumerate(coordinates)},
        {name: known.inputs.get(name) or force(unit(name)) for name in inputs},
        {name: known.outputs.get(name) or unit(name.removesuffix(".coordinate")) for name in outputs},
    )
