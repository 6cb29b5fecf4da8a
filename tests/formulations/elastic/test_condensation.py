"""Condensed bodies: within the promised error over the promised band, whatever holds or loads the interface."""

import numpy as np
import pytest
import scipy.linalg as la
from numpy.testing import assert_allclose
from single_bodies import single, squares

from supple.diagnostics import InputError
from supple.formulations.elastic import condensation as interior
from supple.formulations.elastic.condensation import condense

GIVEN = {
    "materials": {"m": {"youngs_modulus": 70e9, "density": 2700}},
    "sections": {"s": {"rectangle": [0.02, 0.01]}, "t": {"tube": [0.03, 0.02]}},
}
TOLERANCE = 1e-6


def link(elements, theory="euler-bernoulli", plane=None):
    points = {"A": [0, 0, 0], "B": [0.5, 0, 0]} if plane is None else {"A": [0, 0], "B": [0.5, 0]}
    body = {"beam": ["A", "B"], "section": ("s", "t"), "material": "m", "elements": elements, "theory": theory}
    return single(body, points=points, touched=("B",), plane=plane, **GIVEN)


def frame():
    beam = {"section": "s", "material": "m", "elements": 6, "up": [0.1, 0.2, 1.0]}
    return single(
        {"beams": [{"from": a, "to": b, **beam} for a, b in ("AB", "BC", "BD")], "attach": {"P": "C"}},
        points={"A": [0, 0, 0], "B": [0.4, 0, 0.1], "C": [0.7, 0.2, 0], "D": [0.6, -0.3, 0.1], "P": [0.7, 0.25, 0]},
        touched=("A", "P", "D"),
        **GIVEN,
    )


BODIES = {
    "4 elements": lambda: link(4),
    "16 elements": lambda: link(16),
    "64 elements": lambda: link(64),
    "64 elements, timoshenko": lambda: link(64, "timoshenko"),
    "plane": lambda: link(12, plane="xy"),
    "frame": frame,
}


@pytest.fixture(params=BODIES, scope="module")
def body(request):
    return BODIES[request.param]()


def held_sets(width, nodes):
    """Columns of the condensed body that a support holds: none, a clamp, hinges, a clamp and a slider, all ends."""
    ball = list(range(width - 1)) if width == 3 else [0, 1, 2]
    clamp = list(range(width))
    last = (nodes - 1) * width
    return [[], clamp, [*ball, *(last + i for i in ball)], [*clamp, last + 1], [*clamp, *(last + i for i in clamp)]]


def interface_columns(body, held):
    columns = np.concatenate([body.columns(node) for node in body.interface])
    return columns[held] if held else []


def first_fixed(body):
    held = np.concatenate([body.columns(node) for node in body.interface])
    return np.sqrt(squares(body.K, body.M, held)[0])


@pytest.mark.parametrize("reach", [0.2, 0.9, 2.5])
def test_frequencies_in_the_band_are_within_the_tolerance_for_every_support(body, reach):
    band = reach * first_fixed(body)
    condensed = condense(body, band, TOLERANCE)
    assert condensed.error <= TOLERANCE
    compared = 0
    for held in held_sets(body.width, len(body.interface)):
        exact = squares(body.K, body.M, interface_columns(body, held))
        found = squares(condensed.K, condensed.M, held)
        moving = exact > 1e-6 * band**2  # free bodies move, and hinges let them spin: zero to rounding
        inside = np.flatnonzero(moving & (exact < band**2))
        # sixty-four elements leave rounding of 3e-8 of ω² in the dense solver itself
        assert_allclose(found[inside], exact[inside], rtol=TOLERANCE + 1e-7)
        compared += len(inside)
    assert compared or reach < 0.5


