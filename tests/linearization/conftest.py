"""Helpers of these tests, and the random mechanisms that stand beside the laws."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "laws")]
