"""Second order in the deformation, against what is known of it exactly.

Where drives alone yield, q = θ + D(θ) δ, and M and V in (θ, δ) follow from those of the rigid mechanism at q.
"""

import flexible_cases
import numpy as np
import pytest
from numpy.polynomial import Polynomial
from numpy.testing import assert_allclose
from scipy.linalg import eigh

import supple
from supple import InputError
from supple.formulations.elastic_rest.geometric_stiffness_at_rest import CarriedLoads, load_stiffness
from supple.formulations.elastic_rest.loads import loads_at
from supple.formulations.elastic_rest.preload import forces_of_rows, preload_stiffness
from supple.formulations.elastic_rest.static_response import static_response

ARM = """\
supple: 1
name: arm
gravity: [0.5, -1, -9.81]
points: {A: [0, 0, 0], B: [0.6, 0.1, 0.2]}
bodies:
  one: {mass: 3, center: [0.35, 0.1, 0.05], inertia: {xx: 0.05, yy: 0.07, zz: 0.06, xy: 0.01, xz: -0.005, yz: 0.008}}
  two: {mass: 2, center: [0.8, 0.15, 0.1], inertia: {xx: 0.03, yy: 0.02, zz: 0.04, xy: 0.004, xz: 0.002, yz: -0.006}}
joints:
  A: {revolute: [ground, one], axis: [0.2, 0.3, 1], drive: {stiffness: 2000}}
  B: {revolute: [one, two], axis: [1, 0.4, 0.2], drive: {stiffness: 900}}
actuators: {a: {joint: A}, b: {joint: B}}
"""

LOOP = """\
supple: 1
name: loop
plane: xz
gravity: [1.5, -9.81]
points: {A: [0, 0], B: [0.5, 0.1], E: [0.54, 0.52], D: [1, 0]}
bodies:
  crank: {rod: [A, B], mass: 1}
  coupler: {rod: [B, E], mass: 0.7}
  follower: {rod: [D, E], mass: 2}
joints:
  A: {revolute: [ground, crank], drive: {stiffness: 2000}}
  B: {revolute: [crank, coupler]}
  E: {revolute: [coupler, follower]}
  D: {revolute: [ground, follower]}
actuators: {crank: {joint: A}}
"""

SLIDER = """\
supple: 1
name: slider
gravity: [1.5, 0.3, -9.81]
points: {A: [0, 0, 0], B: [0.1, 0.1, 0.2], E: [0.54, 0.0, 0.12], D: [0.54, 0, 0.12]}
bodies:
  crank: {mass: 2, center: [0.05, 0.02, 0.1], inertia: {xx: 0.05, yy: 0.07, zz: 0.06, xy: 0.01}}
  coupler: {mass: 1, center: [0.3, 0.02, 0.2], inertia: {xx: 0.01, yy: 0.02, zz: 0.025, xz: -0.005}}
  slider: {mass: 2, center: [0.6, 0, 0.1], inertia: [0.01, 0.01, 0.01]}
joints:
  A: {revolute: [ground, crank], axis: [0.1, 1, 0.2], drive: {stiffness: 2000}}
  B: {spherical: [crank, coupler]}
  E: {universal: [coupler, slider], axes: [y, z]}
  D: {prismatic: [ground, slider], axis: [1, 0, 0.1]}
actuators: {crank: {joint: A}}
"""

# Motors of these machines have no inertia, which is said; slopes do not ask for it.
pytestmark = pytest.mark.filterwarnings("ignore:a motion of .* has no inertia")
MACHINES = {"arm": (ARM, [0.4, -0.7]), "loop": (LOOP, [0.3]), "slider": (SLIDER, [0.3])}

BLADE = """\
supple: 1
name: blade
materials: {aluminium: {youngs_modulus: 70 GPa, density: 2700}}
sections: {bar: {rectangle: [20 mm, 20 mm]}}
points: {A: [0, 0, 0], B: [1, 0, 0]}
bodies:
  blade: {beam: [A, B], section: bar, material: aluminium, elements: 8, up: z}
joints:
  A: {revolute: [ground, blade], axis: z}
actuators: {blade: {joint: A}}
"""


