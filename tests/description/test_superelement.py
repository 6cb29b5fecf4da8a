"""Superelements as described: their files, what is read from them, and the mass that follows."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from numpy.testing import assert_allclose

import supple
from supple.description.drawing import Drawing
from supple.description.elastic.superelement_files import rigid_body_modes, superelement_matrices
from supple.description.mass_properties import mass_properties
from supple.diagnostics import InputError

NODES = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.5, 0.3, 0.0], [0.0, 0.3, 0.2]])


def lumped(degrees):
    """Masses (and moments) at the nodes, and a stiffness that knows the rigid-body motions."""
    rng = np.random.default_rng(4)
    mass = rng.uniform(1.0, 2.0, len(NODES))
    moments = rng.uniform(0.01, 0.02, len(NODES))
    M = np.diag([value for m, J in zip(mass, moments, strict=True) for value in [m] * 3 + [J] * (degrees - 3)])
    R = rigid_body_modes(NODES, np.full(len(NODES), degrees), np.zeros(3))
    A = rng.normal(size=M.shape)
    P = np.eye(len(M)) - R @ np.linalg.pinv(R)
    return P @ A @ A.T @ P, M, mass, moments if degrees == 6 else np.zeros(len(NODES))


def written(folder, K, M, numbers=(1, 2, 3, 4)):
    scipy.io.mmwrite(folder / "K.mtx", scipy.sparse.coo_matrix(K), precision=17)
    scipy.io.mmwrite(folder / "M.mtx", scipy.sparse.coo_matrix(M), precision=17)
    lines = [f"{n},{x!r},{y!r},{z!r}" for n, (x, y, z) in zip(numbers, NODES.tolist(), strict=True)]
    (folder / "nodes.csv").write_text("number,x,y,z\n" + "\n".join(lines) + "\n")
    return "{mass: M.mtx, stiffness: K.mtx, nodes: nodes.csv}"


def mechanism_text(superelement, more=""):
    return (
        "supple: 1\npoints: {O: [0, 0, 0]}\nbodies:\n"
        f"  arm: {{superelement: {superelement}{more}}}\n"
        "joints: {O: {revolute: [ground, arm], axis: z}}\nactuators: {motor: {joint: O}}\n"
    )


@pytest.mark.parametrize("degrees", [3, 6])
def test_its_mass_is_that_of_its_rigid_body_motions(tmp_path, degrees):
    K, M, mass, moments = lumped(degrees)
    mechanism = supple.loads(mechanism_text(written(tmp_path, K, M)), folder=tmp_path)
    found = mass_properties(Drawing(mechanism))["arm"]
    center = mass @ NODES / mass.sum()
    d = NODES - center
    J = np.einsum("n,n,ij->ij", mass, (d * d).sum(1), np.eye(3)) - np.einsum("n,ni,nj->ij", mass, d, d)
    assert_allclose(found.mass, mass.sum(), rtol=1e-13)
    assert_allclose(found.center, center, atol=1e-13)
    assert_allclose(found.inertia, J + moments.sum() * np.eye(3), atol=1e-13)


def test_the_mass_counts_from_where_the_body_is_drawn(tmp_path):
    """The inertia about the hinge is the same wherever the node table begins."""
    K, M, mass, _ = lumped(3)
    element = written(tmp_path, K, M)
    about_hinge = (mass * (NODES[:, 0] ** 2 + NODES[:, 1] ** 2)).sum()
    assert_allclose(
        supple.local(supple.loads(mechanism_text(element), folder=tmp_path), rigid=True).M, about_hinge, rtol=1e-13
    )
    moved = mechanism_text(element, ", at: [0.1, 0, 0]")
    x = NODES[:, 0] + 0.1
    expected = (mass * (x**2 + NODES[:, 1] ** 2)).sum()
    assert_allclose(supple.local(supple.loads(moved, folder=tmp_path), rigid=True).M, expected, rtol=1e-13)


@pytest.mark.parametrize("sparse", [False, True])
def test_one_file_of_arrays_says_the_same(tmp_path, sparse):
    K, M, *_ = lumped(6)
    written(tmp_path, K, M)
    arrays = {"nodes": np.column_stack([[1, 2, 3, 4], NODES])}
    for name, matrix in (("K", K), ("M", M)):
        entries = scipy.sparse.coo_array(matrix)
        if sparse:
            arrays |= {f"{name}_row": entries.row, f"{name}_col": entries.col, f"{name}_data": entries.data}
        else:
            arrays[name] = matrix
    np.savez(tmp_path / "arm.npz", **arrays)
    texts = [mechanism_text("{mass: M.mtx, stiffness: K.mtx, nodes: nodes.csv}"), mechanism_text("{file: arm.npz}")]
    one, other = (
        superelement_matrices(supple.loads(text, folder=tmp_path).bodies["arm"].superelement) for text in texts
    )
    for name in ("K", "M"):
        assert_allclose(getattr(one, name).toarray(), getattr(other, name).toarray(), atol=1e-13)
    assert_allclose(one.positions, other.positions)
    assert one.degrees.tolist() == other.degrees.tolist() == [6, 6, 6, 6]


def test_paths_start_from_the_mechanism_file(tmp_path, monkeypatch):
    K, M, *_ = lumped(3)
    folder = tmp_path / "arm"
    folder.mkdir()
    (folder / "mechanism.yaml").write_text(mechanism_text(written(folder, K, M)))
    monkeypatch.chdir(tmp_path)
    mechanism = supple.load("arm/mechanism.yaml")
    monkeypatch.chdir(folder)  # where the work goes on does not matter
    assert supple.loads(supple.to_yaml(mechanism)) == mechanism
    assert_allclose(mass_properties(Drawing(mechanism))["arm"].mass, np.trace(M) / 3.0)


def test_another_content_is_another_mechanism(tmp_path):
    K, M, *_ = lumped(3)
    text = mechanism_text(written(tmp_path, K, M))
    before = supple.loads(text, folder=tmp_path)
    kept = supple.to_yaml(before)
    written(tmp_path, K, 2.0 * M)
    after = supple.loads(text, folder=tmp_path)
    assert before != after
    assert supple.to_yaml(after) != kept
    assert_allclose(mass_properties(Drawing(after))["arm"].mass, 2.0 * np.trace(M) / 3.0)
    with pytest.raises(InputError, match=r'"arm": .*files have changed .*remove digest'):
        supple.loads(kept)


def test_nodes_may_differ_in_their_degrees(tmp_path):
    _, M, mass, _ = lumped(3)
    moments = [0.3, 0.4, 0.5]
    K = np.zeros((15, 15))
    written(tmp_path, K, np.block([[M, np.zeros((12, 3))], [np.zeros((3, 12)), np.diag(moments)]]))
    lines = [f"{i},{x!r},{y!r},{z!r},{6 if i == 3 else 3}" for i, (x, y, z) in enumerate(NODES.tolist())]
    (tmp_path / "nodes.csv").write_text("\n".join(lines))
    element = "{mass: M.mtx, stiffness: K.mtx, nodes: nodes.csv}"
    mechanism = supple.loads(mechanism_text(element), folder=tmp_path)
    arrays = superelement_matrices(mechanism.bodies["arm"].superelement)
    assert arrays.degrees.tolist() == [3, 3, 3, 6]
    found = mass_properties(Drawing(mechanism))["arm"]
    d = NODES - mass @ NODES / mass.sum()
    J = np.einsum("n,n,ij->ij", mass, (d * d).sum(1), np.eye(3)) - np.einsum("n,ni,nj->ij", mass, d, d)
    assert_allclose(found.inertia, J + np.diag(moments), atol=1e-13)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("1,0,0,0\n1,1,0,0\n", "node 1 is listed twice"),
        ("1,0,0,0\n2,1,0\n", "node 2 has 3 entries"),
        ("1,0,0,0\n2,nan,0,0\n", '"nan" of node 2'),
        ("1,0,0,0,5\n2,1,0,0,6\n", "node 1 has neither 3 nor 6"),
        ("", "node table .*0 by 4"),
        ("1,0,0,0\n2,1,0,0\n3,0,1,0\n", "does not fit 3 nodes"),
        ("1,0,0,0\nx,1,0,0\n", "cannot be read"),
    ],
)
def test_a_wrong_node_table_is_named(tmp_path, table, message):
    K, M, *_ = lumped(3)
    element = written(tmp_path, K, M)
    (tmp_path / "nodes.csv").write_text(table)
    with pytest.raises(InputError, match=message) as found:
        supple.loads(mechanism_text(element), folder=tmp_path)
    assert found.value.line == 4


def test_files_that_are_something_else_are_refused(tmp_path):
    K, M, *_ = lumped(3)
    element = written(tmp_path, K, M)
    np.savez(tmp_path / "objects.npz", nodes=np.array([{"a": 1}], dtype=object))
    (tmp_path / "text.npz").write_text("not an archive")
    np.savez(tmp_path / "half.npz", nodes=NODES)
    for name in ("objects.npz", "text.npz", "half.npz"):
        with pytest.raises(InputError, match=f'"{name}" cannot be read'):
            supple.loads(mechanism_text(f"{{file: {name}}}"), folder=tmp_path)
    (tmp_path / "K.mtx").write_text("%%MatrixMarket matrix array real general\n1000000 1000000\n1\n")
    with pytest.raises(InputError, match=r'"K\.mtx" cannot be read \(.*shorter than its header'):
        supple.loads(mechanism_text(element), folder=tmp_path)
