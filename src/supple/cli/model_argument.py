"""ROM as an argument: a saved reduced model, and configurations of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from supple.cli.answer import Answer
from supple.cli.options import configuration

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel

Rom = Annotated[
    str, typer.Argument(metavar="ROM", help="A reduced model, as `supple reduce` writes it.", show_default=False)
]


def read_model(answer: Answer, file: str) -> ReducedModel:
    """The reduced model in a file."""
    from supple.reduced.file import load_model

    return load_model(file)


def model_configuration(model: ReducedModel, at: str | None) -> list[float]:
    """θ as `--at` names it, with the configurations and the rest of the mechanism the model was made from."""
    from supple.formats.mechanism_file import loads
    from supple.kinematics.configuration import coordinate_values

    mechanism = loads(model.provenance["description"], name=f"the description in {model.name}")
    return [float(value) for value in coordinate_values(mechanism, configuration(mechanism, at))]
