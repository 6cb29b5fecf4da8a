"""Locked modes with the geometric stiffness of loads at rest against those without it, in a batch and in single calls.

Each machine is taken at configurations around its rest, drawn with a fixed seed. Both batches, and both single calls,
are timed in turn in one run, in processor time of all threads, which other work on the computer changes little; the
least of several rounds counts. Frequencies under loads are compared with the dense solution of the same matrices at
some of the configurations.

    python benchmarks/loaded_modes.py [--machines NAME ...] [--rounds N]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

import supple
from supple.formulations.elastic_rest.dense import dense_modes

EXAMPLES = Path(__file__).parents[1] / "examples"
LARGEST_RATIO = 1.3  # of a batch under loads to one without
LARGEST_DIFFERENCE = 1e-9  # of a frequency, to the dense solution
COUNT, BATCH, CHECKED, ROUNDS, CALLS = 6, 200, 5, 15, 20

CARBON_DELTA = """
supple: 1
name: carbon-delta
gravity: [0, 0, -9.81]
materials: {carbon: {youngs_modulus: 90 GPa, poisson: 0.3, density: 1600}}
sections: {rod: {tube: {outer: 16 mm, inner: 14 mm}}}
points: {T: [0, 0, -0.80]}
bodies: {platform: {mass: 0.6, center: [0, 0, -0.75], inertia: [8e-4, 8e-4, 1.5e-3]}}
point_masses: {load: {at: platform.T, mass: 3}}
copies:
  legs:
    about: z
    count: 3
    points:
      A: [0.2, 0, 0]
      E: [0.2 + 0.3*cos(15 deg), 0, -0.3*sin(15 deg)]
      L: [0.2 + 0.3*cos(15 deg), 0.05, -0.3*sin(15 deg)]
      R: [0.2 + 0.3*cos(15 deg), -0.05, -0.3*sin(15 deg)]
      PL: [0.06, 0.05, -0.75]
      PR: [0.06, -0.05, -0.75]
    bodies:
      arm: {rod: [A, E], mass: 0.9}
      left: {beam: [L, PL], section: rod, material: carbon}
      right: {beam: [R, PR], section: rod, material: carbon}
    joints:
      A: {revolute: [ground, arm], axis: y, drive: {stiffness: 15000 Nm/rad}}
      L: {universal: [arm, left], axes: [y, [-0.67, 0, 0.43]]}
      R: {universal: [arm, right], axes: [y, [-0.67, 0, 0.43]]}
      PL: {spherical: [left, platform]}
      PR: {spherical: [right, platform]}
    actuators: {motor: {joint: A}}
"""


def example(name: str, changes: Mapping[str, str] = {}) -> supple.Mechanism:
    """An example, with some texts of its file replaced."""
    text = (EXAMPLES / name / "mechanism.yaml").read_text("utf-8")
    for old, new in changes.items():
        assert old in text, f"{name}: {old!r} is not in the file"
        text = text.replace(old, new)
    return supple.loads(text, folder=EXAMPLES / name)


def elastic_orthoglide() -> supple.Mechanism:
    """The Orthoglide with steel tubes for its legs."""
    made = "section: leg, material: steel"
    return example(
        "orthoglide",
        {
            "parameters:": "materials: {steel: {youngs_modulus: 210 GPa, poisson: 0.3, density: 7850}}\n"
            "sections: {leg: {tube: {outer: 20 mm, inner: 17 mm}}}\n\nparameters:",
            **{
                f"{{rod: [{end}, T], length: leg, mass: leg_mass}}": f"{{beam: [{end}, T], length: leg, {made}}}"
                for end in "XYZ"
            },
        },
    )


# How each is made, and how far its configurations lie from rest, rad or m.
MACHINES: dict[str, tuple[Callable[[], supple.Mechanism], float]] = {
    "ralf": (lambda: example("ralf"), 0.3),
    "surgiscope": (lambda: example("surgiscope"), 0.2),
    "four-bar": (lambda: example("flexible-four-bar", {"\nparameters:": "\ngravity: [0, 0, -9.81]\nparameters:"}), 0.5),
    "five-bar": (lambda: example("flexible-five-bar"), 0.2),
    "serial": (lambda: example("serial-flexible"), 0.5),
    "orthoglide": (elastic_orthoglide, 0.03),
    "delta": (lambda: supple.loads(CARBON_DELTA), 0.2),
}


def postures(mechanism: supple.Mechanism, spread: float) -> supple.Configuration:
    """BATCH configurations within `spread` of the rest."""
    rest = supple.assemble(mechanism).theta
    return supple.assemble(mechanism, rest + spread * np.random.default_rng(4).uniform(-1.0, 1.0, (BATCH, len(rest))))


def timed(tasks: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Least processor seconds of each task, taken in turn."""
    for task in tasks.values():  # compile, warm up
        task()
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            start = time.process_time()
            task()
            times[name].append(time.process_time() - start)
    return {name: min(values) for name, values in times.items()}


