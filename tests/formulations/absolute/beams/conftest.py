"""The module beside these tests makes bodies of beams and moves their frames."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
