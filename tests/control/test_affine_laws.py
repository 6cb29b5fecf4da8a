"""One law for all linear controllers: its kernel against its matrices, its fit against the design."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.control.controller import Measurement
from supple.control.controllers.linear_quadratic_gaussian import lqr
from supple.control.laws.affine_controller import AffineController
from supple.control.laws.affine_law import constant_law
from supple.control.laws.affine_matrices import AffineMatrices, Ports, shapes
from supple.control.laws.scheduling import scheduled_law
from supple.diagnostics import InputError, SuppleNote

PORTS = Ports(("lift", "elbow", "tip.x"), ("lift", "elbow"), ("f", "g"), 1e-3, (0.0, 0.013), swept=True)


class Swinging:
    """θ_d,i = sin(ω_i t) with all its rates."""

    coordinates = ("lift", "elbow")

    def at(self, t: float) -> np.ndarray:
        omega = np.array([2.0, 3.0])
        s, c = np.sin(omega * t), np.cos(omega * t)
        return np.array([s, omega * c, -(omega**2) * s, -(omega**3) * c])


def design(sigma: np.ndarray, n: int = 5) -> AffineMatrices:
    """Some smooth matrices, a few of whose entries do not change."""
    rng = np.random.default_rng(3)
    parts = []
    for shape in shapes(n, PORTS):
        mean, slope, phase = (rng.standard_normal(shape) for _ in range(3))
        change = rng.random(shape) < 0.5
        parts.append(0.2 * mean + 0.05 * change * np.sin(slope * sigma[0] - 0.7 * slope * sigma[1] + phase))
    return AffineMatrices(*parts)


def told(y: np.ndarray) -> Measurement:
    return Measurement(("lift", "elbow"), y[:2], np.zeros(2), {"tip.x": float(y[2])})


def commands(controller: AffineController, law_at, count: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """What a controller answers, and what the equations say, with drives that apply 0.9 of what is asked."""
    rng = np.random.default_rng(11)
    answers, expected = [], []
    for k in range(count):
        y, t = rng.uniform(0.1, 0.9, 3), 1e-3 * k
        wanted = np.concatenate([Swinging().at(t + dt).ravel() for dt in PORTS.previews])
        here = law_at(y[:2])
        r = Swinging().at(t)[1]
        swept = np.array([r[0] ** 2, r[0] * r[1], r[1] ** 2])
        if k == 0:  # it stood: the command before is the one that it answers with
            z = np.concatenate([y, wanted, np.zeros(2), swept])
            whole = here.C @ here.A0 + here.D
            before = np.linalg.solve(
                np.eye(2) - whole[:, PORTS.applied_commands], whole @ z + here.C @ here.a0 + here.d
            )
            x = here.A0 @ np.concatenate([y, wanted, before, swept]) + here.a0
        z = np.concatenate([y, wanted, before, swept])
        expected.append(here.C @ x + here.D @ z + here.d)
        x = here.A @ x + here.B @ z + here.b
        answers.append(controller.step(t, told(y)))
        before = 0.9 * answers[-1]
        controller.record_command(before)
    assert_allclose(controller.state, x, rtol=1e-12, atol=1e-12)
    return np.array(answers), np.array(expected)


@pytest.fixture(scope="module")
def law():
    return scheduled_law(design, {"lift": (0.0, 1.0), "elbow": (0.0, 1.0)}, PORTS, tolerance=1e-4)


def test_a_fixed_law_answers_by_its_matrices():
    matrices = design(np.array([0.3, 0.4]))
    law = constant_law(matrices, PORTS)
    answers, expected = commands(AffineController(law, Swinging()), lambda _: matrices)
    assert_allclose(answers, expected, rtol=1e-12, atol=1e-12)


def test_a_scheduled_law_answers_by_its_matrices_at_what_is_measured(law):
    answers, expected = commands(AffineController(law, Swinging()), law.at)
    assert_allclose(answers, expected, rtol=1e-12, atol=1e-12)


def test_the_fit_keeps_its_stated_error(law):
    constant = np.setdiff1d(np.arange(len(law.matrices.template)), law.matrices.varying)
    assert len(constant)
    assert set(law.error) <= set(AffineMatrices._fields)
    assert max(law.error.values()) <= 1e-4
    for sigma in np.random.default_rng(5).uniform(0.0, 1.0, (30, 2)):
        exact, fitted = design(sigma).row(), law.at(sigma).row()
        assert_allclose(fitted[constant], exact[constant], rtol=1e-12)
        assert np.linalg.norm(fitted - exact) <= 3e-4 * np.linalg.norm(exact)  # norms of parts, not of numbers


def test_sigma_is_clamped_and_that_is_said_once(law):
    controller = AffineController(law, Swinging())
    inside = controller.step(0.0, told(np.array([1.0, 0.5, 0.2])))
    controller.reset(told(np.array([1.2, 0.5, 0.2])))
    with pytest.warns(SuppleNote, match=r"lift is 1.2, outside .*0 \.\.\. 1 "):
        controller.step(0.0, told(np.array([1.2, 0.5, 0.2])))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        controller.step(1e-3, told(np.array([1.2, 0.5, 0.2])))
    assert_allclose(law.at([1.2, 0.5]).row(), law.at([1.0, 0.5]).row())
    assert np.isfinite(inside).all()


def test_what_does_not_fit_is_refused():
    matrices = design(np.zeros(2))
    with pytest.raises(InputError, match=r"B has the shape \(5, 3\)"):
        constant_law(matrices._replace(B=np.zeros((5, 3))), PORTS)
    with pytest.raises(InputError, match=r'not measure "wrist"; it measures '):
        scheduled_law(design, {"lift": (0, 1), "wrist": (0, 1)}, PORTS)
    with pytest.raises(InputError, match=r"needs lift, elbow.*none"):
        AffineController(constant_law(matrices, PORTS))


def test_a_copy_goes_on_from_where_the_controller_stands_and_by_itself(law):
    first = AffineController(law, Swinging())
    y = np.array([0.3, 0.6, 0.1])
    for k in range(5):
        first.step(1e-3 * k, told(y))
    copies = copy.deepcopy(first), pickle.loads(pickle.dumps(first))  # noqa: S301
    answers = [first.step(5e-3, told(y)), *(other.step(5e-3, told(y)) for other in copies)]
    assert_allclose(answers[1:], [answers[0]] * 2, rtol=0.0, atol=0.0)
    for _ in range(3):
        first.step(6e-3, told(y))
    assert_allclose(copies[0].step(6e-3, told(y)), copies[1].step(6e-3, told(y)), rtol=0.0, atol=0.0)


def test_a_regulator_is_the_same_as_a_law(linear):
    """u₀ + δu - K (x - x_r), whichever object says it."""
    gain = lqr(linear, 1.0, 1e-3, sample_time=1e-3)
    target = {"elbow": 0.1}
    law = AffineController(gain.law(target))
    seen = Measurement(("shoulder", "elbow"), np.array([0.2, -0.1]), np.array([0.3, 0.5]))
    assert_allclose(law.step(0.0, seen), gain.regulator(target).step(0.0, seen), rtol=1e-12)
