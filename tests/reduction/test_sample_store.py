"""The store keeps what it was given, tells what it no longer has, and touches no file but its own."""

from __future__ import annotations

import re
import sqlite3
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from supple import InputError, SuppleWarning
from supple.reduction.store import Sample, SampleStore, store_contents

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


def test_without_a_file_samples_outgrow_their_share_of_the_memory(monkeypatch):
    monkeypatch.setattr("supple.reduction.store_file._CACHE", 2**14)
    with SampleStore(None, "this", WIDTH) as store:
        store.add(KEYS, SAMPLES)
        found = store.find(KEYS)
        assert len(found) == len(KEYS)
        assert_array_equal(found[KEYS[-1]].coefficients, SAMPLES[-1].coefficients)


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
    with pytest.warns(SuppleWarning, match=r"samples is damaged .*samples\.damaged"):
        store = SampleStore(path, "this", WIDTH)
    with store:
        assert store.find(KEYS) == {}
    assert path.with_name("samples.damaged").read_bytes() == bytes(content)


def test_damaged_files_are_all_kept(tmp_path):
    path = tmp_path / "x.samples"
    for k in range(3):
        path.write_bytes(b"rubbish %d" % k)
        with pytest.warns(SuppleWarning, match="is damaged"):
            SampleStore(path, "this", WIDTH).close()
    kept = [tmp_path / f"x.samples.damaged{ending}" for ending in ("", ".2", ".3")]
    assert [file.read_bytes() for file in kept] == [b"rubbish 0", b"rubbish 1", b"rubbish 2"]


def test_a_file_of_another_kind_is_refused_and_not_touched(tmp_path):
    path = tmp_path / "thesis.txt"
    path.write_text("Chapter 1. It was a dark and stormy night, and the four-bar stood at its dead point.")
    before = path.read_bytes()
    with pytest.raises(InputError, match="not a store of samples"):
        SampleStore(path, "this", WIDTH)
    assert path.read_bytes() == before


def sqlite_file(path, *commands: str) -> None:
    database = sqlite3.connect(path)
    with database:
        for command in commands:
            database.execute(command)
    database.close()


@pytest.mark.parametrize(
    "commands",
    [
        ("CREATE TABLE visits (url TEXT)", "PRAGMA application_id = 1234"),
        ("CREATE TABLE visits (url TEXT)",),
        ("CREATE TABLE samples (blood TEXT)",),
        ("PRAGMA application_id = 1234",),
    ],
)
def test_sqlite_files_of_other_programs_are_refused_and_not_touched(tmp_path, commands):
    path = tmp_path / "history.samples"
    sqlite_file(path, *commands)
    before = path.read_bytes()
    with pytest.raises(InputError, match="SQLite file of another program"):
        SampleStore(path, "this", WIDTH)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["history.samples"]


@pytest.mark.parametrize(
    ("commands", "version"),
    [
        (("PRAGMA application_id = 0x73757070", "PRAGMA user_version = 7", "CREATE TABLE sets (name TEXT)"), 7),
        (
            (
                "PRAGMA application_id = 0x73757070",
                "CREATE TABLE sets (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, made_by TEXT NOT NULL)",
                "CREATE TABLE samples (set_id INTEGER NOT NULL, theta BLOB NOT NULL, valid INTEGER NOT NULL, "
                "coefficients BLOB NOT NULL, crc INTEGER NOT NULL, UNIQUE (set_id, theta))",
            ),
            1,
        ),
    ],
)
def test_a_store_of_another_version_is_set_aside(tmp_path, commands, version):
    path = tmp_path / "samples"
    sqlite_file(path, *commands)
    before = path.read_bytes()
    with pytest.warns(SuppleWarning, match=rf"version {version}.*samples.version-{version}"):
        filled(path)
    assert (tmp_path / f"samples.version-{version}").read_bytes() == before
    with SampleStore(path, "this", WIDTH) as store:
        assert len(store.find(KEYS)) == len(KEYS)


def test_what_cannot_be_set_aside_is_told(tmp_path, monkeypatch):
    path = tmp_path / "samples"
    sqlite_file(path, "PRAGMA application_id = 0x73757070", "PRAGMA user_version = 7", "CREATE TABLE sets (name TEXT)")

    def barred(self, target):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", barred)
    with pytest.raises(InputError, match=r"\(Permission denied\).*--store"):
        SampleStore(path, "this", WIDTH)


def test_samples_that_slip_into_another_set_are_not_believed(tmp_path):
    path = tmp_path / "samples"
    filled(path)
    with SampleStore(path, "that", WIDTH) as store:
        store.add([KEYS[0]], [Sample(True, np.ones(WIDTH))])
    sqlite_file(
        path, *(f"UPDATE sets SET name = '{b}' WHERE name = '{a}'" for a, b in (("this", ""), ("that", "this")))
    )
    sqlite_file(path, "UPDATE sets SET name = 'that' WHERE name = ''")
    with SampleStore(path, "that", WIDTH) as store, pytest.warns(SuppleWarning, match="1200 samples"):
        assert store.find(KEYS) == {}


