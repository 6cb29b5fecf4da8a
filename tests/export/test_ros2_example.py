"""The ROS 2 example, compiled against declarations of our own: ROS 2 is not installed here.

The declarations in ros2_stubs have the names and types that the example uses. The test shows that its code compiles and
does what it says with them; it does not show that it builds with any release of ROS 2.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.testing import assert_allclose

import supple
from supple.control.laws.affine_law import AffineLaw

EXAMPLE = Path(__file__).parents[2] / "examples" / "ros2"
STUBS = Path(__file__).parent / "ros2_stubs"
FLAGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-fsanitize=address,undefined"]


def exporter():
    spec = importlib.util.spec_from_file_location("ros2_export", EXAMPLE / "export.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def first_command(law: AffineLaw, posture, wanted) -> np.ndarray:
    """The command of the first sample: the state begins in the posture that is held, the reference comes with it."""
    ports, matrices = law.ports, law.at()
    z = np.zeros(ports.size)
    z[ports.y], z[ports.wanted(0)] = posture, posture[:2]
    x = matrices.A0 @ z + matrices.a0
    z[ports.wanted(0)] = wanted
    return matrices.C @ x + matrices.D @ z + matrices.d


def test_controller_and_node_do_what_the_exported_code_does(cc, cxx, tmp_path):
    module = exporter()
    law = module.main(tmp_path).law
    for name in ("code", "code_law"):
        subprocess.run([cc, "-std=c99", "-O1", "-c", tmp_path / f"{name}.c", "-o", tmp_path / f"{name}.o"], check=True)
    command = [cxx, "-std=c++17", *FLAGS, f"-I{STUBS}", f"-I{EXAMPLE / 'src'}", f"-I{tmp_path}", STUBS / "drive.cpp",
               tmp_path / "code.o", tmp_path / "code_law.o", "-lm", "-o", tmp_path / "drive"]  # fmt: skip
    done = subprocess.run([str(item) for item in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]
    ran = subprocess.run([str(tmp_path / "drive")], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[:3000]
    found = {line.split(" ")[0]: line.split(" ")[1:] for line in ran.stdout.splitlines()}
    assert (found["unconfigured"], found["configured"], found["active"]) == (["1"], ["1"], ["1"])
    assert "update_rate must be 1000 Hz" in ran.stderr
    expected = first_command(law, np.array([-0.4, 0.5, 0.0, 0.0]), [-0.3, 0.45])
    assert_allclose([float(value) for value in found["command"][1:]], expected, rtol=1e-12)
    assert found["held"] == found["command"]  # a measured value that is NaN keeps the commands
    assert found["failed"] == ["0", *found["command"][1:]]
    model = supple.reduce(supple.loads(module.ARM), tolerance=1e-3, progress=False)
    run = model.simulate(np.linspace(0.0, 0.02, 21), {"shoulder": 1.0, "elbow": -2.0}, {"shoulder": -0.4, "elbow": 0.5})
    ends = [signals[name][-1] for signals in (run.coordinates, run.rates) for name in ("shoulder", "elbow")]
    assert found["moved"][0] == "20"
    assert_allclose([float(value) for value in found["moved"][1:]], ends, rtol=1e-5, atol=1e-6)
    assert found["stopped"] == ["1", "20"]


def test_names_agree_across_the_package():
    package = ElementTree.parse(EXAMPLE / "package.xml").getroot()
    cmake, source = (EXAMPLE / "CMakeLists.txt").read_text(), (EXAMPLE / "src" / "law_controller.cpp").read_text()
    assert re.search(rf"project\({package.findtext('name')} ", cmake)
    needed = {item.text for item in package.findall("depend")}
    for include in re.findall(r'#include "(\w+)/', source + (EXAMPLE / "src" / "simulation.cpp").read_text()):
        assert include in needed
        assert include in cmake
    plugin = ElementTree.parse(EXAMPLE / "law_controller.xml").getroot().find("class")
    assert plugin is not None
    assert f"PLUGINLIB_EXPORT_CLASS({plugin.get('type')}, {plugin.get('base_class_type')})" in source
    assert plugin.get("name") in (EXAMPLE / "config" / "controllers.yaml").read_text()
