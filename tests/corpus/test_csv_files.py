"""CSV and TSV: quotes, line ends and delimiters inside fields, and what is told of rows that cannot be read."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gensim_hilbert.corpus import csv_files
from gensim_hilbert.corpus.csv_files import lines_of
from gensim_hilbert.corpus.rows import TableError
from gensim_hilbert.corpus.sources import as_corpus


@pytest.fixture
def text_of(tmp_path):
    """A function that returns the text of a column of a file."""

    def text_of(data: str, column: str | None = "text", name: str = "table.csv") -> str:
        path = tmp_path / name
        path.write_bytes(data.encode())
        return b"".join(block.data for block in as_corpus(path, column=column).blocks(streams=True)).decode()

    return text_of


def test_fields_of_all_sorts(text_of):
    data = '\ufeffid,text\r\n1,plain text\r\n2,"a, ""b""\nc"\r\n\r\n3\r\n4,\r\n5,"last"'
    assert text_of(data) == 'plain text\na, "b"\nc\n\nlast\n'
    assert text_of(data.replace(",", "\t"), name="table.tsv") == 'plain text\na\t "b"\nc\n\nlast\n'
    assert text_of("only\none two\n", column=None) == "one two\n"
    assert text_of("id,text\n") == ""


def test_a_field_that_is_longer_than_pythons_limit(text_of):
    long = "word " * 100_000
    assert len(long) > 131_072
    assert text_of(f'id,text\n1,"{long}"\n2,b\n') == f"{long}\nb\n"


def test_rows_that_do_not_fit(text_of):
    with pytest.raises(TableError, match=r"table\.csv has a row of 3 fields under a header of 2, .*'1'; quote fields"):
        text_of("id,text\n1,one, two\n")
    with pytest.raises(TableError, match=r"table\.csv is not a CSV file, or damaged: line 4: unexpected end of data"):
        text_of('id,text\n1,"one\ntwo\nthree\n')
    with pytest.raises(TableError, match=r"line 2: ',' expected after '\"'"):
        text_of('id,text\n1,"one" two\n')


@given(
    text=st.lists(st.sampled_from(["a", "é", "日本", "\n", "\r\n", "\u2028", "\x0b", '"', ","])).map("".join),
    size=st.integers(1, 9),
)
def test_lines_end_at_line_ends_only_wherever_the_stream_is_cut(text, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "PIECE_BYTES", size)
        lines = list(lines_of(io.BytesIO(text.encode())))
    assert lines == list(io.StringIO(text, newline="\n"))
    assert list(csv.reader(lines)) == list(csv.reader(io.StringIO(text, newline="\n")))
