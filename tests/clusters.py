"""Real clusters of processes on loopback, whose parts can be killed."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from contextlib import contextmanager

SCHEDULER = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--no-dashboard"]
WORKER = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-dashboard", "--no-nanny"]


class DaskProcesses:
    """A scheduler and workers of Dask, each a process of its own without a nanny."""

    def __init__(self, workers: int = 2):
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = found.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.workers: list[subprocess.Popen[bytes]] = []
        self.start(workers)

    def start(self, workers: int = 2) -> None:
        """Start a scheduler, and wait for its port, and then workers."""
        self.scheduler = self._process([*SCHEDULER, "--port", str(self.port)])
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                break
            except OSError:
                time.sleep(0.1)
        for _ in range(workers):
            self.add_worker()

    def add_worker(self) -> None:
        """Start one more worker."""
        limits = ["--memory-limit", "0", "--death-timeout", "20"]
        self.workers.append(self._process([*WORKER, self.address, *limits]))

    def replace_worker(self, number: int) -> None:
        """Kill a worker, and start another one."""
        doomed = self.workers.pop(number)
        doomed.kill()
        doomed.wait()
        self.add_worker()

    def kill(self) -> None:
        """Kill everything."""
        for process in (self.scheduler, *self.workers):
            process.kill()
            process.wait()
        self.workers.clear()

    def _process(self, command: list[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextmanager
def dask_processes(workers: int = 2):
    """A scheduler and workers until the end of the block."""
    cluster = DaskProcesses(workers)
    try:
        yield cluster
    finally:
        cluster.kill()


@contextmanager
def client_of(cluster: DaskProcesses):
    """A client that is connected to all workers; it may be closed after its scheduler has gone."""
    from distributed import Client

    client = Client(cluster.address, timeout=5, set_as_default=False)
    try:
        client.wait_for_workers(len(cluster.workers), timeout=20)
        yield client
    finally:
        client.close(timeout=1)
