"""Report sections about a reduced model: equations, errors with their locations, truncation, cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.comparison.comparison import Comparison, local_errors
from supple.description.mechanism import Mechanism
from supple.reduced.damped import locked_frequencies
from supple.reduced.layout import equilibrium_error_text
from supple.reduced.model import ReducedModel
from supple.reduction.domain import path_domain, theta_domain
from supple.reduction.exact_coefficients import exact_coefficients, scatter_in_boxes
from supple.reduction.exchanges import Exchange
from supple.reduction.path import path_from
from supple.view.house_style import FAINT, in_house_style, label, legend_beside, new_figure
from supple.view.panels import Panels, panels
from supple.view.report.mechanism_sections import in_degrees, in_unit, range_text
from supple.view.report.page import (
    Html,
    ReportSection,
    beside,
    bullets,
    heading,
    html_table,
    mark_text,
    paragraph,
    report_section,
)
from supple.view.report.report_picture import Drawings, error_bars, meaning
from supple.view.report.vibration_sections import frequencies_beside

_LINE = 61  # points along a coordinate
_SEED = 1  # random seed of validation points, as in `compare`
_LEAST = 1e-10  # smaller errors are rounding errors
_MOST_BOXES = 4000


def model_sections(model: ReducedModel, mechanism: Mechanism, fresh: Comparison, draw: Drawings) -> list[ReportSection]:
    """Return the sections about the model, its errors, frequencies, truncation, and cost."""
    made = model.provenance
    sections = [_what(model), _errors(model, mechanism, fresh, draw)]
    if model.layout.size > model.layout.theta:
        caption = "Locked actuators, along each coordinate through the center of the region."
        sections.append(
            report_section(
                "Frequencies of mechanism and model",
                draw.picture(frequencies_beside(_along(model, mechanism)), caption),
                _describe_truncation(model, made),
            )
        )
    return [*sections, _cost(model, fresh)]


def _what(model: ReducedModel) -> ReportSection:
    layout, units = model.layout, model.units
    names, s = layout.coordinates, layout.theta
    kinds = ["θ"] * s + ["constraint mode"] * (layout.size - s - layout.internal) + ["internal mode"] * layout.internal
    low, high = bounds(model)
    rows = []
    for i, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        unit = units.coordinates.get(name, "")
        rows.append((name, kind, unit, range_text((low[i], high[i]), unit) if i < s else "free"))
    if model.family is not None:
        for item, value in zip(model.family.parameters, model.family.values, strict=True):
            rows.append((item.name, "parameter", item.unit, f"{item.range}, value here {item.format_value(value)}"))
    held = [
        f"{name} is held at {value:.6g}: it is not a coordinate of the model."
        for name, value in model.held_coordinates.items()
    ]
    rigid = [f"Elastic parts treated as rigid: {', '.join(model.rigid)}."] if model.rigid else []
    second = (
        ["Second order in the deformation: geometric stiffness of loads and of inertia."] if model.stiffening else []
    )
    return report_section(
        "Reduced model",
        paragraph("M(θ,δ) η̈ + Γ(θ,δ)[η̇, η̇] + D(θ) η̇ + K(θ) η = p + B(θ) u,   y = ρ(θ) + Ψ(θ) δ,   η = (θ, δ)"),
        html_table(("coordinate", "kind", "unit", "region"), rows, texts=(0, 1, 2, 3)),
        bullets(held + rigid + second),
        beside(
            html_table(
                ("input u", "unit"), [(name, units.inputs.get(name, "")) for name in layout.inputs], texts=(0, 1)
            ),
            html_table(
                ("output y", "unit"), [(name, units.outputs.get(name, "")) for name in layout.outputs], texts=(0, 1)
            ),
        ),
    )


def bounds(model: ReducedModel) -> tuple[Array, Array]:
    """Return the limits (s,) of the box around the region."""
    roots = model.fitted.arrays.roots_f
    return roots[:, 0].min(axis=0), roots[:, 1].max(axis=0)


def place_words(model: ReducedModel, at: Mapping[str, float]) -> str:
    """Return a text such as `lift = 0.9 m, elbow = 1.18 m`."""
    units = model.units.coordinates
    return ", ".join(f"{name} = {in_unit(value, units.get(name, ''))}" for name, value in at.items())


def _describe_confidence(made: dict[str, Any]) -> str:
    """Return a text about the confidence of the stated errors."""
    stated = made.get("stated")
    if not stated:
        return f"the largest at {made['checks']} check points of the fit"
    return (
        f"exceeded in at most {100.0 * stated['share']:.2g} % of the region, with {100.0 * stated['confidence']:g} % "
        f"confidence, from {stated['points']} random points that were not used in the fit"
    )


def _errors(model: ReducedModel, mechanism: Mechanism, fresh: Comparison, draw: Drawings) -> ReportSection:
    made = model.provenance
    wanted = made["options"].get("tolerance") if made["options"].get("boxes") is None else None
    rows = []
    for name, worst in model.error.items():
        at = made["error"].get(name, {}).get("at", {})
        seen = f"{fresh.error[name]:.2g}" if name in fresh.error else ""
        rows.append((name, meaning(name), f"{worst:.2g}", place_words(model, at) or "everywhere", seen))
    missed = [mark_text(text, "bad") for text in made.get("missed", ())]
    parts: list[Html | None] = [
        paragraph(
            "Errors are relative: the largest difference of a coefficient family from that of the mechanism, divided "
            f"by its local size, or by its typical size where it is small. The fit used {made['samples']} samples. "
            f"Stated: {_describe_confidence(made)}. Validated: the largest at {fresh.points} other points."
        ),
        bullets(missed),
        draw.picture(
            error_bars(model.error, fresh.error, wanted), "Stated and validated error of each coefficient family."
        ),
        html_table(("family", "", "stated", "location of the largest", "validated"), rows, texts=(0, 1, 3)),
    ]
    if model.layout.theta <= 3 and any(item.get("at") for item in made["error"].values()):
        x = scatter_in_boxes(model, fresh.points, _SEED)
        shown = "largest error of any family, and the boxes of the fit"
        shown = "error of each family" if model.layout.theta == 1 else shown
        caption = f"At {fresh.points} validation points: {shown}."
        drawn = _plot_errors(model, x, local_errors(mechanism, model, x))
        parts += [heading("Location of the errors"), draw.picture(drawn, caption)]
    return report_section("Errors", *parts)


@in_house_style
def _plot_errors(model: ReducedModel, x: Array, errors: Mapping[str, Array]) -> Panels:
    """Plot errors over one coordinate (a curve per family), or the largest of all over two or three, with the boxes."""
    names, units = model.layout.coordinates, model.units.coordinates
    scale = np.array([np.degrees(1.0) if units.get(name) == "rad" else 1.0 for name in names[: x.shape[1]]])
    titles = [label(name, in_degrees(0.0, units.get(name, ""))[1]) for name in names[: x.shape[1]]]
    if x.shape[1] == 1:
        return _error_curves(x[:, 0] * scale[0], errors, titles[0])
    from matplotlib.colors import LogNorm
    from matplotlib.patches import Rectangle

    largest = np.maximum(np.max(list(errors.values()), axis=0), _LEAST)
    pairs = [(0, 1)] if x.shape[1] == 2 else [(0, 1), (0, 2), (1, 2)]
    figure = new_figure(7.2 if len(pairs) == 1 else 10.8, 4.6 if len(pairs) == 1 else 3.7)
    shades = LogNorm(largest.min(), largest.max())
    grid = figure.subplots(1, len(pairs), squeeze=False)[0]
    order = np.argsort(largest)  # the largest errors are drawn last
    for axes, (i, j) in zip(grid, pairs, strict=True):
        for center, inverse in model.fitted.arrays.leaves_f[:_MOST_BOXES]:
            low, side = (center - 1.0 / inverse) * scale, 2.0 * scale / inverse
            axes.add_patch(Rectangle((low[i], low[j]), side[i], side[j], fill=False, edgecolor=FAINT, linewidth=0.7))
        dots = axes.scatter(x[order, i] * scale[i], x[order, j] * scale[j], c=largest[order], norm=shades, s=16)
        axes.set(xlabel=titles[i], ylabel=titles[j])
        axes.grid(visible=False)
        axes.autoscale_view()
    figure.colorbar(dots, ax=list(grid)).set_label(label("largest relative error", "1"))
    return panels(figure)


def _error_curves(x: Array, errors: Mapping[str, Array], title: str) -> Panels:
    axes = new_figure(8.6, 3.8).subplots()
    order = np.argsort(x)
    for name in sorted(errors, key=lambda key: -float(errors[key].max())):
        axes.plot(x[order], np.maximum(errors[name][order], _LEAST), linewidth=1.0, label=name)
    axes.set(yscale="log", xlabel=title, ylabel=label("relative error", "1"))
    legend_beside(axes)
    return panels(axes)


def _along(model: ReducedModel, mechanism: Mechanism) -> list[tuple[str, str, Array, Array, Array]]:
    """Return frequencies of both along each coordinate, through the center of the first box of the region."""
    layout = model.layout
    s = layout.theta
    kept = model.provenance["options"].get("path")
    domain = (
        theta_domain(mechanism, [], model.held_coordinates) if kept is None else path_domain(mechanism, path_from(kept))
    )
    low, high = model.fitted.arrays.roots_f[0]
    found = []
    for i in range(s):
        x = np.tile(0.5 * (low + high), (_LINE, 1))
        x[:, i] = np.linspace(low[i], high[i], _LINE)
        exact, fitted = exact_coefficients(mechanism, model, domain, x), model.evaluate(x)
        full, reduced = (
            locked_frequencies(one.K[:, s:, s:], one.M[:, s:, s:]) / (2.0 * np.pi) for one in (exact, fitted)
        )
        name = layout.coordinates[i]
        found.append((name, model.units.coordinates.get(name, ""), x[:, i], full, reduced))
    return found


def _describe_truncation(model: ReducedModel, made: Mapping[str, Any]) -> Html:
    truncation, notes = made.get("truncation", {}), []
    if truncation:
        notes.append(f"In their band the modes have frequency errors of at most {truncation['frequencies']:.2g}.")
        notes += [
            f"They truncate {error:.2g} of the static compliance at {name}."
            for name, error in truncation["compliance"].items()
        ]
        if truncation.get("next_hz") is not None:
            notes.append(f"The first truncated mode is at {truncation['next_hz']:.4g} Hz or above.")
    if made.get("equilibria"):
        words = equilibrium_error_text(made["equilibria"])
        notes.append(f"{words[0].upper()}{words[1:]}.")
    names = tuple(model.layout.coordinates[: model.layout.theta])
    names += () if model.family is None else model.family.names
    for item in made.get("exchanges", ()):
        swap = Exchange(
            tuple(item["theta"]), item["overlap"], item["hz"] and tuple(item["hz"]), item["cure"], item["jump"]
        )
        notes.append(swap.describe(names) if len(item["theta"]) == len(names) else str(item))
    if not made.get("exchanges"):
        notes.append("No mode of the set exchanges with a truncated one anywhere in the region.")
    return Html((heading("Modal truncation")) + (bullets(notes) or ""))


def _cost(model: ReducedModel, fresh: Comparison) -> ReportSection:
    made = model.provenance
    full, reduced = (1e6 * seconds / fresh.points for seconds in (fresh.full_seconds, fresh.reduced_seconds))
    rows = [
        ("time per evaluation in a batch, mechanism", f"{full:.3g} µs"),
        ("time per evaluation in a batch, model", f"{reduced:.3g} µs"),
        ("speed-up", f"{fresh.speedup:.3g}"),
        ("operations for M, Γ and p", f"{made['operations']}"),
        ("operations for all coefficients in the kernels", f"{made['kernel_operations']}"),
        ("memory", f"{made['memory'] / 1024:.3g} kB"),
        ("boxes", f"{made['boxes']}" + (f", {made['dropped']} omitted" if made["dropped"] else "")),
        ("levels of boxes", f"{made['depth']}"),
        ("samples and check points", f"{made['samples']} and {made['checks']}"),
        ("time of the reduction", f"{made['made']['seconds']:.3g} s"),
    ]
    return report_section(
        "Cost",
        html_table(("", ""), rows),
        paragraph(
            "Times are those of the computer that wrote this page, for one batch of all validation points.", "small"
        ),
    )
