"""`supple examples`: list, read, copy or run the bundled examples."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from supple.cli import bundled
from supple.cli.answer import Answer, open_answer
from supple.cli.options import Json
from supple.diagnostics import InputError, NumericalError
from supple.diagnostics.errors import excerpt
from supple.files.whole import folder_beside

_STANDARD_ERROR = 2


def examples(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Name of an example. Default: list all.")] = None,
    copy: Annotated[Path | None, typer.Option("--copy", metavar="DIR", help="Folder to copy the example into.")] = None,
    run: Annotated[bool, typer.Option("--run", help="Run the study of the example.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--folder",
            metavar="DIR",
            help="Folder for the results of the study. Default: NAME-results.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the bundled examples; read, copy or run one."""
    if name is None and (copy is not None or run):
        raise typer.BadParameter("--copy and --run need an example: supple examples NAME --run", param_hint="NAME")
    if output is not None and not run:
        raise typer.BadParameter("only --run writes results; add --run or leave --folder out", param_hint="--folder")
    if copy is not None and run:
        raise typer.BadParameter(
            "--copy and --run exclude each other; copy first, then run study.py of the copy", param_hint="--run"
        )
    with open_answer(as_json) as answer:
        if name is None:
            _list(answer)
        elif copy is not None:
            _copy(answer, name, copy)
        elif run:
            _run(answer, name, output if output is not None else Path(f"{name}-results"))
        else:
            _read(answer, name)


def _list(answer: Answer) -> None:
    found = {name: bundled.example_summary(folder) for name, folder in bundled.example_folders().items()}

    def show() -> None:
        width = max(map(len, found), default=0)
        for name, text in found.items():
            print(f"{name:<{width}}  {text}")
        if not found:
            print("this installation has no examples")

    data = [{"name": name, "description": text} for name, text in found.items()]
    answer.give({"examples": data}, show)


def _read(answer: Answer, name: str) -> None:
    folder = bundled.example_folder(name)
    readme = folder / bundled.README
    text = readme.read_text("utf-8") if readme.is_file() else bundled.example_summary(folder)
    data = {
        "name": name,
        "description": bundled.example_summary(folder),
        "folder": str(folder),
        "files": sorted(item.name for item in folder.iterdir() if item.is_file()),
        "readme": text,
    }

    def show() -> None:
        if sys.stdout.isatty():
            from rich.console import Console
            from rich.markdown import Markdown

            Console().print(Markdown(text))
        else:
            print(text, end="" if text.endswith("\n") else "\n")

    answer.give(data, show)


def _copy(answer: Answer, name: str, into: Path) -> None:
    folder, target = bundled.example_folder(name), into / name
    if target.exists():
        raise InputError(
            "this folder already exists", file=str(target), hint="copy into another folder, or remove it first"
        )
    try:
        with folder_beside(target) as beside:
            shutil.copytree(folder, beside, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    except OSError as error:
        reason = error.args[0][0][2] if isinstance(error, shutil.Error) else error.strerror or str(error)
        first = reason.partition("] ")[2].partition(":")[0] or reason  # [Errno 28] No space left on device: 'a' -> 'b'
        raise InputError(
            f"cannot be written ({excerpt(first)}); nothing was copied",
            file=str(target),
            hint="copy into another folder",
        ) from None
    files = sorted(str(item.relative_to(target)) for item in target.rglob("*") if item.is_file())
    data = {"name": name, "folder": str(target), "files": files}
    answer.give(data, lambda: print(f"copied {len(files)} files to {target}"))


def _run(answer: Answer, name: str, output: Path) -> None:
    study = bundled.example_folder(name) / bundled.STUDY
    if not study.is_file():
        raise InputError("this example has no study", part=f'example "{name}"', hint=f"supple check {name}")
    start = time.perf_counter()
    # With --json, standard output holds one object, so the study prints to standard error.
    stream = _STANDARD_ERROR if answer.as_json else None
    command = [sys.executable, str(study), "--output", str(output)]
    status = subprocess.run(command, stdout=stream, check=False).returncode
    if status:
        raise NumericalError(
            f"the study ended with exit status {status}", part=f'example "{name}"', hint="see its output above"
        )
    data = {"name": name, "output": str(output), "seconds": time.perf_counter() - start}
    answer.give(data, lambda: print(f"results written to {output}"))
