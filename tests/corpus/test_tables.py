"""Every kind of table counts as the same text in lines does, bit for bit; what cannot be read is told in a sentence."""

import gzip
import multiprocessing
import os
import random
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers import assert_same_counts, count
from hypothesis import given
from hypothesis import strategies as st
from shell import assert_one_sentence, run_here
from table_files import WRITERS, jsonl, rows_of, table_of_rows, write_arrow, write_csv, write_jsonl, write_parquet
from texts import TEXT, pieces

import gensim_hilbert.corpus.blocks
from gensim_hilbert import HilbertMLE, PairCounts, Vocabulary
from gensim_hilbert.corpus import blocks
from gensim_hilbert.corpus.preparation import preparation_of
from gensim_hilbert.corpus.rows import TableError
from gensim_hilbert.corpus.sources import as_corpus
from gensim_hilbert.corpus.tables import divide, reader_of
from gensim_hilbert.word_scan import NothingToCount

ROWS = rows_of(TEXT)


@pytest.mark.parametrize("name", WRITERS)
def test_a_table_counts_as_its_text_does(name, tmp_path, expected, set_block_bytes):
    path = WRITERS[name](tmp_path / name, ROWS)
    for block, workers in ((200, 2), (1 << 20, 1)):
        set_block_bytes(block)
        assert_same_counts(count(path, column="text", workers=workers), expected)


def test_a_compressed_parquet_file(tmp_path, expected):
    path = tmp_path / "table.parquet.gz"
    path.write_bytes(gzip.compress(write_parquet(tmp_path / "table.parquet", ROWS).read_bytes()))
    assert_same_counts(count(path), expected)


def test_zst_is_read(tmp_path, expected):
    zstd = pytest.importorskip("backports.zstd", reason="pip install 'gensim-hilbert[zst]'")
    path = tmp_path / "table.jsonl.zst"
    path.write_bytes(zstd.compress(jsonl(ROWS)))
    assert_same_counts(count(path), expected)


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())])
def test_strings_of_every_type(kind, tmp_path, expected):
    assert_same_counts(count(write_parquet(tmp_path / "a.parquet", ROWS, kind), column="text"), expected)
    assert_same_counts(count(write_arrow(tmp_path / "a.arrow", ROWS, kind), column="text"), expected)


def test_on_processes(tmp_path, expected, set_block_bytes):
    """What a block tells of its part of the file reaches another process."""
    set_block_bytes(200)
    names = ["table.parquet", "table.arrow", "table.jsonl", "table.csv.gz"]
    paths = [WRITERS[name](tmp_path / name, ROWS) for name in names]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as executor:
        for path in paths:
            assert_same_counts(count(path, column="text", executor=executor), expected)


def test_many_tables_of_many_kinds(tmp_path, expected, set_block_bytes):
    set_block_bytes(200)
    names = ["a.parquet", "b.parquet", "c.jsonl", "d.csv", "e.jsonl.gz", "f.arrow"]
    for name, part in zip(names, pieces(len(names)), strict=True):
        WRITERS["table" + name[1:]](tmp_path / name, rows_of(part))
    for corpus in (tmp_path, [tmp_path / name for name in names]):
        assert_same_counts(count(corpus, column="text"), expected)


@pytest.mark.parametrize("name", ["table.parquet", "table.arrow", "table.jsonl", "table.jsonl.gz", "table.csv"])
def test_on_the_web(name, tmp_path, http_folder, site, expected, set_block_bytes):
    """From a server without ranges, and from one with ranges, of which a part of the file can be asked."""
    pytest.importorskip("requests", reason="requests is not installed: pip install 'gensim-hilbert[http]'")
    set_block_bytes(2000)
    address, folder = http_folder
    data = WRITERS[name](folder / name, ROWS).read_bytes()
    assert_same_counts(count(f"{address}/{name}", column="text"), expected)
    site.files[name] = data
    assert_same_counts(count(f"{site.address}/{name}", column="text"), expected)
    if name in ("table.parquet", "table.arrow"):
        assert all(request.range for request in site.requested("GET"))
        assert as_corpus(f"{site.address}/{name}", column="text").streams > 1
        assert as_corpus(f"{address}/{name}", column="text").streams == 1


def test_in_a_bucket(s3, tmp_path, expected, set_block_bytes):
    set_block_bytes(2000)
    client, bucket = s3
    names = ["a.parquet", "b.parquet", "c.jsonl.gz", "d.arrow"]
    for name, part in zip(names, pieces(len(names)), strict=True):
        path = WRITERS["table" + name[1:]](tmp_path / name, rows_of(part))
        client.put_object(Bucket=bucket, Key=f"tables/{name}", Body=path.read_bytes())
    assert_same_counts(count(f"s3://{bucket}/tables/", column="text"), expected)