def second_differences(f, count, h):
    """∂²f/∂x_a∂x_b at zero, (a, b, ...)."""
    e = h * np.eye(count)
    pairs = [[f(a + b) - f(a - b) - f(b - a) + f(-a - b) for b in e] for a in e]
    return np.array(pairs) / (4.0 * h * h)


@pytest.mark.parametrize("name", MACHINES)
def test_of_drives_that_yield(name):
    """∂²M_θθ/∂δ², ∂M_θδ/∂δ and K_g are those of M_r(q) and V_r(q) of the rigid mechanism."""
    text, theta = MACHINES[name][0], np.array(MACHINES[name][1])
    count = len(theta)
    machine = supple.loads(text)
    rigid = supple.loads("\n".join(line.split(", drive")[0] + ("}" * (", drive" in line)) for line in text.split("\n")))
    options = {"internal_modes": count, "tracking": "subspace", "germ": theta}
    found = supple.local(machine, theta, stiffening=True, **options)
    drives = list(found.system.rest.drives.values())
    columns, units = [drive.column for drive in drives], np.array([drive.inertia for drive in drives]) ** -0.5

    def deflections(at):
        return (supple.local(machine, at, **options).modes[count:, columns] * units).T

    h = 1e-5
    D = deflections(theta)
    dD = np.array([(deflections(theta + h * e) - deflections(theta - h * e)) / (2 * h) for e in np.eye(count)])

    def M_theta(delta):
        J = np.eye(count) + np.einsum("kqa,a->qk", dD, delta)
        return J.T @ supple.local(rigid, theta + D @ delta).M @ J

    def M_coupling(delta):
        J = np.eye(count) + np.einsum("kqa,a->qk", dD, delta)
        return J.T @ supple.local(rigid, theta + D @ delta).M @ D

    def M_delta(delta):
        return D.T @ supple.local(rigid, theta + D @ delta).M @ D

    step = 5e-4 / np.abs(D).max()
    curvature = np.moveaxis(second_differences(M_theta, count, step), (0, 1), (2, 3))
    assert_allclose(found.mass_curvature, curvature, atol=1e-5 * np.abs(curvature).max())
    slope = np.stack([(M_coupling(step * e) - M_coupling(-step * e)) / (2 * step) for e in np.eye(count)], axis=-1)
    assert_allclose(found.dM[:count, count:, count:], slope, atol=1e-5 * np.abs(slope).max())
    slope = np.stack([(M_delta(step * e) - M_delta(-step * e)) / (2 * step) for e in np.eye(count)], axis=-1)
    assert_allclose(found.dM[count:, count:, count:], slope, atol=1e-5 * np.abs(slope).max() + 1e-12)
    K_g = second_differences(lambda delta: supple.local(rigid, theta + D @ delta).potential, count, step)
    plain = supple.local(machine, theta, preload=False, **options)
    assert_allclose(supple.local(machine, theta, **options).K, found.K, atol=1e-9 * np.abs(found.K).max())
    assert_allclose((found.K - plain.K)[count:, count:], K_g, atol=1e-5 * np.abs(K_g).max())


def test_slopes_are_those_of_the_coefficients():
    """∂K_g/∂θ, by differences of K_g itself."""
    machine, theta, h = supple.loads(ARM), np.array([0.4, -0.7]), 1e-4

    def both(at):
        options = {"internal_modes": 2, "tracking": "subspace", "germ": theta}
        every = ({"stiffening": True}, {"preload": True}, {"preload": False})
        return [supple.local(machine, at, **one, **options) for one in every]

    stiff, loaded, plain = both(theta)
    for k, e in enumerate(h * np.eye(2)):
        (ahead, _, ahead_plain), (behind, _, behind_plain) = both(theta + e), both(theta - e)
        rise = ((ahead.K - ahead_plain.K) - (behind.K - behind_plain.K)) / (2 * h)
        for found in (stiff, loaded):
            assert_allclose(found.dK[..., k] - plain.dK[..., k], rise, atol=1e-6 * np.abs(rise).max())


