"""Check a release as a user would get it: `python packaging/check_wheel.py dist/supple-*.whl dist/supple-*.tar.gz`.

It builds the wheel a second time, which must give the same bytes, and a wheel from the source archive. It installs the
first wheel into a new virtual environment, runs `supple doctor` and the terminal example of the README there, and then
`make quick`'s tests against the installed package instead of the source tree. No kernel of supple may be compiled.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from uses import entry_kernels

ROOT = Path(__file__).resolve().parents[1]
MOST_BYTES = 8e6  # of a wheel


def main() -> None:
    """Run the command line."""
    wheel, archive = (Path(name).resolve() for name in sys.argv[1:3])
    if wheel.stat().st_size > MOST_BYTES:
        sys.exit(f"{wheel.name} has {wheel.stat().st_size / 1e6:.1f} MB; at most {MOST_BYTES / 1e6:.0f} MB are allowed")
    check_tag(wheel)
    check_builds(wheel, archive)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        subprocess.run([sys.executable, "-m", "venv", home / "env"], check=True)
        python = home / "env/bin/python"
        environment = {
            **os.environ, "PATH": f"{home / 'env/bin'}:/usr/bin:/bin", "SUPPLE_CACHE_DIR": str(home / "cache"),
            "HOME": folder,
        }  # fmt: skip
        environment.pop("PYTHONPATH", None)

        def run(*command: object, where: Path = home) -> str:
            print("$", *command, flush=True)
            done = subprocess.run(
                [str(item) for item in command], cwd=where, env=environment, text=True, stdout=subprocess.PIPE
            )
            if done.returncode:
                sys.exit(f"{done.stdout}\nexit status {done.returncode}")
            return done.stdout

        pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        run(*pip, wheel)
        doctor = json.loads(run("supple", "doctor", "--json"))
        print(f"supple {doctor['supple']}, precompiled: {doctor['precompiled']}")
        if "none-any" not in wheel.name and doctor["precompiled"]["level"] is None:
            sys.exit("the kernels of the wheel are not used")
        for line in terminal_example():
            run(*shlex.split(line))
        carried = doctor["precompiled"]["level"] is not None
        if carried:
            check_cache(home / "cache")
        run(*pip, f"{wheel}[test]")
        place = run(python, "-c", "import supple; print(supple.__file__)", where=ROOT / "tests").strip()
        if not place.startswith(folder):
            sys.exit(f"tests would take supple from {place}")
        command = (python, "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", "--quick", "-p", "no:cacheprovider")
        print(run(*command, where=ROOT).splitlines()[-1])
        if carried:
            check_cache(home / "cache")


def check_builds(wheel: Path, archive: Path) -> None:
    """Build the wheel again, from the clone and from the source archive."""
    with tempfile.TemporaryDirectory() as folder:
        build = (sys.executable, "-m", "build", "--wheel", "--outdir", folder)
        subprocess.run([*build, ROOT], check=True, stdout=subprocess.DEVNULL)
        (again,) = Path(folder).glob("*.whl")
        if (again.name, again.read_bytes()) != (wheel.name, wheel.read_bytes()):
            sys.exit(f"a second build of {wheel.name} differs from the first: {', '.join(differences(wheel, again))}")
        again.unlink()
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        (unpacked,) = Path(folder).iterdir()
        subprocess.run([*build, unpacked], check=True, stdout=subprocess.DEVNULL)
        (plain,) = Path(folder).glob("*.whl")
        own = re.compile(r"supple/compilation/precompiled/|[^/]*\.dist-info/")
        lost = {name for name in names_in(wheel) if not own.match(name)} ^ {
            name for name in names_in(plain) if not own.match(name)
        }
        if lost:
            sys.exit(f"the wheel of {archive.name} has other files than {wheel.name}: {', '.join(sorted(lost))}")
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, built twice; {plain.name} of {archive.name}")


def check_tag(wheel: Path) -> None:
    """Stop if pip would install a wheel with kernels for another Python, or with another minor version of numba."""
    if "none-any" in wheel.name:
        return
    other = f"{sys.version_info.major}.{sys.version_info.minor + 1}"
    with tempfile.TemporaryDirectory() as folder:
        pip = (sys.executable, "-m", "pip", "download", "--no-index", "--no-deps", "--only-binary=:all:", "-d", folder)
        found = subprocess.run([*pip, "--python-version", other, wheel], capture_output=True, text=True)
        if found.returncode == 0 or "is not a supported wheel" not in found.stderr:
            sys.exit(f"pip would install {wheel.name} for Python {other}")
    with zipfile.ZipFile(wheel) as packed:
        (metadata,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        pinned = re.search(r"^Requires-Dist: numba==\d+\.\d+\.\*$", packed.read(metadata).decode(), re.MULTILINE)
    if not pinned:
        sys.exit(f"{wheel.name} does not require the minor version of numba that compiled its kernels")


def names_in(wheel: Path) -> set[str]:
    """Return the names of the files in a wheel."""
    with zipfile.ZipFile(wheel) as packed:
        return set(packed.namelist())


def differences(first: Path, second: Path) -> list[str]:
    """Return the names of the files in which two wheels differ."""
    with zipfile.ZipFile(first) as a, zipfile.ZipFile(second) as b:
        names = [{item.filename: item.CRC for item in packed.infolist()} for packed in (a, b)]
    return sorted(name for name in {*names[0], *names[1]} if names[0].get(name) != names[1].get(name))


def check_cache(cache: Path) -> None:
    """Stop if kernels of supple were compiled although the wheel carries them; tests compile kernels of their own."""
    compiled = {file.parent.name.removesuffix("-fused").rpartition("-")[0] for file in cache.glob("*/*.code")}
    if compiled & entry_kernels():
        sys.exit(f"compiled, though the wheel carries kernels: {', '.join(sorted(compiled & entry_kernels()))}")


def terminal_example() -> list[str]:
    """Return the commands of the README's section on the command line."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"^## On the command line\n+```\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert block is not None
    return [line.partition("#")[0].strip() for line in block[1].splitlines() if line.strip()]


if __name__ == "__main__":
    main()
