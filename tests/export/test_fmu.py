"""FMUs, run by FMPy: valid, complete, equal to the reduced model, and repeatable."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.export.export import export

fmpy = pytest.importorskip("fmpy")
from fmpy.fmi1 import FMICallException  # noqa: E402  (only where it is installed)
from fmpy.fmi2 import FMU2Slave  # noqa: E402
from fmpy.validation import validate_fmu  # noqa: E402
from running_fmu import Running, holding, names_of  # noqa: E402

RUBBING = """
supple: 1
name: four-bar
plane: xz
points: {A: [0, 0], B: [0.2, 0.3], C: [0.9, 0.5], D: [0.8, 0]}
gravity: [0, -9.81]
bodies: {crank: {rod: [A, B], mass: 1}, coupler: {rod: [B, C], mass: 2}, rocker: {rod: [D, C], mass: 1.5}}
joints:
  A: {revolute: [ground, crank], viscous: 0.1, dry: 0.2}
  B: {revolute: [crank, coupler]}
  C: {revolute: [coupler, rocker]}
  D: {revolute: [rocker, ground]}
actuators: {crank: {joint: A}}
sensors: {v: {velocity: C, axis: x}, B: {reaction: B}}
"""
FUNCTIONS = {"2": 44, "3": 75}  # of the standards
VERSIONS = ("2", "3")


@pytest.fixture(params=[(name, version) for name in ("orthoglide", "flexible-four-bar", "ralf", "four-bar-redundant")
                        for version in VERSIONS], ids="-".join)  # fmt: skip
def fmu(request, fmus):
    return fmus(*request.param)


def test_it_is_valid_and_complete(fmu, tmp_path):
    assert validate_fmu(str(fmu.file)) == []
    assert Path(fmu.file).stat().st_size < 400_000
    if shutil.which("nm") is None:
        pytest.skip("nm was not found")
    (library,) = Path(fmu.folder).glob("binaries/*/*.so")
    said = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True)
    found = {line.split()[-1] for line in said.stdout.splitlines() if line.split()[-2] == "T"}
    headers = Path(fmpy.__file__).parent / "c-code"
    text = (headers / f"fmi{fmu.version}FunctionTypes.h").read_text()
    expected = set(re.findall(rf"\b(fmi{fmu.version}\w+)TYPE\b", text))
    assert len(expected) == FUNCTIONS[fmu.version]
    assert found == expected


def test_its_sources_compile_without_a_warning(fmu, cc, strict, tmp_path):
    """Whoever has another machine builds them."""
    sources = sorted(Path(fmu.folder, "sources").glob("*.c"))
    done = subprocess.run(
        [cc, *strict, "-O0", "-fPIC", "-shared", *map(str, sources), "-lm", "-o", str(tmp_path / "x.so")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[:2000]
    holder = "modelDescription.xml" if fmu.version == "2" else "sources/buildDescription.xml"
    listed = re.findall(r'<(?:File|SourceFile) name="(.*?)"', Path(fmu.folder, holder).read_text())
    assert sorted(set(listed)) == [path.name for path in sources]


def test_names_units_and_starts(fmus):
    fmu = fmus("orthoglide", "2")
    known = {item.name: item for item in fmu.description.modelVariables}
    assert (known["x"].unit, known["x.rate"].unit, known["der(x.rate)"].unit) == ("m", "m/s", "m/s²")
    assert known["x.force"].unit == "N"
    assert known["x.force"].causality == "input"
    assert known["tool.x"].causality == "output"
    assert known["der(x.rate)"].derivative.name == "x.rate"
    assert known["solver.longest_step"].causality == "parameter"
    assert float(known["x"].start) == pytest.approx(fmu.rom.fitted.arrays.roots_f[0, :, 0] @ [0.4, 0.6])


def test_co_simulation_takes_the_steps_of_the_method(fmu, reference):
    """A communication of 1 ms in ten steps of the method, against Python's derivative and linear model."""
    rom = fmu.rom
    states, _ = names_of(rom)
    x, inputs = holding(rom, fmu)
    x[rom.layout.size] += 0.05
    running = Running(fmu, values={**inputs, states[rom.layout.size]: x[rom.layout.size]})
    assert_allclose(running.get(states), x, rtol=0, atol=0)
    u = np.array(list(inputs.values()))
    method = "implicit" if rom.layout.size > rom.layout.theta else "explicit"
    n = rom.layout.size
    for k in range(3):
        running.step(1e-3 * k, 1e-3)
        for _ in range(10):
            x = reference.step(rom, x, u, 1e-4, method)
        found = running.get(states)
        assert_allclose(found[:n], x[:n], rtol=0, atol=1e-12 * np.abs(x[:n]).max())
        # Ten steps of W, known to rounding over the spread of frequencies.
        assert_allclose(found[n:], x[n:], rtol=0, atol=1e-9 * np.abs(x[n:]).max())
    running.end()


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_a_simulated_motion_is_reproduced(fmu, kind):
    rom, span = fmu.rom, 0.02
    n, s = rom.layout.size, rom.layout.theta
    states, _ = names_of(rom)
    x, inputs = holding(rom, fmu)
    x[n] += 0.05
    run = rom.simulate(
        np.linspace(0.0, span, 21), dict(zip(rom.layout.inputs, inputs.values(), strict=True)), x[:n], rates=x[n:],
        tolerance=1e-12, method="explicit", drives=False,
    )  # fmt: skip
    found = fmpy.simulate_fmu(
        fmu.folder, fmi_type=kind, stop_time=span, output_interval=1e-3, solver="CVode", relative_tolerance=1e-10,
        start_values={**inputs, states[n]: x[n]}, output=[*states, *rom.layout.outputs],
    )  # fmt: skip
    assert len(found) == 21
    expected = [*run.coordinates.values(), *run.rates.values(), *run.outputs.values()]
    # CVODE's tolerance adds up; steps of 0.1 ms resolve what moves faster than 1 kHz no better than this.
    limit = 1e-6 if s == n else 2e-3
    kinds = [range(s), range(s, n), range(n, n + s), range(n + s, 2 * n)]
    scale = [max(np.abs(expected[k]).max() for k in kind) for kind in kinds for _ in kind]
    for k, (name, values) in enumerate(zip([*states, *rom.layout.outputs], expected, strict=True)):
        largest = scale[k] if k < 2 * n else np.abs(values).max()
        assert_allclose(found[name], values, rtol=0, atol=limit * largest, err_msg=name)


