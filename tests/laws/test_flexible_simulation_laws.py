"""Laws of elastic mechanisms in the full simulation: energy, order, indifference to axes, limits and closed forms."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.diagnostics import EarlyEnd
from supple.geometry.rotation import exponential

BAR = """\
supple: 1
name: bar
{plane}
gravity: {gravity}
points: {{O: {O}, T: {T}}}
materials: {{steel: {{youngs_modulus: {E}, density: 7800, poisson: 0.3}}}}
sections: {{bar: {{circle: 12 mm}}}}
bodies: {{link: {{beam: [O, T], section: bar, material: steel, elements: {elements}}}}}
joints: {{O: {{{joint}: [ground, link]{axis}}}}}
sensors: {{T: {{position: T}}}}
"""


def bar(planar, joint="weld", *, E=2e11, elements=3, gravity=None, O=None, T=None):  # noqa: E741
    space = joint == "revolute" and not planar
    return supple.loads(
        BAR.format(
            plane="plane: xz" if planar else "", joint=joint, axis=", axis: y" if space else "", E=E, elements=elements,
            gravity=gravity or ([0, -9.81] if planar else [1.0, -3.0, -9.81]),
            O=O or ([0, 0] if planar else [0, 0, 0]), T=T or ([1, 0] if planar else [1, 0, 0]),
        )
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("planar", [True, False], ids=["plane", "space"])
def test_a_thousand_periods_keep_the_energy(planar):
    """From rest without weight, a cantilever swings about its sag; what it has is the kinetic energy in the middle."""
    cantilever = bar(planar)
    hertz = supple.modes(cantilever, count=1).frequencies_hz[0]
    found = supple.simulate(
        cantilever, until=1000 / hertz, step=0.01 / hertz, spectral_radius=1.0, output_step=10.01 / hertz
    )
    total, vibration = found.energy["total"], found.energy["kinetic"].max()
    assert found.complete
    assert np.abs(total - total[0]).max() < 1e-4 * vibration


@pytest.mark.parametrize("planar", [True, False], ids=["plane", "space"])
def test_errors_fall_with_the_square_of_the_step(planar):
    """A bar that falls from its hinge and bends, all of its modes resolved; the tip on its way."""
    pendulum = bar(planar, "revolute", E=2e9, elements=1)
    ends = []
    for step in (2e-4, 1e-4, 5e-5, 2.5e-5):
        found = supple.simulate(pendulum, until=0.05, step=step, spectral_radius=0.8, output_step=0.002)
        ends.append(np.array([*found.outputs.values()]))
    changes = [np.linalg.norm(b - a) for a, b in pairwise(ends)]
    orders = np.log2(np.array(changes[:-1]) / changes[1:])
    assert orders[-1] == pytest.approx(2.0, abs=0.25)


def test_a_turned_and_shifted_mechanism_moves_the_same():
    R, shift = exponential(np.array([0.4, -0.8, 1.1])), np.array([0.3, -2.0, 0.7])
    gravity = np.array([1.0, -3.0, -9.81])
    turned = bar(
        False, gravity=(R @ gravity).tolist(), O=shift.tolist(), T=(R @ [1.0, 0.0, 0.0] + shift).tolist(), E=2e9
    )
    options = {"until": 0.1, "step": 1e-3}
    one, other = (supple.simulate(item, **options) for item in (bar(False, gravity=gravity.tolist(), E=2e9), turned))
    tips = [np.stack([run.outputs[f"T.{axis}"] for axis in "xyz"], axis=1) for run in (one, other)]
    assert np.ptp(tips[0], axis=0).max() > 0.05  # it bends far
    assert_allclose(tips[1], tips[0] @ R.T + shift, atol=1e-10)
    assert_allclose(other.energy["strain"], one.energy["strain"], atol=1e-10 * one.energy["strain"].max())


def test_a_loop_with_redundant_joints_stays_in_its_plane_and_closed():
    """The flexible four-bar in space: three of its rows are redundant as rigid bodies."""
    bars = supple.load("examples/flexible-four-bar/mechanism.yaml")
    found = supple.simulate(bars, until=0.05, step=5e-4, inputs={"crank": lambda t: 10.0 * t})
    assert found.rigid == ()
    assert np.abs(found.outputs["E.y"]).max() < 1e-9
    ends = [found.nodes(body).position for body in ("coupler", "follower")]
    apart = np.linalg.norm(ends[0][:, :, None] - ends[1][:, None], axis=-1).min(axis=(1, 2))
    assert apart[1:].max() < 1e-14  # at the start, as assembled
    assert apart[0] < 1e-11
    assert found.energy["strain"].max() > 1e-4


@pytest.mark.parametrize("planar", [True, False], ids=["plane", "space"])
def test_a_stiff_bar_moves_as_a_rigid_one(planar):
    stiff = bar(planar, "revolute", E=1e14)
    one, other = (
        supple.simulate(stiff, until=0.4, step=1e-3, rigid=rigid, spectral_radius=0.5) for rigid in (False, True)
    )
    assert other.rigid == ("link",)
    assert_allclose(one.outputs["T.z"], other.outputs["T.z"], atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("damping", [0.0, 6.0])
def test_an_elastic_joint_is_a_spring_and_a_damper(damping):
    """A mass on an elastic slide against its closed form, m z̈ + c ż + k z = -m g from rest."""
    m, k, g = 2.0, 800.0, 9.81
    mass = supple.loads(f"""\
