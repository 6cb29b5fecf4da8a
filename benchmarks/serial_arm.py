"""RNEA and ABA of serial arms with Pinocchio: its C++ templates, and C code that CasADi generates from them.

    python benchmarks/serial_arm.py [--joints 2 3 4 6] [--core N]

Both are compiled with -O3 -march=native -DNDEBUG into one library. The arms have revolute joints about z, y, y, z, y,
y, ..., links with offsets along two axes and diagonal inertias, so that generated code can leave out many products.
Headers come from the packages pin and casadi. The library is kept in a folder, because compilation takes two minutes.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import importlib.util
import os
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

JOINTS = (2, 3, 4, 6)
ALGORITHMS = ("RNEA", "ABA", "RNEA, generated", "ABA, generated")
BUILD = Path("build/serial-arm")
DEFINED = ["-DNDEBUG", "-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
           "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_FUSION_INVOKE_MAX_ARITY=12"]  # fmt: skip
ARM = """
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/algorithm/aba.hpp>

static pinocchio::Model arm(int joints)
{
    using namespace pinocchio;
    Model model;
    JointIndex parent = 0;
    for (int i = 0; i < joints; ++i) {
        const SE3 place(Eigen::Matrix3d::Identity(), Eigen::Vector3d(i ? 0.1 : 0.0, 0.0, i ? 0.4 : 0.0));
        const std::string name = "joint " + std::to_string(i);
        parent = i % 3 ? model.addJoint(parent, JointModelRY(), place, name)
                       : model.addJoint(parent, JointModelRZ(), place, name);
        const Eigen::Matrix3d inertia = Eigen::Vector3d(0.03, 0.04, 0.01).asDiagonal();
        model.appendBodyToJoint(parent, Inertia(2.0, Eigen::Vector3d(0.05, 0.0, 0.2), inertia), SE3::Identity());
    }
    return model;
}
"""
GENERATOR = """
#include <pinocchio/autodiff/casadi.hpp>
#include <casadi/casadi.hpp>
#include "arm.h"

typedef ::casadi::SX Symbol;
typedef Eigen::Matrix<Symbol, Eigen::Dynamic, 1> Symbols;

static Symbol column(const Symbols &x)
{
    Symbol y(x.size(), 1);
    for (int i = 0; i < x.size(); ++i) y(i) = x[i];
    return y;
}

static Symbols symbols(const Symbol &x)
{
    Symbols y(x.size1());
    for (int i = 0; i < y.size(); ++i) y[i] = x(i);
    return y;
}

int main(int count, char **joints)
{
    ::casadi::CodeGenerator code("generated.c");
    for (int k = 1; k < count; ++k) {
        const std::string name = joints[k];
        const int n = std::stoi(name);
        pinocchio::ModelTpl<Symbol> model = arm(n).cast<Symbol>();
        pinocchio::DataTpl<Symbol> data(model);
        const Symbol q = Symbol::sym("q", n), v = Symbol::sym("v", n), a = Symbol::sym("a", n);
        pinocchio::rnea(model, data, symbols(q), symbols(v), symbols(a));
        code.add(::casadi::Function("rnea_" + name, {q, v, a}, {column(data.tau)}));
        pinocchio::aba(model, data, symbols(q), symbols(v), symbols(a));
        code.add(::casadi::Function("aba_" + name, {q, v, a}, {column(data.ddq)}));
    }
    code.generate();
}
"""
TIMED = """
#include <time.h>
#include <map>
#include <vector>
#include "arm.h"
#include "generated.h"

namespace {
enum { STATES = 1024 };
struct Arm {
    pinocchio::Model model;
    pinocchio::Data data;
    std::vector<Eigen::VectorXd> q, v, a, found;
    explicit Arm(int joints) : model(arm(joints)), data(model)
    {
        for (int k = 0; k < STATES; ++k) {
            q.push_back(3.0 * Eigen::VectorXd::Random(joints));
            v.push_back(Eigen::VectorXd::Random(joints));
            a.push_back(Eigen::VectorXd::Random(joints));
        }
        found = a;
    }
};

double now()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)(t.tv_sec & 0xffff) + (double)t.tv_nsec;
}

void generated(Arm &arm, Call call)
{
    static double w[1 << 16];
    for (int k = 0; k < STATES; ++k) {
        const double *given[] = {arm.q[k].data(), arm.v[k].data(), arm.a[k].data()};
        double *out[] = {arm.found[k].data()};
        call(given, out, nullptr, w, 0);
    }
}

void pass(Arm &arm, int joints, int algorithm)
{
    if (algorithm == 0)
        for (int k = 0; k < STATES; ++k) arm.found[k] = rnea(arm.model, arm.data, arm.q[k], arm.v[k], arm.a[k]);
    else if (algorithm == 1)
        for (int k = 0; k < STATES; ++k) arm.found[k] = aba(arm.model, arm.data, arm.q[k], arm.v[k], arm.a[k]);
    else
        generated(arm, generated_calls(joints, algorithm - 2));
}
}

/* Time of a call in ns, in the second of two passes through all states: the first one loads the cache. */
extern "C" double arm_time(int joints, int algorithm)
{
    static std::map<int, Arm> arms;
    Arm &arm = arms.try_emplace(joints, joints).first->second;
    pass(arm, joints, algorithm);
    const double start = now();
    pass(arm, joints, algorithm);
    return (now() - start) / STATES;
}

