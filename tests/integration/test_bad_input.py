"""Whatever is wrong with the input: a clear error or the right result, and no half-written store."""

import bz2
import gzip
import io
import logging
import lzma
import os
import resource
import shutil
import subprocess
import sys
import textwrap
import threading
from functools import partial

import numpy as np
import pytest
from gensim.utils import RULE_DEFAULT, RULE_DISCARD
from helpers import assert_nothing_left, assert_same, some_text, table_of
from reference import pairs_of, sentences_of
from scipy import sparse

import gensim_hilbert.corpus.blocks
from gensim_hilbert import PairCounts, Vocabulary
from gensim_hilbert.vocabulary import NothingToCount

TEXT = some_text().encode()


@pytest.fixture
def target(tmp_path):
    return tmp_path / "out" / "counts"


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT)
    return path


@pytest.fixture
def refused(target):
    """Counting this raises that error and leaves nothing behind."""

    def check(error, message, corpus, **options):
        with pytest.raises(error, match=message) as caught:
            PairCounts.from_corpus(corpus, directory=target, **{"min_count": 1, "workers": 2} | options)
        assert type(caught.value) is error or error in (OSError, UnicodeError)
        assert_nothing_left(target)
        return caught.value

    return check


def packed(tmp_path, text, name="text.txt.gz"):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text))
    return path


# ---------------------------------------------------------------------------------------------------- nothing to read


class TestNothing:
    @pytest.mark.parametrize("text", [b"", b" ", b"\n", b" \n\t\r\n\v\f\n", b"\xef\xbb\xbf", "\u3000\u00a0\n".encode()])
    def test_files_without_a_word(self, text, tmp_path, refused):
        path = tmp_path / "blank.txt"
        path.write_bytes(text)
        refused(NothingToCount, r"the corpus is empty: no word in .*blank\.txt", path)
        refused(NothingToCount, "the corpus is empty", packed(tmp_path, text))
        refused(NothingToCount, "the corpus is empty", io.BytesIO(text))

    @pytest.mark.parametrize("corpus", [[], (), [[]], [[], []]])
    def test_lists_without_a_word(self, corpus, refused):
        refused(NothingToCount, "the corpus is empty", corpus)

    def test_sentences_of_one_word(self, refused):
        refused(NothingToCount, "not a single pair", [["a"], ["b"]])

    def test_generators_and_iterators(self, refused):
        refused(TypeError, "a generator can be read only once; pass a list", (line for line in [["a", "b"]]))
        refused(TypeError, "list_iterator can be read only once", iter([["a", "b"]]))
        refused(TypeError, "map can be read only once", map(str.split, ["a b"]))

    def test_more_files_than_places_can_number(self, plain, refused, monkeypatch):
        assert gensim_hilbert.corpus.blocks.MOST_SOURCES == 2**20
        monkeypatch.setattr(gensim_hilbert.corpus.blocks, "MOST_SOURCES", 3)
        refused(ValueError, "4 files are too many: join some", [plain] * 4)

    def test_no_corpus_at_all(self, refused):
        refused(TypeError, "a corpus is a path, .* got 5", 5)
        refused(TypeError, "a corpus is a path, .* got None", None)

    def test_missing_files(self, tmp_path, plain, refused):
        refused(FileNotFoundError, r"no such file: .*missing\.txt", tmp_path / "missing.txt")
        refused(FileNotFoundError, r"no such file: .*missing\.txt", [plain, tmp_path / "missing.txt"])
        refused(FileNotFoundError, r"no file matches .*\*\.md", tmp_path / "*.md")
        (tmp_path / "empty").mkdir()
        (tmp_path / "empty" / ".hidden").write_bytes(TEXT)
        refused(FileNotFoundError, "the directory .*empty holds no files", tmp_path / "empty")
        (tmp_path / "nowhere.txt").symlink_to(tmp_path / "gone.txt")
        refused(FileNotFoundError, r"nowhere\.txt", tmp_path / "nowhere.txt")

    def test_unreadable_file(self, plain, refused):
        if os.geteuid() == 0:
            pytest.skip("root may read every file")
        plain.chmod(0)
        refused(PermissionError, r"text\.txt", plain)

    def test_a_vocabulary_emptied_by_its_rules(self, plain, refused):
        refused(
            ValueError,
            r"no word is left of \d+: none occurs min_count=100000 times; lower min_count",
            plain,
            min_count=100_000,
        )
        assert "min_count" not in str(refused(ValueError, "trim_rule", plain, trim_rule=lambda *_: RULE_DISCARD))
        refused(ValueError, "max_final_vocab=1", [["a", "b"], ["b", "a"]], max_final_vocab=1)


