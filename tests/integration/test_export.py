"""What is exported is read back by the tools it is meant for."""

import gzip
import json
import logging
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from gensim.models import FastText, KeyedVectors, Word2Vec
from gensim.test.utils import common_texts, datapath
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gensim_hilbert import HilbertMLE
from gensim_hilbert.export import FORMATS, export, load_vectors
from gensim_hilbert.export.staging import Staging

FILES = {
    "word2vec": "v.w2v",
    "word2vec-binary": "v.bin",
    "glove": "v.glove",
    "fasttext": "v.vec",
    "model2vec": "folder",
    "projector": "folder",
    "numpy": "v.npy",
    "parquet": "v.parquet",
}
ODD = [
    "New York",
    " leading",
    "trailing ",
    "line\nbreak",
    "\nleading",
    "carriage\rreturn",
    "tab\tstop",
    "next\x85line",
    "line\u2028separator",
    "no\xa0break",
    "ideographic\u3000space",
    "vertical\vtab",
    "unit\x1fseparator",
    "nul\0",
    "\ud800",
    "\udc80tail",
    "\ufeffbom",
    "\ufeff",
    "\xa0",
    "",
    " ",
    "1",
    "2000 10",
    "-0.5",
    "nan",
    "[UNK]",
    '"quoted"',
    "e\u0301",
    "é",
    "😀",
    "\U0010ffff",
    "long" * 50_000,
]


def keyed(words, size=3, counts=True, seed=1):
    vectors = KeyedVectors(size)
    matrix = np.random.default_rng(seed).normal(size=(len(words), size)).astype(np.float32)
    vectors.add_vectors(list(words), matrix)
    if counts:
        for rank, word in enumerate(words):
            vectors.set_vecattr(word, "count", 1000 - rank)
    return vectors


# What each consumer makes of a file: the words in its order, and the matrix.


def by_gensim(path, **options):
    read = KeyedVectors.load_word2vec_format(str(path), **options)
    return read.index_to_key, read.vectors


def by_model2vec(path):
    from model2vec import StaticModel

    model = StaticModel.from_pretrained(path)
    words = list(model.tokens[:-1])  # the last is the unknown word
    # Not the rows of its matrix, but what a user gets who asks for a word.
    return words, model.encode(words)


def by_lines(path):
    """As TensorBoard's page does: lines end at newlines, fields at tabs, blank lines are passed over."""
    rows = [line.split("\t") for line in (path / "vectors.tsv").read_bytes().decode().split("\n") if line.strip()]
    lines = (path / "metadata.tsv").read_bytes().decode().split("\n")
    metadata = [line.split("\t") for line in lines if line.strip(" \t\ufeff")]
    if "\t" in lines[0]:
        assert metadata.pop(0) == ["word", "count"]
        counts = [int(count) for _, count in metadata]
        assert counts == sorted(set(counts), reverse=True)
    return [fields[0] for fields in metadata], np.array(rows, dtype=np.float32)


def by_numpy(path):
    facts = json.loads(path.with_name("v.words.json").read_text())
    return facts["words"], np.load(path)


def by_pyarrow(path):
    from pyarrow.parquet import read_table

    table = read_table(path)
    assert table.column_names in (["word", "count", "vector"], ["word", "vector"])
    return table["word"].to_pylist(), np.array(table["vector"].to_pylist(), dtype=np.float32)


CONSUMERS = {
    "word2vec": by_gensim,
    "word2vec-binary": lambda path: by_gensim(path, binary=True),
    "glove": lambda path: by_gensim(path, no_header=True),
    "fasttext": by_gensim,
    "model2vec": by_model2vec,
    "projector": by_lines,
    "numpy": by_numpy,
    "parquet": by_pyarrow,
}
LIBRARIES = {"model2vec": "model2vec", "parquet": "pyarrow"}
READABLE = [name for name in FORMATS if name != "projector"]


def test_every_format_is_tested():
    assert set(FORMATS) == set(FILES) == set(CONSUMERS)


