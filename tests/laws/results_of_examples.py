"""Every result of every bundled example prints, is saved and is drawn.

    python tests/laws/results_of_examples.py [--only ralf] [--models] [--draw-files]

Each example is asked everything that it can be asked, in small: a question that an example does not allow (modes of a
rigid machine, a motion that it does not have) is refused by an `InputError` when it is asked, never when its result is
printed. `--models` reduces each example too and asks the model. What fails is printed, and the status is then 1.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import supple
from supple.diagnostics import SuppleError, SuppleNote, SuppleWarning
from supple.formulations.coefficients import get_coefficients
from supple.kinematics.rest import rest

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(path.parent.name for path in FOLDER.glob("*/mechanism.yaml"))


def machine(name: str) -> supple.Mechanism:
    return supple.load(FOLDER / name / "mechanism.yaml")


def posture(mechanism: supple.Mechanism) -> Any:
    """`home`, the first configuration, or rest."""
    named = mechanism.configurations
    return "home" if "home" in named else next(iter(named), None)


def questions(mechanism: supple.Mechanism) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What a mechanism can be asked, each as small as it can be."""
    at = posture(mechanism)
    theta = supple.assemble(mechanism, at).theta
    coordinates = supple.assemble(mechanism, at).coordinates
    near = [theta, theta + 1e-3]
    grid = {name: [float(value), float(value) + 1e-3] for name, value in list(coordinates.items())[:2]}
    kept = {name: float(value) for name, value in coordinates.items() if name not in grid}
    hertz = [1.0, 3.0, 10.0]
    port = next(iter(get_coefficients(rest(mechanism)).outputs), None) or next(iter(mechanism.actuators))
    yield "check", lambda: supple.check(mechanism)
    yield "assemble", lambda: supple.assemble(mechanism, at)
    yield "assemble many", lambda: supple.assemble(mechanism, near)
    yield "branches", lambda: supple.branches(mechanism, at, count=10)
    yield "local", lambda: supple.local(mechanism, at, rigid=True)
    yield "local, flexible", lambda: supple.local(mechanism, at, internal_modes=1)
    yield "modes", lambda: supple.modes(mechanism, at, count=2)
    yield "modes, free", lambda: supple.modes(mechanism, at, count=2, free_actuators=True)
    yield "modes of many", lambda: supple.modes(mechanism, near, count=2)
    yield "small motions", lambda: supple.small_motions(mechanism, at, count=2)
    yield "frequency map", lambda: supple.frequency_map(mechanism, grid, count=1, at=kept)
    yield "compliance map", lambda: supple.compliance_map(mechanism, grid, port, at=kept)
    yield "frf", lambda: supple.frf(mechanism, at, port, port, hertz)
    yield "compliance", lambda: supple.compliance(mechanism, at, port)
    yield "deflection", lambda: supple.deflection(mechanism, at)
    yield "large deflection", lambda: supple.deflection(mechanism, at, large=True)
    yield "equilibrium", lambda: supple.equilibrium(mechanism)
    yield "linearize", lambda: supple.linearize(mechanism, at)
    yield "linearize many", lambda: supple.linearize_batch(mechanism, near)
    yield "simulate", lambda: supple.simulate(mechanism, start=at, until=4e-3, step=1e-3, rigid=True)
    yield "simulate, flexible", lambda: supple.simulate(mechanism, start=at, until=2e-3, step=1e-3)
    yield "hardware", lambda: supple.hardware_of(mechanism)
    for name in mechanism.motions:
        yield f"trajectory {name}", lambda name=name: supple.trajectory(mechanism, name, step=0.1)
        yield f"inverse {name}", lambda name=name: supple.inverse(mechanism, name, step=0.1, rigid=True)