# ---------------------------------------------------------------------------------------------------- damaged files


class TestDamage:
    @pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
    @pytest.mark.parametrize("how", ["flipped", "truncated"])
    def test_compressed_files(self, suffix, how, tmp_path, refused):
        text = os.urandom(300_000).hex().encode()
        if suffix == ".zst":
            zstd = pytest.importorskip("backports.zstd", reason="pip install 'gensim-hilbert[zst]'")
            pack = partial(zstd.compress, options={zstd.CompressionParameter.checksum_flag: 1})
        else:
            pack = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}[suffix]
        data = bytearray(pack(text))
        half = len(data) // 2
        if how == "flipped":
            data[half : half + 40] = bytes(byte ^ 0xFF for byte in data[half : half + 40])
        else:
            del data[half:]
        path = tmp_path / f"bad{suffix}"
        path.write_bytes(data)
        refused(OSError, rf"bad\{suffix} cannot be read past byte \d+", path)
        # With several files each worker reads its own.
        for k in range(6):
            (tmp_path / f"{k}.txt.gz").write_bytes(gzip.compress(TEXT))
        refused(
            OSError,
            rf"bad\{suffix} cannot be read past byte \d+",
            [*tmp_path.glob("?.txt.gz"), path],
        )

    def test_not_compressed_at_all(self, tmp_path, refused):
        (tmp_path / "text.gz").write_bytes(TEXT)
        refused(OSError, r"text\.gz .*[Nn]ot a gzipped file", tmp_path / "text.gz")

    @pytest.mark.parametrize(
        "bad",
        [
            b"\xff",
            b"caf\xe9",
            b"\xc3",
            b"a\xed\xa0\x80",
            b"\xc0\xaf",
            b"\xf5\x80\x80\x80",
            b"\xe2\x82",
            b"\xe2\x80",
            b"y\xe2\x80",
            b"\xc2",
            b"\xe3\x80",
            b"\xe1\x9a",
        ],
    )
    def test_invalid_utf8_is_named_to_the_byte(self, bad, tmp_path, refused, monkeypatch):
        good = "naïve 日本語 words\n".encode() * 40
        text = good + b"x " + bad + b" y\n" + good
        with pytest.raises(UnicodeDecodeError) as caught:
            text.decode()
        for block in (1 << 20, 50):
            monkeypatch.setattr(gensim_hilbert.corpus.blocks, "BLOCK_BYTES", block)
            (tmp_path / "text.txt").write_bytes(text)
            for path in (tmp_path / "text.txt", packed(tmp_path, text, "bad.txt.gz")):
                message = rf"{path.name}: invalid UTF-8 at byte {caught.value.start}; .*errors='replace'"
                refused(UnicodeError, message, path)
                refused(UnicodeError, message, path, max_vocab_size=2)
                refused(UnicodeError, message, path, vocabulary=Vocabulary(["naïve", "words"], [1, 1]))

    def test_invalid_utf8_before_a_line_end(self, tmp_path, refused):
        for bad in (b"\xe2\x80", b"\xe2\x81", b"\xe1\x9a", b"\xe3\x80", b"\xc2"):
            (tmp_path / "text.txt").write_bytes(b"a b" + bad + b"\nc d\n")
            refused(UnicodeError, r"text\.txt: invalid UTF-8 at byte 3;", tmp_path / "text.txt")

    def test_in_the_second_file_offsets_begin_anew(self, tmp_path, plain, refused):
        (tmp_path / "b.txt").write_bytes(b"ab \xff\n")
        refused(UnicodeError, r"b\.txt: invalid UTF-8 at byte 3;", [plain, tmp_path / "b.txt"])

    @pytest.mark.parametrize("errors", ["replace", "ignore"])
    @pytest.mark.parametrize("block", [1 << 20, 7])
    def test_other_ways_equal_decoding_first(self, errors, block, tmp_path, monkeypatch):
        monkeypatch.setattr(gensim_hilbert.corpus.blocks, "BLOCK_BYTES", block)
        lines = b"a\xffb c \xff d\ncaf\xe9 \xc3 \xe2\x82 e\n\xff\n\xfe \xff\nab \xed\xa0\x80 "
        text = (lines + b"\xe2\x80\xa8x\xc2\xa0y\xe2\x80 z\n") * 5 + b"last \xf0\x9f\x98"
        raw, clean = tmp_path / "raw.txt", tmp_path / "clean.txt"
        raw.write_bytes(text)
        clean.write_bytes(text.decode("utf-8", errors).encode())
        expected = PairCounts.from_corpus(clean, min_count=1)
        sentences = sentences_of(text, errors)
        assert table_of(expected) == pairs_of(sentences, expected.vocabulary.words, 5, 5, "dynamic")
        for corpus in (raw, packed(tmp_path, text)):
            assert_same(PairCounts.from_corpus(corpus, min_count=1, errors=errors), expected)

    def test_nul_crlf_and_byte_order_marks(self, tmp_path):
        text = b"\xef\xbb\xbfone two\x00 \x00 three\r\n\r\none \xef\xbb\xbftwo two\x00\rfour\r\n"
        text += b"\xef\xbb\xbfone\x00two \x00"
        second = b"\xef\xbb\xbfone five"
        sentences = [
            ["one", "two\0", "\0", "three"],
            ["one", "\ufefftwo", "two\0", "four"],
            ["\ufeffone\0two", "\0"],
            ["one", "five"],
        ]
        assert sentences_of(text) + sentences_of(second) == sentences
        (tmp_path / "a.txt").write_bytes(text)
        (tmp_path / "b.txt").write_bytes(second)
        expected = PairCounts.from_corpus(sentences, min_count=1)
        assert_same(PairCounts.from_corpus([tmp_path / "a.txt", tmp_path / "b.txt"], min_count=1), expected)
        assert_same(
            PairCounts.from_corpus([packed(tmp_path, text), packed(tmp_path, second, "b.gz")], min_count=1), expected
        )

    def test_a_huge_word(self, tmp_path):
        huge = "ü" * 2_500_000
        text = f"one {huge} two\n{huge}\n".encode()
        (tmp_path / "text.txt").write_bytes(text)
        for corpus in (tmp_path / "text.txt", packed(tmp_path, text), [["one", huge, "two"], [huge]]):
            counts = PairCounts.from_corpus(corpus, min_count=1, window=2, weights="flat")
            assert counts.vocabulary.words[0] == huge
            assert counts.vocabulary.counts.tolist() == [2, 1, 1]
            assert counts.total == 6
            assert counts.count("one", huge) == 1


