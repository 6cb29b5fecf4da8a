"""Damping that was put into responses comes back, of every kind; slopes are exact; what data do not tell is said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from lossy_arm import LOSSY
from numpy.testing import assert_allclose
from typer.testing import CliRunner

import supple
from supple.cli.main import app
from supple.diagnostics import InputError
from supple.identification.damping.damped_responses import described_damping
from supple.identification.damping.damping_kind import TestedSystem
from supple.identification.damping.fit_damping import _Fit, damping_kinds
from supple.identification.damping.fitted_damping import FittedKind
from supple.identification.updating.updated_file import changed_mechanism

LINES = np.linspace(3.0, 90.0, 100)
SEEN = ("T.x", "T.z", "P.x", "P.z")
TRUE = {
    "structural": ({("damping",): {"structural": 0.03}}, {"damping.eta": 0.03}),
    "rayleigh": ({("damping",): {"rayleigh": [1.5, 1e-4]}}, {"damping.alpha": 1.5, "damping.beta": 1e-4}),
    "joints": (
        {("joints", "O", "elastic_loss"): 0.05, ("joints", "knee", "elastic_loss"): 0.02,
         ("joints", "wrist", "elastic_loss"): 0.08},
        {"O.loss": 0.05, "knee.loss": 0.02, "wrist.loss": 0.08},
    ),
    "materials": (
        {("materials", "alu", "damping"): {"structural": 0.06},
         ("materials", "steel", "damping"): {"structural": 0.01}},
        {"alu.loss": 0.06, "steel.loss": 0.01},
    ),
}  # fmt: skip


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(LOSSY, encoding="utf-8")
    return path


def responses(machine, noise=0.0, seed=3):
    """As `frf` has them, line by line, with noise."""
    H = supple.frf(machine, "bent", ["T.z", "P.x"], SEEN, LINES, kind="accelerance", drives=False).values
    random = np.random.default_rng(seed)
    size = noise * np.sqrt(np.mean(np.abs(H) ** 2, axis=0))
    H = H + size * (random.normal(size=H.shape) + 1j * random.normal(size=H.shape)) / np.sqrt(2.0)
    pushed = [supple.Channel(*name.split("."), "force") for name in ("T.z", "P.x")]
    test = supple.Responses(LINES, [supple.Channel(*name.split(".")) for name in SEEN], pushed, H)
    return supple.Measurement(at="bent", responses=test)


def damped(kind):
    return changed_mechanism(supple.loads(LOSSY), TRUE[kind][0])


@pytest.mark.parametrize("kind", TRUE)
def test_what_was_put_in_comes_back_and_runs_from_the_written_file(file, tmp_path, kind):
    truth = damped(kind)
    found = supple.fit_damping(file, responses(truth, 0.02), kind)
    for name, value in TRUE[kind][1].items():
        k = found.names.index(name)
        assert abs(found[name] - value) < 4.0 * found.deviations[k]
        assert found[name] == pytest.approx(value, rel=0.15)  # 2 % of noise, and parts that take a tenth of the energy
    assert found.postures[0].after == pytest.approx(4e-4, rel=0.15)  # the noise that was put in
    again = supple.load(found.save_mechanism(tmp_path / "damped.yaml"))
    one, two = (
        supple.frf(machine, "bent", "T.z", "T.z", LINES, drives=False).values
        for machine in (again, found.damped_mechanism)
    )
    assert_allclose(one, two, rtol=1e-4)  # six digits are written
    off = np.abs(one - supple.frf(truth, "bent", "T.z", "T.z", LINES, drives=False).values)
    assert off.max() < 0.05 * np.abs(one).max()


def test_ratios_of_modes_come_back_and_those_beyond_the_lines_are_none(file, tmp_path):
    hertz = supple.modes(supple.loads(LOSSY), "bent", count=8).frequencies_hz
    within = hertz[hertz < LINES[-1]]
    ratios = 0.01 + 0.01 * np.arange(len(within))
    law = [{"frequency": float(f), "ratio": float(z)} for f, z in zip(within, ratios, strict=True)]
    truth = supple.loads(LOSSY).replace(damping={"modal": law})
    found = supple.fit_damping(file, responses(truth), "modal")
    assert len(found.names) == len(within) >= 3
    assert_allclose(found.values, ratios, rtol=2e-3)  # beyond the last frequency ratios stay; six digits of each
    written = supple.load(found.save_mechanism(tmp_path / "damped.yaml")).damping
    assert_allclose(written.ratios(within), ratios, rtol=2e-3)


@pytest.mark.parametrize("kinds", ["structural", "rayleigh,joints", "modal", "joints,materials"])
def test_slopes_are_those_of_differences_and_responses_those_of_frf(kinds):
    """Every way: diagonal, by complex modes, line by line; beside damping that is there already."""
    machine = supple.loads(LOSSY.replace("drive: {stiffness: 4e3}", "drive: {stiffness: 4e3, damping: 1.5}"))
    machine = machine if "rayleigh" in kinds else supple.loads(LOSSY)
    fit = _Fit(machine, [responses(machine.replace(damping={"structural": 0.02}))])
    kinds_ = [FittedKind(kind, kind.numbers(fit.tested_system(machine, {}))) for kind in damping_kinds(kinds)]
    (one,) = fit.with_terms(kinds_)
    d = np.concatenate(
        [[item.kind.like(0.03 + 0.01 * k, 200.0, k) for k in range(len(item.numbers))] for item in kinds_]
    )
    H, slopes = one.compute_responses(d)
    for k in range(len(d)):
        steps = {}
        for m in (-2, -1, 1, 2):
            moved = d.copy()
            moved[k] *= 1.0 + 3e-3 * m
            steps[m] = one.compute_responses(moved, slopes=False)[0]
        rough = (8.0 * (steps[1] - steps[-1]) - (steps[2] - steps[-2])) / (12.0 * 3e-3 * d[k])
        assert_allclose(slopes[k], rough, rtol=0, atol=1e-6 * np.abs(rough).max())
    entries = {}
    first = 0
    for kind, numbers in kinds_:
        entries |= kind.written(numbers, d[first : first + len(numbers)])
        first += len(numbers)
    whole = responses(changed_mechanism(machine, entries)).responses.H
    assert np.abs(H - whole).max() < 1e-4 * np.abs(whole).max()  # other bands of condensation
    assert described_damping(one.spectrum)[1].any() == ("rayleigh" in kinds)


def test_what_responses_do_not_tell_stays_at_the_whole_and_is_named(file):
    """Of a wrist that nothing bends: no mass behind it moves in the band."""
    text = LOSSY.replace("stiffness: {angle: 2e3}", "stiffness: {angle: 2e8}")
    file.write_text(text, encoding="utf-8")
    test = responses(changed_mechanism(supple.loads(text), TRUE["joints"][0]), 0.02)
    found = supple.fit_damping(file, test, "joints")
    assert found.at_prior == ("wrist.loss",)
    assert found["wrist.loss"] == pytest.approx(found.whole, rel=0.1)
    assert any("wrist.loss: not determined" in text for text in found.words())
    with pytest.raises(InputError, match='unknown damping "jonts"; did you mean "joints"'):
        supple.fit_damping(file, test, "jonts")
    with pytest.raises(InputError, match=r"modal and rayleigh are both models .*choose one"):
        damping_kinds("modal,rayleigh")


def test_copies_of_a_joint_share_their_loss_factor():
    """The Surgiscope has three chains of one description, and each joint one place in its file."""
    robot = supple.load(Path(__file__).parents[3] / "examples" / "surgiscope" / "mechanism.yaml")
    (kind,) = damping_kinds("joints")
    numbers = kind.numbers(TestedSystem(robot, [], (0.0, 100.0), {"rods": ["left_*", "right_*"]}))
    assert len(numbers) == 4  # arms, elbows, wrists, and both ends of all rods
    assert next(item for item in numbers if item.name == "elbow.loss").parts == ("elbow1", "elbow2", "elbow3")
    assert all(path[0] == "copies" for item in numbers for path in item.paths)


def test_a_law_of_the_whole_is_what_stands_beside_damping_of_parts(tmp_path):
    """A material that loses stays as it is in the file, and η of the whole is not counted twice."""
    path = tmp_path / "arm.yaml"
    path.write_text(LOSSY.replace("density: 2700}", "density: 2700, damping: {structural: 0.06}}"), encoding="utf-8")
    truth = supple.load(path).replace(damping={"structural": 0.02})
    found = supple.update(path, responses(truth, 0.01), "knee.drive", starts=1)
    assert found["damping.eta"] == pytest.approx(0.02, rel=0.05)
    assert found["knee.drive"] == pytest.approx(4e3, rel=0.01)
    assert found.mechanism.damping.structural == pytest.approx(found["damping.eta"])
    assert found.names == ("knee.drive",)


@pytest.mark.slow
def test_the_command_finds_stiffnesses_then_damping_and_writes_both(file, tmp_path):
    truth = damped("joints")
    stiff = truth.joints["knee"].model_copy(update={"drive": truth.joints["knee"].drive.model_copy(
        update={"stiffness": 5e3})})  # fmt: skip
    seen = responses(truth.replace(joints={**truth.joints, "knee": stiff}), 0.01).responses
    seen.save(tmp_path / "blows.npz")
    out = CliRunner().invoke(app, [
        "identify", str(file), "--measured", f"{tmp_path}/blows.npz@bent", "--parameters", "knee.drive",
        "--starts", "1", "--damping", "joints", "--damping-groups", "drives:O|knee", "-o", f"{tmp_path}/new.yaml",
        "--json",
    ])  # fmt: skip
    assert out.exit_code == 0, out.output
    answer = json.loads(out.stdout)
    assert answer["parameters"]["knee.drive"]["after"] == pytest.approx(5e3, rel=0.01)
    assert set(answer["damping"]) == {"drives", "wrist.loss"}
    assert answer["damping"]["wrist.loss"] == pytest.approx(0.08, rel=0.2)
    new = supple.load(tmp_path / "new.yaml")
    assert (
        new.joints["O"].elastic_loss
        == new.joints["knee"].elastic_loss
        == pytest.approx(answer["damping"]["drives"], rel=1e-4)
    )
    text = (tmp_path / "new.yaml").read_text("utf-8")
    assert "# a gearbox" in text
    alone = CliRunner().invoke(
        app, ["identify", str(file), f"{tmp_path}/blows.npz@bent", "--damping", "structural", "--json",
              "--report", f"{tmp_path}/page.html"]
    )  # fmt: skip
    assert alone.exit_code == 0, alone.output
    assert set(json.loads(alone.stdout)["damping"]) == {"damping.eta"}
    assert "One loss factor" in (tmp_path / "page.html").read_text(encoding="utf-8")
