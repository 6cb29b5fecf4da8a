"""FMUs of families: parameters that are tuned give what the model at these values gives."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from supple.export.export import export

fmpy = pytest.importorskip("fmpy")

from fmpy.fmi1 import FMICallException  # noqa: E402
from running_fmu import Running, names_of  # noqa: E402
from test_family_export import CASES, invented_family, states, values_of  # noqa: E402


@pytest.fixture(scope="module", params=["2", "3"])
def fmu(request, reference, cc, tmp_path_factory):
    rom = invented_family(reference, **CASES["mixed" if request.param == "2" else "grid"])
    (file,) = export(rom, tmp_path_factory.mktemp("fmu"), to="fmu", fmi=request.param, start=[0.1] * rom.layout.theta)
    folder = fmpy.extract(str(file), unzipdir=str(tmp_path_factory.mktemp("unpacked")))
    description = fmpy.read_model_description(folder, validate=True)
    references = {item.name: item.valueReference for item in description.modelVariables}
    return SimpleNamespace(
        rom=rom, file=file, folder=folder, version=request.param, description=description, references=references
    )


def at(rom, values):
    return rom.at(**dict(zip(rom.family.names, values, strict=True)))


def test_parameters_are_tunable_with_their_ranges(fmu):
    assert not fmpy.validation.validate_fmu(str(fmu.file))
    for parameter in fmu.rom.family.parameters:
        item = next(item for item in fmu.description.modelVariables if item.name == parameter.name)
        assert (item.causality, item.variability, item.unit) == ("parameter", "tunable", "kg")
        assert (float(item.min), float(item.max), float(item.start)) == (8.0, 16.0, 11.0)


def test_derivatives_and_outputs_are_those_of_the_model_there(fmu):
    rom, running = fmu.rom, Running(fmu, exchange=True)
    n, s = rom.layout.size, rom.layout.theta
    own, forces = names_of(rom)
    for values in values_of(rom):
        running.set(dict(zip(rom.family.names, values, strict=True)))
        one, u = at(rom, values), np.array([0.3, -0.2])
        x = states(one, 20)
        a = one.forward(x[:, :s], x[:, n:], u, delta=x[:, s:n])
        y = one.observe(x[:, :n], x[:, n:])[0]
        for k in range(len(x)):
            running.set(dict(zip([*own, *forces], [*x[k], *u], strict=True)))
            found = running.get([f"der({name})" for name in own[n:]])
            assert np.abs(found - a[k]).max() < 1e-12 * np.abs(a).max()
            assert np.abs(running.get(rom.layout.outputs) - y[k]).max() < 1e-12 * np.abs(y).max()
    running.end()


def test_values_outside_are_errors_and_change_nothing(fmu, capfd):
    rom, running = fmu.rom, Running(fmu)
    name = rom.family.names[-1]
    running.set({name: 9.0})
    for wrong in (7.99, 16.01, np.nan):
        with pytest.raises(FMICallException) as refused:
            running.set({name: wrong})
        assert refused.value.status == 3
        assert running.get([name]) == [9.0]
        assert f"{name} must lie in 8 to 16 kg" in capfd.readouterr().out
    running.end()


def test_a_state_carries_its_parameters(fmu):
    rom = fmu.rom
    one, other = Running(fmu), Running(fmu, name="other")
    name, own = rom.family.names[0], names_of(rom)[0]
    one.set({name: 14.0})
    assert one.step(0.0, 0.01)
    fresh = "FMUstate" if fmu.version == "2" else "FMUState"
    kept = getattr(one.fmu, f"get{fresh}")()
    bytes_ = getattr(one.fmu, f"serialize{fresh}")(kept)
    assert one.step(0.01, 0.01)
    expected = one.get(own)
    one.set({name: 8.5})
    getattr(one.fmu, f"set{fresh}")(kept)
    assert one.get([name]) == [14.0]
    assert one.step(0.01, 0.01)
    assert np.array_equal(one.get(own), expected)
    moved = getattr(other.fmu, f"de{'S' if fmu.version == '2' else 's'}erialize{fresh}")(bytes_)
    getattr(other.fmu, f"set{fresh}")(moved)
    assert other.get([name]) == [14.0]
    assert other.step(0.01, 0.01)
    assert np.array_equal(other.get(own), expected)
    one.end()
    other.end()


def test_a_parameter_changed_between_steps_takes_hold(fmu, reference):
    rom, running = fmu.rom, Running(fmu)
    name, (own, forces) = rom.family.names[0], names_of(rom)
    start, u = running.get(own), np.zeros(len(forces))
    step = running.get(["solver.longest_step"])[0]
    method = "implicit" if rom.layout.size > rom.layout.theta else "explicit"
    x = start
    for k, value in enumerate((9.0, 15.5)):
        running.set({name: value})
        assert running.step(k * step, step)
        x = reference.step(rom.at(**{name: value}), x, u, step, method)
        assert np.abs(running.get(own) - x).max() < 1e-12 * np.abs(x).max()
    running.end()