# ---------------------------------------------------------------------------------------------------- arguments


class TestArguments:
    @pytest.mark.parametrize("window", [0, -1, (0, 0), (-1, 5), (1, 2, 3), "5", 2.5, (1.5, 1)])
    def test_window(self, window, plain, refused):
        refused(ValueError, "window must be a size of 1 or more", plain, window=window)

    def test_numbers_of_numpy(self, plain):
        assert_same(
            PairCounts.from_corpus(plain, window=np.int64(3), min_count=np.int64(2)),
            PairCounts.from_corpus(plain, window=3, min_count=2),
        )
        assert_same(
            PairCounts.from_corpus(plain, window=2, weights=np.array([1, 0.5], dtype=np.float32)),
            PairCounts.from_corpus(plain, window=2),
        )

    def test_numbers_of_numpy_are_not_mistaken_for_each_other(self, plain, target):
        PairCounts.from_corpus(plain, sample=np.float32(0.25), directory=target)
        with pytest.raises(FileExistsError):
            PairCounts.from_corpus(plain, sample=np.float32(0.125), directory=target)

    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            ([1, 2], r"one number for each of the 3 distances, got \[1, 2\]"),
            ([1, 2, 3, 4], "one number for each of the 3"),
            ([], "one number for each of the 3"),
            ("linear", "weights must be one of flat, dynamic, harmonic, .*'linear'"),
            ([1, -1, 1], "a weight must be a number of 0 or more, got -1"),
            ([1, float("nan"), 1], "a weight must be .* got nan"),
            ([1, float("inf"), 1], "a weight must be .* got inf"),
            (([1, 1, 1], [1, 1]), r"one number for each of the 3"),
        ],
    )
    def test_weights(self, weights, message, plain, refused):
        refused(ValueError, message, plain, window=3, weights=weights)

    def test_weights_without_a_common_denominator(self, plain, refused):
        """Their denominators multiply to 10^21: exact integers would not fit, so they are rounded."""
        weights = [1 / 997, 1 / 991, 1 / 983, 1 / 977, 1 / 971, 1 / 967, 1 / 953]
        counts = PairCounts.from_corpus(plain, window=7, weights=weights)
        assert counts.scale == 2**20
        assert counts.window.left == tuple(round(weight * 2**20) for weight in weights)

    def test_harmonic_weights_too_wide_to_be_exact(self, plain, refused):
        refused(ValueError, "window=40 is too wide for exact harmonic weights", plain, window=40, weights="harmonic")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"workers": 0}, "workers must be 1 or more, got 0"),
            ({"workers": -2}, "workers must be 1 or more, got -2"),
            ({"min_count": -1}, "min_count must be 0 or more, got -1"),
            ({"errors": "xmlcharref"}, "errors must be one of .*'xmlcharref'"),
            ({"oov": "keep"}, "oov must be one of remove, gap, got 'keep'"),
            ({"max_vocab_size": -1}, "max_vocab_size must be 0 or more, got -1"),
            ({"max_final_vocab": -1}, "max_final_vocab must be 0 or more, got -1"),
            ({"sample": -1e-3}, "sample must be a number of 0 or more, got -0.001"),
            ({"sample": float("nan")}, "sample must be a number of 0 or more, got nan"),
            ({"sample": float("inf")}, "sample must be a number of 0 or more, got inf"),
            ({"memory_gb": 0.0001}, r"memory_gb=0\.0001 is too small for \d+ words: 0\.\d+ is the least"),
            ({"memory_gb": 0}, "memory_gb=0 is too small"),
            ({"memory_gb": -1}, "memory_gb=-1 is too small"),
            ({"memory_gb": float("nan")}, "memory_gb=nan is too small"),
            ({"seed": -1, "sample": 1e-3}, "seed must be"),
        ],
    )
    def test_numbers_out_of_range(self, options, message, plain, refused):
        refused(ValueError, message, plain, **options)

    def test_the_least_memory_that_is_named_is_enough(self, plain, refused):
        message = str(refused(ValueError, "is the least", plain, memory_gb=0.001))
        least = float(message.split(": ")[1].split(" ")[0])
        assert_same(PairCounts.from_corpus(plain, memory_gb=least), PairCounts.from_corpus(plain))

    def test_sentences_that_are_none(self, refused, caplog):
        refused(TypeError, "sentence 1 holds 2, a int; words must be str", [["a", "b"], ["a", 2]])
        refused(TypeError, "sentence 0 holds b'a', a bytes", [[b"a", b"b"]])
        refused(TypeError, "sentence 0 .*5.*int", [5, 6])
        refused(TypeError, "sentence 1 .*None", [["a", "b"], None])

    def test_a_str_as_a_sentence_is_taken_as_gensim_does_with_a_warning(self, caplog):
        class Lines:
            def __iter__(self):
                return iter(["abc", "abd"])

        with caplog.at_level(logging.WARNING):
            counts = PairCounts.from_corpus(Lines(), min_count=1)
        assert sorted(counts.vocabulary.words) == ["a", "b", "c", "d"]
        assert "should be a list of words" in caplog.text

    def test_a_list_of_file_objects(self, tmp_path, refused):
        """They must not pass for token lists whose words are whole lines."""
        files = [io.StringIO("one two\nthree four\n"), io.StringIO("five six\n")]
        counts = PairCounts.from_corpus(files, min_count=1)
        assert_same(counts, PairCounts.from_corpus([["one", "two"], ["three", "four"], ["five", "six"]], min_count=1))

    def test_an_existing_directory(self, tmp_path, plain):
        taken = tmp_path / "taken"
        taken.mkdir()
        (taken / "letter.txt").write_text("dear")
        with pytest.raises(FileExistsError, match=r"taken exists .*overwrite=True"):
            PairCounts.from_corpus(plain, directory=taken, min_count=1)
        assert [path.name for path in taken.iterdir()] == ["letter.txt"]
        assert not (tmp_path / "taken.partial").exists()
        PairCounts.from_corpus(plain, directory=taken, min_count=1, overwrite=True)
        first = PairCounts.open(taken)
        with pytest.raises(FileExistsError, match="overwrite=True"):
            PairCounts.from_corpus(plain, directory=taken, min_count=2)
        assert_same(PairCounts.open(taken), first)

    def test_another_rule_of_the_same_name_is_another_count(self, plain, target):
        def rule(least):
            return lambda word, number, min_count: RULE_DEFAULT if len(word) >= least else RULE_DISCARD

        PairCounts.from_corpus(plain, directory=target, min_count=1, trim_rule=rule(1))
        counts = PairCounts.from_corpus(plain, directory=target, min_count=1, trim_rule=rule(3), overwrite=True)
        assert min(map(len, counts.vocabulary.words)) == 3

    def test_a_rule_without_a_name(self, plain, target):
        import functools

        def rule(word, number, min_count, least):
            return RULE_DEFAULT if len(word) >= least else RULE_DISCARD

        counts = PairCounts.from_corpus(
            plain, directory=target, min_count=1, trim_rule=functools.partial(rule, least=3)
        )
        assert min(map(len, counts.vocabulary.words)) == 3

    def test_another_vocabulary_with_the_same_words_is_another_count(self, plain, target):
        """Subsampling goes by the counts of the vocabulary."""
        first, second = Vocabulary(["the", "of", "and"], [1, 1, 1]), Vocabulary(["the", "of", "and"], [1000, 10, 1])
        PairCounts.from_corpus(plain, directory=target, vocabulary=first, sample=1e-3)
        counts = PairCounts.from_corpus(plain, directory=target, vocabulary=second, sample=1e-3, overwrite=True)
        assert_same(counts, PairCounts.from_corpus(plain, vocabulary=second, sample=1e-3))


