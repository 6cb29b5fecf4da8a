"""Damaged and odd files of measurements: each is read, or refused by one clear message, and never a defect of ours.

    python tests/torture/odd_measurements.py [--cases 2000] [--seed 1] [--seconds 20] [--keep FOLDER]

Universal files, CSV tables, .npz and .mat archives of a small test are damaged: bytes changed, cut, repeated; numbers
replaced by odd ones; arrays of other shapes, types and values; heads that lie about sizes. `supple modal` and `supple
measured` read them in a child with 4 GB of memory and an alarm. A status other than 0, 1 or 3, or none, is told; the
file is kept in FOLDER, and the status is then 1.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import sys
import tempfile
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import supple

MEMORY = 4 * 2**30  # bytes
NUMBERS = (
    "nan", "inf", "-inf", "0", "-1", "1e300", "-1e300", "1e-300", "1e400", "99999999999999999999", "", "x", "1,5", "--",
    "1e", "0x10", "2147483648", "\u0663", "1_0",
)  # fmt: skip
TEXTS = ("", " ", "x", "a.b.c", "θ", "\x00", "tip.q", "tip.-x", "/", "a" * 300)
ABOUT: tuple[Any, ...] = (
    None, 1, "x", [], {}, {"at": {"x": None}}, {"at": {"x": "y"}}, {"at": [1]}, {"averages": None}, {"averages": 1e400},
    {"averages": True}, {"averages": -3}, {"window_rate": None}, {"window_rate": -1.0}, {"window_rate": 1e308},
    {"window_rate": float("nan")}, {"notes": 3}, {"notes": [None]}, {"title": None}, {"before": "x"},
)  # fmt: skip


def small_test(lines: int = 40) -> supple.Responses:
    """Three accelerances with two modes and some noise."""
    hertz = np.linspace(5.0, 45.0, lines)
    s, random_ = 2j * np.pi * hertz, np.random.default_rng(0)
    H = np.zeros((lines, 3, 1), dtype=complex)
    for f, zeta, shape in ((14.0, 0.02, (1.0, 0.4, -0.3)), (31.0, 0.03, (0.2, -1.0, 0.7))):
        w = 2.0 * np.pi * f
        H += (s**2 / (s**2 + 2.0 * zeta * w * s + w**2))[:, None, None] * np.array(shape)[:, None] * shape[0]
    H += 0.003 * (random_.normal(size=H.shape) + 1j * random_.normal(size=H.shape))
    channels = [supple.Channel("tip", axis, "acceleration", (0.1, 0.2, 0.3)) for axis in "xyz"]
    return supple.Responses(
        hertz,
        channels,
        [supple.Channel("tip", "x", "force")],
        H,
        coherence=np.full(H.shape, 0.98),
        averages=5,
        at="home",
    )


def good_files(folder: Path) -> list[Path]:
    """The same test in every format; .mat packed and not."""
    from scipy.io import loadmat, savemat

    test = small_test()
    found = [test.save(folder / f"good.{ending}") for ending in ("uff", "csv", "npz", "mat")]
    packed = folder / "packed.mat"
    arrays = {key: value for key, value in loadmat(folder / "good.mat").items() if not key.startswith("__")}
    savemat(packed, arrays, do_compression=True)
    binary = folder / "binary.uff"
    test.save(binary, binary=True)
    return [*found, packed, binary]


def damaged(source: Path, draw: random.Random, folder: Path) -> Path:
    """A file with something wrong, as the random numbers say."""
    ways: list[Callable[[bytes, random.Random], bytes]] = [_changed, _cut, _repeated, _removed]
    if source.suffix in (".uff", ".csv"):
        ways += [_odd_number, _odd_number, _odd_number, _line_moved]
    if source.suffix == ".csv":
        ways += [_odd_head]
    if source.suffix == ".mat":
        ways += [_lying_tag, _lying_tag]
    target = folder / f"odd{source.suffix}"
    if source.suffix in (".npz", ".mat") and draw.random() < 0.6:
        _odd_arrays(source, target, draw)
        return target
    content = source.read_bytes()
    for _ in range(draw.choice((1, 1, 1, 2, 5))):
        content = draw.choice(ways)(content, draw)
    target.write_bytes(content)
    return target


def _place(content: bytes, draw: random.Random) -> int:
    return draw.randrange(max(len(content), 1))


def _changed(content: bytes, draw: random.Random) -> bytes:
    found = bytearray(content)
    for _ in range(draw.choice((1, 3, 30))):
        if found:
            found[_place(found, draw)] = draw.randrange(256)
    return bytes(found)


def _cut(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.choice((0, 15, 127, 128, 130, _place(content, draw), _place(content, draw)))]


def _repeated(content: bytes, draw: random.Random) -> bytes:
    at, size = _place(content, draw), draw.choice((1, 8, 80, 1000))
    return content[:at] + content[at : at + size] * draw.choice((2, 3)) + content[at + size :]


def _removed(content: bytes, draw: random.Random) -> bytes:
    at = _place(content, draw)
    return content[:at] + content[at + draw.choice((1, 8, 80, 1000)) :]


def _odd_number(content: bytes, draw: random.Random) -> bytes:
    found = list(re.finditer(rb"[-+0-9.eE]+", content))
    if not found:
        return content
    for _ in range(draw.choice((1, 1, 5))):
        one = draw.choice(found)
        text = draw.choice(NUMBERS).encode()
        if draw.random() < 0.5:
            text = text[: one.end() - one.start()].rjust(one.end() - one.start())
        if draw.random() < 0.1:  # all that are the same
            return content.replace(one.group(), text)
        content = content[: one.start()] + text + content[one.end() :]
    return content


def _line_moved(content: bytes, draw: random.Random) -> bytes:
    lines = content.split(b"\n")
    i, j = (draw.randrange(len(lines)) for _ in range(2))
    lines.insert(j, lines.pop(i) if draw.random() < 0.5 else lines[i])
    return b"\n".join(lines)


def _odd_head(content: bytes, draw: random.Random) -> bytes:
    head, _, rest = content.partition(b"\n")
    names = head.split(b",")
    names[draw.randrange(len(names))] = draw.choice(
        (b"", b"real", b"real x", b"real x/y", b"phase tip.x/tip.x (deg)", b"real tip.q/tip.x [furlong]", b"a" * 5000)
    )
    return b",".join(names) + b"\n" + rest


def _lying_tag(content: bytes, draw: random.Random) -> bytes:
    """The number of bytes or of rows somewhere in the structure of a Matlab file, another one."""
    if len(content) < 200:
        return content
    lie = struct.pack("<I", draw.choice((0, 1, 7, 2**16, 2**20, 2**28, 2**31 - 1, 2**31, 2**32 - 1)))
    at = draw.choice((132, 136, 144, 152, 160, 164, 168, 172, 8 * draw.randrange(16, len(content) // 8)))
    if struct.unpack_from("<I", content, 128)[0] == 15 and draw.random() < 0.8:  # inside what is packed
        size = struct.unpack_from("<I", content, 132)[0]
        with contextlib.suppress(zlib.error, IndexError):
            inner = bytearray(zlib.decompress(content[136 : 136 + size]))
            place = draw.choice((0, 4, 8, 12, 16, 24, 28, 32, 36, 40, 48, 52))
            inner[place : place + 4] = lie
            packed = zlib.compress(bytes(inner))
            return content[:132] + struct.pack("<I", len(packed)) + packed + content[136 + size :]
    return content[:at] + lie + content[at + 4 :]


def _odd_arrays(source: Path, target: Path, draw: random.Random) -> None:
    """The same arrays but for one or two of other values, shapes or types."""
    from scipy.io import loadmat, savemat

    if source.suffix == ".npz":
        with np.load(source) as archive:
            arrays: dict[str, Any] = dict(archive)
    else:
        arrays = {key: value for key, value in loadmat(source).items() if not key.startswith("__")}
    for _ in range(draw.choice((1, 1, 2))):
        name = draw.choice(sorted(arrays))
        if name == "about" and draw.random() < 0.9:
            arrays[name] = np.array(json.dumps(draw.choice(ABOUT)))
        elif draw.random() < 0.1:
            del arrays[name]
        else:
            arrays[name] = _odd_array(np.array(arrays[name]), draw)
    if source.suffix == ".npz":
        np.savez(target, **arrays)
    else:
        savemat(target, arrays, do_compression=draw.random() < 0.5)


def _odd_array(values: np.ndarray, draw: random.Random) -> np.ndarray:
    if values.dtype.kind in "UO":
        return draw.choice((
            np.full(values.shape, draw.choice(TEXTS)), values.ravel()[:1], values.ravel()[:0], np.arange(3.0),
            np.concatenate([values.ravel(), values.ravel()]),
        ))  # fmt: skip
    found = np.array(values)
    some = tuple(draw.randrange(size) for size in found.shape) if found.size else ()
    match draw.randrange(12):
        case 0 | 1 | 2 if found.size:
            found = found.astype(complex if found.dtype.kind == "c" else float)
            found[some] = draw.choice((np.nan, np.inf, -np.inf, 1e300, -1e300, 1e200, 1e-300, 0.0, -1.0))
        case 3:
            found = np.zeros_like(found)
        case 4:
            found = np.ones_like(found)
        case 5 if found.ndim > 1:
            found[:, draw.randrange(found.shape[1])] = draw.choice((0.0, 1.0, 1e250, 1e-250))
        case 6:
            found = found[: draw.choice((0, 1, 2, 17))] if found.ndim else found
        case 7:
            found = found[::-1] if found.ndim else found
        case 8:
            found = found.reshape(-1)
        case 9:
            found = found[None]
        case 10:
            found = found.astype(draw.choice((np.float32, np.int64, np.int8)), casting="unsafe")
        case _:
            found = found * draw.choice((1e-200, 1e200, 1e-12, 1e12, -1.0))
    return found


def ended(path: Path, seconds: float) -> str:
    """ "" where both commands end with 0, 1 or 3 and one message; else how they ended."""
    for command in ("modal", "check-measurement"):
        told = _run([command, str(path)], seconds)
        if told:
            return f"supple {command}: {told}"
    return ""


def _run(arguments: list[str], seconds: float) -> str:
    """How a command ends, in a child of this process."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        said = "no end"
        try:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, seconds)
            said = _judged(arguments)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the parent tells it
            said = f"{type(error).__name__}: {error}"[:300]
        finally:
            os.write(write, said.encode(errors="replace")[:4000])
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        said = stream.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return f"ended by signal {os.WTERMSIG(status)}"
    return said


