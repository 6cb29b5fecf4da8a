"""Measure how long each example's study takes: python docs/site/measure_examples.py [NAME ...].

Each runs in a process of its own, kernels compiled (the first run is not counted if it had to compile). Written into
run_times.json beside this file, from which the gallery takes its times.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from gallery_page import TIMES, examples
from places import ROOT


def measured(name: str) -> float:
    """Return the processor time, s: the smaller of two runs, since the first may compile."""
    least = float("inf")
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, str(ROOT / "examples" / name / "study.py"), "--output", folder]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        if least < 1.0:
            break
    return round(least, 1)


def processor() -> str:
    """Return the name of the processor."""
    system = Path("/proc/cpuinfo")
    lines = system.read_text("utf-8").splitlines() if system.is_file() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "agg")
    found = json.loads(TIMES.read_text("utf-8")) if TIMES.is_file() else {"seconds": {}}
    for example in sys.argv[1:] or examples():
        found["seconds"][example] = measured(example)
        print(f"{example}: {found['seconds'][example]} s", flush=True)
    found["machine"] = f"{processor()}, Python {platform.python_version()}"
    found["seconds"] = dict(sorted(found["seconds"].items()))
    TIMES.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
