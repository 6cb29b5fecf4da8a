"""Stores spoilt at random, before they are opened and while they are used: the model is the same, bit for bit.

python tests/torture/damaged_stores.py [--cases N] [--seed N]
"""

from __future__ import annotations

import argparse
import shutil
import sqlite3
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from same_models import same

import supple
from supple.reduction import sampling
from supple.reduction import store as module
from supple.reduction.store import SampleStore
from supple.reduction.store_file import store_connection

EXAMPLE = Path(__file__).parents[2] / "examples" / "four-bar" / "mechanism.yaml"
TASK = {"fit": "quadratic", "boxes": 12, "progress": False}
PAGE = 4096
Spoil = Callable[[Path, np.random.Generator], None]


def _over(path: Path, at: int, content: bytes) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(at)
        file.write(content[: max(0, size - at)])


def bit(path: Path, rng: np.random.Generator) -> None:
    """One bit, anywhere."""
    content = path.read_bytes()
    if content:
        at = int(rng.integers(len(content)))
        _over(path, at, bytes([content[at] ^ (1 << int(rng.integers(8)))]))


def some_bytes(path: Path, rng: np.random.Generator) -> None:
    """A few bytes in a few places."""
    for _ in range(int(rng.integers(1, 20))):
        _over(path, int(rng.integers(max(1, path.stat().st_size))), rng.bytes(int(rng.integers(1, 64))))


def page(path: Path, rng: np.random.Generator) -> None:
    """Whole pages: noise, zeros or ones."""
    for _ in range(int(rng.integers(1, 4))):
        at = PAGE * int(rng.integers(max(1, path.stat().st_size // PAGE)))
        _over(path, at, (rng.bytes(PAGE), bytes(PAGE), b"\xff" * PAGE)[int(rng.integers(3))])


def swapped(path: Path, rng: np.random.Generator) -> None:
    """Two pages that have changed places."""
    content = path.read_bytes()
    a, b = (PAGE * int(k) for k in rng.integers(max(1, len(content) // PAGE), size=2))
    _over(path, a, content[b : b + PAGE])
    _over(path, b, content[a : a + PAGE])


def short(path: Path, rng: np.random.Generator) -> None:
    """Cut off anywhere."""
    with path.open("r+b") as file:
        file.truncate(int(rng.integers(max(1, path.stat().st_size))))


def empty(path: Path, rng: np.random.Generator) -> None:
    """Nothing left."""
    with path.open("r+b") as file:
        file.truncate(0)


def header(path: Path, rng: np.random.Generator) -> None:
    """The first hundred bytes, by which SQLite knows its files."""
    _over(path, int(rng.integers(100)), rng.bytes(int(rng.integers(1, 16))))


def contents(path: Path, rng: np.random.Generator) -> None:
    """The table of contents."""
    _over(path, int(rng.integers(PAGE - 900, PAGE)), rng.bytes(int(rng.integers(1, 600))))


SPOILS: tuple[Spoil, ...] = (bit, some_bytes, page, swapped, short, empty, header, contents)


class Case:
    """One store of two machines, spoilt once, and what `reduce` made of it."""

    def __init__(self, folder: Path):
        self.mechanism = supple.load(EXAMPLE)
        self.folder, self.original = folder, folder / "original.samples"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            heavier = self.mechanism.replace(gravity=tuple(2.0 * g for g in self.mechanism.gravity))
            supple.reduce(heavier, **TASK, store=self.original)  # samples of another, at the same places
            self.expected = supple.reduce(self.mechanism, **TASK, store=self.original)
        self.half = folder / "half.samples"  # a store that still lacks samples, so that there is something to add
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            supple.reduce(self.mechanism, **{**TASK, "boxes": 4}, store=self.half)

    def run(self, seed: int, *, spoil: Spoil | None = None, late: bool | None = None) -> tuple[str, str, bool]:
        """What was spoilt, what was said, whether the model is the same."""
        rng = np.random.default_rng(seed)
        drawn = SPOILS[int(rng.integers(len(SPOILS)))], bool(rng.integers(2))
        spoil, late = drawn[0] if spoil is None else spoil, drawn[1] if late is None else late
        store = self.folder / "case.samples"
        for old in self.folder.glob("case.samples*"):
            old.unlink()
        shutil.copy(self.half if rng.integers(2) else self.original, store)
        what = f"{spoil.__name__} {'while in use' if late else 'before'}"
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            if late:
                model = self._while_in_use(store, lambda: spoil(store, rng), rng)
            else:
                spoil(store, rng)
                model = supple.reduce(self.mechanism, **TASK, store=store)
        told = [str(item.message) for item in said if "store" in str(item.message) or "checksum" in str(item.message)]
        return what, "; ".join(told), same(model, self.expected)

    def _while_in_use(self, store: Path, spoil: Callable[[], None], rng: np.random.Generator) -> supple.ReducedModel:
        """Spoilt at some call of the store, in the file, or in the journal beside it."""
        find, add, batch = SampleStore.find, SampleStore.add, sampling.BATCH
        left = [int(rng.integers(1, 12))]
        journal = bool(rng.integers(3) == 0)

        def counted(work: Callable) -> Callable:
            def called(self: SampleStore, *given: object) -> object:
                left[0] -= 1
                if left[0] == 0:
                    beside = store.with_name(store.name + "-wal")
                    if journal and beside.exists() and beside.stat().st_size:
                        bit(beside, rng)
                    else:
                        spoil()
                return work(self, *given)

            return called

        def forgetful(path: Path | None) -> sqlite3.Connection:
            """Every page is read anew from the disk, where it is met as it is now."""
            database = store_connection(path)
            database.execute("PRAGMA cache_size = 1")
            return database

        SampleStore.find, SampleStore.add = counted(find), counted(add)  # type: ignore[method-assign]
        sampling.BATCH, module.store_connection = 16, forgetful  # type: ignore[attr-defined]
        try:
            return supple.reduce(self.mechanism, **TASK, store=store)
        finally:
            SampleStore.find, SampleStore.add = find, add  # type: ignore[method-assign]
            sampling.BATCH, module.store_connection = batch, store_connection  # type: ignore[attr-defined]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    told, wrong = Counter[str](), 0
    with tempfile.TemporaryDirectory() as folder:
        case = Case(Path(folder))
        for seed in range(asked.seed, asked.seed + asked.cases):
            try:
                what, said, good = case.run(seed)
            except Exception as error:  # noqa: BLE001 - any is a failure, and the others are still to be seen
                what, said, good = f"seed {seed}", "", False
                print(f"seed {seed}: {type(error).__name__}: {error}")
            else:
                if not good:
                    print(f"seed {seed}: {what}: THE MODEL IS ANOTHER; said: {said}")
            wrong += not good
            told[f"{what.split()[0]}: {'told' if said else 'not noticed, model the same'}"] += 1
    for key, count in sorted(told.items()):
        print(f"  {count:5} {key}")
    print(f"{asked.cases} damaged stores from seed {asked.seed} on: {wrong} went wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
