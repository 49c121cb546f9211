from __future__ import annotations

import logging
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors

from gensim_hilbert.evaluation import Data, compare_extrinsic, extrinsic, find_data, most_frequent_tag, tagging
from gensim_hilbert.evaluation.classification import read as read_classified
from gensim_hilbert.evaluation.examples import Example, Rows, Split, read_sentences, read_texts, split, train_test_split
from gensim_hilbert.evaluation.extrinsic import ExtrinsicScore, Settings, micro_f, prepare, score_jobs
from gensim_hilbert.evaluation.tagging import baseline
from gensim_hilbert.evaluation.words import Words

DATA = Path(os.environ.get("GENSIM_HILBERT_DATA", Path(__file__).parents[3] / "shared" / "data"))
WORDS = [f"word{k}" for k in range(10)]
SETTINGS = Settings(batch=16, epochs=12)


@pytest.fixture(scope="module")
def vectors() -> KeyedVectors:
    found = KeyedVectors(12)
    found.add_vectors(WORDS, np.random.default_rng(0).normal(size=(10, 12)).astype(np.float32))
    return found


def sentences(count: int, seed: int) -> list[Example]:
    """A word's tag tells whether the word before it has an odd number: no word has a tag of its own."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        drawn = random.integers(10, size=random.integers(4, 12))
        tags = ["first", *("odd" if k % 2 else "even" for k in drawn[:-1])]
        found.append(Example([WORDS[k] for k in drawn], tags))
    return found


def texts(count: int, seed: int) -> list[Example]:
    """A text is of one kind if word3 stands anywhere in it."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        drawn = random.integers(4, 10, size=10)
        if random.random() < 0.5:
            drawn[random.integers(10)] = 3
        found.append(Example([WORDS[k] for k in drawn], [str(3 in drawn)]))
    return found


# ------------------------------------------------------------------ networks


def test_a_tagger_learns_what_the_most_frequent_tag_cannot_tell(vectors, tmp_path):
    data = split(sentences(400, 1))
    majority = baseline(data, SETTINGS, None, None)
    assert 0.3 < majority < 0.6
    (score,) = score_jobs([prepare("s", vectors, data, SETTINGS, tags=True)], 1, 1, tmp_path, 1)
    assert score.mean > 0.95
    assert (score.metric, len(score.runs), score.known) == ("accuracy", 1, 1)
    assert score.examples == (252, 28, 120)


def test_a_classifier_finds_a_word_anywhere(vectors, tmp_path):
    (score,) = score_jobs([prepare("t", vectors, split(texts(700, 1)), SETTINGS, tags=False)], 1, 1, tmp_path, 1)
    assert score.mean > 0.95
    assert np.isnan(score.sd)


def test_padding_changes_nothing(vectors):
    import torch

    from gensim_hilbert.evaluation.networks import Classifier, Tagger

    torch.manual_seed(1)
    matrix = torch.from_numpy(vectors.vectors)
    rows, lengths = torch.tensor([[1, 2, 3, 4, 5], [6, 7, 0, 0, 0]]), torch.tensor([5, 2])
    for kind in (Classifier, Tagger):
        network = kind(matrix, 3).eval()
        both = network(rows, lengths).reshape(2, -1, 3)
        alone = network(rows[1:, :2], lengths[1:]).reshape(1, -1, 3)
        assert torch.allclose(both[1, : alone.shape[1]], alone[0], atol=1e-6)


def test_training_ends_when_nothing_is_learned_any_more(vectors, tmp_path, caplog):
    random = np.random.default_rng(1)
    noise = [Example(e.words, list(random.permutation(["a", "b"] * 6)[: len(e.words)])) for e in sentences(60, 1)]
    job = prepare("noise", vectors, split(noise), replace(SETTINGS, epochs=100, stop=4), tags=True)
    with caplog.at_level(logging.INFO, "gensim_hilbert.evaluation.networks"):
        score_jobs([job], 1, 1, tmp_path, 1)
    scores = [record.args[1] for record in caplog.records]
    assert 5 <= len(scores) < 100
    assert scores[-5] == max(scores)


def test_the_same_seed_gives_the_same_score_and_torch_is_left_alone(vectors, tmp_path):
    import torch

    job = prepare("s", vectors, split(sentences(100, 1)), replace(SETTINGS, epochs=1), tags=True)
    before = torch.get_rng_state()
    scores = [score_jobs([job], 2, 1, tmp_path / name, 1)[0].runs for name in ("a", "b")]
    assert scores[0] == scores[1]
    assert scores[0][0] != scores[0][1]
    assert torch.equal(before, torch.get_rng_state())


# ------------------------------------------------------------------ cache