def questions_of_model(mechanism: supple.Mechanism) -> Iterator[tuple[str, Callable[[], Any]]]:
    """A coarse reduced model over a small region about its posture, and what that can be asked."""
    coordinates = supple.assemble(mechanism, posture(mechanism)).coordinates
    region = {name: (float(value) - 1e-2, float(value) + 1e-2) for name, value in coordinates.items()}
    modes = 1 if mechanism.elastic else 0
    model = supple.reduce(mechanism, region=region, internal_modes=modes, tolerance=1e-1, store=False)
    here = np.array([float(value) for value in coordinates.values()])
    yield "model", lambda: model
    yield "model, evaluate", lambda: model.evaluate(here)
    yield "model, linearize", lambda: model.linearize(here)
    yield "model, simulate", lambda: model.simulate(until=2e-3, step=1e-3, start=here)
    yield "compare", lambda: supple.compare(mechanism, model, points=3)


def given_out(
    found: Any, folder: Path, *, many: bool = False, draw: bool = True, draw_files: bool = False
) -> list[str]:
    """Print, save and draw a result; returns which of these it can.

    many : whether it is of several configurations: it may then refuse to be a table or a picture, by an `InputError`
    """
    done = ["repr"]
    assert repr(found)
    assert str(found)
    if hasattr(found, "_repr_html_"):
        assert found._repr_html_()
        done.append("html")
    if hasattr(found, "summary"):
        assert found.summary()
    if hasattr(found, "save"):
        for kind in ("csv", "npz", "mat"):
            try:
                assert found.save(folder / f"result.{kind}").stat().st_size > 0
                done.append(kind)
            except supple.InputError:
                if kind != "csv" or not many:
                    raise
    if draw and hasattr(found, "plot"):
        import matplotlib.pyplot as plt

        try:
            panels = found.plot()
        except supple.InputError:
            if not many:
                raise
            return done
        if draw_files:
            panels.figure.savefig(folder / "picture.png", dpi=40)
        else:
            panels.figure.draw_without_rendering()
        plt.close(panels.figure)
        done.append("plot")
    return done


def failures(
    name: str,
    folder: Path,
    *,
    only: Sequence[str] = (),
    models: bool = False,
    draw: bool = True,
    draw_files: bool = False,
) -> Iterator[tuple[str, str]]:
    """(question, what came of it) of an example: how its result was given out, `refused: ...` or `FAILED ...`.

    only : questions that are asked, those of the first motion alone among those about motions; all if left out
    """
    mechanism = machine(name)
    asked = dict(questions(mechanism))
    if only:
        first = next(iter(mechanism.motions), "")
        asked = {f: ask for f, ask in asked.items() if f in only or (f.endswith(f" {first}") and f.split()[0] in only)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)
        warnings.simplefilter("ignore", SuppleNote)
        if models:
            try:
                asked |= dict(questions_of_model(mechanism))
            except SuppleError as error:
                print(f"{name}: no model: {error}")
        for question, ask in asked.items():
            try:
                found = ask()
            except SuppleError as error:
                yield question, f"refused: {error}"
                continue
            try:
                done = given_out(found, folder, many="many" in question, draw=draw, draw_files=draw_files)
                yield question, ", ".join(done)
            except Exception:  # noqa: BLE001 - whatever it is, it is told
                yield question, "FAILED " + traceback.format_exc().strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", help="an example; all if left out")
    parser.add_argument("--models", action="store_true", help="reduce each example and ask its model too")
    parser.add_argument("--draw-files", action="store_true", help="write every picture as PNG")
    given = parser.parse_args()
    failed = asked = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in given.only or EXAMPLES:
            began = time.perf_counter()
            for question, said in failures(name, Path(folder), models=given.models, draw_files=given.draw_files):
                asked += 1
                refused += said.startswith("refused")
                failed += said.startswith("FAILED")
                if said.startswith(("FAILED", "refused")):
                    print(f"{name}, {question}: {said}")
            print(f"{name}: {time.perf_counter() - began:.1f} s")
    print(f"{asked} questions, {refused} refused, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    import matplotlib

    matplotlib.use("agg")
    sys.exit(main())
