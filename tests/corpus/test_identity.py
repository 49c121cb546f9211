"""A corpus that changes between two readings or during one is noticed, also if size and words stay equal."""

import gzip
import os
import pickle

import pytest
from gensim.models.callbacks import CallbackAny2Vec
from gensim.utils import RULE_DEFAULT
from helpers import assert_same_counts, count
from texts import TEXT, zipf_text

from gensim_hilbert import HilbertMLE
from gensim_hilbert.corpus.identity import CorpusChanged, FileFacts, refuse_change
from gensim_hilbert.corpus.sources import as_corpus

OTHER = TEXT.replace(b"cat", b"mat")  # as many bytes and words
assert OTHER != TEXT


def replace_file(path, data):
    """Another file of the same size and time takes the place of this one."""
    info = os.stat(path)
    fresh = path.with_name("fresh")
    fresh.write_bytes(data)
    os.utime(fresh, ns=(info.st_atime_ns, info.st_mtime_ns))
    os.replace(fresh, path)


def rewrite(path, data):
    """The file itself has other contents, of the same size."""
    with open(path, "r+b") as file:
        file.write(data)
    os.utime(path, ns=(1, 1))  # a quick test may write twice within one tick of the clock


def during_the_passes(change):
    """A rule that is asked for every word when the first reading is done; the file changes at the first question.

    A file that is replaced twice may have the number of the first one again.
    """
    changes = iter([change])

    def rule(word, number, min_count):
        next(changes, lambda: None)()
        return RULE_DEFAULT

    return rule


CHANGES = {"replaced": (replace_file, "was replaced by another file"), "modified": (rewrite, "was modified: 1970")}


@pytest.mark.parametrize(("change", "workers"), [("replaced", 1), ("modified", 2)])
def test_local_files_between_the_passes(change, workers, tmp_path, refused):
    how, message = CHANGES[change]
    (tmp_path / "a.txt").write_bytes(TEXT)
    path = tmp_path / "b.txt"
    path.write_bytes(TEXT)
    rule = during_the_passes(lambda: how(path, OTHER))
    refused(OSError, rf"b\.txt {message}", tmp_path, trim_rule=rule, workers=workers)


def packed(text: bytes) -> bytes:
    """gzip without compression, so that texts of one size stay that in their files."""
    return gzip.compress(text, 0, mtime=0)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("files", [1, 6])
def test_compressed_files_between_the_passes(change, files, tmp_path, refused):
    how, message = CHANGES[change]
    for k in range(files):
        path = tmp_path / f"{k}.txt.gz"
        path.write_bytes(packed(TEXT))
    rule = during_the_passes(lambda: how(path, packed(OTHER)))
    refused(OSError, rf"{files - 1}\.txt\.gz {message}", tmp_path, trim_rule=rule)


@pytest.mark.parametrize("name", ["text.txt", "text.txt.gz"])
def test_local_files_during_a_pass(name, tmp_path, set_block_bytes):
    set_block_bytes(1000)
    path = tmp_path / name
    path.write_bytes(packed(TEXT) if name.endswith(".gz") else TEXT)
    blocks = (part for block in as_corpus(path).blocks(streams=True) for part in block.read())
    next(blocks)
    rewrite(path, path.read_bytes())
    with pytest.raises(CorpusChanged, match="was modified"):
        list(blocks)


def test_a_file_that_grows(plain, refused):
    def grow():
        with open(plain, "ab") as file:
            file.write(b"more\n")

    refused(OSError, r"text\.txt is longer than it was: \d+ bytes instead of", plain, trim_rule=during_the_passes(grow))


@pytest.mark.parametrize("kind", [{"etag": '"1"'}, {"etag": None, "modified": "Sat, 01 Aug 2020 10:00:00 GMT"}])
@pytest.mark.parametrize("name", ["text.txt", "text.txt.gz"])
def test_web_pages_between_the_passes(kind, name, site, refused):
    vars(site).update(kind)
    site.files[name] = packed(TEXT) if name.endswith(".gz") else TEXT

    def change():
        site.files[name] = packed(OTHER) if name.endswith(".gz") else OTHER
        site.etag = site.etag and '"2"'
        site.modified = site.modified and "Sun, 02 Aug 2020 10:00:00 GMT"

    uri = f"{site.address}/{name}"
    refused(OSError, rf"{name} (has changed: its ETag|was modified: Sun)", uri, trim_rule=during_the_passes(change))


@pytest.mark.parametrize("name", ["text.txt", "text.txt.gz"])
def test_s3_objects_between_the_passes(name, s3, refused):
    client, bucket = s3
    texts = [packed(text) if name.endswith(".gz") else text for text in (TEXT, OTHER)]
    client.put_object(Bucket=bucket, Key=name, Body=texts[0])
    rule = during_the_passes(lambda: client.put_object(Bucket=bucket, Key=name, Body=texts[1]))
    refused(OSError, rf"{name} has changed: its ETag is .* instead of", f"s3://{bucket}/{name}", trim_rule=rule)


class Rewriting(CallbackAny2Vec):
    """Changes a file after the first epoch."""

    def __init__(self, path):
        self.path = path

    def on_epoch_end(self, model):
        rewrite(self.path, OTHER)


def test_gibbs_between_epochs(plain):
    with pytest.raises(CorpusChanged, match=r"text\.txt was modified"):
        HilbertMLE(
            corpus_file=str(plain), solver="gibbs", vector_size=4, min_count=1, epochs=2, workers=1,
            callbacks=[Rewriting(plain)],
        )  # fmt: skip


def test_gibbs_goes_on_from_a_checkpoint_only_with_the_same_file(plain, tmp_path):
    options = {
        "corpus_file": str(plain), "solver": "gibbs", "vector_size": 4, "min_count": 1, "epochs": 2, "workers": 1,
        "checkpoint": tmp_path / "checkpoint", "sorted_vocab": 0,
    }  # fmt: skip
    with pytest.raises(CorpusChanged):
        HilbertMLE(**options, callbacks=[Rewriting(plain)])
    plain.write_bytes(TEXT)
    with pytest.raises(ValueError, match="holds a checkpoint of another training: it differs in its corpus"):
        HilbertMLE(**options)


def test_counting_does_not_go_on_with_another_file_of_the_same_size_and_time(tmp_path, target, monkeypatch):
    path = tmp_path / "text.txt"
    text = zipf_text(5000, 50)
    path.write_bytes(text)
    with monkeypatch.context() as patch:
        patch.setattr("gensim_hilbert.counting.build.finish", interrupt)
        with pytest.raises(KeyboardInterrupt):
            count(path, directory=target)
    other = text.replace(b"w1 ", b"w2 ")
    replace_file(path, other)
    (tmp_path / "other.txt").write_bytes(other)
    assert_same_counts(count(path, directory=target), count(tmp_path / "other.txt"))


def interrupt(*arguments, **options):
    raise KeyboardInterrupt


def test_what_is_unknown_is_not_compared():
    known = FileFacts(5, '"1"', "today", 7)
    for before, now in ((known, FileFacts()), (FileFacts(), known), (known, known)):
        refuse_change("text", before, now)
    refuse_change("text", known, known._replace(modified="tomorrow", inode=None))  # by another server, with its ETag
    with pytest.raises(CorpusChanged, match="shorter"):
        refuse_change("text", known, known._replace(size=4))


def test_the_error_survives_a_process():
    error = CorpusChanged("text", "has changed")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
