"""Intervals of numbers that are identified from modal parameters cover the truth, at every level and kind of damping.

    python tests/laws/identified_from_modes.py [--cases 30] [--seed 1]

Responses of an arm with noise go through `modal_parameters` and `update`. z = ln(found/true) over its stated deviation
must be spread as a normal distribution: of all z at least 90 % lie within the 95 % interval, and their root mean square
is at most 1.3 for every damping. Figures are printed; the status is 1 where one does not hold.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import supple

ARM = """
supple: 1
name: damped arm
plane: xz
parameters: {shoulder: SHOULDER, knee: KNEE}
points: {O: [0, 0], P: [0.6, 0], T: [1.1, 0.1]}
materials: {alu: {youngs_modulus: 70 GPa, density: 2700}}
sections: {bar: {rectangle: [12 mm, 30 mm]}}
bodies:
  upper: {beam: [O, P], section: bar, material: alu, elements: 2}
  fore: {beam: [P, T], section: bar, material: alu, elements: 2}
  hand: {mass: 1.5, center: T, inertia: 0.05, at: T}
joints:
  O: {revolute: [ground, upper], drive: {stiffness: shoulder}LOSS}
  knee: {revolute: [upper, fore], at: P, drive: {stiffness: knee}}
  wrist: {weld: [fore, hand], at: T, stiffness: {angle: 2e3}}
actuators: {shoulder: {joint: O}, knee: {joint: knee}}
configurations: {bent: {shoulder: 0.3, knee: -0.9}}
"""
TRUE = {"shoulder": 9e3, "knee": 4e3}
START = {"shoulder": 8e3, "knee": 5e3}
DAMPING = {
    "structural 0.01": ("", "damping: {structural: 0.01}"),
    "structural 0.03": ("", "damping: {structural: 0.03}"),
    "structural 0.096": ("", "damping: {structural: 0.096}"),
    "structural 0.2": ("", "damping: {structural: 0.2}"),
    "ratio 0.01": ("", "damping: {modal: 0.01}"),
    "ratio 0.05": ("", "damping: {modal: 0.05}"),
    "ratio 0.1": ("", "damping: {modal: 0.1}"),
    "rayleigh": ("", "damping: {rayleigh: [0, 1.0e-3]}"),
    "loss of a joint": (", elastic_loss: 0.25", "damping: {structural: 0.01}"),
    "damper": ("", "damping: {modal: 0.01}\ndampers: {d: {between: [ground.O, fore.T], damping: 60}}"),
}
LAWS = [name for name, (loss, law) in DAMPING.items() if not loss and "dampers" not in law]
NOISE = 0.01  # of the mean of the responses
CHANNELS = ("T.x", "T.z", "P.x", "P.z")
LINES = np.linspace(1.0, 60.0, 400)


def arm(damping: str, values: dict[str, float], *, laws: bool = True) -> supple.Mechanism:
    """The arm with these stiffnesses; without `laws` the file says nothing of a damping law of the whole."""
    loss, law = DAMPING[damping]
    text = ARM.replace("LOSS", loss).replace("SHOULDER", str(values["shoulder"])).replace("KNEE", str(values["knee"]))
    return supple.loads(text + (law + "\n" if laws else ""))


def modes_of(damping: str, seed: int) -> supple.ModalParameters:
    """The modes in noisy responses of the true arm."""
    random = np.random.default_rng(seed)
    H = supple.frf(arm(damping, TRUE), "bent", ["T.z"], CHANNELS, LINES, kind="accelerance", drives=False).values
    H = H + NOISE * np.abs(H).mean() * (random.normal(size=H.shape) + 1j * random.normal(size=H.shape))
    measured = [supple.Channel(*name.split(".")) for name in CHANNELS]
    return supple.modal_parameters(supple.Responses(LINES, measured, [supple.Channel("T", "z", "force")], H))


def standardised(damping: str, seed: int) -> list[float]:
    """z of both stiffnesses. The file need not name a law of the whole; what parts lose it has to."""
    found = modes_of(damping, seed)
    seen = supple.Measurement(at="bent", modal=found, frequency_noise=1e-7)  # the model itself is exact here
    updated = supple.update(arm(damping, START, laws=damping not in LAWS), seen, list(TRUE), starts=1)
    return [float(np.log(updated[name] / TRUE[name]) / updated.deviations[i]) for i, name in enumerate(TRUE)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=30, help="noises of each damping")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    failed, every = False, []
    for damping in DAMPING:
        z = np.array([standardised(damping, given.seed + n) for n in range(given.cases)]).ravel()
        size = float(np.sqrt(np.mean(z**2)))
        failed |= size > 1.3
        every.append(z)
        print(f"{damping:17} within 95 %: {np.mean(np.abs(z) < 1.96):4.0%}, root mean square {size:.2f}", flush=True)
    share = float(np.mean(np.abs(np.concatenate(every)) < 1.96))
    print(f"{sum(map(len, every))} numbers, seeds from {given.seed}: {share:.1%} within their 95 % intervals")
    return int(failed or share < 0.9)


if __name__ == "__main__":
    sys.exit(main())
