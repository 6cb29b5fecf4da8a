"""Every function of exported C is total: NaN, infinities and values not allowed give a status and change nothing."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from test_hardware_export import COORDINATES, HARDWARE, INPUTS, OUTPUTS
from test_law_export import CASES
from test_torque_export import flexible, redundant

from supple.export.c.target import hardware_files
from supple.export.export import export
from supple.reduced.layout import CoefficientLayout

HERE = Path(__file__).parent
SANITIZED = ["-std=c99", "-O1", "-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"]


@dataclass
class Case:
    """A function: its C call with given[] and found[], ranges of good arguments, and the number of results."""

    name: str
    call: str
    ranges: list[tuple[float, float]]
    found: int
    copied: int = 0
    free: tuple[int, int] = (0, 0)
    partial: str = "0"
    ok: str = "0"  # a second status of success

    def code(self) -> str:
        low, high = (", ".join(f"(real){end!r}" for end in ends) for ends in zip(*self.ranges, strict=True))
        return (
            f"static int call_{self.name}(real *given, real *found)\n{{\n    const int flag = {self.call};\n"
            f"    return flag == {self.ok} ? 0 : flag;\n}}\n"
            f"static const real low_{self.name}[] = {{{low}}}, high_{self.name}[] = {{{high}}};\n"
        )

    def row(self) -> str:
        sizes = f"{len(self.ranges)}, {self.found}, {self.copied}"
        ends = f"low_{self.name}, high_{self.name}, {self.free[0]}, {self.free[1]}"
        return f'    {{"{self.name}", call_{self.name}, {sizes}, {ends}, {self.partial}}},\n'


def fuzz(cases, head, sources, folder, cc, *options) -> dict[str, str]:
    """Return what the fuzz program says of each function."""
    text = head + "".join(case.code() for case in cases)
    text += "static const function functions[] = {\n" + "".join(case.row() for case in cases) + "};\n"
    (folder / "cases.h").write_text(text)
    command = [cc, *SANITIZED, *options, f"-I{folder}", HERE / "fuzz.c", *sources, "-lm", "-o", folder / "fuzz"]
    for step in (command, [folder / "fuzz"]):
        done = subprocess.run([str(item) for item in step], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:3000]
    print(done.stderr)
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


def model_cases(layout: CoefficientLayout, bounds: np.ndarray, *, divided: bool) -> list[Case]:
    """Return the functions of the exported model `code`; bounds : (2, θ)."""
    n, u, y = layout.size, len(layout.inputs), len(layout.outputs)
    theta = [tuple(row) for row in bounds.T.tolist()]
    eta = theta + [(-1e-4, 1e-4)] * (n - len(theta))
    one = [(-1.0, 1.0)]
    state, inputs = [*eta, *one * n], one * u
    given = f", given + {2 * n}" if u else ""
    x, ok = 2 * n, "CODE_CLAMPED"
    B = f", (real (*)[{u}])(found + {x + x * x})" if u else ""
    D = f", (real (*)[{u}])(found + {y + x * y})" if u else ""
    cases = [
        Case("inverse", f"code_inverse(given, given + {n}, given + {2 * n}, found)", state + one * n, n, ok=ok),
        Case("forward", f"code_forward(given, given + {n}{given}, found)", state + inputs, n, ok=ok),
        Case("columns", "code_columns(given, found)", theta, 0, ok=ok),
        Case("derivative", f"code_derivative(0, given{given}, found)", state + inputs, x, ok=ok),
        Case("jacobian", f"code_jacobian(0, given{given}, found, (real (*)[{x}])(found + {x}){B})",
             state + inputs, x + x * x + x * u, ok=ok),
        Case("step_explicit", f"code_step_explicit(0, found{given}, given[{x + u}])",
             [*state, *inputs, (1e-7, 1e-6)], x, copied=x, ok=ok),
        Case("step_implicit", f"code_step_implicit(0, found{given}, given[{x + u}])",
             [*state, *inputs, (1e-7, 1e-6)], x, copied=x, ok=ok),
    ]  # fmt: skip
    if layout.observation is not None:
        tail = f", given + {3 * n}" if u else ""
        cases += [Case("observe", f"code_observe(given, given + {n}, given + {2 * n}{tail}, found)",
                       state + one * n + inputs, y, ok=ok)]  # fmt: skip
    elif y:
        cases += [Case("outputs", "code_outputs(given, found)", eta, y, ok=ok)]
        cases += [Case("output_rates", f"code_output_rates(given, given + {n}, found)", state, y, ok=ok)]
    if y:
        fed = layout.observation is not None and layout.observation.instant  # else inputs are not read
        seen, more = (given, inputs) if fed else (", 0" if u else "", [])
        cases += [Case("measure", f"code_measure(0, given{seen}, found)", state + more, y, ok=ok)]
        given, inputs = (seen, more) if layout.observation is None else (given, inputs)
        slopes = f"found, (real (*)[{x}])(found + {y}){D}"
        cases += [Case("output_jacobian", f"code_output_jacobian(0, given{given}, {slopes})",
                       state + inputs, y + x * y + y * u, ok=ok)]  # fmt: skip
    if divided:
        s = len(theta)
        at = [f"given + {s + s + k * u}" for k in range(3)]
        cases += [Case("divide", f"code_divide(given, given + {s}, {', '.join(at)}, found)",
                       theta + one * s + [(0.5, 2.0)] * u + [(-9.0, -8.0)] * u + [(8.0, 9.0)] * u, u,
                       free=(s + s + u, s + s + 3 * u), partial="CODE_UNMET", ok=ok)]  # fmt: skip
    return cases


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize(
    "name", ["orthoglide structured", "elastic structured", pytest.param("observed", marks=pytest.mark.slow)]
)
def test_functions_of_a_model_are_total(name, precision, request, cc, tmp_path):
    rom = request.getfixturevalue("observed") if name == "observed" else request.getfixturevalue("models")[name]
    export(rom, tmp_path, prefix="code", precision=precision)
    roots = rom.fitted.arrays.roots_f
    inside = np.array([roots[:, 0].min(axis=0), roots[:, 1].max(axis=0)])
    inside = inside.mean(axis=0) + 0.9 * (inside - inside.mean(axis=0))
    divided = len(rom.layout.inputs) >= rom.layout.theta
    cases = model_cases(rom.layout, inside, divided=divided)
    kind = "-DREAL=double" if precision == "double" else "-DREAL=float"
    found = fuzz(cases, '#include "code.h"\n', [tmp_path / "code.c"], tmp_path, cc, kind)
    assert len(found) == len(cases)
    assert {case: text for case, text in found.items() if text != "total"} == {}


@pytest.mark.parametrize("name", CASES)
def test_functions_of_a_law_are_total(name, cc, tmp_path):
    law = CASES[name]()
    header, source = export(law, tmp_path)
    ports = law.ports
    sizes = [len(ports.measured), ports.wanted_all.stop - ports.wanted_all.start, len(ports.actuators)]
    sizes += [len(ports.actuators)] if ports.fed else []
    states, prefix = law.states, source.stem
    ranges, ok = [(-0.4, 0.4)] * sum(sizes), f"{prefix.upper()}_CLAMPED"

    def arguments(first: int) -> str:
        places = first + np.cumsum([0, *sizes])
        wanted = f"(const real (*)[4][{len(ports.coordinates)}])(given + {places[1]})"
        given = [f"given + {places[0]}", *([wanted] if sizes[1] else []), f"given + {places[2]}"]
        return ", ".join([*given, *([f"given + {places[3]}"] if ports.fed else [])])

    state = f"({prefix}_state *)(void *)found"
    cases = [
        Case("start", f"{prefix}_start({state}, {arguments(0)})", ranges, states, ok=ok),
        Case("step", f"{prefix}_step({state}, {arguments(states)}, found + {states})",
             [(-0.4, 0.4)] * states + ranges, states + len(ports.outputs), copied=states, ok=ok),
    ]  # fmt: skip
    found = fuzz(cases, f'#include "{header.name}"\n', [source], tmp_path, cc, "-DREAL=double")
    assert found == {"start": "total", "step": "total"}


def test_functions_of_hardware_are_total(cc, tmp_path):
    layout = SimpleNamespace(inputs=INPUTS, coordinates=COORDINATES, theta=3, outputs=OUTPUTS)
    for name, text in hardware_files(HARDWARE, layout, "arm", "arm").items():
        (tmp_path / name).write_text(text)
    head = """#include "arm_hardware.h"
