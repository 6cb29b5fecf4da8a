"""Help texts of options, read from the docstrings of the public functions that they belong to.

An option that corresponds to a parameter of `supple.reduce` has the text of that parameter: one place to edit, and
`help(supple.reduce)`, the reference pages and `supple reduce --help` cannot disagree. The source file is searched as
text, since importing the function would load numpy and take a hundred times longer.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import supple

MODEL, COST, OUTPUT = "Model", "Accuracy and computation", "Output"
"""Panels of options in the help of a command, after the options that it needs most."""
ANALYSE = "Analyse"
"""Panel of `supple --help` with the analyses, those of extensions included."""

_SECTION = re.compile(r"^\S.*\n-{3,}$", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=\.)\s+(?=[A-Z0-9\"'`{(])")


def help_of(function: str, parameter: str) -> str:
    """Return the short description of a parameter: its first sentence and its default.

    Parameters
    ----------
    function : str
        Public function, such as ``"reduce"`` or ``"control.lqr"``.
    parameter : str
        Name of its parameter.

    Returns
    -------
    str
        Text for `--help`, in one line.
    """
    entries = parameter_texts(function)
    if parameter not in entries:
        raise LookupError(f"the docstring of supple.{function} does not describe {parameter!r}")
    return entries[parameter]


@cache
def parameter_texts(function: str) -> dict[str, str]:
    """Return the short descriptions of all parameters of a public function, by name."""
    source = Path(supple.__file__).parent.joinpath(*vars(supple)["_HOMES"][function].split(".")[1:]).with_suffix(".py")
    text = source.read_text("utf-8")
    docstring = re.search(rf'^def {function}\(.*?^    r?"""(.*?)"""', text, re.DOTALL | re.MULTILINE)
    if docstring is None:
        raise LookupError(f"supple.{function} has no docstring")
    lines = [line.removeprefix("    ") for line in docstring[1].splitlines()]
    _, found, body = "\n".join(lines).partition("Parameters\n----------\n")
    if not found:
        raise LookupError(f"the docstring of supple.{function} has no section Parameters")
    return _entries(_SECTION.split(body, maxsplit=1)[0])


def _entries(section: str) -> dict[str, str]:
    """Split a section of numpydoc into its entries, and shorten each."""
    found: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", section.strip("\n")):
        head, _, description = entry.partition("\n")
        names, colon, _ = head.partition(" : ")
        if not colon:
            continue
        for name in names.split(","):
            found[name.strip().lstrip("*")] = _short(" ".join(description.split()))
    return found


def _short(description: str) -> str:
    """Keep the first sentence, and the one that states the default."""
    first, *others = _SENTENCE.split(description)
    kept = [first, *(item for item in others if item.startswith("Default") and item != "Default: False.")]
    return re.sub(r'Default: "(\S+)"', r"Default: \1", " ".join(kept))  # on a command line, names have no quotes
