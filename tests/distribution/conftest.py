"""The cluster that is put to the test stands in a module of its own."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
