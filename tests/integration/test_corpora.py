"""The same text gives the same counts, in whatever form and from wherever it comes."""

import bz2
import gzip
import io
import lzma
import multiprocessing
import re
import shutil
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from gensim.models.word2vec import LineSentence, PathLineSentences, Text8Corpus
from gensim.test.utils import datapath
from gensim.utils import RULE_DEFAULT, RULE_DISCARD, RULE_KEEP
from helpers import assert_same, some_text, table_of
from reference import draw, gensim_vocabulary, pairs_of, sentences_of

import gensim_hilbert.corpus.blocks
import gensim_hilbert.corpus.sources
from gensim_hilbert import PairCounts, Vocabulary

TEXT = some_text().encode()
MIN_COUNT = 3


def count(corpus, **options):
    return PairCounts.from_corpus(corpus, **{"window": 4, "min_count": MIN_COUNT, "workers": 2} | options)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    path = tmp_path_factory.mktemp("plain") / "text.txt"
    path.write_bytes(TEXT)
    return path


@pytest.fixture(scope="module")
def expected(plain):
    """The counts of the text as one plain file, which the oracle has checked."""
    counts = count(plain, workers=1)
    sentences = sentences_of(TEXT)
    words, numbers = gensim_vocabulary(sentences, min_count=MIN_COUNT)
    assert (counts.vocabulary.words, counts.vocabulary.counts.tolist()) == (words, numbers)
    assert table_of(counts) == pairs_of(sentences, words, 4, 4, "dynamic")
    return counts


@pytest.fixture(params=[200, 1 << 20], ids=["small blocks", "one block"])
def block_bytes(request, monkeypatch):
    monkeypatch.setattr(gensim_hilbert.corpus.blocks, "BLOCK_BYTES", request.param)


