"""Rules that exported C keeps: MISRA C:2012 by cppcheck, every warning of gcc, and its static analyzer."""

from __future__ import annotations

import re
import shutil
import subprocess
from types import SimpleNamespace

import pytest
from test_hardware_export import COORDINATES, HARDWARE, INPUTS, OUTPUTS
from test_law_export import CASES

from supple.export.c.target import hardware_files
from supple.export.export import export

# Deviations, with their reasons in docs/export-c.md. All other rules that cppcheck knows are kept, among them: no
# dynamic memory (21.3), no recursion (17.2), no goto (15.1), bounded loops without floating-point counters (14.1), no
# uninitialised objects (9.1), no access out of bounds (18.1), no library functions beyond math.h (21).
DEVIATIONS = {
    "2.2", "2.3", "2.4", "2.5", "2.7", "8.7", "8.9", "8.14", "9.3", "10.1", "10.3", "10.4", "10.5", "10.8", "11.9",
    "12.1", "12.3", "13.3", "13.4", "14.4", "15.5", "15.6", "15.7", "17.8", "18.4", "20.10",
}  # fmt: skip
WARNINGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wundef", "-Werror"]


@pytest.fixture(scope="module", params=["rigid", pytest.param("flexible", marks=pytest.mark.slow),
                                        pytest.param("law", marks=pytest.mark.slow), "hardware"])  # fmt: skip
def source(request, models, tmp_path_factory):
    """An exported C file; its headers stand beside it."""
    folder = tmp_path_factory.mktemp("static")
    if request.param == "law":
        return export(CASES["about an equilibrium"](), folder, prefix="code")[1]
    if request.param == "hardware":
        layout = SimpleNamespace(inputs=INPUTS, coordinates=COORDINATES, theta=3, outputs=OUTPUTS)
        for name, text in hardware_files(HARDWARE, layout, "code", "code").items():
            (folder / name).write_text(text)
        return folder / "code_hardware.c"
    rom = models["four-bar mixed degrees" if request.param == "rigid" else "elastic structured"]
    return export(rom, folder, prefix="code")[1]


def test_it_keeps_the_rules_of_misra(source):
    if shutil.which("cppcheck") is None:
        pytest.skip("cppcheck was not found: apt-get install cppcheck")
    command = ["cppcheck", "--std=c99", "--quiet", "--enable=warning,portability", "--addon=misra", "-DCODE_CLAMP=1",
               "--template={severity} {id} line {line}: {message}", str(source)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = (done.stdout + done.stderr).splitlines()
    if any("addon" in line.lower() for line in lines):
        pytest.skip(f"cppcheck has no working misra addon: {lines[0]}")
    broken = {line: rule[1] for line in lines if (rule := re.search(r"misra-c2012-(\d+\.\d+)", line))}
    assert {line for line, rule in broken.items() if rule not in DEVIATIONS} == set()
    assert [line for line in lines if line.startswith("error ")] == []
    assert broken, "the misra addon reports nothing: it has not run"


def test_gcc_has_no_warning_and_its_analyzer_finds_nothing(source):
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("gcc was not found")
    command = [gcc, *WARNINGS, "-O2", "-fanalyzer", "-c", str(source), "-o", str(source.with_suffix(".o"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]