# ---------------------------------------------------------------------------------------------------- moving targets


class TestMovingTargets:
    def test_a_corpus_that_changes_between_the_passes(self, refused):
        class Growing:
            passes = 0

            def __iter__(self):
                self.passes += 1
                return iter([["a", "b"]] * self.passes)

        refused(RuntimeError, "the corpus had 2 words when .* and 4 when", Growing())

    def test_a_corpus_that_can_be_read_once_though_it_does_not_say_so(self, refused):
        class Once:
            def __init__(self):
                self.lines = iter([["a", "b"]] * 3)

            def __iter__(self):
                return iter(self.lines)

        refused(RuntimeError, "the corpus had 6 words when .* and 0 when", Once())

    def test_a_file_that_shrinks(self, plain, refused):
        def shrink(word, number, min_count):
            os.truncate(plain, 100)
            return RULE_DEFAULT

        refused(OSError, r"text\.txt is shorter than it was", plain, trim_rule=shrink)

    def test_a_stream_that_cannot_seek(self, refused):
        class Pipe(io.BytesIO):
            def seekable(self):
                return False

        refused(ValueError, "can be read only once, .* pass vocabulary=", Pipe(TEXT))

    def test_a_fifo(self, tmp_path, plain, target, refused):
        path = tmp_path / "fifo"
        os.mkfifo(path)
        refused(ValueError, r"fifo can be read only once, .* pass vocabulary=", path)
        expected = PairCounts.from_corpus(plain, min_count=1)
        writer = threading.Thread(target=lambda: path.write_bytes(TEXT), daemon=True)
        writer.start()
        counts = PairCounts.from_corpus(path, vocabulary=expected.vocabulary, directory=target)
        writer.join()
        assert table_of(counts) == table_of(expected)