static arm_hardware_drives drives;
static arm_hardware_driven driven;
static arm_hardware_instruments instruments;
static const double rest[3] = {0.0, 0.0, 0.0};
static int begin(void) { double command[4]; return arm_hardware_drives_start(&drives, rest, rest, command); }
static int wake(void) { return arm_hardware_instruments_start(&instruments, 1e-3); }
static int moved(real *given, real *found)
{
    const int flag = arm_hardware_drives_advance(&drives, given[0], given + 1, &driven);
    if (!flag) memcpy(found, driven.force, sizeof driven.force);
    return flag;
}
"""
    one = [(-1.0, 1.0)]
    cases = [
        Case("start", "arm_hardware_drives_start(&drives, given, given + 3, found)", one * 6, 4),
        Case("take", "(begin(), arm_hardware_drives_take(&drives, given, found))", one * 4, 4),
        Case("advance", "(begin(), moved(given, found))", [(1e-4, 1e-3), *one * 3], 4),
        Case("wake", "arm_hardware_instruments_start(&instruments, given[0])", [(1e-4, 1e-2)], 0),
        Case("read", "(wake(), arm_hardware_instruments_read(&instruments, given, (real (*)[5])(given + 5), found))",
             one * 15, 5),
    ]  # fmt: skip
    found = fuzz(cases, head, [tmp_path / "arm_hardware.c"], tmp_path, cc, "-DREAL=double")
    assert found == dict.fromkeys(("start", "take", "advance", "wake", "read"), "total")


@pytest.mark.slow
@pytest.mark.parametrize("make", [redundant, flexible])
def test_computed_torque_is_total(make, cc, tmp_path):
    controller = make()
    export(controller, tmp_path, prefix="arm")
    s, count = len(controller.coordinates), len(controller.actuators)
    more = controller.model.layout.size - s if make is flexible else count
    lower, upper = controller.model.fitted.arrays.roots_f[0]
    middle = [(float(center - 1e-3), float(center + 1e-3)) for center in (lower + upper) / 2.0]
    one, wanted = [(-0.1, 0.1)], f"(const real (*)[{s}])(given + {more + 2 * s})"
    if make is flexible:  # the deformation is kept in the first results
        extra, forces, copied = "found", f"found + {more}", more
    else:
        extra, forces, copied = "given", "found", 0
    call = f"arm_torque(given + {more}, given + {more + s}, {wanted}, {extra}, {forces})"
    ranges = [(-1e-6, 1e-6)] * more + middle + one * s + middle + one * (2 * s)
    sources = [tmp_path / "arm.c", tmp_path / "arm_torque.c"]
    case = Case("torque", call, ranges, copied + count, copied)
    assert fuzz([case], '#include "arm_torque.h"\n', sources, tmp_path, cc, "-DREAL=double") == {"torque": "total"}
