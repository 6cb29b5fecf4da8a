"""The modules beside the tests: legs that are drawn far open."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
