"""Updating on one page of HTML with its pictures in it: what was measured, found, and how sure it is."""

from __future__ import annotations

import base64
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.view.house_style import FAINT, PALETTE, in_house_style, label, new_figure
from supple.view.updated_plot import updated_plot

if TYPE_CHECKING:
    from supple.identification.updating.updated import PostureResult, Updated

_STYLE = """
body { font: 15px/1.5 "DejaVu Sans", Verdana, sans-serif; color: #222 }
body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2.2rem; border-bottom: 1px solid #ddd }
table { border-collapse: collapse; margin: .8rem 0 } td, th { padding: .2rem .9rem .2rem 0; text-align: right }
th { font-weight: 600; border-bottom: 1px solid #bbb } td:first-child, th:first-child { text-align: left }
tr.silent td { color: #888 } img { max-width: 100%; margin: .6rem 0 } .small { color: #666; font-size: .85rem }
@media print { h2 { break-after: avoid } img, table { break-inside: avoid } }
"""


def updating_report(found: Updated) -> str:
    """The page."""
    name = found.problem.structure.mechanism.name
    parts = [
        f"<h1>{escape(name)}: numbers from measurements</h1>",
        _summary(found),
        "<h2>Numbers</h2>",
        _numbers(found),
    ]
    parts += [_picture(updated_plot(found)), "<h2>What the data determine</h2>", _listed(found.words())]
    parts += [_strengths(found)]
    for item in found.postures:
        parts.append(f"<h2>Posture {escape(item.label or 'as drawn')}</h2>")
        parts += _posture(item)
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(name)}: updated</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _summary(found: Updated) -> str:
    errors = [item for item in found.postures if len(item.measured_hz)]
    said = [f"{item.label or 'posture'}: frequencies {100 * item.mean_error('before'):.2g} % off on average before, "
            f"{100 * item.mean_error():.2g} % after" for item in errors]  # fmt: skip
    said += [
        f"{item.label or 'posture'}: J_Q {100 * item.misfit[0]:.3g} % before, {100 * item.misfit[1]:.3g} % after"
        for item in found.postures
        if item.misfit is not None
    ]
    gauges = [value for item in found.postures for value in item.gauges.values()]
    if gauges:
        measured, before, after = np.array(gauges).T
        largest = np.abs(measured).max()
        old, new = (100.0 * np.abs(found - measured).mean() / largest for found in (before, after))
        said.append(f"{len(gauges)} deflections: off by {old:.2g} % of the largest before, {new:.2g} % after")
    return _listed(said)


def _numbers(found: Updated) -> str:
    rows = []
    for name, before, after, (low, high), left in zip(
        found.names, found.before, found.after, found.intervals.values(), found.identifiability.left, strict=True
    ):
        silent = name in found.at_prior
        said = "stays at the prior" if silent else "by itself" if name in found.identifiability.found else "in part"
        cells = [escape(name), f"{before:.4g}", f"{after:.4g}", f"{low:.4g} … {high:.4g}", f"{100 * left:.0f} %", said]
        rows.append((cells, "silent" if silent else ""))
    return _table(["number", "before", "after", "95 % interval", "of what was not known is left", "data say"], rows)


def _strengths(found: Updated) -> str:
    listed = ", ".join(f"{s:.3g}" for s in found.identifiability.strengths)
    return (
        f'<p class="small">Strengths of the combinations, in units of what was known before: {listed}. Above 3 data '
        "determine a combination; below 1 they say less than the prior.</p>"
    )


def _posture(item: PostureResult) -> list[str]:
    parts = []
    if len(item.measured_hz):
        rows = []
        for i, (m, b, a) in enumerate(zip(item.measured_hz, item.before_hz, item.after_hz, strict=True)):
            pairs = [cell for f in (b, a) for cell in (f"{f:.4g}", f"{100 * (f / m - 1):+.2f} %")]
            rows.append(([str(i + 1), f"{m:.4g}", *pairs, *_assured(item, i)], ""))
        heads = ["mode", "measured / Hz", "before / Hz", "off", "after / Hz", "off"]
        parts.append(_table(heads + (["MAC before", "MAC after"] if item.mac_after is not None else []), rows))
    if item.mac_after is not None:
        parts.append(_picture(mac_picture(item)))
    if item.gauges:
        rows = [
            ([escape(name), *(f"{1e3 * value:.4f}" for value in values)], "") for name, values in item.gauges.items()
        ]
        parts.append(_table(["gauge", "measured / mm", "before / mm", "after / mm"], rows))
    if item.responses is not None:
        parts.append(_picture(responses_picture(item)))
    return parts


def _assured(item: PostureResult, i: int) -> list[str]:
    if item.alike_before is None or item.alike_after is None:
        return []
    return [f"{item.alike_before[i]:.3f}", f"{item.alike_after[i]:.3f}"]


@in_house_style
def mac_picture(item: PostureResult) -> Any:
    """MAC of measured shapes (rows) with the model's levels (columns), before and after."""
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
    """Magnitudes as measured, before and after, of the channels that move most."""
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


def _table(heads: list[str], rows: list[tuple[list[str], str]]) -> str:
    top = "".join(f"<th>{head}</th>" for head in heads)
    body = "\n".join(
        f"<tr{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>"
        + "".join(f"<td>{cell}</td>" for cell in cells)
        + "</tr>"
        for cells, kind in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>\n{body}\n</tbody></table>"


def _listed(said: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in said) + "</ul>" if said else ""


def _picture(figure: Any) -> str:
    content = BytesIO()
    figure.savefig(content, format="png")
    return f'<img alt="" src="data:image/png;base64,{base64.b64encode(content.getvalue()).decode()}">'