@pytest.fixture(params=FORMATS)
def format(request):
    if request.param in LIBRARIES:
        pytest.importorskip(LIBRARIES[request.param])
    return request.param


@pytest.mark.parametrize("counts", [True, False])
def test_the_consumer_reads_what_was_written(format, counts, tmp_path):
    vectors = keyed(["the", "naïve", "日本語", "don't", "3.14"], counts=counts)
    vectors.vectors[0] = [1, -0.0, 1e-38]  # integers must not look like a header, nor small numbers get lost
    path = tmp_path / FILES[format]
    export(vectors, path, format=format)
    words, matrix = CONSUMERS[format](path)
    assert words == vectors.index_to_key
    np.testing.assert_array_equal(matrix, vectors.vectors)
    if format == "projector" and counts:
        lines = (path / "metadata.tsv").read_text(encoding="utf-8").splitlines()
        assert lines[:3] == ["word\tcount", "the\t1000", "naïve\t999"]
    if format in READABLE:
        again = load_vectors(path)
        assert again.index_to_key == vectors.index_to_key
        np.testing.assert_array_equal(again.vectors, vectors.vectors)
        assert again.most_similar("the") == vectors.most_similar("the")
        if counts and format in ("numpy", "parquet"):
            assert again.get_vecattr("naïve", "count") == 999


@pytest.mark.parametrize(
    ("word", "unable"),
    [
        ("naïve", ""),
        ("New York", "word2vec word2vec-binary glove fasttext model2vec"),
        ("line\nbreak", "word2vec word2vec-binary glove fasttext model2vec projector"),
        ("carriage\rreturn", "word2vec glove fasttext model2vec projector"),
        ("tab\tstop", "word2vec glove fasttext model2vec projector"),
        ("next\x85line", "glove model2vec"),
        ("line\u2028separator", "glove model2vec"),
        ("no\xa0break", "glove model2vec"),
        ("", "word2vec glove fasttext model2vec projector"),
        ("\ud800", "word2vec word2vec-binary glove fasttext model2vec projector parquet"),
    ],
)
def test_no_more_words_are_refused_than_must_be(word, unable):
    assert [name for name in FORMATS if not FORMATS[name].holds(word)] == unable.split()


def survives_or_is_refused(words, format, path):
    """All words come back by the consumer and by us, or the error names one that does not fit, and where it would."""
    vectors = keyed(words, size=2)
    unfit = [word for word in words if not FORMATS[format].holds(word)]
    if unfit:
        with pytest.raises(ValueError, match="cannot hold the word") as caught:
            export(vectors, path, format=format)
        assert repr(unfit[0][:60]) in str(caught.value)
        able = [name for name in FORMATS if f"'{name}'" in str(caught.value).partition("formats that can")[2]]
        assert "numpy" in able
        assert format not in able
        assert all(FORMATS[name].holds(unfit[0]) for name in able)
        assert not path.exists()
        words = [word for word in words if word not in unfit]
        if not words:
            return
    export(vectors, path, format=format, skip_unfit=True)
    read, matrix = CONSUMERS[format](path)
    assert read == words
    np.testing.assert_array_equal(matrix, vectors[words])
    if format in READABLE:
        again = load_vectors(path)
        assert again.index_to_key == words
        np.testing.assert_array_equal(again.vectors, vectors[words])


def test_odd_words_survive_or_are_refused(format, tmp_path):
    for number, word in enumerate(ODD):
        for place, words in (("first", [word, "cat"]), ("between", ["cat", word, "dog"])):
            folder = tmp_path / f"{number} {place}"
            folder.mkdir()
            survives_or_is_refused(words, format, folder / FILES[format])


# Mostly what separates words or lines for somebody; otherwise any character.
WORD = st.text(st.one_of(st.sampled_from(" \n\r\t\v\f\0\x1c\x1f\x85\xa0\u2028\u3000\ufeff\ud800a1.-"), st.characters()))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(WORD, min_size=1, max_size=5, unique=True))
def test_any_words_survive_or_are_refused(format, words, tmp_path):
    path = tmp_path / FILES[format]
    survives_or_is_refused(words, format, path)
    for left in tmp_path.iterdir():
        shutil.rmtree(left) if left.is_dir() else left.unlink()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(numbers=st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=4))