def difference(mechanism: supple.Mechanism, batch: supple.Configuration) -> float:
    """The largest difference of frequencies under loads from the dense ones, of each, at CHECKED configurations."""
    found = supple.modes(mechanism, batch, count=COUNT, preload=True)
    worst = 0.0
    for own, here in list(zip(found.frequencies_hz, batch.each(), strict=True))[:: BATCH // CHECKED]:
        squares = dense_modes(found.rest, here, found.held, preload=True)[0][: len(own)]
        worst = max(worst, float(np.abs(own / (np.sqrt(squares) / (2.0 * np.pi)) - 1.0).max()))
    return worst


def main(names: list[str], rounds: int) -> int:
    print(f"lowest {COUNT} locked modes with loads at rest and without, {BATCH} configurations and one")
    print(f"ratio: loaded / unloaded (batch: at most {LARGEST_RATIO}); from dense: of a frequency, "
          f"at most {LARGEST_DIFFERENCE:g}")  # fmt: skip
    print(f"{'':12}{'z':>4}{'batch, µs each':>20}{'ratio':>7}{'one call, µs':>20}{'ratio':>7}{'from dense':>12}")
    missed = 0
    for name in names:
        make, spread = MACHINES[name]
        mechanism = make()
        batch = postures(mechanism, spread)
        one = next(iter(batch.each()))

        def call(place: supple.Configuration, preload: bool, calls: int, machine: supple.Mechanism = mechanism) -> None:
            for _ in range(calls):
                supple.modes(machine, place, count=COUNT, preload=preload)

        least = timed(
            {
                "batch": lambda: call(batch, False, 1),  # noqa: B023  called before the next turn
                "loaded batch": lambda: call(batch, True, 1),  # noqa: B023
                "one": lambda: call(one, False, CALLS),  # noqa: B023
                "loaded one": lambda: call(one, True, CALLS),  # noqa: B023
            },
            rounds,
        )
        ratio, single = least["loaded batch"] / least["batch"], least["loaded one"] / least["one"]
        apart = difference(mechanism, batch)
        fine = ratio <= LARGEST_RATIO and apart <= LARGEST_DIFFERENCE
        missed += not fine
        size = supple.modes(mechanism, one, count=COUNT, preload=False).rest.size
        each = [1e6 * least[task] / BATCH for task in ("batch", "loaded batch")]
        calls = [1e6 * least[task] / CALLS for task in ("one", "loaded one")]
        print(f"{name:12}{size:4}{each[0]:10.1f}{each[1]:10.1f}{ratio:7.2f}{calls[0]:10.1f}{calls[1]:10.1f}{single:7.2f}"
              f"{apart:12.1e}{'' if fine else '   MISSED'}", flush=True)  # fmt: skip
    return 1 if missed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machines", nargs="+", choices=sorted(MACHINES), default=list(MACHINES), help="Default: all.")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"Rounds of timing. Default: {ROUNDS}.")
    given = parser.parse_args()
    sys.exit(main(given.machines, given.rounds))
