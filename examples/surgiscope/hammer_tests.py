"""Fit the Surgiscope to simulated hammer tests: J_Q before and after, and an uninformative impact.

python examples/surgiscope/hammer_tests.py
"""

from intervals import BAND, FILE, GUESS, SENSORS, SHARED, test

import supple

BANDS = [(0.0, 100.0), (0.0, 250.0)]
OFF = {"motor_rz": 0.9 * 6.6e4}  # 10 % below the truth


def main() -> None:
    for noise in (0.01, 0.05):
        measured = [
            supple.Measurement(at=at, responses=test(at, noise).responses, band=BAND) for at in ("first", "second")
        ]
        for name, guess in (("motor_rz 10 % off", OFF), ("all stiffnesses guessed", GUESS)):
            found = supple.update(supple.load(FILE, parameters=guess), measured, SHARED, starts=1)
            print(f"\n{name}, oblique impacts at both postures, {noise:.0%} noise: J_Q before and after")
            for item in found.misfits(BANDS):
                low, high = item.band_hz
                print(f"  {item.label:8} {low:.0f}-{high:.0f} Hz   {item.before:8.3%} {item.after:9.4%}")
            print(f"  {found.summary()}")
    print("\na vertical impact in the middle of the first posture")
    blow = supple.virtual_test(
        supple.load(FILE), "first", "platform.z", SENSORS, sampling_hz=500.5, samples=1024, impacts=3, noise=0.05,
        exponential=0.01,
    )  # fmt: skip
    told = supple.Measurement(at="first", responses=blow.responses, band=BAND)
    found = supple.update(supple.load(FILE, parameters=GUESS), told, SHARED, starts=1)
    print(*(f"  - {text}" for text in found.words()), sep="\n")
    for name, (low, high) in found.intervals.items():
        print(f"    {name:12} {found[name]:.5g}   {low:.5g} .. {high:.5g}")


if __name__ == "__main__":
    main()
