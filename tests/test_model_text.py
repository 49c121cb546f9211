"""How a model reads text: files are looked for once, and text is added to counts only where that has a meaning."""

import http.server
import threading
from collections import Counter

import numpy as np
import pytest
from helpers import assert_same_vectors
from tables import clustered_table, store
from texts import zipf_text

from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.corpus.sources import as_corpus
from gensim_hilbert.model_text import SCAN, WORDS, count_words

SMALL = {"vector_size": 4, "min_count": 5, "epochs": 2, "workers": 1}


@pytest.fixture
def requests_of(tmp_path):
    """(address, counter): a server that counts the requests of each method."""
    counter = Counter()
    (tmp_path / "text.txt").write_bytes(zipf_text(3000, 60))

    class Counting(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(tmp_path))

        def send_head(self):
            counter[self.command] += 1
            return super().send_head()

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Counting)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/text.txt", counter
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize(("solver", "readings"), [("factorization", 2), ("gibbs", 3)])
def test_a_server_is_asked_once_about_a_text_and_once_per_reading(solver, readings, requests_of):
    address, counter = requests_of
    HilbertMLE(corpus_file=address, solver=solver, **SMALL)
    assert counter == {"HEAD": 1, "GET": readings}


def test_each_call_asks_once(requests_of):
    address, counter = requests_of
    model = HilbertMLE(**SMALL)
    model.build_vocab(corpus_file=address)
    assert counter == {"HEAD": 1, "GET": 1}
    counter.clear()
    model.train(corpus_file=address, total_words=model.corpus_total_words, epochs=1)
    assert counter == {"HEAD": 1, "GET": 2}, "words, which build_vocab may have pruned, and pairs"


def test_a_bucket_is_listed_once(s3, monkeypatch):
    client, bucket = s3
    for part in range(3):
        client.put_object(Bucket=bucket, Key=f"part-{part}.txt", Body=zipf_text(2000, 50, seed=part))
    import boto3

    calls = Counter()
    make = boto3.client

    def counting(*args, **kwargs):
        made = make(*args, **kwargs)
        made.meta.events.register("before-call", lambda model, **_: calls.update([model.name]))
        return made

    monkeypatch.setattr(boto3, "client", counting)
    HilbertMLE(corpus_file=f"s3://{bucket}/part-*.txt", **SMALL)
    assert calls["ListObjectsV2"] == 1
    assert calls["HeadObject"] == 0, "the list tells all that is needed"


def test_missing_files_are_named_as_gensim_does(tmp_path):
    for call in (
        lambda path: HilbertMLE(corpus_file=path),
        lambda path: HilbertMLE().build_vocab(corpus_file=path),
        lambda path: HilbertMLE([["a", "b"]] * 9).train(corpus_file=path, total_words=5, epochs=1),
    ):
        with pytest.raises(TypeError, match=r"corpus_file must be a path or a URI that can be read, got .*nowhere"):
            call(str(tmp_path / "nowhere.txt"))


# ---------------------------------------------------------------------------------------------------- imported counts


@pytest.fixture
def imported(news):
    counted = PairCounts.from_corpus(news, min_count=20)
    return PairCounts.from_scipy(counted.to_scipy(), counted.vocabulary)


def test_imported_counts_leave_the_window_as_it_was_asked_for(imported):
    assert HilbertMLE.from_counts(imported, vector_size=4).window == 5
    assert HilbertMLE.from_counts(imported, vector_size=4, window=3).window == 3


def test_no_text_is_added_to_imported_counts(imported, news):
    model = HilbertMLE.from_counts(imported, vector_size=4)
    vectors = model.wv.vectors.copy()
    with pytest.raises(ValueError, match="imported counts, which do not tell their window"):
        model.train(news, total_examples=len(news), epochs=1)
    assert np.array_equal(model.wv.vectors, vectors)
    model.solver = "gibbs"
    model.train(news, total_examples=len(news), epochs=1)
    assert not np.array_equal(model.wv.vectors, vectors)


@pytest.mark.parametrize("objective", ["hilbert", "sgns", "glove", "lds", "swivel", "ppmi-svd"])
@pytest.mark.parametrize("side", ["row", "column", "both"])
def test_words_that_imported_pairs_lack_on_one_side_or_both_are_no_trouble(objective, side):
    table = clustered_table(30)
    if side != "column":
        table[0] = 0
    if side != "row":
        table[:, 0] = 0
    model = HilbertMLE.from_counts(store(table), vector_size=3, workers=1, objective=objective)
    assert np.isfinite(model.wv.vectors).all()
    assert model.wv.get_vecattr("w0", "count") == max(table[0].sum(), table[:, 0].sum())


def test_sentences_are_scored_with_imported_counts(imported):
    model = HilbertMLE.from_counts(imported, vector_size=20, epochs=1)
    sentence, nonsense = model.score([["osama", "bin", "laden"], ["laden", "cricket", "interest"]])
    assert sentence > nonsense


@pytest.mark.parametrize("solver", ["factorization", "gibbs"])
def test_the_words_of_a_text_are_collected_once(solver, requests_of, tmp_path):
    """A call that goes on from a checkpoint finds them there."""
    address, counter = requests_of
    options = {"corpus_file": address, "solver": solver, "checkpoint": tmp_path / "checkpoint", **SMALL}
    first = HilbertMLE(**options)
    counter.clear()
    again = HilbertMLE(**options)
    assert counter == {"HEAD": 1}
    assert_same_vectors(again, first)
    assert (again.corpus_total_words, again.corpus_count) == (first.corpus_total_words, first.corpus_count)
    assert again.raw_vocab == first.raw_vocab


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[: len(data) // 2], lambda data: data + b"5\n"])
@pytest.mark.parametrize("name", [WORDS, SCAN])
def test_words_that_are_damaged_or_of_another_text_are_collected_again(name, damage, tmp_path):
    text = tmp_path / "text.txt"
    text.write_bytes(zipf_text(3000, 60))
    rules = {"max_vocab_size": None, "trim_rule": None, "workers": 1, "progress": False}
    words = count_words(as_corpus(text), directory=tmp_path, **rules)
    (tmp_path / name).write_bytes(damage((tmp_path / name).read_bytes()))
    assert count_words(as_corpus(text), directory=tmp_path, **rules) == words
    text.write_bytes(zipf_text(2000, 50))
    assert count_words(as_corpus(text), directory=tmp_path, **rules) == count_words(
        as_corpus(text), directory=None, **rules
    )
