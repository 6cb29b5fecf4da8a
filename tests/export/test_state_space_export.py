"""State derivative, Jacobians, outputs and steps of exported C against the reduced model in Python."""

from __future__ import annotations

import ctypes
import subprocess

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.export.c.target import reference_states
from supple.export.export import export

RTOL = 1e-12  # sums of some hundred products in another order


class Code:
    """Compiled code by its sizes: arrays in, arrays out."""

    def __init__(self, library, prefix, rom, kind=float):
        layout = rom.layout
        self.library, self.prefix, self.kind = library, prefix, kind
        self.n, self.u, self.y = layout.size, len(layout.inputs), len(layout.outputs)

    def call(self, name, state, inputs, *shapes, parameters=None):
        given = [np.ascontiguousarray(state, dtype=self.kind), np.ascontiguousarray(inputs, dtype=self.kind)]
        found = [np.full(shape, 12345.0, dtype=self.kind) for shape in shapes]
        pointers = [ctypes.c_void_p(item.ctypes.data) for item in (*given, *found)]
        chosen = None if parameters is None else ctypes.c_void_p(parameters.ctypes.data)
        return getattr(self.library, f"{self.prefix}_{name}")(chosen, *pointers), *found

    def step(self, name, state, inputs, length):
        kept = np.array(state, dtype=self.kind)
        pushed = np.ascontiguousarray(inputs, dtype=self.kind)
        number = ctypes.c_double(length) if self.kind is float else ctypes.c_float(length)
        function = getattr(self.library, f"{self.prefix}_step_{name}")
        pointers = [ctypes.c_void_p(item.ctypes.data) for item in (kept, pushed)]
        return function(None, *pointers, number), kept


@pytest.fixture
def code(machine, built):
    library = built(machine)
    return Code(library.library, library.prefix, machine)


@pytest.fixture(scope="session")
def thousand():
    """1000 random states of a model with what Python says of them."""
    known = {}

    def states(rom):
        if rom.name not in known:
            known[rom.name] = reference_states(rom, 1000, seed=3, tries=4000)
        return known[rom.name]

    return states


def largest(values):
    return np.abs(values).max(initial=1e-300)


def test_jacobians_are_those_of_the_linear_model(machine, code, thousand):
    states, inputs, *_ = thousand(machine)
    n, s = code.n, machine.layout.theta
    for x, u in zip(states[:25], inputs[:25], strict=True):
        flag, rate, A, B = code.call("jacobian", x, u, 2 * n, (2 * n, 2 * n), (2 * n, code.u))
        assert flag == 0
        assert_allclose(rate, code.call("derivative", x, u, 2 * n)[1], rtol=RTOL, atol=RTOL * largest(rate))
        linear = machine.linearize(x[:s], rates=x[n:], inputs=u, delta=x[s:n], drives=False)
        for found, expected in ((A, linear.A), (B, linear.B)):
            # Conditions of M to some 1e4 leave 1e-12 of the largest entry.
            assert_allclose(found, expected, rtol=0, atol=1e-11 * largest(expected))
        if code.y:
            flag, _, C, D = code.call("output_jacobian", x, u, code.y, (code.y, 2 * n), (code.y, code.u))
            assert flag == 0
            assert_allclose(C, linear.C, rtol=0, atol=1e-11 * largest(linear.C))
            assert_allclose(D, linear.D, rtol=0, atol=1e-11 * largest(linear.D))


def test_jacobians_are_slopes(machine, code, thousand):
    """Differences of the compiled functions themselves: an error of h² and of rounding over h."""
    states, inputs, *_ = thousand(machine)
    n, h = code.n, 1e-6
    for x, u in zip(states[:5], inputs[:5], strict=True):
        _, _, A, B = code.call("jacobian", x, u, 2 * n, (2 * n, 2 * n), (2 * n, code.u))
        for k, column in enumerate(np.hstack([A, B]).T):
            e, z = np.zeros(2 * n + code.u), np.concatenate([x, u])
            e[k] = h
            up, down = (code.call("derivative", *np.split(z + sign * e, [2 * n]), 2 * n)[1] for sign in (1.0, -1.0))
            assert_allclose((up - down) / (2.0 * h), column, rtol=0, atol=3e-6 * largest(A))


