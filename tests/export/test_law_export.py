"""Laws of control as C: the compiled code answers as Python does."""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.control.laws.affine_law import constant_law
from supple.control.laws.affine_matrices import AffineMatrices, Ports, shapes
from supple.control.laws.law_equilibrium import Equilibria, keep_equilibrium
from supple.control.laws.scheduling import scheduled_law
from supple.diagnostics import InputError
from supple.export.export import export

PORTS = {
    "all": Ports(("lift", "elbow", "tip.x"), ("lift", "elbow"), ("f", "g"), 1e-3, (0.0, 0.013), fed=True, swept=True),
    "regulator": Ports(("lift", "elbow"), (), ("f",), 1e-3, answers=("a", "b")),
}


def design(ports: Ports, n: int, sigma) -> AffineMatrices:
    rng = np.random.default_rng(4)
    parts = []
    for shape in shapes(n, ports):
        mean, slope, phase = (rng.standard_normal(shape) for _ in range(3))
        change = rng.random(shape) < 0.4
        parts.append(0.2 * mean + 0.1 * change * np.sin(slope * sigma[0] - 2.0 * slope * sigma[1] + phase))
    return AffineMatrices(*parts)


def kept(ports: Ports, n: int, points: np.ndarray) -> Equilibria:
    """Some equilibrium of every number, at points (N, 2)."""
    rng, parts = np.random.default_rng(6), []
    for width in (n, ports.size, len(ports.outputs)):
        mean, slope = rng.standard_normal((2, width))
        change = rng.random(width) < 0.7
        wave = np.sin(points[:, :1] * slope + points[:, 1:] + mean)
        parts.append(mean + change * wave)
    return Equilibria(*parts)


def keeping(ports: Ports, n: int, sigma) -> AffineMatrices:
    """The design, with b, d and a₀ such that it keeps that equilibrium."""
    return keep_equilibrium(design(ports, n, sigma), kept(ports, n, np.array([sigma])).rows()[0])


def standing(ports: Ports, n: int) -> AffineMatrices:
    """Matrices that do not change, with b and d that do."""
    return design(ports, n, (0.3, 0.1))


UNDEFINED = 3  # in the header of a law
REGION = {"lift": (0.0, 1.0), "elbow": (-1.0, 1.0)}
CASES = {
    "fixed": lambda: constant_law(design(PORTS["all"], 4, (0.3, 0.1)), PORTS["all"], name="fixed"),
    "without states": lambda: constant_law(
        design(PORTS["regulator"], 0, (0.3, 0.1)), PORTS["regulator"], name="static"
    ),
    "scheduled": lambda: scheduled_law(
        lambda sigma: design(PORTS["all"], 4, sigma), {"lift": (0.0, 1.0), "elbow": (-1.0, 1.0)}, PORTS["all"],
        tolerance=1e-3, name="all of it*/",
    ),
    "about an equilibrium": lambda: scheduled_law(
        lambda sigma: keeping(PORTS["all"], 4, sigma), REGION, PORTS["all"], tolerance=1e-3,
        equilibria=lambda points: kept(PORTS["all"], 4, points),
    ),
    "constant gains about an equilibrium": lambda: scheduled_law(
        lambda sigma: keep_equilibrium(standing(PORTS["all"], 3), kept(PORTS["all"], 3, np.array([sigma])).rows()[0]),
        REGION, PORTS["all"], tolerance=1e-3, equilibria=lambda points: kept(PORTS["all"], 3, points),
    ),
}  # fmt: skip


@pytest.fixture(scope="module", params=list(CASES))
def law(request):
    return CASES[request.param]()


@pytest.fixture(scope="module")
def library(law, cc, strict, tmp_path_factory):
    folder = tmp_path_factory.mktemp("law")
    _, source = export(law, folder)
    target = source.with_suffix(".so")
    done = subprocess.run([cc, *strict, "-fPIC", "-shared", str(source), "-o", str(target)],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr[:3000]
    found = ctypes.CDLL(str(target))
    return {name: getattr(found, f"{source.stem}_{name}") for name in ("start", "step")}


def pointers(*arrays):
    return [ctypes.c_void_p(array.ctypes.data) for array in arrays]


def test_the_compiled_law_is_the_law(law, library):
    """The matrices of Python multiplied out, against the C code, over samples inside the region and outside."""
    rng, ports = np.random.default_rng(8), law.ports
    x = np.zeros(max(1, law.states))
    for k in range(30):
        z = rng.uniform(-1.2, 1.2, ports.size)
        if ports.swept:
            i, j = ports.factors
            z[ports.products] = z[ports.wanted(1)][i] * z[ports.wanted(1)][j]
        sigma = z[[ports.place(name) for name in law.scheduled_by]]
        here = law.at(sigma if law.scheduled_by else None)
        parts = [z[part].copy() for part in (ports.y, ports.wanted_all, ports.applied_commands, ports.fed_forward)]
        told = pointers(x, *(part for part in parts if part.size))
        if k == 0:
            library["start"](*told)
            expected = here.A0 @ z + here.a0
            assert_allclose(x[: law.states], expected, rtol=1e-12, atol=1e-12)
        command = np.full(len(ports.outputs), 7.0)
        flag = library["step"](*told, *pointers(command))
        outside = law.bounds is not None and bool(((sigma < law.bounds[0]) | (sigma > law.bounds[1])).any())
        assert flag == (2 if outside else 0)
        assert_allclose(command, here.C @ expected + here.D @ z + here.d, rtol=1e-12, atol=1e-12)
        expected = here.A @ expected + here.B @ z + here.b
        assert_allclose(x[: law.states], expected, rtol=1e-12, atol=1e-12)


def test_other_compilers_take_it_in_both_precisions(law, cxx, strict, tmp_path):
    commands = [[cxx, "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-x", "c++"]]
    commands += [["clang", *strict]] if shutil.which("clang") else []
    for precision in ("double", "single"):
        header, source = export(law, tmp_path, precision=precision)
        assert "A step takes at most" in header.read_text()
        upper = source.stem.upper()
        for command in commands:
            placed = [f"-D{upper}_TABLES=", f"-D{upper}_CODE="]
            done = subprocess.run([*command, *placed, "-c", str(source), "-o", str(tmp_path / "x.o")],
                                  capture_output=True, text=True, check=False)  # fmt: skip
            assert done.returncode == 0, done.stderr[:2000]


def test_what_is_no_number_leaves_command_and_state(law, library):
    ports = law.ports
    x, z = np.full(max(1, law.states), 0.5), np.zeros(ports.size)
    for bad in (np.nan, np.inf, -np.inf):
        z[0] = bad
        parts = [z[part].copy() for part in (ports.y, ports.wanted_all, ports.applied_commands, ports.fed_forward)]
        given, command = pointers(x, *(part for part in parts if part.size)), np.full(len(ports.outputs), 7.0)
        assert library["step"](*given, *pointers(command)) == UNDEFINED
        assert library["start"](*given) == UNDEFINED
        assert (command == 7.0).all()
        assert (x == 0.5).all()


def test_times_of_previews_are_written_in_full(tmp_path):
    ports = Ports(("lift",), ("lift",), ("f",), 1e-3, (0.0, 1.0 / 3.0))
    header, _ = export(constant_law(design(ports, 1, (0.0, 0.0)), ports, name="ahead"), tmp_path)
    assert "_PREVIEW_TIMES {0.0, 0.3333333333333333} /* s */" in header.read_text()
    assert "0.0, 0.3333333333333333 s after the sample" in header.read_text()


def test_what_is_no_law_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot export a "):
        export(object(), tmp_path)  # type: ignore[arg-type]
