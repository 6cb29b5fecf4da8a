"""Precompiled kernels: machine code that a wheel carries, so that an installed supple compiles nothing.

The code of a wheel is compiled for levels of a processor family, such as x86-64-v3 (AVX2 and FMA). This module chooses
the highest level that the processor supports. numba loads machine code without such a check, and an instruction that
the processor lacks ends the process. Kernels are compiled on this machine, as from a clone, where the Python minor,
the numba minor, the operating system, the architecture or the processor does not match.

A level is one file of compressed groups of kernels, since kernels share code. `index.json` has the group of each
kernel, its place there, and the SHA-256 digest of the group. Damaged code is never executed.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from supple.diagnostics import InputError

FOLDER = Path(__file__).parent / "precompiled"
INDEX = "index.json"
GROUP = 3_000_000  # bytes of code that are compressed together: one that is loaded takes some 20 ms
NATIVE = "native"  # value of SUPPLE_KERNEL_LEVEL that ignores precompiled kernels

_V2 = frozenset({"cx16", "lahf_lm", "pni", "popcnt", "sse4_1", "sse4_2", "ssse3"})
_V3 = _V2 | {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}
_V4 = _V3 | {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}
LEVELS: dict[str, dict[str, frozenset[str]]] = {
    "x86_64": {"x86-64-v4": _V4, "x86-64-v3": _V3, "x86-64-v2": _V2},
    "aarch64": {"armv8-a": frozenset({"asimd", "fp"})},
}
"""Levels of each architecture, the highest first, with the processor flags that they need, as Linux names them."""


class Choice(NamedTuple):
    """Level whose kernels this process loads.

    level  : name of the level; None if kernels are compiled on this machine
    reason : cause if a wheel carries kernels but they cannot be used; otherwise empty
    """

    level: str | None
    reason: str = ""


@cache
def index() -> dict[str, Any]:
    """Return the index of the precompiled kernels; empty if this installation has none, as a clone."""
    try:
        found = json.loads((FOLDER / INDEX).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("levels"), dict):
        _note_damage()
        return {}
    return found


@cache
def processor_flags() -> frozenset[str]:
    """Return the instruction sets of the processor that the operating system supports; empty if unknown."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                name, _, values = line.partition(":")
                if name.strip() in ("flags", "Features"):
                    return frozenset(values.split())
    except OSError:
        pass
    return frozenset()


@cache
def choice() -> Choice:
    """Return the level that this process uses.

    SUPPLE_KERNEL_LEVEL limits it: a level such as `x86-64-v2`, or `native` to compile for this machine.
    """
    asked = os.environ.get("SUPPLE_KERNEL_LEVEL", "")
    family = LEVELS.get(platform.machine(), {})
    if asked and asked != NATIVE and asked not in family:
        names = ", ".join((*family, NATIVE))
        raise InputError(f'unknown value "{asked}"', part="SUPPLE_KERNEL_LEVEL", hint=f"choose one of {names}")
    found = index()
    if not found or asked == NATIVE:
        return Choice(None)
    for name, here in (
        ("Python", sys.implementation.cache_tag),
        ("numba", _minor("numba")),
        ("system", platform.system()),
        ("architecture", platform.machine()),
    ):
        if found.get(name) != here:
            return Choice(None, f"they are for {name} {found.get(name)}, not {here}")
    if _lzma() is None:
        return Choice(None, "this Python was built without lzma, which they are compressed with")
    allowed = list(family)[list(family).index(asked) if asked else 0 :]
    carried = [level for level in allowed if level in found["levels"]]
    if not carried:
        return Choice(None, f"they are for {', '.join(sorted(found['levels']))}, above {allowed[0]}")
    for level in carried:
        if family[level] <= processor_flags():
            return Choice(level)
    lacking = sorted(family[carried[-1]] - processor_flags())
    return Choice(None, f"the processor lacks {', '.join(lacking)}, which {carried[-1]} needs")


def _lzma() -> Any:
    """Return the module of the standard library, or None: it is missing if Python was built without its headers."""
    try:
        import lzma
    except ImportError:
        return None
    return lzma


def _note_damage() -> None:
    from supple.compilation.kernel import note_once

    note_once(
        f"the precompiled kernels in {FOLDER} are damaged, so that kernels are compiled on this machine; "
        "install supple again"
    )


