"""The style of every report: light and dark as the reader's screen is, light on paper."""

from __future__ import annotations

from supple.view.house_style import FAINT, GRID, INK, PALETTE

# Colours of the pictures and the names they have on the page, so that pictures turn dark with it.
COLOURS = {
    "#ffffff": "paper", INK: "ink", GRID: "grid", FAINT: "faint", "#bbbbbb": "edge", "#555555": "soft",
    "#cfcfcf": "ghost", "#dddddd": "edge", "#e4e4e4": "grid", "#eaeaea": "grid",
} | {colour: f"c{i}" for i, colour in enumerate(PALETTE)}  # fmt: skip

_LIGHT = {
    "paper": "#ffffff", "ink": INK, "soft": "#555555", "faint": FAINT, "edge": "#bbbbbb", "grid": GRID,
    "ghost": "#cfcfcf", "card": "#f5f6f8", "good": "#2f7d46", "bad": "#b3371f",
} | {f"c{i}": colour for i, colour in enumerate(PALETTE)}  # fmt: skip
_DARK = {
    "paper": "#15181d", "ink": "#e4e6ea", "soft": "#aab0ba", "faint": "#7f8793", "edge": "#555c68", "grid": "#2a2f38",
    "ghost": "#4a515c", "card": "#1d2128", "good": "#6cc287", "bad": "#f0846c",
    "c0": "#7fb0e6", "c1": "#ec8a74", "c2": "#84c490", "c3": "#c09ad4", "c4": "#dfb566", "c5": "#6fcaca",
    "c6": "#e08db2", "c7": "#a8a8a8",
}  # fmt: skip


def _declared(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {value};" for name, value in colours.items())


STYLE = (
    f"""
:root {{ color-scheme: light dark; {_declared(_LIGHT)} }}
@media (prefers-color-scheme: dark) {{ :root {{ {_declared(_DARK)} }} }}
@media print {{ :root {{ color-scheme: light; {_declared(_LIGHT)} }} }}
"""
    + """
@page { margin: 16mm 14mm }
* { box-sizing: border-box }
body { font: 15px/1.55 "DejaVu Sans", Verdana, "Segoe UI", sans-serif; color: var(--ink); background: var(--paper);
  max-width: 66rem; margin: 0 auto; padding: 2.2rem 1.4rem 3rem; overflow-wrap: anywhere }
header { border-bottom: 2px solid var(--c0); padding-bottom: .9rem }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 } header p { margin: .35rem 0 0; color: var(--soft) }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .8rem; padding-bottom: .25rem; border-bottom: 1px solid var(--edge) }
h3 { font-size: 1rem; margin: 1.6rem 0 .3rem } p { margin: .6rem 0 } ul { padding-left: 1.2rem }
a { color: var(--c0) } nav { font-size: .88rem; margin: .9rem 0 0 } nav a { margin-right: 1.1rem; white-space: nowrap }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .7rem; margin: 1.3rem 0 0 }
.card { background: var(--card); border-radius: 6px; padding: .65rem .8rem }
.card b { display: block; font-size: 1.2rem; font-weight: 600; line-height: 1.3 }
.card span { color: var(--soft); font-size: .8rem }
.beside { display: flex; flex-wrap: wrap; column-gap: 3rem; margin: .5rem 0 } .beside > div { max-width: 100% }
.wide { overflow-x: auto } table { border-collapse: collapse; margin: .6rem 0 .2rem; font-size: .88rem }
td, th { padding: .22rem 1.1rem .22rem 0; text-align: right; vertical-align: top; overflow-wrap: normal }
th { font-weight: 600; border-bottom: 1px solid var(--edge); white-space: nowrap }
tbody tr + tr td { border-top: 1px solid var(--grid) } td.l, th.l { text-align: left }
tr.silent td { color: var(--faint) } .good { color: var(--good) } .bad { color: var(--bad) }
figure { margin: 1rem 0 .4rem } figure svg, figure img { max-width: 100%; height: auto; display: block }
figure img { background: #fff; border-radius: 4px }
figcaption, .small { color: var(--soft); font-size: .83rem; margin: .3rem 0 0 }
pre { background: var(--card); border-radius: 6px; padding: .7rem .9rem; overflow-x: auto; font-size: .82rem }
pre, code { font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre-wrap }
details { margin: .6rem 0 } summary { cursor: pointer; color: var(--soft) }
footer { margin-top: 3rem; padding-top: .6rem; border-top: 1px solid var(--edge); color: var(--soft); font-size: .8rem }
@media print { body { max-width: none; padding: 0; font-size: 10.5pt } nav { display: none }
  h2, h3 { break-after: avoid }
  figure, .cards, tr, pre { break-inside: avoid } .wide { overflow: visible } thead { display: table-header-group }
  details { display: block } a { color: inherit; text-decoration: none } }
"""
)
