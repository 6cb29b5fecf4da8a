"""The walk that docs/theory/control.md begins with: its file and its lines run as they stand."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple
from supple import control
from supple.diagnostics import InputError
from supple.identification.logged_runs import logged_run

PAGE = Path(__file__).parents[2] / "docs" / "theory" / "control.md"


@pytest.fixture(scope="module")
def walked(tmp_path_factory) -> dict[str, Any]:
    """What the lines leave behind."""
    folder = tmp_path_factory.mktemp("walk")
    text = PAGE.read_text(encoding="utf-8")
    described, lines = (re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL)[0] for kind in ("yaml", "python"))
    (folder / "loader.yaml").write_text(described, encoding="utf-8")
    names: dict[str, Any] = {"folder": folder}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(compile(lines, str(PAGE), "exec"), names)  # noqa: S102 - our own page
    return names


@pytest.mark.slow
def test_it_says_what_comes_out(walked):
    """The numbers beside the lines, and what the run on the mechanism found of the drive that is in the file."""
    after = walked["motion"].end
    assert walked["run"].residual("imu.x", "imu.z", after=after) == pytest.approx(0.12, abs=0.02)
    assert walked["run"].settling("tip.x", "tip.z", within=1e-3, after=after) < 0.05
    assert walked["run"].time[-1] == pytest.approx(after + 1.0, abs=1e-3)
    assert walked["run"].coordinates["elbow"][0] == pytest.approx(np.radians(-30.0))
    assert walked["fitted"]["elbow.frequency"] == pytest.approx(30.0, rel=0.01)
    assert {path.name for path in (walked["folder"] / "build").iterdir()} >= {"loader.c", "two_time_scales_law.c"}


def test_resolution_is_believed_as_noise(walked):
    assert walked["observer"].noise[:2] == pytest.approx(2e-5 / np.sqrt(12.0))


def test_models_and_mechanisms_are_not_taken_for_each_other(walked):
    arm, model, law = walked["arm"], walked["model"], walked["law"]
    for wrong, said in (
        (lambda: supple.modes(model), r"must be a Mechanism \(got a ReducedModel\); .*model\.linearize"),
        (lambda: control.margins(arm, law, at="home"), r"must be a LinearModel or a ReducedModel \(got a Mechanism\)"),
        (lambda: control.margin_map(arm, law), r"must be a ReducedModel \(got a Mechanism\)"),
        (
            lambda: control.kalman_filter(arm, sample_time=1e-3, accelerations=0.2),
            r"a ReducedModel or a LinearModel \(got a Mechanism\)",
        ),
        (lambda: walked["run"].plot("pick.png"), r'plot\(\)\.savefig\("pick\.png"\)'),
    ):
        with pytest.raises(InputError, match=said):
            wrong()


def test_a_logged_loop_may_end_between_samples(walked):
    run = control.closed_loop(walked["model"], walked["servos"], until=0.0125 + 0.3e-3)
    assert len(logged_run(run).time) == len(run.time) - 1


def test_a_table_that_a_loop_wrote_is_read_as_instruments_showed_it(walked):
    run, file = walked["run"], walked["folder"] / "run.csv"
    run.save(file)
    read = logged_run(file)
    np.testing.assert_allclose(read.measured["imu.x"], run.measured["imu.x"], rtol=1e-12, atol=1e-12)
    assert np.abs(read.measured["imu.x"] - run.outputs["imu.x"]).max() > 0.05


def test_damping_beyond_the_drives_is_refused(walked):
    """A bandwidth of 25 Hz and 60 Hz asked of it."""
    model = supple.reduce(walked["arm"], checks=200, internal_modes=2, tolerance=1e-2)
    observer = control.kalman_filter(model, sample_time=1e-3, accelerations=0.2)
    with pytest.raises(InputError, match=r"unstable at shoulder=.* Hz; .*less damping.*damping_ratios now"):
        control.two_time_scales(observer, walked["motion"], damping_ratios=0.3, at="home")
    control.two_time_scales(observer, walked["motion"], damping_ratios=[0.3, 0.1], at="home")
