"""Steps that follow the motion, and what is said where they do not resolve it."""

from __future__ import annotations

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.control import closed_loop
from supple.diagnostics import EarlyEnd
from supple.results.simulation import LARGEST_DEFECT, energy_defect

FREQUENCY = 1e4  # rad/s, of 1 kg on 1e8 N/m


def stiff(**more):
    """1 kg on a spring of 1e8 N/m, and an actuator beside it."""
    return supple.Mechanism(
        points={"slide": [0, 0, 0]},
        bodies={"mass": {"mass": 1, "inertia": [1e-3, 1e-3, 1e-3]}},
        joints={"slide": {"prismatic": ["ground", "mass"], "axis": "x"}},
        springs={"spring": {"joint": "slide", "stiffness": 1e8}}, actuators={"push": {"joint": "slide"}}, **more,
    )  # fmt: skip


def pendulum(gravity=9.81):
    return supple.Mechanism(
        plane="xz", gravity=[0, -gravity], points={"O": [0, 0], "P": [1, 0]},
        bodies={"rod": {"rod": ["O", "P"], "mass": 1}}, joints={"O": {"revolute": ["ground", "rod"]}},
        actuators={"O": {"joint": "O"}},
    )  # fmt: skip


def coupled(mass, gravity=9.81):
    """A four-bar that turns through, with a coupler of this mass."""
    return supple.Mechanism(
        plane="xz", gravity=[0, -gravity], points={"A": [0, 0], "B": [0.1, 0.5], "C": [0.9, 0.7], "D": [1, 0]},
        bodies={
            "crank": {"rod": ["A", "B"], "mass": 1}, "coupler": {"rod": ["B", "C"], "mass": mass},
            "follower": {"rod": ["D", "C"], "mass": 2},
        },
        joints={
            "A": {"revolute": ["ground", "crank"]}, "B": {"revolute": ["crank", "coupler"]},
            "C": {"revolute": ["coupler", "follower"]}, "D": {"revolute": ["ground", "follower"]},
        },
        coordinates=["A"],
    )  # fmt: skip


@pytest.mark.parametrize("amplitude", [1e-3, 1e-6, 1e-9])
def test_a_stiff_spring_keeps_its_energy_however_little_it_moves(amplitude):
    """Above the tolerance the steps see the motion; below it the account of energy does, and the tolerance falls."""
    run = supple.simulate(stiff(), until=0.02, start=[amplitude])
    energy = 0.5 * 1e8 * amplitude**2
    assert_allclose(run.energy["total"], energy, rtol=LARGEST_DEFECT)
    assert run.balanced
    assert run.energy_defect == pytest.approx(np.abs(run.energy["balance"]).max() / energy, rel=0.02)
    assert run.tolerance == 1e-6 if amplitude == 1e-3 else run.tolerance < 1e-6
    assert 20 < run.steps < 20_000


def test_a_fixed_step_that_loses_energy_says_so():
    with pytest.warns(supple.SuppleWarning, match=r"45 % of the energy exchanged \(limit 1 %\).*omit the step"):
        run = supple.simulate(stiff(), until=0.02, step=1e-3, start=[1e-3])
    assert (run.steps, run.tolerance, run.complete, run.balanced) == (20, None, True, False)
    # results do not meet the spring relaxed, where it would have exchanged all of its 50 J
    assert run.energy_defect == pytest.approx(np.abs(1.0 - run.energy["total"] / 50.0).max(), rel=0.02)


def test_a_tolerance_that_is_asked_for_is_kept_and_its_loss_told():
    with pytest.warns(supple.SuppleWarning, match="give a tolerance below 1e-06"):
        run = supple.simulate(stiff(), until=0.02, tolerance=1e-6, start=[1e-6])
    assert run.tolerance == 1e-6


