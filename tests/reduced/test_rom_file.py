"""The file of a reduced model: there and back bit for bit, and every way to damage it."""

import json

import h5py
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from supple import InputError
from supple.approximation.piecewise.piecewise import PiecewiseArrays
from supple.files.seal import seal
from supple.reduced.file import load_model


@pytest.mark.parametrize("name", ["four_bar", "orthoglide_direct", "flexible", "stiffened", "flexible_direct"])
def test_there_and_back_bit_for_bit(name, request, tmp_path):
    model = request.getfixturevalue(name)
    path = model.save(tmp_path / "modèle.rom")
    again = load_model(path)
    assert [item.name for item in tmp_path.iterdir()] == ["modèle.rom"]
    for mine, theirs in zip(model.fitted.arrays, again.fitted.arrays, strict=True):
        assert (mine.dtype, mine.shape, mine.tobytes()) == (theirs.dtype, theirs.shape, theirs.tobytes())
    for field in (
        "coordinates",
        "theta",
        "inputs",
        "outputs",
        "columns",
        "dry_forces",
        "christoffel",
        "force",
        "limits",
    ):
        assert getattr(model.layout, field) == getattr(again.layout, field)
    assert list(model.layout.columns) == list(again.layout.columns)
    assert (model.name, model.error, model.provenance) == (again.name, again.error, again.provenance)
    theta = model.fitted.arrays.leaves_f[0, 0]
    assert_array_equal(model.evaluate(theta).christoffel, again.evaluate(theta).christoffel)
    again.save(tmp_path / "second.rom")
    assert load_model(tmp_path / "second.rom").layout.columns == model.layout.columns


@pytest.mark.parametrize("content", [b"", b"supple: 1\n", b"\x89HDF\r\n\x1a\n" + bytes(100), bytes(5000)])
def test_other_files_are_refused(content, tmp_path):
    path = tmp_path / "x.rom"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"x\.rom"):
        load_model(path)


def test_a_missing_file_and_a_foreign_one(tmp_path):
    with pytest.raises(InputError, match=r"none\.rom: .*does not exist; check the name"):
        load_model(tmp_path / "none.rom")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = [1.0]
    with pytest.raises(InputError, match="not a reduced model"):
        load_model(tmp_path / "other.h5")


def replaced(name, change):
    def spoil(file):
        value = change(file[name][()])
        del file[name]
        file[name] = value

    return spoil


def layout(**facts):
    return replaced("layout", lambda text: json.dumps({**json.loads(text), **facts}))


def entry(name, place, value):
    def change(array):
        array[place] = value
        return array

    return replaced(name, change)


def attribute(name, value):
    def spoil(file):
        file.attrs[name] = value

    return spoil


def without(name):
    def spoil(file):
        del file[name]

    return spoil


def linked(name, link):
    def spoil(file):
        del file[name]
        file[name] = link

    return spoil


def larger(**options):
    """Coefficients of a terabyte in a file that is small: packed, or never written."""

    def spoil(file):
        del file["fitted/coefficients"]
        file.create_dataset("fitted/coefficients", shape=(2**33, 16), dtype="f8", **options)

    return spoil


