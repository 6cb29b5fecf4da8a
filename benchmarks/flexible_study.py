"""How good a reduced model of the flexible four-bar is in time, and where its assumptions end.

1. The bundled scenarios through models of 5 and 6 coordinates on their regions, starting in each.
2. A sharp step of the torque, which excites what lies above the modes that are kept, with more and more of them.
3. Error over speed and deflection: the crank turns from -0.4 to 0.3 rad within an ever shorter time, with bars of full
   and of half the height. `--figure FILE.png` draws it; the figure is that of docs/judging.md.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import supple
from supple.description.scenario import Scenario

FILE = Path(__file__).parents[1] / "examples" / "flexible-four-bar" / "mechanism.yaml"
DAMPED = {"ratio": 0.01}
REGIONS = {
    "5 coordinates on [-1.4, 0.60]": ((-1.4, 0.60), 3, 0.3, -0.1),
    "5 coordinates on [0.80, 1.4]": ((0.80, 1.4), 3, 1.2, -0.01),
    "6 coordinates on [-1.4, 1.4]": ((-1.4, 1.4), 4, 0.3, -0.1),
}
DURATIONS, HEIGHTS = (1.6, 0.8, 0.4, 0.2, 0.14, 0.1), (10e-3, 5e-3)
FROM, TO = -0.4, 0.3


def four_bar(height: float = 10e-3) -> supple.Mechanism:
    made = supple.load(FILE)
    return made.replace(sections={"bar": {"rectangle": [0.020, height]}})


def reduced(mechanism: supple.Mechanism, region: tuple[float, float], internal: int) -> supple.ReducedModel:
    modes: dict[str, Any] = {"constraint_modes": ["E.z"], "internal_modes": internal}
    return supple.reduce(mechanism, region={"crank": region}, tolerance=1e-3, progress=False, **modes)


def worst(errors: dict[str, float]) -> float:
    return 100.0 * max(errors[name] for name in ("E.x", "E.z"))


def scenarios() -> None:
    print("scenario, model: elastic displacement of E, E itself, resonances, times faster")
    mechanism = four_bar()
    for label, (region, internal, start, torque) in REGIONS.items():
        model = reduced(mechanism, region, internal)
        common: dict[str, Any] = {"start": {"crank": start}, "damping": DAMPED}
        runs = {
            "step": Scenario(**common, inputs={"crank": {"step": torque, "rise": 0.05}}, until=1.0, step=1e-3),
            "sweep": Scenario(
                **common, until=5.0, step=5e-4,
                inputs={"crank": {"chirp": 0.1, "from": 2, "to": 40, "phase": np.pi / 2, "rise": 0.5}},
            ),
        }  # fmt: skip
        for name, run in runs.items():
            found = supple.compare(mechanism, model, scenario=run)
            pairs = [pair for pair in zip(*found.frequencies_hz.values(), strict=True) if np.isfinite(pair[1])]
            shown = ", ".join(f"{full:.2f} Hz {100 * (small / full - 1):+.2f} %" for full, small in pairs)
            print(
                f"  {name:5}  {label:30} {worst(found.elastic_error):6.2f} %  {worst(found.error):6.2f} %  "
                f"{shown or 'none seen':24}  {found.speedup:5.0f}  {found.reason}"
            )


def sharp_step() -> None:
    print("a torque that jumps, internal modes kept: elastic displacement of E, crank after 1 s")
    mechanism = four_bar()
    run = Scenario(inputs={"crank": 0.1}, damping=DAMPED, until=1.0, step=5e-4)
    for internal in (2, 3, 4, 6, 8):
        found = supple.compare(mechanism, reduced(mechanism, (-0.1, 0.5), internal), scenario=run)
        print(f"  {internal}: {worst(found.elastic_error):6.2f} %  {found.coordinate_error['crank']:.1e} rad")


def error_over_speed() -> dict[float, list[tuple[float, float, float]]]:
    """height -> (largest rate rad/s, deflection of E over its length, error) of every duration."""
    found: dict[float, list[tuple[float, float, float]]] = {}
    print("crank from -0.4 to 0.3 and height of the bars: largest rate, deflection of E, error of the elastic part")
    for height in HEIGHTS:
        mechanism = four_bar(height)
        model = reduced(mechanism, (FROM - 0.02, TO + 0.02), 3)
        for lasts in DURATIONS:
            moved = mechanism.replace(
                motions={"turn": {"coordinates": {"crank": {"from": FROM, "to": TO}}, "duration": lasts}}, scenarios={}
            )
            run = Scenario(motion="turn", damping=DAMPED, step=lasts / 800)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", supple.SuppleWarning)  # of energy: the figure shows where it ends
                    judged = supple.compare(moved, model, scenario=run)
            except supple.NumericalError as error:
                print(f"  {height * 1e3:4.0f} mm  {lasts:5.2f} s  {error}")
                continue
            rate = float(np.abs(judged.full.rates["crank"]).max())
            size = max(judged.scales[name] for name in ("E.x", "E.z"))
            error = worst(judged.elastic_error)
            found.setdefault(height, []).append((rate, size, error))
            print(f"  {height * 1e3:4.0f} mm  {lasts:5.2f} s  {rate:6.2f} rad/s  {size * 1e3:9.4f} mm  {error:7.2f} %")
    return found


def draw(found: dict[float, list[tuple[float, float, float]]], file: str) -> None:
    from supple.view.house_style import in_house_style, label, legend_beside, new_figure, save_picture

    @in_house_style
    def picture() -> Any:
        figure = new_figure(10.0, 3.8)
        left, right = figure.subplots(1, 2, sharey=True)
        for height, points in found.items():
            rate, size, error = (np.array(column) for column in zip(*points, strict=True))
            left.loglog(rate, error, "o-", label=f"bars {height * 1e3:g} mm high")
            right.loglog(size * 1e3, error, "o-", label=f"bars {height * 1e3:g} mm high")
        for one in (left, right):
            one.axhline(2.0, color="#bbbbbb", linewidth=0.8)
        left.set_xlabel(label("largest rate of the crank", "rad/s"))
        right.set_xlabel(label("largest elastic displacement of E", "mm"))
        left.set_ylabel(label("error of the elastic displacement", "%"))
        legend_beside(right)
        return figure

    save_picture(picture(), file)


def main() -> None:
    scenarios()
    sharp_step()
    found = error_over_speed()
    if "--figure" in sys.argv:
        draw(found, sys.argv[sys.argv.index("--figure") + 1])


if __name__ == "__main__":
    main()
