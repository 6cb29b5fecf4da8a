"""`supple.report`: HTML reports on mechanisms, reduced models, comparisons, updated parameters and fitted damping."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from supple.checking.check import check
from supple.comparison.comparison import Comparison, compare
from supple.comparison.time_comparison import TimeComparison
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.formats.mechanism_text import to_yaml
from supple.formats.model_description import restore_mechanism
from supple.formats.source import source_of
from supple.identification.damping.fitted_damping import FittedDamping
from supple.identification.updating.updated import Updated
from supple.kinematics.configuration import At
from supple.reduced.model import ReducedModel
from supple.results.file import save_text
from supple.view.report.mechanism_sections import Stance, mechanism_sections, stance
from supple.view.report.model_sections import bounds, model_sections
from supple.view.report.page import (
    Html,
    Report,
    ReportSection,
    bullets,
    commands,
    fold_parts,
    heading,
    html_table,
    paragraph,
    report_section,
)
from supple.view.report.report_picture import Drawings, error_bars, meaning
from supple.view.report.updating_sections import damping_cards, damping_section, updating_cards, updating_sections
from supple.view.report.vibration_sections import Vibration, vibration_of, vibration_sections

_POINTS = 300  # random validation points


@dataclass(frozen=True)
class ReportRequest:
    """Options of a report.

    at, region : posture and coordinate ranges of a mechanism
    points     : number of random validation points of a reduced model
    file       : source file, as the user typed it
    target     : output file, as the user typed it
    progress   : show a progress bar; default: only in an interactive terminal
    """

    at: At = None
    region: Mapping[str, tuple[float, float]] | None = None
    points: int = _POINTS
    file: str | None = None
    target: str = "report.html"
    progress: bool | None = None


@dataclass(frozen=True)
class ReportKind:
    """A kind of report. of : type of the subject; make : function that builds the page."""

    of: type
    make: Callable[[Any, ReportRequest], Report]


def report(
    thing: Mechanism | ReducedModel | Comparison | TimeComparison | Updated | FittedDamping,
    path: str | Path | None = None,
    *,
    at: At = None,
    region: Mapping[str, tuple[float, float]] | None = None,
    points: int = _POINTS,
    file: str | None = None,
    progress: bool | None = None,
) -> Report:
    """Write a report as one self-contained HTML page with its figures.

    Parameters
    ----------
    thing : Mechanism, ReducedModel, Comparison, TimeComparison, Updated or FittedDamping
        Subject of the report: a mechanism, a reduced model, or the result of `compare`, `update` or `fit_damping`.
    path : str or pathlib.Path, optional
        HTML file to write. Default: the report is returned and no file is written.
    at : configuration, optional
        Posture of the mechanism in the report: name of a configuration, {coordinate: value in rad or m}, or an array.
        Default: the configuration "home", else the first named configuration, else the rest posture.
    region : mapping of str to (float, float), optional
        Region of a mechanism: ranges of coordinates (rad or m). Default: the limits of actuators
        and joints.
    points : int, optional
        Number of random points at which a reduced model is validated against its mechanism. Default: 300.
    file : str, optional
        Source file, for its SHA-256 digest and for the commands that reproduce the page. For a comparison, an update
        or fitted damping: the arguments of its command. Default: the file that a mechanism was loaded from.
    progress : bool, optional
        Show a progress bar. Default: only in an interactive terminal.

    Returns
    -------
    Report
        The page: its `title`, `cards` (key figures), `sections` and `data`; ``html()`` returns the whole file as text.

    Raises
    ------
    InputError
        If there is no report on objects of this type, or the file cannot be written.

    See Also
    --------
    check : Mobility, loops and redundant constraints of a mechanism, which a report includes.
    compare : Reduced model against its mechanism.

    Examples
    --------
    >>> import supple
    >>> page = supple.report(supple.load("four-bar"), progress=False)  # doctest: +SKIP
    >>> page.cards["mobility"], page.cards["bodies"]  # doctest: +SKIP
    ('1', '3')
    """
    require_arguments(report, locals())
    target = "report.html" if path is None else str(path)
    for kind in REPORTS:
        if isinstance(thing, kind.of):
            made = kind.make(thing, ReportRequest(at, region, points, file, target, progress))
            if path is not None:
                save_text(path, made.html())
            return made
    raise InputError(
        f"cannot report on a {type(thing).__name__}",
        part="report",
        hint="give a mechanism, a reduced model, or the result of compare, update or fit_damping",
    )


def _of_mechanism(mechanism: Mechanism, request: ReportRequest) -> Report:
    seen, here = check(mechanism), stance(mechanism, request.at, request.region)
    found, draw = vibration_of(here, request.progress), Drawings()
    file = _file_of(mechanism)
    name = shlex.quote(request.file or file or f"{mechanism.name}.yaml")
    typed = [f"supple check {name}"]
    if found is not None:
        typed += [f"supple modes {name}{_at(here)}", *_map_command(name, here)]
    region = ",".join(f"{key}={a:.10g}:{b:.10g}" for key, (a, b) in (request.region or {}).items())
    where = (_at(here) if request.at is not None else "") + (f" --region {shlex.quote(region)}" if region else "")
    typed += [f"supple report {name}{where} -o {shlex.quote(request.target)}"]
    origin = origin_section({"file": file} if file else {}, typed, description=to_yaml(mechanism))
    cards = {
        "mobility": f"{seen.mobility}",
        "bodies" + _of_them(seen.elastic_bodies): f"{len(seen.bodies)}",
        "joints" + _of_them(seen.elastic_joints): f"{len(seen.joints)}",
        "loops": f"{len(seen.loops)}",
        "redundant constraints": f"{seen.redundant_constraints}",
    }
    if found is not None:
        cards[f"lowest frequency, {here.at}"] = f"{found.here.frequencies_hz[0]:.4g} Hz"
    kind = f"planar ({seen.plane})" if seen.plane else "spatial"
    return Report(
        mechanism.name,
        f"A {kind} mechanism{' in ' + ', '.join(seen.coordinates) if seen.coordinates else ''}.",
        cards,
        (*mechanism_sections(here, seen, draw), *vibration_sections(here, found, draw), origin),
        _footer(),
        _mechanism_data(here, found) | {"digest": file_digest(file) if file else None},
    )


def _of_model(model: ReducedModel, request: ReportRequest) -> Report:
    mechanism = restore_mechanism(model)
    fresh = compare(mechanism, model, points=request.points, rigid=True)
    assert isinstance(fresh, Comparison)
    draw, low_high = Drawings(), bounds(model)
    seen = check(mechanism)
    names = model.layout.coordinates[: model.layout.theta]
    inside = dict(zip(names, zip(*(end.tolist() for end in low_high), strict=True), strict=True))
    follows = "path" in model.provenance["options"]
    here = stance(mechanism, request.at, None if follows else inside)
    found = vibration_of(here, request.progress) if mechanism.elastic and not model.rigid else None
    name = request.file or f"{model.name}.rom"
    source = f"{model.name}.yaml"
    typed = [
        f"# save the mechanism below as {source}",
        reduce_command(source, model, Path(name).name),
        f"supple compare {shlex.quote(source)} {shlex.quote(name)}",
        f"supple report {shlex.quote(name)} -o {shlex.quote(request.target)}",
    ]
    worst = max(fresh.error.values(), default=0.0)
    cards = {
        "coordinates θ": f"{model.layout.theta}",
        "elastic coordinates δ": f"{model.layout.size - model.layout.theta}",
        "largest error, stated": f"{max(model.error.values(), default=0.0):.2g}",
        f"largest error, {fresh.points} validation points": f"{worst:.2g}",
        "boxes": f"{model.provenance['boxes']}",
        "speed-up": f"{fresh.speedup:.3g}",
        "time per evaluation": f"{1e6 * fresh.reduced_seconds / fresh.points:.3g} µs",
        "memory": f"{model.provenance['memory'] / 1024:.3g} kB",
    }
    sections = [
        *model_sections(model, mechanism, fresh, draw), *mechanism_sections(here, seen, draw),
        *(vibration_sections(here, found, draw) if found is not None else []),
        origin_section({"model": name} if file_digest(name) else {}, typed, model.provenance, to_yaml(mechanism)),
    ]  # fmt: skip
    data = {
        "error": model.error, "fresh": fresh.error, "at": fresh.at, "points": fresh.points, "speedup": fresh.speedup,
        "met": model.met, "missed": model.provenance.get("missed", []),
        "truncation": model.provenance.get("truncation"),
        "exchanges": model.provenance.get("exchanges", []), "operations": model.provenance["operations"],
        "memory": model.provenance["memory"], "digest": file_digest(name),
    }  # fmt: skip
    subtitle = "Reduced model" + (
        ", within the requested tolerance." if model.met else ", NOT within the requested tolerance: see Errors."
    )
    return Report(f"{model.name}: reduced model", subtitle, cards, tuple(sections), _footer(), data)


def _of_comparison(found: Comparison, request: ReportRequest) -> Report:
    draw = Drawings()
    cards = {
        "points": f"{found.points}",
        "largest error": f"{max(found.error.values(), default=0.0):.2g}",
        "speed-up": f"{found.speedup:.3g}",
    }
    origin = _compared_origin(request)
    title = "Comparison of reduced model and mechanism"
    return Report(title, "Coefficients.", cards, (*coefficient_sections(found, draw), origin), _footer())


def _of_run(found: TimeComparison, request: ReportRequest) -> Report:
    draw = Drawings()
    cards = {
        "largest difference, relative to the elastic part": f"{100 * max(found.error.values(), default=0.0):.2g} %",
        "compared time": f"{found.time[-1] - found.time[0]:.4g} s" if found.points else "none",
        "speed-up": f"{found.speedup:.3g}",
    }
    origin = _compared_origin(request)
    title = "Comparison of reduced model and mechanism in time"
    return Report(title, "The same scenario for both.", cards, (*run_sections(found, draw), origin), _footer())


def _of_update(found: Updated, request: ReportRequest) -> Report:
    draw, mechanism = Drawings(), found.problem.structure.mechanism
    chosen = shlex.quote(",".join(found.names[: found.problem.count]))
    kinds = ",".join(item.kind.name for item in found.afterwards.kinds) if found.afterwards is not None else ""
    origin = _identified_origin(request, mechanism, f"--parameters {chosen}{f' --damping {kinds}' if kinds else ''}")
    title = f"{mechanism.name}: parameters from measurements"
    sections = (*updating_sections(found, draw), origin)
    return Report(title, "Measurements, updated parameters and their confidence.", updating_cards(found), sections,
                  _footer())  # fmt: skip


def _of_damping(found: FittedDamping, request: ReportRequest) -> Report:
    draw = Drawings()
    kinds = ",".join(item.kind.name for item in found.kinds)
    origin = _identified_origin(request, found.mechanism, f"--damping {kinds}")
    sections = (damping_section(found, draw, words=True), origin)
    title = f"{found.mechanism.name}: damping from responses"
    return Report(title, "Stiffnesses and masses are unchanged.", damping_cards(found), sections, _footer())


REPORTS = (
    ReportKind(Mechanism, _of_mechanism),
    ReportKind(ReducedModel, _of_model),
    ReportKind(Comparison, _of_comparison),
    ReportKind(TimeComparison, _of_run),
    ReportKind(Updated, _of_update),
    ReportKind(FittedDamping, _of_damping),
)


def _compared_origin(request: ReportRequest) -> ReportSection:
    """Return the provenance of a comparison; `file` are the arguments of the command (files and names of examples)."""
    typed = f"supple compare {request.file or 'FILE ROM'} --report {shlex.quote(request.target)}"
    return origin_section(
        _named_files(request.file), [typed if request.file else f"# computed in Python; as a command: {typed}"]
    )


def _identified_origin(request: ReportRequest, mechanism: Mechanism, options: str) -> ReportSection:
    """Return the provenance of an identification; `file` are the arguments of the command, if there was one.

    For a result computed in Python the command is given as a comment.
    """
    if request.file is not None:
        typed = f"supple identify {request.file} --report {shlex.quote(request.target)}"
        return origin_section(_named_files(request.file), [typed])
    file = _file_of(mechanism)
    target = shlex.quote(request.target)
    typed = f"supple identify {shlex.quote(file or 'FILE')} MEASURED@POSTURE {options} --report {target}"
    return origin_section({"file": file} if file else {}, [f"# computed in Python; as a command: {typed}"])


def _named_files(typed: str | None) -> dict[str, str]:
    """Return the files among the arguments of a command, including those in `FILE@POSTURE`."""
    words = [part for text in shlex.split(typed or "") for part in (text, text.partition("@")[0])]
    return {Path(text).name: text for text in words if text and Path(text).is_file()}


def _of_them(elastic: Sized) -> str:
    return f", {len(elastic)} of them elastic" if elastic else ""


def _file_of(mechanism: Mechanism) -> str | None:
    tree = source_of(mechanism)
    return None if tree is None or file_digest(tree.file) is None else tree.file


def _at(here: Stance) -> str:
    if here.at in here.mechanism.configurations:
        return f" --at {shlex.quote(here.at)}"
    values = ",".join(f"{name}={float(value):.10g}" for name, value in here.configuration.coordinates.items())
    return f" --at {shlex.quote(values)}" if here.at != "rest" and values else ""


def _map_command(name: str, here: Stance) -> list[str]:
    pieces = [f"{key}={a:.10g}:{b:.10g}" for key, (a, b) in here.ranges.items()]
    maps = [",".join(pieces)] if len(pieces) == 2 else pieces
    return [f"supple modes {name}{_at(here)} --map {shlex.quote(text)} -o map.png" for text in maps]


def _mechanism_data(here: Stance, found: Vibration | None) -> dict[str, Any]:
    data: dict[str, Any] = {"at": {name: float(value) for name, value in here.configuration.coordinates.items()}}
    data["region"] = here.ranges
    if found is not None:
        data["frequencies_hz"] = np.asarray(found.here.frequencies_hz).tolist()
        data["bands_hz"] = found.bands_hz.tolist() if found.maps else []
    return data


def _footer() -> str:
    return f"Written by supple {versions()['supple']}."


# Provenance of a report: versions, files with their digests, and commands that reproduce it.


_PACKAGES = ("supple", "numpy", "scipy", "numba", "matplotlib")


def _has_unloaded_modes(modes: Mapping[str, Any]) -> bool:
    """Return True if a flexible reduced model omits the geometric stiffness of loads at rest."""
    flexible = bool(modes.get("constraint")) or bool(modes.get("internal"))
    return flexible and not (modes.get("preload") or modes.get("stiffening"))


def versions() -> dict[str, str]:
    """Return the versions of the software."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # run from the source tree, not installed
            found[name] = "unknown"
    return found


