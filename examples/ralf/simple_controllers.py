"""Damp Ralf's vibration with controllers simpler than two time scales, on the full flexible mechanism.

Both cylinders move from point to point in a second. Printed are the RMS acceleration of the tip in the second after
the arrival, and the time until the tip stays within 1 mm of its goal.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import supple
from supple import control

T = 1e-3
BOUNDS = {"velocity": 0.2, "acceleration": 1.0, "jerk": 20.0}
REACH = {"lift": {"from": 1.15, "to": 1.00, **BOUNDS}, "elbow": {"from": 1.00, "to": 0.90, **BOUNDS}}
SLOW, FAST = 2 * np.pi * 6.0, 2 * np.pi * 36.5  # rad/s, where the plant has 1 % of damping
SEEN = ["imu.x", "imu.z"]


def controllers(model: supple.ReducedModel, motion: control.Reference) -> dict[str, list]:
    """Return joint servos alone, with acceleration feedback over the region, and with state feedback on a filter."""
    joints = control.joint_servo(model, motion, sample_time=T, gain=10.0)
    damping = control.acceleration_feedback(
        model.linearize, SEEN, [6.0, 8.4], sample_time=T, damping=0.15, motion=motion, beside=[joints],
        region=model, tolerance=1e-2,
    )  # fmt: skip
    # Suppresses the third mode at 36.5 Hz, which the model neglects.
    observer = control.kalman_filter(model, sample_time=T, accelerations=0.2, noise=dict.fromkeys(SEEN, 0.3))
    weights = {"lift": 1e3, "elbow": 1e3, "mode1": 1e4, "mode2": 1e4}
    states = control.state_feedback(observer, motion, Q=weights, R=10.0, tolerance=1e-2)
    return {"joint servos": [joints], "and acceleration feedback": [joints, damping], "state feedback": [states]}


def left(loop: control.ClosedLoop, arrival: float) -> tuple[float, float]:
    """Return the RMS acceleration of the tip in the second after arrival, m/s², and its settling time to 1 mm, s."""
    after = loop.time >= arrival
    tip = np.column_stack([loop.outputs["tip.x"], loop.outputs["tip.z"]])
    shaking = np.gradient(np.gradient(tip, T, axis=0), T, axis=0)[after]
    away = np.linalg.norm(tip - [loop.goal["tip.x"], loop.goal["tip.z"]], axis=1)
    return float(np.sqrt((shaking**2).sum(axis=1).mean())), float(loop.time[away > 1e-3].max() - arrival)


def main() -> None:
    ralf = supple.load(Path(__file__).with_name("mechanism.yaml"))
    model = supple.reduce(ralf, internal_modes=2, tolerance=1e-3, store=False, preload=False)
    motion = control.reference(supple.Motion(coordinates=REACH), ralf)
    plant = ralf.replace(damping={"rayleigh": [0.02 * SLOW * FAST / (SLOW + FAST), 0.02 / (SLOW + FAST)]})
    for name, chosen in controllers(model, motion).items():
        loop = control.closed_loop(plant, chosen, until=motion.end + 1.0, sample_time=T, start="home")
        shaking, settled = left(loop, motion.end)
        when = f"1 mm after {1e3 * settled:.0f} ms" if settled < 0.95 else "more than 1 mm for a second"
        print(f"{name:26s} {shaking:6.2f} m/s²   {when}")


if __name__ == "__main__":
    main()
