"""Each export as its own tool runs it: what it says at given states, and where a motion takes it.

A target is a function (case, folder) of a `Case`; its answers are named as what is expected there.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from supple.export.c.generated_model import CModel
from supple.export.export import export

FAMILIES = ("M", "K", "damping", "force", "input_map")  # coefficients that are compared
FEW = 100  # states at which Octave is asked for them: a call takes it a millisecond
OCTAVE = """
given = load('given.mat'); n = given.n; s = given.s; N = size(given.x, 2);
for i = 1:N
  theta = given.x(1:s, i); delta = given.x(s+1:n, i); v = given.x(n+1:end, i); a = given.a(:, i); u = given.u(:, i);
@all@
end
x = given.start; u = given.held; h = given.h;
for k = 1:given.steps
  k1 = @derivative@(x); k2 = @derivative@(x + h/2 * k1); k3 = @derivative@(x + h/2 * k2); k4 = @derivative@(x + h * k3);
  x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
end
motion = x;
save('-v7', 'found.mat', 'motion', @names@);
"""
SIMSTRUC = """
#include <stddef.h>
#define OF(type, name) type name[4096]
typedef double real_T;
typedef int int_T;
typedef struct { const double *values; size_t count; } mxArray;
typedef struct { int states, width, inputs, outputs, feeds; const char *error; const mxArray *parameter;
    const double *u; double x[64], dx[64], y[64]; } SimStruct;
#define CONTINUOUS_SAMPLE_TIME 0.0
#define mxGetNumberOfElements(a) ((a)->count)
#define mxGetPr(a) ((a)->values)
#define ssSetNumSFcnParams(S, k) ((void)(S))
#define ssGetNumSFcnParams(S) ((void)(S), 1)
#define ssGetSFcnParamsCount(S) ((void)(S), 1)
#define ssSetNumContStates(S, k) ((S)->states = (k))
#define ssSetNumDiscStates(S, k) ((void)(S))
#define ssSetNumInputPorts(S, k) ((S)->inputs = (k), 1)
#define ssSetInputPortWidth(S, port, k) ((S)->inputs = (k))
#define ssSetInputPortRequiredContiguous(S, port, k) ((void)(S))
#define ssSetInputPortDirectFeedThrough(S, port, k) ((S)->feeds = (k))
#define ssSetNumOutputPorts(S, k) ((void)(S), 1)
#define ssSetOutputPortWidth(S, port, k) ((S)->outputs = (k))
#define ssSetNumSampleTimes(S, k) ((void)(S))
#define ssSetOptions(S, k) ((void)(S))
#define ssSetSampleTime(S, port, k) ((void)(S))
#define ssSetOffsetTime(S, port, k) ((void)(S))
#define ssGetSFcnParam(S, k) ((S)->parameter)
#define ssGetContStates(S) ((S)->x)
#define ssGetdX(S) ((S)->dx)
#define ssGetInputPortRealSignal(S, port) ((S)->u)
#define ssGetOutputPortRealSignal(S, port) ((S)->y)
#define ssSetErrorStatus(S, text) ((S)->error = (text))
"""
# What Simulink does with the functions of the file: sizes, start, outputs and derivatives.
SIMULINK = """
int answer(const double *x, const double *u, double *dx, double *y)
{
    SimStruct S = {0};
    mxArray start;
    int i;
    S.u = u;
    mdlInitializeSizes(&S);
    mdlInitializeSampleTimes(&S);
    start.values = x;
    start.count = (size_t)S.states;
    S.parameter = &start;
    mdlInitializeConditions(&S);
    mdlOutputs(&S, 0);
    mdlDerivatives(&S);
    for (i = 0; i < S.states; ++i) dx[i] = S.dx[i];
    for (i = 0; i < S.outputs; ++i) y[i] = S.y[i];
    mdlTerminate(&S);
    return S.error ? -1 : S.outputs;
}
"""


def imported(file, name="exported"):
    """The module in a file, as a user's program would import it."""
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stepped(derivative, case):
    """Runge and Kutta's steps of a derivative (x, u) -> dx."""
    x, u, h = case.start, case.held, case.h
    for _ in range(case.steps):
        k1 = derivative(x, u)
        k2 = derivative(x + h / 2 * k1, u)
        k3 = derivative(x + h / 2 * k2, u)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + derivative(x + h * k3, u))
    return x


