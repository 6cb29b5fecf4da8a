"""Families in C: parameters set at run time give what the model at these values gives."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from supple.approximation.refinement.box import Box
from supple.export.export import export
from supple.reduced.family import Family, FamilyParameter, model_at_parameters
from supple.reduced.layout import packed_triangles
from supple.reduced.model import ReducedModel

# Boxes that are no grid over (θ, μ), cut along the parameters too, of different degrees; and a grid of one degree.
CASES = {
    "mixed": {"seed": 2, "s": 2, "elastic": 1, "levels": (1, 1, 1), "degrees": (3, 2), "coupling": 0.0},
    "grid": {"seed": 3, "s": 1, "elastic": 2, "levels": (1, 1, 0), "degrees": (3,), "coupling": 0.98},
}


def invented_family(conftest, *, seed, s, elastic, levels, degrees, coupling) -> ReducedModel:
    """Smooth functions of θ and of parameters under the names of coefficients; coupling : of M off its diagonal."""
    layout = conftest.invented(seed, s, elastic, (0,) * s, (2,), structured=True).layout
    rng, n, m, t = np.random.default_rng(seed), layout.size, len(levels) - s, layout.fitted
    waves, shifts = rng.uniform(-1.5, 1.5, (t, s + m)), rng.uniform(0.0, 6.0, t)
    waves[:, s:] *= 0.1
    offset, size, soft = np.zeros(t), np.full(t, 0.1), np.arange(n) >= s
    offset[slice(*layout.columns["M"])] = 9.0 * packed_triangles((1.0 - coupling) * np.eye(n) + coupling)
    size[slice(*layout.columns["M"])] = 0.02
    size[slice(*layout.columns["K"])] = packed_triangles(np.outer(soft, soft))
    box = Box((*(-0.7,) * s, *(8.0,) * m), (*(0.9,) * s, *(16.0,) * m))
    fitted = conftest.forest(box, levels, degrees, lambda x: offset + size * np.sin(x @ waves.T + shifts))
    family = Family(tuple(FamilyParameter(f"p{i}", 8.0, 16.0, 11.0, "kg") for i in range(m)), (11.0,) * m, fitted)
    return ReducedModel("code", layout, family.slice(), family=family)


@pytest.fixture(scope="module")
def families(reference):
    return {name: invented_family(reference, **case) for name, case in CASES.items()}


@pytest.fixture(scope="module", params=CASES)
def rom(request, families):
    return families[request.param]


class Set:
    """The compiled code with parameters of its own."""

    def __init__(self, library, rom):
        self.library, self.rom = library, rom
        text = Path(library.library._name).with_suffix(".h").read_text()
        size = re.search(r"structure of parameters\D*(\d+) bytes", text)
        self.parameters = ctypes.create_string_buffer(int(size.group(1)) + 64)
        library.library[f"{library.prefix}_defaults"](self.parameters)

    def set(self, *mu):
        given = np.array(mu, dtype=self.library.kind)
        function = self.library.library[f"{self.library.prefix}_set_parameters"]
        return function(self.parameters, ctypes.c_void_p(given.ctypes.data))

    def call(self, name, *given, width):
        out = np.full(width, 12345.0, dtype=self.library.kind)
        arrays = [np.ascontiguousarray(item, dtype=self.library.kind) for item in given]
        pointers = [ctypes.c_void_p(item.ctypes.data) for item in (*arrays, out)]
        return self.library.library[f"{self.library.prefix}_{name}"](self.parameters, *pointers), out


@pytest.fixture(scope="module")
def coded(built):
    return lambda rom, precision="double": Set(built(rom, precision), rom)


def states(rom, count, seed=1):
    rng = np.random.default_rng(seed)
    lower, upper = rom.fitted.arrays.roots_f[0]
    n, s = rom.layout.size, rom.layout.theta
    theta = rng.uniform(lower, upper, (count, s))
    return np.hstack([theta, rng.uniform(-0.1, 0.1, (count, n - s)), rng.uniform(-1.0, 1.0, (count, n))])


def values_of(rom):
    """Ends, cuts and some between."""
    m, rng = len(rom.family.parameters), np.random.default_rng(5)
    return [(8.0,) * m, (16.0,) * m, (12.0,) * m, *(tuple(rng.uniform(8.0, 16.0, m)) for _ in range(4))]


def largest_difference(code, rom, count):
    """Of accelerations, forces and outputs, of the largest number of their kind."""
    n, s, u = rom.layout.size, rom.layout.theta, np.array([0.3, -0.2])
    worst = 0.0
    for values in values_of(rom):
        one = rom.at(**dict(zip(rom.family.names, values, strict=True)))
        assert code.set(*values) == 0
        x = states(one, count)
        v = x[:, n:]
        wanted = {
            "forward": one.forward(x[:, :s], v, u, delta=x[:, s:n]),
            "inverse": one.inverse(x[:, :s], v, v, delta=x[:, s:n]),
            "outputs": one.observe(x[:, :n], v)[0],
        }
        for name, expected in wanted.items():
            scale = np.abs(expected).max()
            for k in range(count):
                given = {"forward": (x[k, :n], v[k], u), "inverse": (x[k, :n], v[k], v[k]), "outputs": (x[k, :n],)}
                flag, found = code.call(name, *given[name], width=expected.shape[1])
                assert flag == 0
                worst = max(worst, np.abs(found - expected[k]).max() / scale)
    return worst


def test_parameters_that_are_set_give_the_model_there(rom, coded):
    assert largest_difference(coded(rom), rom, 40) < 1e-12


def test_single_precision_sums_what_must_be_exact_in_double(families, coded):
    rom = families["grid"]  # its M has a condition of some hundreds
    code = coded(rom, "single")
    assert "typedef double exact" in Path(code.library.library._name).with_suffix(".c").read_text()
    assert largest_difference(code, rom, 10) < 1e-5


def test_a_parameter_may_be_fixed_and_others_left(families, coded):
    whole = families["grid"]
    some = model_at_parameters(whole, {"p0": 9.3}, others=True)
    assert some.family.names == ("p1",)
    code, n = coded(some), whole.layout.size
    assert "Written for p0 = 9.3 kg; not settable" in Path(code.library.library._name).with_suffix(".h").read_text()
    for value in (8.0, 12.0, 13.7):
        assert code.set(value) == 0
        one = whole.at(p0=9.3, p1=value)
        for x in states(one, 5):
            found = code.call("forward", x[:n], x[n:], np.zeros(2), width=n)[1]
            expected = one.forward(x[:1], x[n:], delta=x[1:n])
            assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()


def test_without_parameters_it_is_the_models_own(rom, coded):
    code, n = coded(rom), rom.layout.size
    x = states(rom, 1)[0]
    own = code.call("forward", x[:n], x[n:], np.zeros(2), width=n)[1]
    code.parameters = None
    assert np.array_equal(code.call("forward", x[:n], x[n:], np.zeros(2), width=n)[1], own)
    s = rom.layout.theta
    assert own == pytest.approx(rom.forward(x[:s], x[n:], delta=x[s:n]), rel=1e-12)


def test_values_outside_leave_what_was_set(rom, coded):
    code, m = coded(rom), len(rom.family.parameters)
    assert code.set(*(9.5,) * m) == 0
    before = bytes(code.parameters)
    for wrong in (7.999, 16.001, np.nan, np.inf, -np.inf):
        assert code.set(*(9.0,) * (m - 1), wrong) == 1
        assert bytes(code.parameters) == before


def test_it_tests_itself_under_sanitizers(families, tmp_path):
    if shutil.which("make") is None:
        pytest.skip("make was not found")
    export(families["mixed"], tmp_path)
    flags = "CFLAGS=-O1 -Werror -fsanitize=address,undefined -fno-sanitize-recover=all"
    done = subprocess.run(["make", "test", flags], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAILED" not in done.stdout


def test_two_sets_of_parameters_run_side_by_side(rom, coded):
    one, other = coded(rom), coded(rom)
    n, m, x = rom.layout.size, len(rom.family.parameters), states(rom, 1)[0]
    assert one.set(*(8.5,) * m) == other.set(*(15.0,) * m) == 0
    first = one.call("forward", x[:n], x[n:], np.zeros(2), width=n)[1]
    second = other.call("forward", x[:n], x[n:], np.zeros(2), width=n)[1]
    assert not np.allclose(first, second, rtol=1e-3)
    assert np.array_equal(first, one.call("forward", x[:n], x[n:], np.zeros(2), width=n)[1])


def test_jacobians_are_those_of_the_model_there(rom, coded):
    code, n, s = coded(rom), rom.layout.size, rom.layout.theta
    values = values_of(rom)[-1]
    one = rom.at(**dict(zip(rom.family.names, values, strict=True)))
    assert code.set(*values) == 0
    for x in states(one, 5):
        A, B, rate = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, 2)), np.zeros(2 * n)
        arrays = (np.ascontiguousarray(x), np.zeros(2), rate, A, B)
        pointers = [ctypes.c_void_p(item.ctypes.data) for item in arrays]
        assert code.library.library["code_jacobian"](code.parameters, *pointers) == 0
        linear = one.linearize(x[:s], rates=x[n:], inputs=np.zeros(2), delta=x[s:n], drives=False)
        assert np.abs(A - linear.A).max() < 1e-11 * np.abs(linear.A).max()
        assert np.abs(B - linear.B).max() < 1e-12 * np.abs(linear.B).max()
