"""Tables in memory count as their rows do; which packages they are from is told without importing these."""

import subprocess
import sys

import pyarrow as pa
import pyarrow.dataset
import pytest
from helpers import assert_same_counts, count
from reference import sentences_of
from table_files import rows_of, table_of_rows, write_parquet
from texts import TEXT

from gensim_hilbert import HilbertMLE, PairCounts, Vocabulary
from gensim_hilbert.corpus.rows import TableError

ROWS = rows_of(TEXT)
SENTENCES = [None, *sentences_of(TEXT)]


def of_pandas(table, words):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = table.to_pandas()
    return frame, [frame["text"], frame["text"].astype("category"), frame.set_index("id")["text"]], pandas.Series(words)


def of_polars(table, words):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.from_arrow(table)
    return frame, [frame["text"], frame["text"].cast(polars.Categorical)], polars.Series(words)


def of_pyarrow(table, words):
    column = table["text"]
    batches = pa.Table.from_batches(table.to_batches(max_chunksize=37))
    texts = [column, column.combine_chunks(), column.dictionary_encode(), batches["text"], batches["text"][1:]]
    return batches, texts, pa.array(words)


def of_datasets(table, words):
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    dataset = datasets.Dataset(table)
    return dataset, [dataset["text"]], datasets.Dataset.from_dict({"words": words})["words"]


PACKAGES = {"pandas": of_pandas, "polars": of_polars, "pyarrow": of_pyarrow, "datasets": of_datasets}


@pytest.mark.parametrize("package", PACKAGES)
def test_tables_and_columns(package, expected, set_block_bytes):
    table, texts, words = PACKAGES[package](table_of_rows(ROWS), SENTENCES)
    assert_same_counts(count(table), expected)
    set_block_bytes(200)
    assert_same_counts(count(table, column="text"), expected)
    for column in texts:
        assert_same_counts(count(column), expected)
    assert_same_counts(count(words), expected)


def test_datasets_that_stream(expected):
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    streamed = datasets.Dataset(table_of_rows(ROWS)).to_iterable_dataset(num_shards=3)
    made = datasets.IterableDataset.from_generator(lambda: ({"id": k, "text": row} for k, row in enumerate(ROWS)))
    assert made.features is None
    for dataset in (streamed, made):
        assert_same_counts(count(dataset), expected)
    assert_same_counts(count(streamed["text"]), expected)
    shuffled = datasets.Dataset(table_of_rows(ROWS)).select(range(len(ROWS)))
    assert_same_counts(count(shuffled), expected)
    with pytest.raises(TypeError, match=r"choose one of its splits, such as dataset\['train'\]"):
        count(datasets.DatasetDict(train=shuffled))


def test_what_pyarrow_has_besides(tmp_path, expected):
    table = table_of_rows(ROWS)
    assert_same_counts(count(pyarrow.dataset.dataset(write_parquet(tmp_path / "a.parquet", ROWS))), expected)
    assert_same_counts(count(table.combine_chunks().to_batches()[0]), expected)
    with pytest.raises(TypeError, match=r"it can be read only once, so pass its read_all\(\)"):
        count(table.to_reader())


@pytest.mark.parametrize("package", PACKAGES)
def test_columns_are_chosen_as_in_files(package, refused):
    table, texts, _ = PACKAGES[package](table_of_rows(["one two"] * 3), [["one"]])
    refused(TableError, f"<{package} .*> has no column 'body'; it has 'id', 'text', 'score'", table, column="body")
    refused(TableError, "the column 'id' of .* holds int.* and not text", table, column="id")
    refused(TableError, "is one column already: leave out column=", texts[0], column="text")


def test_rows_that_are_no_texts(refused):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    refused(
        TableError, "<pandas Series> holds 3, a int, among rows of text", pandas.Series(["one two", 3], dtype=object)
    )


def test_models_and_vocabularies(plain):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    options = {"vector_size": 4, "min_count": 3, "epochs": 1, "workers": 1, "passes": 1}
    direct = HilbertMLE(corpus_file=plain, **options)
    frame = pandas.DataFrame({"title": "x", "text": ROWS})
    for model in (HilbertMLE(frame["text"], **options), HilbertMLE(frame, column="text", **options)):
        assert model.wv.index_to_key == direct.wv.index_to_key
        assert (model.wv.vectors == direct.wv.vectors).all()
    model.train([["the", "of"]] * 9, total_examples=9, epochs=1)  # Other text has no columns.
    with pytest.raises(TableError, match="choose one of 'title', 'text'"):
        HilbertMLE(frame, **options)
    assert Vocabulary.from_corpus(frame, column="text", min_count=3).words == direct.wv.index_to_key


def test_no_package_is_imported_to_recognise_its_objects():
    program = """
import sys
from gensim_hilbert import PairCounts
PairCounts.from_corpus([["a", "b"]] * 9)
print(sorted({"pandas", "polars", "pyarrow", "datasets"} & sys.modules.keys()))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_other_classes_of_the_same_name():
    class Series(list):
        """Not of pandas."""

    assert PairCounts.from_corpus(Series([["a", "b"]] * 9)).vocabulary.tokens == 18