@pytest.mark.parametrize("reach", [0.9, 2.5])
def test_frequencies_with_heavy_and_springy_neighbours_are_within_the_tolerance(body, reach):
    """Other bodies add mass and stiffness to the interface; the error stays below that of the body alone."""
    band = reach * first_fixed(body)
    condensed = condense(body, band, TOLERANCE)
    random = np.random.default_rng(11)
    count = len(body.interface) * body.width
    columns = np.concatenate([body.columns(node) for node in body.interface])
    for _ in range(3):
        full = [body.K.toarray(), body.M.toarray()]
        small = [condensed.K.copy(), condensed.M.copy()]
        for one, other in zip(full, small, strict=True):
            scale = np.sqrt(np.diag(other)[:count] * 10.0 ** random.uniform(-2, 2, count))
            root = random.normal(size=(count, count)) * scale[:, None]
            added = root @ root.T / count
            one[np.ix_(columns, columns)] += added
            other[:count, :count] += added
        exact, found = squares(*full), squares(*small)
        inside = np.flatnonzero(exact < band**2)
        assert_allclose(found[inside], exact[inside], rtol=TOLERANCE + 1e-7)


def test_coordinates_are_few_and_do_not_grow_with_the_mesh():
    counts = [condense(link(elements), 0.5 * first_fixed(link(elements))).size for elements in (4, 16, 64)]
    assert max(counts) <= 24  # two nodes, and at most one follower for each of their motions
    assert max(counts) - min(counts) <= 1
    few = condense(link(16), 0.01 * first_fixed(link(16)))
    assert few.size <= 18  # two nodes, and a follower for each rigid motion


def test_statics_and_rigid_motions_are_exact(body):
    condensed = condense(body, first_fixed(body))
    T, count = body.rigid_motions(), len(body.interface) * body.width
    assert_allclose(condensed.basis @ condensed.rigid_motions, T, atol=1e-9)
    assert_allclose(condensed.K @ condensed.rigid_motions, 0.0, atol=1e-9 * abs(condensed.K).max())
    columns = np.concatenate([body.columns(node) for node in body.interface])
    assert_allclose(condensed.basis[columns, :count], np.eye(count))
    assert_allclose(condensed.basis[columns, count:], 0.0)
    held = list(range(body.width))
    free = np.setdiff1d(np.arange(body.size), body.columns(body.interface[0]))
    where = np.searchsorted(free, columns[body.width :])
    compliance = la.inv(body.K.toarray()[np.ix_(free, free)])[np.ix_(where, where)]
    rest = np.setdiff1d(np.arange(condensed.size), held)
    found = la.inv(condensed.K[np.ix_(rest, rest)])[: len(where), : len(where)]
    assert_allclose(found, compliance, atol=1e-7 * abs(compliance).max())


def test_the_layout_is_diagonal_among_internal_coordinates(body):
    condensed = condense(body, 2.0 * first_fixed(body))
    count = len(body.interface) * body.width
    inner = slice(count, None)
    exact_K, exact_M = (condensed.basis.T @ (matrix @ condensed.basis) for matrix in (body.K, body.M))
    assert_allclose(condensed.K, exact_K, atol=1e-9 * abs(exact_K).max())
    assert_allclose(condensed.M, exact_M, atol=1e-9 * abs(exact_M).max())
    assert_allclose(condensed.M[inner, inner], np.eye(condensed.size - count), atol=1e-14)
    assert np.count_nonzero(condensed.K[:count, inner]) == 0
    assert_allclose(2 * np.pi * condensed.internal_hz, np.sqrt(np.diag(condensed.K)[inner]))
    assert np.all(np.diff(condensed.internal_hz) >= 0)


def test_tensors_are_those_of_the_whole_mesh(body):
    condensed = condense(body, first_fixed(body))
    T, basis, M = body.rigid_motions(), condensed.basis, body.M.toarray()
    assert_allclose(condensed.rigid_mass, T.T @ M @ T, atol=1e-12)
    assert_allclose(condensed.rigid_coupling, T.T @ M @ basis, atol=1e-9)
    assert condensed.lumped.shape == (3, condensed.size)
    translations = 2 if body.width == 3 else 3
    assert_allclose(condensed.lumped[:translations], condensed.rigid_coupling[:translations])
    assert_allclose(condensed.lumped @ condensed.rigid_motions[:, 0], [condensed.rigid_mass[0, 0], 0, 0], atol=1e-9)
    axes = 1 if body.width == 3 else 3
    assert condensed.turning_rigid.shape == (axes, body.width, condensed.size)
    assert condensed.turning.shape == (axes, condensed.size, condensed.size)
    for k in range(axes):
        assert_allclose(condensed.turning[k], basis.T @ (body.turning[k] @ basis), atol=1e-12)
        assert_allclose(condensed.turning_rigid[k], condensed.rigid_motions.T @ condensed.turning[k], atol=1e-9)


