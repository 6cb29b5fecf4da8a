"""Schedules of laws: their error in the closed loop, their equilibrium, their cost, on random plants over a region."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import solve_discrete_are

from supple.control.laws.affine_law import AffineLaw, constant_law
from supple.control.laws.affine_matrices import AffineMatrices, Ports, empty
from supple.control.laws.fitted_row import FittedRow, rounded
from supple.control.laws.law_equations import law_equations
from supple.control.laws.law_equilibrium import Equilibria, keep_equilibrium
from supple.control.laws.loop_error import ClosedLoop, LoopMeasure, SampledLoop, growth, law_matrix, standing_error
from supple.control.laws.scheduling import scheduled_law
from supple.diagnostics import SuppleNote, UnstableLoop
from supple.export.export import export

PORTS = Ports(("angle", "tip"), ("angle",), ("torque",), 1e-3, swept=True)
REGION = {"angle": (-0.6, 0.8)}
STATES = 4


def plant(sigma) -> SampledLoop:
    """Two coupled oscillators, whose frequencies and inputs change over σ."""
    omega = np.array([30.0 + 8.0 * np.sin(sigma[0]), 90.0 + 20.0 * np.cos(2.0 * sigma[0])])
    F, G = np.zeros((STATES, STATES)), np.zeros((STATES, 1))
    for k, w in enumerate(omega):
        c, s, decay = np.cos(w * 1e-3), np.sin(w * 1e-3), np.exp(-0.01 * w * 1e-3)
        F[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = decay * np.array([[c, s], [-s, c]])
        G[2 * k + 1, 0] = 1e-3 * (1.0 + 0.3 * k * np.exp(sigma[0]))
    H = np.array([[1.0, 0.0, 0.5, 0.0], [0.3, 0.0, -1.0 - 0.2 * sigma[0], 0.0]])
    return SampledLoop(F, G, H)


def design(sigma) -> AffineMatrices:
    """Regulator on a filter, after the measurement, with some feedforward of the motion."""
    F, G, H = plant(sigma)
    P = solve_discrete_are(F.T, H.T, 1e-4 * np.eye(STATES), 1e-4 * np.eye(2))
    S = solve_discrete_are(F, G, np.eye(STATES), 1e-4 * np.eye(1))
    L = P @ H.T @ np.linalg.inv(H @ P @ H.T + 1e-4 * np.eye(2))
    K = np.linalg.solve(1e-4 * np.eye(1) + G.T @ S @ G, G.T @ S @ F)
    kept = np.eye(STATES) - L @ H
    m = empty(STATES, PORTS)
    m.A[:], m.B[:, PORTS.y], m.B[:, PORTS.applied_commands] = kept @ F, L, kept @ G
    m.C[:], m.D[:] = -K @ m.A, -K @ m.B
    m.D[0, PORTS.wanted(0)], m.D[0, PORTS.wanted(2)] = 2.0 + sigma[0], 0.1 * np.cos(sigma[0])
    m.D[0, PORTS.products] = 0.05 * np.sin(sigma[0])
    m.A0[0, 0] = 1.0
    return keep_equilibrium(m, rests(np.array([sigma])).rows()[0])


def rests(points: np.ndarray) -> Equilibria:
    """The plant at rest under a torque that holds it at σ."""
    states, known, commands = [], [], []
    for sigma in points:
        F, G, H = plant(sigma)
        x = np.linalg.solve(np.eye(STATES) - F, G[:, 0])
        u = sigma[0] / (H[0] @ x)
        z = np.zeros(PORTS.size)
        z[PORTS.y], z[PORTS.wanted(0)], z[PORTS.applied_commands] = u * H @ x, sigma, u
        states.append(u * x)
        known.append(z)
        commands.append([u])
    return Equilibria(np.array(states), np.array(known), np.array(commands))


def schedule(tolerance: float = 1e-2) -> AffineLaw:
    return scheduled_law(design, REGION, PORTS, tolerance=tolerance, name="two modes", equilibria=rests, loop=plant)


@pytest.fixture(scope="module")
def law():
    return schedule()


def loop_at(sigma) -> tuple[ClosedLoop, AffineMatrices]:
    return ClosedLoop(plant(sigma), PORTS, STATES), design(sigma)


POINTS = np.random.default_rng(2).uniform(-0.59, 0.79, (12, 1))


def test_the_sampled_loop_is_that_of_a_simulation():
    """Responses at a frequency are those of a long run under that excitation."""
    loop, matrices = loop_at(np.array([0.2]))
    angle = 0.05
    T = loop.responses(matrices, np.array([angle])).whole[0]
    F, G, H = loop.plant
    n, y, c = STATES, PORTS.y, PORTS.applied_commands
    for excitation in (0, 1 + 1):  # d; the second measurement
        X, x, before = (np.zeros(size, dtype=complex) for size in (STATES, n, 1))
        M = law_matrix(matrices)
        for k in range(6000):
            v = np.exp(1j * angle * k)
            z = np.zeros(PORTS.size, dtype=complex)
            z[y], z[c] = H @ X, before
            if excitation:
                z[excitation - 1] += v
            out = M @ np.concatenate([x, z])
            measured = H @ X
            X = F @ X + G @ (out[n:] + (0.0 if excitation else v))
            x, before = out[:n], out[n:]
        assert_allclose(np.append(measured, before) / v, T[:, excitation], rtol=1e-6, atol=1e-9)


def test_the_weights_are_the_first_order_change_of_the_loop():
    points = POINTS[:3]
    loops, designs = zip(*map(loop_at, points), strict=True)
    measure = LoopMeasure(loops, designs)
    places = np.arange((STATES + 1) * (STATES + PORTS.size))
    change = 1e-7 * np.random.default_rng(0).standard_normal(len(places))
    S = measure.weights(places)
    assert_allclose(measure.sensitivities(), np.sqrt(np.diag(S)), rtol=1e-12)
    total, rows, columns = 0.0, measure._rows, measure._columns
    for loop, matrices in zip(loops, designs, strict=True):
        whole = law_matrix(matrices) + change.reshape(STATES + 1, -1)
        other = matrices._replace(
            A=whole[:STATES, :STATES], B=whole[:STATES, STATES:], C=whole[STATES:, :STATES], D=whole[STATES:, STATES:]
        )
        angles = loop.frequencies(matrices)
        off = loop.responses(other, angles).whole - loop.responses(matrices, angles).whole
        total += (np.abs(off / np.outer(rows, columns)) ** 2).sum() / len(angles)
    assert_allclose(change @ S @ change, total / len(points), rtol=1e-3)


@pytest.mark.parametrize("tolerance", [3e-2, 1e-3])
def test_the_loop_keeps_its_tolerance_at_other_points(tolerance):
    law = schedule(tolerance)
    assert law.error["closed loop"] <= tolerance
    loops, designs = zip(*map(loop_at, POINTS), strict=True)
    measure = LoopMeasure(loops, designs)
    found = [
        measure.error(loop, matrices, law.at(sigma))
        for sigma, loop, matrices in zip(POINTS, loops, designs, strict=True)
    ]
    assert max(found) <= 2.0 * tolerance  # these points are not those of the fit
    for sigma, loop, matrices in zip(POINTS, loops, designs, strict=True):
        rate, own = growth(loop, law.at(sigma)), growth(loop, matrices)
        assert abs(rate - own) <= 3.0 * tolerance * abs(own)


def test_a_smaller_tolerance_takes_more_functions(law):
    rough, fine = schedule(0.1), schedule(1e-4)
    counts = [item.matrices.factors.shape[1] for item in (rough, law, fine)]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] < len(law.matrices.varying)


def test_the_machine_rests_at_its_goal_whatever_the_tolerance():
    """A run of the plant with a rough law ends at the goal."""
    law = schedule(0.1)
    sigma = np.array([0.3])
    F, G, H = plant(sigma)
    goal, here = rests(sigma[None]), law.at(sigma)
    X, x, before = goal.states[0] + 1e-3, goal.states[0].copy(), goal.answers[0]
    for _ in range(4000):
        z = goal.known[0].copy()
        z[PORTS.y], z[PORTS.applied_commands] = H @ X, before
        u = here.C @ x + here.D @ z + here.d
        x = here.A @ x + here.B @ z + here.b
        X, before = F @ X + G @ u, u
    assert_allclose(X, goal.states[0], atol=1e-9)
    assert max(law.standing.values()) < 1e-9


def test_the_standing_error_is_the_distance_of_a_run():
    sigma = np.array([0.1])
    loop, matrices = loop_at(sigma)
    off = 1e-3 * np.random.default_rng(1).standard_normal(STATES + PORTS.size + 1)
    off[STATES + PORTS.products.start - 1] = 0.0
    shifted = keep_equilibrium(matrices, rests(sigma[None]).rows()[0] + off)
    F, G, H = loop.plant
    goal = rests(sigma[None])
    X, x, before = goal.states[0].copy(), goal.states[0].copy(), goal.answers[0]
    for _ in range(20000):
        z = goal.known[0].copy()
        z[PORTS.y], z[PORTS.applied_commands] = H @ X, before
        u = shifted.C @ x + shifted.D @ z + shifted.d
        x = shifted.A @ x + shifted.B @ z + shifted.b
        X, before = F @ X + G @ u, u
    assert_allclose(H @ (X - goal.states[0]), standing_error(loop, matrices, off), rtol=1e-6, atol=1e-12)


def test_an_error_of_the_state_of_rest_does_not_move_the_machine():
    loop, matrices = loop_at(np.array([0.1]))
    off = np.zeros(STATES + PORTS.size + 1)
    off[:STATES] = 1.0
    assert_allclose(standing_error(loop, matrices, off), 0.0, atol=1e-9)


def test_an_unstable_design_is_reported_and_fitted_entry_by_entry():
    def unstable(sigma) -> AffineMatrices:
        m = design(sigma)
        return m._replace(C=-20.0 * m.C, D=-20.0 * m.D, d=-20.0 * m.d)

    with pytest.warns(UnstableLoop, match=r"pole at \+.*use slower gains"):
        law = scheduled_law(unstable, REGION, PORTS, tolerance=1e-2, loop=plant, remedy="use slower gains")
    assert "closed loop" not in law.error


def test_the_equations_are_the_matrices(law):
    sigma = np.array([0.37])
    equations, here = law_equations(law), law.at(sigma)
    row = law.matrices.at(sigma)
    values = law.matrices.fitted.evaluate(sigma)
    n, m, a = STATES, PORTS.size, 1
    whole = np.zeros((2 * n + a, n + m + 1))
    for e in range(len(whole)):
        fixed = slice(equations.fixed_rows[e], equations.fixed_rows[e + 1])
        entry = slice(equations.entry_rows[e], equations.entry_rows[e + 1])
        np.add.at(whole[e], equations.fixed_columns[fixed], equations.fixed[fixed])
        np.add.at(whole[e], equations.entry_columns[entry], equations.factors[entry] @ values)
    assert_allclose(whole[: n + a, : n + m], law_matrix(here), rtol=1e-13, atol=1e-13)
    assert_allclose(whole[n + a :, n : n + m], here.A0, atol=1e-14)
    assert len(row) == law.matrices.template.size


def test_numbers_keep_their_digits_in_single_precision():
    values = np.array([0.0, 1.23456789, -9.87654321e-7, 4.4e9])
    short = rounded(values, 4)
    assert_allclose(short, values, rtol=6e-4)
    assert (short == short.astype(np.float32)).all()
    assert (rounded(values, 9) == values).all()


def test_the_cost_of_a_law_says_what_would_make_it_smaller(law, tmp_path):
    cost = law.cost
    assert cost.advice == ""
    assert cost.tables < 20_000
    header = export(law, tmp_path)[0].read_text()
    assert f"at most {cost.operations} operations" in header
    assert f"Constant tables: {cost.tables} bytes" in header
    row = law.matrices
    many = row._replace(varying=np.tile(row.varying, 4000), factors=np.tile(row.factors, (4000, 1)))
    wide = AffineLaw("wide", PORTS, STATES, FittedRow(row.template, *many[1:4]), law.scheduled_by, law.error)
    assert "larger tolerance" in wide.cost.advice
    with pytest.warns(SuppleNote, match="MB of tables"):
        export(wide, tmp_path)
    assert constant_law(design(np.zeros(1)), PORTS).cost.comparisons == 0