def test_any_numbers_survive(numbers, tmp_path):
    vectors = KeyedVectors(len(numbers))
    vectors.add_vectors(["2000", "1"], np.array([numbers, numbers[::-1]], dtype=np.float32))
    for format in ("word2vec", "word2vec-binary", "glove"):
        path = tmp_path / FILES[format]
        export(vectors, path)
        np.testing.assert_array_equal(CONSUMERS[format](path)[1], vectors.vectors)
        np.testing.assert_array_equal(load_vectors(path).vectors, vectors.vectors)


def test_unfit_words_can_be_left_out(tmp_path, caplog):
    vectors = keyed(["cat", "New York", "dog", "rock and roll"])
    with pytest.raises(ValueError, match=r"'New York' nor 1 more; .*'parquet'"):
        export(vectors, tmp_path / "v.vec")
    with caplog.at_level(logging.WARNING):
        export(vectors, tmp_path / "v.vec", skip_unfit=True)
    assert "left out 2 words" in caplog.text
    np.testing.assert_array_equal(load_vectors(tmp_path / "v.vec")["dog"], vectors["dog"])
    with pytest.raises(ValueError, match="can hold none"):
        export(keyed(["a b"]), tmp_path / "w.vec", skip_unfit=True)


# ------------------------------------------------------------------ models


@pytest.fixture(scope="module")
def model():
    return HilbertMLE(common_texts * 5, vector_size=4, min_count=1, seed=1)


def test_vectors_covectors_and_sums_of_a_model(model, tmp_path):
    export(model, tmp_path / "vectors.npy")
    export(model, tmp_path / "covectors.npy", what="covectors")
    export(model, tmp_path / "sum.npy", what="sum")
    np.testing.assert_array_equal(np.load(tmp_path / "vectors.npy"), model.wv.vectors)
    np.testing.assert_array_equal(np.load(tmp_path / "covectors.npy"), model.syn1neg)
    returned = HilbertMLE(common_texts * 5, vector_size=4, min_count=1, seed=1, vectors="v+w")
    np.testing.assert_allclose(np.load(tmp_path / "sum.npy"), returned.wv.vectors, rtol=1e-4, atol=1e-5)
    export(returned, tmp_path / "again.npy", what="sum")  # not added a second time
    np.testing.assert_array_equal(np.load(tmp_path / "again.npy"), returned.wv.vectors)


def test_gensims_own_models_can_be_exported(tmp_path):
    model = Word2Vec(common_texts, vector_size=4, min_count=1)
    export(model, tmp_path / "v.bin", what="covectors")
    np.testing.assert_array_equal(load_vectors(tmp_path / "v.bin").vectors, model.syn1neg)
    export(FastText(common_texts, vector_size=4, min_count=1), tmp_path / "v.vec")
    assert "graph" in load_vectors(tmp_path / "v.vec")