def each(case, function):
    """A function of (x, u, a) at every state."""
    return np.array([np.ravel(function(x, u, a)) for x, u, a in zip(case.states, case.inputs, case.asked, strict=True)])


# ---------------------------------------------------------------------------- C and FMUs


def c(case, folder, precision="double"):
    library, n = case.built(case.rom, precision), case.rom.layout.size
    model = CModel("made", case.rom)
    sizes = [int(np.prod(shape)) for _, shape, _ in model.members()]

    def called(name, *given, width):
        flag, found = library.call(name, *given, width=width)
        assert flag == 0
        return found.astype(float)

    rows = each(case, lambda x, u, a: called("coefficients", x[:n], width=sum(sizes)))
    ends = np.cumsum([0, *sizes])
    found = {
        name: rows[:, ends[i] : ends[i + 1]].reshape(-1, *shape)
        for i, (name, shape, _) in enumerate(model.members()) if name in FAMILIES
    }  # fmt: skip
    found |= {
        "forward": each(case, lambda x, u, a: called("forward", x[:n], x[n:], u, width=n)),
        "inverse": each(case, lambda x, u, a: called("inverse", x[:n], x[n:], a, width=n)),
    }
    if case.rom.layout.outputs:
        measure = library.library[f"{library.prefix}_measure"]

        def measured(x, u, a):
            y = np.zeros(len(case.rom.layout.outputs), dtype=library.kind)
            given = [np.ascontiguousarray(item, dtype=library.kind) for item in (x, u)]
            assert measure(None, *(ctypes.c_void_p(item.ctypes.data) for item in (*given, y))) == 0
            return y.astype(float)

        found["outputs"] = each(case, measured)
    step = library.library[f"{library.prefix}_step_explicit"]
    x, u = case.start.astype(library.kind), case.held.astype(library.kind)
    length = ctypes.c_double(case.h) if precision == "double" else ctypes.c_float(case.h)
    for _ in range(case.steps):
        assert step(None, ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(u.ctypes.data), length) == 0
    return found | {"motion": x.astype(float)}


def c_single(case, folder):
    return c(case, folder, "single")


def fmu(case, folder, version="2"):
    """Model exchange at every state, then as many steps of co-simulation as the motion has."""
    pytest.importorskip("fmpy")
    from running_fmu import Running, names_of

    unit, n = case.fmus(case.name, version), case.rom.layout.size
    states, inputs = names_of(case.rom)
    running = Running(unit, exchange=True)
    rates, outputs = [f"der({name})" for name in states], list(case.rom.layout.outputs)

    def answer(x, u, a):
        running.set(dict(zip([*states, *inputs], [*x, *u], strict=True)))
        return running.get([*rates, *outputs])

    found = each(case, answer)
    running.end()
    pushed = Running(unit, values=dict(zip([*states, *inputs], [*case.start, *case.held], strict=True)))
    for k in range(case.steps):
        assert pushed.step(case.h * k, case.h)
    moved = pushed.get(states)
    pushed.end()
    known = {"forward": found[:, n : 2 * n], "motion": moved}
    return known | ({"outputs": found[:, 2 * n :]} if outputs else {})


def fmu_3(case, folder):
    return fmu(case, folder, "3")


# ---------------------------------------------------------------------------- plain data and Python


def evaluated(model, case):
    """The evaluator for NumPy, on all states at once."""
    n, s = model.n, model.s
    theta, delta, v = np.split(case.states, [s, n], axis=1)
    known = model.coefficients(theta, delta)
    found = {name: known[name] for name in FAMILIES}
    found |= {
        "forward": model.forward(theta, v, case.inputs, delta),
        "inverse": model.inverse(theta, v, case.asked, delta),
        "outputs": model.outputs(theta, v, None, case.inputs, delta),
    }
    x = case.start
    for _ in range(case.steps):
        x = model.step(x, case.held, case.h)
    return found | {"motion": x}


def numpy_file(case, folder):
    (file,) = export(case.rom, folder, to="numpy", prefix="made")
    return evaluated(imported(file).MODEL, case)


def plain_json(case, folder):
    from supple.export.numpy_file.evaluator import Model

    file, _ = export(case.rom, folder, to="json", prefix="made")
    return evaluated(Model(json.loads(file.read_text("utf-8"))), case)


