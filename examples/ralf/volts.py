"""Compute responses from valve voltages to accelerations of Ralf's tip, with the full and the reduced model."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple.view.house_style import PALETTE, in_house_style, legend_above, new_figure, save_picture

VALVE = {"valve": {"gain": "0.05 m/s/V", "frequency": "20 Hz", "damping": 0.7, "delay": "2 ms"}}
PLACES = {"home (1.15, 1.00)": [1.15, 1.00], "folded (0.87, 0.78)": [0.87, 0.78]}  # lift and elbow, m
PAIRS = [("tip.x", "lift"), ("tip.z", "elbow")]
LINES = np.geomspace(0.5, 60.0, 1200)


def with_valves(ralf: supple.Mechanism) -> supple.Mechanism:
    """Add a valve to each cylinder: 10 V give 0.5 m/s."""
    actuators = {
        name: {**actuator.model_dump(exclude_defaults=True), "drive": VALVE}
        for name, actuator in ralf.actuators.items()
    }
    return ralf.replace(actuators=actuators)


def responses(plant: supple.Mechanism | supple.ReducedModel, theta: list[float]) -> supple.FrequencyResponse:
    """Compute accelerations of the tip per volt, m/s²/V."""
    ask = (["lift", "elbow"], ["tip.x", "tip.z"], LINES)
    if isinstance(plant, supple.Mechanism):
        return supple.frf(plant, theta, *ask, kind="accelerance")
    return plant.frf(theta, *ask, kind="accelerance")


def main(output: Path) -> None:
    ralf = with_valves(supple.load(Path(__file__).with_name("mechanism.yaml")))
    model = supple.reduce(ralf, internal_modes=2, tolerance=1e-4, preload=False)
    found = {name: (responses(ralf, theta), responses(model, theta)) for name, theta in PLACES.items()}
    low = LINES <= 15.0
    for name, (full, small) in found.items():
        print(name)
        for pair in PAIRS:
            whole, ours = full[pair], small[pair]
            peak = int(np.abs(whole).argmax())
            off = np.abs(ours - whole)[low].max() / np.abs(whole).max()
            print(f"  {pair[0]} from {pair[1]}: {abs(whole[peak]):6.2f} {full.unit(*pair)} at {LINES[peak]:.2f} Hz, "
                  f"2 + 2 coordinates within {off:.1e} of that up to 15 Hz")  # fmt: skip
    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(found), output / "volts.png")


@in_house_style
def draw(found: dict[str, tuple[supple.FrequencyResponse, supple.FrequencyResponse]]) -> Figure:
    figure = new_figure(10, 6.2)
    panels = figure.subplots(2, 2, sharex=True, height_ratios=[1.5, 1.0])
    for column, pair in enumerate(PAIRS):
        above, below = panels[:, column]
        for color, (name, (full, small)) in zip(PALETTE, found.items(), strict=False):
            above.loglog(LINES, np.abs(full[pair]), color=color, alpha=0.35, linewidth=3.5)
            above.loglog(LINES, np.abs(small[pair]), color=color, linewidth=1.2, label=name)
            phase = np.degrees(np.unwrap(np.angle(full[pair])))
            below.semilogx(LINES, phase, color=color, alpha=0.35, linewidth=3.5)
            below.semilogx(LINES, np.degrees(np.unwrap(np.angle(small[pair]))), color=color, linewidth=1.2)
        above.set_ylabel(f"{pair[0]} from {pair[1]} / (m/s²)/V")
        below.set(xlabel="frequency / Hz", ylabel="phase / °")
    legend_above(panels[0, 0])
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/ralf"), help="folder for the picture")
    main(parser.parse_args().output)
