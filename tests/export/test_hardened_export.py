"""Exported C under other compilers, as C++, under sanitizers with any input, and its stated operations."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from supple.export.export import export

# Every bit pattern is a double: numbers of all sizes, infinities, and what is no number.
FUZZ = """
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "code.h"

static uint64_t seed = 88172645463325252u;

static double any(int tame)
{
    double value;
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    if (tame) return (double)(int64_t)seed / 9.3e18 * 3.0;
    memcpy(&value, &seed, sizeof value);
    return value;
}

int main(void)
{
    double x[CODE_STATES], u[@u@], rate[CODE_STATES], A[CODE_STATES][CODE_STATES], B[CODE_STATES][@u@];
    double y[@y@], C[@y@][CODE_STATES], D[@y@][@u@], values[CODE_COLUMNS];
    code_model model;
    long done = 0;
    int k, i;
    for (k = 0; k < 4000; ++k) {
        for (i = 0; i < CODE_STATES; ++i) x[i] = any(k % 4 != 0);
        for (i = 0; i < @u@; ++i) u[i] = any(k % 3 != 0);
        done += code_columns(x, values) == 0;
        done += code_coefficients(x, &model) == 0;
        done += code_derivative(0, x, u, rate) == 0;
        done += code_jacobian(0, x, u, rate, A, B) == 0;
        done += code_inverse(x, x + CODE_COORDINATES, x, rate) == 0;
@outputs@        done += code_step_explicit(0, x, u, any(1)) == 0;
        done += code_step_implicit(0, x, u, any(k % 2)) == 0;
    }
    (void)y, (void)C, (void)D;
    printf("%ld\\n", done);
    return done == 0;
}
"""
OUTPUTS = """\
        done += code_measure(0, x, u, y) == 0;
        done += code_output_jacobian(0, x, u, y, C, D) == 0;
"""
COUNTED = """
#include <cmath>
#include <cstdio>
#include <cstring>

static long count = 0;
struct counted {
    double v;
    counted() {}
    counted(double x) : v(x) {}
    explicit operator int() const { return (int)v; }
    counted &operator+=(counted o) { ++count; v += o.v; return *this; }
    counted &operator-=(counted o) { ++count; v -= o.v; return *this; }
    counted &operator*=(counted o) { ++count; v *= o.v; return *this; }
    counted &operator/=(counted o) { ++count; v /= o.v; return *this; }
};
static counted operator+(counted a, counted b) { ++count; return a.v + b.v; }
static counted operator-(counted a, counted b) { ++count; return a.v - b.v; }
static counted operator*(counted a, counted b) { ++count; return a.v * b.v; }
static counted operator/(counted a, counted b) { ++count; return a.v / b.v; }
static counted operator-(counted a) { return -a.v; }
static bool operator<(counted a, counted b) { return a.v < b.v; }
static bool operator>(counted a, counted b) { return a.v > b.v; }
static bool operator<=(counted a, counted b) { return a.v <= b.v; }
static bool operator>=(counted a, counted b) { return a.v >= b.v; }
static counted sqrt(counted a) { ++count; return std::sqrt(a.v); }
static counted tanh(counted a) { ++count; return std::tanh(a.v); }
static counted fabs(counted a) { ++count; return std::fabs(a.v); }
#define double counted
#include "code.c"
#undef double
int main()
{
    counted x[CODE_STATES] = {@x@}, u[@u@], r[CODE_STATES], A[CODE_STATES][CODE_STATES], B[CODE_STATES][@u@];
    counted values[CODE_COLUMNS];
    for (int i = 0; i < @u@; ++i) u[i] = 0.1;
    count = 0; code_columns(x, values); printf("columns %ld\\n", count);
    count = 0; code_inverse(x, x + CODE_COORDINATES, x, r); printf("inverse %ld\\n", count);
    count = 0; code_derivative(0, x, u, r); printf("forward, derivative %ld\\n", count);
    count = 0; code_jacobian(0, x, u, r, A, B); printf("jacobian %ld\\n", count);
    count = 0; code_step_explicit(0, x, u, counted(1e-6)); printf("step_explicit %ld\\n", count);
    count = 0; code_step_implicit(0, x, u, counted(1e-6)); printf("step_implicit %ld\\n", count);
    return 0;
}
"""


def run(*command):
    done = subprocess.run([str(item) for item in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[:3000]
    return done.stdout


def filled(template, rom):
    outputs = OUTPUTS if rom.layout.outputs else ""
    sizes = {"u": str(len(rom.layout.inputs)), "y": str(max(1, len(rom.layout.outputs))), "outputs": outputs}
    return re.sub(r"@(\w+)@", lambda found: sizes.get(found.group(1), found.group()), template)


@pytest.mark.slow
@pytest.mark.parametrize("clamp", [0, 1])
def test_no_input_reads_outside_or_is_undefined(machine, cc, tmp_path, clamp):
    _, source, *_ = export(machine, tmp_path, prefix="code")
    (tmp_path / "fuzz.c").write_text(filled(FUZZ, machine))
    sanitize = [
        "-fsanitize=address,undefined,float-cast-overflow",
        "-fno-sanitize-recover=all",
        f"-DCODE_CLAMP={clamp}",
    ]
    run(cc, "-std=c99", "-O1", *sanitize, source, tmp_path / "fuzz.c", "-lm", "-o", tmp_path / "fuzz")
    assert int(run(tmp_path / "fuzz")) > 50


@pytest.mark.slow
def test_clang_and_cxx_take_it_without_a_warning(machine, strict, cxx, tmp_path):
    files = export(machine, tmp_path, prefix="code")
    sources = [file for file in files if file.suffix == ".c"]
    for source in sources:
        run(cxx, "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-x", "c++", "-c", source,
            "-o", tmp_path / "x.o")  # fmt: skip
    clang = shutil.which("clang")
    if clang is None:
        pytest.skip("clang was not found")
    for precision in ("double", "single"):
        for source in [
            file for file in export(machine, tmp_path, prefix="code", precision=precision) if file.suffix == ".c"
        ]:
            run(clang, *strict, "-c", source, "-o", tmp_path / "x.o")


def test_it_builds_and_tests_itself(machine, tmp_path):
    if shutil.which("make") is None:
        pytest.skip("make was not found")
    export(machine, tmp_path, precision="single" if machine.name == "orthoglide" else "double")
    assert "FAILED" not in run("make", "-C", tmp_path, "test", "CFLAGS=-O1 -Werror")


def test_the_header_names_a_bound_on_operations(machine, cxx, tmp_path):
    """Counted by a type that counts, in the code as it runs."""
    header, *_ = export(machine, tmp_path, prefix="code")
    stated = {name: int(count) for name, count in re.findall(r"^ \*     ([\w, ]+): (\d+)$", header.read_text(), re.M)}
    center = machine.fitted.arrays.leaves_f[0, 0]
    x = [*center, *[0.0] * (machine.layout.size - len(center)), *[0.01] * machine.layout.size]
    text = filled(COUNTED, machine).replace("@x@", ", ".join(map(repr, map(float, x))))
    (tmp_path / "count.cpp").write_text(text)
    run(cxx, "-std=c++11", "-O1", "-w", tmp_path / "count.cpp", "-o", tmp_path / "count")
    found = dict(re.findall(r"^([\w, ]+) (\d+)$", run(tmp_path / "count"), re.M))
    assert set(found) <= set(stated)
    assert len(found) == 6
    for name, count in found.items():
        # A bound, and no more than three times what is done.
        assert int(count) <= stated[name] <= 3 * int(count), (name, count, stated[name])