def test_kinetic_energy_of_a_turning_deformed_body_follows_from_the_tensors():
    """½ ∫ |ω × u|-type terms to first order: Tᵀ M W_k Φ is half the change of Tᵀ M T when nodes move by u.

    In the plane the inertia about the origin grows by 2 ∫ (X + u)·u dm, and W_z turns translations alone.
    """
    body = link(12, plane="xy")
    condensed = condense(body, first_fixed(body))
    random = np.random.default_rng(2)
    delta = random.normal(size=condensed.size) * 1e-3
    u = condensed.basis @ delta
    turned = condensed.turning_rigid[0] @ delta
    node_moved = u.reshape(-1, 3)
    W = np.zeros_like(node_moved)
    W[:, 0], W[:, 1] = -node_moved[:, 1], node_moved[:, 0]
    T = body.rigid_motions()
    assert_allclose(turned, T.T @ (body.M @ W.ravel()), atol=1e-15)


def test_sparse_and_dense_algebra_agree_on_a_body_with_twin_modes(monkeypatch):
    """A round bar has every bending mode twice; a method that starts from one vector may see one of the two."""
    points = {"A": [0, 0, 0], "B": [1, 0, 0]}
    round_bar = {"beam": ["A", "B"], "section": "s", "material": "m", "elements": 40}
    sections, materials = {"s": {"circle": 0.02}}, GIVEN["materials"]
    body = single(round_bar, points=points, touched=("B",), sections=sections, materials=materials)
    band = 6.0 * first_fixed(body)
    found = []
    for dense in (0, 1000):
        monkeypatch.setattr(interior, "_DENSE", dense)
        found.append(condense(body, band))
    sparse, dense = found
    assert sparse.size == dense.size
    inside = dense.internal_hz < band / (2 * np.pi)
    assert np.count_nonzero(inside) >= 4
    assert_allclose(sparse.internal_hz[inside], dense.internal_hz[inside], rtol=1e-9)
    assert_allclose(squares(sparse.K, sparse.M, range(6))[:8], squares(dense.K, dense.M, range(6))[:8], rtol=1e-8)


@pytest.mark.parametrize("elements", [4, 60])
@pytest.mark.parametrize("reach", [0.3, 3.0])
def test_a_massless_bar_with_a_point_mass(elements, reach):
    """Clamped at both ends, a mass m at a: ω² = 3 EI L³ / (m a³ b³); a massless bar alone has no internal motion."""
    points = {"A": [0, 0, 0], "B": [1, 0, 0], "C": [0.4, 0, 0]}
    bar = {"beam": ["A", "B"], "section": "s", "material": "m", "elements": elements}
    given = {"sections": {"s": {"circle": 0.02}}, "materials": {"m": {"youngs_modulus": 70e9, "density": 0.0}}}
    alone = single(bar, points=points, touched=("B",), **given)
    assert condense(alone, 100.0).size == 12
    loaded = single(bar, points=points, touched=("B",), point_masses={"p": {"at": "body.C", "mass": 1.5}}, **given)
    exact = 3 * 70e9 * np.pi * 0.02**4 / 64 / (1.5 * 0.4**3 * 0.6**3)
    condensed = condense(loaded, reach * np.sqrt(exact))
    assert_allclose((2 * np.pi * condensed.internal_hz[:2]) ** 2, exact, rtol=1e-6)


def test_an_empty_band_is_refused():
    with pytest.raises(InputError, match=r'"body".*frequency band .*positive .*0 rad/s.*increase'):
        condense(link(4), 0.0)