def test_directional_derivatives_are_slopes(fmu):
    """Differences through the binary itself."""
    rom, n = fmu.rom, fmu.rom.layout.size
    states, inputs = names_of(rom)
    _, held = holding(rom, fmu)
    running = Running(fmu, exchange=True, values={**held, states[n]: 0.1})
    rates = [f"der({name})" for name in states]
    unknowns, knowns = [*rates, *rom.layout.outputs], [*states, *inputs]
    here = running.get(knowns)
    reference = [running.references[name] for name in unknowns]
    columns = []
    for k, name in enumerate(knowns):
        arguments = (reference, [running.references[name]], [1.0])
        columns.append(running.fmu.getDirectionalDerivative(*arguments))
        h = 1e-6
        ends = []
        for sign in (1.0, -1.0):
            running.set({name: here[k] + sign * h})
            ends.append(running.get(unknowns))
        running.set({name: here[k]})
        slope = (ends[0] - ends[1]) / (2.0 * h)
        scale = np.abs(slope).max() + np.abs(ends[0]).max()
        assert_allclose(columns[-1], slope, rtol=0, atol=2e-6 * scale, err_msg=name)
    whole = np.array(columns).T
    seed = np.random.default_rng(1).uniform(-1.0, 1.0, len(knowns))
    every = [running.references[name] for name in knowns]
    assert_allclose(running.fmu.getDirectionalDerivative(reference, every, list(seed)), whole @ seed,
                    rtol=0, atol=1e-12 * np.abs(whole).max())  # fmt: skip
    if fmu.version == "3":
        back = np.random.default_rng(2).uniform(-1.0, 1.0, len(unknowns))
        found = running.fmu.getAdjointDerivative(reference, every, list(back), len(every))
        assert_allclose(found, back @ whole, rtol=0, atol=1e-12 * np.abs(whole).max() * len(back))
    running.end()


