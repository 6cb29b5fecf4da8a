"""How a caller names a cluster: `tcp://host:8786`, `local:4`, or a Client of dask.distributed."""

from __future__ import annotations

import logging
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import current_process, resource_tracker
from typing import Any

from supple.diagnostics import InputError, optional_package
from supple.diagnostics.limits import require_within
from supple.distribution.cluster import Cluster

_PATIENCE = 10.0  # s in which a scheduler answers
_LOCAL = re.compile(r"local:(\d+)")
_ADDRESS = re.compile(r"(?:[a-z]+://)?[^\s/:]+:\d+|[a-z]+://\S+")


@contextmanager
def connected(cluster: Any) -> Iterator[Cluster]:
    """The cluster; processes that are started for it end with the block, those of others go on."""
    distributed = optional_package("distributed", "dask.distributed", "'supple[cluster]'", part="cluster")
    if isinstance(cluster, distributed.Client):
        with Cluster(cluster) as place:
            yield place
        return
    if not isinstance(cluster, str):
        raise InputError(
            f"{type(cluster).__name__} names no cluster", part="cluster",
            hint="give an address (tcp://host:8786), local:4, or a Client of dask.distributed",
        )  # fmt: skip
    local = _LOCAL.fullmatch(cluster.strip())
    reached = _of_this_machine(int(local[1])) if local else _at(cluster.strip())
    with reached as client, Cluster(client, lasting=not local) as place:
        yield place


@contextmanager
def _at(address: str) -> Iterator[Any]:
    import distributed

    if not _ADDRESS.fullmatch(address):
        raise InputError(
            f'"{address}" is no address', part="cluster", hint="give one such as tcp://host:8786, or local:4"
        )
    with _one_voice():
        try:
            client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, TimeoutError, ValueError, TypeError) as error:  # TypeError: tls without certificates
            raise InputError(
                f"no scheduler answers at {address} ({_words(error)})", part="cluster",
                hint="start one with `dask scheduler`, or ask for processes of this machine: local:4",
            ) from None  # fmt: skip
        try:
            yield client
        finally:
            client.close(timeout=_PATIENCE)


@contextmanager
def _of_this_machine(count: int) -> Iterator[Any]:
    """Processes of one thread each, reached from this machine alone, without a dashboard."""
    import dask
    import distributed

    if count < 1:
        raise InputError("local:0 has no processes", part="cluster", hint="ask for one at least, such as local:4")
    require_within("workers", count, part="cluster")
    if getattr(current_process(), "_inheriting", False):
        raise SystemExit(1)  # a script that its own processes read once more, and run: who started them says so
    no_pages: dict[str, list[str]] = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
    try:
        with dask.config.set(no_pages), _deaf_to_interrupts():
            cluster = distributed.LocalCluster(
                n_workers=count, threads_per_worker=1, processes=True, host="127.0.0.1", silence_logs=logging.CRITICAL,
                scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
            )  # fmt: skip
    except (RuntimeError, OSError, TimeoutError) as error:
        raise InputError(
            f"local:{count}: processes cannot be started ({_words(error)})", part="cluster",
            hint='a script asks for them under `if __name__ == "__main__":`',
        ) from None  # fmt: skip
    try:
        client = distributed.Client(cluster, set_as_default=False)
        try:
            yield client
        finally:
            client.close(timeout=_PATIENCE)
    finally:
        cluster.close(timeout=_PATIENCE)


@contextmanager
def _one_voice() -> Iterator[None]:
    """Inside, dask writes no messages of its own: what goes wrong is told once, by us."""
    handlers = [(handler, handler.level) for handler in logging.getLogger("distributed").handlers]
    for handler, _ in handlers:
        handler.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for handler, level in handlers:
            handler.setLevel(level)


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Threads and processes that are started inside never see Ctrl-C, which is for whoever started them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it unblocks the signal when it begins
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _words(error: BaseException) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
