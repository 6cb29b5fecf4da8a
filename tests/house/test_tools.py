"""`.ci/tools` says what is missing and goes on where it may not install it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / ".ci" / "tools"
PRESENT = ("octave_cli", "mkoctfile", "chromium", "valgrind", "arm_none_eabi_gcc", "qemu_system_arm", "cppcheck")


@pytest.fixture
def run(tmp_path):
    """The script with a PATH of the given programs: each one of this machine, or a script of its own."""
    if shutil.which("bash") is None:
        pytest.skip("bash was not found")

    def tools(*arguments: str, **programs: str) -> str:
        for name in ("bash", "env"):
            (tmp_path / name).symlink_to(str(shutil.which(name)))
        for name, text in programs.items():
            (tmp_path / name.replace("_", "-")).write_text(f"#!{shutil.which('bash')}\n{text}\n")
            (tmp_path / name.replace("_", "-")).chmod(0o755)
        done = subprocess.run([str(TOOLS), *arguments], env={"PATH": str(tmp_path)}, capture_output=True, text=True,
                              check=False)  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert not done.stdout
        return done.stderr

    return tools


def test_what_would_be_installed(run):
    said = run("--dry-run", apt_get="echo it ran; exit 1", id="echo 0")
    assert "octave-cli mkoctfile clang chromium valgrind arm-none-eabi-gcc qemu-system-arm cppcheck" in said
    assert "apt-get install octave octave-dev clang chromium valgrind gcc-arm-none-eabi" in said
    assert "it ran" not in said


def test_nothing_is_installed_that_is_there(run):
    assert run(**dict.fromkeys(PRESENT, ""), clang="", id="echo 0") == ""


@pytest.mark.parametrize(("programs", "why"), [
    ({"id": "echo 0"}, "there is no apt-get"),
    ({"apt_get": "exit 1", "id": "echo 1000"}, "neither root"),
    ({"apt_get": "exit 100", "id": "echo 0"}, "could not install"),
])  # fmt: skip
def test_where_it_cannot_be_done_that_is_said(run, programs, why):
    said = run(**programs)
    assert why in said
    assert "tests that need them are skipped" in said


def test_it_installs_only_what_is_missing(run, tmp_path):
    run(**dict.fromkeys(PRESENT, ""), apt_get=f'echo "$@" >> {tmp_path}/asked', id="echo 0")
    assert (tmp_path / "asked").read_text().split()[-4:] == ["install", "--yes", "--no-install-recommends", "clang"]
