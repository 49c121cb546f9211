"""A corpus is resolved once: its files are listed and looked up when it is made, and never again."""

from gensim_hilbert import PairCounts
from gensim_hilbert.corpus import sources
from gensim_hilbert.corpus.sources import as_corpus


class Counting:
    """A client of S3 that counts the requests for lists and for facts."""

    def __init__(self, client):
        self.client = client
        self.lists = self.heads = 0

    def get_paginator(self, name):
        self.lists += 1
        return self.client.get_paginator(name)

    def head_object(self, **options):
        self.heads += 1
        return self.client.head_object(**options)

    def __getattr__(self, name):
        return getattr(self.client, name)


def test_a_bucket_is_listed_once_and_its_objects_are_not_looked_up_one_by_one(s3):
    client, bucket = s3
    for k in range(3):
        client.put_object(Bucket=bucket, Key=f"part-{k}.txt", Body=b"one two three\n" * 10)
    counting = Counting(client)
    corpus = as_corpus(f"s3://{bucket}/part-*.txt", {"client": counting})
    PairCounts.from_corpus(corpus)
    assert (counting.lists, counting.heads) == (1, 0)
    one_by_one = as_corpus([f"s3://{bucket}/part-{k}.txt" for k in range(3)], {"client": counting})
    assert (counting.lists, counting.heads) == (1, 3)
    assert one_by_one.fingerprint == corpus.fingerprint
    assert one_by_one.total == corpus.total == 420


def test_a_resolved_corpus_is_taken_as_it_is(tmp_path, monkeypatch):
    path = tmp_path / "text.txt"
    path.write_text("one two three\n" * 10)
    corpus = as_corpus(tmp_path)
    monkeypatch.setattr(sources, "facts_of", None)
    assert as_corpus(corpus) is corpus
    assert PairCounts.from_corpus(corpus).vocabulary.tokens == 30
