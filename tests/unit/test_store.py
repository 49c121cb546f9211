"""The store: shards, sums, damage."""

import json
import shutil

import numpy as np
import pytest
from scipy import sparse
from text import zipf_text

from gensim_hilbert import PairCounts, Vocabulary
from gensim_hilbert.counting.layout import classes_for
from gensim_hilbert.counting.store import StoreError

WORDS = 3000  # four classes


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    path.write_bytes(zipf_text(60_000, WORDS))
    return path


@pytest.fixture(scope="module", params=[3, (3, 1)], ids=["symmetric", "asymmetric"])
def counts(request, corpus, tmp_path_factory):
    directory = tmp_path_factory.mktemp("store") / "counts"
    return PairCounts.from_corpus(corpus, window=request.param, min_count=1, directory=directory)


@pytest.fixture
def copy(counts, tmp_path):
    return shutil.copytree(counts.directory, tmp_path / "copy")


def test_shards_are_strided_slices_of_the_table(counts):
    table = counts.to_scipy()
    assert counts.manifest["classes"] == classes_for(len(counts)) == 4
    for n in (1, 2, 3, 4, 6, 8):
        for i in range(n):
            for j in range(n):
                shard = counts.shard(i, j, n)
                assert shard.has_sorted_indices
                assert (shard != table[i::n, j::n]).nnz == 0
    with pytest.raises(ValueError, match="shard"):
        counts.shard(2, 0, 2)


def test_table_marginals_total_and_pmi_agree(counts):
    table = counts.to_scipy().toarray()
    assert counts.symmetric == np.array_equal(table, table.T)
    np.testing.assert_allclose(counts.marginals.contexts, table.sum(axis=1))
    np.testing.assert_allclose(counts.marginals.terms, table.sum(axis=0))
    assert counts.total == pytest.approx(table.sum())
    i, j = 1, 7
    context, term = counts.vocabulary.words[i], counts.vocabulary.words[j]
    assert counts.count(context, term) == table[i, j]
    pmi = np.log(table[i, j] * table.sum() / table[i].sum() / table[:, j].sum())
    assert counts.pmi(context, term) == pytest.approx(pmi)
    row, column = np.argwhere(table == 0)[0]
    assert counts.pmi(counts.vocabulary.words[row], counts.vocabulary.words[column]) == -np.inf
    with pytest.raises(KeyError, match="'unheard'"):
        counts.pmi("unheard", term)


def test_a_shard_reads_only_its_own_chunks(counts, monkeypatch):
    read = []
    tile = type(counts._store).tile
    monkeypatch.setattr(type(counts._store), "tile", lambda self, *key: read.append(key) or tile(self, *key))
    counts.shard(1, 3, 4)
    assert sorted(read) == ([(1, 3), (3, 1)] if counts.symmetric else [(1, 3)])


def test_opening_again_gives_the_same(counts):
    again = PairCounts.open(counts.directory)
    again.verify()
    assert again.fingerprint == counts.fingerprint
    assert again.vocabulary == counts.vocabulary
    assert (again.to_scipy() != counts.to_scipy()).nnz == 0


def test_stores_add_up(counts, corpus, tmp_path):
    text = corpus.read_bytes()
    middle = text.index(b"\n", len(text) // 2) + 1
    parts = []
    for k, part in enumerate((text[:middle], text[middle:])):
        (tmp_path / f"{k}.txt").write_bytes(part)
        window = (len(counts.window.left), len(counts.window.right))
        parts.append(PairCounts.from_corpus(tmp_path / f"{k}.txt", vocabulary=counts.vocabulary, window=window))
    both = parts[0] + parts[1]
    assert (both.to_scipy() != counts.to_scipy()).nnz == 0
    assert both.total == counts.total
    tripled = PairCounts.merge([counts, counts, counts], directory=tmp_path / "tripled")
    assert abs(tripled.to_scipy() - 3 * counts.to_scipy()).max() < 1e-9
    other = PairCounts.from_corpus(corpus, vocabulary=counts.vocabulary, window=7)
    with pytest.raises(ValueError, match="window"):
        counts + other
    with pytest.raises(ValueError, match="vocabulary"):
        counts + PairCounts.from_corpus(corpus, max_final_vocab=100, sorted_vocab=False)
    with pytest.raises(TypeError):
        counts + 1


def test_many_runs_are_merged_in_stages(counts, corpus, monkeypatch):
    from gensim_hilbert.counting import plan

    monkeypatch.setattr(plan, "MOST_IDS", 500)
    monkeypatch.setattr(plan, "LEAST_IDS", 400)
    make = plan.Plan.make
    monkeypatch.setattr(plan.Plan, "make", lambda *a: plan.Plan(2, 500, make(*a).share, fan_in=3))
    window = (len(counts.window.left), len(counts.window.right))
    small = PairCounts.from_corpus(corpus, window=window, min_count=1)
    assert small.fingerprint == counts.fingerprint


def test_temporary_stores_vanish_with_the_object(corpus):
    counts = PairCounts.from_corpus(corpus)
    directory = counts.directory
    assert directory.exists()
    view = counts.expected(1e-3)
    del counts
    assert directory.exists(), "the view still needs it"
    del view
    assert not directory.exists()


@pytest.mark.parametrize("name", ["vocabulary.jsonl", "marginals.npy", "index.npy", "shards/01.bin", "manifest.json"])
@pytest.mark.parametrize("damage", ["flip", "truncate", "lengthen", "remove"])
def test_damage_is_noticed_and_the_file_named(copy, name, damage):
    path = copy / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x10
    if damage == "remove":
        path.unlink()
    else:
        path.write_bytes({"flip": data, "truncate": data[:-1], "lengthen": data + b"x"}[damage])
    with pytest.raises((StoreError, FileNotFoundError), match=name.replace(".", r"\.")):
        PairCounts.open(copy).verify()


def test_a_newer_schema_is_refused(copy):
    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps(manifest | {"schema": 2}))
    with pytest.raises(StoreError, match=r"schema 2.*upgrade"):
        PairCounts.open(copy)


