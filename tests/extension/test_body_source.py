"""A source of elastic bodies from one file: lumped masses and springs as lines of text."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.description.elastic.superelement_files import rigid_body_modes, superelement_matrices

LUMPED = '''
from pathlib import Path

import numpy as np
import supple


def lumped(path):
    """Lines of "node x y z m J", then the lines of the stiffness matrix."""
    lines = [line.split() for line in Path(path).read_text().splitlines()]
    nodes = np.array([[float(word) for word in line[1:]] for line in lines if line[0] == "node"])
    if not len(nodes):
        raise ValueError("there is no node")
    stiffness = np.array([[float(word) for word in line[1:]] for line in lines if line[0] == "row"])
    mass = np.diag(np.concatenate([[m] * 3 + [J] * 3 for *_, m, J in nodes]))
    if lines[-1] == ["complex"]:
        mass = mass * 1j
    if lines[-1] == ["pair"]:
        return mass, stiffness
    if lines[-1] == ["bug"]:
        return {}["mass"]
    return mass, stiffness, nodes[:, :3]


LUMPED = supple.BodySource(".lmp", "Lumped masses and a stiffness matrix as text.", lumped)
'''
ARM = """
supple: 1
name: arm
points: {A: [0, 0, 0], B: [0.5, 0, 0]}
bodies: {arm: {superelement: {file: FILE}MORE}}
joints: {A: {weld: [ground, arm]}}
sensors: {tip: {position: arm.B}}
"""
NODES = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.5, 0.3, 0.1]])
MODES = """
import json, supple
names = ("mine.yaml", "upper.yaml", "numpy.yaml")
print(json.dumps([supple.modes(supple.load(name), count=4).frequencies_hz.tolist() for name in names]))
"""


def body() -> tuple[np.ndarray, np.ndarray]:
    """Mass and stiffness of three nodes; the stiffness resists everything but rigid motions."""
    R = rigid_body_modes(NODES, np.full(3, 6), np.zeros(3))
    P = np.eye(18) - R @ np.linalg.pinv(R)
    A = np.random.default_rng(4).normal(size=(18, 18))
    return np.diag(np.tile([2.0] * 3 + [0.02] * 3, 3)), P @ A @ A.T @ P * 1e5


def text(K: np.ndarray, last: str = "") -> str:
    nodes = [f"node {x!r} {y!r} {z!r} 2.0 0.02" for x, y, z in NODES.tolist()]
    rows = ["row " + " ".join(map(repr, row)) for row in K.tolist()]
    return "\n".join([*nodes, *rows, *([last] if last else [])])


@pytest.fixture
def lumped(installed):
    found = installed(LUMPED, "LUMPED")
    (found.folder / "arm.lmp").write_text(text(body()[1]))
    return found


def test_a_body_moves_as_its_matrices_do(lumped):
    M, K = body()
    (lumped.folder / "ARM.LMP").write_text(text(K))
    np.savez(lumped.folder / "arm.npz", K=K, M=M, nodes=NODES)
    for name, file in (("mine", "arm.lmp"), ("upper", "ARM.LMP"), ("numpy", "arm.npz")):
        (lumped.folder / f"{name}.yaml").write_text(ARM.replace("FILE", file).replace("MORE", ""))
    mine, upper, ours = lumped.python(MODES)
    assert_allclose(mine, ours, rtol=1e-9)  # the same numbers, written as text to the last digit
    assert_allclose(upper, ours, rtol=1e-9)
    assert lumped.supple("check", "mine.yaml")["name"] == "arm"


K = body()[1]
SKEW = K.copy()
SKEW[3, 4] += 1e5
WRONG = {
    "nothing": ("row 1\nrow 2", "", 'cannot be read (there is no node)'),
    "a bug": (text(K, "bug"), "", "cannot be read (KeyError: 'mass')"),
    "two arrays": (text(K, "pair"), "", "cannot be read (the reader returns"),
    "complex": (text(K, "complex"), "", 'cannot be read (its mass matrix has entries of type "complex128"'),
    "size": (text(K[:12, :12]), "", "the stiffness matrix is 12 by 12, which does not fit 3 nodes"),
    "infinite": (text(np.where(K.max() == K, np.inf, K)), "", "the stiffness matrix has an entry that is not finite"),
    "symmetry": (text(SKEW), "", "the stiffness matrix is not symmetric"),
    "units": (text(K), ", mass: 0.006", "its mass matrix gives 6 kg, but the file states 0.006 kg"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_fault_names_the_file_and_its_reader(lumped, name):
    content, more, said = WRONG[name]
    (lumped.folder / "arm.lmp").write_text(content)
    (lumped.folder / "arm.yaml").write_text(ARM.replace("FILE", "arm.lmp").replace("MORE", more))
    found = lumped.supple("modes", "arm.yaml", status=1)
    assert 'body "arm"' in found
    assert '"arm.lmp" (reader ".lmp")' in found
    assert said in found


def test_an_ending_that_nobody_reads_is_told(lumped):
    (lumped.folder / "arm.lpm").write_text(text(K))
    (lumped.folder / "arm.yaml").write_text(ARM.replace("FILE", "arm.lpm").replace("MORE", ""))
    found = lumped.supple("check", "arm.yaml", status=1)
    assert '"arm.lpm" cannot be read' in found
    assert "supported files: .npz, .mtx, .lmp" in found


def test_the_ending_tells_bodies_apart(tmp_path):
    """One content under two endings, which two sources read differently."""

    def heavier(factor):
        def read(path):
            M, K = body()
            return factor * M, K, NODES

        return read  # fmt: skip

    for ending, factor in ((".once", 1.0), (".twice", 2.0)):
        supple.register(supple.BodySource(ending, "", heavier(factor)))
        (tmp_path / f"arm{ending}").write_text("the same")
    once, again, twice = (
        supple.Superelement(file=str(tmp_path / name)) for name in ("arm.once", "arm.ONCE", "arm.twice")
        if (tmp_path / name).exists() or (tmp_path / name).write_text("the same")
    )  # fmt: skip
    assert once == again
    assert once.digest == twice.digest
    assert once != twice
    masses = [superelement_matrices(one).M.diagonal()[0] for one in (once, again, twice)]
    assert masses == [2.0, 2.0, 4.0]


@pytest.mark.parametrize("name", ["lmp", ".LMP", ".tar.gz", "", "."])
def test_a_name_is_an_ending(name):
    with pytest.raises(supple.InputError, match=r'body source .*extension.*".lmp"'):
        supple.BodySource(name, "", lambda path: None)


def test_its_keys_are_those_of_a_superelement():
    with pytest.raises(supple.InputError, match=r"keys .*\('mass',\).*use \('file',\)"):
        supple.BodySource(".lmp", "", lambda path: None, keys=("mass",))
