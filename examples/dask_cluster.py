"""Counts a text on a Dask cluster whose workers share nothing but a bucket, and trains on the counts.

    dask scheduler &                                    # or dask-jobqueue, dask-kubernetes, Coiled ...
    dask worker tcp://127.0.0.1:8786 --nworkers 4 &
    python examples/dask_cluster.py tcp://127.0.0.1:8786 's3://corpus/*.gz' s3://bucket/wiki.counts model

Workers need gensim_hilbert with the extras s3 and dask, and credentials for the bucket. If a worker dies, its tasks are
done by others. If the scheduler dies, start it again, and then the same command: it goes on from what is in the bucket.
"""

import sys

from dask.distributed import Client

from gensim_hilbert import HilbertMLE, PairCounts


def main(address: str, corpus: str, store: str, output: str) -> None:
    with Client(address) as client:
        counts = PairCounts.from_corpus(corpus, directory=store, executor=client)
    print(f"{len(counts):,} words, {counts.vocabulary.tokens:,} tokens in {counts.directory}")
    model = HilbertMLE.from_counts(counts, vector_size=100)
    model.save_pretrained(output, counts=False)
    print(f"{output}: {model}")


if __name__ == "__main__":
    main(*sys.argv[1:])
