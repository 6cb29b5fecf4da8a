"""Damping that was found: its numbers, what the responses tell of them, and what is left over of each response."""

from __future__ import annotations

from typing import TYPE_CHECKING

from supple.identification.damping.plot import damping_plot
from supple.view.report.page import ReportSection, bullets, html_table, paragraph, report_section
from supple.view.report.report_picture import Drawings

if TYPE_CHECKING:
    from supple.identification.damping.fitted_damping import FittedDamping


def damping_cards(found: FittedDamping) -> dict[str, str]:
    """What matters most."""
    return {
        "numbers": f"{len(found.names)}",
        "that the responses do not tell": f"{len(found.at_prior)}",
        "loss factor of the whole": f"{found.whole:.3g}",
        "J_Q, at most": f"{100 * max(item.after for item in found.postures):.3g} %",
    }


def damping_section(found: FittedDamping, draw: Drawings, *, words: bool) -> ReportSection:
    """A row for each number; J_Q of every measurement; words : what the responses determine, where nothing else says
    it."""
    rows = [
        [name, f"{value:.4g}", f"{low:.4g} … {high:.4g}", "not told" if name in found.at_prior else "responses"]
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
        html_table(("posture", f"J_Q with η = {found.whole:.3g} of the whole", "J_Q", "worst response", "its J_Q"),
                   misfits),
        draw.picture(damping_plot(found), "Numbers with their intervals; what is left over of each response."),
        bullets(found.words()) if words else None,
    )  # fmt: skip