def file_digest(file: str | Path) -> str | None:
    """Return the SHA-256 digest of a file; None if it does not exist."""
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError:
        return None


def origin_section(
    files: Mapping[str, str], typed: Sequence[str], made: Mapping[str, Any] | None = None, description: str = ""
) -> ReportSection:
    """Return the provenance section.

    files       : kind of file -> path
    made        : provenance of a reduced model
    description : of the mechanism, as text
    """
    rows = [("written", datetime.now(UTC).isoformat(timespec="seconds"))]
    rows += [("computed with", ", ".join(f"{name} {number}" for name, number in versions().items()))]
    rows += [("on", f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores")]
    for what, path in files.items():
        rows.append((what, Path(path).name))
        found = file_digest(path)
        rows += [(f"SHA-256 of the {what}", found)] if found else []
    parts: list[Html | None] = [html_table(("", ""), rows, texts=(0, 1))]
    if made:
        options = {name: value for name, value in made["options"].items() if value is not None}
        of_model = [("reduced on", made["made"]["at"])]
        of_model += [("with", ", ".join(f"{name} {number}" for name, number in made["versions"].items()))]
        of_model += [(name, str(value)) for name, value in options.items() if name != "modes"]
        of_model += [(f"modes, {name}", str(value)) for name, value in options.get("modes", {}).items()]
        parts += [heading("Options of the reduction"), html_table(("", ""), of_model, texts=(0, 1))]
    if description:
        parts.append(fold_parts("Mechanism description", commands(description.rstrip().splitlines())))
    return report_section("Provenance and commands", commands(typed), *parts)


def reduce_command(name: str, model: Any, target: str) -> str:
    """Return the `supple reduce` command that reproduces a model."""
    options = model.provenance["options"]
    command = ["supple", "reduce", shlex.quote(name)]
    names = model.layout.coordinates[: model.layout.theta]
    if "path" not in options and len(options["region"]) == 1:
        low, high = options["region"][0]
        pieces = [f"{key}={a:.10g}:{b:.10g}" for key, a, b in zip(names, low, high, strict=True)]
        pieces += [f"{key}={value:.10g}" for key, value in model.held_coordinates.items()]
        command += ["--region", shlex.quote(",".join(pieces))]
    if options.get("vary"):
        ranges = [f"{key}={a:.10g}:{b:.10g}" for key, (a, b) in options["vary"].items()]
        command += ["--vary", shlex.quote(",".join(ranges))]
    modes = options.get("modes", {})
    if modes.get("constraint"):
        command += ["--constraint-modes", shlex.quote(",".join(modes["constraint"]))]
    if modes.get("internal"):
        command += ["--internal-modes", str(modes["internal"]), "--tracking", modes["tracking"]]
    command += ["--stiffening"] if modes.get("stiffening") else []
    command += ["--no-preload"] if _has_unloaded_modes(modes) else []
    command += ["--fit", options["fit"]]
    if options.get("boxes") is not None:
        boxes = options["boxes"]
        command += ["--boxes", ",".join(str(n) for n in (boxes if isinstance(boxes, list | tuple) else [boxes]))]
    else:
        command += ["--tolerance", f"{options['tolerance']:g}"]
    command += ["--degree", str(options["degree"])] if options.get("degree") is not None else []
    command += ["--continuous"] if options.get("continuous") else []
    return " ".join([*command, "-o", shlex.quote(target)])


# Comparison of a reduced model with its mechanism: coefficients at many points, or simulations of both.


def per_cent(share: float) -> str:
    """Return a text such as `0.12 %`."""
    return f"{100 * share:.2g} %"


def coefficient_sections(found: Comparison, draw: Drawings) -> list[ReportSection]:
    """Return the sections of a comparison at points or along a motion."""
    rows = [
        (name, meaning(name), f"{worst:.2g}", _place(found.at.get(name, {}))) for name, worst in found.error.items()
    ]
    off = found.force_error
    force = [] if off is None else [f"Forces required for the motion differ by {off:.2g} of their largest value."]
    named = {name: share for name, share in found.output_error.items() if not name.startswith("[")}  # public names
    outputs = [(name, per_cent(share)) for name, share in named.items()]
    each = [1e6 * seconds / found.points for seconds in (found.full_seconds, found.reduced_seconds)]
    return [
        report_section(
            "Coefficients",
            paragraph(f"Differences at {found.points} points, relative to the size of each coefficient family."),
            bullets(force),
            draw.picture(error_bars(found.error), "Largest difference of each family."),
            html_table(("family", "", "largest error", "at"), rows, texts=(0, 1, 3)),
        ),
        report_section(
            "Outputs and speed",
            html_table(("output", "error / largest value"), outputs),
            html_table(
                ("evaluation", "time / µs"),
                [
                    ("mechanism", f"{each[0]:.3g}"),
                    ("model", f"{each[1]:.3g}"),
                    ("speed-up", f"{found.speedup:.3g}"),
                ],
            ),
        ),
    ]


def run_sections(found: TimeComparison, draw: Drawings) -> list[ReportSection]:
    """Return the sections of a comparison in time."""
    units = found.full.observed_signals.units
    rows = [
        (label, units.get(judged.outputs[0], ""), f"{judged.scale:.4g}", judged.measured_by, per_cent(judged.error),
         per_cent(judged.rms_error), "" if judged.elastic_error is None else per_cent(judged.elastic_error))
        for label, judged in found.vectors.items()
    ]  # fmt: skip
    heads = ("output", "unit", "scale", "scale from", "largest difference", "rms", "relative to the deformation")
    full, reduced = (found.frequencies_hz[which] for which in ("full", "reduced"))
    tones = [
        (f"{a:.4g}", f"{b:.4g}" if b == b else "none", f"{100 * (b / a - 1):+.2g} %" if b == b else "")
        for a, b in zip(full, reduced, strict=True)
    ]
    early = [f"The comparison ends at {found.time[-1]:.6g} s: {found.reason}"] if found.reason and found.points else []
    missing = [f"The model has no {', '.join(found.missing)}."] if found.missing else []
    sections = [
        report_section(
            "Outputs in time",
            bullets(early + missing),
            draw.picture(found.plot(), "Both simulations, and their difference relative to the largest elastic part."),
            html_table(heads, rows, texts=(0, 1, 3)),
        )
    ]
    worst = sorted(found.coefficients.items(), key=lambda item: -item[1])
    own = "" if found.own is None else f", {found.own.steps} steps"
    sections.append(
        report_section(
            "Resonances, energy and speed",
            heading("Resonances") if tones else None,
            html_table(("mechanism / Hz", "model / Hz", "difference"), tones, texts=()),
            heading("Energy"),
            html_table(("", "mechanism / J", "model / J"), _accounts(found.energy)),
            heading("Speed"),
            html_table(
                ("", "time / s"),
                [(f"mechanism, {found.full.steps} steps", f"{found.full_seconds:.3g}"),
                 (f"model{own}", f"{found.reduced_seconds:.3g}"), ("speed-up", f"{found.speedup:.3g}")],
            ),
        )
    )  # fmt: skip
    if worst:
        sections.append(
            report_section(
                "Coefficients along the motion",
                draw.picture(
                    error_bars(found.coefficients), "Largest difference of each coefficient family along the run."
                ),
                html_table(
                    ("family", "", "largest error"), [(k, meaning(k), f"{v:.2g}") for k, v in worst], texts=(0, 1)
                ),
            )
        )
    return sections


def _accounts(energy: dict[str, dict[str, Any]]) -> list[tuple[str, ...]]:
    full, reduced = energy["full"], energy["reduced"]
    names = [name for name in full if name != "defect" and (full[name] or reduced.get(name))]
    return [(name, *(f"{side[name]:.6g}" if name in side else "" for side in (full, reduced))) for name in names]


def _place(at: dict[str, float]) -> str:
    return ", ".join(f"{name} = {value:.4g}" for name, value in at.items())
