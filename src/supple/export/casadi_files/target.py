"""A reduced model for CasADi: data, C for what is called often, and the file that makes functions of both."""

from __future__ import annotations

import json
import warnings
from importlib import resources

from supple.diagnostics import InputError, SuppleNote
from supple.export.c.model import Exportable
from supple.export.casadi_files.columns import columns_source
from supple.export.casadi_files.dynamics import dynamics_source
from supple.export.casadi_files.second import second_source
from supple.export.plain.plain_model import plain_model
from supple.export.target import ExportTarget

_TAIL = '''

# ---------------------------------------------------------------------------- this model

import json  # noqa: E402
import os  # noqa: E402
import shutil  # noqa: E402
import subprocess  # noqa: E402
from pathlib import Path  # noqa: E402

_HERE = Path(__file__).parent
DATA = json.loads((_HERE / "{prefix}_data.json").read_text("utf-8"))
SOURCES = [_HERE / f"{prefix}_{{part}}.c" for part in ("columns", "dynamics", "second")]


def library(compiler=None):
    """The compiled C, made beside it at first; None without a compiler."""
    file = _HERE / "{prefix}_casadi.so"
    if file.exists() and file.stat().st_mtime >= max(source.stat().st_mtime for source in SOURCES):
        return str(file)
    found = compiler or next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)
    if found is None:
        return None
    beside = file.with_suffix(f".{{os.getpid()}}.part")
    command = [found, "-std=c99", "-O3", "-fPIC", "-shared", *map(str, SOURCES), "-lm", "-o", str(beside)]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{{found}} cannot compile {prefix}: {{done.stderr[:2000]}}")
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)
    return str(file)


def load(compiler=None):
    """All functions of this model."""
    made = library(compiler)
    if made is None:
        print("{prefix}: no C compiler is found, so boxes are chosen by casadi itself, which is slower")
        return functions(DATA, conditional_columns(DATA))
    names = ("columns", "dynamics", "inverse")
    return functions(DATA, *(ca.external(f"{prefix}_{{name}}", made) for name in names))


FUNCTIONS = load()
'''


def casadi_files(rom: Exportable, prefix: str) -> dict[str, str]:
    """`PREFIX_casadi.py` (`from PREFIX_casadi import FUNCTIONS`), its C and `PREFIX_data.json`."""
    data = plain_model(rom)
    if not data["polynomials"] or not data["polynomials"][0]:
        raise InputError(
            "nothing of it depends on θ", part=f'model "{rom.name}"',
            hint='take its linear model instead: rom.linearize(theta), or to="numpy"',
        )  # fmt: skip
    if rom.hardware:
        told = "its functions take forces and give exact outputs: drives and instruments of the model are left out"
        warnings.warn(SuppleNote(told), stacklevel=4)
    source = resources.files("supple.export.casadi_files").joinpath("functions.py").read_text("utf-8")
    return {
        f"{prefix}_casadi.py": source + _TAIL.format(prefix=prefix),
        f"{prefix}_columns.c": columns_source(data, prefix),
        f"{prefix}_dynamics.c": dynamics_source(rom, prefix),
        f"{prefix}_second.c": second_source(rom, prefix),
        f"{prefix}_data.json": json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n",
    }


CASADI = ExportTarget("casadi", "functions of CasADi with exact first and second derivatives", casadi_files)