@pytest.fixture
def beginning(machine):
    """A state inside the region, and inputs that hold it nearly."""
    lower, upper = machine.fitted.arrays.roots_f[0]
    linear = machine.linearize(0.4 * lower + 0.6 * upper, drives=False)
    x = np.array(list(linear.at["states"].values()))
    x[machine.layout.size] += 0.1
    return x, np.array(list(linear.at["inputs"].values()))


@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_steps_are_those_of_the_methods(machine, code, beginning, reference, method):
    x, u = beginning
    h = 1e-5 if method == "explicit" else 1e-3
    for _ in range(20):
        flag, found = code.step(method, x, u, h)
        assert flag == 0
        expected = reference.step(machine, x, u, h, method)
        n = machine.layout.size
        assert_allclose(found[:n], expected[:n], rtol=0, atol=RTOL * largest(expected[:n]))
        # W and J are known to rounding over the spread of frequencies.
        assert_allclose(found[n:], expected[n:], rtol=0, atol=1e-10 * largest(expected[n:]))
        x = found


@pytest.mark.parametrize(("method", "order"), [("explicit", 4), ("implicit", 3)])
def test_a_motion_is_reproduced_to_the_order_of_the_method(machine, code, beginning, method, order):
    x, u = beginning
    n, s, span = code.n, machine.layout.theta, 0.01
    start = dict(zip(machine.layout.coordinates, x[:n], strict=True))
    names = machine.layout.inputs
    run = machine.simulate(
        np.array([0.0, span]), dict(zip(names, u, strict=True)), start, rates=x[n:], tolerance=1e-13,
        method="explicit", drives=False,
    )  # fmt: skip
    expected = np.array([signal[-1] for signal in (*run.coordinates.values(), *run.rates.values())])
    fast = machine.linearize(x[:s], rates=x[n:], inputs=u, delta=x[s:n], drives=False).A
    # Ten steps in a radian of the fastest motion: there the leading term of the error speaks.
    count = max(8, int(np.ceil(span * np.abs(np.linalg.eigvals(fast)).max() * 10)))
    errors = []
    for steps in (count, 2 * count):
        z = x
        for _ in range(steps):
            flag, z = code.step(method, z, u, span / steps)
            assert flag == 0
        errors.append(np.abs(z - expected).max() / np.abs(expected).max())
    assert errors[1] < 1e-5
    assert errors[1] < errors[0] / 2 ** (order - 0.5) or errors[1] < 1e-11


def test_implicit_steps_stay_bounded_where_explicit_ones_do_not(machines, built):
    """Flexible four-bar: steps a hundred times the stable one."""
    rom = machines["flexible-four-bar"]
    library = built(rom)
    code = Code(library.library, library.prefix, rom)
    lower, upper = rom.fitted.arrays.roots_f[0]
    linear = rom.linearize(0.5 * (lower + upper), drives=False)
    x, u = np.array(list(linear.at["states"].values())), np.array(list(linear.at["inputs"].values()))
    fastest = np.abs(np.linalg.eigvals(linear.A)).max()
    x[rom.layout.theta] += 1e-5
    wide, deflection = x, largest(x[rom.layout.theta : rom.layout.size])
    for _ in range(20):
        flag, wide = code.step("implicit", wide, u, 100.0 * 2.8 / fastest)
        assert flag == 0
    assert largest(wide[rom.layout.theta : rom.layout.size]) < 2.0 * deflection
    for _ in range(20):
        flag, x = code.step("explicit", x, u, 3.5 / fastest)
        if flag:
            break
    assert flag or largest(x[rom.layout.theta : rom.layout.size]) > 10.0 * deflection


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300])
def test_a_state_that_is_no_number_is_refused_and_left(machine, code, beginning, value):
    x, u = beginning
    for k in range(len(x)):
        wrong = x.copy()
        wrong[k] = value
        for method in ("explicit", "implicit"):
            flag, left = code.step(method, wrong, u, 1e-4)
            assert flag != 0
            assert_allclose(left, wrong)