def test_what_cannot_be_exported_is_said(model, tmp_path):
    for arguments, error, message in (
        ((model, "v.txt"), ValueError, "does not tell a format.*'glove' .*'parquet'"),
        ((model, "v.bin", "word3vec"), ValueError, "one of word2vec, .* got 'word3vec'"),
        ((model, "v.bin", None, "weights"), ValueError, "what must be one of vectors, covectors, sum, got 'weights'"),
        (
            (model.wv, "v.bin", None, "covectors"),
            ValueError,
            "needs a model with covectors, and this Word",
        ),
        ((KeyedVectors(3), "v.bin"), ValueError, "no words"),
        (([1, 2], "v.bin"), TypeError, "got list"),
        ((keyed([0, 1], counts=False), "v.bin"), TypeError, "must be str.*got 0"),
        ((model, "v.dat", "numpy"), ValueError, "must end in .npy"),
        ((model, "missing/v.bin"), FileNotFoundError, "missing/v.bin"),
    ):
        with pytest.raises(error, match=message):
            export(arguments[0], tmp_path / arguments[1], *arguments[2:])
    with pytest.raises(TypeError, match="'glove' has no option 'lowercase'"):
        export(model, tmp_path / "v.glove", lowercase=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("V.BIN", "word2vec-binary"),
        ("cc.en.300.vec.gz", "fasttext"),
        ("glove.6B.50d.txt", "glove"),
        ("v.w2v.xz", "word2vec"),
        ("v.npy", "numpy"),
    ],
)
def test_names_tell_formats(name, format, tmp_path):
    vectors = keyed(["cat", "dog"])
    export(vectors, tmp_path / name)
    with_format = tmp_path / "other" / name.lower()
    with_format.parent.mkdir()
    export(vectors, with_format, format=format)
    if not name.endswith(".gz"):  # which holds the time
        assert (tmp_path / name).read_bytes() == with_format.read_bytes()
    assert load_vectors(tmp_path / name).index_to_key == ["cat", "dog"]


def test_text_is_what_gensim_writes_byte_for_byte(tmp_path):
    vectors = keyed(["cat", "naïve", "日本語"], size=50)
    export(vectors, tmp_path / "ours.vec")
    vectors.save_word2vec_format(tmp_path / "gensims.vec")
    assert (tmp_path / "ours.vec").read_bytes() == (tmp_path / "gensims.vec").read_bytes()


def test_compressed_files_are_read_by_gensim(tmp_path):
    vectors = keyed(["cat", "dog"])
    for suffix in (".gz", ".bz2", ".xz"):
        export(vectors, tmp_path / f"v.bin{suffix}")
        assert by_gensim(tmp_path / f"v.bin{suffix}", binary=True)[0] == ["cat", "dog"]
    export(vectors, tmp_path / "v.vec.gz")
    assert gzip.decompress((tmp_path / "v.vec.gz").read_bytes()).startswith(b"2 3\ncat ")


# ------------------------------------------------------------------ other consumers


def test_model2vec_averages_the_words_it_knows(tmp_path):
    model2vec = pytest.importorskip("model2vec")
    vectors = keyed(["the", "cat", "don't", "[UNK]"])
    export(vectors, tmp_path / "plain", format="model2vec")
    model = model2vec.StaticModel.from_pretrained(tmp_path / "plain")
    expected = vectors[["the", "cat"]].mean(axis=0)
    np.testing.assert_allclose(model.encode("the  cat\nunheard-of"), expected, rtol=1e-6)
    np.testing.assert_array_equal(model.encode("don't"), vectors["don't"])
    np.testing.assert_array_equal(model.encode("[UNK]"), vectors["[UNK]"])
    assert not model.encode("The Cat.").any()
    np.testing.assert_allclose(model.encode("the cat " * 5000), expected, rtol=1e-3)
    export(vectors, tmp_path / "prose", format="model2vec", lowercase=True, split_punctuation=True)
    prose = model2vec.StaticModel.from_pretrained(tmp_path / "prose")
    np.testing.assert_allclose(prose.encode("The Cat!"), expected, rtol=1e-6)
    prose.save_pretrained(tmp_path / "resaved")
    assert load_vectors(tmp_path / "resaved").index_to_key == vectors.index_to_key


def test_sentence_transformers_loads_the_folder(tmp_path):
    library = pytest.importorskip("sentence_transformers")
    vectors = keyed(["the", "cat", "dog"])
    export(vectors, tmp_path / "folder", format="model2vec")
    model = library.SentenceTransformer(str(tmp_path / "folder"), device="cpu")
    np.testing.assert_allclose(model.encode("the cat"), vectors[["the", "cat"]].mean(axis=0), rtol=1e-6)
    model.save(str(tmp_path / "resaved"))
    again = load_vectors(tmp_path / "resaved")
    assert again.index_to_key == vectors.index_to_key
    np.testing.assert_array_equal(again.vectors, vectors.vectors)


