"""Simulation results, with the same names, units, tables and plots for all kinds of models."""

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
from supple.results.signals import Signals, gather_signals, time_span_text
from supple.results.table import Table
from supple.results.text import Text, number_text

# Additional arrays of a saved run for playback: the origin of the run, and the motion of its bodies.


PREFIX = "playback."
INSTANTS = 400  # largest number of stored instants, enough for some ten seconds of playback


def playback_arrays(run: Simulation) -> dict[str, NDArray[Any]]:
    """Return the arrays for playback of a run.

    `playback.ORIGIN` are texts about the run. At the times `playback.time`, a run of a reduced model has its
    coordinates η (n, size), and a run of a mechanism

    playback.poses      : (n, bodies, 12) position and rotation R_wb, row by row, of the bodies in `playback.bodies`
    playback.nodes.BODY : (n, nodes, 6) displacements and rotation vectors of the nodes of an elastic body from its
    drawn
                          shape, in body axes that follow the node closest to the body origin
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
        drawn = places.deformed.frames.locate_nodes(b)
        U = _relative(X[:, b], nodes.position[instants] @ P, P.T @ nodes.rotation[instants] @ P, drawn)
        found[f"{PREFIX}nodes.{name}"] = U.astype(np.float32)
    return found


def evenly(count: int, most: int = INSTANTS) -> NDArray[np.int64]:
    """Return the indices of at most so many instants of a run, including the first and the last."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))


def _relative(body: Array, x: Array, R: Array, drawn: Array) -> Array:
    """Return (n, nodes, 6): R_bᵀ(x - x_b) - X, and the rotation vector of R_bᵀ R."""
    from scipy.spatial.transform import Rotation  # slow import

    R_b = body[:, 3:].reshape(-1, 3, 3)
    u = np.einsum("nji,nkj->nki", R_b, x - body[:, None, :3]) - drawn
    turned = np.einsum("nji,nkjl->nkil", R_b, R)
    phi = Rotation.from_matrix(turned.reshape(-1, 3, 3)).as_rotvec().reshape(*turned.shape[:2], 3)
    return np.concatenate([u, phi], axis=-1)


# Energy balance of a run.


# 1 % of the energy is 0.5 % of an amplitude, barely visible in a plot; steps that resolve the motion stay far below.
LARGEST_DEFECT = 0.01
_ENERGY_ROUNDING = 1e-9  # relative to a potential; smaller changes are rounding errors


def energy_defect(kinetic: Array, potential: Array, works: Array, balance: Array, least: float) -> float:
    """Return the largest error of the energy balance relative to the largest energy exchanged in the run.

    kinetic, potential, balance : (N,), works : (N, k), supplied or dissipated since the start, all in J
    least : J, energies below this value count as rest

        max |balance| / max(T, max V - min V, |W|, least)

    The zero of a potential is arbitrary and does not count, except for its rounding.
    """
    if not len(balance):
        return 0.0
    largest = float(np.abs(potential).max())
    exchanged = max(kinetic.max(), np.ptp(potential), _ENERGY_ROUNDING * largest, least, np.abs(works).max(initial=0.0))
    return float(np.abs(balance).max() / exchanged) if exchanged > 0.0 else 0.0


# Recorded data of a run, and the result.


_ROUNDING = 1e-12  # relative to the largest reaction; smaller ones are zero