def test_parameters_change_damping_and_friction(machines, built, thousand):
    rom = machines["ralf"]
    library = built(rom)
    code = Code(library.library, library.prefix, rom)
    states, inputs, a, *_ = thousand(rom)
    x, n, s = states[0], code.n, rom.layout.theta
    parameters = np.ones(1 + len(rom.layout.dry_forces) + bool(rom.layout.dry_forces))
    library.library[f"{library.prefix}_defaults"](ctypes.c_void_p(parameters.ctypes.data))
    assert_allclose(code.call("derivative", x, inputs[0], 2 * n, parameters=parameters)[1][n:], a[0], rtol=1e-9)
    parameters[0] = 3.0
    c = rom.evaluate(x[:s], delta=x[s:n])
    expected = a[0] - np.linalg.solve(c.M, 2.0 * c.damping @ x[n:])
    found = code.call("derivative", x, inputs[0], 2 * n, parameters=parameters)[1][n:]
    assert largest(expected - a[0]) > 0.0
    assert_allclose(found, expected, rtol=0, atol=1e-9 * largest(expected))


def compiled(cc, strict, rom, folder, *flags, **options):
    files = export(rom, folder, **options)
    library = folder / "code.so"
    done = subprocess.run([cc, *strict, *flags, "-fPIC", "-shared", str(files[1]), "-lm", "-o", str(library)],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr[:3000]
    kind = np.float32 if options.get("precision") == "single" else float
    return Code(ctypes.CDLL(str(library)), files[1].stem, rom, kind)


def test_without_exact_parts_single_precision_is_what_rounding_leaves(machines, cc, strict, thousand, tmp_path):
    """All in single precision: rounding errors times the condition of M, scaled to ones on its diagonal."""
    rom = machines["flexible-four-bar"]
    code = compiled(cc, strict, rom, tmp_path, "-DBARS_EXACT=0", precision="single", prefix="bars")
    states, inputs, a, *_ = thousand(rom)
    n, s = code.n, rom.layout.theta
    worst = 0.0
    for x, u in zip(states[:200].astype(np.float32), inputs[:200].astype(np.float32), strict=True):
        flag, rate = code.call("derivative", x, u, 2 * n)
        assert flag == 0
        z = x.astype(float)
        M = rom.evaluate(z[:s], delta=z[s:n]).M
        scale = 1.0 / np.sqrt(np.diag(M))
        expected = rom.forward(z[:s], z[n:], u.astype(float), delta=z[s:n])
        worst = max(worst, largest(rate[n:] - expected) / largest(a) / np.linalg.cond(M * np.outer(scale, scale)))
    assert 1e-9 < worst < 1e-6


def test_clamped_to_the_region(machine, cc, strict, tmp_path):
    """Outside: the coefficients of the nearest point, said; and no change along what is held."""
    prefix = "clamped"
    code = compiled(cc, strict, machine, tmp_path, "-DCLAMPED_CLAMP=1", prefix=prefix)
    n, s = code.n, machine.layout.theta
    lower, upper = machine.fitted.arrays.roots_f[0]
    x = np.concatenate([0.5 * (lower + upper), np.zeros(2 * n - s)])
    x[n:] = 0.01
    x[0] = upper[0] + 1.0
    u = np.ones(code.u)
    edge = x.copy()
    edge[0] = upper[0]
    flag, _, A, _ = code.call("jacobian", x, u, 2 * n, (2 * n, 2 * n), (2 * n, code.u))
    inside, _, there, _ = code.call("jacobian", edge, u, 2 * n, (2 * n, 2 * n), (2 * n, code.u))
    assert (flag, inside) == (3, 0)
    assert not A[:, 0].any()
    assert_allclose(A[:, 1:], there[:, 1:], rtol=1e-14, atol=0)
    assert_allclose(code.call("derivative", x, u, 2 * n)[1], code.call("derivative", edge, u, 2 * n)[1])
    x[0] = np.nan
    assert code.call("derivative", x, u, 2 * n)[0] == 1
    for value, flag in ((1e300, 3), (np.inf, 4), (-np.inf, 4)):
        x[0] = value
        assert code.call("derivative", x, u, 2 * n)[0] == flag
    with pytest.raises(supple.InputError, match='"single"'):
        export(machine, tmp_path, precision="sngle")
