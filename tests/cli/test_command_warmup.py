"""`supple warmup` and `supple doctor`: kernels compiled in one go, and what that cost."""

from importlib.metadata import version

import pytest

from supple.cli.warmup import CHAINS


@pytest.mark.slow
def test_warmup_counts_its_jobs_and_a_second_one_finds_nothing_to_do(supple):
    first = supple("warmup", "--json")
    assert first.status == 0
    assert f"{len(CHAINS)} of {len(CHAINS)} done: " in first.err
    assert "reduced models" in first.err
    again = supple("warmup", "--json")
    assert again.object["compiled"] == 0


def test_warmup_counts_what_it_compiles_itself_and_not_what_others_add_to_the_cache(monkeypatch):
    from supple.cli import warmup
    from supple.compilation.announcement import RECORD
    from supple.compilation.kernel import cache_folder

    stranger = cache_folder() / "of-another-process"
    stranger.mkdir(parents=True, exist_ok=True)

    def meanwhile(machines):
        (stranger / RECORD).write_text("1.00\tother\tsomething else\n", encoding="utf-8")

    monkeypatch.setattr(warmup, "CHAINS", ((warmup.Job("nothing", meanwhile),),))
    try:
        assert warmup.run_chain(0)[0] == 0
    finally:
        (stranger / RECORD).unlink()
        stranger.rmdir()


def test_doctor_tells_versions_and_the_cost_of_kernels(supple):
    found = supple("doctor", "--json").object
    assert found["packages"]["numba"]
    assert "(" in found["processor"]
    assert "openblas" in found["blas"] or "mkl" in found["blas"] or found["blas"] == "unknown"
    assert found["extras"]["pandas"]["packages"]["pandas"] == version("pandas")
    assert not found["extras"]["xarray"]["missing"]
    assert all(one["install"] == f"pip install 'supple[{name}]'" for name, one in found["extras"].items())
    assert not {"test", "dev"} & found["extras"].keys()
    cache = found["cache"]
    assert cache["processor_seconds"] == pytest.approx(sum(kernel["seconds"] for kernel in cache["kernels"]))
    assert all(kernel["purpose"] for kernel in cache["kernels"])


def test_doctor_says_when_no_kernel_is_compiled(supple, tmp_path, monkeypatch):
    monkeypatch.setenv("SUPPLE_CACHE_DIR", str(tmp_path))
    text = supple("doctor").out
    assert "no kernel is compiled yet" in text
    assert "supple warmup" in text