DAMAGE = {
    "later version": attribute("schema", 99),
    "version of another kind": attribute("schema", "one"),
    "no layout": without("layout"),
    "no provenance": without("provenance"),
    "no constants": without("constants"),
    "layout is no JSON": replaced("layout", lambda _: "{"),
    "layout is a list": replaced("layout", lambda _: "[]"),
    "layout is a number": replaced("layout", lambda _: 3.0),
    "names twice": layout(coordinates=["x", "x", "z"]),
    "names that are none": layout(coordinates="xyz"),
    "theta too large": layout(theta=4),
    "theta a text": layout(theta="3"),
    "columns reversed": layout(columns={"M": [6, 0]}),
    "columns negative": layout(columns={"M": [-6, 0]}),
    "columns of nothing": layout(columns={"mass": [0, 6]}),
    "unknown way": layout(christoffel="guessed"),
    "provenance a list": replaced("provenance", lambda _: "[1]"),
    "not finite": entry("fitted/coefficients", (0, 0), np.nan),
    "infinite box": entry("fitted/leaves_f", (0, 1, 0), np.inf),
    "empty box": entry("fitted/leaves_f", (0, 1, 0), 0.0),
    "roots crossed": entry("fitted/roots_f", (0, 0, 0), 1.0),
    "loop in the tree": entry("fitted/nodes_i", (3, 1), 0),
    "axis outside": entry("fitted/nodes_i", (0, 0), 3),
    "child outside": entry("fitted/nodes_i", (0, 2), 10**6),
    "leaf outside": entry("fitted/nodes_i", (62, 2), -1000),
    "root outside": entry("fitted/roots_i", 0, -1000),
    "rows outside": entry("fitted/leaves_i", (5, 0), 10**6),
    "rows before": entry("fitted/leaves_i", (5, 0), -1),
    "terms outside": entry("fitted/leaves_i", (5, 1), 11),
    "no terms": entry("fitted/leaves_i", (5, 1), 0),
    "degree too high": entry("fitted/leaves_i", (5, 2), 9),
    "index negative": entry("fitted/indices", (1, 0), -1),
    "index too high": entry("fitted/indices", (1, 0), 7),
    "floats for integers": replaced("fitted/nodes_i", lambda array: array.astype(float)),
    "texts for numbers": replaced("fitted/nodes_f", lambda _: "none"),
    "wrong shape": replaced("fitted/coefficients", lambda array: array[:, :-1]),
    "flat": replaced("fitted/leaves_f", lambda array: array.ravel()),
    "a scalar": replaced("fitted/roots_i", lambda array: array[0]),
    "cut short": replaced("fitted/coefficients", lambda array: array[:-1]),
    "a terabyte, packed": larger(chunks=(2**16, 16), compression="gzip"),
    "a terabyte, never written": larger(),
    "soft link": linked("fitted/nodes_f", h5py.SoftLink("/fitted/coefficients")),
    "another file": linked("fitted/nodes_f", h5py.ExternalLink("other.h5", "/x")),
    "another file's group": linked("fitted", h5py.ExternalLink("other.h5", "/")),
    "a group for an array": lambda file: (without("fitted/nodes_f")(file), file.create_group("fitted/nodes_f")),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_files_are_refused_with_their_name(damage, orthoglide_direct, tmp_path):
    path = orthoglide_direct.save(tmp_path / "x.rom")
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other["x"] = np.zeros(63)
    with h5py.File(path, "r+") as file:
        DAMAGE[damage](file)
    seal(path)  # as if it had been written like that
    with pytest.raises(InputError, match=r"x\.rom"):
        load_model(path)


def test_a_model_that_takes_too_much_says_how_to_allow_it(orthoglide_direct, tmp_path, monkeypatch):
    path = orthoglide_direct.save(tmp_path / "x.rom")
    with h5py.File(path, "r+") as file:
        DAMAGE["a terabyte, packed"](file)
    seal(path)
    with pytest.raises(InputError, match=r"takes 1\.1 TB, .*limit of .*SUPPLE_LIMITS=memory=1101GB"):
        load_model(path)


def test_flipped_bytes_never_crash(orthoglide_direct, tmp_path):
    """Either the file is refused, or the spoilt bytes are those that nothing reads."""
    path = orthoglide_direct.save(tmp_path / "x.rom")
    whole = path.read_bytes()
    rng = np.random.default_rng(11)
    for _ in range(60):
        spoilt = bytearray(whole)
        for at in rng.integers(0, min(len(whole), 12000), 4):
            spoilt[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(spoilt)
        try:
            model = load_model(path)
        except InputError:
            continue
        assert set(model.fitted.arrays._fields) == set(PiecewiseArrays._fields)
        model.fitted.locate(rng.uniform(-0.3, 0.1, (50, model.fitted.dimension)))


def test_a_save_that_fails_leaves_nothing_behind(orthoglide_direct, tmp_path):
    from dataclasses import replace

    with pytest.raises(InputError, match="provenance"):
        replace(orthoglide_direct, provenance={"at": object()}).save(tmp_path / "x.rom")
    with pytest.raises(InputError, match="cannot be written"):
        orthoglide_direct.save(tmp_path / "nowhere" / "x.rom")
    assert not list(tmp_path.iterdir())