def test_finished_scores_are_not_computed_again(vectors, tmp_path, monkeypatch):
    done = []

    def run(job, seed):
        if seed == 3 and len(done) == 2:
            raise KeyboardInterrupt
        done.append(seed)
        return seed / 10

    monkeypatch.setattr(extrinsic, "run", run)
    data = split(sentences(50, 1))
    job = prepare("s", vectors, data, SETTINGS, tags=True)
    with pytest.raises(KeyboardInterrupt):
        score_jobs([job], 4, 1, tmp_path, 1)
    assert done == [1, 2]
    done.append("again")
    (score,) = score_jobs([job], 4, 1, tmp_path, 1)
    assert done == [1, 2, "again", 3, 4]
    assert score.runs == (0.1, 0.2, 0.3, 0.4)
    other = KeyedVectors(12)
    other.add_vectors(WORDS, vectors.vectors + np.float32(1e-6))
    keys = {job.key(1), job.key(2)}
    for changed in (
        prepare("s", other, data, SETTINGS, tags=True),
        prepare("s", vectors, data, replace(SETTINGS, epochs=13), tags=True),
        prepare("s", vectors, split(sentences(50, 2)), SETTINGS, tags=True),
    ):
        assert changed.key(1) not in keys
        keys.add(changed.key(1))
    assert prepare("another name", vectors, data, SETTINGS, tags=True).key(1) == job.key(1)


def test_a_damaged_score_is_named(vectors, tmp_path):
    job = prepare("s", vectors, split(sentences(50, 1)), SETTINGS, tags=True)
    (tmp_path / f"{job.key(1)}.json").write_text("{")
    with pytest.raises(ValueError, match=r"is damaged .*: remove it"):
        score_jobs([job], 1, 1, tmp_path, 1)


def test_wrong_numbers(vectors, tmp_path):
    with pytest.raises(ValueError, match="seeds must be a positive number of runs, got 0"):
        score_jobs([], 0, 1, tmp_path, 1)


@pytest.mark.slow
def test_processes_change_nothing(vectors, tmp_path):
    job = prepare("s", vectors, split(sentences(100, 1)), replace(SETTINGS, epochs=2), tags=True)
    one, two = (score_jobs([job], 3, 1, tmp_path / str(workers), workers)[0] for workers in (1, 2))
    assert one.runs == pytest.approx(two.runs, abs=1e-3)


# ------------------------------------------------------------------ examples


def test_splits_are_scikit_learns():
    peer = pytest.importorskip("sklearn.model_selection", reason="scikit-learn is not installed")
    examples = [Example([str(k)], ["x"]) for k in range(1001)]
    for share, seed in ((0.3, 1917), (0.1, 1848)):
        train, test = peer.train_test_split(examples, test_size=share, random_state=seed)
        assert train_test_split(examples, share, seed) == (train, test)
    found = split(examples)
    assert [len(part) for part in (found.train, found.valid, found.test)] == [630, 70, 301]


def test_f_score_is_scikit_learns():
    peer = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    random = np.random.default_rng(1)
    gold, guessed = random.integers(4, size=(2, 300))
    assert micro_f(gold, guessed, None) == pytest.approx(peer.accuracy_score(gold, guessed))
    assert micro_f(gold, guessed, 0) == pytest.approx(peer.f1_score(gold, guessed, labels=[1, 2, 3], average="micro"))


def test_texts_and_sentences(tmp_path):
    path = tmp_path / "texts.tsv"
    path.write_text("1\t10\tIt's good. Don't #39;miss#39; it\n0\t2\tBad!\n", encoding="utf-8")
    assert read_texts(path) == [
        Example(["it's", "good", ".", "don't", "'", "miss", "'", "it"], ["1"]),
        Example(["bad", "!"], ["0"]),
    ]
    path.write_text("The\tDT\tX\ncat\tNN\tY\n\n\nSat\tVB\tZ", encoding="utf-8")
    assert read_sentences(path, 2) == [Example(["the", "cat"], ["X", "Y"]), Example(["sat"], ["Z"])]
    assert read_sentences(path, 1)[1] == Example(["sat"], ["VB"])


def test_wrong_columns(tmp_path):
    path = tmp_path / "wrong"
    path.write_text("1\tfine\nno tab\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 2: expected a label, a tab and a text, got 'no tab'"):
        read_texts(path)
    path.write_text("cat\tNN\tY\ncat\tNN\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 2: expected a word and 2 tags between tabs"):
        read_sentences(path, 2)
    with pytest.raises(ValueError, match="0 examples to learn from"):
        split([])


