"""A file is there whole or not at all, and nothing is left beside it."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from supple import InputError
from supple.files import whole
from supple.files.whole import clear_parts, place_beside, write_beside, write_whole


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_takes_its_place_when_it_is_on_the_disk(tmp_path, monkeypatch):
    target, seen = tmp_path / "x.csv", []
    fsync, replace = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda handle: seen.append("fsync") or fsync(handle))
    monkeypatch.setattr(Path, "replace", lambda path, to: seen.append("rename") or replace(path, to))
    with write_beside(target) as beside:
        beside.write_text("new")
        assert beside.suffix == ".csv"
        assert not target.exists()
    assert seen == ["fsync", "rename", "fsync"]  # the file, and behind it the name in its folder
    seen.clear()
    write_whole(target, b"newer")
    assert seen == ["fsync", "rename"]
    assert names(tmp_path) == ["x.csv"]
    assert target.read_bytes() == b"newer"


def test_a_full_disk_leaves_what_was_there(tmp_path):
    target = tmp_path / "x.csv"
    target.write_text("old")

    def full() -> None:
        with write_beside(target) as beside:
            beside.write_text("half")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(InputError, match=r"No space left on device\); nothing was changed; make room"):
        full()
    assert names(tmp_path) == ["x.csv"]
    assert target.read_text() == "old"


def test_links_and_devices_stay_what_they_are(tmp_path):
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "real" / "x.csv")
    with write_beside(link) as beside:
        beside.write_text("new")
    assert link.is_symlink()
    assert names(tmp_path / "real") == ["x.csv"]
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with write_beside(pipe) as place:
        assert place == pipe
    assert pipe.is_fifo()


def test_parts_of_the_dead_are_cleared_and_of_the_living_are_not(tmp_path):
    target = tmp_path / "x.csv"
    done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    gone = int(done.stdout)
    here = whole._here()
    left = tmp_path / f"x.{here}-{gone}-0a0a0a.part.csv"
    kept = [
        place_beside(target),  # this very process, another thread
        tmp_path / f"x.{here}-1-0a0a0a.part.csv",  # a process that runs
        tmp_path / f"x.000000-{gone}-0a0a0a.part.csv",  # of another machine, just now
        tmp_path / f"y.{here}-{gone}-0a0a0a.part.csv",  # of another target
        tmp_path / f"x.{gone}.part.csv",  # named otherwise: not ours
    ]
    aged = tmp_path / f"x.000000-{gone}-0b0b0b.part.csv"
    for path in (left, aged, *kept):
        path.touch()
    os.utime(aged, (time.time() - 2 * 86400.0,) * 2)
    clear_parts(target)
    assert names(tmp_path) == sorted(path.name for path in kept)
