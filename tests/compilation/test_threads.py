"""Inside supple linear algebra keeps to one thread; outside, the user's setting stands."""

from pathlib import Path

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import supple
from supple.compilation.threads import in_parts, single_blas_thread
from supple.reduction import reduce as reduction

FOUR_BAR = Path(__file__).parents[2] / "examples" / "four-bar" / "mechanism.yaml"


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    """As a user's session has them: more than one."""
    import scipy.linalg  # noqa: F401 -- its BLAS is another than numpy's

    with threadpool_limits(limits=2, user_api="blas"):
        yield
        assert blas_threads() == {2}


def test_inside_there_is_one_thread_and_outside_what_there_was():
    with single_blas_thread():
        assert blas_threads() == {1}
        with single_blas_thread():
            pass
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_the_setting_comes_back_when_an_error_leaves():
    with pytest.raises(ZeroDivisionError), single_blas_thread():
        1 / 0  # noqa: B018
    assert blas_threads() == {2}


def test_batches_keep_to_one_thread():
    """However large they are: what is divided among cores, and modes of a single configuration."""
    seen = []
    in_parts(lambda a, b: seen.append((b - a, blas_threads())), 1000)
    divided = [found for size, found in seen if size > 1]  # the first one only compiles
    assert all(found == ({1} if len(divided) > 1 else {2}) for found in divided)


def test_a_reduction_in_python_keeps_to_one_thread(monkeypatch):
    seen, fitted, sampled = [], reduction.adaptive, reduction.Sampling.rows

    def watched(function):
        def call(*given, **named):
            seen.append(blas_threads())
            return function(*given, **named)

        return call

    monkeypatch.setattr(reduction, "adaptive", watched(fitted))
    monkeypatch.setattr(reduction.Sampling, "rows", watched(sampled))
    supple.reduce(supple.load(FOUR_BAR), region={"crank": (-0.2, 0.2)}, tolerance=1e-2, progress=False)
    assert len(seen) > 2
    assert all(found == {1} for found in seen)