WORDS = st.sampled_from(
    ["a", "b", 'say "c"', "d,e", "é", "日本", "\ufeff", "\x1c", '"', "''", "\\", "{", "f;\tg", "\x85"]
)
TEXTS = st.lists(st.tuples(WORDS, st.sampled_from([" ", "\n", "\r\n", ""])), max_size=6).map(
    lambda parts: "".join(word + gap for word, gap in parts)
)


@given(
    rows=st.lists(st.none() | TEXTS, max_size=12),
    name=st.sampled_from(list(WRITERS)),
    block=st.sampled_from([1, 16, 1 << 20]),
)
def test_whatever_the_texts_hold(rows, name, block, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    path = WRITERS[name](folder / name, ["x y", *rows])
    lines = folder / "text.txt"
    lines.write_bytes("".join(f"{row}\n" for row in ["x y", *rows] if row is not None).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gensim_hilbert.corpus.blocks, "BLOCK_BYTES", block)
        assert_same_counts(count(path, column="text", min_count=1), count(lines, min_count=1))


@pytest.mark.parametrize("ends", [pytest.param("lines", marks=pytest.mark.slow), "punctuation"])
def test_a_tokenizer_works_on_rows_as_on_lines(ends, tmp_path, set_block_bytes):
    set_block_bytes(300)
    rows = ["The cat's mat. It SAT? Yes", "a b. " * 300, None, "Ünïcode-Wörter, 3.14!\nsecond line"] * 9
    (tmp_path / "text.txt").write_text("".join(f"{row}\n" for row in rows if row is not None))
    preparation = preparation_of("words", ends)
    expected = count(as_corpus(tmp_path / "text.txt", preparation=preparation))
    for name in ("table.parquet", "table.jsonl", "table.csv.gz", "stream.arrow"):
        path = WRITERS[name](tmp_path / name, rows)
        assert_same_counts(count(as_corpus(path, preparation=preparation, column="text")), expected)
    assert_same_counts(count(as_corpus(table_of_rows(rows), preparation=preparation)), expected)


# ---------------------------------------------------------------------------------------------------- parts and places


@pytest.mark.parametrize("name", ["table.parquet", "table.arrow", "stream.arrow", "table.jsonl.gz"])
def test_parts_are_read_by_each_worker(name, tmp_path, set_block_bytes):
    set_block_bytes(200)
    path = WRITERS[name](tmp_path / name, ROWS)
    corpus = as_corpus(path, column="text")
    assert corpus.streams > 5 or name not in ("table.parquet", "table.arrow")
    assert corpus.total == path.stat().st_size
    read = [part for block in corpus.blocks(streams=False) for part in block.read()]
    assert sum(part.cost for part in read) == corpus.total
    ends = [(part.place, part.place + len(part.data)) for part in read]
    assert all(end <= start for (_, end), (start, _) in pairwise(ends))
    assert b"".join(part.data for part in read) == "".join(f"{row}\n" for row in ROWS if row is not None).encode()


def test_ranges_of_json_lines_do_not_overlap(tmp_path, set_block_bytes):
    set_block_bytes(200)
    corpus = as_corpus(write_jsonl(tmp_path / "table.jsonl", ROWS))
    read = [part for block in corpus.blocks(streams=False) for part in block.read()]
    assert len(read) > 20
    assert corpus.streams == 0
    assert sum(part.cost for part in read) == corpus.total
    assert all(part.start + len(part.data) <= part.stop for part in read)
    assert [part.start for part in read[1:]] == [part.stop for part in read[:-1]]


def test_small_groups_of_rows_are_read_together(tmp_path, monkeypatch):
    path = write_parquet(tmp_path / "table.parquet", ["one two three"] * 1000, rows_per_group=10)
    assert as_corpus(path).streams == 1
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1)
    assert as_corpus(path).streams == 100
    monkeypatch.setattr(blocks, "MOST_SOURCES", 40)
    assert 20 <= as_corpus(path).streams <= 40


def test_what_a_part_costs_adds_up():
    whole = blocks.Block(0, 0, None, "table", cost=1001)
    look = reader_of("a.parquet")("text"), [3, 0, 5, 1, 9]
    for least in (1, 4, 100):
        parts = divide(whole, look, least)
        assert sum(part.cost for part in parts) == 1001
        groups = [group for part in parts for group in range(*part.reader.groups)]
        assert groups == list(range(5))


