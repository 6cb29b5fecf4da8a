"""Rayleigh's damping of the whole mechanism: with its actuators locked every mode has α/2ω + βω/2, whatever carries the
mass and whatever gives way, in modes, in reduced models and in the full equations of motion."""

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.diagnostics import SuppleNote

sys.path.insert(0, str(Path(__file__).parents[1] / "formulations" / "elastic_rest"))
from driven_mechanisms import five_bar

RALF = Path(__file__).parents[2] / "examples" / "ralf" / "mechanism.yaml"
SLOW, FAST = 2.0 * np.pi * 6.0, 2.0 * np.pi * 36.5  # rad/s, where ralf has 1 %
OF_RALF = (0.02 * SLOW * FAST / (SLOW + FAST), 0.02 / (SLOW + FAST))
OF_REED = (0.2, 1e-4)
TIP = 20.0  # kg, the beam has 3.1
REED = """
supple: 1
name: reed
plane: xy
points: {O: [0, 0], P: [1, 0]}
materials: {steel: {youngs_modulus: 210 GPa, density: 7800}}
sections: {bar: {rectangle: [40 mm, 10 mm]}}
bodies: {reed: {beam: [O, P], section: bar, material: steel, elements: 4CARRIES}}
joints: {O: {revolute: [ground, reed]}}
actuators: {O: {joint: O}}
sensors: {tip: {position: reed.P, axis: y}}
forces: {pull: {at: reed.P, force: [0, 2]}}
point_masses: {tip: {at: AT, mass: 20, inertia: 0.3}}
damping: {rayleigh: [0.2, 1e-4]}
"""


def reed(on_arm: bool = False) -> supple.Mechanism:
    """A cantilever with a mass at its tip, or on an arm that stands off from it."""
    text = REED.replace("CARRIES", ", attach: {off: P}" if on_arm else "").replace("AT", "off" if on_arm else "reed.P")
    return supple.loads(text + ("frames: {off: {on: reed, local: [1.1, 0.2]}}\n" if on_arm else ""))


def law(rayleigh, omega):
    return 0.5 * (rayleigh[0] / omega + rayleigh[1] * omega)


def of_local(mechanism, modes):
    """ω and ζ of the deformation, θ locked, by the local model that reduced models are fitted to."""
    local = supple.local(mechanism, internal_modes=modes, preload=False)  # stiffness by loads is not damped
    s = len(local.M) - modes
    M, K, D = (x[s:, s:] for x in (local.M, local.K, local.damping))
    s = np.linalg.eigvals(np.block([[0.0 * M, np.eye(modes)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]]))
    s = s[s.imag > 0.0]
    s = s[np.argsort(np.abs(s))]
    return np.abs(s), -s.real / np.abs(s)


def gearbox():
    """Beams, rigid rods, motors with rotors, drives that yield."""
    text = five_bar(hubs=False).replace("c_gear: 5", "c_gear: 0").replace(", viscous: 0.5", "")
    return supple.loads(text.replace("damping: {modal: 0.015}", "damping: {rayleigh: [0.8, 2e-5]}"))


@pytest.mark.parametrize(("mechanism", "rayleigh", "count"), [
    (reed(), OF_REED, 2), (reed(on_arm=True), OF_REED, 3), (gearbox(), (0.8, 2e-5), 3),
    (supple.load(RALF).replace(damping={"rayleigh": OF_RALF}), OF_RALF, 4),
], ids=["tip mass", "on an arm", "gearbox", "ralf"])  # fmt: skip
def test_every_mode_has_the_ratio_of_the_law(mechanism, rayleigh, count):
    omega, ratio = of_local(mechanism, count)
    assert_allclose(ratio, law(rayleigh, omega), rtol=1e-6)
    unloaded = mechanism.replace(gravity=None, forces={})  # stiffness by loads, of tension and the like, is not damped
    found = supple.small_motions(unloaded, count=count)
    assert_allclose(found.damping_ratios, law(rayleigh, 2.0 * np.pi * found.frequencies_hz), rtol=1e-5)


def decays(y, h, pairs, window):
    """ω and ζ of the strongest decaying sines in samples (n, N), from the space that a shift by one keeps (ESPRIT)."""
    hankel = np.hstack([np.lib.stride_tricks.sliding_window_view(row, window).T for row in y])
    shared = np.linalg.svd(hankel, full_matrices=False)[0][:, : 2 * pairs + 1]
    s = np.log(np.linalg.eigvals(np.linalg.lstsq(shared[:-1], shared[1:], rcond=None)[0]).astype(complex)) / h
    s = s[s.imag > 0.0]
    s = s[np.argsort(np.abs(s))]
    return np.abs(s), -s.real / np.abs(s)


