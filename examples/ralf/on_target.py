"""Write Ralf's controllers with their motions as C, run their tests, and print the sizes that the headers state."""

import argparse
import subprocess
from pathlib import Path

import supple
from supple import control

SAMPLE = 1e-3  # s
GAIN, ZETA = 10.0, 0.3  # 1/s of the joints; damping ratio added to both modes
UNKNOWN, DEAF = 0.2, {"imu.x": 0.1, "imu.z": 0.1}  # m/s²: process noise, and noise that suppresses 36 Hz
STATED = ("bytes of constants", "operations", "The state of the controller")


def main(output: Path) -> None:
    ralf = supple.load(Path(__file__).with_name("mechanism.yaml"))
    model = supple.reduce(ralf, internal_modes=2, tolerance=1e-3, preload=False)
    observer = control.kalman_filter(model, sample_time=SAMPLE, accelerations=UNKNOWN, noise=DEAF)
    reach = control.reference("reach", model)
    for name, motion in (("reach", reach), ("planned", control.rest_to_rest(model, reach))):
        controller = control.two_time_scales(observer, motion, gains=GAIN, damping_ratios=ZETA)
        for precision in ("double", "single"):
            folder = output / f"{name}-{precision}"
            files = supple.export(controller, folder, prefix=name, precision=precision, model=model)
            print(f"\n{name}, {precision} precision")
            for file in files:
                if file.name in (f"{name}_motion.h", f"{name}_law.h", f"{name}_controller.h"):
                    lines = file.read_text("utf-8").splitlines()
                    print(*(line.strip(" *") for line in lines if any(words in line for words in STATED)), sep="\n")
            tests = subprocess.run(["make", "-s", "test"], cwd=folder, capture_output=True, text=True, check=True)
            print(tests.stdout, end="")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/ralf/on_target"), help="folder for the C files")
    main(parser.parse_args().output)
