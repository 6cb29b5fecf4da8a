"""A whole test in one universal file: responses, coherences and the records that they come from, points once."""

from __future__ import annotations

from dataclasses import replace

from supple.formats.measurements import universal_records, universal_responses
from supple.formats.measurements.universal_channels import Nodes
from supple.formats.measurements.universal_file import UniversalFile
from supple.results.responses import Responses
from supple.results.time_records import TimeRecords


def universal_test(responses: Responses, records: TimeRecords, *, binary: bool = False) -> UniversalFile:
    """Responses first, then records; the numbers of points are the same in both."""
    nodes = Nodes([*responses.responses, *responses.references, *records.channels])
    one = universal_responses.universal_of(responses, binary=binary, nodes=nodes)
    other = universal_records.universal_of(records, binary=binary, nodes=nodes)
    return replace(one, functions=(*one.functions, *other.functions))
