"""Compile all kernels for levels of this processor family, for a wheel: `python packaging/precompile.py`.

Each level is compiled in a process of its own, with numba's target set to the level instead of this processor. The
kernels are those of `supple warmup` and of `uses.py`. Their code goes to build/precompiled, which the next wheel
includes if the source has not changed since. Compiled code is kept in build/kernels, so that a second call compiles
only what has changed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "kernels"
RESULT = ROOT / "build" / "precompiled"
LEFT_OUT = {"x86-64-v4"}  # as fast as v3 (kernels are short loops over small matrices), for a third of the wheel's size


def main() -> None:
    """Run the command line."""
    from supple.compilation import precompiled
    from supple.compilation.kernel import code_in

    family = precompiled.LEVELS.get(platform.machine(), {})
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    usual = ",".join(level for level in family if level not in LEFT_OUT)
    parser.add_argument("--levels", default=usual, help=f"Levels, of {', '.join(family)}. Default: {usual}.")
    parser.add_argument("--compile", metavar="FILE", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.compile:
        compile_here(asked.compile)
        return
    levels = [level for level in asked.levels.split(",") if level]
    if not levels:
        sys.exit(f"no levels are known for {platform.machine()}; a wheel without kernels compiles them on first use")
    for level in list(levels):
        lacking = sorted(family[level] - precompiled.processor_flags())
        if lacking:  # kernels are called once to compile them
            print(f"{level}: left out, this processor lacks {', '.join(lacking)}", file=sys.stderr)
            levels.remove(level)
    with ThreadPoolExecutor(max(1, min(len(levels), os.cpu_count() or 1))) as pool:
        used = dict(zip(levels, pool.map(compile_level, levels), strict=True))
    found = {
        level: {
            (kernel, signature): code_in(file)
            for kernel, signature in used[level]
            for file in (WORK / level / kernel).glob(f"{signature}-*.code")
        }
        for level in levels
    }
    shutil.rmtree(RESULT, ignore_errors=True)
    size = precompiled.pack(found, RESULT, source=precompiled.source_digest(ROOT / "src" / "supple"))
    for level in levels:
        bytes_of_level = (RESULT / f"{level}.kernels").stat().st_size
        print(f"{level}: {len(found[level])} kernels, {bytes_of_level / 1e6:.2f} MB")
    print(f"written to {RESULT.relative_to(ROOT)}, {size / 1e6:.2f} MB")


def compile_level(level: str) -> list[tuple[str, str]]:
    """Compile the kernels of a level in a new process; return the kernels and signatures in use."""
    folder = WORK / level
    folder.mkdir(parents=True, exist_ok=True)
    used = folder / "used.json"
    environment = os.environ | {
        "NUMBA_CPU_NAME": level if platform.machine() == "x86_64" else "generic",
        "NUMBA_CPU_FEATURES": "",
        "SUPPLE_CACHE_DIR": str(folder),
        "SUPPLE_KERNEL_LEVEL": "native",  # not those of an installed wheel
        "SUPPLE_KERNELS": "compiled",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
    }
    subprocess.run([sys.executable, __file__, "--compile", str(used)], env=environment, check=True)
    return [(kernel, signature) for kernel, signature in json.loads(used.read_text("utf-8"))]


def compile_here(file: Path) -> None:
    """Compile all kernels for the target of this process, and write which ones are in use."""
    from uses import entry_kernels, run_all

    from supple.cli.warmup import CHAINS, run_chain
    from supple.compilation.kernel import loaded

    for chain in range(len(CHAINS)):
        run_chain(chain)
    done, skipped = run_all()
    print(f"{len(loaded)} kernels, {done} calls, {skipped} that a mechanism does not support", flush=True)
    missing = entry_kernels() - {kernel.removesuffix("-fused").rpartition("-")[0] for kernel, _ in loaded}
    if missing:
        sys.exit(f"no call in packaging/uses.py uses {', '.join(sorted(missing))}; add one, so that the wheel has them")
    file.write_text(json.dumps(sorted(loaded)), encoding="utf-8")


if __name__ == "__main__":
    main()
