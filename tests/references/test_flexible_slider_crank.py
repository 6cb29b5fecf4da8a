"""Simeon's flexible slider-crank in time: the rod by its own modal basis, as a superelement.

B. Simeon, Modelling a flexible slider crank mechanism by a mixed system of DAEs and PDEs, Math. Modelling of Systems 2
(1996); problem "crank" of the Test Set for IVP Solvers, linear stiffness, no damping, whose reference solution at
t = 0.1 s is used here. Two sines bend the rod; a quadratic element stretches it. The mass of that element is fifteen
times the consistent one, as published.
"""

from __future__ import annotations

import numpy as np
import pytest

import supple
from supple.formulations.absolute.instant import instant
from supple.formulations.absolute.step import State
from supple.formulations.absolute.system import absolute
from supple.integration.time_steps import alpha_of
from supple.kinematics.closure import assemble
from supple.simulation.driver import Known, drive
from supple.simulation.mechanism_run import Begun, Continuous, MechanismRun
from supple.simulation.prescribed import prescribe_motion
from supple.time_functions.function_of_time import linear_between

CRANK, ROD = 0.15, 0.3
MASSES, INERTIAS = (0.36, 0.151104, 0.075552), (0.002727, 0.0045339259)
E, RHO, WIDTH = 2e11, 7870.0, 0.008
SPEED = 150.0
PUBLISHED = 15.0  # times the consistent mass of stretching

# φ₁, φ₂, x₃, q, and their rates
START = np.array([0.0, 0.0, 0.450016933, 0.0, 0.0, 1.03339863e-05, 1.69327969e-05])
START_RATES = np.array(
    [150.0, -74.995767, -2.68938672e-06, 0.444896105, 0.00463434311, -1.78591076e-06, -2.68938672e-06]
)
ACCELERATIONS = np.array([0.0, -0.001344541576, -5062.194923138079, -6.83e-05, 0.0, -4.268463211410861, 0.20983346879])
END = np.array(
    [15.0, -0.331173498825626, 0.169737332842786, 1.893192899613509e-04, 2.375751249879174e-05, -5.323896770569702e-06,
     -8.363313279112129e-06]
)  # fmt: skip
END_RATES = np.array(
    [150.0, 60.25346755138369, -8.753116326670527, -0.03005541400289738, -0.005500431812571696, 4.974111734266989e-04,
     1.105560003626645e-03]
)  # fmt: skip


def modal_rod(path):
    """The rod's file: lateral shapes sin kπξ, stretch 4ξ(1 - ξ) and ξ(2ξ - 1), from the crank pin along the chord."""
    points, weights = np.polynomial.legendre.leggauss(24)
    xi, dm = 0.5 * (points + 1.0), RHO * WIDTH**2 * ROD * 0.5 * weights
    zero = np.zeros_like(xi)
    S = np.array(
        [[zero, np.sin(np.pi * xi), zero], [zero, np.sin(2 * np.pi * xi), zero], [4 * xi * (1 - xi), zero, zero],
         [xi * (2 * xi - 1), zero, zero]]
    )  # fmt: skip
    moments = np.einsum("aip,bjp,p->ijab", S, S, dm)  # ∫ρ S_i S_j
    moments[0, 0] *= PUBLISHED
    M = np.einsum("iiab->ab", moments)
    eye = np.eye(3)
    turned = np.einsum("jk,ab->jkab", eye, M) - np.einsum("kjab->jkab", moments)
    turning = np.array([moments[(k + 2) % 3, (k + 1) % 3] - moments[(k + 1) % 3, (k + 2) % 3] for k in range(3)])
    X = np.array([ROD * xi, zero, zero])
    coupling = np.zeros((6, 4))
    coupling[:3] = np.einsum("aip,p->ia", S, dm)
    coupling[3:] = np.einsum("p,aip->ia", dm, np.cross(X[None], S, axis=1))
    out = np.einsum("ip,ajp,p->ija", X, S, dm)  # ∫ρ X_i S_j
    widening = np.einsum("jk,a->jka", eye, np.einsum("iia->a", out)) - np.einsum("kja->jka", out)
    mass, lever = MASSES[1], 0.5 * ROD * MASSES[1]
    rigid = np.diag([mass, mass, mass, 1e-5, INERTIAS[1], INERTIAS[1]])
    rigid[1, 5] = rigid[5, 1] = lever
    rigid[2, 4] = rigid[4, 2] = -lever
    stretch, slender = E * WIDTH**2 / ROD, (WIDTH / ROD) ** 2
    K = stretch * np.diag([np.pi**4 / 24 * slender, 2 * np.pi**4 / 3 * slender, 16 / 3, 7 / 3])
    K[2, 3] = K[3, 2] = -8 / 3 * stretch
    shapes = np.zeros((2, 6, 4))
    shapes[0, 5, :2] = np.pi / ROD, 2 * np.pi / ROD
    shapes[1, 5, :2] = -np.pi / ROD, 2 * np.pi / ROD
    shapes[1, 0, 3] = 1.0
    np.savez(
        path, nodes=np.array([[1, 0, 0, 0], [2, ROD, 0, 0]]), K=K, M=M, shapes=shapes, rigid=rigid, coupling=coupling,
        widening=widening, turning=turning, turned=turned,
    )  # fmt: skip


