"""A reduced model for CasADi: data, C for the fitted columns, and the file that makes functions of both."""

from __future__ import annotations

import json
from importlib import resources

from supple.diagnostics import InputError
from supple.export.c.model import Exportable
from supple.export.casadi_files.columns import columns_source
from supple.export.plain.plain_model import plain_model
from supple.export.target import ExportTarget

_TAIL = '''

# ---------------------------------------------------------------------------- this model

import json  # noqa: E402
import shutil  # noqa: E402
import subprocess  # noqa: E402
from pathlib import Path  # noqa: E402

_HERE = Path(__file__).parent
DATA = json.loads((_HERE / "{prefix}_data.json").read_text("utf-8"))


def columns(compiler=None):
    """y(theta) from {prefix}_columns.c, compiled beside it at first; without a compiler by choice among the boxes."""
    source, library = _HERE / "{prefix}_columns.c", _HERE / "{prefix}_columns.so"
    found = compiler or next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)
    if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
        if found is None:
            print("{prefix}: no C compiler is found, so boxes are chosen by casadi itself, which is slower")
            return conditional_columns(DATA)
        beside = library.with_suffix(".part")
        subprocess.run(
            [found, "-std=c99", "-O3", "-fPIC", "-shared", str(source), "-o", str(beside)], check=True
        )
        beside.replace(library)
    return ca.external("{prefix}_columns", str(library))


FUNCTIONS = functions(DATA, columns())
'''


def casadi_files(rom: Exportable, prefix: str) -> dict[str, str]:
    """`PREFIX_casadi.py` (`from PREFIX_casadi import FUNCTIONS`), `PREFIX_columns.c` and `PREFIX_data.json`."""
    data = plain_model(rom)
    if not data["polynomials"] or not data["polynomials"][0]:
        raise InputError(
            "nothing of it depends on θ", part=f'model "{rom.name}"',
            hint='take its linear model instead: rom.linearize(theta), or to="numpy"',
        )  # fmt: skip
    source = resources.files("supple.export.casadi_files").joinpath("functions.py").read_text("utf-8")
    return {
        f"{prefix}_casadi.py": source + _TAIL.format(prefix=prefix),
        f"{prefix}_columns.c": columns_source(data, prefix),
        f"{prefix}_data.json": json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n",
    }


CASADI = ExportTarget("casadi", "functions of CasADi with exact first and second derivatives", casadi_files)
