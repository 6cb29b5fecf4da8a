"""Structures whose modes are known stand beside the tests that look for them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