def test_what_is_no_store_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        PairCounts.open(tmp_path / "missing")
    with pytest.raises(StoreError, match="no store"):
        PairCounts.open(tmp_path)
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(StoreError, match="does not describe"):
        PairCounts.open(tmp_path)


def test_scipy_and_npz_round_trips(counts, tmp_path):
    same = PairCounts.from_scipy(counts.to_scipy(), counts.vocabulary, scale=counts.scale)
    assert same.symmetric == counts.symmetric
    assert (same.to_scipy() != counts.to_scipy()).nnz == 0
    counts.to_npz(tmp_path / "counts.npz")
    assert (sparse.load_npz(tmp_path / "counts.npz") != counts.to_scipy()).nnz == 0
    again = PairCounts.from_npz(tmp_path / "counts.npz")
    assert (again.to_scipy() != counts.to_scipy()).nnz == 0
    assert again.vocabulary.words == counts.vocabulary.words
    assert again.vocabulary.counts.tolist() == counts.vocabulary.counts.tolist()
    assert again.vocabulary.tokens == counts.vocabulary.tokens


def test_importing_finds_the_scale_or_asks_for_it():
    words = ["a", "b"]
    assert PairCounts.from_scipy(np.array([[0, 3], [3, 2]]), words).scale == 1
    thirds = PairCounts.from_scipy(np.array([[0, 1 / 3], [1, 0.5]]), words)
    assert thirds.scale == 6
    assert not thirds.symmetric
    with pytest.raises(ValueError, match="scale=N"):
        PairCounts.from_scipy(np.array([[0, np.pi], [1, 0]]), words)
    assert PairCounts.from_scipy(np.array([[0, np.pi], [1, 0]]), words, scale=1000).count("a", "b") == 3.142
    with pytest.raises(ValueError, match="2 x 3"):
        PairCounts.from_scipy(np.ones((2, 3)), words)
    for wrong in (-1, np.nan, np.inf):
        with pytest.raises(ValueError, match=f"negative, got {wrong}"):
            PairCounts.from_scipy(np.array([[0, wrong], [1, 0]]), words)
    for few_or_many in (["a"], ["a", "b", "c"], Vocabulary(["a"], [1]), Vocabulary("abc", [1, 2, 3])):
        with pytest.raises(ValueError, match=f"{len(few_or_many)} words"):
            PairCounts.from_scipy(np.ones((2, 2)), few_or_many)
    for scale in (0, -1, 2.5):
        with pytest.raises(ValueError, match=f"scale must be .* got {scale}"):
            PairCounts.from_scipy(np.ones((2, 2)), words, scale=scale)


def test_expected_subsampling_weighs_finished_counts(counts):
    view = counts.expected(1e-2)
    keep = counts.vocabulary.keep_probability(1e-2)
    table = counts.to_scipy().toarray() * keep[:, None] * keep
    np.testing.assert_allclose(view.to_scipy().toarray(), table)
    np.testing.assert_allclose(view.marginals.contexts, table.sum(axis=1))
    np.testing.assert_allclose(view.marginals.terms, table.sum(axis=0))
    assert view.total == pytest.approx(table.sum())
    with pytest.raises(ValueError, match="expectation"):
        view + counts


def test_vocabulary_survives_any_word(tmp_path):
    words = ["plain", "with space", "new\nline", 'quote"', "\ud800", "日本", "\0", "], ["]
    vocabulary = Vocabulary(words, range(len(words)))
    vocabulary.save(tmp_path / "vocabulary.jsonl")
    loaded = Vocabulary.load(tmp_path / "vocabulary.jsonl")
    assert loaded.words == words
    assert loaded.counts.tolist() == list(range(len(words)))
    with pytest.raises(ValueError, match="'twice'"):
        Vocabulary(["twice", "twice"], [1, 2])


def test_a_store_over_the_first_words_adds_up_with_one_over_more(tmp_path):
    sentences = [line.split() for line in zipf_text(20_000, 2500).decode().splitlines()]
    everything = Vocabulary.from_corpus(sentences, min_count=1)
    first = Vocabulary(everything.words[:700], everything.counts[:700])
    assert classes_for(len(first)) < classes_for(len(everything))
    small, large = (PairCounts.from_corpus(sentences, vocabulary=words) for words in (first, everything))
    both = (small + large).to_scipy().toarray()
    expected = large.to_scipy().toarray()
    expected[:700, :700] += small.to_scipy().toarray()
    np.testing.assert_allclose(both, expected)
