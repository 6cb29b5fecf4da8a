"""A defect of ours: the file that tells of it, for its user to send."""

from __future__ import annotations

import os
import platform
import shlex
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from supple.cli.failure import DEFECT, LONGEST, Failure, failure
from supple.diagnostics.quoting import brief

_PACKAGES = ("supple", "numpy", "scipy", "numba", "llvmlite", "h5py", "typer", "pydantic")


def defect(error: Exception, arguments: Sequence[str]) -> Failure:
    """What to say of it. The report is written here or among temporary files; else its traceback goes to standard
    error."""
    said = brief(error, LONGEST // 4)
    what = f"this is a defect of supple, not of your input: {type(error).__name__}" + (f": {said}" if said else "")
    text = _report(error, arguments)
    file = _kept(text)
    if file is None:
        print(text, file=sys.stderr)
        return failure(what, DEFECT, hint="no report could be written; please send what stands above")
    return failure(what, DEFECT, hint=f"please send the report {file}", report=str(file))


def _report(error: Exception, arguments: Sequence[str]) -> str:
    """The command, versions, the machine's kind and the traceback; nothing of the files that were read."""
    lines = [
        "A defect of supple.",
        f"command   supple {shlex.join(arguments)}",
        f"when      {time.strftime('%Y-%m-%d %H:%M:%S %z')}",
        f"python    {sys.version}",
        f"platform  {platform.platform()}, {os.cpu_count()} cores",
        f"packages  {', '.join(f'{name} {_version(name)}' for name in _PACKAGES)}",
        f"settings  {', '.join(f'{k}={v}' for k, v in os.environ.items() if k.startswith('SUPPLE_')) or 'none'}",
        "",
        "".join(traceback.format_exception(error)),
    ]
    return "\n".join(lines)


def _kept(text: str) -> Path | None:
    name = f"supple-defect-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    for folder in (Path.cwd, lambda: Path(tempfile.gettempdir())):
        try:
            file = folder() / name
            file.write_text(text, "utf-8", errors="replace")
        except OSError:  # nowhere to write, or no folder at all
            continue
        return file
    return None


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
