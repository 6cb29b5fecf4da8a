"""Superelements: a frame by its matrices, patches tied to places, and matrices that are refused."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.linalg import block_diag
from single_bodies import columns, hertz, relative, single, squares

from supple.description.drawing import Drawing
from supple.description.mass_properties import mass_properties
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formulations.elastic.body_matrices import rigid_body_motions
from supple.formulations.elastic.condensation import condense
from supple.formulations.elastic.superelement_body import Patch, tie_nodes

GIVEN = {
    "materials": {"m": {"youngs_modulus": 70e9, "density": 2700}},
    "sections": {"s": {"rectangle": [0.02, 0.01]}, "t": {"tube": [0.03, 0.02]}},
}
POINTS = {"A": [0.0, 0.0, 0.0], "B": [0.4, 0.1, 0.1], "C": [0.7, 0.2, 0.0], "D": [0.6, -0.3, 0.1]}


def frame(points=POINTS, plane=None, touched=("A", "C", "D"), **more):
    beam = {"material": "m", "elements": 4, **more}
    beams = [{"from": a, "to": b, "section": s, **beam} for (a, b), s in zip(("AB", "BC", "BD"), "sst", strict=True)]
    return single({"beams": beams, "at": points["A"]}, points=points, touched=touched, plane=plane, **GIVEN)


def exported(folder, body, how):
    """Files of a body of beams, its nodes numbered from 10 in tens."""
    table = np.column_stack([10 * (1 + np.arange(len(body.nodes))), body.nodes])
    if how == "npz":
        np.savez(folder / "arm.npz", K=body.K.toarray(), M=body.M.toarray(), nodes=table)
        return {"file": str(folder / "arm.npz")}
    if how == "sparse npz":
        parts = {}
        for name, matrix in (("K", body.K.tocoo()), ("M", body.M.tocoo())):
            parts |= {f"{name}_row": matrix.row, f"{name}_col": matrix.col, f"{name}_data": matrix.data}
        np.savez(folder / "arm.npz", nodes=table, **parts)
        return {"file": str(folder / "arm.npz")}
    names = {key: str(folder / f"arm_{key}.mtx") for key in ("mass", "stiffness")}
    for key, matrix in (("mass", body.M), ("stiffness", body.K)):
        scipy.io.mmwrite(names[key], sp.coo_matrix(matrix), precision=17)
    lines = [",".join(f"{value!r}" if i else f"{value:.0f}" for i, value in enumerate(row.tolist())) for row in table]
    (folder / "arm_nodes.csv").write_text("\n".join(["number,x,y,z", *lines]))
    return {**names, "nodes": str(folder / "arm_nodes.csv")}


@pytest.mark.parametrize("how", ["npz", "sparse npz", "matrix market"])
def test_the_matrices_of_a_frame_give_its_frequencies(tmp_path, how):
    original = frame()
    described = {"superelement": exported(tmp_path, original, how), "at": POINTS["A"]}
    body = single(described, points=POINTS, touched=("A", "C", "D"))
    for place in ("A", "C", "D"):
        assert body.node_at(np.array(POINTS[place])) in body.interface
    for hold in ([], ["A"], ["C", "D"]):
        exact, found = (
            hertz(one, [column for place in hold for column in columns(one, POINTS[place])]) for one in (original, body)
        )
        skip = 0 if hold else 6
        assert np.max(relative(found[skip:20], exact[skip:20])) < 1e-9
    band = 2 * np.pi * 300.0
    pairs = [condense(one, band) for one in (original, body)]
    assert pairs[0].size == pairs[1].size
    exact, found = (squares(one.K, one.M, range(6)) for one in pairs)
    assert np.max(relative(found[:4], exact[:4])) < 1e-9


def test_a_named_node_and_a_body_that_is_drawn_elsewhere(tmp_path):
    original = frame()
    files = exported(tmp_path, original, "npz")
    node = original.node_at(np.array(POINTS["C"]))
    shift = np.array([1.0, 2.0, 3.0])
    points = {key: (np.array(at) + shift).tolist() for key, at in POINTS.items()}
    described = {"superelement": {**files, "interfaces": {"C": {"node": 10 * (1 + node)}}}, "at": points["A"]}
    body = single(described, points=points, touched=("C",))
    held = columns(original, POINTS["C"])
    assert np.max(relative(hertz(body, columns(body, POINTS["C"])), hertz(original, held))) < 1e-9


def test_a_point_mass_on_a_superelement_is_that_of_the_frame(tmp_path):
    masses = {"p": {"at": "body.C", "mass": 0.4, "inertia": 0.01}}
    beam = {"material": "m", "elements": 4}
    beams = [{"from": a, "to": b, "section": s, **beam} for (a, b), s in zip(("AB", "BC", "BD"), "sst", strict=True)]
    heavy = single({"beams": beams, "at": POINTS["A"]}, points=POINTS, touched=("C", "D"), point_masses=masses, **GIVEN)
    described = {"superelement": exported(tmp_path, frame(), "npz"), "at": POINTS["A"]}
    body = single(described, points=POINTS, touched=("C", "D"), point_masses=masses)
    assert np.max(relative(hertz(body)[6:20], hertz(heavy)[6:20])) < 1e-9
    pair = [condense(one, 2 * np.pi * 300.0) for one in (heavy, body)]
    assert_allclose(pair[1].rigid_mass, pair[0].rigid_mass, atol=1e-12)
    order = np.concatenate([6 * pair[0].interface.index(heavy.node_at(np.array(POINTS[p]))) + np.arange(6)
                            for p in ("A", "C", "D")])  # fmt: skip
    other = np.concatenate([6 * pair[1].interface.index(body.node_at(np.array(POINTS[p]))) + np.arange(6)
                            for p in ("A", "C", "D")])  # fmt: skip
    for k in range(3):
        exact, found = (one.turning_rigid[k][:, columns] for one, columns in zip(pair, (order, other), strict=True))
        assert_allclose(found, exact, atol=1e-9 * abs(exact).max())


def test_a_planar_mechanism_takes_the_motion_of_its_plane(tmp_path):
    flat = {"A": [0.0, 0.0], "B": [0.4, 0.1], "C": [0.7, 0.3], "D": [0.6, -0.3]}
    deep = {key: [*at, 0.0] for key, at in flat.items()}
    planar = frame(flat, "xy")
    beams = [
        {"from": a, "to": b, "section": s, "material": "m", "elements": 4,
         "up": [flat[a][1] - flat[b][1], flat[b][0] - flat[a][0], 0.0]}
        for (a, b), s in zip(("AB", "BC", "BD"), "sst", strict=True)
    ]  # fmt: skip
    spatial = single({"beams": beams, "at": deep["A"]}, points=deep, touched=("A", "C", "D"), **GIVEN)
    files = exported(tmp_path, spatial, "npz")
    body = single({"superelement": files, "at": flat["A"]}, points=flat, touched=("A", "C", "D"), plane="xy")
    band = 2 * np.pi * 500.0
    small, exact = condense(body, band), condense(planar, band)
    assert small.width == 3
    # the condensed planar frame itself is within 1e-6 of ω²
    for held in ([0, 1, 2], [0, 1, 3, 4]):
        wanted = squares(exact.K, exact.M, held)
        wanted = wanted[(wanted < band**2) & (wanted > 1.0)]
        found = squares(small.K, small.M, held)
        assert len(wanted) > 1
        assert all(np.min(relative(found, value)) < 3e-6 for value in wanted)


# ------------------------------------------------------------------------------------------- patches


def test_ties_carry_rigid_motions_exactly():
    random = np.random.default_rng(8)
    positions = random.normal(size=(9, 3))
    degrees = np.full(9, 3)
    patches = [
        Patch(np.array([0.2, 0.1, 0.3]), np.arange(4), False),
        Patch(np.array([-0.5, 0.4, 0.0]), np.arange(4, 8), True),
    ]
    found = tie_nodes(positions, degrees, patches)
    T = rigid_body_motions(found.nodes, found.node, found.component, 6)
    expected = rigid_body_motions(positions, np.repeat(np.arange(9), 3), np.tile(np.arange(3), 9), 6)
    assert_allclose(found.S @ T, expected, atol=1e-12)
    assert found.S.shape == (27, 12 + (27 - 12 - 6))


def test_an_average_tie_takes_the_mean_motion_and_spreads_forces_without_stiffness():
    random = np.random.default_rng(9)
    positions = random.normal(size=(6, 3))
    place = np.array([0.3, 0.2, -0.1])
    found = tie_nodes(positions, np.full(6, 3), [Patch(place, np.arange(6), True)])
    q = random.normal(size=found.S.shape[1])
    u = (found.S @ q).reshape(6, 3)
    # the best rigid motion of the patch, at the place, is what the place does
    A = np.vstack([np.column_stack([np.eye(3), np.array([np.cross(e, x - place) for e in np.eye(3)]).T])
                   for x in positions])  # fmt: skip
    assert_allclose(np.linalg.lstsq(A, u.ravel(), rcond=None)[0], q[:6], atol=1e-11)
    assert np.linalg.matrix_rank(found.S.toarray()) == 18  # no motion of the patch is lost


def solid_bar(elements=(12, 2, 2), length=1.0, side=0.1):
    """K, M and node table of a square bar of quadratic bricks."""
    skfem = pytest.importorskip("skfem")
    from skfem.models.elasticity import lame_parameters, linear_elasticity

    x, y, z = (np.linspace(a, b, n + 1) for a, b, n in zip((0, -side / 2, -side / 2), (length, side / 2, side / 2),
                                                         elements, strict=True))  # fmt: skip
    mesh = skfem.MeshHex.init_tensor(x, y, z)
    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementHex2()), intorder=4)
    K = linear_elasticity(*lame_parameters(70e9, 0.3)).assemble(basis)
    M = skfem.BilinearForm(lambda u, v, w: 2700.0 * skfem.helpers.dot(u, v)).assemble(basis)
    at = np.round(basis.doflocs.T, 9)
    order = np.lexsort((np.arange(len(at)), at[:, 2], at[:, 1], at[:, 0]))  # three rows a place, x, y, z in turn
    places = at[order].reshape(-1, 3, 3)
    assert np.ptp(places, axis=1).max() < 1e-9
    return K[order][:, order], M[order][:, order], places[:, 0]


@pytest.fixture(scope="module")
def bar_file(tmp_path_factory):
    K, M, nodes = solid_bar()
    folder = tmp_path_factory.mktemp("bar")
    parts = {}
    for name, matrix in (("K", K.tocoo()), ("M", M.tocoo())):
        parts |= {f"{name}_row": matrix.row, f"{name}_col": matrix.col, f"{name}_data": matrix.data}
    np.savez(folder / "bar.npz", nodes=nodes, **parts)
    return str(folder / "bar.npz")


@pytest.mark.slow
@pytest.mark.parametrize("ties", [("rigid", "rigid"), ("rigid", "average"), ("average", "average")])
def test_a_solid_bar_has_the_frequencies_of_a_timoshenko_beam(bar_file, ties):
    points = {"A": [0, 0, 0], "B": [1, 0, 0]}
    with np.load(bar_file) as arrays:
        along = arrays["nodes"][:, 0]
    faces = [np.flatnonzero(np.abs(along - x) < 1e-9).tolist() for x in (0.0, 1.0)]
    interfaces = {place: {"nodes": face, "tie": tie} for place, face, tie in zip("AB", faces, ties, strict=True)}
    solid = single({"superelement": {"file": bar_file, "interfaces": interfaces}, "at": "A", "mass": 27.0},
                   points=points, touched=("A", "B"))  # fmt: skip
    beam = single(
        {"beam": ["A", "B"], "section": "s", "material": "m", "elements": 40, "theory": "timoshenko"},
        points=points, touched=("B",),
        sections={"s": {"rectangle": [0.1, 0.1], "shear_y": 0.85, "shear_z": 0.85}}, materials=GIVEN["materials"],
    )  # fmt: skip
    band = 2 * np.pi * 2500.0
    found, exact = (condense(body, band) for body in (solid, beam))
    assert_allclose(found.rigid_mass, exact.rigid_mass, atol=2e-3 * 27.0)
    for held, count in ((range(6), 7), ([], 6)):  # a cantilever: bending, twist, stretch; and free
        compared = [np.sqrt(squares(one.K, one.M, held)[0 if held else 6 :][:count]) for one in (found, exact)]
        assert np.max(relative(*compared)) < 0.01


def test_a_patch_of_three_nodes_in_a_line_is_refused(bar_file):
    with np.load(bar_file) as arrays:
        nodes = arrays["nodes"]
    line = np.flatnonzero((np.abs(nodes[:, 0]) < 1e-9) & (np.abs(nodes[:, 1]) < 1e-9))
    interfaces = {"A": {"nodes": line.tolist()}}
    with pytest.raises(InputError, match=r"nodes .*on one line.*add nodes off the line"):
        single({"superelement": {"file": bar_file, "interfaces": interfaces}, "at": "A"}, points={"A": [0, 0, 0]})


@pytest.mark.parametrize(
    ("interfaces", "message"),
    [
        ({"A": {"node": 1}}, r"node 1 has three degrees of freedom.*joint needs six; .*within:"),
        ({"A": {"nodes": [1, 2, 99999]}}, r"node 99999; .*625 nodes, 0 to 624"),
        ({"A": {"within": 1e-3}}, r"within 0\.001 m .*got 1.*nearest at 0 m\); increase within:"),
        ({"A": {"within": 0.08}, "B": {"within": 0.08}}, "belongs to two interfaces"),
        ({"B": {"within": 0.05}}, r'joint "held": body "body" has no interface at \(0, 0, 0\).*interfaces:'),
    ],
)
def test_interfaces_that_do_not_fit_are_refused(bar_file, interfaces, message):
    points = {"A": [0, 0, 0], "B": [0.05, 0, 0]}
    with pytest.raises(InputError, match=message):
        single({"superelement": {"file": bar_file, "interfaces": interfaces}, "at": "A"}, points=points)


# ------------------------------------------------------------------------------------------- bad matrices


def asymmetric(K, M, nodes):
    K[3, 8] += 1e-3 * K.max()
    return K, M, nodes


def grounded(K, M, nodes):
    K[6, 6] += 1e-3 * K.max()  # holds the second node along x
    return K, M, nodes


def wrong_size(K, M, nodes):
    return K, M[:-6, :-6], nodes


def two_pieces(K, M, nodes):
    return block_diag(K, K), block_diag(M, M), np.vstack([nodes, nodes + 1.0])


def negative(K, M, nodes):
    return -K, M, nodes


def hollow(K, M, nodes):
    """A six-degree node without a mesh around it."""
    nothing = np.zeros((6, 6))
    return block_diag(K, nothing), block_diag(M, nothing), np.vstack([nodes, nodes[-1] + 1.0])


def millimetres(K, M, nodes):
    return K, M, 1000.0 * nodes


def unequal(K, M, nodes):
    M[2::6, 2::6] *= 2.0
    return K, M, nodes


def without_a_mass(K, M, nodes):
    M[8, 8] = 0.0
    return K, M, nodes


def negative_mass(K, M, nodes):
    M[8, 8] *= -1.0
    return K, M, nodes


def indefinite(K, M, nodes):
    M[0, 1] = M[1, 0] = 1.5 * np.sqrt(M[0, 0] * M[1, 1])
    return K, M, nodes


def singular(K, M, nodes):
    """Two degrees of freedom that can only share their mass."""
    for i in (0, 7):
        M[i], M[:, i] = 0.0, 0.0
    M[np.ix_([0, 7], [0, 7])] = 1.0
    return K, M, nodes


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (asymmetric, "stiffness matrix is not symmetric"),
        (grounded, r"resists moving along x .*fewer than six"),
        (wrong_size, "does not fit"),
        (two_pieces, "more than six zero-energy motions: .*one connected body"),
        (negative, "degree of freedom without stiffness"),
        (hollow, "node 13 has a degree of freedom without stiffness"),
        (millimetres, "resists turning about"),
        (unequal, "different masses along x, y and z"),
        (without_a_mass, r"mass matrix is not positive semidefinite: a diagonal entry is zero.*node 1\)"),
        (negative_mass, r"mass matrix is not positive semidefinite: a diagonal entry is negative \(node 1\)"),
        (
            indefinite,
            "mass matrix is not positive semidefinite: a motion, most of it at node 0, has negative kinetic energy",
        ),
        (singular, "mass matrix is singular: a motion, most of it at node [01], has no kinetic energy"),
    ],
)
def test_bad_matrices_are_refused(tmp_path, spoil, message):
    body = frame()
    K, M, nodes = spoil(body.K.toarray(), body.M.toarray(), body.nodes.copy())
    np.savez(tmp_path / "bad.npz", K=K, M=M, nodes=nodes)
    with pytest.raises(InputError, match=message) as caught:
        single({"superelement": {"file": str(tmp_path / "bad.npz")}, "at": POINTS["A"]}, points=POINTS)
    assert caught.value.path[:3] == ("bodies", "body", "superelement")


@pytest.mark.parametrize(("by", "what"), [(1.5, "not positive semidefinite"), (1.0, "singular")])
def test_a_large_mass_matrix_is_judged_by_its_pivots(bar_file, tmp_path, by, what):
    """As many negative pivots as negative eigenvalues (Sylvester), without an eigenproblem."""
    with np.load(bar_file) as arrays:
        held = dict(arrays)
    M = sp.coo_array((held["M_data"], (held["M_row"], held["M_col"]))).tolil()
    assert M.shape[0] > 600
    for i in (0, 900):  # two degrees of freedom, far apart, coupled to each other alone
        M[i], M[:, [i]] = 0.0, 0.0
        M[i, i] = 1.0
    M[0, 900] = M[900, 0] = by
    M = M.tocoo()
    held |= {"M_row": M.row, "M_col": M.col, "M_data": M.data}
    np.savez(tmp_path / "bad.npz", **held)
    described = {"file": str(tmp_path / "bad.npz"), "interfaces": {"A": {"within": 0.08}}}
    with pytest.raises(InputError, match=f"mass matrix is {what}: a motion"):
        single({"superelement": described, "at": "A"}, points={"A": [0, 0, 0]})


def test_a_mass_off_by_a_thousand_names_the_units(tmp_path):
    body = frame()
    np.savez(tmp_path / "tonnes.npz", K=body.K.toarray(), M=1e-3 * body.M.toarray(), nodes=body.nodes)
    mass = body.rigid_motions()[:, 0] @ (body.M @ body.rigid_motions()[:, 0])
    mechanism = Mechanism(
        points=POINTS, joints={"A": {"free": ["ground", "body"]}},
        bodies={"body": {"superelement": {"file": str(tmp_path / "tonnes.npz")}, "at": "A", "mass": mass}},
    )  # fmt: skip
    with pytest.raises(InputError, match=r"factor of 1e-3.*SI units"):
        mass_properties(Drawing(mechanism))
