"""Motions as C: the compiled code answers as the motion in Python does, from fewer numbers."""

from __future__ import annotations

import ctypes
import subprocess

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.diagnostics import InputError
from supple.export.c.motion_table import motion_table
from supple.export.export import export
from supple.time_functions.function_of_time import CalledFunction, PiecewisePolynomial, Trajectory

NAMES = ("lift", "elbow*/")
T = 1e-3


def waves(times: np.ndarray) -> np.ndarray:
    """A smooth motion with its derivatives, (N, 4, 2)."""
    w, shift = np.array([7.0, 3.0]), np.array([0.3, 1.0])
    return np.stack([w**k * np.sin(times[:, None] * w + shift + 0.5 * np.pi * k) for k in range(4)], axis=1)


def sampled(end: float = 1.0) -> PiecewisePolynomial:
    times = np.linspace(0.0, end, round(end / T) + 1)
    return Trajectory(NAMES, times, *waves(times)[:, :3].transpose(1, 0, 2)).function


def jumping(begin: float = -0.25) -> PiecewisePolynomial:
    """Pieces of all lengths whose accelerations and third derivatives jump, at samples and between."""
    rng = np.random.default_rng(3)
    breaks = begin + np.array([0.0, 0.1, 0.1 + 1.0 / 3.0, 0.5, 0.7, 0.7004, 1.3])
    coefficients = rng.standard_normal((6, 4, 2))
    for p in range(1, 6):  # continuous with its rates
        h = breaks[p] - breaks[p - 1]
        before = coefficients[p - 1]
        coefficients[p, 0] = before[0] + h * before[1] + h**2 * before[2] + h**3 * before[3]
        coefficients[p, 1] = before[1] + 2.0 * h * before[2] + 3.0 * h**2 * before[3]
    return PiecewisePolynomial(NAMES, breaks, coefficients)


MOTIONS = {
    "sampled": sampled,
    "jumping": jumping,
    "one piece": lambda: PiecewisePolynomial(("a",), np.array([0.0, 2.0]), np.array([[[1.0], [0.5], [0.0], [2.0]]])),
    "called": lambda: CalledFunction(NAMES, waves, begin=0.1, end=0.6),
}


@pytest.fixture(scope="module")
def compiled(cc, strict, tmp_path_factory):
    """Exports a motion, compiles it and its test, runs the test, and returns the functions; once for a name."""
    known: dict[str, ctypes.CDLL] = {}

    def compile_(motion, **options):
        if isinstance(motion, str) and motion in known:
            return known[motion]
        name, motion = motion, MOTIONS[motion]() if isinstance(motion, str) else motion
        folder = tmp_path_factory.mktemp("motion")
        export(motion, folder, prefix="arm", **options)
        for command in (
            [cc, *strict, "-fPIC", "-shared", "arm_motion.c", "-o", "arm.so"],
            [cc, *strict, "arm_motion.c", "arm_motion_test.c", "-lm", "-o", "run"],
            ["./run"],
        ):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr[:2000]
        found = ctypes.CDLL(str(folder / "arm.so"))
        if isinstance(name, str):
            known[name] = found
        return found

    return compile_


def value_at(library, t: float, width: int) -> tuple[int, np.ndarray]:
    values = np.full((4, width), 7.0)
    return library.arm_motion_at(ctypes.c_double(t), ctypes.c_void_p(values.ctypes.data)), values


@pytest.mark.parametrize("name", list(MOTIONS))
def test_the_compiled_motion_is_the_motion(name, compiled):
    motion = MOTIONS[name]()
    library = compiled(name)
    width = len(motion.coordinates)
    rng = np.random.default_rng(1)
    times = rng.uniform(motion.begin - 0.1, motion.end + 0.1, 300)
    given = motion.sample(np.clip(times, motion.begin, motion.end - 1e-12))
    outside = (times < motion.begin) | (times >= motion.end)
    given[outside, 1:] = 0.0
    largest = np.abs(given).max(axis=(0, 2))
    largest[0] = np.ptp(given[:, 0], axis=0).max()
    found = np.array([value_at(library, t, width)[1] for t in times])
    error = np.abs(found - given).max(axis=(0, 2)) / largest
    assert (error <= [1e-9, 1e-7, 1e-5, 1e-3]).all()


def test_outside_of_its_time_a_motion_stands(compiled):
    motion, library = jumping(), compiled("jumping")
    for t in (-np.inf, -1e300, motion.begin - 1e-3):
        flag, values = value_at(library, t, 2)
        assert flag == 0
        assert_allclose(values, [motion.at(-np.inf)[0], *np.zeros((3, 2))], rtol=1e-15)
    for t in (motion.end, 1e9, np.inf):
        flag, values = value_at(library, t, 2)
        assert flag == 0
        assert_allclose(values, [motion.at(np.inf)[0], *np.zeros((3, 2))], rtol=1e-15)
    for n in (-(2**31), 2**31 - 1):
        values = np.zeros((4, 2))
        assert library.arm_motion_at_sample(n, ctypes.c_double(0.0), ctypes.c_void_p(values.ctypes.data)) == 0
        assert_allclose(values[0], motion.at(np.inf * np.sign(n))[0], rtol=1e-15)


def test_a_time_that_is_no_number_changes_nothing(compiled):
    library = compiled("sampled")
    flag, values = value_at(library, np.nan, 2)
    assert (flag, (values == 7.0).all()) == (1, True)
    values = np.full((2, 4, 2), 7.0)
    for wrong in (np.nan, np.inf):
        previews = np.array([0.0, wrong])
        parts = (ctypes.c_void_p(previews.ctypes.data), 2, ctypes.c_void_p(values.ctypes.data))
        assert library.arm_motion_wanted(3, *parts) == 1
        assert (values == 7.0).all()


