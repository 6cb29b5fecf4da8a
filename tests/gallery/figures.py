"""Figures in the README of an example, and those that its study prints."""

import re

_FIGURE = re.compile(r"(?<![\w.])-?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?![\w])(?: ?%)?")
# What is asked for, not measured: code, angles and links, steps and tolerances. "About 300" differs among processors.
_NOT_FIGURES = re.compile(r"`[^`]*`|\d+°|\[[^\]]*\](?:\([^)]*\))?|\b(?:step|tolerance|about) [\d.e-]+")
_OTHER_SCRIPT = re.compile(r"python (?:examples/[\w-]+/)?(?!study)\w+\.py|`(?:control|feedforward|mpc)\.py`")


def measured_tables(readme: str) -> str:
    """Rows of tables in sections that name no other script than the study; their heads are left out."""
    found = []
    for section in re.split(r"^## ", readme, flags=re.M):
        if _OTHER_SCRIPT.search(section) and not section.startswith("# "):  # the first one lists all commands
            continue
        for table in re.findall(r"(?:^\|.*\n)+", section, flags=re.M):
            found += table.splitlines()[2:]
    return "\n".join(found)


def figures(text: str) -> list[str]:
    """Figures of two digits and more that are measured: with decimals or an exponent, or whole ones from 100 on."""
    found = [item.group().strip() for item in _FIGURE.finditer(_NOT_FIGURES.sub(" ", text))]
    return [item for item in found if _digits(item) >= (2 if re.search(r"[.e]", item) else 3)]


def unprinted(text: str, output: str) -> list[str]:
    """Figures of a text that no number of the output rounds to."""
    printed = [(abs(_value(item)), _unit(item)) for item in (m.group().strip() for m in _FIGURE.finditer(output))]
    return [item for item in figures(text) if not any(_same(item, *other) for other in printed)]


def _same(figure: str, value: float, unit: float) -> bool:
    """Whether a printed number, of at least as many decimals, rounds to the figure; signs are a matter of words."""
    last = _unit(figure) * (1.0 + 1e-6)
    return unit <= last and abs(abs(_value(figure)) - value) <= 0.5 * last


def _value(figure: str) -> float:
    number = float(figure.rstrip("% "))
    return number / 100.0 if figure.endswith("%") else number


def _unit(figure: str) -> float:
    """Of its last digit."""
    mantissa, _, exponent = figure.rstrip("% ").partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return unit / 100.0 if figure.endswith("%") else unit


def _digits(figure: str) -> int:
    return len(re.sub(r"e.*|[-.% ]", "", figure).lstrip("0"))
