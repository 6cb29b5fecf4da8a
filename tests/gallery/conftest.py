"""What reads the figures of a README stands beside the tests that compare them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