def free_vibration(mechanism, held, outputs, times):
    """What is let go with actuators held."""
    run = supple.simulate(
        mechanism, times, motion={name: (lambda t, value=value: value) for name, value in held.items()},
        step=times[1], drives=False, spectral_radius=1.0,
    )  # fmt: skip
    assert np.ptp(run.energy["balance"]) < 2e-3 * np.ptp(run.energy["lost"])
    return decays([run.outputs[name] for name in outputs], times[1], len(outputs), len(times) // 4)


def test_a_mass_on_a_beam_dies_away_as_its_modes_say():
    """ω² = 3EI/(m L³) of a light beam; with 33/140 of its mass, and the tip's inertia turning by 3/2 w/L."""
    omega, _ = of_local(reed(), 2)
    EI, beam = 210e9 * 0.04 * 0.01**3 / 12.0, 7800 * 0.04 * 0.01
    assert omega[0] == pytest.approx(np.sqrt(3.0 * EI / (TIP + 33.0 / 140.0 * beam + 2.25 * 0.3)), rel=2e-3)
    times = np.arange(0.0, 6.0, 0.01) * 2.0 * np.pi / omega[0]
    _, ratio = free_vibration(reed(), {"O": 0.0}, ["tip"], times)
    assert ratio[0] == pytest.approx(law(OF_REED, omega[0]), rel=5e-3)


def test_ralf_dies_away_as_its_modes_say():
    ralf = supple.load(RALF).replace(damping={"rayleigh": OF_RALF})
    found, ratio = free_vibration(ralf, ralf.configurations["home"], ["tip.x", "tip.z"], np.arange(0.0, 2.0, 1e-3))
    assert_allclose(found, 2.0 * np.pi * supple.modes(ralf, count=2).frequencies_hz, rtol=5e-3)
    assert_allclose(ratio, law(OF_RALF, found), rtol=1e-2)


def test_rigid_motion_is_not_braked():
    """Free, a beam with a mass turns on at its speed, bent and stretched by inertia as it is; before, with exp(-αt)."""
    free = reed().replace(forces={})
    times = np.array([0.0, 0.5, 1.0])
    run = supple.simulate(free, times, rates={"O": 1.0}, step=2e-3)
    assert_allclose(run.rates["O"], 1.0, rtol=1e-5)
    # What is lost is the vibration that the start, undeformed, sets going.
    assert run.energy["lost"][-1] < 1e-5 * run.energy["kinetic"][0]
    assert np.ptp(run.energy["balance"]) < 1e-5 * run.energy["kinetic"][0]


def test_steady_turning_loses_nothing():
    """Led at a constant speed the deformed reed moves rigidly: the account of what is lost stands still."""
    turning = reed(on_arm=True).replace(forces={}, damping={"rayleigh": [20.0, 1e-3]})
    run = supple.simulate(turning, [0.0, 1.0, 1.5, 2.0], motion={"O": lambda t: 3.0 * t}, rates={"O": 3.0}, step=1e-3)
    lost = run.energy["lost"]
    # Velocities of a step break constraints by c h²: 1e-5 of them here, whose square counts.
    assert abs(lost[-1] - lost[-2]) < 1e-8 * run.energy["kinetic"][0]


def test_a_mechanism_without_coordinates_says_that_it_is_braked():
    """No actuator and no coordinates: nothing tells its motion as a whole from its deformation."""
    loose = reed().replace(forces={}, actuators={})
    with pytest.warns(SuppleNote, match="mass-proportional damping, .* 1/s, .*add coordinates"):
        supple.simulate(loose, [0.0, 0.01], step=5e-3)


@pytest.mark.slow
def test_rest_to_rest_motion_leaves_what_the_reduced_model_leaves():
    """A motor pushes the reed and brakes it again by given torques: with free actuators α has one meaning."""
    free = reed().replace(forces={}, damping={"rayleigh": [4.0, 1e-5]})
    model = supple.reduce(free, region={"O": [-0.5, 0.5]}, internal_modes=4, tolerance=1e-4)
    times = np.linspace(0.0, 1.0, 201)
    torque = {"O": lambda t: 20.0 * np.sin(2.0 * np.pi * t / 0.5) if t < 0.5 else 0.0}
    full = supple.simulate(free, times, inputs=torque, step=1e-3)
    reduced = model.simulate(times, inputs=torque)
    assert_allclose(reduced.rates["O"], full.rates["O"], atol=5e-3 * np.abs(full.rates["O"]).max())
    assert_allclose(reduced.outputs["tip"], full.outputs["tip"], atol=5e-3 * np.ptp(full.outputs["tip"]))


def plain(of_material: bool) -> supple.Mechanism:
    """The beam alone, α given to the mechanism or to its material: the same."""
    made = reed().replace(forces={}, point_masses={})
    law = {"rayleigh": [4.0, 1e-5]}
    if not of_material:
        return made.replace(damping=law)
    steel = {"youngs_modulus": 210e9, "density": 7800, "damping": law}
    return made.replace(damping=None, materials={"steel": steel})


def test_alpha_of_a_material_is_that_of_its_elements():
    one, other = (supple.simulate(plain(kind), [0.0, 0.05], rates={"O": 1.0}, step=2e-4) for kind in (False, True))
    assert_allclose(other.outputs["tip"], one.outputs["tip"], rtol=1e-9)
    assert other.energy["lost"][-1] == pytest.approx(one.energy["lost"][-1], rel=1e-9)


@pytest.mark.slow
def test_rigid_links_have_the_same_damping():
    """The equivalent rigid link system, to first order in the deformation: the impulse of the motor is kept."""
    made = plain(False).replace(damping={"rayleigh": [20.0, 1e-3]})
    push, times = {"O": lambda t: 0.5 * np.sin(np.pi * t / 0.1) ** 2 if t < 0.1 else 0.0}, np.linspace(0.0, 0.4, 9)
    full = supple.simulate(made, times, inputs=push, step=2e-4)
    links = supple.simulate(made, times, inputs=push, step=5e-4, formulation="erls")
    assert_allclose(links.rates["O"], full.rates["O"], atol=2e-3 * np.abs(full.rates["O"]).max())
    assert full.rates["O"][-1] == pytest.approx(0.025 / (7800 * 0.04 * 0.01 / 3.0), rel=2e-3)