supple: 1
name: mass
plane: xz
gravity: [0, -{g}]
points: {{O: [0, 0]}}
bodies: {{block: {{mass: {m}, inertia: 1.0, at: O}}}}
joints: {{O: {{weld: [ground, block], elastic: {{z: {k}}}, elastic_damping: {{z: {damping}}}}}}}
sensors: {{O: {{position: block.O}}}}
""")
    found = supple.simulate(mass, until=1.0, step=2e-4, spectral_radius=1.0, output_step=0.01)
    decay, free = 0.5 * damping / m, k / m
    omega, t = np.sqrt(free - decay**2), found.time
    wave = np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))
    sag = m * g / k
    assert_allclose(found.outputs["O.z"], -sag * (1.0 - wave), atol=3e-5 * sag)
    assert found.energy_defect < 1e-4
    assert_allclose(
        found.reaction("O").force[1:, 2], m * (g + found.frame_motion("block.O").acceleration[1:, 2]), rtol=1e-6
    )


@pytest.mark.parametrize("planar", [True, False], ids=["plane", "space"])
def test_it_vibrates_at_the_frequency_of_its_modes(planar):
    """By the zeros of the tip's motion about its middle, over forty periods; trapezoidal steps stretch a period."""
    cantilever = bar(planar, gravity=[0, -0.1] if planar else [0, 0, -0.1])
    hertz = supple.modes(cantilever, count=1).frequencies_hz[0]
    run = supple.simulate(
        cantilever, until=40 / hertz, step=0.005 / hertz, spectral_radius=1.0, output_step=0.02 / hertz
    )
    z = run.outputs["T.z"] - run.outputs["T.z"].mean()
    up = np.flatnonzero((z[:-1] < 0.0) & (z[1:] >= 0.0))
    zeros = run.time[up] - z[up] * np.diff(run.time)[up] / np.diff(z)[up]
    found = (len(zeros) - 1) / (zeros[-1] - zeros[0])
    assert found == pytest.approx(hertz, rel=1e-3)


def test_elements_bent_too_far_end_the_run_and_say_when():
    soft = bar(True, E=2e7, elements=1)
    with pytest.warns(EarlyEnd, match=r"results end at .* an element .* 0\.5 rad .*more elements"):
        found = supple.simulate(soft, until=1.0, step=1e-3)
    assert not found.complete
    assert 0.0 < found.stopped < 1.0
    assert len(found.time) > 1
