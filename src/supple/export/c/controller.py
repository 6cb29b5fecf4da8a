"""C code of a controller: its law, its motion, and one function that computes a sample from the measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError, require_known
from supple.export.c.header import comment_lines
from supple.export.c.law import law_files
from supple.export.c.motion import motion_sources
from supple.export.c.motion_table import MotionTable, motion_table
from supple.export.c.program_build import program_build_files
from supple.export.c.recorded_run import ControllerRun, record_run
from supple.export.c.source_text import BYTES, PRECISIONS, c_table, comment, single_precision, with_sections
from supple.export.template import Words, fill_template, template_parts
from supple.reduced.family import model_at_parameters

if TYPE_CHECKING:
    from supple.control.laws.affine_controller import AffineController
    from supple.reduced.model import ReducedModel

PARTS = template_parts("supple.export.c", "controller.c")
HEADER_PARTS = template_parts("supple.export.c", "header.h")
TOLERANCE = {"double": 1e-10, "single": 1e-4}  # of the test, relative to the largest command
_RANK = {"double": 1e-14, "single": 1e-8}
_MOST = 1000  # samples of the test


def controller_files(
    controller: AffineController,
    prefix: str,
    *,
    precision: str = "double",
    tolerance: float | None = None,
    model: ReducedModel | None = None,
) -> dict[str, str]:
    """Return the C files of a controller, {name: text}: law, motion, controller, tests and build files.

    model : the plant, whose files and a program that closes the loop are added
    """
    require_known("precision", precision, PRECISIONS, part="export")
    if model is not None and model.family is not None:
        model = model_at_parameters(model)
    files = _Exported(controller, prefix, precision, tolerance)
    run = record_run(controller, files.motion, files.feedforward, model)
    made = files.sources(run) | {f"{prefix}_controller_test.c": files.test(run)}
    tests = [f"{prefix}_controller_test"]
    if model is not None:
        from supple.export.c.loop_program import loop_files

        added = loop_files(files.words, run, model, prefix, precision)
        tests += [name[:-2] for name in added if name.endswith("_test.c")]
        made |= added
    sources = [name for name in made if name.endswith(".c") and name[:-2] not in tests]
    return made | program_build_files(f"{prefix}_controller", sources, tests)


class _Exported:
    """Texts of a controller.

    motion, feedforward : tables of its motion and of its precomputed commands, None without
    """

    def __init__(self, controller: AffineController, prefix: str, precision: str, tolerance: float | None) -> None:
        self.law, self.prefix, self.precision = controller.law, prefix, precision
        T, ports = controller.law.ports.sample_time, controller.law.ports
        self.motion, self.feedforward = (
            None if part is None or not used
            else motion_table(part, sample_time=T, tolerance=tolerance, precision=precision, sampled=sampled)
            for part, used, sampled in (
                (controller.reference, ports.coordinates, False), (controller.feedforward, ports.fed, True),
            )
        )  # fmt: skip
        if ports.coordinates and self.motion is None:
            raise InputError(
                "it has no motion", part=f'controller "{self.law.name}"',
                hint="give AffineController(law, reference), or export the law alone: export(controller.law, ...)",
            )  # fmt: skip
        measures, name = bool(ports.measured), f"{prefix}_controller"
        arguments = ["measured"] if measures else []
        if ports.coordinates:
            arguments.append(f"(const double (*)[4][{prefix.upper()}_LAW_COORDINATES])known->wanted")
        arguments += ["applied", *(["known->fed[0]"] if ports.fed else [])]
        self.words: Words = {
            "name": comment(self.law.name), "prefix": name, "UPPER": name.upper(), "law": f"{prefix}_law",
            "LAW": f"{prefix}_law".upper(), "motion": f"{prefix}_motion" if self.motion else "",
            "feedforward": f"{prefix}_feedforward", "fed": ports.fed, "states": max(1, self.law.states),
            "sections": fill_template(HEADER_PARTS["sections"], {"UPPER": name.upper()}),
            "rank": repr(_RANK[precision]), "measures": measures, "arguments": ", ".join(arguments),
            "measured": f", const double measured[{prefix.upper()}_LAW_MEASURED]" if measures else "",
            "given": ", measured" if measures else "",
            "finite": f"are_finite(measured, {prefix.upper()}_LAW_MEASURED)" if measures else "1",
        }  # fmt: skip

    def sources(self, run: ControllerRun) -> dict[str, str]:
        """Return the files of law, motion, feedforward and controller."""
        words = self.words | {"introduction": comment_lines(self._introduction(run), "")}
        name = f"{self.prefix}_controller"
        files = dict(law_files(self.law, self.prefix))
        files |= {f"{name}.h": fill_template(PARTS["header"], words)}
        files |= {f"{name}.c": with_sections(fill_template(PARTS["source"], words), name.upper())}
        made = {item: self._converted(text) for item, text in files.items()}
        if self.motion is not None:
            made |= motion_sources(self.motion, f"{self.prefix}_motion")
        if self.feedforward is not None:
            made |= motion_sources(self.feedforward, f"{self.prefix}_feedforward", "precomputed commands")
        return made

    def test(self, run: ControllerRun) -> str:
        """Return the text of the test program."""
        count = min(_MOST, len(run.commands))
        scales = command_scales(run.commands)
        tables = c_table("double", "measured", run.measured[:count]) if self.words["measures"] else ""
        tables += c_table("double", "expected", run.commands[:count]) + c_table(
            "double", "applied", run.applied[:count]
        )
        words = self.words | {
            "samples": count, "tables": tables + c_table("double", "scales", scales),
            "tolerance": repr(TOLERANCE[self.precision]),
            "first": ", measured[0]" if self.words["measures"] else "",
            "here": ", measured[k]" if self.words["measures"] else "",
        }  # fmt: skip
        return self._converted(fill_template(PARTS["test"], words))

    def _converted(self, text: str) -> str:
        return single_precision(text) if self.precision == "single" else text

    def _introduction(self, run: ControllerRun) -> list[str]:
        ports, real = self.law.ports, BYTES[self.precision]
        size = real * (max(1, self.law.states) + 2 * len(ports.actuators)) + 8
        tables: list[MotionTable] = [part for part in (self.motion, self.feedforward) if part is not None]
        lines = [
            f"{comment(self.law.name)}: controller with a sample time of {ports.sample_time:g} s. Generated by supple.",
            "", f"Law, measurements and commands: {self.prefix}_law.h.",
        ]  # fmt: skip
        if self.motion is not None:
            lines += [f"Motion: {self.prefix}_motion.h, {self.motion.bytes} bytes, begins at the first sample."]
        if self.feedforward is not None:
            lines += [f"Precomputed commands: {self.prefix}_feedforward.h, {self.feedforward.bytes} bytes."]
        operations = sum(
            count * part.operations
            for part, count in zip((self.motion, self.feedforward), (len(ports.previews), 1), strict=True) if part
        )  # fmt: skip
        if tables:
            lines += [
                f"Their evaluation takes at most {operations} operations a sample, besides those of the law.",
                "Their errors change commands by at most this part of the largest command, in the run of the test:",
                f"    {run.effect:.2g}",
            ]
        start = 2 * (len(ports.actuators) + 1) + 2
        lines.append(
            f"The state of the controller takes {size} bytes. `start` takes as long as {start} samples at most."
        )
        return lines


def command_scales(commands: Array) -> Array:
    """Return the largest magnitude of each command (N, a), (a,); 1 where it is zero."""
    largest: Any = np.abs(commands).max(axis=0)
    return np.asarray(np.where(largest > 0.0, largest, 1.0))
