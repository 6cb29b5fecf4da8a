"""A reduced model as one Python file: the evaluator as it stands here, and the model's data behind it."""

from __future__ import annotations

import base64
import json
import zlib
from importlib import resources

from supple.export.c.model import Exportable
from supple.export.plain.plain_model import plain_model
from supple.export.target import ExportTarget

_LINE = 100  # characters of data in a line
_TAIL = '''

# The model: JSON, compressed. Nothing of it is run.
_PACKED = """
{packed}
"""

DATA = json.loads(zlib.decompress(base64.b85decode("".join(_PACKED.split()))))
MODEL = Model(DATA)


if __name__ == "__main__":
    middle = np.mean(MODEL.roots[0][0], axis=0)
    print(MODEL.name, "with", ", ".join(MODEL.coordinate_names))
    print("M at", middle)
    print(MODEL.coefficients(middle)["M"])
'''


def numpy_files(rom: Exportable, prefix: str) -> dict[str, str]:
    """One file, `PREFIX.py`: `from PREFIX import MODEL`."""
    source = resources.files("supple.export.numpy_file").joinpath("evaluator.py").read_text("utf-8")
    head = source.replace("import numpy as np\n", "import base64\nimport json\nimport zlib\n\nimport numpy as np\n", 1)
    head = head.replace("model = Model(DATA)", f"from {prefix} import MODEL as model", 1)
    data = json.dumps(plain_model(rom), allow_nan=False).encode("utf-8")
    packed = base64.b85encode(zlib.compress(data, 9)).decode("ascii")
    lines = "\n".join(packed[i : i + _LINE] for i in range(0, len(packed), _LINE))
    return {f"{prefix}.py": head + _TAIL.format(packed=lines)}


NUMPY = ExportTarget("numpy", "one Python file that needs NumPy alone", numpy_files)
