"""A reduced model against its mechanism: coefficients at many points, or a run of both in time."""

from __future__ import annotations

from typing import Any

from supple.comparison.comparison import Comparison
from supple.comparison.time_comparison import TimeComparison
from supple.view.report.drawing import Drawings
from supple.view.report.error_bars import error_bars, meaning
from supple.view.report.page import Section, heading, listed, paragraph, section, table


def per_cent(share: float) -> str:
    """`0.12 %`"""
    return f"{100 * share:.2g} %"


def coefficient_sections(found: Comparison, draw: Drawings) -> list[Section]:
    """At points, or along a motion."""
    rows = [
        (name, meaning(name), f"{worst:.2g}", _place(found.at.get(name, {}))) for name, worst in found.error.items()
    ]
    off = found.force_error
    force = [] if off is None else [f"Forces that the motion needs differ by {off:.2g} of their largest value."]
    named = {name: share for name, share in found.output_error.items() if not name.startswith("[")}  # those inside
    outputs = [(name, per_cent(share)) for name, share in named.items()]
    each = [1e6 * seconds / found.points for seconds in (found.full_seconds, found.reduced_seconds)]
    return [
        section(
            "Coefficients",
            paragraph(f"At {found.points} points; differences relative to the size of each family."),
            listed(force),
            draw.picture(error_bars(found.error), "Largest difference of each family."),
            table(("family", "", "largest error", "at"), rows, texts=(0, 1, 3)),
        ),
        section(
            "Outputs and speed",
            table(("output", "off by, of its largest value"), outputs),
            table(
                ("evaluation", "time / µs"),
                [
                    ("mechanism", f"{each[0]:.3g}"),
                    ("model", f"{each[1]:.3g}"),
                    ("times as fast", f"{found.speedup:.3g}"),
                ],
            ),
        ),
    ]


def run_sections(found: TimeComparison, draw: Drawings) -> list[Section]:
    """Both in time."""
    units = found.full.seen.units
    rows = [
        (label, units.get(judged.outputs[0], ""), f"{judged.scale:.4g}", judged.measured_by, per_cent(judged.error),
         per_cent(judged.rms_error), "" if judged.elastic_error is None else per_cent(judged.elastic_error))
        for label, judged in found.vectors.items()
    ]  # fmt: skip
    heads = ("output", "unit", "scale", "measured by", "largest difference", "rms", "of the deformation alone")
    full, reduced = (found.frequencies_hz[which] for which in ("full", "reduced"))
    tones = [
        (f"{a:.4g}", f"{b:.4g}" if b == b else "none", f"{100 * (b / a - 1):+.2g} %" if b == b else "")
        for a, b in zip(full, reduced, strict=True)
    ]
    early = [f"The comparison ends at {found.time[-1]:.6g} s: {found.reason}"] if found.reason and found.points else []
    missing = [f"The model has no {', '.join(found.missing)}."] if found.missing else []
    told = [
        section(
            "Outputs in time",
            listed(early + missing),
            draw.picture(found.plot(), "Both in time, and their difference, of the largest elastic part."),
            table(heads, rows, texts=(0, 1, 3)),
        )
    ]
    worst = sorted(found.coefficients.items(), key=lambda item: -item[1])
    own = "" if found.own is None else f", {found.own.steps} steps"
    told.append(
        section(
            "Resonances, energy and speed",
            heading("Resonances") if tones else None,
            table(("mechanism / Hz", "model / Hz", "off by"), tones, texts=()),
            heading("Energy"),
            table(("", "mechanism / J", "model / J"), _accounts(found.energy)),
            heading("Speed"),
            table(
                ("", "time / s"),
                [(f"mechanism, {found.full.steps} steps", f"{found.full_seconds:.3g}"),
                 (f"model{own}", f"{found.reduced_seconds:.3g}"), ("times as fast", f"{found.speedup:.3g}")],
            ),
        )
    )  # fmt: skip
    if worst:
        told.append(
            section(
                "Coefficients along the way",
                draw.picture(error_bars(found.coefficients), "Largest difference of each family along the run."),
                table(("family", "", "largest error"), [(k, meaning(k), f"{v:.2g}") for k, v in worst], texts=(0, 1)),
            )
        )
    return told


def _accounts(energy: dict[str, dict[str, Any]]) -> list[tuple[str, ...]]:
    full, reduced = energy["full"], energy["reduced"]
    names = [name for name in full if name != "defect" and (full[name] or reduced.get(name))]
    return [(name, *(f"{side[name]:.6g}" if name in side else "" for side in (full, reduced))) for name in names]


def _place(at: dict[str, float]) -> str:
    return ", ".join(f"{name} = {value:.4g}" for name, value in at.items())
