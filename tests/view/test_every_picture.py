"""What is drawn: panels in the style of the house, with units on every axis, names beside the curves."""

import sys
from functools import cache

import matplotlib
import numpy as np
import pytest
from every_result import RESULTS, five_bar, linear, model, result
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple.cli.map_option import typed_units
from supple.frequency_response.plot import unwrapped_phase
from supple.results.frequency_response import FrequencyResponse
from supple.view.house_style import PALETTE, style_settings
from supple.view.map_plot import colour_limits

NOT_DRAWN = (
    "LocalModel", "Coefficients", "Comparison", "Sweep", "ModeSet of a batch", "Compliance of a batch", "Predicted",
    "TestPlan",
)  # fmt: skip
DRAWN = [name for name in RESULTS if name not in NOT_DRAWN]
DRAW = {name: lambda name=name, **given: result(name).plot(**given) for name in DRAWN} | {
    "Sweep": lambda **given: result("Sweep").plot(lambda modes: modes.frequencies_hz, "frequency / Hz", **given),
    "Configuration": lambda **given: supple.assemble(five_bar(), "home").plot(**given),
    "curves": lambda **given: curves().plot(units={"A": "deg"}, **given),
    "Bode of a linear model": lambda **given: linear().frequency_response(np.geomspace(0.1, 10.0, 50)).plot(**given),
}
PICTURES = {name: cache(draw) for name, draw in DRAW.items()}  # drawn once each: tests only look at them


@cache
def curves():
    return supple.frequency_map(five_bar(), {"A": [2.0, 2.1]}, count=2)


@pytest.mark.parametrize("name", PICTURES)
def test_a_plot_gives_axes_with_units_on_every_axis(name, tmp_path):
    before = dict(matplotlib.rcParams)
    found = PICTURES[name]()
    assert found
    assert all(isinstance(one, Axes) and one.figure is found.figure for one in found)
    figure = found.figure
    assert dict(matplotlib.rcParams) == before  # the style is the figure's own
    for axes in [one for shown in figure.axes for one in (shown, *shown.child_axes)]:
        if not axes.get_visible():
            continue
        shared = any(axes.get_shared_x_axes().joined(axes, other) for other in figure.axes if other is not axes)
        letters = "xyz" if axes.name == "3d" else "xy"
        labels = [getattr(axes, f"get_{letter}label")() for letter in letters]
        if axes.get_label() == "<colorbar>" or axes not in figure.axes:
            labels = [max(labels, key=len)]
        elif shared and not labels[0]:  # the lowest of a stack has it
            labels = labels[1:]
        assert all(" / " in text for text in labels), labels
    figure.savefig(tmp_path / "picture.png", dpi=30)


@pytest.mark.parametrize("name", PICTURES)
def test_legends_cover_no_curve(name):
    figure = PICTURES[name]().figure
    figure.draw_without_rendering()
    for axes in figure.axes:
        if axes.get_legend() is not None:
            inside = axes.get_window_extent()
            assert axes.get_legend().get_window_extent().x0 >= inside.x1 - 1.0


def test_pictures_look_alike_whatever_the_user_has_set():
    with matplotlib.rc_context({"font.size": 20.0, "axes.facecolor": "black", "lines.linewidth": 9.0}):
        figure = result("Simulation").plot().figure
    figure.draw_without_rendering()
    axes = figure.axes[0]
    assert axes.get_facecolor() == (1.0, 1.0, 1.0, 1.0)
    assert axes.lines[0].get_linewidth() == style_settings()["lines.linewidth"]
    assert axes.xaxis.get_major_ticks()[0].label1.get_fontsize() == style_settings()["xtick.labelsize"]
    assert axes.lines[1].get_color() == PALETTE[1]


def test_a_figure_is_wide_enough_to_read():
    figure = result("Simulation").plot().figure
    assert figure.get_size_inches()[0] * figure.dpi >= 1600


def test_every_picture_is_drawn_into_axes_that_are_given():
    for name in PICTURES:
        own = PICTURES[name]()
        given = blank(own)
        found = DRAW[name](axes=given)
        assert len(found) == len(own), name
        assert all(one is other for one, other in zip(found, given, strict=True)), name
        assert all(one.has_data() for one in given), name


def test_panels_are_used_like_the_axes_they_are():
    one, two = result("LinearModel").plot(), result("ClosedLoop").plot()
    one.set_title("as built")
    assert one[0].get_title() == "as built"
    assert repr(one) == "<Panels: as built>"
    assert one._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(AttributeError, match=r"panels have no 'set_title'; take one of them, as plot\(\)\[0\]"):
        two.set_title("no")
    with pytest.raises(supple.InputError, match=r"do not fit into 1 axes"):
        result("ModeSet").plot(axes=blank(one))


def test_one_result_is_drawn_over_another():
    below = result("Simulation").plot()
    count = [len(one.lines) for one in below]
    above = result("Simulation").plot(axes=below)
    assert [len(one.lines) for one in above] == [2 * n for n in count]
    assert above == below


def blank(like):
    """A figure of one's own with as many axes, flat or in space."""
    figure = Figure(figsize=(12, 10))
    return [figure.add_subplot(len(like), 1, i + 1, projection=one.name) for i, one in enumerate(like)]