def test_an_interrupted_count_goes_on_for_the_same_column_only(tmp_path):
    pq.write_table(pa.table({"a": ["one two"] * 9, "b": ["two three"] * 9}), tmp_path / "table.parquet")
    first, second = (as_corpus(tmp_path / "table.parquet", column=column) for column in "ab")
    assert first.fingerprint != second.fingerprint
    assert first.fingerprint == as_corpus(tmp_path / "table.parquet", column="a").fingerprint


# ---------------------------------------------------------------------------------------------------- columns


def test_the_only_column_of_text_need_not_be_named(tmp_path, refused):
    assert count(write_parquet(tmp_path / "a.parquet", ["one two"] * 9)).vocabulary.tokens == 18
    assert count(write_jsonl(tmp_path / "a.jsonl", ["one two"] * 9)).vocabulary.tokens == 18
    pq.write_table(pa.table({"title": ["one"], "text": ["two"], "id": [1]}), tmp_path / "b.parquet")
    refused(TableError, "b.parquet has 2 columns of text: choose one of 'title', 'text' by", tmp_path / "b.parquet")
    refused(TableError, "a.csv has 3 columns of text: choose", write_csv(tmp_path / "a.csv", ["one"]))
    pq.write_table(pa.table({"id": [1]}), tmp_path / "c.parquet")
    refused(TableError, r"c\.parquet has no column of text, only 'id'", tmp_path / "c.parquet")


@pytest.mark.parametrize("name", WRITERS)
def test_columns_that_are_not_there_or_not_text(name, tmp_path, refused):
    path = WRITERS[name](tmp_path / name, ["one two"] * 9)
    refused(TableError, rf"{name} has no column 'body'; it has 'id', 'text'", path, column="body")
    if "csv" not in name and "tsv" not in name:
        refused(TableError, f"the column 'id' of .*{name} holds int.* and not text; choose", path, column="id")


def test_a_column_that_is_missing_in_a_later_file(tmp_path, refused):
    for suffix, write in ((".parquet", write_parquet), (".jsonl", write_jsonl), (".csv", write_csv)):
        folder = tmp_path / suffix
        folder.mkdir()
        write(folder / f"a{suffix}", ["one two"] * 9)
        write(folder / f"b{suffix}", ["one two"] * 9)
        data = (folder / f"b{suffix}").read_bytes().replace(b"text", b"body")
        (folder / f"b{suffix}").write_bytes(data)
        if suffix != ".jsonl":
            refused(TableError, rf"b\{suffix} .*'text'", folder, column="text")
        else:  # A key that is missing in some objects is as good as null.
            assert count(folder, column="text").vocabulary.tokens == 18


def test_columns_of_odd_names(tmp_path):
    for name in ("a.b", ""):
        pq.write_table(pa.table({name: ["one two"] * 9, "a": [{"b": 1}] * 9}), tmp_path / "table.parquet")
        assert count(tmp_path / "table.parquet", column=name).vocabulary.tokens == 18