def test_a_rotating_blade():
    """First frequencies of a cantilever of square section that turns at dimensionless speeds: out of the plane of
    rotation as published, in it ω² = ω_out² - Ω². Without stiffening the speed changes neither."""
    found = supple.local(supple.loads(BLADE), internal_modes=6, stiffening=True)
    unit = np.sqrt(2700 * 4e-4 / (70e9 * 20e-3**4 / 12))
    for speed, out in {2: 4.1373, 4: 5.5850, 6: 7.3603, 8: 9.2568, 10: 11.2023}.items():
        K = found.K[1:, 1:] - 0.5 * (speed / unit) ** 2 * found.mass_curvature[0, 0]
        lowest = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(found.M[1:, 1:], K)).real)[:2]) * unit
        assert_allclose(lowest[1], out, rtol=2e-3)
        assert_allclose(lowest[0], np.sqrt(out**2 - speed**2), rtol=6e-3)
    assert not supple.local(supple.loads(BLADE), internal_modes=2).mass_curvature.size


@pytest.mark.parametrize(("at", "sign", "in_docs"), [(0.0, -1.0, 5.381), (np.pi, 1.0, 19.314)])
def test_a_heavy_column_that_stands_and_hangs(at, sign, in_docs):
    """(EI v'')'' - (N v')' = ρA ω² v with N = ±ρA g (L - x), by Ritz's method with polynomials."""
    text = BLADE + "gravity: [0, 0, -9.81]\n"
    changes = {"B: [1, 0, 0]": "B: [0, 0, 2.5]", "axis: z": "axis: y", "20 mm, 20 mm": "4 mm, 4 mm", "up: z": "up: y"}
    for old, new in changes.items():
        text = text.replace(old, new)
    column = supple.loads(text)
    found = supple.local(column, [at], internal_modes=6, stiffening=True)
    squares = np.linalg.eigvals(np.linalg.solve(found.M[1:, 1:], found.K[1:, 1:])).real
    unit = np.sqrt(2700 * 16e-6 * 2.5**4 / (70e9 * 4e-3**4 / 12))
    load = 9.81 * 2700 * 16e-6 * 2.5**3 / (70e9 * 4e-3**4 / 12)
    assert load / 7.837 == pytest.approx(0.57, abs=0.005)  # of what makes it buckle
    shapes = [Polynomial([0.0, 0.0] + [0.0] * k + [1.0]) for k in range(9)]
    tension = sign * load * Polynomial([1.0, -1.0])

    def integral(p):
        return p.integ()(1.0) - p.integ()(0.0)

    K = [[integral(a.deriv(2) * b.deriv(2) + tension * a.deriv() * b.deriv()) for a in shapes] for b in shapes]
    M = [[integral(a * b) for a in shapes] for b in shapes]
    lowest = eigh(K, M, eigvals_only=True)[0]
    assert_allclose(np.sort(squares)[:2] * unit**2, lowest, rtol=1e-3)
    assert lowest == pytest.approx(in_docs, abs=6e-4)


def test_on_motions_of_rigid_links_loads_do_what_they_do_without_elasticity():
    """Ψ_θᵀK_gΨ_θ of beams within bodies is that of bodies which follow their mean rotation."""
    machine = supple.loads(flexible_cases.PLANAR_FOUR_BAR)
    model = supple.local(machine, [0.2], internal_modes=1)
    rest, here = model.system.rest, model.configuration
    loads = loads_at(rest, here)
    rows = forces_of_rows(
        rest, loads, static_response(rest, here.X[None], loads.vector[None, None])[1][0], None, holding=True
    )
    fields = np.zeros((1, len(rest.bodies), 4))
    for b in range(len(rest.bodies)):
        fields[0, b, :2] = -(here.X[b, 3:].reshape(3, 3).T @ loads.gravity)[:2]
    found = load_stiffness(
        rest, here.X, CarriedLoads(fields, np.zeros((1, rest.size)), rows[None], []), model.modes[:1]
    )[0]
    expected = model.modes[:1] @ preload_stiffness(rest, here) @ model.modes[:1].T
    assert_allclose(found, expected, rtol=1e-9)


def test_what_is_refused():
    blade = supple.loads(BLADE)
    with pytest.raises(InputError, match=r"stiffening.*internal or constraint modes"):
        supple.local(blade, stiffening=True)
    with pytest.raises(InputError, match=r"quadratic.*stiffening"):
        supple.reduce(
            blade, region={"blade": (0, 1)}, checks=200, internal_modes=1, stiffening=True, fit="quadratic", boxes=1
        )
