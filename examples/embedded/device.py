"""Exported C in single precision on Cortex-M boards, which QEMU emulates: build, run, and count.

`compare(code)` runs functions of exported code on a board and on this computer, and returns their results, and the
instructions and bytes of stack of a call on the board. Needs the Debian packages gcc-arm-none-eabi,
libnewlib-arm-none-eabi and qemu-system-arm.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from supple.control.laws.affine_law import AffineLaw
from supple.export.c.source_text import c_table, single_precision
from supple.export.export import export
from supple.reduced.model import ReducedModel

HERE = Path(__file__).parent
COMPILER, EMULATOR = "arm-none-eabi-gcc", "qemu-system-arm"
PACKAGES = {COMPILER: "gcc-arm-none-eabi libnewlib-arm-none-eabi", EMULATOR: "qemu-system-arm"}
FLAGS = ["-std=c99", "-O3", "-Wall", "-Wextra", "-ffunction-sections", "-fdata-sections"]
SHOWN, REPEATS = 24, 8  # as in measure.c: points whose results are printed, calls that are counted together


class Board(NamedTuple):
    """A board of QEMU: options of the compiler, addresses of memory and UART, and the clock of its timer in Hz."""

    machine: str
    options: tuple[str, ...]
    rom: int
    ram: int
    uart: int
    clock: float


BOARDS = {
    "cortex-m4f": Board("mps2-an386", ("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16"), 0x0, 0x20000000, 0x40004000, 25e6),
    "cortex-m7": Board("mps2-an500", ("-mcpu=cortex-m7", "-mfpu=fpv5-d16"), 0x0, 0x20000000, 0x40004000, 25e6),
    "cortex-m33": Board("mps2-an505", ("-mcpu=cortex-m33", "-mfpu=fpv5-sp-d16"), 0x10000000, 0x38000000, 0x50200000,
                        20e6),
}  # fmt: skip


def missing() -> str:
    """Return which programs are missing and where they come from; "" if none is."""
    found = [f"{name} (apt-get install {packages})" for name, packages in PACKAGES.items() if not shutil.which(name)]
    return f"not installed: {', '.join(found)}" if found else ""


class Function(NamedTuple):
    """A C expression of the point k that writes `count` numbers to y and has a status as its value."""

    name: str
    call: str
    count: int


@dataclass(frozen=True)
class Code:
    """Exported code with functions to call: headers, sources, C declarations of the points, and their number."""

    headers: list[Path]
    sources: list[Path]
    tables: str
    points: int
    functions: list[Function]


class Cost(NamedTuple):
    """Cost of a call over all points: instructions, and bytes of stack."""

    least: float
    most: float
    stack: int


class Size(NamedTuple):
    """Bytes of read-only memory (code, constants) and of static RAM."""

    flash: int
    ram: int


def model_code(
    rom: ReducedModel, folder: Path, *, points: int = 40, seed: int = 1, write: Callable[..., list[Path]] = export
) -> Code:
    """Export a model in single precision, with points in all its boxes, or in as many as there are points.

    In each box the point is near a corner, where finding the box takes longest. `write` has the arguments of `export`.
    """
    files = write(rom, folder, to="c", prefix="code", precision="single")
    rng, layout, leaves = np.random.default_rng(seed), rom.layout, rom.fitted.arrays.leaves_f
    n, s, u, y = layout.size, layout.theta, len(layout.inputs), len(layout.outputs)
    chosen = np.arange(len(leaves)) if len(leaves) <= points else rng.choice(len(leaves), points, replace=False)
    chosen = np.resize(chosen, max(len(chosen), min(points, SHOWN)))
    theta = leaves[chosen, 0] + 0.999 * rng.choice([-1.0, 1.0], (len(chosen), s)) / leaves[chosen, 1]
    eta = np.hstack([theta, rng.uniform(-1e-4, 1e-4, (len(chosen), n - s))])
    tables = {"states": np.hstack([eta, rng.uniform(-1.0, 1.0, (len(chosen), n))])}
    tables["asked"] = rng.uniform(-10.0, 10.0, (len(chosen), n))
    tables |= {"inputs": rng.uniform(-1.0, 1.0, (len(chosen), u))} if u else {}
    given, B = (", inputs[k]", f", (float (*)[{u}])(y + {2 * n + 4 * n * n})") if u else ("", "")
    functions = [
        Function("inverse", f"code_inverse(states[k], states[k] + {n}, asked[k], y)", n),
        Function("forward", f"code_forward(states[k], states[k] + {n}{given}, y)", n),
        Function("jacobian", f"code_jacobian(0, states[k]{given}, y, (float (*)[{2 * n}])(y + {2 * n}){B})",
                 2 * n + 4 * n * n + 2 * n * u),
    ]  # fmt: skip
    functions += [Function("outputs", f"code_measure(0, states[k]{given}, y)", y)] if y else []
    for name in ("explicit", "implicit"):
        start = f"(memcpy(y, states[k], {8 * n}), code_step_{name}(0, y{given}, 1e-5f))"
        functions.append(Function(f"step_{name}", start, 2 * n))
    return Code([files[0]], [files[1]], _tables(tables), len(chosen), functions)


def law_code(law: AffineLaw, folder: Path, *, points: int = 40, seed: int = 1) -> Code:
    """Export a control law in single precision, with random arguments inside its region."""
    header, source = export(law, folder, prefix="code", precision="single")[:2]
    rng, ports = np.random.default_rng(seed), law.ports
    z = rng.uniform(-0.1, 0.1, (points, ports.size))
    for name, low, high in zip(law.scheduled_by, *law.bounds, strict=True) if law.bounds is not None else ():
        z[:, ports.place(name)] = rng.uniform(0.99 * low + 0.01 * high, 0.01 * low + 0.99 * high, points)
    tables = {"measured": z[:, ports.y], "applied": z[:, ports.applied_commands]}
    given = "measured[k], "
    if ports.coordinates:
        tables["wanted"] = z[:, ports.wanted_all].reshape(points, len(ports.previews), -1, len(ports.coordinates))
        given += "wanted[k], "
    given += "applied[k]"
    if ports.fed:
        tables["fed"], given = z[:, ports.fed_forward], f"{given}, fed[k]"
    outputs, states = len(ports.outputs), law.states
    text = _tables(tables) + f"static {source.stem}_state state;\n"
    call = f"({source.stem}_start(&state, {given}) || {source.stem}_step(&state, {given}, y)"
    call += f" || (memcpy(y + {outputs}, state.x, {4 * states}), 0))" if states else ")"
    step = f"{source.stem}_step(&state, {given}, y)"
    functions = [Function("step", step, 0), Function("start_and_step", call, outputs + states)]
    return Code([header], [source], text, points, functions)


def _tables(tables: dict[str, np.ndarray]) -> str:
    return single_precision("".join(c_table("double", name, values) for name, values in tables.items()))


def _write_cases(code: Code, folder: Path) -> None:
    text = "#include <stdint.h>\n#include <string.h>\n"
    text += "".join(f'#include "{header.name}"\n' for header in code.headers)
    most = max(1, *(item.count for item in code.functions))
    text += f"enum {{ POINTS = {code.points}, SHOWN = {SHOWN}, MOST = {most} }};\n{code.tables}"
    for item in code.functions:
        text += f"static int call_{item.name}(int k, float *y)\n{{\n    (void)y;\n    return {item.call};\n}}\n"
    rows = ", ".join(f'{{"{item.name}", call_{item.name}, {item.count}}}' for item in code.functions)
    text += "static const struct {\n    const char *name;\n    int (*call)(int, float *);\n    int count;\n"
    (folder / "cases.h").write_text(text + f"}} functions[] = {{{rows}}};\n")


def build(
    sources: Sequence[Path], target: Path, board: Board, *, options: Sequence[str] = (), stack: int = 0x8000
) -> Path:
    """Compile and link a program for a board."""
    places = f"-Wl,--gc-sections,--defsym=ROM={board.rom:#x},--defsym=RAM={board.ram:#x},--defsym=STACK={stack:#x}"
    command = [COMPILER, *FLAGS, *board.options, "-mthumb", "-mfloat-abi=hard", "-DBOARD", f"-DUART={board.uart:#x}",
               f"-I{HERE}", f"-I{target.parent}", *options, *sources, HERE / "board.c", "-nostartfiles",
               f"-T{HERE / 'board.ld'}", places, "-lm", "-o", target]  # fmt: skip
    run(command)
    return target


def emulate(program: Path, board: Board, *options: str) -> list[str]:
    """Return the command that runs a program on an emulated board, one instruction a nanosecond."""
    return [EMULATOR, "-M", board.machine, "-nographic", "-monitor", "none", "-icount", "shift=0,sleep=off",
            "-semihosting-config", "enable=on,target=native", "-kernel", str(program), *options]  # fmt: skip


def compare(
    code: Code, folder: Path, board: Board, *, options: Sequence[str] = ()
) -> tuple[dict, dict, dict[str, Cost]]:
    """Return the results on the board, those on this computer, {function: (points, 1 + count)}, and costs."""
    _write_cases(code, folder)
    program = build([HERE / "measure.c", *code.sources], folder / "measure.elf", board, options=options)
    text = run(emulate(program, board, "-serial", "null"))
    host = shutil.which("cc") or shutil.which("gcc") or "cc"
    run([host, "-std=c99", "-O1", "-ffp-contract=off", f"-I{folder}", *options, HERE / "measure.c", *code.sources,
          "-lm", "-o", folder / "measure"])  # fmt: skip
    instructions = 1e9 / board.clock / REPEATS
    costs = {}
    for name, *numbers in re.findall(r"^(\w+) ([0-9a-f]{8}) ([0-9a-f]{8}) ([0-9a-f]{8})$", text, re.MULTILINE):
        least, most, stack = (int(number, 16) for number in numbers)
        costs[name] = Cost(least * instructions, most * instructions, stack)
    return _results(text), _results(run([folder / "measure"])), costs


def _results(text: str) -> dict[str, np.ndarray]:
    """Return the printed statuses and numbers of each function, (points, 1 + count)."""
    found: dict[str, list[list[float]]] = {}
    for name, status, numbers in re.findall(r"^:(\w+) ([0-9a-f]{8})((?: [0-9a-f]{8})*)$", text, re.MULTILINE):
        bits = np.array([int(item, 16) for item in numbers.split()], dtype=np.uint32)
        found.setdefault(name, []).append([float(int(status, 16)), *bits.view(np.float32).astype(float)])
    return {name: np.array(rows) for name, rows in found.items()}


def size_of(sources: Sequence[Path], folder: Path, board: Board, *, options: Sequence[str] = ()) -> Size:
    """Return the memory of compiled sources."""
    flash = ram = 0
    for source in sources:
        target = folder / f"{source.stem}.o"
        run([COMPILER, *FLAGS, *board.options, "-mthumb", "-mfloat-abi=hard", *options, "-c", source, "-o", target])
        text = run(["arm-none-eabi-size", "-A", target])
        for name, count in re.findall(r"^(\.\S+)\s+(\d+)", text, re.MULTILINE):
            flash += int(count) if name.startswith((".text", ".rodata")) else 0
            ram += int(count) if name.startswith((".data", ".bss")) else 0
    return Size(flash, ram)


def run(command: Sequence[object], folder: Path | None = None, timeout: float = 300.0) -> str:
    """Run a program in a folder and return what it prints; raise RuntimeError if it fails."""
    done = subprocess.run([str(item) for item in command], capture_output=True, text=True, check=False, timeout=timeout,
                          cwd=folder, stdin=subprocess.DEVNULL)  # fmt: skip
    if done.returncode:
        raise RuntimeError(
            f"{command[0]} failed with status {done.returncode}:\n{(done.stderr or done.stdout)[-3000:]}"
        )
    return done.stdout + done.stderr  # semihosting prints to standard error
