"""A run in time: the same names, units, tables and pictures, whatever ran."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.diagnostics import EarlyEnd, InputError, SuppleWarning, user_level
from supple.diagnostics.arguments import require_arguments
from supple.results.basis import CoordinateBasis
from supple.results.result import Result, picture
from supple.results.signals import Signals, gathered, time_span_text
from supple.results.table import Table
from supple.results.text import Text, number_text

# Arrays that a saved run keeps besides its signals, so that it can be watched: whose it is, and where its bodies went.


PREFIX = "playback."
INSTANTS = 400  # that are kept, at most: what an eye follows in some ten seconds


def playback_arrays(run: Simulation) -> dict[str, NDArray[Any]]:
    """`playback.ORIGIN`, texts on what ran, and at `playback.time` where everything was; of a model its coordinates η
    (n, size), of a mechanism

    playback.poses : (n, bodies, 12) position and rotation R_wb, row by row, of the bodies that `playback.bodies` names
    playback.nodes.BODY : (n, nodes, 6) of an elastic body, displacements and rotation vectors from its drawn shape, in
                          its axes, which go where the node next to its origin takes them
    """
    found: dict[str, NDArray[Any]] = {
        f"{PREFIX}{name}": np.array([text]) for name, text in getattr(run.record, "origin", {}).items()
    }
    if not found or not len(run.time):
        return found
    instants = evenly(len(run.time))
    if run.bodies is None:
        eta = np.stack(list(run.coordinates.values()), axis=1)
        return found | {f"{PREFIX}time": run.time[instants], f"{PREFIX}coordinates": eta[instants]}
    places = run.configuration
    X = places.X[instants, :-1]
    names = places.rest.numbering.bodies
    found[f"{PREFIX}bodies"] = np.array(names, dtype=str)
    found[f"{PREFIX}time"] = run.time[instants]
    found[f"{PREFIX}poses"] = X.astype(np.float32)
    if places.deformed is None:
        return found
    P = places.mechanism.plane_axes()
    for b, name in enumerate(names):
        nodes = run.nodes(name)
        if nodes.position.shape[1] < 2:
            continue
        drawn = places.deformed.frames.drawn(b)
        U = _relative(X[:, b], nodes.position[instants] @ P, P.T @ nodes.rotation[instants] @ P, drawn)
        found[f"{PREFIX}nodes.{name}"] = U.astype(np.float32)
    return found


def evenly(count: int, most: int = INSTANTS) -> NDArray[np.int64]:
    """Numbers of at most so many instants of a run, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))


def _relative(body: Array, x: Array, R: Array, drawn: Array) -> Array:
    """(n, nodes, 6): R_bᵀ(x - x_b) - X, and the rotation vector of R_bᵀ R."""
    from scipy.spatial.transform import Rotation  # takes a while to import

    R_b = body[:, 3:].reshape(-1, 3, 3)
    u = np.einsum("nji,nkj->nki", R_b, x - body[:, None, :3]) - drawn
    turned = np.einsum("nji,nkjl->nkil", R_b, R)
    phi = Rotation.from_matrix(turned.reshape(-1, 3, 3)).as_rotvec().reshape(*turned.shape[:2], 3)
    return np.concatenate([u, phi], axis=-1)


# How well the account of energy of a run balances.


# 1 % of the energy is ½ % of an amplitude, what a plot just shows; steps that follow the motion stay far below.
LARGEST_DEFECT = 0.01
_ENERGY_ROUNDING = 1e-9  # of a potential: what changes by less does not move


def energy_defect(kinetic: Array, potential: Array, works: Array, balance: Array, least: float) -> float:
    """What the account is off by at worst, over the largest energy that was exchanged in the run.

    kinetic, potential, balance : (N,), works : (N, k), put in or lost since the start, all in J
    least : J, below which nothing moves

        max |balance| / max(T, max V - min V, |W|, least)

    The zero of a potential is arbitrary and does not count, but for its rounding.
    """
    if not len(balance):
        return 0.0
    largest = float(np.abs(potential).max())
    exchanged = max(kinetic.max(), np.ptp(potential), _ENERGY_ROUNDING * largest, least, np.abs(works).max(initial=0.0))
    return float(np.abs(balance).max() / exchanged) if exchanged > 0.0 else 0.0


# Runs: what a runner records, and the result.


_ROUNDING = 1e-12  # of the largest reaction: less is zero