def python_control(case, folder):
    import control

    export(case.rom, folder, to="control", prefix="made")
    sys.path.insert(0, str(folder))
    try:
        system = imported(folder / "made_control.py").SYSTEM
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop("made", None)
    n = case.rom.layout.size
    times = np.array([0.0, case.h * case.steps])
    pushed = np.repeat(np.atleast_2d(case.held).T, 2, axis=1)
    run = control.input_output_response(
        system, times, pushed, case.start, solve_ivp_method="DOP853", solve_ivp_kwargs={"rtol": 1e-10, "atol": 1e-13}
    )
    return {
        "forward": each(case, lambda x, u, a: system.dynamics(0.0, x, u))[:, n:],
        "outputs": each(case, lambda x, u, a: system.output(0.0, x, u)),
        "motion": np.array(run.states[:, -1]),
    }


def scipy_form(case, folder):
    """The model in Python as the right side that `solve_ivp` takes."""
    from scipy.integrate import solve_ivp

    n, ode = case.rom.layout.size, case.rom.ode(case.held)
    run = solve_ivp(ode, (0.0, case.h * case.steps), case.start, method="DOP853", rtol=1e-10, atol=1e-13)
    pushed = case.rom.ode(lambda t, x: dict(zip(case.rom.layout.inputs, case.inputs[int(t)], strict=True)))
    found = np.array([pushed(float(k), x) for k, x in enumerate(case.states)])
    return {"forward": found[:, n:], "motion": run.y[:, -1]}


@dataclass(frozen=True)
class Stationary:
    """Coefficients at some θ and δ = 0, by name."""

    theta: np.ndarray
    values: dict[str, np.ndarray]


def sympy_form(case, folder):
    """Coefficients of one box as expressions, at the states within it."""
    import sympy

    rom, s = case.rom, case.rom.layout.theta
    leaves = rom.fitted.locate(np.ascontiguousarray(case.states[:, :s]))
    theta = case.states[leaves == leaves[0], :s]
    names = ("M", "K", "force", "input_map")
    found = rom.to_sympy(theta[0], names)
    symbols = sympy.symbols([name.replace(".", "_") for name in rom.layout.coordinates[:s]])
    flat = [entry for name in names for entry in sympy.flatten(found[name].tolist())]
    run = sympy.lambdify(symbols, flat, "numpy")
    values = np.stack([np.broadcast_to(item, len(theta)) for item in run(*theta.T)], axis=1)
    ends = np.cumsum([0, *(int(np.prod(found[name].shape)) for name in names)])
    return Stationary(theta, {
        name: values[:, ends[i] : ends[i + 1]].reshape(-1, *found[name].shape) for i, name in enumerate(names)
    })  # fmt: skip


def casadi(case, folder):
    files = export(case.rom, folder, to="casadi", prefix="made")
    known = imported(files[0]).FUNCTIONS
    n = case.rom.layout.size
    found = {
        "M": each(case, lambda x, u, a: known["coefficients"](x[:n])[0].full()).reshape(-1, n, n),
        "forward": each(case, lambda x, u, a: known["forward"](x[:n], x[n:], u).full()),
        "inverse": each(case, lambda x, u, a: known["inverse"](x[:n], x[n:], a).full()),
        "motion": stepped(lambda x, u: known["dynamics"](x, u).full().ravel(), case),
    }
    if "outputs" in known:
        found["outputs"] = each(case, lambda x, u, a: known["outputs"](x, u).full())
    return found


# ---------------------------------------------------------------------------- Matlab


