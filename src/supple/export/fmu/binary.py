"""The compiled part of an FMU: for this machine by its compiler, for others by zig where it is installed."""

from __future__ import annotations

import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from supple.diagnostics import InputError, NumericalError, nearest


class Platform(NamedTuple):
    """folder2, folder3 : where FMI 2.0 and 3.0 look for it; ending : of the file; target : what zig calls it"""

    folder2: str
    folder3: str
    ending: str
    target: str


PLATFORMS = {
    "linux": Platform("linux64", "x86_64-linux", ".so", "x86_64-linux-gnu"),
    "linux-arm64": Platform("aarch64-linux", "aarch64-linux", ".so", "aarch64-linux-gnu"),
    "windows": Platform("win64", "x86_64-windows", ".dll", "x86_64-windows-gnu"),
    "macos": Platform("darwin64", "x86_64-darwin", ".dylib", "x86_64-macos"),
    "macos-arm64": Platform("aarch64-darwin", "aarch64-darwin", ".dylib", "aarch64-macos"),
}
_FLAGS = ["-std=c99", "-O3", "-shared", "-fvisibility=hidden"]


def this_platform() -> str | None:
    """The name of the machine that supple runs on, where it is one of those known."""
    arm = platform.machine().lower() in ("aarch64", "arm64")
    known = {"linux": "linux", "darwin": "macos", "win32": "windows"}.get(sys.platform)
    name = f"{known}-arm64" if known and arm else known
    return name if name in PLATFORMS else None


def local_compiler() -> list[str] | None:
    """The command of the C compiler: $CC, or cc, gcc or clang; None where there is none."""
    asked = shlex.split(os.environ.get("CC", ""))
    if asked and shutil.which(asked[0]):
        return asked
    found = next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)
    return None if found is None else [found]


def cross_compiler(name: str) -> list[str]:
    """zig's, from the package ziglang."""
    if name not in PLATFORMS:
        raise InputError(f'there is no platform "{name}"', part="export", hint=nearest(name, tuple(PLATFORMS)))
    if importlib.util.find_spec("ziglang") is None:
        raise InputError(
            f'building for "{name}" needs another compiler', part="export", hint="install zig's: pip install ziglang"
        )
    return [sys.executable, "-m", "ziglang", "cc", "-target", PLATFORMS[name].target]


def compiled(command: list[str], name: str, sources: Mapping[str, str]) -> bytes:
    """The shared library of C sources."""
    with tempfile.TemporaryDirectory(prefix="supple-fmu-") as made:
        folder = Path(made)
        for file, text in sources.items():
            (folder / file).write_text(text, encoding="utf-8")
        library = folder / f"unit{PLATFORMS[name].ending}"
        files = [file for file in sources if file.endswith(".c")]
        position = [] if name == "windows" else ["-fPIC"]
        mathematics = ["-lm"] if name.startswith("linux") else []
        try:
            done = subprocess.run(
                [*command, *_FLAGS, *position, *files, *mathematics, "-o", library.name],
                cwd=folder, capture_output=True, text=True, check=False,
            )  # fmt: skip
        except OSError as error:
            raise InputError(
                f"{command[0]} cannot be run: {error.strerror or error}", part="export", hint="set CC to a C compiler"
            ) from None
        if done.returncode or not library.is_file():
            said = (done.stderr.strip() or "it said nothing").splitlines()[-1][:300]
            raise NumericalError(
                f"the compiler {command[0]} failed: {said}", part="export", hint="set CC to another C compiler"
            )
        return library.read_bytes()