/* Largest difference between the C++ templates and the generated code, relative to the largest result. */
extern "C" double arm_difference(int joints, int algorithm)
{
    Arm one(joints), other(joints);
    other.q = one.q, other.v = one.v, other.a = one.a;
    generated(other, generated_calls(joints, algorithm));
    double apart = 0.0, largest = 0.0;
    for (int k = 0; k < STATES; ++k) {
        const Eigen::VectorXd &q = one.q[k], &v = one.v[k], &a = one.a[k];
        const Eigen::VectorXd expected = algorithm == 0 ? rnea(one.model, one.data, q, v, a)
                                                        : aba(one.model, one.data, q, v, a);
        apart = std::max(apart, (other.found[k] - expected).cwiseAbs().maxCoeff());
        largest = std::max(largest, expected.cwiseAbs().maxCoeff());
    }
    return apart / largest;
}
"""


class Times(NamedTuple):
    """Times of a call over interleaved rounds in ns."""

    least: float
    middle: float

    @property
    def spread(self) -> float:
        """Difference between the median and the shortest time, relative to the latter."""
        return self.middle / self.least - 1.0


def interleaved(passes: dict[Any, Callable[[], float]], rounds: int, core: int | None = None) -> dict[Any, Times]:
    """Return the times of all passes, each run once in every round, on one processor core."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed) if core is None else core})
    found: dict[Any, list[float]] = {name: [] for name in passes}
    try:
        for _ in range(rounds):
            for name, one in passes.items():
                found[name].append(one())
    finally:
        os.sched_setaffinity(0, allowed)
    return {name: Times(min(times), median(times)) for name, times in found.items()}


def package_folder(name: str) -> Path:
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"{name} is missing: pip install 'supple[bench]'")
    return Path(found.origin).parent


def _table(joints: Iterable[int]) -> str:
    declared = "typedef int (*Call)(const double **, double **, long long *, double *, int);\n"
    declared += 'extern "C" {\n'
    chosen = ""
    for n in joints:
        for k, name in enumerate(("rnea", "aba")):
            declared += f"int {name}_{n}(const double **, double **, long long *, double *, int);\n"
            chosen += f"    if (joints == {n} && algorithm == {k}) return {name}_{n};\n"
    return (
        declared
        + "}\nstatic Call generated_calls(int joints, int algorithm)\n{\n"
        + chosen
        + "    return nullptr;\n}\n"
    )


def built(joints: list[int], folder: Path = BUILD) -> Path:
    """Compile the library for some numbers of joints, unless the folder has it, and return its file."""
    casadi = package_folder("casadi")
    prefix = next((path for path in package_folder("pinocchio").parents if path.name == "cmeel.prefix"), None)
    if prefix is None or not (prefix / "include/pinocchio").is_dir():
        raise ModuleNotFoundError("this installation of Pinocchio has no headers beside it: pip install pin")
    text = ARM + GENERATOR + TIMED + repr((joints, DEFINED, str(prefix)))
    folder = folder.resolve() / hashlib.sha256(text.encode()).hexdigest()[:12]
    library = folder / "arms.so"
    if library.exists():
        return library
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in (
        ("arm.h", ARM),
        ("generator.cpp", GENERATOR),
        ("timed.cpp", TIMED),
        ("generated.h", _table(joints)),
    ):
        (folder / name).write_text(part)
    headers = [f"-I{folder}", f"-I{prefix / 'include'}", f"-I{casadi / 'include'}", f"-I{casadi / 'include/eigen3'}"]
    linked = [f"-L{casadi}", "-lcasadi", f"-Wl,-rpath,{casadi}"]
    optimized = ["-O3", "-march=native", "-fPIC", *DEFINED]
    for command in (
        ["g++", "-std=c++17", "-O0", *DEFINED, *headers, "generator.cpp", *linked, "-o", "generator"],
        ["./generator", *map(str, joints)],
        ["gcc", *optimized, "-c", "generated.c", "-o", "generated.o"],
        ["g++", "-std=c++17", *optimized, *headers, "timed.cpp", "generated.o", "-shared", "-o", "made.so"],
    ):
        subprocess.run(command, check=True, cwd=folder, capture_output=True)
    return (folder / "made.so").rename(library)


def passes(joints: list[int], folder: Path = BUILD) -> dict[tuple[int, str], Callable[[], float]]:
    """Return a function for each arm and algorithm that runs it at 1024 states and returns ns per call."""
    library = ctypes.CDLL(str(built(joints, folder)))
    for function in (library.arm_time, library.arm_difference):
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_int, ctypes.c_int]
    for n in joints:
        for k, name in enumerate(ALGORITHMS[:2]):
            apart = library.arm_difference(n, k)
            if not apart < 1e-9:
                raise AssertionError(f"{name} of {n} joints: generated code and templates are {apart:.1e} apart")
    return {(n, name): (lambda n=n, k=k: library.arm_time(n, k)) for n in joints for k, name in enumerate(ALGORITHMS)}


def report(times: dict[tuple[int, str], Times]) -> None:
    """Print the times of the arms."""
    print("| joints |", *(f"{name}, ns |" for name in ALGORITHMS), "spread |")
    print("|---" * (len(ALGORITHMS) + 2) + "|")
    for n in sorted({n for n, _ in times}):
        row = [times[n, name] for name in ALGORITHMS]
        print(f"| {n} |", *(f"{item.least:.0f} |" for item in row), f"{max(item.spread for item in row):.0%} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joints", type=int, nargs="+", default=JOINTS)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--core", type=int, help="processor core of the timed calls; default: the last one")
    given = parser.parse_args()
    try:
        work = passes(sorted(given.joints))
    except ModuleNotFoundError as error:
        print(error)
        return
    begun = time.perf_counter()
    report(interleaved(work, given.rounds, given.core))
    print(f"shortest of {given.rounds} interleaved rounds, {time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
