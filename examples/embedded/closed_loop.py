"""Close a loop between a control law on an emulated Cortex-M board and a simulated machine, over a serial line.

    python closed_loop.py [--board cortex-m7]

The board runs the exported law in single precision (law_main.c). This program simulates the machine, and exchanges one
frame with the board at each sample. For a board of your own, open its serial port in place of the socket of QEMU.
"""

from __future__ import annotations

import argparse
import socket
import struct
import subprocess
import tempfile
import time
import zlib
from pathlib import Path

import numpy as np
from device import BOARDS, HERE, Board, build, emulate, missing

import supple
from supple import control
from supple.control.controller import Measurement
from supple.control.laws.affine_controller import AffineController

START = struct.pack("<I", 0x31415926)
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


class BoardController:
    """Controller whose law runs on a board: each step sends measured and desired values, and receives the commands."""

    def __init__(self, controller: AffineController, line: socket.socket) -> None:
        self.law, self.reference, self.line = controller.law, controller.reference, line
        self.actuators, self.sample_time = self.law.actuators, self.law.sample_time
        self.undriven, self.commanded_actuators = self.law.undriven, self.law.commanded_actuators
        self._applied, self._begin, self.statuses = np.zeros(len(self.actuators)), True, []

    def step(self, t: float, measurement: Measurement) -> np.ndarray:
        """Return the commands that the board answers."""
        ports = self.law.ports
        numbers = [measurement.array(ports.measured)]
        numbers += [self.reference.at(t + preview).ravel() for preview in ports.previews if self.reference is not None]
        given = np.concatenate([*numbers, self._applied]).astype("<f4").tobytes()
        frame = struct.pack("<I", self._begin) + given
        self._begin = False
        self.line.sendall(START + frame + struct.pack("<I", zlib.adler32(frame)))
        answer = self._receive(4 * (2 + len(self.actuators)))
        if struct.unpack("<I", answer[-4:])[0] != zlib.adler32(answer[:-4]):
            raise ConnectionError("the answer of the board is damaged")
        self.statuses.append(struct.unpack("<I", answer[:4])[0])
        self._applied = np.frombuffer(answer[4:-4], "<f4").astype(float)
        return self._applied

    def record_command(self, command: np.ndarray) -> None:
        """Record the last commands as the drives applied them."""
        self._applied = np.asarray(command, dtype=float)

    def _receive(self, count: int) -> bytes:
        received = b""
        while len(received) < count:
            more = self.line.recv(count - len(received))
            if not more:
                raise ConnectionError("the board closed the line")
            received += more
        return received


def connect(program: Path, board: Board, folder: Path) -> tuple[subprocess.Popen, socket.socket]:
    """Start a program on an emulated board, and return the process and its serial line."""
    path = folder / "uart"
    process = subprocess.Popen(
        emulate(program, board, "-serial", f"unix:{path},server=on,wait=on"), stdin=subprocess.DEVNULL
    )
    line = socket.socket(socket.AF_UNIX)
    for _ in range(200):
        try:
            line.connect(str(path))
        except OSError:
            time.sleep(0.05)
        else:
            line.settimeout(60.0)
            return process, line
    process.kill()
    raise ConnectionError("QEMU did not open its serial line within 10 s")


def run_on(board: Board, until: float = 0.5) -> tuple[supple.ClosedLoop, supple.ClosedLoop, list[int]]:
    """Return the loop with the law on the board, that with the law in Python, and the statuses of all samples."""
    model = supple.reduce(supple.loads(ARM), tolerance=1e-3, progress=False)
    controller = control.joint_pd(model, "reach", sample_time=1e-3, frequencies=15.0)
    options = {"until": until, "start": {"shoulder": -0.4, "elbow": 0.5}}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _, source = supple.export(controller.law, folder, prefix="code", precision="single")[:2]
        program = build([HERE / "law_main.c", source], folder / "law.elf", board)
        process, line = connect(program, board, folder)
        try:
            on_board = BoardController(controller, line)
            tested = control.closed_loop(model, on_board, **options)
        finally:
            line.close()
            process.kill()
            process.wait()
    return tested, control.closed_loop(model, controller, **options), on_board.statuses


def main() -> None:
    """Run both loops and print how much they differ."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--board", choices=BOARDS, default="cortex-m7")
    if missing():
        raise SystemExit(missing())
    tested, expected, statuses = run_on(BOARDS[parser.parse_args().board])
    print(f"{len(statuses)} samples, {sum(status != 0 for status in statuses)} refused or clamped")
    for name, values in expected.inputs.items():
        difference = np.abs(tested.inputs[name] - values).max()
        print(
            f"{name}: commands up to {np.abs(values).max():.4g} N m, difference from Python up to {difference:.2g} N m"
        )


if __name__ == "__main__":
    main()
