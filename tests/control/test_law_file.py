"""The file of a law: there and back bit for bit, and every way to damage it."""

import json

import h5py
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import supple
from supple import InputError
from supple.control import load_law
from supple.control.laws.affine_law import constant_law
from supple.control.laws.affine_matrices import AffineMatrices, Ports, shapes
from supple.control.laws.law_equilibrium import Equilibria, keep_equilibrium
from supple.control.laws.scheduling import scheduled_law
from supple.files.seal import LAW, seal

PORTS = Ports(("lift", "imu.x"), ("lift",), ("pump",), 2e-3, (0.0, 0.01), swept=True)
STATES = 3


def design(sigma) -> AffineMatrices:
    rng = np.random.default_rng(4)
    parts = [0.2 * rng.standard_normal(shape) for shape in shapes(STATES, PORTS)]
    found = AffineMatrices(*(part * (1.0 + 0.3 * np.sin(sigma[0] + k)) for k, part in enumerate(parts)))
    return keep_equilibrium(found, rests(np.array([sigma])).rows()[0])


def rests(points) -> Equilibria:
    parts = [np.sin(points * np.arange(1.0, width + 1.0)) for width in (STATES, PORTS.size, 1)]
    return Equilibria(*parts)


@pytest.fixture(scope="module")
def law():
    return scheduled_law(design, {"lift": (0.0, 1.0)}, PORTS, name="schnell Ω", equilibria=rests)


@pytest.fixture
def path(law, tmp_path):
    return law.save(tmp_path / "schnell.law")


def test_there_and_back_bit_for_bit(law, path):
    again = supple.load(path)
    assert [item.name for item in path.parent.iterdir()] == ["schnell.law"]
    assert (again.name, again.ports, again.states, again.scheduled_by) == (
        law.name, law.ports, law.states, law.scheduled_by
    )  # fmt: skip
    assert (dict(again.error), again.equilibrium.error) == (dict(law.error), law.equilibrium.error)
    assert again.summary == law.summary
    assert again.cost == law.cost
    assert_array_equal(again.memory, law.memory)
    assert_array_equal(again.rest_memory, law.rest_memory)
    sigma = np.array([0.41])
    for mine, theirs in zip(law.at(sigma), again.at(sigma), strict=True):
        assert_array_equal(mine, theirs)
    assert path.read_bytes() == again.save(path.parent / "second.law").read_bytes()


def test_a_constant_law_is_saved_too(tmp_path):
    ports = Ports(("a",), (), ("u",), 1e-3)
    law = constant_law(
        AffineMatrices(*(np.ones(shape) for shape in shapes(2, ports))), ports, commanded_actuators=("u",)
    )
    again = load_law(law.save(tmp_path / "x.law"))
    assert_array_equal(again.at().row(), law.at().row())
    assert again.commanded_actuators == ("u",)


def replaced(name, change):
    def spoil(file):
        value = change(file[name][()])
        del file[name]
        file[name] = value

    return spoil


def facts(**new):
    return replaced("law", lambda text: json.dumps({**json.loads(text), **new}))


def entry(name, place, value):
    def change(array):
        array[place] = value
        return array

    return replaced(name, change)


def without(name):
    def spoil(file):
        del file[name]

    return spoil


def outside(file):
    del file["matrices/template"]
    file["matrices/template"] = h5py.ExternalLink("other.h5", "/x")


DAMAGE = {
    "no facts": without("law"),
    "not JSON": replaced("law", lambda _: "{"),
    "other states": facts(states=4),
    "negative states": facts(states=-1),
    "many states": facts(states=10**9),
    "states as text": facts(states="3"),
    "names twice": facts(measured=["lift", "lift"]),
    "names as numbers": facts(actuators=[1]),
    "scheduled by an unknown": facts(scheduled_by=["elbow"]),
    "not scheduled": facts(scheduled_by=[]),
    "no sample time": facts(sample_time=0.0),
    "previews": facts(previews=["soon"]),
    "errors": facts(error=[1.0]),
    "nan": entry("matrices/template", 0, np.nan),
    "position": entry("matrices/varying", -1, 10**6),
    "order": entry("matrices/varying", 0, 5000),
    "factors": replaced("matrices/factors", lambda array: array[:, :0]),
    "a loop": entry("matrices/fitted/roots_i", 0, 7),
    "a leaf": entry("equilibrium/fitted/leaves_i", (0, 1), 10**6),
    "no fit": without("equilibrium/fitted"),
    "an outside link": outside,
    "later": lambda file: file.attrs.__setitem__("schema", 2),
    "another kind": lambda file: file.attrs.__setitem__("format", "supple reduced model"),
}


@pytest.mark.parametrize("damage", list(DAMAGE))
def test_damaged_files_are_refused_with_their_name(damage, path):
    with h5py.File(path, "r+") as file:
        DAMAGE[damage](file)
    seal(path, LAW)
    with pytest.raises(InputError, match=r"schnell\.law"):
        load_law(path)


def test_changed_bytes_and_other_files_are_refused(path, tmp_path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(InputError, match=r"schnell\.law.*wrong checksum.*design the law again"):
        supple.load(path)
    with pytest.raises(InputError, match="does not exist"):
        load_law(tmp_path / "none.law")
    (tmp_path / "text.law").write_text("supple: 1\n")
    with pytest.raises(InputError, match="is not a control law of supple"):
        supple.load(tmp_path / "text.law")
    with pytest.raises(InputError, match="a control law has no parameters"):
        supple.load(path, parameters={"payload": 3.0})
