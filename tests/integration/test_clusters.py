"""Counting on the workers of others, without a shared file system, and with workers and schedulers that die."""

import random
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

import pytest
from clusters import client_of, dask_processes
from texts import zipf_text

from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.corpus import dispatch, executors
from gensim_hilbert.corpus.executors import ExecutorLost
from gensim_hilbert.corpus.sources import as_corpus
from gensim_hilbert.objects import ObjectPath

OPTIONS = {"min_count": 2, "window": 3, "progress": False}
FILES, WORDS = 6, 3000


@pytest.fixture
def corpus(s3, monkeypatch):
    """The URI of a few files in a bucket, and what their counts are."""
    client, bucket = s3
    for k in range(FILES):
        client.put_object(Bucket=bucket, Key=f"corpus/{k}.txt", Body=zipf_text(30_000 + 1000 * k, WORDS))
    monkeypatch.setattr(dispatch, "share_of", lambda corpus, workers: 1 << 16)  # many tasks
    return f"s3://{bucket}/corpus/*.txt"


@pytest.fixture
def store(s3):
    """A place for counts in a bucket."""
    return f"s3://{s3[1]}/wiki.counts"


@pytest.fixture
def cluster(s3_environment):
    pytest.importorskip("distributed", reason="Dask is not installed: pip install 'gensim-hilbert[dask]'")
    with dask_processes() as processes:
        yield processes


@pytest.fixture
def expected(corpus):
    return PairCounts.from_corpus(corpus, workers=1, **OPTIONS)


def is_clean(store: str) -> bool:
    """Whether nothing is left of what a store was put together in."""
    return not ObjectPath.parse(store + ".partial").below()


def test_every_executor_gives_the_same_bytes_in_a_bucket_and_on_a_disk(corpus, store, expected, cluster, tmp_path):
    found = {"threads": PairCounts.from_corpus(corpus, workers=2, directory=f"{store}1", **OPTIONS)}
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found["processes"] = PairCounts.from_corpus(corpus, executor=pool, directory=tmp_path / "counts", **OPTIONS)
        found["processes, bucket"] = PairCounts.from_corpus(corpus, executor=pool, directory=f"{store}2", **OPTIONS)
    with client_of(cluster) as client:
        found["Dask"] = PairCounts.from_corpus(corpus, executor=client, directory=f"{store}3", **OPTIONS)
        found["Dask's executor"] = PairCounts.from_corpus(corpus, executor=client.get_executor(), **OPTIONS)
    assert {name: counts.fingerprint for name, counts in found.items()} == dict.fromkeys(found, expected.fingerprint)
    assert found["Dask"].vocabulary.words == expected.vocabulary.words
    assert [found["Dask"].vocabulary.tokens, found["Dask"].vocabulary.sentences] == [
        expected.vocabulary.tokens,
        expected.vocabulary.sentences,
    ]
    assert all(is_clean(f"{store}{k}") for k in (1, 2, 3))


