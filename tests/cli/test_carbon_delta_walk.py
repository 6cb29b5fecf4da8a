"""A slice of `carbon_delta_walk.py`: a Delta from its file to C and to an FMU whose payload is set at run time."""

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from carbon_delta_walk import SLICE, walk


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc)")
def test_a_delta_with_an_open_payload_goes_from_its_file_to_c_and_fmu(supple, tmp_path):
    def run(*arguments):
        said = supple(*map(str, arguments), "--json")
        assert said.status == 0, (arguments, said.err)
        return said.object

    walk(tmp_path, SLICE, run)
