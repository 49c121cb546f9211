"""Options by which a verb runs on the workers of Dask or MPI."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from gensim_hilbert.corpus.executors import RETRIES

CONNECT_SECONDS = 30


def with_cluster(verb: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options `--dask`, `--mpi` and `--retries` to a verb."""
    for option in (
        click.option(
            "--retries",
            type=click.IntRange(0),
            default=RETRIES,
            show_default=True,
            help="How often a task of --dask or --mpi is tried again if it fails.",
        ),
        click.option(
            "--mpi",
            is_flag=True,
            help="Work on the ranks of `mpiexec -n N python -m mpi4py.futures -m gensim_hilbert`.",
        ),
        click.option("--dask", metavar="ADDRESS", help="Work on the workers of this Dask scheduler, tcp://host:8786."),
    ):
        verb = option(verb)
    return verb


@contextmanager
def on_cluster(dask: str | None, mpi: bool) -> Iterator[Any]:
    """Yield the executor that the options ask for, None for threads of this process."""
    if dask and mpi:
        raise click.UsageError("--dask and --mpi exclude each other")
    if dask:
        with dask_client(dask) as client:
            yield client
    elif mpi:
        with mpi_pool() as pool:
            yield pool
    else:
        yield None


def dask_client(address: str) -> Any:
    """Connect to a scheduler that has workers, or will soon have some."""
    try:
        import distributed
    except ImportError as error:
        raise missing("--dask", error, "dask") from None
    open_client: Any = distributed.Client
    try:
        client = open_client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConnectionError(f"there is no Dask scheduler at {address}: {error}") from error
    client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    return client


def mpi_pool() -> Any:
    """Return the pool of the other ranks."""
    try:
        from mpi4py.futures import MPIPoolExecutor
    except ImportError as error:
        raise missing("--mpi", error, "mpi") from None
    return MPIPoolExecutor()


def missing(option: str, error: ImportError, extra: str) -> ImportError:
    """Return an error that tells what to install for an option."""
    return ImportError(f"{option} needs a package that is missing ({error}): pip install 'gensim-hilbert[{extra}]'")