@pytest.mark.usefixtures("block_bytes")
def test_lists_of_words(tmp_path):
    sentences = [["New York", "a\nb", ""], [], ["a\nb", "é"], [""], None, ["x", None, "y"], ["z"] * 100] * 3
    given = [[word for word in sentence if word is not None] for sentence in sentences if sentence is not None]
    expected = count(given, min_count=1)
    for kind in (pa.list_(pa.string()), pa.large_list(pa.large_string())):
        table = pa.table({"words": pa.array(sentences, kind)})
        pq.write_table(table, tmp_path / "table.parquet", row_group_size=4)
        with pa.OSFile(str(tmp_path / "table.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=5)
        for name in ("table.parquet", "table.arrow"):
            assert_same_counts(count(tmp_path / name, min_count=1), expected)
        assert_same_counts(count(table, min_count=1), expected)


# ---------------------------------------------------------------------------------------------------- what is refused


def test_text_and_tables_together(tmp_path, refused):
    write_parquet(tmp_path / "a.parquet", ["one two"])
    (tmp_path / "README.md").write_text("one two\n")
    message = r"a\.parquet is a table, but .*README\.md is none; name the tables by a pattern such as '\*\.parquet'"
    refused(ValueError, message, tmp_path)
    refused(ValueError, r"column='text' is for tables .*, but .*README\.md is none", tmp_path / "*.md", column="text")
    refused(TypeError, "column='text' is for tables, but a list is none", [["one", "two"]], column="text")


def test_a_fifo(tmp_path, refused):
    os.mkfifo(tmp_path / "table.jsonl")
    refused(ValueError, r"table\.jsonl can be read only once, .*: save it to a file", tmp_path / "table.jsonl")


@pytest.mark.parametrize("name", WRITERS)
def test_empty_files(name, tmp_path, refused):
    path = tmp_path / name
    path.write_bytes(b"")
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(b""))
    if "json" in name or "csv" in name or "tsv" in name:
        refused(NothingToCount, f"the corpus is empty: no word in .*{name}", path, column="text")
    else:
        refused(TableError, f"{name} is not an? .* file, or damaged: ", path)
    WRITERS[name](path, [])
    if "json" not in name:
        refused(NothingToCount, f"the corpus is empty: no word in .*{name}", path, column="text")


@pytest.mark.parametrize("places", [2, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["table.parquet", "table.arrow", "table.feather", "stream.arrow", "table.jsonl.gz"])
def test_damaged_files(name, places, tmp_path):
    """Damage may go unnoticed where a format has no checksums, but never ends in anything but a sentence."""
    path = tmp_path / name
    good = WRITERS[name](path, [f"row {k} of many words" for k in range(500)]).read_bytes()

    def complaint(bad: bytes) -> str:
        path.write_bytes(bad)
        try:
            PairCounts.from_corpus(path, column="text", min_count=1, workers=1)
        except (ValueError, OSError) as error:
            return str(error)
        return ""

    chance = random.Random(places)
    flipped = []
    for place in [0, len(good) - 2, *chance.sample(range(len(good)), places)]:
        flip = bytes(byte ^ chance.randrange(256) for byte in good[place : place + 4])
        flipped.append(complaint(good[:place] + flip + good[place + 4 :]))
    told = [complaint(good[: chance.randrange(len(good))]) for _ in range(places)]
    told += [complaint(b"no table at all\n" * 100), *filter(None, flipped)]
    assert [one for one in told if name not in one or "\n" in one or len(one) > 500] == []


def test_malformed_utf8(tmp_path, plain, refused):
    text = b"one \xff\xfe two\nthree \xe9\n" * 9
    plain.write_bytes(text)
    rows = pa.array(text.split(b"\n")).cast(pa.binary()).view(pa.string())
    pq.write_table(pa.table({"text": rows}), tmp_path / "a.parquet")
    (tmp_path / "a.jsonl").write_bytes(b"".join(b'{"text": "%s"}\n' % line for line in text.splitlines()))
    (tmp_path / "a.csv").write_bytes(b"text\n" + text)
    for name in ("a.parquet", "a.jsonl", "a.csv"):
        refused(UnicodeError, rf"{name}: invalid UTF-8 at byte \d+", tmp_path / name)
        for errors in ("replace", "ignore"):
            assert_same_counts(count(tmp_path / name, errors=errors), count(plain, errors=errors))


def test_a_table_that_changes(tmp_path, refused):
    path = write_parquet(tmp_path / "table.parquet", ["one two three"] * 999)
    corpus = as_corpus(path)
    path.write_bytes(path.read_bytes() + b" ")
    refused(OSError, r"table\.parquet is longer than it was", corpus)


# ---------------------------------------------------------------------------------------------------- the other doors


def test_vocabularies_and_models(tmp_path, plain, expected):
    path = write_parquet(tmp_path / "table.parquet", ROWS)
    words = Vocabulary.from_corpus(path, column="text", min_count=3)
    assert (words.words, words.counts.tolist()) == (expected.vocabulary.words, expected.vocabulary.counts.tolist())
    options = {"vector_size": 4, "min_count": 3, "epochs": 1, "workers": 1, "passes": 1}
    for solver in ({}, {"solver": "gibbs", "passes": None, "sample": 0}):
        model = HilbertMLE(corpus_file=path, column="text", **options | solver)
        direct = HilbertMLE(corpus_file=plain, **options | solver)
        assert model.wv.index_to_key == direct.wv.index_to_key
        assert (model.wv.vectors == direct.wv.vectors).all()
    with pytest.raises(TableError, match="no column 'body'; it has 'id', 'text', 'score'"):
        HilbertMLE(corpus_file=path, column="body")


def test_the_commands(tmp_path, expected):
    path = WRITERS["table.csv"](tmp_path / "table.csv", ROWS)
    counts, model = tmp_path / "counts", tmp_path / "model"
    assert run_here("count", path, "--column", "text", "-o", counts, "--window", 4, "--min-count", 3).returncode == 0
    assert_same_counts(PairCounts.open(counts), expected)
    done = run_here("count", path, "-o", tmp_path / "other")
    assert_one_sentence(done, "choose one of 'id', 'text', 'note' by column= (gensim-hilbert --column)")
    options = ["--vector-size", 4, "--min-count", 3, "--epochs", 1]
    assert run_here("train", path, "--column", "text", "-o", model, *options).returncode == 0
    assert HilbertMLE.from_pretrained(model).wv.index_to_key == expected.vocabulary.words
    assert run_here("train", "--counts", counts, "--column", "text", "-o", tmp_path / "other").returncode == 2
