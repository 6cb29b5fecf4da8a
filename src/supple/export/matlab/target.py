"""A reduced model for Matlab, Octave and Simulink: a function with its data, and C around the exported model."""

from __future__ import annotations

from importlib import resources

from supple.export.c.measured import has_measure
from supple.export.c.model import CModel, Exportable
from supple.export.c.target import c_files
from supple.export.matlab.data import matlab_data
from supple.export.matlab.mex import mex_source, sfunction_source
from supple.export.target import ExportTarget

_README = """\
{name}: a reduced model for Matlab, Octave and Simulink
{line}

1. Put this folder on the path: addpath('{prefix}')
2. Without a compiler: {prefix}('forward', theta, rates, inputs); help {prefix} lists the rest.
   ode45(@(t, x) {prefix}('derivative', x, u), [0 1], start) runs it.
3. {compiled}
"""
_COMPILED = """Fast: mex {prefix}_mex.c {prefix}.c (Octave: mkoctfile --mex {prefix}_mex.c {prefix}.c),
   then {prefix}_mex('derivative', x, u). In Simulink: mex {prefix}_sfun.c {prefix}.c, then an S-Function block
   {prefix}_sfun with [eta; rates] of the start as its parameter."""


def matlab_files(rom: Exportable, prefix: str) -> dict[str, str | bytes]:
    """`PREFIX.m` and `PREFIX_data.mat`; the C of the model with `PREFIX_mex.c` and `PREFIX_sfun.c`; README.txt."""
    CModel(prefix, rom).require_complete()
    source = resources.files("supple.export.matlab").joinpath("evaluator.m").read_text("utf-8")
    files: dict[str, str | bytes] = {
        f"{prefix}.m": source.replace("@PREFIX@", prefix),
        f"{prefix}_data.mat": matlab_data(rom),
    }
    code, model = c_files(rom, prefix), CModel(prefix, rom)
    inputs, outputs = "input_map" in model.coefficients, has_measure(model)
    files |= {name: code[name] for name in (f"{prefix}.h", f"{prefix}.c")}
    files |= {
        f"{prefix}_mex.c": mex_source(prefix, inputs=inputs, outputs=outputs),
        f"{prefix}_sfun.c": sfunction_source(
            prefix, 2 * rom.layout.size, inputs=inputs, outputs=outputs, feeds=model.instant
        ),
    }
    told = _COMPILED.format(prefix=prefix)
    title = f"{rom.name}: a reduced model for Matlab, Octave and Simulink"
    files["README.txt"] = _README.format(name=rom.name, line="=" * len(title), prefix=prefix, compiled=told)
    return files


MATLAB = ExportTarget("matlab", "a Matlab function with its data, a mex function and an S-function", matlab_files)
