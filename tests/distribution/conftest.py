"""The cluster that is put to the test, and the comparison of models, stand in modules of their own."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "torture")]