def test_no_window_is_made(monkeypatch):
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    for name in ("ClosedLoop", "FrequencyResponse", "LinearModel"):
        result(name).plot()
    assert "matplotlib.pyplot" not in sys.modules


# ------------------------------------------------------------------------------------------------- Bode


def test_bode_has_a_log_axis_of_frequency():
    *above, below = result("FrequencyResponse").plot().axes
    assert {axes.get_xscale() for axes in (*above, below)} == {"log"}
    assert {axes.get_yscale() for axes in above} == {"log"}
    assert below.get_xlabel() == "frequency / Hz"
    assert above[0].get_ylabel() == "receptance / (m/N)"


def test_phase_is_unwrapped():
    """Two damped poles turn a response by -360 degrees, a delay further still; nothing jumps on the way."""
    f = np.geomspace(0.01, 100.0, 2000)
    pole = 1.0 / (1.0 - f**2 + 0.02j * f)
    phase = unwrapped_phase(pole * pole * np.exp(-0.1j * f))
    assert abs(phase[0]) < 1.0
    # Each pole is atan2(0.02 f, 1 - f²) behind, the delay 0.1 f rad.
    assert_allclose(phase, -np.degrees(2.0 * np.arctan2(0.02 * f, 1.0 - f**2) + 0.1 * f), atol=1e-9)


def test_phase_without_damping_stays_between_0_and_minus_180():
    values = np.array([1.0, -1.0, -1.0 + 0.0j, complex(-1.0, -0.0), 2.0])
    assert_array_equal(unwrapped_phase(values), [0.0, -180.0, -180.0, -180.0, 0.0])


def test_a_line_at_zero_hertz_is_left_out_of_a_log_axis():
    found = FrequencyResponse(np.array([0.0, 1.0, 2.0]), np.ones((3, 1, 1), complex), ("u",), ("y",), (("m/N",),))
    assert found.plot().axes[0].lines[0].get_xdata().tolist() == [1.0, 2.0]
    with pytest.raises(supple.InputError, match="above 0"):
        FrequencyResponse(np.zeros(1), np.ones((1, 1, 1), complex), ("u",), ("y",), (("m/N",),)).plot()


def test_a_response_of_a_linear_model_is_its_transfer_function():
    found = linear().frequency_response([0.5, 1.0])
    assert found.values.shape == (2, len(linear().outputs), len(linear().inputs))
    for i, output in enumerate(linear().outputs):
        for j, inlet in enumerate(linear().inputs):
            assert_array_equal(found.values[:, i, j], linear().response([0.5, 1.0], output, inlet))


# ------------------------------------------------------------------------------------------------- time


def test_closed_loops_are_split_by_unit_with_the_forces():
    found = result("ClosedLoop").plot()
    assert [axes.get_ylabel() for axes in found.axes] == ["output / m", "force / (N m)", "energy / J"]
    both = result("Simulation of a model").plot("A", "mode1")
    assert [axes.get_ylabel() for axes in both.axes] == ["A / rad", "mode1 / (√kg m)"]


def test_a_signal_that_is_not_there_is_named():
    with pytest.raises(supple.InputError, match=r'unknown signal "elbw".*elbow'):
        result("ClosedLoop").plot("elbw")


# ------------------------------------------------------------------------------------------------- maps and shapes


def test_one_outlier_does_not_eat_the_colours():
    values = np.linspace(10.0, 12.0, 100).reshape(10, 10)
    assert colour_limits(values) == (10.0, 12.0, "neither")
    values[3, 4] = 900.0
    assert colour_limits(values) == (10.0, 12.0, "max")
    values[0, 0], values[1, 1] = 0.0, np.nan
    low, high, pointed = colour_limits(values)
    assert (round(low, 1), high, pointed) == (10.0, 12.0, "both")


def test_maps_are_in_the_units_that_were_typed():
    typed = {"lift": "deg", "x": "mm"}
    assert typed_units("lift=10deg:20deg:5, x=0:12mm, elbow=0.1:0.2, y=1mm:1cm") == typed
    figure = supple.frequency_map(five_bar(), {"A": np.radians([115.0, 120.0])}, count=1).plot(units={"A": "deg"})
    assert figure.axes[0].get_xlabel() == "A / °"
    assert_allclose(figure.axes[0].lines[0].get_xdata(), [115.0, 120.0])
    with pytest.raises(supple.InputError, match="not over"):
        result("FrequencyMap").plot(units={"B": "deg"})


def test_shapes_tell_their_scale():
    titles = [axes.get_title() for axes in result("ModeSet").plot().axes]
    extent = result("ModeSet").rest.numbering.arrays.extent
    assert all(f"largest drawn as {120.0 * extent:.3g} mm" in title for title in titles)
    sagged = result("Deflection").plot().axes[0].get_title()
    assert "largest displacement" in sagged
    assert sagged.endswith(": 1")


def test_a_model_told_of_its_units_labels_its_axes():
    run = model().simulate(np.linspace(0.0, 0.01, 11), None, {"A": 2.05, "E": 1.12})
    assert run.plot().axes[0].get_ylabel() == "output / m"