def halves() -> tuple[bytes, bytes]:
    """The text in two, cut at a line end."""
    cut = TEXT.index(b"\n", len(TEXT) // 2) + 1
    return TEXT[:cut], TEXT[cut:]


def pieces(number: int) -> list[bytes]:
    lines = TEXT.splitlines(keepends=True)
    return [b"".join(lines[k * len(lines) // number : (k + 1) * len(lines) // number]) for k in range(number)]


# ---------------------------------------------------------------------------------------------------- local files


@pytest.mark.usefixtures("block_bytes")
class TestLocalFiles:
    def test_compressed(self, tmp_path, expected):
        for suffix, data in (
            (".gz", gzip.compress(TEXT)),
            (".GZ", gzip.compress(TEXT)),
            (".bz2", bz2.compress(TEXT)),
            (".xz", lzma.compress(TEXT)),
            (".members.gz", b"".join(map(gzip.compress, pieces(7)))),
        ):
            path = tmp_path / f"text{suffix}"
            path.write_bytes(data)
            assert_same(count(path), expected)

    def test_zst(self, tmp_path, expected):
        zstd = pytest.importorskip("backports.zstd", reason="pip install 'gensim-hilbert[zst]'")
        path = tmp_path / "text.zst"
        path.write_bytes(zstd.compress(TEXT))
        assert_same(count(path), expected)

    def test_str_path_and_file_uri(self, tmp_path, plain, expected):
        odd = tmp_path / "with blank, 100% [odd] ü*.txt"
        shutil.copy(plain, odd)
        for corpus in (str(plain), plain, f"file://{plain}", odd.as_uri(), str(odd), odd):
            assert_same(count(corpus), expected)

    def test_many_files(self, tmp_path, expected):
        first, second = halves()
        (tmp_path / "a.txt").write_bytes(first)
        (tmp_path / "b.txt").write_bytes(second)
        (tmp_path / ".hidden.txt").write_bytes(b"this is not to be read\n" * 50)
        (tmp_path / "folder").mkdir()
        (tmp_path / "folder" / "c.txt").write_bytes(b"nor is this\n" * 50)
        paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
        for corpus in (
            paths,
            tuple(map(str, paths)),
            tmp_path / "*.txt",
            str(tmp_path / "?.txt"),
            str(tmp_path / "[ab].txt"),
            tmp_path,
            str(tmp_path) + "/",
            tmp_path.as_uri(),
            f"file://{tmp_path}/?.txt",
        ):
            assert_same(count(corpus), expected)

    def test_the_end_of_a_file_ends_its_last_sentence(self, tmp_path):
        (tmp_path / "a.txt").write_bytes(b"one two three\nfour five")
        (tmp_path / "b.txt").write_bytes(b"six seven")
        (tmp_path / "c.txt.gz").write_bytes(gzip.compress(b"eight nine"))
        one = tmp_path / "one.txt"
        one.write_bytes(b"one two three\nfour five\nsix seven\neight nine\n")
        together = count([tmp_path / name for name in ("a.txt", "b.txt", "c.txt.gz")], min_count=1)
        assert_same(together, count(one, min_count=1))

    def test_many_compressed_files_are_read_by_each_worker(self, tmp_path, expected):
        for k, piece in enumerate(pieces(9)):
            (tmp_path / f"{k}.txt.gz").write_bytes(gzip.compress(piece))
        for workers in (1, 2, 4, 5):
            assert_same(count(tmp_path, workers=workers), expected)

    def test_some_plain_some_compressed(self, tmp_path, expected):
        for k, piece in enumerate(pieces(5)):
            (tmp_path / (f"{k}.txt.gz" if k % 2 else f"{k}.txt")).write_bytes(gzip.compress(piece) if k % 2 else piece)
        for workers in (1, 2, 3):
            assert_same(count(tmp_path, workers=workers), expected)

    def test_file_objects(self, tmp_path, plain, expected):
        with open(plain, "rb") as file:
            file.read(100)  # it is read from its beginning all the same
            assert_same(count(file), expected)
        with open(plain, encoding="utf-8", newline="") as file:
            assert_same(count(file), expected)
        (tmp_path / "text.gz").write_bytes(gzip.compress(TEXT))
        with gzip.open(tmp_path / "text.gz") as file:
            assert_same(count(file), expected)
        assert_same(count(io.BytesIO(TEXT)), expected)
        assert_same(count(io.StringIO(TEXT.decode(), newline="")), expected)

    def test_blocks_do_not_depend_on_how_a_stream_deals_out_its_data(self, monkeypatch):
        """Counting that goes on after an interruption finds its blocks by where they start."""

        class Meagre(io.BytesIO):
            def read(self, size=-1):
                return super().read(min(size, 1 + self.tell() % 7))

        monkeypatch.setattr(gensim_hilbert.corpus.blocks, "BLOCK_BYTES", 200)
        whole, meagre = (
            [
                (block.start, block.data, block.inside, block.open)
                for block in gensim_hilbert.corpus.sources.as_corpus(kind(TEXT)).blocks(streams=True)
            ]
            for kind in (io.BytesIO, Meagre)
        )
        assert whole == meagre
        assert len(whole) > 10

    def test_a_stream_that_cannot_seek_with_a_vocabulary(self, plain, expected):
        class Pipe(io.BytesIO):
            def seekable(self):
                return False

            def seek(self, *args):
                raise OSError("cannot seek")

        assert table_of(count(Pipe(TEXT), vocabulary=expected.vocabulary)) == table_of(expected)


# ---------------------------------------------------------------------------------------------------- token lists


class Texts:
    """Like gensim's own corpora: `get_texts()` gives the words, iterating gives something else."""

    def get_texts(self):
        return iter(sentences_of(TEXT))

    def __iter__(self):
        return iter([[(0, 1), (1, 2)]])


@pytest.mark.usefixtures("block_bytes")
class TestTokenLists:
    def test_gensim_corpora(self, tmp_path, plain, expected):
        first, second = halves()
        (tmp_path / "a.txt").write_bytes(first)
        (tmp_path / "b.txt").write_bytes(second)
        for corpus in (LineSentence(str(plain)), PathLineSentences(str(tmp_path)), Texts()):
            assert_same(count(corpus), expected)

    def test_lists_and_tuples_and_what_gives_them(self, expected):
        sentences = sentences_of(TEXT)

        class Sentences:
            def __iter__(self):
                return (iter(sentence) for sentence in sentences)

        for corpus in (
            sentences,
            tuple(map(tuple, sentences)),
            Sentences(),
            [np.array(s, dtype=object) for s in sentences],
        ):
            assert_same(count(corpus), expected)

    def test_text8_corpus(self, tmp_path):
        path = tmp_path / "text8"
        path.write_bytes(b" ".join(TEXT.split()))  # one line and no line end
        whole = count(path, min_count=1)
        assert whole.vocabulary.sentences == 1
        assert_same(count(Text8Corpus(str(path), max_sentence_length=10**9), min_count=1), whole)
        cut = Text8Corpus(str(path), max_sentence_length=100)
        counts = count(cut, min_count=1)
        assert counts.vocabulary.sentences == len(list(cut))
        assert table_of(counts) == pairs_of(list(cut), counts.vocabulary.words, 4, 4, "dynamic")

    def test_words_may_hold_blanks_and_line_ends(self):
        sentences = [["New York", "a\nb", "", "c"], [], ["a\nb", "New York"]] * 2
        counts = count(sentences, min_count=1)
        assert set(counts.vocabulary.words) == {"New York", "a\nb", "", "c"}
        assert table_of(counts) == pairs_of(sentences, counts.vocabulary.words, 4, 4, "dynamic")


# ---------------------------------------------------------------------------------------------------- other machines


class TestHTTP:
    def test_plain_and_compressed(self, http_folder, expected):
        pytest.importorskip("requests", reason="requests is not installed: pip install 'gensim-hilbert[http]'")
        address, folder = http_folder
        first, second = halves()
        for name, data in (
            ("text.txt", TEXT),
            ("text.txt.gz", gzip.compress(TEXT)),
            ("a.txt", first),
            ("b.txt.gz", gzip.compress(second)),
        ):
            (folder / name).write_bytes(data)
        for corpus in (
            f"{address}/text.txt",
            f"{address}/text.txt.gz",
            [f"{address}/a.txt", f"{address}/b.txt.gz"],
            [folder / "a.txt", f"{address}/b.txt.gz"],
        ):
            assert_same(count(corpus), expected)

    def test_a_page_that_is_not_there(self, http_folder, tmp_path):
        pytest.importorskip("requests", reason="requests is not installed: pip install 'gensim-hilbert[http]'")
        with pytest.raises(OSError, match="404"):
            count(f"{http_folder[0]}/missing.txt", directory=tmp_path / "counts")
        assert not list(tmp_path.glob("counts*"))


class TestS3:
    @pytest.fixture
    def put(self, s3):
        client, bucket = s3
        return lambda key, data: client.put_object(Bucket=bucket, Key=key, Body=data)

    @pytest.fixture
    def options(self, s3):
        return {"transport_params": {"client": s3[0]}}

    def test_one_object(self, s3, put, options, expected):
        put("text.txt", TEXT)
        put("text.txt.gz", gzip.compress(TEXT))
        for name in ("text.txt", "text.txt.gz"):
            assert_same(count(f"s3://{s3[1]}/{name}", **options), expected)

    def test_globs_and_prefixes(self, s3, put, options, expected):
        for k, piece in enumerate(pieces(6)):
            put(f"wiki/part-{k}.txt.gz", gzip.compress(piece))
        put("wiki/notes.md", b"not to be read " * 50)
        put("other/part-0.txt.gz", gzip.compress(b"not to be read " * 50))
        assert_same(count(f"s3://{s3[1]}/wiki/part-*.txt.gz", **options), expected)
        assert_same(count(f"s3://{s3[1]}/wiki/part-?.txt.gz", workers=3, **options), expected)
        for k, piece in enumerate(pieces(3)):
            put(f"all/{k}.txt", piece)
        assert_same(count(f"s3://{s3[1]}/all/", **options), expected)

    @pytest.mark.slow
    def test_more_objects_than_one_listing_holds(self, s3, put, options):
        for k in range(1003):
            put(f"many/{k:04d}", b"one two" if k < 1002 else b"one three")
        names = gensim_hilbert.corpus.sources.as_corpus(f"s3://{s3[1]}/many/*", options["transport_params"]).names
        assert len(names) == 1003
        assert names == sorted(names)

    def test_nothing_there(self, s3, options, tmp_path):
        for name, message in (
            ("missing-*.txt", "no object matches"),
            ("none/", "no object matches"),
            ("no.txt", "no.txt"),
        ):
            with pytest.raises(OSError, match=message):
                count(f"s3://{s3[1]}/{name}", directory=tmp_path / "counts", **options)
        assert not list(tmp_path.glob("counts*"))


class TestGCS:
    def test_objects_globs_and_prefixes(self, gcs, expected):
        client, bucket = gcs
        for k, piece in enumerate(pieces(5)):
            client.bucket(bucket).blob(f"wiki/part-{k}.txt.gz").upload_from_string(gzip.compress(piece))
        client.bucket(bucket).blob("wiki.md").upload_from_string(b"not to be read " * 50)
        client.bucket(bucket).blob("text.txt").upload_from_string(TEXT)
        for name in ("text.txt", "wiki/part-*.txt.gz", "wiki/"):
            assert_same(count(f"gs://{bucket}/{name}", transport_params={"client": client}), expected)
        with pytest.raises(FileNotFoundError, match="no object matches"):
            count(f"gs://{bucket}/missing-*", transport_params={"client": client})


# ---------------------------------------------------------------------------------------------------- executors


class TestExecutors:
    def test_threads(self, plain, expected, block_bytes):
        with ThreadPoolExecutor(3) as executor:
            for workers in (1, 3):
                assert_same(count(plain, executor=executor, workers=workers), expected)

    def test_processes(self, tmp_path, plain, expected):
        for k, piece in enumerate(pieces(5)):
            (tmp_path / f"{k}.txt.gz").write_bytes(gzip.compress(piece))
        (tmp_path / "folder").mkdir()
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
            for corpus in (plain, [plain], tmp_path / "*.gz", sentences_of(TEXT), io.BytesIO(TEXT)):
                assert_same(count(corpus, executor=executor), expected)
            bad = tmp_path / "folder" / "bad.txt"
            bad.write_bytes(b"a b\nc d \xff\n")
            with pytest.raises(UnicodeError, match=r"bad\.txt: invalid UTF-8 at byte 8"):
                count(bad, executor=executor, directory=tmp_path / "counts")
        assert not list(tmp_path.glob("counts*"))


# ---------------------------------------------------------------------------------------------------- long lines


class TestLongLines:
    def test_workers_and_blocks_do_not_matter(self, monkeypatch, tmp_path):
        """Several MB without a line end."""
        long_line = tmp_path / "text8"
        long_line.write_bytes(b" ".join(TEXT.split() * (4_000_000 // len(TEXT))))
        expected = count(long_line, workers=1)
        assert expected.vocabulary.sentences == 1
        words, numbers = gensim_vocabulary([long_line.read_text().split()], min_count=MIN_COUNT)
        assert (expected.vocabulary.words, expected.vocabulary.counts.tolist()) == (words, numbers)
        gz = tmp_path / "text8.gz"
        gz.write_bytes(gzip.compress(long_line.read_bytes(), 1))
        for block, workers, corpus in (
            (1 << 20, 2, long_line),
            (1 << 20, 3, gz),
            (1 << 16, 3, long_line),
            (5000, 2, gz),
        ):
            monkeypatch.setattr(gensim_hilbert.corpus.blocks, "BLOCK_BYTES", block)
            assert_same(count(corpus, workers=workers), expected)

    def test_lines_over_ten_thousand_words_are_used_whole(self, tmp_path):
        words = [f"w{k % 50}" if k % 10_000 else f"at{k}" for k in range(30_001)]
        path = tmp_path / "text.txt"
        path.write_text(" ".join(words) + "\nshort line\n")
        counts = PairCounts.from_corpus(path, window=1, min_count=1)
        assert counts.count("w49", "at10000") == counts.count("w1", "at20000") == 1
        assert counts.total == 2 * 30_000 + 2
        assert counts.vocabulary.sentences == 2


# ---------------------------------------------------------------------------------------------------- vocabulary


LEE = Path(datapath("lee_background.cor"))


def keep_some(word, number, min_count):
    if word.startswith("s"):
        return RULE_KEEP
    return RULE_DISCARD if word.startswith("t") else RULE_DEFAULT


class TestVocabularyAgainstGensim:
    @pytest.mark.parametrize(
        "rules",
        [
            {"min_count": 5},
            {"min_count": 1},
            {"min_count": 0},
            {"min_count": 2, "sorted_vocab": False},
            *({"min_count": 1, "max_final_vocab": n} for n in (1, 10, 100, 500, 1000, 10**6)),
            {"min_count": 20, "max_final_vocab": 1000},
            {"min_count": 1, "max_final_vocab": 100, "sorted_vocab": False},
            *({"min_count": 1, "max_vocab_size": n} for n in (1, 10, 100, 1000, 5000, 10**6)),
            {"min_count": 3, "max_vocab_size": 700, "max_final_vocab": 50},
            {"min_count": 2, "trim_rule": keep_some},
            {"min_count": 2, "max_vocab_size": 500, "trim_rule": keep_some},
            {"min_count": 2, "max_vocab_size": 500, "sorted_vocab": False},
            {"min_count": 3, "max_final_vocab": 60, "trim_rule": keep_some, "sorted_vocab": False},
        ],
        ids=lambda rules: ",".join(f"{key}={getattr(value, '__name__', value)}" for key, value in rules.items()),
    )
    def test_rules(self, rules, monkeypatch):
        monkeypatch.setattr(gensim_hilbert.corpus.blocks, "BLOCK_BYTES", 20_000)
        flags = {**rules, "sorted_vocab": int(rules.get("sorted_vocab", True))}
        words, numbers = gensim_vocabulary(LineSentence(str(LEE)), **flags)
        for corpus in (LEE, LineSentence(str(LEE))):
            if not words:
                with pytest.raises(ValueError, match="no word is left"):
                    Vocabulary.from_corpus(corpus, **rules)
                continue
            for workers in (1, 3):
                found = Vocabulary.from_corpus(corpus, workers=workers, **rules)
                assert found.words == words
                assert found.counts.tolist() == numbers

    def test_size_of_the_corpus(self):
        from gensim.models import Word2Vec

        model = Word2Vec(vector_size=1, min_count=5)
        model.build_vocab(LineSentence(str(LEE)))
        found = Vocabulary.from_corpus(LEE)
        assert (found.sentences, found.tokens) == (model.corpus_count, model.corpus_total_words)

    @pytest.mark.parametrize("size", [1, 3, 10, 40, 60])
    def test_pruning_is_not_moved_by_empty_lines(self, size, tmp_path):
        path = tmp_path / "text.txt"
        path.write_bytes(TEXT.replace(b"\n", b"\n\n \n"))
        words, numbers = gensim_vocabulary(LineSentence(str(path)), min_count=1, max_vocab_size=size)
        if not words:
            pytest.skip("gensim keeps nothing")
        found = Vocabulary.from_corpus(path, min_count=1, max_vocab_size=size)
        assert (found.words, found.counts.tolist()) == (words, numbers)

    def test_pruning_of_an_empty_sentence_in_a_list(self):
        sentences = [["a", "b", "c"], ["a", "b", "c"], [], ["d"]]  # the empty one has a, b and c pruned
        words, numbers = gensim_vocabulary(sentences, min_count=1, max_vocab_size=2)
        found = Vocabulary.from_corpus(sentences, min_count=1, max_vocab_size=2)
        assert (found.words, found.counts.tolist()) == (words, numbers)

    @pytest.mark.parametrize("block", [1, 3, 1 << 20])
    def test_sentences_do_not_depend_on_blocks(self, block, tmp_path, monkeypatch):
        """Also where a line is cut among the blanks before its first word."""
        monkeypatch.setattr(gensim_hilbert.corpus.blocks, "BLOCK_BYTES", block)
        for path in (tmp_path / "text.txt", tmp_path / "text.txt.gz"):
            text = "   a b\n \t \n\n  c   \n d\n\u3000 \u3000 e\n\x1f \x1f f".encode()
            path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
            assert Vocabulary.from_corpus(path, min_count=1).sentences == len(list(LineSentence(str(path)))) == 5


# ---------------------------------------------------------------------------------------------------- subsampling


def kept_tokens(files: list[bytes], vocabulary: Vocabulary, sample: float, seed: int) -> list[list[str]]:
    """The sentences that subsampling leaves."""
    limits = (vocabulary.keep_probability(sample) * (2**32 - 1)).astype(np.uint32)
    result = []
    for source, text in enumerate(files):
        start = 0
        for line in text.split(b"\n"):
            kept = []
            for token in re.finditer(rb"[^ \t]+", line):
                word, place = token[0].decode(), (source << 44) + start + token.start()
                if word in vocabulary and draw(seed, place) > limits[vocabulary.index[word]]:
                    continue
                kept.append(word)
            result.append(kept)
            start += len(line) + 1
    return result


class TestSubsampling:
    @pytest.mark.parametrize("sample", [1e-2, 1e-3, 40.0])
    @pytest.mark.parametrize("oov", ["remove", "gap"])
    def test_kept_tokens_equal_the_oracle(self, sample, oov, tmp_path, monkeypatch):
        files = pieces(3)
        plain, packed = [], []
        for k, piece in enumerate(files):
            plain.append(tmp_path / f"{k}.txt")
            packed.append(tmp_path / f"{k}.txt.gz")
            plain[k].write_bytes(piece)
            packed[k].write_bytes(gzip.compress(piece))
        expected = count(plain, sample=sample, seed=7, oov=oov)
        sentences = kept_tokens(files, expected.vocabulary, sample, 7)
        assert sum(map(len, sentences)) < 0.9 * expected.vocabulary.tokens
        assert table_of(expected) == pairs_of(sentences, expected.vocabulary.words, 4, 4, "dynamic", oov)
        for corpus, workers, block in ((packed, 1, 1 << 20), (plain, 3, 100), (packed, 3, 100), (packed, 2, 1000)):
            monkeypatch.setattr(gensim_hilbert.corpus.blocks, "BLOCK_BYTES", block)
            assert_same(count(corpus, workers=workers, sample=sample, seed=7, oov=oov), expected)
        assert count(plain, sample=sample, seed=8, oov=oov).fingerprint != expected.fingerprint

    def test_keep_probability_is_gensims(self, plain):
        from gensim.models import Word2Vec

        for sample in (1e-3, 1e-2, 50.0):
            model = Word2Vec(vector_size=1, min_count=MIN_COUNT, sample=sample)
            model.build_vocab(LineSentence(str(plain)))
            found = Vocabulary.from_corpus(plain, min_count=MIN_COUNT)
            theirs = [model.wv.get_vecattr(word, "sample_int") / (2**32 - 1) for word in found.words]
            np.testing.assert_allclose(found.keep_probability(sample), theirs, rtol=1e-6)

    @pytest.mark.parametrize("window", [4, (3, 1)])
    def test_in_expectation(self, plain, window):
        counts = count(plain, window=window)
        thinned = counts.expected(1e-2)
        keep = counts.vocabulary.keep_probability(1e-2)
        assert keep.min() < 0.9
        table = counts.to_scipy().toarray() * np.outer(keep, keep)
        np.testing.assert_allclose(thinned.to_scipy().toarray(), table, rtol=1e-14)
        np.testing.assert_allclose(thinned.marginals.contexts, table.sum(axis=1), rtol=1e-12)
        np.testing.assert_allclose(thinned.marginals.terms, table.sum(axis=0), rtol=1e-12)
        assert thinned.total == pytest.approx(table.sum(), rel=1e-12)
        i, j = counts.vocabulary.id("the"), counts.vocabulary.id("cat")
        assert thinned.count("the", "cat") == pytest.approx(table[i, j], rel=1e-14)
        np.testing.assert_allclose(thinned.shard(1, 0, 3).toarray(), table[1::3, 0::3], rtol=1e-14)
        pmi = np.log(table[i, j] * table.sum() / table[i].sum() / table[:, j].sum())
        assert thinned.pmi("the", "cat") == pytest.approx(pmi, rel=1e-9)
        np.testing.assert_array_equal(counts.expected(0).to_scipy().toarray(), counts.to_scipy().toarray())


# ---------------------------------------------------------------------------------------------------- going on


class Interrupting(ThreadPoolExecutor):
    """Stops like Ctrl-C once one task of the pairs has been journalled."""

    def __init__(self, workers: int, journal: Path):
        super().__init__(workers)
        self.journal = journal

    def submit(self, *args, **kwargs):
        if self.journal.exists() and self.journal.read_bytes().count(b"\n") >= 2:
            raise KeyboardInterrupt
        return super().submit(*args, **kwargs)


@pytest.mark.parametrize("then", [1, 2, 4])
def test_going_on_with_another_number_of_workers(then, tmp_path, expected, monkeypatch):
    """Two workers read six compressed files on their own; four would have them read by one thread."""
    from gensim_hilbert.counting.layout import JOURNAL

    monkeypatch.setattr(gensim_hilbert.corpus.blocks, "BLOCK_BYTES", 200)
    for k, piece in enumerate(pieces(6)):
        (tmp_path / f"{k}.txt.gz").write_bytes(gzip.compress(piece))
    target, work = tmp_path / "counts", tmp_path / "counts.partial"
    with Interrupting(2, work / JOURNAL) as executor, pytest.raises(KeyboardInterrupt):
        count(tmp_path / "*.gz", directory=target, executor=executor)
    assert work.exists()
    assert_same(count(tmp_path / "*.gz", directory=target, workers=then), expected)
    assert not work.exists()
