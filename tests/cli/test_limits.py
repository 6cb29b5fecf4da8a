"""What is too much is refused before anything is computed: the number, the limit, and how to raise it."""

from __future__ import annotations

import io
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

import supple as api
from supple.description.elastic.array_archive import read_archive
from supple.description.elastic.superelement_files import read_matrix_market
from supple.diagnostics.limits import LIMITS, free_memory, most, require_memory, require_within

_PAGE = Path(__file__).parents[2] / "docs" / "reference" / "command-line.md"


@pytest.mark.parametrize(
    ("limit", "arguments"),
    [
        ("steps", ("simulate", "--until", "1e300")),
        ("steps", ("simulate", "--until", "1s", "--step", "1e-300")),
        ("results", ("simulate", "--until", "1s", "--output-step", "1e-12")),
        ("boxes", ("reduce", "--boxes", "100000000", "--no-store")),
        ("workers", ("reduce", "--boxes", "2", "--workers", "100000", "--no-store")),
        ("postures", ("modes", "--map", "crank=0:1:100000000")),
        ("modes", ("modes", "--count", "1000000")),
        ("lines", ("frf", "--input", "crank", "--output", "E.z", "--lines", "1000000000")),
        ("starts", ("assemble", "--branches", "--starts", "1000000000")),
        ("runs", ("check", "--set", "crank=0.4:0.5:100000000")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_too_much_is_refused_at_once(supple, four_bar, limit, arguments):
    began = time.process_time()
    command, *options = arguments
    said = supple(command, four_bar, *options, "--json")
    assert time.process_time() - began < 1.0
    assert said.status == 1
    found = said.object["error"]
    assert LIMITS[limit].items in found["message"]
    assert f"limit of {_told(most(limit))}" in found["message"]
    assert f"SUPPLE_LIMITS={limit}=" in found["hint"]
    assert f"supple --limit {limit}=" in found["hint"]


def _told(value: float) -> str:
    return f"{value:.0f}" if value < 1e7 else f"{value:.3g}"


def test_a_limit_is_raised_as_the_message_says(monkeypatch):
    with pytest.raises(api.InputError, match=r"2\.5e\+08 steps .*limit of 1e\+08") as refused:
        require_within("steps", 2.5e8)
    setting = refused.value.hint.split("SUPPLE_LIMITS=")[1].split(",")[0]
    monkeypatch.setenv("SUPPLE_LIMITS", f"memory=1GB,{setting}")
    require_within("steps", 2.5e8)
    require_memory(0.99e9, "it takes")
    with pytest.raises(api.InputError, match=r"it takes 2 GB, .*limit of 1 GB; .*SUPPLE_LIMITS=memory=3GB"):
        require_memory(2e9, "it takes")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("stpes=3", 'did you mean "steps"'),
        ("steps=few", "steps=1e9"),
        ("memory=", "memory=16GB"),
        ("steps=-1", 'invalid limit "steps=-1"; write for example steps=1e9'),
    ],
)
def test_a_limit_that_is_none_is_told(supple, four_bar, monkeypatch, text, words):
    monkeypatch.setenv("SUPPLE_LIMITS", "")
    said = supple("--limit", text, "simulate", four_bar, "--until", "1e300", "--json")
    assert (said.status, said.object["error"]["part"]) == (1, "--limit")
    assert words in said.err


def test_the_option_lasts_for_the_command(supple, four_bar, monkeypatch):
    monkeypatch.setenv("SUPPLE_LIMITS", "results=1e3")
    said = supple("--limit", "steps=5", "--limit", "runs=4", "simulate", four_bar, "--until", "1s")
    assert "the limit of 5;" in said.err
    assert (most("results"), most("runs")) == (1e3, 4)


def test_results_of_a_run_are_counted_before_it_starts(monkeypatch, four_bar):
    monkeypatch.setenv("SUPPLE_LIMITS", "memory=1MB")
    with pytest.raises(api.InputError, match=r"t: 10001 results take 7\.68 MB, .*limit of 1 MB; request fewer, or "):
        api.simulate(api.load_mechanism(four_bar), until=1.0, output_step=1e-4)


def test_free_memory_is_of_this_machine():
    assert 2**26 < free_memory() < 2**50
    assert most("memory") == pytest.approx(0.5 * free_memory(), rel=0.2)


def test_the_page_lists_all_limits():
    text = _PAGE.read_text("utf-8")
    for limit in LIMITS.values():
        default = "half of the free memory" if limit.most is None else f"{limit.most:,.0f}".replace(",", " ")
        assert f"| `{limit.name}` | {default} |" in text


def test_an_archive_that_unpacks_to_more_than_the_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("SUPPLE_LIMITS", "memory=1MB")
    file = tmp_path / "bomb.npz"
    np.savez_compressed(file, K=np.zeros((1000, 1000)))
    assert file.stat().st_size < 20_000
    with pytest.raises(ValueError, match=r"its arrays take 8 MB, .*limit of 1 MB.*SUPPLE_LIMITS=memory="):
        read_archive(file, ("K",))
    assert read_archive(file, ("M",)) == {}  # what nobody wants takes nothing


def test_an_array_that_says_more_than_it_has_takes_no_memory(tmp_path):
    file, head = tmp_path / "lies.npz", io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (10**7, 10**7)})
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("K.npy", head.getvalue())
    with pytest.raises(ValueError, match=r'"K" .*10000000 by 10000000 .* 0 bytes'):
        read_archive(file, ("K",))


@pytest.mark.parametrize(
    ("sizes", "words"),
    [("9000000 9000000 1", "9000000 rows of a matrix in a file .*limit of 6000000.*rows=9"),
     ("5000000 5000000 4000000000", "shorter than its header .*5000000 by 5000000")],
)  # fmt: skip
def test_a_matrix_market_header_is_not_believed(tmp_path, sizes, words):
    file = tmp_path / "K.mtx"
    file.write_text(f"%%MatrixMarket matrix coordinate real general\n{sizes}\n1 1 1.0\n")
    with pytest.raises(ValueError, match=words):
        read_matrix_market(file)