def test_safetensors_reads_the_matrix(tmp_path):
    from safetensors.numpy import load_file

    vectors = keyed(["the", "cat"])
    export(vectors, tmp_path / "folder", format="model2vec")
    matrix = load_file(tmp_path / "folder" / "model.safetensors")["embeddings"]
    np.testing.assert_array_equal(matrix[:2], vectors.vectors)
    assert not matrix[2].any()  # the unknown word


@pytest.mark.parametrize("format", ["word2vec", "fasttext", "glove"])
def test_spacy_reads_text(format, tmp_path):
    spacy = pytest.importorskip("spacy")
    from spacy.training.initialize import convert_vectors  # what `spacy init vectors` calls

    vectors = keyed([word for word in ODD if FORMATS[format].holds(word)])
    export(vectors, tmp_path / FILES[format])
    nlp = spacy.blank("en")
    convert_vectors(nlp, tmp_path / FILES[format], truncate=0, prune=-1)
    for word in vectors.index_to_key:
        np.testing.assert_array_equal(nlp.vocab.get_vector(word), vectors[word])


def test_fasttext_starts_from_text(tmp_path):
    fasttext = pytest.importorskip("fasttext")
    words = [word for word in ODD if FORMATS["fasttext"].holds(word) and len(word) < 1000]
    vectors = keyed(words)
    export(vectors, tmp_path / "v.vec")
    (tmp_path / "text").write_text("cat dog " * 10)
    model = fasttext.train_unsupervised(
        str(tmp_path / "text"), dim=3, minn=0, maxn=0, lr=0.0, epoch=1, minCount=1, thread=1, verbose=0,
        pretrainedVectors=str(tmp_path / "v.vec"),
    )  # fmt: skip
    for word in words:
        np.testing.assert_array_equal(model.get_word_vector(word), vectors[word])


# ------------------------------------------------------------------ files


