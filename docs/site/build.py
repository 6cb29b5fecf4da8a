"""Build the documentation site: python docs/site/build.py [--output build/site]."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def build(output: Path, *, quiet: bool = False) -> int:
    """Write sources into OUTPUT/source and the site into OUTPUT/html; return a non-zero status after any warning."""
    from numpydoc_sections import faults
    from sphinx.cmd.build import main
    from stage import stage

    if found := list(faults()):
        print("docstrings:", *found, sep="\n  ", file=sys.stderr)
        return 1
    source = output / "source"
    stage(source, output / "cache")
    settings = ["-a", "-W", "--keep-going", "-c", str(HERE), "-d", str(output / "doctrees"), *(["-q"] if quiet else [])]
    return main(["-b", "html", *settings, str(source), str(output / "html")])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=HERE.parents[1] / "build" / "site")
    parser.add_argument("--quiet", action="store_true")
    given = parser.parse_args()
    start = time.perf_counter()
    os.environ.setdefault("MPLBACKEND", "agg")
    status = build(given.output.resolve(), quiet=given.quiet)
    print(f"{given.output / 'html' / 'index.html'} ({time.perf_counter() - start:.0f} s)" if status == 0 else "failed")
    sys.exit(status)