def test_a_smooth_machine_takes_the_steps_it_took(example):
    """At most 1 ms, and hardly any shorter: what a step of 1 ms resolves costs no more than before."""
    run = supple.simulate(example("four-bar"), until=1.0)
    fixed = supple.simulate(example("four-bar"), until=1.0, step=1e-3)
    assert len(run.time) == len(fixed.time) == 1001
    assert run.steps < 1.2 * fixed.steps
    assert run.energy_defect < 1e-3


def test_a_short_run_has_a_hundred_steps():
    assert len(supple.simulate(pendulum(), until=1e-3).time) == 101


def test_the_zero_of_the_potential_does_not_hide_a_defect():
    rng = np.random.default_rng(3)
    kinetic, potential, works = rng.random(50), rng.random(50), rng.normal(size=(50, 4))
    balance = 0.1 * rng.normal(size=50)
    expected = energy_defect(kinetic, potential, works, balance, 0.0)
    assert expected == np.abs(balance).max() / np.abs(works).max()
    # 1e6 J, whose rounding of 1e-9 is still below what was exchanged
    assert energy_defect(kinetic, potential + 1e6, works, balance, 0.0) == pytest.approx(expected, rel=1e-9)
    assert energy_defect(0 * kinetic, 0 * potential, 0 * works, 0 * balance, 0.0) == 0.0


def test_nothing_moves_and_nothing_is_said():
    """Rounding of a closed loop at rest moves it by 1e-9 extents a second: no energy to lose."""
    run = supple.simulate(coupled(1, gravity=0.0), until=0.2)
    assert run.energy["kinetic"].max() > 0.0
    assert run.energy_defect < 1e-4


def test_drives_are_in_the_account():
    """Led twice round in a second with inertia, gravity and friction: the work of the drive pays for all."""
    run = supple.simulate(pendulum(), until=1.0, motion={"O": lambda t: 2.0 * np.pi * (1.0 - np.cos(np.pi * t))})
    assert np.ptp(run.energy["prescribed"]) > 10.0
    assert run.energy_defect < 1e-4


def test_an_early_end_warns():
    with pytest.warns(EarlyEnd, match="results end at .* forces or speeds"):
        run = supple.simulate(pendulum(), until=1.0, step=1e-2, inputs={"O": lambda t: 1e20 if t > 0.5 else 0.0})
    assert not run.complete
    assert issubclass(EarlyEnd, supple.SuppleWarning)


def test_a_closed_loop_follows_the_motion_between_samples():
    """Held forces of a controller that does nothing: the spring swings on by itself."""

    class Nothing:
        def step(self, t, measurement):
            return [0.0]

    options = {"until": 0.02, "sample_time": 5e-3, "start": [1e-3]}
    run = closed_loop(stiff(), Nothing(), **options)
    assert_allclose(run.energy["total"], 50.0, rtol=LARGEST_DEFECT)
    with pytest.warns(supple.SuppleWarning, match="energy balance"):
        closed_loop(stiff(), Nothing(), step=1e-3, **options)


@pytest.mark.parametrize("radius", [0.995, 1.0])
def test_directions_without_inertia_need_damping_and_are_told_at_once(radius):
    began = time.perf_counter()
    with pytest.raises(supple.InputError, match=r'body "coupler" has no mass.*0\.99 or less'):
        supple.simulate(coupled(0), until=10.0, step=1e-3, spectral_radius=radius)
    assert time.perf_counter() - began < 5.0  # s; it would take a minute to fail
    assert supple.simulate(coupled(0), until=0.1, spectral_radius=0.99).complete
    assert supple.simulate(coupled(0.1), until=0.1, spectral_radius=1.0).complete


def test_a_slender_rod_in_space_needs_damping():
    rod = supple.Mechanism(
        gravity=[0, 0, -9.81], points={"O": [0, 0, 0], "P": [1, 0, 0]}, bodies={"rod": {"rod": ["O", "P"], "mass": 1}},
        joints={"O": {"spherical": ["ground", "rod"]}},
    )  # fmt: skip
    with pytest.raises(supple.InputError, match='body "rod" has no inertia about its own line'):
        supple.simulate(rod, until=0.1, spectral_radius=1.0)
