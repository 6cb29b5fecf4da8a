"""C program that closes the loop of an exported controller with the exported model, and compares it with Python."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.export.c.equations import coefficient_argument
from supple.export.c.generated_model import CModel
from supple.export.c.recorded_run import ControllerRun, as_columns
from supple.export.c.source_text import c_number, c_table, prefix_of
from supple.export.c.stability import stable_step
from supple.export.c.target import in_precision, model_files, self_test
from supple.export.template import Words, fill_template, template_parts

if TYPE_CHECKING:
    from supple.hardware.hardware import Hardware
    from supple.reduced.model import ReducedModel

PARTS = template_parts("supple.export.c", "loop_program.c")
TOLERANCE = {"double": 1e-6, "single": 1e-2}  # of coordinates and commands, of their largest changes and values
QUANTIZED = 1e-2  # the same if readings or commands have a resolution: rounding then moves them by whole steps
_STEP = 0.1  # longest step, in time constants of the fastest eigenvalue
_FEWEST, _MOST = 4, 1000  # steps of a sample
_SHOWN = 200  # samples that are compared
_SOON = {"double": 1e-9, "single": 1e-5}  # samples after a jump of the drives


def loop_files(
    controller: Words, run: ControllerRun, model: ReducedModel, prefix: str, precision: str
) -> dict[str, str]:
    """Return the files of the model with its test, and `<prefix>_loop_test.c`.

    controller : words of the controller's own files
    """
    name = prefix_of(model.name)
    files = model_files(model, name, precision)
    del files["example_main.c"]
    c_model = CModel(name, model, precision)
    own = self_test(c_model, model, precision)
    if own:
        files[f"{name}_test.c"] = in_precision(own, precision)
    text = fill_template(PARTS["test"], controller | _words(c_model, run, model, precision))
    return files | {f"{prefix}_loop_test.c": in_precision(text, precision)}


def _words(c_model: CModel, run: ControllerRun, model: ReducedModel, precision: str) -> Words:
    loop, layout, hardware = run.loop, model.layout, model.hardware
    assert loop is not None
    assert run.settled is not None
    if "input_map" not in {name for name, _, _ in c_model.members()}:
        raise InputError("the model has no inputs", part="export", hint="export the controller without model=")
    n, outputs, T = layout.size, layout.outputs, run.sample_time
    led = list(run.settled.led)
    free = [i for i in range(n) if i not in led]
    eta, v = as_columns(loop.coordinates, layout.coordinates), as_columns(loop.rates, layout.coordinates)
    samples = len(loop.time) - 1
    stride = max(1, samples // _SHOWN)
    shown = np.arange(0, samples, stride)
    moves = np.abs(eta - eta[0]).max(axis=0)
    scales = np.where(moves > 0.0, moves, 1.0)
    nodes = _nodes(T, T * stable_step(model).fastest, [block.delay for block in hardware.drives])
    first = as_columns({name: loop.outputs[name] for name in outputs}, outputs)[:1] if outputs else np.zeros((1, 1))
    tables = [
        f"#define SOON {c_number(_SOON[precision] * T)} /* s */\n", c_table("double", "nodes", nodes),
        c_table("int", "led", np.array([*led, -1])), c_table("int", "free_", np.array([*free, -1])),
        c_table("int", "acts_on", np.array(run.settled.places)),
        c_table("int", "signals", np.array([*run.signals, -1])),
        c_table("int", "drives_input", np.array(run.inputs)), c_table("double", "start", np.stack([eta[0], v[0]])),
        c_table("double", "first_outputs", first[0]), c_table("double", "coordinates", eta[shown]),
        c_table("double", "scales", scales), c_table("double", "expected", run.commands[shown]),
        c_table("double", "command_scales", np.abs(run.commands).max(axis=0) + 1e-30),
    ]  # fmt: skip
    drives = bool(hardware.drives)
    if drives:
        states = max(1, run.settled.x.shape[1])
        x = np.zeros((len(layout.inputs), states))
        x[:, : run.settled.x.shape[1]] = run.settled.x
        tables += [f"enum {{ DRIVE_STATES = {states} }};\n", c_table("double", "settled_state", x)]
        tables += [c_table("double", "settled_command", run.settled.command)]
    unused = [] if led else ["led"]
    unused += [] if drives else ["acts_on"]
    kept = [text for text in tables if not any(f" {item}[" in text.split("=")[0] for item in unused)]
    whole = not hardware
    measures = len(run.signals)
    return {
        "model": c_model.prefix, "MODEL": c_model.upper, "hardware": f"{c_model.prefix}_hardware" if hardware else "",
        "outputs": len(outputs), "numbers": (2 * n if whole else 0) + len(outputs), "led": len(led), "samples": samples,
        "steps": len(nodes) - 1, "shown": len(shown), "stride": stride, "tables": "".join(kept), "drives": drives,
        "instruments": bool(hardware.instruments), "whole": whole, "observed": layout.observation is not None,
        "point": f"now->{coefficient_argument(c_model).split('[')[0]}" if c_model.bent else "now->eta",
        "u": ", now->u" if layout.inputs else "", "measures": measures, "measured": max(1, measures),
        "given_measured": ", measured" if measures else "",
        "tolerance": repr(QUANTIZED if _quantized(hardware) else TOLERANCE[precision]),
    }  # fmt: skip


def _nodes(T: float, speed: float, delays: Sequence[float]) -> Array:
    """Return the ends of the steps of a sample, s; speed : of the fastest eigenvalue, per sample."""
    arrivals = [delay % T for delay in delays if _SOON["single"] * T < delay % T < (1.0 - _SOON["single"]) * T]
    breaks = np.unique([0.0, *arrivals, T])
    nodes = [np.zeros(1)]
    for first, last in pairwise(breaks.tolist()):
        share = (last - first) / T
        count = int(np.clip(np.ceil(share * speed / _STEP), np.ceil(share * _FEWEST), _MOST))
        nodes.append(np.linspace(first, last, count + 1)[1:])
    return np.concatenate(nodes)


def _quantized(hardware: Hardware) -> bool:
    return any(block.resolution > 0.0 for block in hardware.drives) or any(
        item.resolution > 0.0 for item in hardware.instruments
    )
