"""Pictures in a script: `plot().show()` and `pyplot.show()` open them where the backend has windows."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import supple

BACKEND = """
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg


class Manager(FigureManagerBase):
    @classmethod
    def pyplot_show(cls, *, block=None):
        from matplotlib import _pylab_helpers
        print("shown", [len(item.canvas.figure.axes) for item in _pylab_helpers.Gcf.get_all_fig_managers()])


class FigureCanvas(FigureCanvasAgg):
    required_interactive_framework = "headless"
    manager_class = Manager


FigureManager = Manager
"""
ARM = """
supple: 1
plane: xz
points: {O: [0, 0], P: [1, 0]}
bodies: {bar: {rod: [O, P], mass: 1}}
joints: {O: {revolute: [ground, bar]}}
actuators: {motor: {joint: O}}
"""


def printed(folder, script, backend="module://windows", status=0):
    """What a script prints that knows the machine; its backend only tells what it would show."""
    (folder / "windows.py").write_text(BACKEND)
    environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    environment |= {"MPLBACKEND": backend, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    command = [sys.executable, "-c", f"import supple\nmachine = supple.loads({ARM!r})\n{script}"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == status, ended.stderr
    return ended.stdout if status == 0 else ended.stderr


def test_a_picture_shows_itself(tmp_path):
    assert printed(tmp_path, "supple.assemble(machine).plot().show()") == "shown [1]\n"


def test_pyplot_shows_what_was_drawn_since_it_was_imported(tmp_path):
    script = "import matplotlib.pyplot as plt\nfor at in ([0], [1]): supple.assemble(machine, at).plot()\nplt.show()"
    assert printed(tmp_path, script) == "shown [1, 1]\n"


def test_no_window_is_kept_of_what_nobody_can_show(tmp_path):
    script = "supple.assemble(machine).plot()\nimport matplotlib.pyplot as plt\nprint(plt.get_fignums())"
    assert printed(tmp_path, script) == "[]\n"


def test_without_windows_a_file_is_advised(tmp_path):
    said = printed(tmp_path, "supple.assemble(machine).plot().show()", "agg", 1)
    assert 'backend is "agg"' in said
    assert 'plot().savefig("picture.png")' in said


def test_axes_of_the_caller_are_left_alone():
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    assert supple.assemble(supple.loads(ARM)).plot(axes=axes).figure is axes.figure
    assert pytest.importorskip("matplotlib.pyplot").get_fignums() == []
