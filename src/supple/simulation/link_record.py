"""Record of a run of the equivalent rigid link system: signals, and poses of links and nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError, require_known
from supple.formats.mechanism_text import to_yaml
from supple.formulations.coefficients import get_coefficients, units_of
from supple.formulations.rigid_link_system.link_equations import LinkEquations, LinkMotion, link_energies
from supple.formulations.rigid_link_system.link_point import LinkPoint
from supple.formulations.rigid_link_system.link_system import RigidLinkSystem
from supple.formulations.rigid_link_system.small_link_motions import outputs_without_forces
from supple.geometry.rotation import exponential
from supple.kinematics.configuration import Configuration, Deformed, FramePose
from supple.results.signals import Signals, label_signals
from supple.results.units import assign_units, rate_unit

_STEP = 1e-6  # s: step for differences of rates, for second rates of outputs


@dataclass(frozen=True, eq=False)
class NodeCarriers:
    """Nodes as the frames that carry points on their bodies."""

    system: RigidLinkSystem
    rigid: tuple[str, ...] = ()

    @cached_property
    def place(self) -> Array:
        """Undeformed positions (N + 1, 3) on their bodies; the ground last."""
        places = [np.zeros((1, 3)) if mesh is None else mesh.nodes for mesh in self.system.meshes]
        return np.concatenate([*places, np.zeros((1, 3))])

    def locate_nodes(self, body: int) -> Array:
        """Return the undeformed positions (nodes, 3) of the nodes of a body, in its axes."""
        return self.place[np.flatnonzero(self.system.node_body == body)]

    def nearest(self, body: int, place: Array) -> int:
        if body == len(self.system.meshes):
            return self.system.nodes
        nodes = np.flatnonzero(self.system.node_body == body)
        mesh = self.system.meshes[body]
        carrier = None if mesh is None else mesh.node_at(place)
        if carrier is not None:
            return int(self.system.first_node[body]) + carrier
        return int(nodes[np.argmin(np.linalg.norm(self.place[nodes] - place, axis=1))])


@dataclass(frozen=True, eq=False)
class LinkRecord:
    """States at times (N,).

    u      : (N, actuators) inputs
    driven : prescribed coordinates; driving : (N, k) forces along them
    """

    equations: LinkEquations
    time: Array
    motions: list[LinkMotion]
    u: Array
    driven: tuple[int, ...]
    driving: Array

    @property
    def origin(self) -> dict[str, str]:
        """Source of the run: `mechanism`, the text of its file."""
        return {"mechanism": to_yaml(self.equations.system.numbering.mechanism)}

    @property
    def _names(self) -> tuple[str, ...]:
        return self.equations.system.numbering.coordinates

    @cached_property
    def _points(self) -> list[LinkPoint]:
        return [self.equations.point(motion.x) for motion in self.motions]

    @property
    def energy_defect(self) -> None:
        """None: there is no energy balance, since the equations are of first order in u."""
        return None

    @property
    def coordinates(self) -> Signals:
        """Coordinates θ over time; with a compliant drive, those of the motor's side."""
        units = units_of(self.equations.position).coordinates
        return label_signals(self.time, self._names, np.array([item.x for item in self.motions]), units)

    @property
    def rates(self) -> Signals:
        units = units_of(self.equations.position).rates
        return label_signals(self.time, self._names, np.array([item.v for item in self.motions]), units)

    @property
    def accelerations(self) -> Signals:
        units = units_of(self.equations.position).accelerations
        return label_signals(self.time, self._names, np.array([item.a for item in self.motions]), units)

    @cached_property
    def outputs(self) -> Signals:
        """Outputs of sensors, without internal forces."""
        load = get_coefficients(self.equations.position)
        rows = list(load.measured.values())
        found = np.zeros((3, len(self.time), len(rows) + len(load.efforts)))
        for n, (motion, point) in enumerate(zip(self.motions, self._points, strict=True)):
            found[0, n, : len(rows)] = [point.measure(row)[0] for row in rows]
            if load.observation.order:
                found[1, n, : len(rows)] = self._rates_of(point, motion, rows)
            if load.observation.order > 1:
                ahead, behind = (self._extrapolate(motion, sign * _STEP) for sign in (1.0, -1.0))
                rates = [self._rates_of(self.equations.point(item.x), item, rows) for item in (ahead, behind)]
                found[2, n, : len(rows)] = (rates[0] - rates[1]) / (2.0 * _STEP)
        values = load.observation.values(found)
        units = units_of(self.equations.position).outputs
        names = outputs_without_forces(self.equations.position)
        return Signals(self.time, {name: values[:, list(load.observation.outputs).index(name)] for name in names},
                       {name: units[name] for name in names})  # fmt: skip

    @staticmethod
    def _extrapolate(motion: LinkMotion, time: float) -> LinkMotion:
        x = motion.x + time * motion.v + 0.5 * time**2 * motion.a
        return LinkMotion(x, motion.v + time * motion.a, motion.a, motion.multipliers)

    def _rates_of(self, point: LinkPoint, motion: LinkMotion, rows: list[int]) -> Array:
        s = self.equations.s
        q = point.loops.Gamma @ motion.v[:s]
        return np.array([over_q @ q + over_u @ motion.v[s:] for _, over_q, over_u in map(point.measure, rows)])

    @property
    def inputs(self) -> Signals:
        mechanism = self.equations.system.numbering.mechanism
        return label_signals(self.time, mechanism.actuators, self.u, units_of(self.equations.position).inputs)

    @property
    def driving_forces(self) -> Signals:
        """Force or moment along each prescribed coordinate that produces its motion."""
        angles = self.equations.system.numbering.angles()
        rows = self.equations.system.theta_rows
        names = [self._names[i] for i in self.driven]
        units = {self._names[i]: "N m" if angles[rows[i]] else "N" for i in self.driven}
        return label_signals(self.time, names, self.driving.reshape(len(self.time), -1), units)

    @cached_property
    def energy(self) -> Signals:
        """Kinetic, potential (with strain) and total energy, to second order in u, without works."""
        found = np.array([link_energies(self.equations, motion) for motion in self.motions])
        kinetic, potential, strain = found.T
        values = {"kinetic": kinetic, "potential": potential, "total": kinetic + potential, "strain": strain}
        return Signals(self.time, values, dict.fromkeys(values, "J"))

    # ------------------------------------------------------------------------ bodies

    @cached_property
    def configuration(self) -> Configuration:
        """Links as assembled, with nodes displaced from them."""
        points, carriers = self._points, NodeCarriers(self.equations.system)
        X, w = np.array([point.state.X for point in points]), np.array([point.w for point in points])
        theta = np.array([item.x[: self.equations.s] for item in self.motions])
        nodes = np.array([_node_poses(carriers, point) for point in points])
        return Configuration(self.equations.position, theta, X, w, np.ones(len(points)), Deformed(carriers, nodes))

    def nodes(self, body: str) -> FramePose:
        """Return positions (N, nodes, 3) and rotations (N, nodes, 3, 3) of the nodes of an elastic body."""
        numbering = self.equations.system.numbering
        require_known("body", body, numbering.bodies)
        deformed = self.configuration.deformed
        assert deformed is not None
        X = deformed.X[:, np.flatnonzero(self.equations.system.node_body == numbering.body_index(body))]
        P = numbering.mechanism.plane_axes()
        return FramePose(X[..., :3] @ P.T, P @ X[..., 3:].reshape(*X.shape[:-1], 3, 3) @ P.T)

    @property
    def joint_coordinates(self) -> Signals:
        """All joint coordinates of the rigid links."""
        numbering = self.equations.system.numbering
        turns = [numbering.angles()[row] for key, row in numbering.measures.items() if key[0] == "joint"]
        values = self.configuration.joint_coordinates
        return Signals(self.time, dict(values), assign_units(values, turns))

    @property
    def output_rates(self) -> Signals:
        """Rates of the outputs that are single measures."""
        rows, known = get_coefficients(self.equations.position).outputs, units_of(self.equations.position).outputs
        both = zip(self._points, self.motions, strict=True)
        found = np.array([self._rates_of(point, motion, list(rows.values())) for point, motion in both])
        return label_signals(self.time, rows, found, {name: rate_unit(known[name]) for name in rows})

    @property
    def strain_energy(self) -> Signals:
        """Strain energy of every body that deforms, J."""
        system = self.equations.system
        values = {}
        for b, mesh in enumerate(system.meshes):
            if mesh is not None:
                at = 6 * (int(system.first_node[b]) + mesh.node) + mesh.component
                hats = np.array([point.state.hat.ravel()[at] for point in self._points])
                values[system.numbering.bodies[b]] = 0.5 * np.einsum("ni,ni->n", hats, hats @ mesh.K.T)
        return Signals(self.time, values, dict.fromkeys(values, "J"))

    @property
    def motion(self) -> Any:
        self._unknown("velocities of bodies")

    def frame_motion(self, name: str) -> Any:
        self._unknown("velocities of frames")

    def reaction(self, joint: str) -> Any:
        self._unknown("reactions of joints")

    def section(self, body: str, place: str | float, beam: int | None = None) -> Signals:
        self._unknown("forces in sections")

    def _unknown(self, what: str) -> NoReturn:
        raise InputError(
            f'formulation "erls" does not compute {what}',
            part=f'simulation of "{self.equations.system.numbering.mechanism.name}"', hint="omit the formulation",
        )  # fmt: skip


def _node_poses(carriers: NodeCarriers, point: LinkPoint) -> Array:
    """Return the poses (N + 1, 12) of all nodes, the ground last."""
    system, state = carriers.system, point.state
    R = state.R
    displaced = np.einsum("nij,nj->ni", R, carriers.place[:-1] + state.hat[:, 0])
    x = state.X[system.node_body, :3] + displaced
    turns = np.array([exponential(phi) for phi in state.hat[:, 1]])
    return np.vstack([np.hstack([x, (R @ turns).reshape(-1, 9)]), state.X[-1:]])
