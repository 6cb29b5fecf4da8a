"""Compare a five-bar from a URDF with a planar description, and compute the torques of a motion."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple.view.house_style import in_house_style, legend_above, new_figure, save_picture

BLUE, RED = "#3b6ea8", "#c8553d"
PLACES = {"home": [120, 60], "wide": [150, 30], "aside": [100, 25]}  # degrees


def main(output: Path) -> None:
    robot = supple.load(Path(__file__).with_name("mechanism.urdf"))
    print(supple.check(robot), "\n")

    drawing = drawn_in_the_plane()
    print("at      M (kg m²)                            p (N m)                   difference")
    for name, angles in PLACES.items():
        theta = np.radians(angles)
        model = supple.local(robot, theta, rigid=True)
        M, p = model.M, model.force
        off = difference(robot, drawing, theta)
        print(f"{name:<7} {M[0, 0]:.9f} {M[0, 1]:.9f} {M[1, 1]:.9f}   {p[0]:.9f} {p[1]:.9f}   {off:.1e}")

    needed = supple.inverse(robot, "reach", rigid=True)
    print(f"\nlargest torques of the motion over {needed.time[-1]:.3f} s (limit 12 N m):")
    for name, torque in needed.forces.items():
        print(f"  {name:<15} {np.abs(torque).max():.3f} N m")

    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(robot, needed), output / "picture.png")


def drawn_in_the_plane() -> supple.Mechanism:
    """Return the same linkage as rods in a plane; the tool is a mass at its tip."""
    points = {"A": [-0.1, 0.0], "B": [-0.225, 0.216], "C": [0.0, 0.485], "D": [0.225, 0.216], "E": [0.1, 0.0]}
    arm = {"length": 0.25, "mass": 0.8, "center": 0.11, "inertia": 0.0041}
    forearm = {"length": 0.35, "mass": 0.5, "center": 0.16, "inertia": 0.0052}
    motor = supple.Motor(inertia=2e-5, gear=30)
    return supple.Mechanism(
        name="five-bar",
        plane="xz",
        gravity=[0, -9.81],
        points=points,
        bodies={
            "left_arm": supple.Body(rod=("A", "B"), **arm),
            "left_forearm": supple.Body(rod=("B", "C"), **forearm),
            "right_forearm": supple.Body(rod=("D", "C"), **forearm),
            "right_arm": supple.Body(rod=("E", "D"), **arm),
        },
        joints={
            "A": supple.Joint(revolute=("ground", "left_arm"), viscous=0.02, motor=motor),
            "B": supple.Joint(revolute=("left_arm", "left_forearm")),
            "C": supple.Joint(revolute=("left_forearm", "right_forearm")),
            "D": supple.Joint(revolute=("right_arm", "right_forearm")),
            "E": supple.Joint(revolute=("ground", "right_arm"), viscous=0.02, motor=motor),
        },
        point_masses={"tool": supple.PointMass(at="left_forearm.C", mass=0.3, inertia=0.0003)},
        actuators={"A": supple.Actuator(joint="A"), "E": supple.Actuator(joint="E")},
    )


def difference(robot: supple.Mechanism, drawing: supple.Mechanism, theta: np.ndarray) -> float:
    """Return the largest difference of M and p, relative to the largest entry of each."""
    first, second = (supple.local(each, theta, rigid=True) for each in (robot, drawing))
    pairs = ((first.M, second.M), (first.force, second.force))
    return float(max(np.abs(a - b).max() / np.abs(b).max() for a, b in pairs))


@in_house_style
def draw(robot: supple.Mechanism, needed: supple.InverseDynamics) -> Figure:
    figure = new_figure(10, 4.8)
    left, right = figure.subfigures(1, 2, width_ratios=[1, 1.1])
    axes = left.add_subplot(projection="3d", computed_zorder=False)
    axes.view_init(elev=16, azim=-66)
    supple.assemble(robot, np.radians([[150, 100], [140, 87], [130, 73], [120, 60]])).plot(axes=axes)

    axes = right.add_subplot()
    for (name, torque), color in zip(needed.forces.items(), (BLUE, RED), strict=True):
        axes.plot(needed.time, torque, color=color, label=name.replace("_", " "))
    axes.set(xlabel="time / s", ylabel="torque / (N m)")
    legend_above(axes)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/five-bar-urdf"), help="folder for the picture")
    main(parser.parse_args().output)
