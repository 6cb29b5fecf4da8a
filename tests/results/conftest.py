import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # the results that are looked at stand in a module of their own
sys.path.insert(0, str(Path(__file__).parents[1] / "control"))  # the flexible mechanism of its tests
