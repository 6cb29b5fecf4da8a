"""`supple schema`: the JSON Schema of the mechanism file."""

from __future__ import annotations

from supple.cli.answer import answering
from supple.cli.options import Json


def schema(as_json: Json = False) -> None:
    """Print the JSON Schema of the mechanism file, for editors."""
    with answering(as_json) as answer:
        from supple.formats.schema import schema as generated
        from supple.formats.schema import schema_text

        answer.give(generated() if as_json else {}, lambda: print(schema_text(), end=""))