class RunRecord(Protocol):
    """Signals that a solver records at the output times; see `Simulation` for their meaning."""

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
    """Additional results of a solver that computes the motion of every body."""

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
    """Simulation of a mechanism, a reduced model or a linear model: free, with prescribed motion, or in closed loop.

    Attributes
    ----------
    time : ndarray, shape (N,)
        Output times, s.
    coordinates, rates, accelerations : Signals
        Coordinates θ, or η = (θ, δ), with their time derivatives.
    outputs : Signals
        Outputs of the sensors.
    inputs : Signals
        Forces of the actuators. Held forces have the value that is valid from each time on.
    driving_forces : Signals
        Force (or moment) that imposes the motion of each prescribed coordinate; empty for a free motion.
    energy : Signals
        Kinetic, potential and total energy, works supplied and dissipated since the start, and the balance, which is
        the numerical error; empty if unknown.
    reason : str
        Reason of an early end at `stopped` (s), or "". Results until then are valid.
    steps, iterations : int
        Number of integration steps, and of Newton iterations if they are counted.
    tolerance : float or None
        Error tolerance of a step; None with fixed steps.
    rigid : tuple of str
        Names of elastic parts that are treated as rigid.
    basis : CoordinateBasis or None
        Basis of δ.
    bodies : Bodies or None
        Motion of all bodies, for runs of a mechanism.
    damping : str
        Damping that was used, if it differs from the description; else "".
    reactions : dict
        Force and moment of the joints of `with_reactions`, as in `reaction`.
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
        """Return a table of all signals.

        The columns are outputs, coordinates, and `NAME.rate`, `.acceleration`, `.input`, `.driving_force`,
        `energy.NAME`. Requested reactions are `JOINT.force.x` and `JOINT.moment.x`.
        """
        found = gather_signals(
            self.time, self.observed_signals, self.coordinates, rate=self.rates, acceleration=self.accelerations,
            input=self.inputs, driving_force=self.driving_forces, energy=self.energy,
        )  # fmt: skip
        for joint, parts in self.reactions.items():
            for part, vectors in parts.items():
                for axis, values in zip("xyz", vectors.T, strict=True):
                    found.columns[f"{joint}.{part}.{axis}"] = values
                    found.units[f"{joint}.{part}.{axis}"] = "N" if part == "force" else "N m"
        return found

    def data(self) -> dict[str, Any]:
        """Return the data that `--json` prints."""
        return {
            "time": self.time, "outputs": self.observed_signals, "coordinates": self.coordinates, "rates": self.rates,
            "accelerations": self.accelerations, "inputs": self.inputs, "driving_forces": self.driving_forces,
            "energy": self.energy, "reactions": self.reactions,
            "units": dict(self.coordinates.units) | self.observed_signals.units,
            "complete": self.complete, "reason": self.reason, "steps": self.steps, "iterations": self.iterations,
            "rigid": self.rigid, "damping": self.damping, "tolerance": self.tolerance,
            "energy_defect": self.energy_defect, "balanced": self.balanced,
        }  # fmt: skip

    def text(self, took: str = "") -> Text:
        """Return a text with final values, ranges of outputs, and energies; took : text of the computing time."""
        if not len(self.time):
            return super().text()
        last = number_text(self.time[-1], "s")
        name = self.name if self.bodies is not None else f"{self.name} (reduced)"
        counted = "" if self.iterations is None else f", {self.iterations} iterations"
        out = Text(f"{name}: {last} in {self.steps} steps{counted}{took}")
        if len(self.coordinates):
            out.table(("coordinate", f"at {last}", "rate"), _ends(self.coordinates, self.rates))
        if len(self.outputs) or not len(self.coordinates):
            out.table(("output", f"at {last}", "minimum", "maximum"), _ranges(self.observed_signals, last=True))
        if len(self.driving_forces):
            out.table(("driving force", "minimum", "maximum"), _ranges(self.driving_forces))
        if self.reactions:
            out.table(("joint", "largest force", "largest moment"), _largest_reactions(self.reactions))
        energy = [
            (key, number_text(values[-1])) for key, values in self.energy.items() if values.any() or key == "balance"
        ]
        out.table(("energy", f"at {last}, J"), energy)
        if self.energy_defect is not None:
            defect = 100.0 * self.energy_defect
            out.line(f"the energy balance has an error of at most {defect:.2g} % of the energy exchanged")
        return out

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the columns of the table, and the arrays for playback: see `supple.results.simulation`."""
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
        """Return the error of the energy balance relative to the largest energy exchanged.

        It is an error of the integration: steps too long for the motion, or numerical damping of what they do not
        resolve.

        Returns
        -------
        float or None
            Relative error; None if there is no energy balance.
        """
        return self.record.energy_defect

    @property
    def balanced(self) -> bool | None:
        """True if the error of the energy balance is at most 1 %; None if there is no balance."""
        return None if self.energy_defect is None else self.energy_defect <= LARGEST_DEFECT

    @property
    def observed_signals(self) -> Signals:
        """Outputs; without sensors the coordinates, and without coordinates the joint coordinates."""
        if len(self.outputs):
            return self.outputs
        return self.coordinates if len(self.coordinates) or self.bodies is None else self.bodies.joint_coordinates

    # ------------------------------------------------------------------------ results of mechanisms

    def _every_body(self, what: str) -> Bodies:
        if self.bodies is None:
            raise InputError(
                f"only runs of mechanisms have {what}", part=f'simulation of "{self.name}"',
                hint="simulate the mechanism",
            )  # fmt: skip
        return self.bodies

    @property
    def joint_coordinates(self) -> Signals:
        """Every coordinate of every joint."""
        return self._every_body("joint coordinates").joint_coordinates

    @property
    def output_rates(self) -> Signals:
        """Time derivatives of the outputs."""
        return self._every_body("rates of outputs").output_rates

    @property
    def configuration(self) -> Any:
        """Positions of all bodies, as a batch of configurations."""
        return self._every_body("configurations").configuration

    @property
    def motion(self) -> Any:
        """Velocities and accelerations of all bodies."""
        return self._every_body("motion of bodies").motion

    def frame(self, name: str) -> Any:
        """Return position (N, 3) and rotation (N, 3, 3) of a body, frame or joint point over time."""
        return self.configuration.frame(name)

    def frame_motion(self, name: str) -> Any:
        """Return velocity, angular velocity, and accelerations of a body, frame or joint point over time."""
        require_arguments(Simulation.frame_motion, locals())
        return self._every_body("motion of bodies").frame_motion(name)

    def nodes(self, body: str) -> Any:
        """Return positions (N, nodes, 3) and rotations (N, nodes, 3, 3) of an elastic body's nodes, in world axes."""
        require_arguments(Simulation.nodes, locals())
        return self._every_body("nodes").nodes(body)

    def reaction(self, joint: str) -> Any:
        """Return force and moment of a joint on its second body over time, about the joint point there, in world axes.

        With redundant constraints they have least norm, with moments divided by the extent of the mechanism.
        """
        require_arguments(Simulation.reaction, locals())
        return self._every_body("reactions").reaction(joint)

    def with_reactions(self, joints: Iterable[str]) -> Simulation:
        """Return the run with the reactions of some joints in its table, text and files.

        Parameters
        ----------
        joints : iterable of str
            Names of joints.

        Returns
        -------
        Simulation
            The same run with `reactions`.
        """
        return replace(self, reactions={name: self.reaction(name)._asdict() for name in joints})

    def section(self, body: str, place: str | float, beam: int | None = None) -> Signals:
        """Return internal forces and moments in a cross-section of a beam.

        Parameters
        ----------
        body : str
            Name of the body.
        place : str or float
            Name of a place on the beam, or a fraction of the beam's length.
        beam : int, optional
            Number of the beam, from 1, if the body has several.

        Returns
        -------
        Signals
            N, Qy, Qz (N) and T, My, Mz (N m); in a plane N, Q and M.

        Notes
        -----
        The part towards the beam's second end exerts these on the other part, in axes of the section: x along the beam,
        y and z its principal axes. In a plane Q acts to the left of the beam and M about the normal of the plane.
        Weight and inertia are included. At a node between elements the result is the mean of both sides.
        """
        require_arguments(Simulation.section, locals())
        return self._every_body("sections").section(body, place, beam)

    @property
    def strain_energy(self) -> Signals:
        """Strain energy of every deformable body, and of joints that are elastic or have a drive, by name, J."""
        return self._every_body("strain energy").strain_energy

    def view(self, **options: Any) -> Any:
        """View the motion: inline as the last expression of a notebook cell, otherwise in the browser.

        Parameters
        ----------
        **options : Any
            Options of `view_page`; `runs` is another run to overlay.
        """
        return picture("view.view_page.view_page")(self, **options)

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Plot outputs (without sensors the coordinates), forces and energies over time; return the panels.

        Parameters
        ----------
        *names : str
            Outputs, coordinates or inputs to plot. Default: all groups.
        axes : matplotlib.axes.Axes, optional
            Axes to draw into; a single one shows the outputs. Default: a new figure.
        """
        if names:
            known = {"output": self.outputs, "coordinate": self.coordinates, "force": self.inputs}
            return picture("view.time_plot.time_plot")(known, names, axes)
        energies = {name: self.energy[name] for name in ("kinetic", "potential", "total") if name in self.energy}
        return picture("view.time_plot.time_plot")({
            "output": self.observed_signals, "force": self.inputs.drop_zeros(),
            "driving force": self.driving_forces.drop_zeros(),
            "energy": Signals(self.time, energies, self.energy.units),
        }, (), axes)  # fmt: skip


def _ends(coordinates: Signals, rates: Signals) -> list[tuple[str, ...]]:
    """Return the last value of each coordinate and of its rate."""
    return [
        (key, *(number_text(signals[key][-1], signals.units.get(key, "")) for signals in (coordinates, rates)))
        for key in coordinates
    ]


def _ranges(signals: Signals, *, last: bool = False) -> list[tuple[str, ...]]:
    """Return the last value (if requested), the minimum and the maximum of each signal."""
    found = []
    for key, values in signals.items():
        shown = (*(values[-1:] if last else ()), values.min(), values.max())
        found.append((key, *(number_text(x, signals.units.get(key, "")) for x in shown)))
    return found


def _largest_reactions(reactions: Mapping[str, Mapping[str, Array]]) -> list[tuple[str, ...]]:
    """Return the largest force and moment of each joint."""
    longest = {joint: tuple(map(_longest, parts.values())) for joint, parts in reactions.items()}
    nothing = _ROUNDING * max(max(pair) for pair in longest.values())
    return [
        (joint, *(number_text(x if x > nothing else 0.0, unit) for x, unit in zip(pair, ("N", "N m"), strict=True)))
        for joint, pair in longest.items()
    ]


def _longest(vectors: Array) -> float:
    return float((vectors**2).sum(axis=1).max() ** 0.5)


def warn_of(run: Simulation) -> None:
    """Warn about a run that ended early or violates the energy balance, at the line of the user's call."""
    if not run.complete:
        warnings.warn(f"results end at {run.time[-1]:.6g} s: {run.reason}", EarlyEnd, stacklevel=user_level())
    elif run.balanced is False:
        if run.tolerance is None:
            remedy = "omit the step, so that it is adapted to the motion, or give a shorter one"
        else:
            remedy = f"give a tolerance below {run.tolerance:.1g}, or a fixed step"
        warnings.warn(
            f"the energy balance has an error of {100.0 * (run.energy_defect or 0.0):.2g} % of the energy exchanged "
            f"(limit {100.0 * LARGEST_DEFECT:g} %): the steps do not resolve the motion; {remedy}",
            SuppleWarning,
            stacklevel=user_level(),
        )