def _judged(arguments: list[str]) -> str:
    from supple.cli.main import run

    said, shown, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(shown):
        try:
            run(arguments)
        except SystemExit as end:
            code = int(end.code or 0) if not isinstance(end.code, str) else 1
    errors = [line for line in said.getvalue().splitlines() if line.startswith("error: ")]
    if code not in (0, 1, 3) or (code and len(errors) != 1):
        return f"status {code}: {said.getvalue()[-300:]}"
    numpy_said = [line for line in said.getvalue().splitlines() if "encountered in" in line]
    return f"numpy's own words: {numpy_said[0]}" if numpy_said else ""


def faults(cases: int, seed: int, seconds: float = 20.0, keep: Path | None = None) -> list[str]:
    """How each case that did not end well ended."""
    found = []
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder, before = Path(name), Path.cwd()
        os.chdir(folder)  # reports of defects are written here
        try:
            sources = good_files(folder)
            for command in ("modal", "check-measurement"):  # here: what they import is there for all children
                found += [told for source in sources if (told := _judged([command, str(source)]))]
            for case in range(cases):
                draw = random.Random(f"{seed} {case}")
                source = sources[case % len(sources)]
                path = damaged(source, draw, folder)
                if told := ended(path, seconds):
                    found.append(f"case {case} of seed {seed} ({source.name}): {told}")
                    print(found[-1], flush=True)
                    if keep is not None:
                        shutil.copy(path, keep / f"case-{seed}-{case}{path.suffix}")
        finally:
            os.chdir(before)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20.0, help="that a command may take")
    parser.add_argument("--keep", type=Path, default=None, help="where files that did not end well are kept")
    given = parser.parse_args()
    if given.keep is not None:
        given.keep = given.keep.resolve()
        given.keep.mkdir(parents=True, exist_ok=True)
    found = faults(given.cases, given.seed, given.seconds, given.keep)
    print(f"{given.cases} files, seed {given.seed}: {len(found)} did not end well")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
