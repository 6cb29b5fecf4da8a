"""Drives and instruments as C: the compiled code does what Python's banks do."""

from __future__ import annotations

import ctypes
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.export.c.target import hardware_files
from supple.hardware.drive_bank import DriveBank
from supple.hardware.drive_block import DriveBlock
from supple.hardware.hardware import NO_HARDWARE, Hardware
from supple.hardware.instrument import Instrument
from supple.hardware.instrument_bank import InstrumentBank
from supple.hardware.state_space import LinearBlock, integrate_block, motor, servo

T, COUNT = 1e-3, 120
INPUTS, COORDINATES = ("lift", "elbow", "tool", "plain"), ("lift", "elbow", "wrist")


def drive(actuator: str, linear: LinearBlock, moves: bool, **facts) -> DriveBlock:
    return DriveBlock(actuator, "a", moves, linear.A, linear.B, linear.C, linear.D, linear.E, **facts)


HARDWARE = Hardware(
    (
        drive("lift", integrate_block(servo(1.1, 20.0, 0.7)), True, delay=2.3e-3, limits=(-0.5, 0.4), dead_band=0.01),
        drive("elbow", motor(0.05, 1.2, 2e-3, 0.05, 50.0), False, delay=1e-3, rate_limit=3000.0, resolution=0.5),
        drive("tool", servo(1.0, 300.0, None), True, stiffness=1e5, damping=30.0),
    ),
    (
        Instrument("a", noise=0.2, noise_frequency=50.0, walk=0.3, bias=0.1, sample_time=3e-3),
        Instrument("b", frequency=80.0, damping=0.6, delay=2.4e-3, limits=(-0.8, 0.7)),
        Instrument("d", frequency=30.0, resolution=0.01, delay=1e-3),
        Instrument("e", frequency=30.0, damping=2.5),
    ),
    actuator_coordinates={"lift": "lift", "elbow": "elbow", "tool": "wrist"},
)
OUTPUTS = ("a", "b", "c", "d", "e")


@pytest.fixture(scope="module")
def library(cc, strict, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hardware")
    layout = SimpleNamespace(inputs=INPUTS, coordinates=COORDINATES, theta=3, outputs=OUTPUTS)
    for name, text in hardware_files(HARDWARE, layout, "all of it*/", "arm").items():
        (folder / name).write_text(text)
    command = [cc, *strict, "-fPIC", "-shared", str(folder / "arm_hardware.c"), "-lm", "-o", str(folder / "arm.so")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]
    return ctypes.CDLL(str(folder / "arm.so"))


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def test_the_compiled_drives_are_the_drives(library):
    bank = DriveBank(HARDWARE, INPUTS, COORDINATES, HARDWARE.actuator_coordinates)
    rng, memory = np.random.default_rng(3), np.zeros(10_000)
    theta, rates = rng.uniform(0.5, 1.0, 3), rng.uniform(-0.2, 0.2, 3)
    command, applied, driven = np.empty(4), np.empty(4), np.empty(4 + 3)
    library.arm_hardware_drives_start(pointer(memory), pointer(theta), pointer(rates), pointer(command))
    assert_allclose(command, bank.reset(theta, rates), rtol=1e-12, atol=1e-12)
    for _ in range(COUNT):
        command = rng.uniform(-1.0, 1.0, 4) * [1.0, 24.0, 1.0, 5.0]
        rates = rates + rng.uniform(-0.01, 0.01, 3)
        wanted = bank.send_command(command)
        assert library.arm_hardware_drives_take(pointer(memory), pointer(command), pointer(applied)) == 0
        assert_allclose(applied, wanted, rtol=1e-13, atol=1e-14)
        library.arm_hardware_drives_advance(pointer(memory), ctypes.c_double(T), pointer(rates), pointer(driven))
        pieces = bank.pieces(T, rates)
        length, course = pieces.times[-1] - pieces.times[-2], pieces.led[-1, ::-1, 0]
        forces = [np.polyval(pieces.forces[-1, ::-1, i], length) for i in range(4)]
        ends = [np.polyval(course, length), np.polyval(np.polyder(course), length), pieces.accelerations[-1, 1, 0]]
        assert_allclose(driven[:4], forces, rtol=1e-11, atol=1e-11)
        assert_allclose(driven[4:], ends, rtol=1e-10, atol=1e-11)
    stiffness = (ctypes.c_double * 4).in_dll(library, "arm_hardware_stiffness")
    assert list(stiffness) == bank.stiffness.tolist()
    for _ in range(70):  # without time passing none arrives
        full = library.arm_hardware_drives_take(pointer(memory), pointer(command), pointer(applied))
    assert full == 1


def test_the_compiled_instruments_are_the_instruments(library):
    """Noise that Python has drawn is what the C code makes of the same normal numbers."""
    bank = InstrumentBank(HARDWARE, OUTPUTS, T, COUNT, seed=5)
    memory, measured, truth = np.zeros(10_000), np.empty(5), np.cumsum(
        np.random.default_rng(1).uniform(-0.1, 0.1, (COUNT, 5)), axis=0
    )  # fmt: skip
    tip, reading = HARDWARE.instruments[0], np.arange(COUNT) // 3
    w = [np.random.default_rng([5, 0xE8B7BE43, stream]).standard_normal(COUNT) for stream in (0, 1)]  # crc32 of "a"
    assert library.arm_hardware_instruments_start(pointer(memory), ctypes.c_double(T)) == 0
    for k in range(COUNT):
        normal = np.zeros((2, 5))
        normal[:, 0] = w[0][reading[k]], w[1][reading[k] - 1]
        here = truth[k].copy()
        library.arm_hardware_instruments_read(pointer(memory), pointer(here), pointer(normal), pointer(measured))
        assert_allclose(measured, bank.read(k, here), rtol=1e-11, atol=1e-12)
    assert bank.arrays.errors[:, 0].std() > 0.5 * tip.noise
    assert library.arm_hardware_instruments_start(pointer(memory), ctypes.c_double(2e-5)) == 1  # a longer delay


def test_without_hardware_nothing_is_written():
    assert hardware_files(NO_HARDWARE, SimpleNamespace(), "arm", "arm") == {}