class RunRecord(Protocol):
    """What a runner keeps of a run, as signals on the times of its results; see `Simulation` for what they are."""

    @property
    def coordinates(self) -> Signals: ...
    @property
    def rates(self) -> Signals: ...
    @property
    def accelerations(self) -> Signals: ...
    @property
    def outputs(self) -> Signals: ...
    @property
    def inputs(self) -> Signals: ...
    @property
    def driving_forces(self) -> Signals: ...
    @property
    def energy(self) -> Signals: ...
    @property
    def energy_defect(self) -> float | None: ...


class Bodies(RunRecord, Protocol):
    """What a runner that knows every body can tell besides."""

    @property
    def joint_coordinates(self) -> Signals: ...
    @property
    def output_rates(self) -> Signals: ...
    @property
    def configuration(self) -> Any: ...
    @property
    def motion(self) -> Any: ...
    def frame_motion(self, name: str) -> Any: ...
    def nodes(self, body: str) -> Any: ...
    def reaction(self, joint: str) -> Any: ...
    def section(self, body: str, place: str | float, beam: int | None = None) -> Signals: ...
    @property
    def strain_energy(self) -> Signals: ...


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(Result):
    """Motion in time of a mechanism, a reduced model or a linear one, free, led, or in the loop with a controller.

    time    : (N,) s, of the results; coordinates, rates, accelerations : of θ, or of η = (θ, δ)
    outputs : what sensors see; inputs : forces of the actuators, where held ones change those from then on
    driving_forces : force (or moment) along each prescribed coordinate that keeps it on its course; none of a free run
    energy  : kinetic, potential and total; the works put in and lost since the start, and what is left over, the error
              of their balance; none where it is not known
    reason  : why the run ended early, at `stopped` (s), or ""; what was computed until then is here
    steps, iterations : of the integrator, and of Newton's method where it counts them
    tolerance : error that a step was allowed; None where steps were fixed
    rigid   : names of the elastic parts that are taken as rigid; basis : what δ is counted in, None without any
    bodies  : of a mechanism, the motion of all bodies; None otherwise
    damping : how damping was taken, where it is not as described; "" where it is
    reactions : of the joints that were asked for (`with_reactions`), force and moment as `reaction` gives them
    """

    name: str
    time: Array
    record: RunRecord
    reason: str = ""
    stopped: float = np.nan
    steps: int = 0
    iterations: int | None = None
    tolerance: float | None = None
    rigid: tuple[str, ...] = ()
    basis: CoordinateBasis | None = None
    bodies: Bodies | None = None
    damping: str = ""
    reactions: Mapping[str, Mapping[str, Array]] = field(default_factory=dict)

    def summary(self) -> str:
        ended = f", ended early: {self.reason}" if self.reason else ""
        return f'of "{self.name}", {time_span_text(self.time)}, {self.steps} steps{ended}'

    def table(self) -> Table:
        """Outputs, coordinates, and `NAME.rate`, `.acceleration`, `.input`, `.driving_force`, `energy.NAME`; reactions
        that were asked for, as `JOINT.force.x` and `JOINT.moment.x`."""
        found = gathered(
            self.time, self.seen, self.coordinates, rate=self.rates, acceleration=self.accelerations,
            input=self.inputs, driving_force=self.driving_forces, energy=self.energy,
        )  # fmt: skip
        for joint, parts in self.reactions.items():
            for part, vectors in parts.items():
                for axis, values in zip("xyz", vectors.T, strict=True):
                    found.columns[f"{joint}.{part}.{axis}"] = values
                    found.units[f"{joint}.{part}.{axis}"] = "N" if part == "force" else "N m"
        return found

    def data(self) -> dict[str, Any]:
        """The keys and values that `--json` prints."""
        return {
            "time": self.time, "outputs": self.seen, "coordinates": self.coordinates, "rates": self.rates,
            "accelerations": self.accelerations, "inputs": self.inputs, "driving_forces": self.driving_forces,
            "energy": self.energy, "reactions": self.reactions, "units": dict(self.coordinates.units) | self.seen.units,
            "complete": self.complete, "reason": self.reason, "steps": self.steps, "iterations": self.iterations,
            "rigid": self.rigid, "damping": self.damping, "tolerance": self.tolerance,
            "energy_defect": self.energy_defect, "balanced": self.balanced,
        }  # fmt: skip

    def text(self, took: str = "") -> Text:
        """Where it ends, how far outputs went, and its energy; took : how long it took, in words."""
        if not len(self.time):
            return super().text()
        last = number_text(self.time[-1], "s")
        name = self.name if self.bodies is not None else f"{self.name} (reduced)"
        counted = "" if self.iterations is None else f", {self.iterations} iterations"
        out = Text(f"{name}: {last} in {self.steps} steps{counted}{took}")
        if len(self.coordinates):
            out.table(("coordinate", f"at {last}", "rate"), _ends(self.coordinates, self.rates))
        if len(self.outputs) or not len(self.coordinates):
            out.table(("output", f"at {last}", "least", "largest"), _ranges(self.seen, last=True))
        if len(self.driving_forces):
            out.table(("driving force", "least", "largest"), _ranges(self.driving_forces))
        if self.reactions:
            out.table(("joint", "largest force", "largest moment"), _largest_reactions(self.reactions))
        energy = [
            (key, number_text(values[-1])) for key, values in self.energy.items() if values.any() or key == "balance"
        ]
        out.table(("energy", f"at {last}, J"), energy)
        if self.energy_defect is not None:
            defect = 100.0 * self.energy_defect
            out.line(f"the account of energy is off by {defect:.2g} % of what was exchanged, at most")
        return out

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The columns, and what it takes to watch the run: see `supple.results.simulation`."""
        return super().arrays() | playback_arrays(self)

    @property
    def complete(self) -> bool:
        return not self.reason

    @property
    def coordinates(self) -> Signals:
        return self.record.coordinates

    @property
    def rates(self) -> Signals:
        return self.record.rates

    @property
    def accelerations(self) -> Signals:
        return self.record.accelerations

    @property
    def outputs(self) -> Signals:
        return self.record.outputs

    @property
    def inputs(self) -> Signals:
        return self.record.inputs

    @property
    def driving_forces(self) -> Signals:
        return self.record.driving_forces

    @property
    def energy(self) -> Signals:
        return self.record.energy

    @property
    def energy_defect(self) -> float | None:
        """What the account of energy is off by, over the largest energy exchanged; see `supple.results.simulation`.

        The method is to blame: steps too long for the motion, or its damping of what they do not resolve. None where
        no account is kept.
        """
        return self.record.energy_defect

    @property
    def balanced(self) -> bool | None:
        """The account is off by at most 1 %; None where none is kept."""
        return None if self.energy_defect is None else self.energy_defect <= LARGEST_DEFECT

    @property
    def seen(self) -> Signals:
        """Outputs; the coordinates where nothing is sensed, and the joints where there are none either."""
        if len(self.outputs):
            return self.outputs
        return self.coordinates if len(self.coordinates) or self.bodies is None else self.bodies.joint_coordinates

    # ------------------------------------------------------------------------ of a mechanism

    def _every_body(self, what: str) -> Bodies:
        if self.bodies is None:
            raise InputError(
                f"it is not a run of a mechanism, and knows no {what}", part=f'simulation of "{self.name}"',
                hint="simulate the mechanism",
            )  # fmt: skip
        return self.bodies

    @property
    def joint_coordinates(self) -> Signals:
        """Every coordinate of every joint."""
        return self._every_body("joint coordinates").joint_coordinates

    @property
    def output_rates(self) -> Signals:
        """How fast the outputs change."""
        return self._every_body("rates of outputs").output_rates

    @property
    def configuration(self) -> Any:
        """All positions as a batch of configurations."""
        return self._every_body("configurations").configuration

    @property
    def motion(self) -> Any:
        """All velocities and accelerations."""
        return self._every_body("motion of bodies").motion

    def frame(self, name: str) -> Any:
        """A body, frame or joint's point over time: position (N, 3), rotation (N, 3, 3)."""
        return self.configuration.frame(name)

    def frame_motion(self, name: str) -> Any:
        """Its velocity, angular velocity, and accelerations."""
        require_arguments(Simulation.frame_motion, locals())
        return self._every_body("motion of bodies").frame_motion(name)

    def nodes(self, body: str) -> Any:
        """The nodes of an elastic body over time: position (N, nodes, 3), rotation (N, nodes, 3, 3), in the world."""
        require_arguments(Simulation.nodes, locals())
        return self._every_body("nodes").nodes(body)

    def reaction(self, joint: str) -> Any:
        """Force and moment of a joint on its second body over time, about its place there, in the world.

        Where constraints are redundant, those of least norm, moments divided by the mechanism's extent.
        """
        require_arguments(Simulation.reaction, locals())
        return self._every_body("reactions").reaction(joint)

    def with_reactions(self, joints: Iterable[str]) -> Simulation:
        """The same run with the reactions of some joints in its table, its text and its file."""
        return replace(self, reactions={name: self.reaction(name)._asdict() for name in joints})

    def section(self, body: str, place: str | float, beam: int | None = None) -> Signals:
        """Forces and moments in a section of a beam: N, Qy, Qz (N) and T, My, Mz (N m), in the plane N, Q and M.

        place : its name, or a fraction of the beam's length; beam : which of the body's, from 1, where it has several
        The part towards the beam's second end acts on the other with these, in axes of the section: x along the beam, y
        and z its principal ones; in the plane Q acts to the left of the beam and M about the plane's normal. Weight and
        inertia are in the balance; at a node between elements the mean of both sides is taken.
        """
        require_arguments(Simulation.section, locals())
        return self._every_body("sections").section(body, place, beam)

    @property
    def strain_energy(self) -> Signals:
        """Strain energy of every body that deforms, and of joints that are elastic or have a drive, by name, J."""
        return self._every_body("strain energy").strain_energy

    def view(self, **options: Any) -> Any:
        """Watch it on the mechanism that ran: inline at the end of a notebook's cell, in the browser elsewhere.

        runs : another one, laid over it; see `view_page`
        """
        return picture("view.view_page.view_page")(self, **options)

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draw outputs (coordinates where nothing is sensed), forces and energies over time; returns the panels.

        names : outputs, coordinates or inputs, those alone; axes : where to draw instead, outputs alone if it is one
        """
        if names:
            known = {"output": self.outputs, "coordinate": self.coordinates, "force": self.inputs}
            return picture("view.time_plot.time_plot")(known, names, axes)
        energies = {name: self.energy[name] for name in ("kinetic", "potential", "total") if name in self.energy}
        return picture("view.time_plot.time_plot")({
            "output": self.seen, "force": self.inputs.moving(), "driving force": self.driving_forces.moving(),
            "energy": Signals(self.time, energies, self.energy.units),
        }, (), axes)  # fmt: skip


def _ends(coordinates: Signals, rates: Signals) -> list[tuple[str, ...]]:
    """The last value of each coordinate and of its rate."""
    return [
        (key, *(number_text(signals[key][-1], signals.units.get(key, "")) for signals in (coordinates, rates)))
        for key in coordinates
    ]


def _ranges(signals: Signals, *, last: bool = False) -> list[tuple[str, ...]]:
    """The last value, if it is wanted, the least and the largest."""
    found = []
    for key, values in signals.items():
        shown = (*(values[-1:] if last else ()), values.min(), values.max())
        found.append((key, *(number_text(x, signals.units.get(key, "")) for x in shown)))
    return found


def _largest_reactions(reactions: Mapping[str, Mapping[str, Array]]) -> list[tuple[str, ...]]:
    """The largest force and moment of each joint."""
    longest = {joint: tuple(map(_longest, parts.values())) for joint, parts in reactions.items()}
    nothing = _ROUNDING * max(max(pair) for pair in longest.values())
    return [
        (joint, *(number_text(x if x > nothing else 0.0, unit) for x, unit in zip(pair, ("N", "N m"), strict=True)))
        for joint, pair in longest.items()
    ]


def _longest(vectors: Array) -> float:
    return float((vectors**2).sum(axis=1).max() ** 0.5)


def warn_of(run: Simulation) -> None:
    """Warn of a run that ends early, or whose energy does not balance, at the line of the user's that asked for it."""
    if not run.complete:
        warnings.warn(f"results end at {run.time[-1]:.6g} s: {run.reason}", EarlyEnd, stacklevel=user_level())
    elif run.balanced is False:
        if run.tolerance is None:
            remedy = "leave out the step, which lets steps follow the motion, or give a shorter one"
        else:
            remedy = f"give a tolerance below {run.tolerance:.1g}, or a fixed step"
        warnings.warn(
            f"the account of energy is off by {100.0 * (run.energy_defect or 0.0):.2g} % of the energy exchanged "
            f"(limit {100.0 * LARGEST_DEFECT:g} %): the steps do not resolve the motion; {remedy}",
            SuppleWarning,
            stacklevel=user_level(),
        )
