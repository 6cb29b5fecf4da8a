"""Report sections about updated parameters and fitted damping: measurements, values and confidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from supple.identification.damping.plot import damping_plot
from supple.identification.updating.plot import updated_plot
from supple.results.interval import interval_words
from supple.view.house_style import FAINT, PALETTE, in_house_style, label, new_figure
from supple.view.report.page import Html, ReportSection, bullets, html_table, paragraph, report_section
from supple.view.report.report_picture import Drawings

if TYPE_CHECKING:
    from supple.identification.damping.fitted_damping import FittedDamping
    from supple.identification.updating.updated import PostureResult, Predicted, Updated


# Fitted damping: parameters, their identifiability from the responses, and residuals of each response.


def damping_cards(found: FittedDamping) -> dict[str, str]:
    """Return the key figures of fitted damping."""
    return {
        "numbers": f"{len(found.names)}",
        "not identified by the responses": f"{len(found.at_prior)}",
        "overall loss factor": f"{found.whole:.3g}",
        "largest J_Q": f"{100 * max(item.after for item in found.postures):.3g} %",
    }


def damping_section(found: FittedDamping, draw: Drawings, *, words: bool) -> ReportSection:
    """Return the section about damping: a row per parameter, and J_Q of every measurement.

    words : include what the responses determine, unless another section states it
    """
    rows = [
        [name, f"{value:.4g}", f"{low:.4g} … {high:.4g}", "prior" if name in found.at_prior else "responses"]
        for name, value, (low, high) in zip(found.names, found.values, found.intervals.values(), strict=True)
    ]
    quiet = [i for i, name in enumerate(found.names) if name in found.at_prior]
    misfits = [
        [item.label or "as drawn", f"{100 * item.before:.3g} %", f"{100 * item.after:.3g} %",
         f"{max(item.by_response, key=lambda name: item.by_response[name])}",
         f"{100 * max(item.by_response.values()):.3g} %"]
        for item in found.postures
    ]  # fmt: skip
    kinds = " ".join(item.kind.about for item in found.kinds)
    return report_section(
        "Damping", paragraph(kinds),
        html_table(("number", "value", "95 % interval", "from"), rows, silent=quiet),
        html_table(("posture", f"J_Q with overall η = {found.whole:.3g}", "J_Q", "worst response", "its J_Q"),
                   misfits),
        draw.picture(damping_plot(found), "Parameters with their intervals, and residuals of each response."),
        bullets(found.words()) if words else None,
    )  # fmt: skip


# Updated parameters: measurements, results and their confidence.


def updating_cards(found: Updated) -> dict[str, str]:
    """Return the key figures of an update."""
    cards = {"parameters": f"{len(found.names)}", "not identified by the data": f"{len(found.at_prior)}"}
    errors = [item for item in found.postures if len(item.measured_hz)]
    if errors:
        before, after = (np.mean([item.mean_error(when) for item in errors]) for when in ("before", "after"))
        cards["frequency error before"] = f"{100 * before:.2g} %"
        cards["frequency error after"] = f"{100 * after:.2g} %"
    return cards


def updating_sections(found: Updated, draw: Drawings) -> list[ReportSection]:
    """Return the sections about parameters, identifiability, and every posture."""
    sections = [
        report_section("Numbers", _summary(found), _numbers(found), draw.picture(updated_plot(found))),
        report_section("Identifiability", bullets(found.words()), _strengths(found)),
    ]
    if found.afterwards is not None:
        sections.append(damping_section(found.afterwards, draw, words=False))
    sections += [
        report_section(f"Predicted at {where}", _tabulate_predictions(item))
        for where, item in found.predictions.items()
    ]
    return sections + [
        report_section(f"Posture {item.label or 'as drawn'}", *_posture(item, draw)) for item in found.postures
    ]


def _summary(found: Updated) -> Html | None:
    errors = [item for item in found.postures if len(item.measured_hz)]
    words = [f"{item.label or 'posture'}: mean frequency error {100 * item.mean_error('before'):.2g} % before, "
             f"{100 * item.mean_error():.2g} % after" for item in errors]  # fmt: skip
    words += [
        f"{item.label or 'posture'}: J_Q {100 * item.misfit[0]:.3g} % before, {100 * item.misfit[1]:.3g} % after"
        for item in found.postures
        if item.misfit is not None
    ]
    gauges = [value for item in found.postures for value in item.gauges.values()]
    if gauges:
        measured, before, after = np.array(gauges).T
        largest = np.abs(measured).max()
        old, new = (100.0 * np.abs(found - measured).mean() / largest for found in (before, after))
        words.append(
            f"{len(gauges)} deflections: mean error relative to the largest {old:.2g} % before, {new:.2g} % after"
        )
    return bullets(words)


def _numbers(found: Updated) -> Html | None:
    rows: list[list[str]] = []
    quiet: list[int] = []
    for name, before, after, (low, high), left in zip(
        found.names, found.before, found.after, found.intervals.values(), found.identifiability.left, strict=True
    ):
        silent = name in found.at_prior
        words = "prior only" if silent else "data only" if name in found.identifiability.found else "data and prior"
        quiet += [len(rows)] if silent else []
        cells = [name, f"{before:.4g}", *interval_words(after, low, high, " … "), f"{100 * left:.2g} %", words]
        rows.append(cells)
    heads = ("parameter / SI", "before", "after", "95 % interval", "remaining uncertainty", "determined by")
    return html_table(heads, rows, silent=quiet)


def _tabulate_predictions(item: Predicted) -> Html | None:
    rows = [
        [str(i + 1), *interval_words(f, low, high, " … "), str(count)]
        for i, (f, low, high, count) in enumerate(
            zip(item.frequencies_hz, item.low_hz, item.high_hz, item.modes, strict=True)
        )
    ]
    return html_table(("mode", "frequency / Hz", "95 % interval / Hz", "modes"), rows)


def _strengths(found: Updated) -> Html:
    strengths = ", ".join(f"{s:.3g}" for s in found.identifiability.strengths)
    return paragraph(
        f"Strengths of the parameter combinations, relative to the prior: {strengths}. Above 3 the data determine a "
        "combination; below 1 the prior dominates.",
        "small",
    )


def _posture(item: PostureResult, draw: Drawings) -> list[Html | None]:
    parts: list[Html | None] = []
    if len(item.measured_hz):
        rows = []
        for i, (m, b, a) in enumerate(zip(item.measured_hz, item.before_hz, item.after_hz, strict=True)):
            pairs = [cell for f in (b, a) for cell in (f"{f:.4g}", f"{100 * (f / m - 1):+.2f} %")]
            rows.append([str(i + 1), f"{m:.4g}", *pairs, *_format_mac(item, i)])
        heads = ["mode", "measured / Hz", "before / Hz", "error", "after / Hz", "error"]
        parts.append(html_table(heads + (["MAC before", "MAC after"] if item.mac_after is not None else []), rows))
    if item.mac_after is not None:
        parts.append(draw.picture(mac_picture(item)))
    if item.gauges:
        rows = [[name, *(f"{1e3 * value:.4f}" for value in values)] for name, values in item.gauges.items()]
        parts.append(html_table(["gauge", "measured / mm", "before / mm", "after / mm"], rows))
    if item.responses is not None:
        parts.append(draw.picture(responses_picture(item)))
    return parts


def _format_mac(item: PostureResult, i: int) -> list[str]:
    if item.alike_before is None or item.alike_after is None:
        return []
    return [f"{item.alike_before[i]:.3f}", f"{item.alike_after[i]:.3f}"]


@in_house_style
def mac_picture(item: PostureResult) -> Any:
    """Plot the MAC of measured shapes (rows) and the model's modes (columns), before and after."""
    figure = new_figure(9.0, 3.6)
    panels = figure.subplots(1, 2)
    both = ((item.mac_before, item.levels_before, "before"), (item.mac_after, item.levels_after, "after"))
    for axes, (mac, hertz, when) in zip(panels, both, strict=True):
        assert mac is not None
        assert hertz is not None
        columns = min(mac.shape[1], len(mac) + 4)
        shown = axes.imshow(mac[:, :columns], vmin=0.0, vmax=1.0, cmap="Blues", aspect="auto")
        axes.set_xticks(range(columns), [f"{f:.3g}" for f in hertz[:columns]], rotation=60)
        axes.set_yticks(range(len(mac)), [f"{f:.3g}" for f in item.measured_hz])
        axes.grid(False)
        axes.set_title(f"MAC {when}")
        axes.set_xlabel(label("model", "Hz"))
        axes.set_ylabel(label("measured", "Hz"))
        for i, j in np.argwhere(mac[:, :columns] > 0.25):
            axes.text(j, i, f"{mac[i, j]:.2f}", ha="center", va="center", fontsize=7,
                      color="white" if mac[i, j] > 0.6 else "#333333")  # fmt: skip
    figure.colorbar(shown, ax=panels, shrink=0.8)
    return figure


