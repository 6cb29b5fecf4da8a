"""One Gauss-Newton iteration with exact slopes against differences, and a whole identification of the Surgiscope.

21 joint stiffnesses, five postures, ten modes each. Differences are taken of the same fast model, which is the fairer
comparison; loading the file anew at every step, as one would without it, is given as well.

    python benchmarks/identification.py
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

import supple
from supple.identification.updating.posture_model import posture_model
from supple.identification.updating.structure import structure_of
from supple.identification.updating.written_numbers import numbers_of

FILE = Path(__file__).parents[1] / "examples" / "surgiscope" / "mechanism.yaml"
NAMES = ["motor_*", "elbow_*", "hinge_*", "wrist_*"]
PLACES = [(0.0, 0.0, -1.1), (0.19, -0.33, -0.9), (0.2, 0.1, -1.2), (-0.2, 0.2, -1.0), (0.1, 0.25, -1.3)]
MEASURED = [11.8, 15.2, 31.2, 36.1, 38.8]
MODES = 10


def main() -> None:
    robot = supple.load(FILE)
    structure = structure_of(numbers_of(robot, NAMES), 200.0)
    values = structure.numbers.values
    models = [posture_model(structure, supple.assemble(robot, {"tool": place})) for place in PLACES]

    def frequencies(p: np.ndarray) -> np.ndarray:
        trial = structure.at(p)
        return np.concatenate([np.log(model.spectrum(trial, MODES).hertz) for model in models])

    def exact(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        trial = structure.at(p)
        spectra = [model.spectrum(trial, MODES) for model in models]
        return (np.concatenate([np.log(one.hertz) for one in spectra]),
                np.hstack([one.log_slopes() for one in spectra]).T)  # fmt: skip

    def differences(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        f, step = frequencies(p), 1e-6
        J = np.empty((len(f), len(p)))
        for k in range(len(p)):
            moved = p.copy()
            moved[k] *= np.exp(step)
            J[:, k] = (frequencies(moved) - f) / step
        return f, J

    exact(values)
    ours = min(_timed(lambda: exact(values)) for _ in range(3))
    theirs = min(_timed(lambda: differences(values)) for _ in range(2))
    off = np.abs(exact(values)[1] - differences(values)[1]).max()
    print(f"21 numbers, five postures, {MODES} modes")
    print(f"one iteration {1e3 * ours:.0f} ms, by differences {1e3 * theirs:.0f} ms")
    print(f"ratio {theirs / ours:.1f}; slopes agree to {off:.0e}")

    def reloaded() -> None:
        other = supple.load(FILE, parameters={"motor_rz": 6.7e4})
        for place in PLACES:
            supple.modes(other, {"tool": place}, count=MODES)

    reloaded()
    again = 22 * _timed(reloaded)
    print(f"by differences of the file loaded anew {again:.1f} s; ratio {again / ours:.0f}")
    seen = supple.Measurement(at="first", frequencies_hz=MEASURED)
    for name, numbers in (("21 numbers", NAMES), ("five shared", {
        "motor": "motor_r[xy]", "motor_rz": "motor_rz", "elbow": "elbow_r?", "hinge": "hinge_r?", "wrist": "wrist_r?",
    })):  # fmt: skip
        seconds = _timed(lambda numbers=numbers: supple.update(FILE, seen, numbers))
        print(f"whole identification, {name}, eight starts: {seconds:.1f} s")


def _timed(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
