"""Check a wheel as a user would get it: `python packaging/check_wheel.py dist/supple-*.whl`.

It installs the wheel into a new virtual environment, runs `supple doctor` and the terminal example of the README
there, and then `make quick`'s tests against the installed package instead of the source tree.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Run the command line."""
    wheel = Path(sys.argv[1]).resolve()
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
        compiled = [file.parent.name for file in (home / "cache").glob("*/*.code")]
        if doctor["precompiled"]["level"] and compiled:
            sys.exit(f"compiled, though the wheel carries kernels: {', '.join(compiled)}")
        run(*pip, f"{wheel}[test]")
        place = run(python, "-c", "import supple; print(supple.__file__)", where=ROOT / "tests").strip()
        if not place.startswith(folder):
            sys.exit(f"tests would take supple from {place}")
        command = (python, "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", "--quick", "-p", "no:cacheprovider")
        print(run(*command, where=ROOT).splitlines()[-1])


def terminal_example() -> list[str]:
    """Return the commands of the README's section on the command line."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"^## On the command line\n+```\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert block is not None
    return [line.partition("#")[0].strip() for line in block[1].splitlines() if line.strip()]


if __name__ == "__main__":
    main()