def test_previews_of_a_law_are_filled_in_its_order(compiled):
    motion, library = sampled(), compiled("sampled")
    previews, wanted = np.array([0.0, 0.013, -0.0004]), np.zeros((3, 4, 2))
    parts = (ctypes.c_void_p(previews.ctypes.data), 3, ctypes.c_void_p(wanted.ctypes.data))
    assert library.arm_motion_wanted(400, *parts) == 0
    assert_allclose(wanted, motion.sample(0.4 + previews), rtol=1e-4)


def test_at_a_jump_the_later_side_counts(compiled):
    """Also where the rounding of k T ends just before it."""
    breaks = np.array([0.0, 0.1, 0.3, 0.7, 1.1])
    coefficients = np.zeros((4, 4, 1))
    coefficients[:, 3, 0] = [1.0, -1.0, 2.0, -2.0]
    library = compiled(PiecewisePolynomial(("a",), breaks, coefficients))
    for k, jerk in ((99, 6.0), (100, -6.0), (299, -6.0), (300, 12.0), (699, 12.0), (700, -12.0), (1100, 0.0)):
        values = np.zeros((4, 1))
        library.arm_motion_at_sample(k, ctypes.c_double(0.0), ctypes.c_void_p(values.ctypes.data))
        assert values[3, 0] == pytest.approx(jerk)


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("tolerance", [None, 1e-6, 1e-4])
def test_the_stated_errors_hold_between_the_checks(precision, tolerance):
    motion = sampled()
    table = motion_table(motion, tolerance=tolerance, precision=precision)
    times = np.random.default_rng(5).uniform(0.0, motion.end - 1e-9, 4000)
    expected = motion.sample(times)
    scales = np.abs(expected).max(axis=0)
    scales[0] = np.ptp(expected[:, 0], axis=0)
    error = (np.abs(table.sample(times) - expected) / scales).max(axis=(0, 2))
    assert (error <= 1.3 * table.error + 1e-12).all()
    asked = {"double": 1e-9, "single": 1e-7}[precision] if tolerance is None else tolerance
    assert table.error[0] <= asked + (1e-6 if precision == "single" else 0.0)
    assert table.bytes < table.given[0] / 20


def test_pieces_are_kept_if_they_are_few_or_asked_for():
    assert motion_table(jumping()).pieces == 6
    assert motion_table(jumping()).error.max() < 1e-12
    whole = motion_table(sampled(), tolerance=0.0)
    assert (whole.pieces, whole.degree) == (1000, 5)
    assert motion_table(sampled(), tolerance=1e-9).pieces < 50


def test_equal_polynomials_become_one_piece():
    """Also of a coordinate whose higher derivatives are rounding alone."""
    times = np.linspace(0.0, 0.5, 501)
    line = np.stack([0.4 * times, 0.3 + 0.0 * times], axis=1)
    rates = np.broadcast_to([0.4, 0.0], line.shape)
    table = motion_table(Trajectory(NAMES, times, line, rates, np.zeros_like(line)))
    assert table.pieces == 1


def test_a_long_motion_keeps_its_digits_in_single_precision(compiled):
    """A day at 1 kHz, and a short move at its end: float seconds would be off by 4 ms."""
    motion = PiecewisePolynomial(
        ("a",), np.array([0.0, 86400.0, 86401.0]),
        np.array([[[1.0], [0.0], [0.0], [0.0]], [[1.0], [0.0], [3.0], [-2.0]]]),
    )  # fmt: skip
    library = compiled(motion, precision="single")
    for k in (86_400_001, 86_400_250, 86_400_999):
        values = np.zeros((4, 1), dtype=np.float32)
        library.arm_motion_at_sample(k, ctypes.c_float(0.0), ctypes.c_void_p(values.ctypes.data))
        assert_allclose(values[:, 0], motion.at(k * T)[:, 0], rtol=2e-5, atol=2e-5)


def test_a_motion_may_begin_late_or_have_long_samples():
    late = sampled().delay(5.0)
    table = motion_table(late, sample_time=0.25)
    times = np.linspace(4.9, 6.1, 200)
    assert_allclose(table.sample(times)[:, 0], late.sample(times)[:, 0], atol=1e-8)


def test_cxx_and_headers(cxx, tmp_path):
    for precision in ("double", "single"):
        export(sampled(), tmp_path, prefix="arm", precision=precision)
        command = [cxx, "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-x", "c++"]
        done = subprocess.run([*command, "-DARM_MOTION_TABLES=", "-c", str(tmp_path / "arm_motion.c"), "-o",
                               str(tmp_path / "x.o")], capture_output=True, text=True, check=False)  # fmt: skip
        assert done.returncode == 0, done.stderr[:2000]
    header = (tmp_path / "arm_motion.h").read_text()
    assert '#define ARM_MOTION_NAMES {"lift", "elbow*/"}' in header
    assert "ARM_MOTION_COORDINATE_ELBOW = 1" in header
    assert "bytes of constants" in header


def test_what_has_no_table_is_refused(tmp_path):
    with pytest.raises(InputError, match="the motion has no end"):
        export(CalledFunction(NAMES, waves), tmp_path)
    with pytest.raises(InputError, match="does not support motions"):
        export(sampled(), tmp_path, to="fmu")
    with pytest.raises(InputError, match='option "model"'):
        export(sampled(), tmp_path, model=None)
    with pytest.raises(InputError, match="tolerance must not be negative"):
        export(sampled(), tmp_path, tolerance=-1.0)
    with pytest.raises(InputError, match="more than 536870912 samples"):
        export(sampled().delay(1e6), tmp_path, sample_time=1e-3)
