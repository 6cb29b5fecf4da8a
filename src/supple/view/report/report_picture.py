"""Matplotlib figure inside a page: as vector graphics in the colours of the page, or as pixels if it is too large."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from io import BytesIO, StringIO
from itertools import count
from typing import Any

import numpy as np

from supple.view.house_style import PALETTE, in_house_style, label, legend_beside, new_figure
from supple.view.panels import Panels, panels
from supple.view.report.page import COLOURS, Html, escaped_text

_LARGEST = 600_000  # characters of a vector figure; larger ones are stored as pixels
_INCH = 84  # pixels of the page per inch
_CUT: dict[str, Any] = {"bbox_inches": "tight", "pad_inches": 0.06}  # empty margins are removed


class Drawings:
    """Figures of a page, with unique identifiers for the parts of each."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def picture(self, drawn: Panels | Any, caption: str = "") -> Html:
        """Return HTML of panels or of a figure, with a caption."""
        figure = drawn.figure if isinstance(drawn, Panels) else drawn
        figcaption = f"<figcaption>{escaped_text(caption)}</figcaption>" if caption else ""
        return Html(f"<figure>{self._lines(figure, caption) or _dots(figure, caption)}{figcaption}</figure>")

    def _lines(self, figure: Any, caption: str) -> str | None:
        from matplotlib import rc_context

        number = next(self._numbers)
        content = StringIO()
        with rc_context({"svg.fonttype": "path", "svg.hashsalt": f"supple{number}"}):
            figure.savefig(content, format="svg", metadata={"Date": None, "Creator": None}, **_CUT)
        text = content.getvalue()
        if len(text) > _LARGEST:
            return None
        text = text[text.index("<svg") :]
        text = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", text, flags=re.S)
        head, rest = text.split(">", 1)
        width = float(re.search(r'width="([0-9.]+)pt"', head)[1]) / 72.0 * _INCH  # type: ignore[index]
        head = re.sub(r'\s(width|height)="[^"]*"', "", head)
        head += f' role="img" aria-label="{escaped_text(caption or "picture")}" style="width: {width:.0f}px"'
        used = set(re.findall(r'(?:href="|url\()#([^")]+)', rest))  # matplotlib assigns some identifiers twice
        rest = re.sub(r'\sid="([^"]+)"', lambda found: f' id="d{number}-{found[1]}"' if found[1] in used else "", rest)
        rest = re.sub(r'((?:xlink:)?href="|url\()#', rf"\1#d{number}-", rest)
        return f"{head}>{_in_colours_of_the_page(rest).strip()}"


def _in_colours_of_the_page(text: str) -> str:
    """Replace colours by their names in the style, so that they follow the reader's screen."""

    def name_colour(found: re.Match[str]) -> str:
        name = COLOURS.get(found[0].lower())
        return f"var(--{name})" if name else found[0]

    return re.sub(r'style="[^"]*"', lambda style: re.sub(r"#[0-9a-fA-F]{6}\b", name_colour, style[0]), text)


def _dots(figure: Any, caption: str) -> str:
    content = BytesIO()
    figure.savefig(content, format="png", **_CUT)
    width = figure.get_size_inches()[0] * _INCH
    data = base64.b64encode(content.getvalue()).decode()
    text = escaped_text(caption or "picture")
    return f'<img alt="{text}" style="width: {width:.0f}px" src="data:image/png;base64,{data}">'


# Errors of coefficients, one bar per family.


_LEAST = 1e-10  # lower end of the axis; smaller errors are rounding errors
_WORDS = {
    "M": "inertia", "K": "stiffness", "christoffel": "Christoffel symbols", "Γ": "Christoffel symbols",
    "force": "forces", "p": "forces", "damping": "damping", "input_map": "input matrix", "outputs": "outputs",
    "frequencies": "natural frequencies, actuators locked", "friction_map": "friction Jacobian",
    "mass_curvature": "second derivatives of the inertia", "∂²M": "second derivatives of the inertia",
    "output_modes": "outputs due to deformation", "efforts": "internal forces",
}  # fmt: skip


def meaning(family: str) -> str:
    """Return the meaning of a coefficient family in words; "" if it is unknown."""
    return _WORDS.get(family) or _WORDS.get(family.partition("_")[0], "")


@in_house_style
def error_bars(
    errors: Mapping[str, float], fresh: Mapping[str, float] | None = None, wanted: float | None = None
) -> Panels:
    """Plot the largest errors as bars.

    errors : family -> largest error
    fresh  : errors at validation points, as markers
    wanted : tolerance, as a line
    """
    rows = np.arange(len(errors))[::-1]
    axes = new_figure(8.6, 0.9 + 0.27 * len(errors)).subplots()
    axes.barh(rows, [max(value, _LEAST) for value in errors.values()], height=0.62, color=PALETTE[0], label="stated")
    known = [(row, fresh[name]) for row, name in zip(rows, errors, strict=True) if name in fresh] if fresh else []
    if known:
        x, y = [max(value, _LEAST) for _, value in known], [row for row, _ in known]
        axes.plot(x, y, "D", color=PALETTE[1], markersize=4.5, label="validation points")
    if wanted is not None:
        axes.axvline(wanted, color=PALETTE[3], linewidth=1.2, linestyle="--", label="tolerance")
    axes.set_xscale("log")
    axes.set_xlim(left=_LEAST)
    axes.set_yticks(rows, list(errors))
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(label("relative error", "1"))
    if known or wanted is not None:
        legend_beside(axes)
    return panels(axes)