@in_house_style
def responses_picture(item: PostureResult, most: int = 4) -> Any:
    """Plot measured magnitudes with those before and after, for the channels with the largest motion."""
    measured, before, after = item.responses
    size = np.sqrt(np.mean(np.abs(measured.H) ** 2, axis=0))
    order = np.dstack(np.unravel_index(np.argsort(-size, axis=None), size.shape))[0][:most]
    figure = new_figure(10.0, 1.0 + 2.1 * -(-len(order) // 2))
    panels = figure.subplots(-(-len(order) // 2), min(2, len(order)), squeeze=False).ravel()
    for axes, (i, j) in zip(panels, order, strict=False):
        axes.semilogy(
            measured.frequencies_hz, np.abs(measured.H[:, i, j]), color="#bbbbbb", linewidth=2.6, label="measured"
        )
        axes.semilogy(measured.frequencies_hz, np.abs(before[:, i, j]), color=FAINT, linestyle="--", label="before")
        axes.semilogy(measured.frequencies_hz, np.abs(after[:, i, j]), color=PALETTE[0], linewidth=1.0, label="after")
        axes.set_title(f"{measured.responses[i].name} / {measured.references[j].name}")
        axes.set_ylabel(label("|H|", measured.unit(i, j)))
        axes.set_xlabel(label("frequency", "Hz"))
    panels[0].legend()
    return figure