@pytest.mark.parametrize("version", VERSIONS)
def test_states_are_kept_and_serialized_and_instances_are_apart(fmus, version):
    fmu = fmus("ralf", version)
    states, _ = names_of(fmu.rom)
    _, held = holding(fmu.rom, fmu)
    one, two = (Running(fmu, name=name, values=held) for name in ("one", "two"))
    one.step(0.0, 2e-3)
    kept = one.fmu.getFMUstate() if version == "2" else one.fmu.getFMUState()
    data = one.fmu.serializeFMUstate(kept) if version == "2" else one.fmu.serializeFMUState(kept)
    one.step(2e-3, 2e-3)
    ahead = one.get(states)
    assert_allclose(two.get(states)[: fmu.rom.layout.size], holding(fmu.rom, fmu)[0][: fmu.rom.layout.size])
    one.fmu.setFMUstate(kept) if version == "2" else one.fmu.setFMUState(kept)
    one.step(2e-3, 2e-3)
    assert_allclose(one.get(states), ahead, rtol=0, atol=0)
    other = two.fmu.deSerializeFMUstate(data) if version == "2" else two.fmu.deserializeFMUState(data)
    two.fmu.setFMUstate(other) if version == "2" else two.fmu.setFMUState(other)
    two.step(2e-3, 2e-3)
    assert_allclose(two.get(states), ahead, rtol=0, atol=0)
    for running, state in ((one, kept), (two, other)):
        running.fmu.freeFMUstate(state) if version == "2" else running.fmu.freeFMUState(state)
        running.fmu.reset()
        assert_allclose(running.get(states), holding(fmu.rom, fmu)[0], rtol=0, atol=0)
    wrong = b"x" + bytes(data)[1:]
    with pytest.raises(FMICallException):
        two.fmu.deSerializeFMUstate(wrong) if version == "2" else two.fmu.deserializeFMUState(wrong)


@pytest.mark.parametrize("version", VERSIONS)
def test_leaving_the_region_discards_the_step(fmus, version):
    fmu = fmus("orthoglide", version)
    running = Running(fmu, values={"x.rate": 100.0})
    k = 0
    while k < 50 and running.step(1e-3 * k, 1e-3):
        k += 1
    assert k < 50
    lower, upper = fmu.rom.fitted.arrays.roots_f[0]
    assert lower[0] <= running.get(["x"])[0] <= upper[0]
    if version == "2":
        assert 0.0 < running.fmu.getRealStatus(2) < 0.05
    running.fmu.freeInstance()


@pytest.mark.slow
def test_parameters_are_tuned(cc, tmp_path):
    """Damping and dry friction of a machine that has both; forces inside are among its outputs."""
    machine = supple.loads(RUBBING)
    here = float(supple.assemble(machine).theta[0])
    rom = supple.reduce(machine, region={"crank": (here - 0.3, here + 0.3)}, tolerance=1e-3, progress=False)
    (file,) = export(rom, tmp_path, to="fmu", start=[here])
    assert validate_fmu(str(file)) == []
    folder = fmpy.extract(str(file), unzipdir=str(tmp_path / "unpacked"))
    description = fmpy.read_model_description(folder)
    references = {item.name: item.valueReference for item in description.modelVariables}
    fmu = SimpleNamespace(description=description, folder=folder, version="2", references=references)
    running = Running(fmu, exchange=True, values={"crank.rate": 0.1})
    c, v = rom.evaluate([here]), np.array([0.1])
    drag, _ = c.dry_friction(v, 1e-3)
    before = running.get(["der(crank.rate)"])
    running.set({"damping.factor": 10.0})
    assert_allclose(running.get(["der(crank.rate)"]), before - np.linalg.solve(c.M, 9.0 * c.damping @ v), rtol=1e-11)
    running.set({"damping.factor": 1.0, "friction.A": 0.0})
    free = before + np.linalg.solve(c.M, c.friction_forces(drag))
    assert_allclose(running.get(["der(crank.rate)"]), free, rtol=1e-11)
    with pytest.raises(FMICallException):
        running.set({"der(crank)": 1.0})
    running.end()


def test_another_token_is_refused(fmus):
    fmu = fmus("four-bar-redundant", "2")
    slave = FMU2Slave(guid="{another}", unzipDirectory=fmu.folder, instanceName="x",
                      modelIdentifier=fmu.description.coSimulation.modelIdentifier)  # fmt: skip
    with pytest.raises(Exception, match="instantiate"):
        slave.instantiate()


def test_another_tool_finds_nothing_wrong(fmus):
    tool = shutil.which("fmutool", path=str(Path(sys.executable).parent))
    if tool is None:
        pytest.skip("fmutool (fmu-manipulation-toolbox) was not found")
    file = str(fmus("ralf", "2").file)
    said = subprocess.run([tool, "-input", file, "-check"], capture_output=True, text=True, check=True)
    assert "ERROR" not in said.stdout + said.stderr
    assert "CRITICAL" not in said.stdout + said.stderr