def octave(case, folder, all_lines, derivative, names):
    found = shutil.which("octave-cli")
    if found is None:
        pytest.skip("Octave is not installed: apt-get install octave")
    given = {"x": case.states.T, "u": case.inputs.T, "a": case.asked.T, "start": case.start[:, None],
             "held": case.held[:, None], "h": case.h, "steps": float(case.steps), "s": float(case.rom.layout.theta),
             "n": float(case.rom.layout.size)}  # fmt: skip
    savemat(folder / "given.mat", given)
    program = OCTAVE.replace("@all@", "\n".join(all_lines)).replace("@derivative@", derivative)
    (folder / "run.m").write_text(program.replace("@names@", ", ".join(f"'{name}'" for name in names)))
    done = subprocess.run(
        [found, "--no-gui", "--norc", "--quiet", "run.m"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr  # it ends with a harmless line on standard error
    read = loadmat(folder / "found.mat")
    shape = {name: getattr(case.coefficients, name).shape[1:] for name in names if name in FAMILIES}
    # Octave's arrays end in the states.
    found = {
        name: np.moveaxis(
            np.reshape(read[name], (*shape[name], -1) if name in shape else (-1, len(case.states))), -1, 0
        )
        for name in names
    }
    return found | {"motion": read["motion"].ravel()}


def matlab_function(case, folder):
    export(case.rom, folder, to="matlab", prefix="made")
    names = ["M", "K", "damping", "force", "input_map", "forward", "inverse", "outputs"]
    lines = [f"  if i <= {FEW}", "    c = made('coefficients', theta, delta);"]
    lines += [f"    {name}(:, :, i) = c.{name};" for name in ("M", "K", "damping", "input_map")]
    lines += ["    force(:, i) = c.force(:);", "  end"]
    lines += ["  forward(:, i) = made('forward', theta, v, u, delta);"]
    lines += ["  inverse(:, i) = made('inverse', theta, v, a, delta);"]
    if case.rom.layout.outputs:
        lines += ["  outputs(:, i) = made('outputs', theta, v, [], u, delta);"]
    else:
        names.remove("outputs")
    return octave(case, folder, lines, "(@(x) made('derivative', x, u))", names)


def mex_function(case, folder):
    if shutil.which("mkoctfile") is None:
        pytest.skip("mkoctfile is not installed: apt-get install octave-dev")
    export(case.rom, folder, to="matlab", prefix="made")
    built = subprocess.run(
        ["mkoctfile", "--mex", "made_mex.c", "made.c"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    names = ["derivative", "inverse"]
    lines = ["  derivative(:, i) = made_mex('derivative', given.x(:, i), u);"]
    lines += ["  inverse(:, i) = made_mex('inverse', given.x(1:n, i), v, a);"]
    if case.rom.layout.outputs:
        lines += ["  outputs(:, i) = made_mex('outputs', given.x(:, i), u);"]
        names += ["outputs"]
    found = octave(case, folder, lines, "(@(x) made_mex('derivative', x, u))", names)
    return found | {"forward": found.pop("derivative")[:, case.rom.layout.size :]}


def s_function(case, folder):
    """Against declarations of our own, called in the order in which Simulink does: that itself is not at hand."""
    compiler = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler was found")
    export(case.rom, folder, to="matlab", prefix="made")
    (folder / "simstruc.h").write_text(SIMSTRUC)
    (folder / "cg_sfun.h").write_text(SIMULINK)
    flags = ["-std=c99", "-O1", "-Wall", "-Wno-unused-function", "-Wno-unused-value", "-Werror", "-fPIC", "-shared"]
    subprocess.run(
        [compiler, *flags, "made_sfun.c", "made.c", "-lm", "-o", "made.so"], cwd=folder, check=True, timeout=120
    )
    library, n = ctypes.CDLL(str(folder / "made.so")), case.rom.layout.size

    def answer(x, u, a=None):
        dx, y = np.zeros(2 * n), np.zeros(64)
        count = library.answer(*(ctypes.c_void_p(np.ascontiguousarray(item).ctypes.data) for item in (x, u, dx, y)))
        assert count >= 0
        return np.concatenate([dx, y[:count]])

    found = each(case, answer)
    seen = found[:, 2 * n :]
    if not case.rom.layout.outputs:
        np.testing.assert_array_equal(seen, case.states)  # without sensors the state itself
    known = {"forward": found[:, n : 2 * n], "motion": stepped(lambda x, u: answer(x, u)[: 2 * n], case)}
    return known | ({"outputs": seen} if case.rom.layout.outputs else {})


TARGETS = {
    "c": c, "c single": c_single, "fmu 2": fmu, "fmu 3": fmu_3, "numpy": numpy_file, "json": plain_json,
    "control": python_control, "scipy": scipy_form, "sympy": sympy_form, "casadi": casadi, "matlab": matlab_function,
    "mex": mex_function, "S-function": s_function,
}  # fmt: skip
