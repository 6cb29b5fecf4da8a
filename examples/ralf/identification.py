"""Identify Ralf's valves and damping: fit the small model to two logged runs of the whole mechanism."""

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import supple
from supple.control import Measurement, closed_loop
from supple.view.house_style import save_picture

TRUE = {
    "lift": {"gain": 0.050, "frequency": 20.0, "damping": 0.70},
    "elbow": {"gain": 0.040, "frequency": 16.0, "damping": 0.60},
}
GUESS = {
    "lift": {"gain": 0.060, "frequency": 15.0, "damping": 1.00},
    "elbow": {"gain": 0.050, "frequency": 20.0, "damping": 0.90},
}
DELAY, SAMPLE, DURATION = 2e-3, 2e-3, 1.5  # s
DAMPING = {"rayleigh": [0.0, 5.3e-4]}  # 1 % at 6 Hz, equivalent for elements and modes
TONES = np.array([0.9, 2.3, 4.1, 6.0, 8.3, 12.0, 17.0, 23.0])  # Hz: about both modes and the valves' bandwidth
MODES = 2  # of the model, with second order in δ because the tubes carry a load
NOISE = 0.02  # relative to the RMS of each sensor in a run


def with_valves(ralf: supple.Mechanism, numbers: dict[str, dict[str, float]]) -> supple.Mechanism:
    """Add a valve to each cylinder, m/s per volt, encoders, and accelerations of the tip."""
    actuators = {
        name: {**part.model_dump(exclude_defaults=True), "drive": {"valve": {**numbers[name], "delay": DELAY}}}
        for name, part in ralf.actuators.items()
    }
    sensors = {f"{name}_length": {"between": part.between} for name, part in ralf.actuators.items()}
    return ralf.replace(actuators=actuators, sensors={**sensors, "tip": {"acceleration": "T"}}, damping=DAMPING)


class Tones:
    """Return the voltages at both valves: sines with different phases, rising within 0.1 s."""

    def __init__(self, seed: int) -> None:
        self.phases = np.random.default_rng(seed).uniform(0.0, 2.0 * np.pi, (2, len(TONES)))

    def step(self, t: float, measurement: Measurement) -> NDArray[np.float64]:
        return 0.15 * min(1.0, t / 0.1) * np.sin(2.0 * np.pi * TONES * t + self.phases).sum(axis=1)


def logged(plant: supple.Mechanism | supple.ReducedModel, seed: int) -> supple.LoggedRun:
    """Simulate a plant and add noise to its sensor readings."""
    run = closed_loop(plant, Tones(seed), until=DURATION, sample_time=SAMPLE, start="home")
    drawn = np.random.default_rng(100 + seed)
    heard = {name: x + NOISE * np.std(x) * drawn.standard_normal(len(x)) for name, x in run.outputs.items()}
    return supple.LoggedRun(run.time, dict(run.commands), heard)


def found_from(ralf: supple.Mechanism, model: supple.ReducedModel, runs: list[supple.LoggedRun]) -> supple.Identified:
    """Fit gains, bandwidths and damping of both valves, and modal damping, from wrong guesses."""
    unknown = [f"{name}.{number}" for name, numbers in GUESS.items() for number in numbers]
    return supple.identify(with_valves(ralf, GUESS), model, runs, [*unknown, "damping"], start={"damping": 0.5})


def main(output: Path) -> None:
    ralf = supple.load(Path(__file__).with_name("mechanism.yaml"))
    machine = with_valves(ralf, TRUE)
    model = supple.reduce(machine, internal_modes=MODES, stiffening=True, tolerance=1e-3)
    found = found_from(ralf, model, [logged(machine, seed) for seed in (1, 2)])
    truth = [TRUE[name][number] for name in TRUE for number in TRUE[name]] + [1.0]
    print(f"{'':16}{'true':>9}{'guess':>9}{'found':>10}{'off':>9}")
    for name, true, guess, value in zip(found.names, truth, found.guesses, found.values, strict=True):
        print(f"{name:16}{true:9.4g}{guess:9.4g}{value:10.5g}{100.0 * (value / true - 1.0):8.2f} %")
    print("whiteness of the residuals:", ", ".join(f"{x:.2f}" for x in found.whiteness))
    output.mkdir(parents=True, exist_ok=True)
    figure = found.plot()
    figure.axes[0].set_xlim(0.0, 0.4)  # s: a readable section
    save_picture(figure, output / "identification.png")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/ralf"), help="folder for the picture")
    main(parser.parse_args().output)
