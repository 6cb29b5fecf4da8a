"""The store keeps what it was given, tells what it no longer has, and touches no file but its own."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from supple import InputError, SuppleWarning
from supple.reduction.store import Sample, SampleStore

WIDTH = 5
KEYS = [np.array([float(i), -float(i)]).tobytes() for i in range(1200)]  # more than one query takes
SAMPLES = [Sample(i % 7 > 0, np.random.default_rng(i).normal(size=WIDTH)) for i in range(len(KEYS))]


def filled(path) -> None:
    with SampleStore(path, "this", WIDTH) as store:
        store.add(KEYS, SAMPLES)


def test_samples_come_back_bit_for_bit(tmp_path):
    filled(tmp_path / "samples")
    with SampleStore(tmp_path / "samples", "this", WIDTH) as store:
        found = store.find([*KEYS, b"unknown"])
        assert len(store) == len(found) == len(KEYS)
        for key, sample in zip(KEYS, SAMPLES, strict=True):
            assert found[key].valid == sample.valid
            assert_array_equal(found[key].coefficients, sample.coefficients)


def test_sets_do_not_mix(tmp_path):
    filled(tmp_path / "samples")
    with SampleStore(tmp_path / "samples", "that", WIDTH) as store:
        assert len(store) == 0
        assert store.find(KEYS) == {}


def test_closing_leaves_one_file(tmp_path):
    filled(tmp_path / "samples")
    assert [item.name for item in tmp_path.iterdir()] == ["samples"]


def test_without_a_file_samples_stay_in_memory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with SampleStore(None, "this", WIDTH) as store:
        store.add(KEYS[:3], SAMPLES[:3])
        assert len(store.find(KEYS)) == 3
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("damage", ["bit", "short", "text", "flag"])
def test_a_damaged_sample_is_told_and_left_out(tmp_path, damage):
    filled(tmp_path / "samples")
    key, sample = KEYS[3], SAMPLES[3]
    blob = bytearray(sample.coefficients.tobytes())
    blob[11] ^= 4
    change = {
        "bit": ("coefficients", bytes(blob)), "short": ("coefficients", bytes(blob[:8])),
        "text": ("coefficients", "rubbish"), "flag": ("valid", 1 - sample.valid),
    }[damage]  # fmt: skip
    database = sqlite3.connect(tmp_path / "samples")
    with database:
        database.execute(f"UPDATE samples SET {change[0]} = ? WHERE theta = ?", (change[1], key))
    database.close()
    with SampleStore(tmp_path / "samples", "this", WIDTH) as store:
        with pytest.warns(SuppleWarning, match="1 sample in .* did not match the checksum"):
            found = store.find(KEYS)
        assert set(KEYS) - set(found) == {key}
        store.add([key], [sample])
        assert_array_equal(store.find([key])[key].coefficients, sample.coefficients)


def test_a_damaged_file_is_set_aside(tmp_path):
    path = tmp_path / "samples"
    filled(path)
    content = bytearray(path.read_bytes())
    content[100:4096] = bytes(3996)  # the table of contents
    path.write_bytes(content)
    with pytest.warns(SuppleWarning, match="is damaged; set aside"):
        store = SampleStore(path, "this", WIDTH)
    with store:
        assert len(store) == 0
        store.add(KEYS[:1], SAMPLES[:1])
    assert path.with_name("samples.damaged").read_bytes() == bytes(content)


def test_a_file_of_another_kind_is_refused_and_not_touched(tmp_path):
    path = tmp_path / "thesis.txt"
    path.write_text("Chapter 1. It was a dark and stormy night, and the four-bar stood at its dead point.")
    before = path.read_bytes()
    with pytest.raises(InputError, match="not a store of samples"):
        SampleStore(path, "this", WIDTH)
    assert path.read_bytes() == before


def test_a_missing_folder_is_told(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        SampleStore(tmp_path / "nowhere" / "samples", "this", WIDTH)
