"""Write the C files of the ROS 2 package: a reduced model, and a control law designed on it, into generated/."""

import sys
from pathlib import Path

import supple
from supple import control

ARM = """
supple: 1
name: arm
plane: xz
gravity: [0, -9.81]
points: {O: [0, 0], P: [0.5, 0], Q: [0.9, 0]}
bodies: {upper: {rod: [O, P], mass: 2}, lower: {rod: [P, Q], mass: 1}}
joints: {O: {revolute: [ground, upper], viscous: 0.5}, P: {revolute: [upper, lower], viscous: 0.2}}
actuators: {shoulder: {joint: O, limits: [-1, 1]}, elbow: {joint: P, limits: [-1, 1]}}
motions:
  reach: {coordinates: {shoulder: {from: -0.4, to: 0.4}, elbow: {from: 0.5, to: -0.3}}, duration: 0.4}
"""


def main(folder: Path) -> control.AffineController:
    """Export model and law; return the controller."""
    folder.mkdir(parents=True, exist_ok=True)
    model = supple.reduce(supple.loads(ARM), tolerance=1e-3, progress=False)
    controller = control.joint_pd(model, "reach", sample_time=1e-3, frequencies=15.0)
    supple.export(model, folder, prefix="code")
    supple.export(controller, folder, prefix="code")
    print("measured values:", *controller.law.measurements)
    print("commands:", *controller.law.actuators)
    return controller


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "generated")