def test_without_a_compiler_it_has_sources_and_says_so(machines, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    with pytest.warns(supple.SuppleWarning, match="sources only"):
        (file,) = export(machines["four-bar-redundant"], tmp_path, to="fmu")
    assert validate_fmu(str(file)) == []
    with zipfile.ZipFile(file) as archive:
        assert not [name for name in archive.namelist() if name.startswith("binaries/")]
        assert "sources/four_bar_redundant.c" in archive.namelist()


def test_a_compiler_that_fails_leaves_nothing(machines, monkeypatch, tmp_path):
    monkeypatch.setenv("CC", "false")
    with pytest.raises(supple.NumericalError, match="compiler false failed"):
        export(machines["four-bar-redundant"], tmp_path / "out", to="fmu")
    assert not (tmp_path / "out").exists()


def test_hostile_names(reference, cc, tmp_path):
    names = {"coordinates": ['*/ int x; /* "', "tool.x\n#error <&", "tool x"], "inputs": ["int", "??/\n*/"],
             "outputs": ["\x01é\u202e*/]]>", "tool.x", "tool_x"]}  # fmt: skip
    made = reference.invented(4, 2, 1, (1, 1), (2,), structured=True, names=names)
    rom = supple.ReducedModel('*/ \n#error "no" ??/ \\ é @prefix@ \x02', made.layout, made.fitted)
    for version in VERSIONS:
        (file,) = export(rom, tmp_path / version, to="fmu", fmi=version, prefix="hostile")
        assert validate_fmu(str(file)) == []
        listed = [item.name for item in fmpy.read_model_description(str(file)).modelVariables]
        assert len(set(listed)) == len(listed)
        assert 'int x; /* "' in " ".join(listed)


def test_what_is_asked_wrongly_is_refused(machines, tmp_path):
    rom = machines["four-bar-redundant"]
    for options, words in (
        ({"fmi": "4"}, '"4"; give "2"'), ({"step": -1.0}, "got -1 s"), ({"method": "euler"}, '"euler"'),
        ({"platforms": ["amiga"]}, '"amiga"'), ({"stpe": 1}, '"stpe"'),
    ):  # fmt: skip
        with pytest.raises(supple.InputError, match=re.escape(words)):
            export(rom, tmp_path, to="fmu", **options)
    with pytest.raises(supple.InputError, match="outside the region"):
        export(rom, tmp_path, to="fmu", start=[3.0])
    assert not list(tmp_path.iterdir())


def test_the_same_model_gives_the_same_bytes(machines, tmp_path, cc):
    rom = machines["four-bar-redundant"]
    one, two = (export(rom, tmp_path / name, to="fmu")[0].read_bytes() for name in ("a", "b"))
    assert one == two


def test_other_platforms_need_another_compiler(machines, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(supple.InputError, match="pip install ziglang"):
        export(machines["four-bar-redundant"], tmp_path, to="fmu", platforms=["windows"])
    assert not list(tmp_path.iterdir())


def logged(fmu) -> tuple[list[str], Running]:
    """An instance in model exchange, and the list that its messages are added to."""
    messages: list[str] = []
    if fmu.version == "2":
        # The logger is variadic: here with the one argument of its format "%s".
        variadic = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, *[ctypes.c_char_p] * 3)
        log = variadic(lambda *given: messages.append(given[-1].decode()))
        callbacks = fmpy.fmi2.fmi2CallbackFunctions()
        callbacks.logger = ctypes.cast(log, fmpy.fmi2.fmi2CallbackLoggerTYPE)
        callbacks.allocateMemory = fmpy.fmi2.fmi2CallbackAllocateMemoryTYPE(fmpy.calloc)
        callbacks.freeMemory = fmpy.fmi2.fmi2CallbackFreeMemoryTYPE(fmpy.free)
        options = {"callbacks": callbacks, "loggingOn": True}
    else:
        log = fmpy.fmi3.fmi3LogMessageCallback(lambda *given: messages.append(given[-1].decode()))
        options = {"logMessage": log, "loggingOn": True}
    running = Running(fmu, exchange=True, options=options)
    running.kept = log, options  # callbacks must outlive the instance
    return messages, running


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_messages_name_the_cause(fmus, version):
    fmu = fmus("ralf", version)
    states, inputs = names_of(fmu.rom)
    messages, running = logged(fmu)
    elastic = states[fmu.rom.layout.theta]
    good = running.get([*states, *inputs])
    for name, value, cause in (
        (inputs[0], np.nan, f"input {inputs[0]} is not a finite number"),
        (elastic, np.nan, f"state {elastic} is not a finite number"),
        (states[-1], np.inf, f"state {states[-1]} is not a finite number (got inf)"),
        (states[0], 9.0, f"state {states[0]} = 9 lies outside the region of the model"),
        (states[-1], 1e200, "results are not finite numbers"),
    ):
        messages.clear()
        running.set({name: value})
        with pytest.raises(FMICallException) as refused:
            running.get([f"der({states[0]})"])
        assert refused.value.status == 2
        assert cause in messages[0]
        running.set({name: dict(zip([*states, *inputs], good, strict=True))[name]})
    running.get([f"der({states[0]})"])
    running.end()