# ---------------------------------------------------------------------------------------------------- a full disk


WIDE = """
    import os, sys
    import numpy as np
    from gensim_hilbert import PairCounts
    numbers = np.random.default_rng(1).integers(0, 3000, 200_000)
    with open({text!r}, "w") as file:
        for line in numbers.reshape(-1, 50):
            print(*line, file=file)
    {limit}
    try:
        PairCounts.from_corpus({text!r}, directory={target!r}, min_count=1)
    except OSError as error:
        sys.exit(f"{{error.errno}} {{error}}")
"""


def count_in_process(**values) -> subprocess.CompletedProcess:
    program = textwrap.dedent(WIDE).format(**values)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)


class TestFullDisk:
    def test_a_small_file_system(self, tmp_path):
        disk = tmp_path / "disk"
        disk.mkdir()
        if (
            not shutil.which("mount")
            or subprocess.run(
                ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], capture_output=True, check=False
            ).returncode
        ):
            pytest.skip("a small tmpfs cannot be mounted here")
        try:
            done = count_in_process(text=str(tmp_path / "text.txt"), target=str(disk / "counts"), limit="")
            assert done.returncode == 1
            assert done.stderr.startswith("28 "), done.stderr
            assert "the disk is full" in done.stderr
            assert os.listdir(disk) == []
            assert_nothing_left(disk / "counts")
        finally:
            subprocess.run(["umount", str(disk)], check=True)

    def test_a_limit_on_the_size_of_files(self, tmp_path):
        limit = (
            f"import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
            f"resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, {resource.RLIM_INFINITY}))"
        )
        done = count_in_process(text=str(tmp_path / "text.txt"), target=str(tmp_path / "counts"), limit=limit)
        assert done.returncode == 1
        assert done.stderr.startswith("27 "), done.stderr  # EFBIG
        assert_nothing_left(tmp_path / "counts")