@pytest.fixture(scope="module")
def mechanism(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slider_crank")
    modal_rod(folder / "rod.npz")
    file = folder / "slider-crank.yaml"
    file.write_text(f"""
supple: 1
name: flexible-slider-crank
points: {{O: [0, 0, 0], A: [{CRANK}, 0, 0], B: [{CRANK + ROD}, 0, 0]}}
bodies:
  crank: {{mass: {MASSES[0]}, center: O, inertia: [2e-3, 2e-3, {INERTIAS[0]}]}}
  rod: {{superelement: {{file: rod.npz}}, at: A}}
  slider: {{mass: {MASSES[2]}, center: B, inertia: [1e-5, 1e-5, 1e-5]}}
joints:
  O: {{revolute: [ground, crank], axis: z}}
  A: {{revolute: [crank, rod], axis: z}}
  B: {{spherical: [rod, slider]}}
  slide: {{prismatic: [ground, slider], at: B, axis: x}}
coordinates: [O]
""")
    return supple.load(file)


class Run:
    """The motion from the published start, in steps of one length."""

    def __init__(self, mechanism):
        here = assemble(mechanism)
        course = prescribe_motion(here, {"O": lambda t: SPEED * t}, 0.0, 0.1, 0.01)
        self.problem = absolute(here.rest, course.driven)
        self.here, self.course = here, course
        self.crank, self.rod, self.slider = (
            int(self.problem.frames.lead[here.rest.numbering.body_index(name)]) for name in ("crank", "rod", "slider")
        )
        self.holder = self.problem.frames.held.first[0]
        self.begin = self._start()

    def _start(self):
        frames = self.problem.frames
        X, V = frames.poses(self.here.X), np.zeros((frames.count, 6))
        q, rates = START[3:], START_RATES[3:]
        for i in range(4):
            X[self.holder + i // 3, i % 3], V[self.holder + i // 3, i % 3] = q[i], rates[i]
        at_pin, turning = np.array([0.0, CRANK * SPEED, 0.0]), np.array([0.0, 0.0, START_RATES[1]])
        V[self.crank, 5] = SPEED
        V[self.rod, :3], V[self.rod, 3:] = at_pin + np.cross(turning, [0.5 * ROD, 0.0, 0.0]), turning
        body = frames.floating[self.here.rest.numbering.body_index("rod")]
        for node in range(2):
            frame = self.rod + 1 + node
            arm = body.shapes[node, :3] @ q + [ROD * node, 0.0, 0.0]
            X[frame, :3] += body.shapes[node, :3] @ q
            V[frame, :3] = at_pin + np.cross(turning, arm) + body.shapes[node, :3] @ rates
            V[frame, 3:] = turning + body.shapes[node, 3:] @ rates
        X[self.slider, 0], V[self.slider, 0] = START[2], START_RATES[2]
        return X, V

    def accelerations(self):
        X, V = self.begin
        return instant(self.problem, X[None], V[None], self.here.w[None], np.zeros((1, 0)), np.zeros((1, 1)))

    def states(self, acceleration=None):
        a = self.accelerations().acceleration[0] if acceleration is None else acceleration
        return np.array([a[self.crank, 5], a[self.rod, 5], a[self.slider, 0], *self._held(a)])

    def _held(self, values):
        return [values[..., self.holder + i // 3, i % 3] for i in range(4)]

    def motion(self, step, times):
        """Angle of the rod, place of the slider and q (N, 4) at these times, and the run."""
        run = march(self.problem, self.begin, self.here, self.course, step, times)
        X = run.bodies.X
        return np.arctan2(X[:, self.rod, 6], X[:, self.rod, 3]), X[:, self.slider, 0], np.array(self._held(X)).T, run

    def end(self, step):
        angle, slider, q, run = self.motion(step, np.array([0.0, 0.1]))
        V = run.bodies.V[-1]
        return (
            np.array([run.bodies.w[-1, 0], angle[-1], slider[-1], *q[-1]]),
            np.array([V[self.crank, 5], V[self.rod, 5], V[self.slider, 0], *self._held(V)]),
        )


def march(problem, begin, here, course, step, times):
    """From poses and velocities, in steps of one length."""
    X, V = begin
    first = instant(problem, X[None], V[None], here.w[None], np.zeros((1, 0)), np.zeros((1, 1)))
    a, whole = np.ascontiguousarray(first.acceleration[0]), np.array([0.0, 0.1])
    state = State(X, V, a, a, np.ascontiguousarray(first.multipliers[0]), here.w)
    begun = Begun(problem, alpha_of(0.99), times, step, state, np.zeros(0), np.zeros(1), np.zeros(0))
    made = MechanismRun(begun, None)
    drive(made, Known(Continuous(linear_between((), whole, np.zeros((2, 0)), 0.0, 0.1), course), len(times) - 1))
    run = made.result()
    assert run.complete, run.reason
    return run


BEAMS = supple.loads(f"""
supple: 1
name: slider-crank-of-beams
plane: xy
points: {{O: [0, 0], A: [{CRANK}, 0], B: [{CRANK + ROD}, 0]}}
materials: {{steel: {{youngs_modulus: {E}, density: {RHO}}}}}
sections: {{square: {{rectangle: [{WIDTH}, {WIDTH}]}}}}
bodies:
  crank: {{mass: {MASSES[0]}, center: O, inertia: {INERTIAS[0]}}}
  rod: {{beam: [A, B], section: square, material: steel, elements: 8}}
  slider: {{mass: {MASSES[2]}, center: B, inertia: 1e-5}}
joints:
  O: {{revolute: [ground, crank]}}
  A: {{revolute: [crank, rod]}}
  B: {{revolute: [rod, slider]}}
  slide: {{prismatic: [ground, slider], at: B, axis: x}}
coordinates: [O]
""")


def motion_of_beams(step, times):
    """Angle of the chord, slider and deflection of the middle against the chord, from the same displacements."""
    here = assemble(BEAMS)
    course = prescribe_motion(here, {"O": lambda t: SPEED * t}, 0.0, 0.1, 0.01)
    problem = absolute(here.rest, course.driven)
    frames, numbering = problem.frames, here.rest.numbering
    crank, rod, slider = (numbering.body_index(name) for name in ("crank", "rod", "slider"))
    X, V = frames.poses(here.X), np.zeros((frames.count, 3))
    own, x = np.arange(frames.first[rod], frames.first[rod + 1]), frames.meshes[rod].nodes[:, 0]
    xi, (_, turning) = x / ROD, START_RATES[:2]
    along = np.array([4 * xi * (1 - xi), xi * (2 * xi - 1)])
    across, slope = (np.array([f(k * np.pi * xi) for k in (1, 2)]) for f in (np.sin, np.cos))
    slope *= np.pi / ROD * np.array([[1.0], [2.0]])
    u, v = START[5:] @ along, START[3:5] @ across
    X[own, 0] += u
    X[own, 1] += v
    V[own, 0] = START_RATES[5:] @ along - turning * v
    V[own, 1] = CRANK * SPEED + turning * (x + u) + START_RATES[3:5] @ across
    V[own, 2] = turning + START_RATES[3:5] @ slope
    V[frames.first[crank], 2] = SPEED
    X[frames.first[slider], 0], V[frames.first[slider], 0] = START[2], START_RATES[2]
    found = march(problem, (X, V), here, course, step, times).bodies.X
    A, B, middle = (found[:, own[i], :2] for i in (0, -1, len(own) // 2))
    chord = (B - A) / np.linalg.norm(B - A, axis=1)[:, None]
    away = chord[:, 0] * (middle - A)[:, 1] - chord[:, 1] * (middle - A)[:, 0]
    return np.arctan2(chord[:, 1], chord[:, 0]), found[:, frames.first[slider], 0], away


@pytest.mark.slow
def test_accelerations_at_the_start(mechanism):
    """The published ones are rounded where the state is: to 1e-8 of the largest."""
    np.testing.assert_allclose(Run(mechanism).states(), ACCELERATIONS, atol=1e-8 * 5062.0)


@pytest.mark.slow
def test_motion_ends_where_the_reference_does(mechanism):
    """Two and a half turns of the crank; steps of 10 µs leave 2e-8 rad and m, and rates of the fast stretching 2e-3."""
    x, v = Run(mechanism).end(1e-5)
    np.testing.assert_allclose(x, END, rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(v, END_RATES, rtol=0.0, atol=2e-3)


def test_beams_against_the_modal_basis(mechanism):
    """The middle bends by 1.65 mm; the slider's 383 N, 5 % of the load that buckles the rod, shift its frequency, which
    linear shapes do not know: 9 % of the peak. A bent rod is shorter by w² π²/4L, 22 µm: all that the slider sees.
    """
    for made in (BEAMS, mechanism):
        assert supple.modes(made, count=1).frequencies_hz[0] == pytest.approx(203.2, abs=0.05)  # published
    times = np.linspace(0.0, 0.1, 501)
    angle, slider, q, _ = Run(mechanism).motion(1e-5, times)
    bent_angle, bent_slider, middle = motion_of_beams(1e-5, times)
    peak = np.abs(q[:, 0]).max()
    assert peak == pytest.approx(1.65e-3, rel=0.01)
    assert np.abs(middle - q[:, 0]).max() < 0.09 * peak
    assert np.abs(bent_slider - slider).max() < 1.05 * np.pi**2 / 4.0 * peak**2 / ROD
    assert np.abs(bent_angle - angle).max() < 3.1e-5
    assert abs(bent_slider[-1] - END[2]) < 1e-6
