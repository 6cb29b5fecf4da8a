"""Laws that every reduced model keeps, whatever it was fitted to."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.linalg import norm
from numpy.testing import assert_allclose, assert_array_equal

import supple


def states(model, count=20, seed=3):
    """θ inside the region, δ, and rates of everything."""
    rng = np.random.default_rng(seed)
    box = model.fitted.arrays.roots_f[0]
    n, s = model.layout.size, model.layout.theta
    theta = rng.uniform(0.9 * box[0] + 0.1 * box[1], 0.1 * box[0] + 0.9 * box[1], (count, s))
    return theta, 0.05 * rng.normal(size=(count, n - s)), rng.normal(size=(count, n))


@pytest.fixture(params=["four_bar", "orthoglide", "orthoglide_direct", "flexible", "stiffened", "flexible_direct"])
def model(request):
    return request.getfixturevalue(request.param)


def test_a_batch_is_its_single_points_bit_for_bit(model):
    theta, _, _ = states(model, 70)  # more than one block of the kernel
    batch = model.evaluate(theta)
    evaluate = model.kernel()
    row = evaluate.new_row()
    for p, point in enumerate(theta):
        single = model.evaluate(point)
        assert evaluate(point, row) == 0
        in_place = evaluate.split(point, row)
        for name in ("M", "K", "christoffel", "damping", "potential", "force", "force_slope", "input_map"):
            assert_array_equal(getattr(single, name), getattr(batch, name)[p])
            assert_array_equal(getattr(in_place, name), getattr(batch, name)[p])
        for name, output in single.outputs.items():
            for mine, of_batch in zip(output, batch.outputs[name], strict=True):
                assert_array_equal(mine, of_batch[p])


def test_symmetric_coefficients_are_symmetric(model):
    c = model.evaluate(states(model)[0])
    for matrices in (c.M, c.K, c.damping):
        assert_array_equal(matrices, np.swapaxes(matrices, -1, -2))
    assert_array_equal(c.christoffel, np.swapaxes(c.christoffel, -1, -2))
    assert not c.K[:, : model.layout.theta].any() or model.name == "élastique"


@pytest.mark.parametrize("name", ["four_bar", "orthoglide", "flexible", "flexible_direct"])
def test_christoffel_symbols_from_mass_are_the_gradient_of_the_fitted_mass(name, request):
    model = request.getfixturevalue(name)
    s, h = model.layout.theta, 1e-5
    for point in states(model, 5)[0]:
        G = model.evaluate(point).christoffel[:s, :s, :s]
        for k in range(s):
            step = h * np.eye(s)[k]
            dM = (model.evaluate(point + step).M - model.evaluate(point - step).M)[:s, :s] / (2.0 * h)
            # Central differences err by h² times a third derivative, and by rounding over h.
            assert_allclose(G[:, :, k] + G[:, :, k].T, dM, atol=1e-6 * max(norm(dM), norm(model.evaluate(point).M)))


@pytest.mark.parametrize("name", ["four_bar", "orthoglide", "flexible", "flexible_direct"])
def test_forces_and_outputs_are_gradients_of_their_fits(name, request):
    model = request.getfixturevalue(name)
    s, h = model.layout.theta, 1e-5
    for point in states(model, 5)[0]:
        c = model.evaluate(point)
        for k in range(s):
            ahead, behind = (model.evaluate(point + sign * h * np.eye(s)[k]) for sign in (1.0, -1.0))
            assert_allclose(c.force[k], -(ahead.potential - behind.potential) / (2 * h), atol=1e-6 * abs(c.potential))
            assert_allclose(c.force_slope[k], (ahead.force - behind.force)[s:] / (2 * h), atol=1e-6 * norm(c.force))
            for o, output in c.outputs.items():
                rise = (ahead.outputs[o].value - behind.outputs[o].value) / (2 * h)
                assert_allclose(output.rigid[k], rise, atol=1e-7)


def test_forward_undoes_inverse(model):
    theta, delta, rates = states(model)
    wanted = np.random.default_rng(5).normal(size=rates.shape)
    tau = model.inverse(theta, rates, wanted, delta=delta)
    idle = model.forward(theta, rates, delta=delta)
    M = model.evaluate(theta, delta=delta).M
    # τ enters beside B u: what it adds to the motion without inputs is M⁻¹ τ.
    assert_allclose(idle + np.linalg.solve(M, tau[..., None])[..., 0], wanted, atol=1e-9 * np.abs(idle).max())


def test_actuator_forces_give_the_wanted_accelerations(rigid):
    theta, _, rates = states(rigid)
    wanted = np.random.default_rng(5).normal(size=rates.shape)
    u = rigid.actuator_forces(theta, rates, wanted)
    found = rigid.forward(theta, rates, u)
    assert_allclose(found, wanted, atol=1e-9 * np.abs(wanted).max() * np.linalg.cond(rigid.evaluate(theta).M).max())


def test_power_is_the_rate_of_energy(four_bar, orthoglide):
    """d/dt(T + V) = η̇ᵀ(B u): exact for a model whose Γ and p follow from its M and V."""
    for model in (four_bar, orthoglide):
        theta, _, rates = states(model)
        u = np.random.default_rng(1).normal(size=(len(theta), len(model.layout.inputs)))
        a = model.forward(theta, rates, u)
        c = model.evaluate(theta)
        work = np.einsum("ni,nij,nj->n", rates, c.M, a) + 0.5 * np.einsum("nijk,ni,nj,nk->n", c.dM, rates, rates, rates)
        work -= np.einsum("ni,ni->n", c.force, rates)
        put_in = np.einsum("ni,nij,nj->n", rates, c.input_map, u)
        assert_allclose(work, put_in, atol=1e-12 * np.abs(c.force).max() + 1e-12 * np.abs(work).max())


@pytest.mark.parametrize("name", ["flexible", "stiffened"])
def test_power_is_the_rate_of_energy_deformed_too(name, request):
    """d/dt(T + V) = η̇ᵀ(B u - D_d η̇), by differences along the motion."""
    model = request.getfixturevalue(name)
    model = replace(model, layout=replace(model.layout, dry_forces={"hinge": 0.0}))
    theta, delta, rates = states(model)
    u, h = np.random.default_rng(1).normal(size=(len(theta), 2)), 1e-6
    eta, s = np.hstack([theta, 10.0 * delta]), model.layout.theta
    a = model.forward(eta[:, :s], rates, u, delta=eta[:, s:])
    ahead, behind = (model.observe(eta + way * rates, rates + way * a)[1].sum(axis=1) for way in (h, -h))
    c = model.evaluate(eta[:, :s])
    power = np.einsum("ni,nij,nj->n", rates, c.input_map, u) - np.einsum("ni,nij,nj->n", rates, c.damping, rates)
    assert_allclose((ahead - behind) / (2.0 * h), power, atol=1e-6 * np.abs(a).max())


@pytest.mark.parametrize("name", ["four_bar", "orthoglide"])
def test_a_free_motion_keeps_its_energy(name, request):
    model = request.getfixturevalue(name)
    start = {"four_bar": [0.0], "orthoglide": [-0.1, -0.05, -0.02]}[name]
    run = model.simulate(np.linspace(0.0, 0.15, 16), None, start, rates=0.3 * np.ones(len(start)), step=2e-4)
    assert run.complete
    total = run.energy["total"]
    assert np.ptp(run.energy["kinetic"]) > 1e-2  # it does move
    assert_allclose(total, total[0], rtol=0.0, atol=1e-8 * np.abs(run.energy["kinetic"]).max())


def test_the_local_model_is_what_is_fitted(orthoglide):
    """Degree 5 on the whole region: the coefficients agree with the mechanism's within the fit's error."""
    from pathlib import Path

    file = Path(__file__).parents[2] / "examples" / "orthoglide" / "mechanism.yaml"
    theta = states(orthoglide)[0]
    exact, found = supple.local(supple.load(file), theta), orthoglide.evaluate(theta)
    for name, part in (("M", 2e-3), ("christoffel", 2e-2), ("force", 2e-3), ("input_map", 1e-12)):
        a, b = getattr(exact, name), getattr(found, name)
        assert norm(a - b) <= part * norm(a), name  # the tolerances are those of a quintic, seen when fitted


def test_a_motion_of_the_flexible_model_is_the_same_by_both_methods(flexible):
    """Its fastest mode has 33 Hz or so: small explicit steps are a reference for the implicit ones."""
    grid = np.linspace(0.0, 0.2, 21)
    inputs = {"a": lambda t: np.sin(20.0 * t), "b": 0.5}
    start = {"a": 0.1, "b": -0.2}
    options = {"rates": [0.3, -0.1, 0.0, 0.0], "friction_speed": 0.05}
    exact = flexible.simulate(grid, inputs, start, step=1e-4, method="explicit", **options)
    errors = []
    for step in (1e-3, 5e-4):
        run = flexible.simulate(grid, inputs, start, step=step, **options)
        assert run.complete
        errors.append(max(np.abs(run.coordinates[name] - exact.coordinates[name]).max() for name in exact.coordinates))
    assert errors[0] < 2e-4
    assert errors[1] < 0.35 * errors[0]  # second order


def test_stiff_steps_stay_bounded(flexible):
    """Steps of ten periods of the fastest mode: what is left of it must not grow."""
    run = flexible.simulate(np.linspace(0.0, 3.0, 11), None, {"a": 0.1, "b": -0.2}, step=0.3)
    assert run.complete
    assert np.abs(run.coordinates["mode 1"]).max() < 1e-2


def test_steps_by_tolerance_agree_with_small_ones(four_bar):
    grid = np.linspace(0.0, 0.2, 5)
    small = four_bar.simulate(grid, [0.3], [0.0], step=1e-4)
    loose = four_bar.simulate(grid, [0.3], [0.0], tolerance=1e-6)
    tight = four_bar.simulate(grid, [0.3], [0.0], tolerance=1e-11)
    assert loose.steps <= tight.steps < small.steps
    assert_allclose(tight.coordinates["crank"], small.coordinates["crank"], atol=1e-9)
    assert_allclose(loose.coordinates["crank"], small.coordinates["crank"], atol=1e-4)