def test_mpi_gives_the_same_bytes(corpus, store, expected):
    pytest.importorskip("mpi4py", reason="mpi4py is not installed: pip install 'gensim-hilbert[mpi]'")
    mpiexec = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}:/usr/bin:/usr/local/bin")
    if mpiexec is None:
        pytest.skip("there is no mpiexec: pip install mpich")
    command = [mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures", "-m", "gensim_hilbert", "count", corpus]
    options = ["-o", store, "--mpi", "--min-count", "2", "--window", "3"]
    subprocess.run([*command, *options], check=True, timeout=120, stdout=subprocess.DEVNULL)
    assert PairCounts.open(store).fingerprint == expected.fingerprint


def test_a_killed_worker_costs_nothing_but_its_tasks(corpus, store, expected, cluster):
    with client_of(cluster) as client, killing(cluster, every=0.7) as killed:
        counts = PairCounts.from_corpus(corpus, executor=client, directory=store, retries=20, **OPTIONS)
    assert killed
    assert counts.fingerprint == expected.fingerprint
    assert is_clean(store)


def test_a_lost_scheduler_is_told_and_the_same_call_goes_on(corpus, store, expected, cluster):
    with (
        client_of(cluster) as client,
        killing_after_runs(cluster, store, 2),
        pytest.raises(ExecutorLost, match=r"scheduler at tcp.* is gone.*what is finished is kept in s3://.*partial"),
    ):
        PairCounts.from_corpus(corpus, executor=client, directory=store, **OPTIONS)
    before = ObjectPath.parse(store + ".partial").below()
    assert sum(name.endswith(".run") for name in before) >= 2
    counts = PairCounts.from_corpus(corpus, workers=2, directory=store, **OPTIONS)
    assert counts.fingerprint == expected.fingerprint
    assert is_clean(store)


def test_a_scheduler_without_workers_is_not_waited_for(corpus, store, cluster, monkeypatch):
    monkeypatch.setattr(executors, "LOST_SECONDS", 0.1)
    monkeypatch.setattr(executors, "UNMANNED_SECONDS", 1.0)
    with client_of(cluster) as client:
        executor = executors.as_executor(client)
        for worker in cluster.workers:
            worker.kill()
            worker.wait()
        with pytest.raises(ExecutorLost, match="has had no worker for 1 seconds; start some"):
            PairCounts.from_corpus(corpus, executor=executor, directory=store, **OPTIONS)


def test_a_task_that_always_fails_is_named_after_so_many_attempts(corpus, store, s3, cluster):
    client, bucket = s3
    with client_of(cluster) as dask:
        resolved = as_corpus(corpus)
        client.delete_object(Bucket=bucket, Key="corpus/3.txt")
        with pytest.raises(OSError, match=r"corpus/3.txt cannot be opened.*is kept") as caught:
            PairCounts.from_corpus(resolved, executor=dask, directory=store, retries=2, **OPTIONS)
    assert "The task was tried 3 times." in getattr(caught.value, "__notes__", []) + getattr(
        caught.value.__cause__, "__notes__", []
    )


def test_shards_are_cached_within_a_budget(corpus, store, expected, tmp_path):
    PairCounts.from_corpus(corpus, directory=store, **OPTIONS)
    small = PairCounts.open(store, cache_gb=1e-6)
    assert small.fingerprint == expected.fingerprint
    assert (small.to_scipy() != expected.to_scipy()).nnz == 0
    assert len(list((small._store.directory / "shards").iterdir())) == 1
    options = {"vector_size": 8, "epochs": 1, "progress": False}
    model, near = (HilbertMLE.from_counts(counts, **options) for counts in (small, expected))
    assert (model.wv.vectors == near.wv.vectors).all()
    model.save(str(tmp_path / "model"))
    assert PairCounts.open(tmp_path / "model.counts").fingerprint == expected.fingerprint


def test_other_counts_and_foreign_objects_are_not_replaced(corpus, store, s3):
    client, bucket = s3
    PairCounts.from_corpus(corpus, directory=store, **OPTIONS)
    with pytest.raises(FileExistsError, match="holds other counts"):
        PairCounts.from_corpus(corpus, directory=store, **OPTIONS | {"window": 2})
    replaced = PairCounts.from_corpus(corpus, directory=store, overwrite=True, **OPTIONS | {"window": 2})
    assert replaced.window.reach == 2
    client.put_object(Bucket=bucket, Key="wiki.counts/letter.txt", Body=b"mine")
    with pytest.raises(FileExistsError, match=r"letter\.txt in it is no part of pair counts"):
        PairCounts.from_corpus(corpus, directory=store, overwrite=True, **OPTIONS)
    with pytest.raises(ValueError, match="cannot be the output"):
        PairCounts.from_corpus(corpus, directory=f"s3://{bucket}/corpus", **OPTIONS)
    assert client.get_object(Bucket=bucket, Key="wiki.counts/letter.txt")["Body"].read() == b"mine"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_soak(corpus, store, expected, cluster, seed):
    """Workers die every few moments, and then the scheduler; the same call goes on with the next cluster."""
    draw = random.Random(seed)
    with (
        client_of(cluster) as client,
        killing(cluster, every=draw.uniform(0.3, 1.5), seed=seed),
        killing_after_runs(cluster, store, draw.randrange(1, 20)),
        suppress(ExecutorLost),
    ):
        PairCounts.from_corpus(corpus, executor=client, directory=store, retries=20, **OPTIONS)
    cluster.kill()
    cluster.start()
    with client_of(cluster) as client, killing(cluster, every=draw.uniform(0.3, 1.5), seed=seed):
        counts = PairCounts.from_corpus(corpus, executor=client, directory=store, retries=20, **OPTIONS)
    assert counts.fingerprint == expected.fingerprint
    assert is_clean(store)


class killing:  # It reads like a function.
    """Kill a random worker every so many seconds, and start another one."""

    def __init__(self, cluster, every, seed=1):
        self.cluster, self.every, self.draw = cluster, every, random.Random(seed)
        self.killed, self.stopped = [], threading.Event()
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        while not self.stopped.wait(self.every):
            if self.cluster.scheduler.poll() is not None:
                return
            self.cluster.replace_worker(self.draw.randrange(len(self.cluster.workers)))
            self.killed.append(self.every)

    def __enter__(self):
        self.thread.start()
        return self.killed

    def __exit__(self, *error):
        self.stopped.set()
        self.thread.join()


class killing_after_runs(killing):
    """Kill the scheduler once the journals in the bucket tell of so many finished tasks."""

    def __init__(self, cluster, store, runs):
        super().__init__(cluster, 0.02)
        self.work, self.runs = ObjectPath.parse(store + ".partial"), runs

    def _run(self):
        while not self.stopped.wait(self.every):
            if sum("/" in name for name in self.work.below()) > self.runs:  # Each has a first line without a task.
                self.cluster.scheduler.kill()
                return