@pytest.mark.parametrize("late", [False, True])
def test_damage_within_a_file_starts_a_new_one(tmp_path, late):
    path = tmp_path / "samples"
    filled(path)
    page, pages = 4096, path.stat().st_size // 4096
    store = SampleStore(path, "this", WIDTH) if late else None
    with path.open("r+b") as file:
        for at in range(pages // 2, pages, 9):  # a good part of them, of the table and of its index
            file.seek(page * at)
            file.write(b"\xa5" * page)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        store = store or SampleStore(path, "this", WIDTH)
        found = store.find(KEYS)
    assert len(said) == 1
    assert re.search(r"samples is damaged .*samples\.damaged", str(said[0].message))
    with store:
        assert found == {}
        store.add(KEYS, SAMPLES)
        again = store.find(KEYS)
        for key, sample in zip(KEYS, SAMPLES, strict=True):
            assert_array_equal(again[key].coefficients, sample.coefficients)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["samples", "samples.damaged"]


def test_damage_that_two_find_sets_one_file_aside(tmp_path):
    """The second to find it goes on with the new file, and with what the first has put there."""
    path = tmp_path / "samples"
    filled(path)
    stores = [SampleStore(path, "this", WIDTH) for _ in range(2)]
    with path.open("r+b") as file:
        file.write(b"\xa5" * path.stat().st_size)
    with pytest.warns(SuppleWarning, match="is damaged"):
        stores[0].add(KEYS[:5], SAMPLES[:5])
    assert set(stores[1].find(KEYS)) == set(KEYS[:5])
    for store in stores:
        store.close()
    assert {item.name for item in tmp_path.iterdir()} - {"samples.damaged-wal"} == {"samples", "samples.damaged"}


def test_a_wrong_byte_in_the_header_is_survived(tmp_path):
    path = tmp_path / "original"
    with SampleStore(path, "this", WIDTH) as store:
        store.add(KEYS[:40], SAMPLES[:40])
    content = path.read_bytes()
    for at in range(0, 100, 3):
        spoilt = tmp_path / f"{at}.samples"
        spoilt.write_bytes(content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with SampleStore(spoilt, "this", WIDTH) as store:
                for key, sample in store.find(KEYS[:40]).items():
                    assert_array_equal(sample.coefficients, SAMPLES[KEYS.index(key)].coefficients)
                store.add(KEYS[:40], SAMPLES[:40])
                assert len(store.find(KEYS[:40])) == 40


def test_a_store_that_is_removed_while_in_use_is_made_again(tmp_path):
    path = tmp_path / "samples"
    with SampleStore(path, "this", WIDTH) as store:
        store.add(KEYS[:10], SAMPLES[:10])
        path.unlink()
        assert store.find(KEYS) == {}
        store.add(KEYS[10:], SAMPLES[10:])
    with SampleStore(path, "this", WIDTH) as store:
        assert set(store.find(KEYS)) == set(KEYS[10:])


def test_a_full_disk_says_what_is_kept_and_how_to_go_on(tmp_path):
    path = tmp_path / "samples"
    with SampleStore(path, "this", WIDTH) as store:
        store.add(KEYS[:50], SAMPLES[:50])
        store._database.execute("PRAGMA max_page_count = 20")  # SQLite then says what it says of a full disk
        with pytest.raises(
            InputError, match=r"cannot keep 1150 more samples \(.*full\); 50 samples are kept.*disk space"
        ):
            store.add(KEYS[50:], SAMPLES[50:])
        assert len(store.find(KEYS)) == 50
    filled(path)
    with SampleStore(path, "this", WIDTH) as store:
        assert len(store.find(KEYS)) == len(KEYS)


def test_a_limit_clears_the_set_that_was_not_used_for_longest(tmp_path):
    path, size = tmp_path / "samples", 0
    for name in ("first", "second"):
        with SampleStore(path, name, WIDTH) as store:
            store.add(KEYS, SAMPLES)
    size = path.stat().st_size
    with SampleStore(path, "third", WIDTH, limit=int(1.3 * size)) as store:
        with pytest.warns(SuppleWarning, match="1200 samples of another set .* were deleted"):
            store.add(KEYS, SAMPLES)
        assert store_contents(path).sets == 2
    assert path.stat().st_size <= 1.3 * size
    with SampleStore(path, "second", WIDTH) as store:
        assert len(store.find(KEYS)) == len(KEYS)
    path.unlink()
    with SampleStore(path, "this", WIDTH, limit=size // 4) as store:
        store.add(KEYS[:300], SAMPLES[:300])
        with pytest.raises(InputError, match=r"limit of .* 300 samples.*--store-limit"):
            store.add(KEYS, SAMPLES)


def test_a_store_that_is_locked_for_too_long_is_told(tmp_path, monkeypatch):
    path = tmp_path / "samples"
    filled(path)
    monkeypatch.setattr("supple.reduction.store_file.PATIENCE", 0.05)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(InputError, match=r"another process has locked it.*--store"):
        SampleStore(path, "this", WIDTH)
    other.close()


def test_two_that_write_into_one_store_keep_all(tmp_path):
    path = tmp_path / "samples"

    def write(which: int) -> None:
        with SampleStore(path, "this", WIDTH) as store:
            for k in range(which, len(KEYS), 2 * 30):
                store.add(KEYS[k : k + 60 : 2], SAMPLES[k : k + 60 : 2])

    threads = [threading.Thread(target=write, args=(which,)) for which in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with SampleStore(path, "this", WIDTH) as store:
        assert len(store.find(KEYS)) == len(KEYS)


def test_a_missing_folder_is_told(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        SampleStore(tmp_path / "nowhere" / "samples", "this", WIDTH)
