"""Connection to a cluster given as `tcp://host:8786`, `local:4`, or a Client of dask.distributed."""

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

_PATIENCE = 10.0  # s to wait for the answer of a scheduler
_LOCAL = re.compile(r"local:(\d+)")
_ADDRESS = re.compile(r"(?:[a-z]+://)?[^\s/:]+:\d+|[a-z]+://\S+")


@contextmanager
def cluster_connection(cluster: Any) -> Iterator[Cluster]:
    """Return a context with the cluster; processes started for it end with the block, others continue."""
    distributed = optional_package("distributed", "dask.distributed", "'supple[cluster]'", part="cluster")
    if isinstance(cluster, distributed.Client):
        with Cluster(cluster) as place:
            yield place
        return
    if not isinstance(cluster, str):
        raise InputError(
            f"a {type(cluster).__name__} is not a cluster", part="cluster",
            hint="give an address (tcp://host:8786), local:4, or a Client of dask.distributed",
        )  # fmt: skip
    local = _LOCAL.fullmatch(cluster.strip())
    reached = _local_client(int(local[1])) if local else _client_at(cluster.strip())
    with reached as client, Cluster(client, lasting=not local) as place:
        yield place


@contextmanager
def _client_at(address: str) -> Iterator[Any]:
    import distributed

    if not _ADDRESS.fullmatch(address):
        raise InputError(
            f'"{address}" is not an address', part="cluster", hint="give an address such as tcp://host:8786, or local:4"
        )
    with _without_dask_messages():
        try:
            client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, TimeoutError, ValueError, TypeError) as error:  # TypeError: tls without certificates
            raise InputError(
                f"no scheduler answers at {address} ({_short_text(error)})", part="cluster",
                hint="start one with `dask scheduler`, or use processes of this machine: local:4",
            ) from None  # fmt: skip
        try:
            yield client
        finally:
            client.close(timeout=_PATIENCE)


@contextmanager
def _local_client(count: int) -> Iterator[Any]:
    """Start processes of one thread each, reachable from this machine only, without a dashboard."""
    import dask
    import distributed

    if count < 1:
        raise InputError("local:0 has no processes", part="cluster", hint="give at least one, such as local:4")
    require_within("workers", count, part="cluster")
    if getattr(current_process(), "_inheriting", False):
        raise SystemExit(1)  # a script that its own processes import and run again: the first process reports it
    no_pages: dict[str, list[str]] = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
    try:
        with dask.config.set(no_pages), _interrupts_blocked():
            cluster = distributed.LocalCluster(
                n_workers=count, threads_per_worker=1, processes=True, host="127.0.0.1", silence_logs=logging.CRITICAL,
                scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
            )  # fmt: skip
    except (RuntimeError, OSError, TimeoutError) as error:
        raise InputError(
            f"local:{count}: processes cannot be started ({_short_text(error)})", part="cluster",
            hint='in a script, call this under `if __name__ == "__main__":`',
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
def _without_dask_messages() -> Iterator[None]:
    """Suppress dask's own messages; supple reports errors once."""
    handlers = [(handler, handler.level) for handler in logging.getLogger("distributed").handlers]
    for handler, _ in handlers:
        handler.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for handler, level in handlers:
            handler.setLevel(level)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Hide Ctrl-C from threads and processes that are started inside; it is handled by the process that starts them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it unblocks the signal when it begins
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _short_text(error: BaseException) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
