"""Bodies of mass points stand beside the tests: see point_bodies.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