# ---------------------------------------------------------------------------------------------------- large counts


def cell(counts: PairCounts, context: str, term: str) -> int:
    """The integer in the store."""
    rows, columns, scaled = counts._store.entries(0, 0, 1)
    i, j = counts.vocabulary.id(context), counts.vocabulary.id(term)
    return int(scaled[(rows == i) & (columns == j)].sum())


class TestLargeCounts:
    @pytest.mark.parametrize("weight", [4e9, 2**40 + 1, 2**53 - 1])
    @pytest.mark.parametrize("window", [1, (1, 0), (0, 1)])
    def test_past_32_bits(self, weight, window):
        counts = PairCounts.from_corpus(
            [["a", "b"], ["b", "b"], ["c", "a"]] * 3, window=window, weights=[weight], min_count=1
        )
        assert counts.scale == 1
        table = {
            (counts.vocabulary.words[i], counts.vocabulary.words[j]): int(v) for (i, j), v in table_of(counts).items()
        }
        w = int(weight)
        symmetric = {("a", "b"): 3 * w, ("b", "a"): 3 * w, ("b", "b"): 6 * w, ("c", "a"): 3 * w, ("a", "c"): 3 * w}
        left = {("a", "b"): 3 * w, ("b", "b"): 3 * w, ("c", "a"): 3 * w}  # the context stands to the left
        right = {(term, context): value for (context, term), value in left.items()}
        assert table == {1: symmetric, (1, 0): left, (0, 1): right}[window]
        assert int(counts._store.marginals_scaled[0].sum()) == sum(table.values())

    def test_a_line_cut_into_blocks(self, monkeypatch):
        monkeypatch.setattr(gensim_hilbert.corpus.blocks, "BLOCK_BYTES", 4)
        counts = PairCounts.from_corpus(io.BytesIO(b"a b " * 3), window=1, weights=[2**40 + 1], min_count=1)
        assert cell(counts, "a", "b") == 5 * (2**40 + 1)

    def test_merged_past_32_bits(self, tmp_path):
        counts = PairCounts.from_scipy(sparse.coo_array(np.array([[0, 2**31], [2**31 + 1, 5]])), ["a", "b"])
        total = PairCounts.merge([counts] * 5, directory=tmp_path / "sum")
        assert cell(total, "a", "b") == 5 * 2**31
        assert cell(total, "b", "a") == 5 * (2**31 + 1)
        assert cell(total, "b", "b") == 25

    def test_past_63_bits_is_refused(self, refused, target):
        refused(OverflowError, "overflow 64 bits", [["a", "b"]] * 4, window=1, weights=[2**60])
        refused(OverflowError, "overflow", [["a", "b"]] * 4, window=1, weights=[2**64])
        refused(OverflowError, "overflow", [["a", "b"]] * 4, window=1, weights=[1e300])
        half = PairCounts.from_scipy(sparse.coo_array(np.array([[0, 2.0**61], [2.0**61, 0]])), ["a", "b"])
        with pytest.raises(OverflowError, match="overflow"):
            PairCounts.merge([half, half, half], directory=target)
        assert_nothing_left(target)
        with pytest.raises(OverflowError, match="overflow 64 bits"):
            PairCounts.from_scipy(sparse.coo_array(np.array([[0, 2.0**63], [1, 0]])), ["a", "b"], directory=target)
        assert_nothing_left(target)