def test_imdb_has_a_test_set_of_its_own(tmp_path):
    paths = []
    for name in ("train", "test"):
        paths.append(tmp_path / name)
        paths[-1].write_text("".join(f"{k % 2}\t5\t{name} {k}\n" for k in range(20)), encoding="utf-8")
    found = read_classified("IMDB", tuple(paths))
    assert {example.words[0] for example in found.train + found.valid} == {"train"}
    assert {example.words[0] for example in found.test} == {"test"}
    assert len(found.valid) == 2
    mixed = read_classified("AGNews", tuple(paths))
    assert [len(mixed.train), len(mixed.valid), len(mixed.test)] == [25, 3, 12]


def test_unknown_words_share_the_mean_and_punctuation_does_not(vectors):
    rows = Rows(Words(vectors), unit=False)
    numbers = [rows(word) for word in ("word1", "never", "seen", ".", ",", ".", "WORD1", "3rd")]
    assert numbers[1] == numbers[2] == numbers[7] == 0
    assert len(set(numbers[3:5])) == 2
    assert numbers[3] == numbers[5]
    matrix = rows.matrix()
    assert np.allclose(matrix[0], vectors.vectors.mean(axis=0), atol=1e-6)
    assert np.array_equal(matrix[numbers[0]], matrix[numbers[6]])
    assert np.linalg.norm(matrix[numbers[3]]) == pytest.approx(np.linalg.norm(vectors.vectors, axis=1).mean(), rel=1e-5)
    assert (rows.unknown, rows.tokens) == (3, 8)
    unit = Rows(Words(vectors), unit=True)
    unit("word1")
    assert np.allclose(np.linalg.norm(unit.matrix(), axis=1), 1)


def test_a_quick_look_does_not_depend_on_the_scale_of_vectors(vectors):
    longer = KeyedVectors(12)
    longer.add_vectors(WORDS, 100 * vectors.vectors)
    data, quick = split(sentences(50, 1)), replace(SETTINGS, scaled=True)
    one, other = (prepare("s", v, data, quick, tags=True).matrix for v in (vectors, longer))
    assert np.allclose(one, other, rtol=1e-4)
    assert np.square(one).mean() == pytest.approx(1, rel=1e-4)
    as_is = prepare("s", longer, data, SETTINGS, tags=True).matrix
    assert np.square(as_is).mean() > 100


# ------------------------------------------------------------------ the most frequent tag


def test_the_most_frequent_tag(vectors):
    train = [Example(["word1", "word1", "word2", "x"], ["A", "B", "B", "C"]), Example(["word1", "y"], ["A", "C"])]
    test = [Example(["word1", "word2", "x", "z", "!"], ["A", "B", "C", "C", "C"])]
    data = Split(train, [Example(["z", "."], ["O", "O"])], test)
    assert baseline(data, SETTINGS, None, None) == 3 / 5  # z was O, and ! is as most are, A
    assert baseline(data, SETTINGS, None, Words(vectors)) == 4 / 5  # x, y and z are one word, mostly C
    assert baseline(data, SETTINGS, "O", None) == pytest.approx(2 * 3 / (4 + 5))


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "extrinsic").exists(), reason="needs the Brown corpus and SemCor: GENSIM_HILBERT_DATA")
def test_the_most_frequent_tag_on_the_papers_data():
    """.9349 and .6126 in the paper, whose vocabulary of 50,000 words is not to be had."""
    found = most_frequent_tag(find_data(DATA))
    assert found["Brown"] == pytest.approx(0.9349, abs=0.01)
    assert found["SemCor"] == pytest.approx(0.6126, abs=0.02)


# ------------------------------------------------------------------ significance


def test_seeds_are_compared_by_welchs_test():
    from scipy.stats import ttest_ind

    def score(*runs):
        return ExtrinsicScore("s", "accuracy", np.mean(runs), np.std(runs, ddof=1), runs, 1, (1, 1, 1))

    first, second = (0.9, 0.91, 0.92), (0.85, 0.9, 0.86, 0.87)
    found = compare_extrinsic(score(*first), score(*second))
    assert found.p == pytest.approx(ttest_ind(first, second, equal_var=False).pvalue)
    assert found.value == pytest.approx(0.04)
    assert compare_extrinsic(ExtrinsicScore("s", "accuracy", 0.5, np.nan, (0.5,), 1, (1, 1, 1)), score(*first)) is None


def test_tagging_through_files(vectors, tmp_path):
    path = tmp_path / "brown.txt"
    rows = [[f"{w.upper()}\t-\t{t}" for w, t in zip(*example, strict=True)] for example in sentences(60, 1)]
    path.write_text("\n\n".join("\n".join(row) for row in rows) + "\n\n", encoding="utf-8")
    data = Data(tagging={"Brown": (path,)})
    (score,) = tagging(vectors, data, quick=True, seeds=1, cache=tmp_path / "cache")
    assert score.examples == (37, 5, 18)
    assert 0 < score.mean <= 1
    assert len(list((tmp_path / "cache").glob("*.json"))) == 1