def _minor(package: str) -> str:
    """Return the first two numbers of the version of a package."""
    try:
        return ".".join(version(package).split(".")[:2])
    except PackageNotFoundError:
        return "none"


def description() -> dict[str, Any]:
    """Return what `supple doctor` reports: number of kernels, levels, the level in use, and why none is used."""
    found, used = index(), choice()
    levels = found.get("levels", {})
    count = max((sum(map(len, level["kernels"].values())) for level in levels.values()), default=0)
    reason = used.reason or ("SUPPLE_KERNEL_LEVEL=native" if found and used.level is None else "")
    return {
        "kernels": count, "levels": sorted(levels), "level": used.level, "reason": reason,
        "python": str(found.get("Python", "")).removeprefix("cpython-").replace("3", "3.", 1),
        "numba": found.get("numba version", ""), "bytes": sum(level["bytes"] for level in levels.values()),
    }  # fmt: skip


def at_hand(kernel: str) -> bool:
    """Return whether a kernel is precompiled for this processor, for at least one signature."""
    level = choice().level
    return level is not None and kernel in _entries(level)


@cache
def _entries(level: str) -> dict[str, dict[str, list[int]]]:
    found: dict[str, dict[str, list[int]]] = index()["levels"][level]["kernels"]
    return found


def find(kernel: str, signature: str) -> bytes | None:
    """Return the code of a kernel for a signature, or None.

    Parameters
    ----------
    kernel : str
        Name and digest of the kernel, with `-fused` for fused multiply-add.
    signature : str
        Digest of the types of its arguments.

    Returns
    -------
    bytes or None
        None if the wheel does not contain it, or if it is damaged.
    """
    level = choice().level
    if level is None:
        return None
    place = _entries(level).get(kernel, {}).get(signature)
    if place is None:
        return None
    group, start, stop = place
    code = _group(level, group)
    return None if code is None else code[start:stop]


@lru_cache(maxsize=4)
def _group(level: str, number: int) -> bytes | None:
    """Return the code of a group of kernels; None if it is damaged."""
    at, size, digest = index()["levels"][level]["groups"][number]
    try:
        with (FOLDER / f"{level}.kernels").open("rb") as file:
            file.seek(at)
            packed = file.read(size)
    except OSError:
        packed = b""
    if hashlib.sha256(packed).hexdigest() != digest:
        _note_damage()
        return None
    found: bytes = _lzma().decompress(packed)
    return found


def source_digest(package: Path) -> str:
    """Name the source of a package by the content of its Python files."""
    sha = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        sha.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return sha.hexdigest()


def pack(levels: dict[str, dict[tuple[str, str], bytes]], folder: Path, *, source: str = "") -> int:
    """Write precompiled kernels and their index.

    Parameters
    ----------
    levels : mapping of str to mapping
        Code by (kernel, signature), for each level.
    folder : Path
        Folder to write to.
    source : str, optional
        Digest of the source that was compiled, so that a wheel does not combine kernels with another source.

    Returns
    -------
    int
        Size of all files in bytes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {
        "Python": sys.implementation.cache_tag, "numba": _minor("numba"), "numba version": version("numba"),
        "system": platform.system(), "architecture": platform.machine(), "source": source, "levels": {},
    }  # fmt: skip
    for level, kernels in sorted(levels.items()):
        places: dict[str, dict[str, list[int]]] = {}
        parts: list[list[bytes]] = []
        for (kernel, signature), code in sorted(kernels.items()):
            if not parts or sum(map(len, parts[-1])) >= GROUP:
                parts.append([])
            start = sum(map(len, parts[-1]))
            places.setdefault(kernel, {})[signature] = [len(parts) - 1, start, start + len(code)]
            parts[-1].append(code)
        at, groups = 0, list[list[Any]]()
        with (folder / f"{level}.kernels").open("wb") as file:
            for codes in parts:
                packed = _lzma().compress(b"".join(codes), check=_lzma().CHECK_NONE, preset=9)
                groups.append([at, len(packed), hashlib.sha256(packed).hexdigest()])
                at += file.write(packed)
        found["levels"][level] = {"kernels": places, "groups": groups, "bytes": at}
    (folder / INDEX).write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return sum(file.stat().st_size for file in folder.iterdir())
