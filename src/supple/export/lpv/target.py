"""A reduced model as linear models on a grid: arrays for Matlab's and Python's tools, and how to load them."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from supple.diagnostics import InputError
from supple.export.target import ExportTarget
from supple.reduced.linear_family import linear_family
from supple.reduced.model import ReducedModel
from supple.results.file import arrays_mat, arrays_npz
from supple.results.linear_family import LinearFamily

_LOADER = """\
% {name} as a linear parameter-varying system: an array of models over a grid, and its offsets.
% sys(:,:,i,j) is the model at a point; the LPV System block and lpvss take sys with these offsets.
data = load('{prefix}_lpv.mat');
{grid}
if exist('ss', 'file') || exist('ss', 'builtin')
    sys = ss(data.A, data.B, data.C, data.D);
    sys.StateName = data.states; sys.InputName = data.inputs; sys.OutputName = data.outputs;
    sys.SamplingGrid = struct({named});
end
offsets = struct('x', data.x0, 'u', data.u0, 'y', data.y0);
"""


def lpv_files(rom: Any, prefix: str, tolerance: float = 0.01) -> dict[str, str | bytes]:
    """`PREFIX_lpv.mat`, `PREFIX_lpv.npz`, and a script that makes an array of models of the first."""
    if not isinstance(rom, ReducedModel):
        raise InputError(
            "only a whole reduced model can be linearized", part="export", hint="load it from its .rom file"
        )
    family = linear_family(rom, tolerance=float(tolerance))
    content = {}
    for suffix, write in ((".mat", arrays_mat), (".npz", arrays_npz)):
        stream = BytesIO()
        write(stream, family.arrays())
        content[f"{prefix}_lpv{suffix}"] = stream.getvalue()
    return {**content, f"{prefix}_lpv_load.m": _loader(family, prefix)}


def _loader(family: LinearFamily, prefix: str) -> str:
    count = len(family.grid)
    made = ", ".join(f"p{i + 1}" for i in range(count))
    given = ", ".join(f"data.grid_{i + 1}" for i in range(count))
    grid = f"[{made}] = ndgrid({given});" if count > 1 else "p1 = data.grid_1;"
    named = ", ".join(f"'p{i + 1}', p{i + 1}" for i in range(count))
    plain = "".join(letter if letter.isalnum() or letter in " -_." else "_" for letter in family.name)
    return _LOADER.format(name=plain, prefix=prefix, grid=grid, named=named)


LPV = ExportTarget("lpv", "linear models on a grid of the region, as .mat and .npz", lpv_files, options=("tolerance",))
