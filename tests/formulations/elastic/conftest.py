"""The module beside these tests builds single bodies and solves their dense eigenproblems."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
