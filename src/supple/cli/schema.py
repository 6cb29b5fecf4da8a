"""`supple schema`: the JSON Schema of the mechanism file."""

from __future__ import annotations

import sys

from supple.cli.answer import open_answer
from supple.cli.options import Json


def schema(as_json: Json = False) -> None:
    """Print the JSON Schema of the mechanism file, for editors."""
    with open_answer(as_json) as answer:
        from supple.formats.json_schema import mechanism_schema as generated
        from supple.formats.json_schema import schema_text

        answer.give(generated() if as_json else {}, lambda: _print_json(schema_text()))


def _print_json(text: str) -> None:
    """Print a JSON text in UTF-8 (RFC 8259, section 8.1), independent of the locale."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")
    print(text, end="")