LIMITED = """
import resource, sys
import numpy as np
from gensim.models import KeyedVectors
from gensim_hilbert.export import export
vectors = KeyedVectors(100)
vectors.add_vectors([f"w{k}" for k in range(500)], np.random.default_rng(1).normal(size=(500, 100)).astype(np.float32))
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
for format, path in zip(sys.argv[1::2], sys.argv[2::2]):
    try:
        export(vectors, path, format=format)
    except OSError as error:
        print(format, error.strerror, error.filename == path or error.filename.startswith(path + "/"))
assert "torch" not in sys.modules
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no RLIMIT_FSIZE")
def test_a_failure_leaves_what_was_there_and_torch_is_not_imported(tmp_path):
    formats = [name for name in FORMATS if name != "parquet" or has_pyarrow()]
    before, arguments = {}, []
    for format in formats:
        for state in ("old", "new"):
            folder = tmp_path / state / format
            folder.mkdir(parents=True)
            if state == "old":
                export(keyed(["cat", "dog"]), folder / FILES[format], format=format)
            arguments += [format, str(folder / FILES[format])]
    before = snapshot(tmp_path)
    ran = subprocess.run([sys.executable, "-c", LIMITED, *arguments], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [f"{format} File too large True" for format in formats for _ in range(2)]
    assert snapshot(tmp_path) == before


def has_pyarrow():
    try:
        import pyarrow  # noqa: F401  # only to see whether it is there
    except ImportError:
        return False
    return True


def snapshot(folder):
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def test_old_files_are_replaced_and_links_stay(format, tmp_path):
    path = tmp_path / FILES[format]
    export(keyed(["old"]), path, format=format)
    export(keyed(["cat", "dog"]), path, format=format)
    assert CONSUMERS[format](path)[0] == ["cat", "dog"]
    if path.is_file():
        path.rename(tmp_path / "elsewhere")
        path.symlink_to("elsewhere")
        export(keyed(["bird"]), path, format=format)
        assert path.is_symlink()
        assert CONSUMERS[format](path)[0] == ["bird"]
    assert not [left for left in tmp_path.rglob("*") if "partial" in left.name]


def test_the_name_of_a_link_says_how_to_compress(tmp_path):
    (tmp_path / "v.vec.gz").symlink_to("elsewhere")
    export(keyed(["cat"]), tmp_path / "v.vec.gz")
    assert gzip.decompress((tmp_path / "elsewhere").read_bytes()).startswith(b"1 3\ncat ")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_pipes_are_written_to_and_stay(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor() as pool:
        read = pool.submit((tmp_path / "pipe").read_bytes)
        export(keyed(["cat"], size=1), tmp_path / "pipe", format="glove")
    assert read.result().startswith(b"cat 0.3")
    assert (tmp_path / "pipe").is_fifo()


def test_buckets_are_written_to(s3, tmp_path):
    client, bucket = s3
    vectors = keyed(["cat", "dog"])
    export(vectors, f"s3://{bucket}/v.vec.gz", transport_params={"client": client})
    export(vectors, f"s3://{bucket}/folder/", format="model2vec", transport_params={"client": client})
    keys = {item["Key"] for item in client.list_objects_v2(Bucket=bucket)["Contents"]}
    assert keys == {"v.vec.gz"} | {
        f"folder/{name}" for name in ("config.json", "model.safetensors", "modules.json", "tokenizer.json")
    }
    for key in keys:
        (tmp_path / key).parent.mkdir(exist_ok=True)
        client.download_file(bucket, key, str(tmp_path / key))
    for path in (tmp_path / "v.vec.gz", tmp_path / "folder"):
        np.testing.assert_array_equal(load_vectors(path).vectors, vectors.vectors)


def test_nothing_appears_in_a_bucket_after_an_error(s3):
    client, bucket = s3

    def interrupted():
        with Staging({"client": client}) as staging, staging.create(f"s3://{bucket}/v.vec") as file:
            file.write(b"1 3\n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert "Contents" not in client.list_objects_v2(Bucket=bucket)


def test_servers_are_read_from(http_folder):
    pytest.importorskip("requests")
    address, folder = http_folder
    vectors = keyed(["cat", "dog"])
    for name in ("v.vec.gz", "v.bin", "v.npy"):
        export(vectors, folder / name)
        np.testing.assert_array_equal(load_vectors(f"{address}/{name}").vectors, vectors.vectors)
    with pytest.raises(OSError, match="404"):
        load_vectors(f"{address}/missing.vec")


def test_parquet_names_its_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'gensim-hilbert\[parquet\]'"):
        export(keyed(["cat"]), tmp_path / "v.parquet")


# ------------------------------------------------------------------ reading


def test_saved_models_and_vectors_are_read(model, tmp_path):
    others = Word2Vec(common_texts, vector_size=4, min_count=1)
    for name, saved, expected in (
        ("hilbert", model, model.wv),
        ("hilbert.wv", model.wv, model.wv),
        ("word2vec", others, others.wv),
        ("word2vec.wv", others.wv, others.wv),
    ):
        saved.save(str(tmp_path / name))
        read = load_vectors(tmp_path / name)
        assert isinstance(read, KeyedVectors)
        assert read.index_to_key == expected.index_to_key
        np.testing.assert_array_equal(read.vectors, expected.vectors)


def test_what_gensim_wrote_is_read(tmp_path):
    vectors = keyed(["cat", "dog", "naïve"])
    vectors.save_word2vec_format(tmp_path / "text")
    vectors.save_word2vec_format(tmp_path / "binary", binary=True)
    vectors.save_word2vec_format(tmp_path / "headless", write_header=False)
    for name in ("text", "binary", "headless"):
        np.testing.assert_array_equal(load_vectors(tmp_path / name).vectors, vectors.vectors)
    assert "night" in load_vectors(datapath("lee_fasttext_new.bin"))


def test_gloves_own_words_with_spaces_and_repetitions_are_read(tmp_path, caplog):
    (tmp_path / "v.txt").write_text("the 1 2\n. . . 3 4\nat name@domain.com 5 6\nthe 7 8\n\n", encoding="utf-8")
    read = load_vectors(tmp_path / "v.txt")
    assert read.index_to_key == ["the", ". . .", "at name@domain.com"]
    assert read.vectors.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert "1 words again" in caplog.text


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v", b"", "is empty"),
        ("v", b"<html>\n", "line 1 is neither a header nor a word with numbers"),
        ("v", b"\xff\xd8\xff\xe0\x00\x10JFIF\n", "line 1 is neither"),
        ("v", b"2 2\ncat 1 2\ndog 1\n", "line 3: there are 1 numbers, not 2"),
        ("v", b"2 2\ncat 1 2\ndog 1 2 3\n", "line 3: there are 3 numbers, not 2"),
        ("v", b"2 2\ncat 1 x\ndog 1 2\n", "line 2: could not convert"),
        ("v", b"cat 1 2\ndog 1\n", "line 2: there are 1 numbers, not 2"),
        ("v", b"cat 1 2\nd\xffg 1 2\n", "line 2: 'utf-8' codec"),
        ("v", b"3 2\ncat 1 2\ndog 1 2\n", "has 2 vectors, but its first line says 3"),
        ("v", b"1 2\ncat 1 2\ndog 1 2\n", "has 2 vectors, but its first line says 1"),
        ("v", b"2 0\ncat\ndog\n", "no vectors: its first line says 2 of 0 dimensions"),
        ("v", b"0 2\n", "no vectors: its first line says 0 of 2 dimensions"),
        ("v.bin", b"\xba\x16\x4f\x2f and no more", "damaged"),
        ("v.bin", b"2 2\ncat \0\0\0\0\0\0\0\0\ndog \0\0\0", "ends within vector 2 of 2"),
        ("v.bin", b"99999999999 99999999999\ncat \0\0\0\0", "ends within vector 1 of"),
        ("v.bin", b"1 1\nc\xfft \0\0\0\0\n", "word 1: 'utf-8' codec"),
        ("v", b"\x80\x04broken", "damaged"),
        ("v", b"PAR1 and no more", "damaged"),
        ("v.npy", b"", "is no .npy file, or damaged"),
        ("v.npy", b"\x93NUMPY\x01", "is no .npy file, or damaged"),
        ("v.vec.gz", gzip.compress(b"1 2\ncat 1 2\n" * 100)[:-12], "cannot be decompressed"),
        ("v.vec.gz", b"1 2\ncat 1 2\n", "cannot be decompressed"),
        ("v.vec.xz", b"1 2\ncat 1 2\n", "cannot be decompressed"),
    ],
)
def test_one_sentence_says_what_is_wrong_with_a_file(name, content, message, tmp_path):
    if content.startswith(b"PAR1"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        load_vectors(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_and_mismatched_parts_are_told(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_vectors(tmp_path / "nothing.bin")
    with pytest.raises(FileNotFoundError, match=r"is a folder without model\.safetensors"):
        load_vectors(tmp_path)
    np.save(tmp_path / "v.npy", np.zeros((3, 2)))
    with pytest.raises(FileNotFoundError, match=r"v\.words\.json should be beside it"):
        load_vectors(tmp_path / "v.npy")
    (tmp_path / "v.words.json").write_text('{"words": ["cat"]}')
    with pytest.raises(ValueError, match=r"shape \(3, 2\), which does not go with the 1 words"):
        load_vectors(tmp_path / "v.npy")
    (tmp_path / "v.words.json").write_text("[1")
    with pytest.raises(ValueError, match="is no JSON object with words"):
        load_vectors(tmp_path / "v.npy")
    export(keyed(["cat", "dog"]), tmp_path / "folder", format="model2vec")
    (tmp_path / "folder" / "tokenizer.json").write_text('{"model": {"vocab": {"cat": 0}}}')
    with pytest.raises(ValueError, match=r"shape \(3, 3\), which do not go with its 1 tokens"):
        load_vectors(tmp_path / "folder")
    (tmp_path / "folder" / "model.safetensors").write_bytes(b"broken")
    with pytest.raises(ValueError, match="is no folder with a static model, or damaged"):
        load_vectors(tmp_path / "folder")
