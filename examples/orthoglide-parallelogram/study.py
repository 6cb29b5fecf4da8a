"""Compare the redundantly constrained orthoglide with parallelograms with that of single rods."""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import supple
from supple.view.house_style import save_picture

HERE = Path(__file__).parent


def main(output: Path) -> None:
    full = supple.load(HERE / "mechanism.yaml")
    rods = supple.load(HERE.parent / "orthoglide" / "mechanism.yaml")

    for machine in (rods, full):
        found = supple.check(machine)
        print(
            f"{found.name}: {len(found.bodies)} bodies, {len(found.joints)} joints, {len(found.loops)} loops, "
            f"mobility {found.mobility}, {found.redundant_constraints} redundant constraints"
        )
    print("joints in the redundancy:", " ".join(found.redundant_joints))

    low, high = full.actuator("x").limits
    theta = np.random.default_rng(0).uniform(low, high, (500, 3))
    difference = differences(supple.local(full, theta), supple.local(rods, theta))
    print(f"\nlargest difference from single rods over {len(theta)} configurations, relative to the largest entry:")
    for name, value in difference.items():
        print(f"  {name:<6} {value:.1e}")

    output.mkdir(parents=True, exist_ok=True)
    save_picture(draw(full), output / "picture.png")


def differences(one: supple.LocalModel, other: supple.LocalModel) -> dict[str, float]:
    """Return the largest difference of each coefficient, relative to its largest entry."""
    pairs = {
        "M": (one.M, other.M),
        "Γ": (one.christoffel, other.christoffel),
        "force": (one.force, other.force),
        "tool": tuple(np.array([y.value for y in model.outputs.values()]) for model in (one, other)),
    }
    return {name: float(np.abs(a - b).max() / np.abs(b).max()) for name, (a, b) in pairs.items()}


def draw(machine: supple.Mechanism) -> Figure:
    way = np.linspace([0.0, 0.0, 0.0], [-0.1, 0.02, -0.2], 4)
    return supple.assemble(machine, way).plot(view=(24, 38))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--output", type=Path, default=Path("build/orthoglide-parallelogram"), help="folder for the picture"
    )
    main(parser.parse_args().output)
