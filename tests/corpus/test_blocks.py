"""Text is cut into blocks anywhere: words, sentences and errors are the same whatever the size of a block."""

import gzip
import io

import pytest
from gensim.models.word2vec import LineSentence
from helpers import MIN_COUNT, assert_same_counts, count, table_of
from reference import gensim_vocabulary, pairs_of, sentences_of
from texts import TEXT, write_gzip

from gensim_hilbert import PairCounts, Vocabulary
from gensim_hilbert.corpus.sources import as_corpus


def test_blocks_do_not_depend_on_how_a_stream_deals_out_its_data(set_block_bytes):
    """Counting that goes on after an interruption finds its blocks by where they start."""

    class Meagre(io.BytesIO):
        def read(self, size=-1):
            return super().read(min(size, 1 + self.tell() % 7))

    set_block_bytes(200)
    whole, meagre = (
        [(block.start, block.data, block.inside, block.open) for block in as_corpus(kind(TEXT)).blocks(streams=True)]
        for kind in (io.BytesIO, Meagre)
    )
    assert whole == meagre
    assert len(whole) > 10


def test_a_long_line_is_counted_alike_in_any_blocks_by_any_workers(set_block_bytes, tmp_path):
    """Several MB without a line end."""
    long_line = tmp_path / "text8"
    long_line.write_bytes(b" ".join(TEXT.split() * (2_500_000 // len(TEXT))))
    expected = count(long_line, workers=1)
    assert expected.vocabulary.sentences == 1
    words, numbers = gensim_vocabulary([long_line.read_text().split()], min_count=MIN_COUNT)
    assert (expected.vocabulary.words, expected.vocabulary.counts.tolist()) == (words, numbers)
    gz = write_gzip(tmp_path / "text8.gz", long_line.read_bytes())
    for block, workers, corpus in (
        (1 << 20, 2, long_line),
        (1 << 20, 3, gz),
        (1 << 16, 3, long_line),
        (5000, 2, gz),
    ):
        set_block_bytes(block)
        assert_same_counts(count(corpus, workers=workers), expected)


@pytest.mark.parametrize("block", [1, 20, 1000, 1 << 14])
def test_plain_and_compressed_files_are_cut_at_the_same_places(set_block_bytes, tmp_path, block):
    """So that functions and phrases see the same pieces of long lines."""
    set_block_bytes(block)
    words = TEXT.replace(b"\n", b" ").split(b" ")
    text = b" ".join(words * 3) + b"\n" + b"\n".join(words[:500]) + b"x" * 5000 + b" \t " + b" ".join(words) + b" "
    (tmp_path / "text.txt").write_bytes(text)
    plain, packed = (
        [
            (block.start, block.stop, block.data, block.inside, block.open)
            for range_ in as_corpus(path).blocks(streams=True)
            for block in range_.read()
        ]
        for path in (tmp_path / "text.txt", write_gzip(tmp_path / "text.txt.gz", text))
    )
    assert b"".join(data for _, _, data, _, _ in packed) == text
    assert [piece for piece in packed if piece[2]] == plain
    assert any(is_open for *_, is_open in plain)


def test_lines_over_ten_thousand_words_are_used_whole(tmp_path):
    words = [f"w{k % 50}" if k % 10_000 else f"at{k}" for k in range(30_001)]
    path = tmp_path / "text.txt"
    path.write_text(" ".join(words) + "\nshort line\n")
    counts = PairCounts.from_corpus(path, window=1, min_count=1)
    assert counts.count("w49", "at10000") == counts.count("w1", "at20000") == 1
    assert counts.total == 2 * 30_000 + 2
    assert counts.vocabulary.sentences == 2


@pytest.mark.parametrize("block", [1, 3, 1 << 20])
def test_sentences_do_not_depend_on_blocks(block, tmp_path, set_block_bytes):
    """Also where a line is cut among the blanks before its first word."""
    set_block_bytes(block)
    for path in (tmp_path / "text.txt", tmp_path / "text.txt.gz"):
        text = "   a b\n \t \n\n  c   \n d\n\u3000 \u3000 e\n\x1f \x1f f".encode()
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
        assert Vocabulary.from_corpus(path, min_count=1).sentences == len(list(LineSentence(str(path)))) == 5


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
def test_invalid_utf8_is_named_to_the_byte(bad, tmp_path, refused, set_block_bytes):
    good = "naïve 日本語 words\n".encode() * 40
    text = good + b"x " + bad + b" y\n" + good
    with pytest.raises(UnicodeDecodeError) as caught:
        text.decode()
    for block in (1 << 20, 50):
        set_block_bytes(block)
        (tmp_path / "text.txt").write_bytes(text)
        for path in (tmp_path / "text.txt", write_gzip(tmp_path / "bad.txt.gz", text)):
            message = rf"{path.name}: invalid UTF-8 at byte {caught.value.start}; .*errors='replace'"
            refused(UnicodeError, message, path)
            refused(UnicodeError, message, path, max_vocab_size=2)
            refused(UnicodeError, message, path, vocabulary=Vocabulary(["naïve", "words"], [1, 1]))


def test_invalid_utf8_before_a_line_end(tmp_path, refused):
    for bad in (b"\xe2\x80", b"\xe2\x81", b"\xe1\x9a", b"\xe3\x80", b"\xc2"):
        (tmp_path / "text.txt").write_bytes(b"a b" + bad + b"\nc d\n")
        refused(UnicodeError, r"text\.txt: invalid UTF-8 at byte 3;", tmp_path / "text.txt")


def test_offsets_of_errors_begin_anew_in_each_file(tmp_path, plain, refused):
    (tmp_path / "b.txt").write_bytes(b"ab \xff\n")
    refused(UnicodeError, r"b\.txt: invalid UTF-8 at byte 3;", [plain, tmp_path / "b.txt"])


@pytest.mark.parametrize("errors", ["replace", "ignore"])
@pytest.mark.parametrize("block", [1 << 20, 7])
def test_other_error_handlers_equal_decoding_first(errors, block, tmp_path, set_block_bytes):
    set_block_bytes(block)
    lines = b"a\xffb c \xff d\ncaf\xe9 \xc3 \xe2\x82 e\n\xff\n\xfe \xff\nab \xed\xa0\x80 "
    text = (lines + b"\xe2\x80\xa8x\xc2\xa0y\xe2\x80 z\n") * 5 + b"last \xf0\x9f\x98"
    raw, clean = tmp_path / "raw.txt", tmp_path / "clean.txt"
    raw.write_bytes(text)
    clean.write_bytes(text.decode("utf-8", errors).encode())
    expected = PairCounts.from_corpus(clean, min_count=1)
    sentences = sentences_of(text, errors)
    assert table_of(expected) == pairs_of(sentences, expected.vocabulary.words, 5, 5, "dynamic")
    for corpus in (raw, write_gzip(tmp_path / "text.txt.gz", text)):
        assert_same_counts(PairCounts.from_corpus(corpus, min_count=1, errors=errors), expected)


def test_nul_crlf_and_byte_order_marks(tmp_path):
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
    write_gzip(tmp_path / "a.gz", text)
    write_gzip(tmp_path / "b.gz", second)
    expected = PairCounts.from_corpus(sentences, min_count=1)
    assert_same_counts(PairCounts.from_corpus([tmp_path / "a.txt", tmp_path / "b.txt"], min_count=1), expected)
    assert_same_counts(PairCounts.from_corpus(tmp_path / "?.gz", min_count=1), expected)


def test_a_huge_word(tmp_path):
    huge = "ü" * 2_500_000
    text = f"one {huge} two\n{huge}\n".encode()
    (tmp_path / "text.txt").write_bytes(text)
    for corpus in (tmp_path / "text.txt", write_gzip(tmp_path / "text.txt.gz", text), [["one", huge, "two"], [huge]]):
        counts = PairCounts.from_corpus(corpus, min_count=1, window=2, weights="flat")
        assert counts.vocabulary.words[0] == huge
        assert counts.vocabulary.counts.tolist() == [2, 1, 1]
        assert counts.total == 6
        assert counts.count("one", huge) == 1
