"""The scripts beside the tests are modules to them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
