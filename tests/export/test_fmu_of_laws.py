"""FMUs of linear models and of laws of control, run by FMPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

import supple
from supple.control.laws.affine_law import constant_law
from supple.control.laws.affine_matrices import AffineMatrices, Ports, shapes
from supple.export.export import export

fmpy = pytest.importorskip("fmpy")
from fmpy.fmi2 import FMU2Slave  # noqa: E402  (only where it is installed)
from fmpy.validation import validate_fmu  # noqa: E402


def started(file, folder):
    """An instance in co-simulation that waits for its inputs, and the references of its variables."""
    place = fmpy.extract(str(file), unzipdir=str(folder))
    about = fmpy.read_model_description(place)
    slave = FMU2Slave(guid=about.guid, unzipDirectory=place, instanceName="one",
                      modelIdentifier=about.coSimulation.modelIdentifier)  # fmt: skip
    slave.instantiate()
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    return slave, {item.name: item.valueReference for item in about.modelVariables}


@pytest.mark.parametrize("version", ["2", "3"])
def test_a_linear_model(machines, cc, tmp_path, version):
    rom = machines["ralf"]
    lower, upper = rom.fitted.arrays.roots_f[0]
    linear = rom.linearize(0.5 * (lower + upper), drives=False)
    (file,) = export(linear, tmp_path, to="fmu", fmi=version)
    assert file.name == "linear.fmu"
    assert validate_fmu(str(file)) == []
    push, span = np.array([30.0, -20.0]), 0.05
    inputs = {f"{name}.input": value for name, value in zip(linear.inputs, push, strict=True)}
    found = fmpy.simulate_fmu(str(file), fmi_type="CoSimulation", stop_time=span, output_interval=1e-3,
                              start_values=inputs, output=list(linear.states))  # fmt: skip
    n, u = len(linear.states), len(linear.inputs)
    block = np.zeros((n + u, n + u))
    block[:n, :n], block[:n, n:] = linear.A, linear.B
    expected = expm(block * span)[:n, n:] @ push
    last = np.array([found[name][-1] for name in linear.states])
    # Exact but for rounding, which undamped modes of 1e3 rad/s carry along.
    assert_allclose(last[: n // 2], expected[: n // 2], rtol=0, atol=1e-10 * np.abs(expected[: n // 2]).max())
    exchanged = fmpy.simulate_fmu(
        str(file), fmi_type="ModelExchange", stop_time=span, output_interval=1e-3, solver="CVode",
        relative_tolerance=1e-9, start_values=inputs, output=list(linear.outputs),
    )  # fmt: skip
    y = linear.C @ expected + linear.D @ push
    assert_allclose([exchanged[name][-1] for name in linear.outputs], y, rtol=0, atol=1e-3 * np.abs(y).max())
    with pytest.raises(supple.InputError, match="linear models"):
        export(linear, tmp_path, to="c")


def test_a_law_answers_at_every_sample_and_holds_between(cc, tmp_path):
    ports = Ports(("lift", "elbow"), ("lift",), ("f", "g"), 1e-3, fed=True)
    rng = np.random.default_rng(4)
    law = constant_law(
        AffineMatrices(*(0.2 * rng.standard_normal(shape) for shape in shapes(3, ports))), ports, name="servo"
    )
    (file,) = export(law, tmp_path, to="fmu")
    assert validate_fmu(str(file)) == []
    slave, at = started(file, tmp_path / "unpacked")
    told = ["lift", "elbow", "wanted.lift", "wanted.lift.rate", "wanted.lift.acceleration", "wanted.lift.jerk",
            "fed.f", "fed.g"]  # fmt: skip
    commands = [at["command.f"], at["command.g"]]
    values = rng.standard_normal((6, len(told)))
    slave.setReal([at[name] for name in told], list(values[0]))
    slave.exitInitializationMode()
    A, B, b, C, D, d, A0, a0 = _matrices(law)

    def known(row, applied):
        return np.concatenate([row[:2], row[2:6], applied, row[6:]])

    applied = np.zeros(2)
    x = A0 @ known(values[0], applied) + a0
    for k, row in enumerate(values):
        slave.setReal([at[name] for name in told], list(row))
        z = known(row, applied)
        expected = C @ x + D @ z + d
        x = A @ x + B @ z + b
        assert_allclose(slave.getReal(commands), expected, rtol=1e-12, atol=1e-12)
        for part in range(2):  # two communications in a sample: the second finds the same command
            slave.doStep(currentCommunicationPoint=1e-3 * k + 5e-4 * part, communicationStepSize=5e-4)
            if part == 0:
                slave.setReal([at["lift"]], [99.0])
                assert_allclose(slave.getReal(commands), expected, rtol=1e-12, atol=1e-12)
        applied = expected
    slave.terminate()
    slave.freeInstance()


def _matrices(law):
    n, m, a = law.states, law.ports.size, len(law.ports.outputs)
    sizes = [(n, n), (n, m), (n,), (a, n), (a, m), (a,), (n, m), (n,)]
    parts = np.split(law.matrices.template, np.cumsum([int(np.prod(size)) for size in sizes])[:-1])
    return [part.reshape(size) for part, size in zip(parts, sizes, strict=True)]
